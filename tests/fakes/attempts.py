"""How a hostile script tries things inside a sandbox, and says what each attempt got.

This and the modules `attempts_…` are put into a skill as they are and run there, so they import the standard library and each other
alone. The script's one argument is a JSON document: which groups of attempts to make, and what is planted outside. Every attempt
answers with what it got, or with the name of the error that stopped it.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ASKED: dict[str, Any] = {}
GROUPS: dict[str, dict[str, Callable[[], object]]] = {}


def main() -> None:
    """Make the attempts that are asked for."""
    ASKED.update(json.loads(sys.argv[1]))
    answers = {
        group: {name: tried(task) for name, task in GROUPS[group].items()}
        for group in ASKED["groups"]
    }
    sys.stdout.write(json.dumps(answers))


def trying(group: str, name: str = "") -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Name an attempt."""

    def note(task: Callable[[], object]) -> Callable[[], object]:
        GROUPS.setdefault(group, {})[name or task.__name__] = task
        return task

    return note


def tried(task: Callable[[], object]) -> dict[str, object]:
    """Make one attempt; say what it got."""
    try:
        return {"got": task()}
    except OSError as error:
        return {"error": errno.errorcode.get(error.errno or 0, type(error).__name__)}
    except Exception as error:  # noqa: BLE001 - it is the answer
        return {"failed": f"{type(error).__name__}: {error}"}


def content(path: str) -> object:
    """Give the names in a folder, or the beginning of a file."""
    if os.path.isdir(path):
        return sorted(os.listdir(path))
    with open(path, "rb") as file:
        return file.read(65_536).decode("utf-8", "replace")


def writing(path: str, text: str = "planted", *, made: bool = True) -> int:
    """Write to a file, which is made where it is not there."""
    number = os.open(path, os.O_WRONLY | (os.O_CREAT if made else 0), 0o600)
    try:
        return os.write(number, text.encode())
    finally:
        os.close(number)
