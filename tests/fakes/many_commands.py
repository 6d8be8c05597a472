"""Runs many `metier` commands one after another, each in a process of its own that starts with everything loaded.

A hundred commands in a row would spend most of their time on starting Python. This process loads the command line once and
forks for each: one JSON object a line comes in (`words`, `given`), one goes out (`code`, `out`, `err`).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import IO, Any


def answer(wish: dict[str, Any]) -> dict[str, Any]:
    """Run one command as a child, and give what it printed."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(wish["given"].encode())
        given.seek(0)
        child = os.fork()
        if child == 0:
            become(wish["words"], given, out, err)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return {"code": code, "out": text_of(out), "err": text_of(err)}


def become(words: list[str], given: IO[bytes], out: IO[bytes], err: IO[bytes]) -> None:
    """Be the command, to the end."""
    for number, file in enumerate((given, out, err)):
        os.dup2(file.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.argv = ["metier", *words]
    try:
        main()
    except BaseException:  # noqa: BLE001 - as the interpreter would end
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    os._exit(2)


def text_of(file: IO[bytes]) -> str:
    """Give what was printed."""
    file.seek(0)
    return file.read().decode("utf-8", "replace")


if __name__ == "__main__":
    import metier.cli.main
    import metier.library  # noqa: F401 - loaded once, for all
    from metier.__main__ import main

    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()
