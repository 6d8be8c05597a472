"""A file's bytes as lines, and lines as small numbers: what is compared line by line is compared as numbers."""

from __future__ import annotations

MOST_LINES = 200_000
MOST_BYTES = 16 * 1024 * 1024
"""What is larger than either is not compared line by line: it is merged as a binary file is."""


def is_text(data: bytes) -> bool:
    """Tell whether a file can be merged line by line: it holds no NUL, and is of a size that a person might edit."""
    return len(data) <= MOST_BYTES and b"\0" not in data and data.count(b"\n") < MOST_LINES


def cut(data: bytes) -> list[bytes]:
    """Cut after each line feed and nowhere else; each line keeps its ending, and the last may have none."""
    pieces = data.split(b"\n")
    last = pieces.pop()
    lines = [piece + b"\n" for piece in pieces]
    return [*lines, last] if last else lines


def number(*files: list[bytes]) -> list[list[int]]:
    """Give each file as a list of numbers, the same number for the same line."""
    known: dict[bytes, int] = {}
    return [[known.setdefault(line, len(known)) for line in lines] for lines in files]
