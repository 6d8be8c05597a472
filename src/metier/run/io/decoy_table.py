"""What metier brings along for observations: the table of decoys, and the programs that call functions."""

from __future__ import annotations

import os
import re

from metier.run.observe.stage import DecoyRow, read_decoys


def load_decoys() -> list[DecoyRow]:
    """Read the table from metier's own files."""
    return read_decoys(_read("observe/decoys.txt"))


CALLERS = {
    "python3": ("observe/outline.py", "io/call_functions.py"),
    "node": ("io/call_functions.js",),
    "bash": ("io/call_functions.sh",),
    "sh": ("io/call_functions.sh",),
}
"""Programs that call functions, by what reads the script: the parts of each."""
_OURS = re.compile(r"^from (?:__future__|metier[\w.]*) import (?:\([^)]*\)|[^\n]*)\n", re.MULTILINE)


def load_callers() -> dict[str, str]:
    """Read the programs that call, inside the sandbox, what a script defines: by what reads it."""
    return {
        reader: "\n".join((_read(first), *(_OURS.sub("", _read(one)) for one in more)))
        for reader, (first, *more) in CALLERS.items()
    }


def _read(name: str) -> str:
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(top, *name.split("/")), encoding="utf-8") as file:
        return file.read()
