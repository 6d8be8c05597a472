"""How unified diffs look: harmless, coloured on a terminal, and summed up in a line."""

from __future__ import annotations

from metier.cli import output, plans
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STYLES = {"old": "bold", "new": "bold", "hunk": "cyan", "+": "green", "-": "red"}
LONGEST = 9
"""Digits of a number of lines; whatever claims more is no diff."""


def text(diff: str) -> str:
    """Give a diff harmless, and coloured on a terminal. Only line feeds part lines: a carriage return is shown."""
    return "".join(f"{output.style(line, STYLES[kind]) if kind in STYLES else line}\n" for kind, line in _lines(diff))


def summary(diff: str) -> str:
    """Say how much a diff changes."""
    kinds = [kind for kind, _line in _lines(diff)]
    files = plans.counted(kinds.count("new") + kinds.count("file"), "file")
    return f"{files}, {plans.counted(kinds.count('+'), 'line')} added, {plans.counted(kinds.count('-'), 'line')} removed"


def _lines(diff: str) -> Iterator[tuple[str, str]]:
    """Tell what each line is. Inside a hunk its first character decides, for a line of a skill may begin like a head."""
    old = new = 0
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        sign = line[:1]
        if (old or new) and sign in {"+", "-", " "}:
            old, new = old - (sign != "+"), new - (sign != "-")
            yield sign, output.clean(line)
        elif line.startswith("@@ -"):
            old, new = _spans(line)
            yield "hunk", output.clean(line)
        else:
            yield _head(line), output.clean(line)


def _head(line: str) -> str:
    if line.startswith("--- "):
        return "old"
    return "new" if line.startswith("+++ ") else "file" if line.startswith(("mode of ", "binary files ")) else ""


def _spans(line: str) -> tuple[int, int]:
    """Read how many lines of each side a hunk has: `@@ -1,4 +1,6 @@`."""
    words = line.split(" ")
    sides = [word[1:].partition(",") for word in words[1:3] if word[:1] in {"+", "-"}]
    counts = [count if comma else "1" for _start, comma, count in sides]
    if len(counts) != 2 or not all(count.isascii() and count.isdigit() and len(count) <= LONGEST for count in counts):
        return 0, 0
    return int(counts[0]), int(counts[1])
