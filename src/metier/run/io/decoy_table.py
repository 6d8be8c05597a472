"""What metier brings along for observations: the table of decoys, and the programs that call functions."""

from __future__ import annotations

import os

from metier.run.observe.stage import DecoyRow, read_decoys


def load_decoys() -> list[DecoyRow]:
    """Read the table from metier's own files."""
    return read_decoys(_read("decoys.txt"))


CALLERS = {
    "python3": "call_functions.py",
    "node": "call_functions.js",
    "bash": "call_functions.sh",
    "sh": "call_functions.sh",
}


def load_callers() -> dict[str, str]:
    """Read the programs that call, inside the sandbox, what a script defines: by what reads it."""
    return {reader: _read(name) for reader, name in CALLERS.items()}


def _read(name: str) -> str:
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(top, "observe", name), encoding="utf-8") as file:
        return file.read()
