"""Ruby: the programs it starts, the text it evaluates, what it fetches and rebuilds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.scan.analyzers import scripts

if TYPE_CHECKING:
    from metier.scan.rule import Hit


def find(code: str) -> list[Hit]:
    """Return what the script does, sorted by place. Takes any text and never raises."""
    return scripts.find(code, "ruby")


def commands(code: str) -> list[tuple[int, int, str]]:
    """Return the constant command lines that the script hands to a shell, with their places."""
    return scripts.commands(code, "ruby")
