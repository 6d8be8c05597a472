"""What metier brings along for observations: the table of decoys, and the program that calls functions."""

from __future__ import annotations

import os

from metier.run.observe.stage import DecoyRow, read_decoys


def load_decoys() -> list[DecoyRow]:
    """Read the table from metier's own files."""
    return read_decoys(_read("decoys.txt"))


def load_caller() -> str:
    """Read the program that calls, inside the sandbox, what a file of a skill only defines."""
    return _read("call_functions.py")


def _read(name: str) -> str:
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(top, "observe", name), encoding="utf-8") as file:
        return file.read()
