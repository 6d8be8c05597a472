"""Mend the commonest fault in frontmatter: a value that needed quotes and has none.

One unquoted `: ` makes a whole skill vanish from most agents. The line is quoted as its author meant it, and the
repair is reported, so that the file can be put right (CX-13).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

BrokenAlone = Callable[[str], bool]
"""Tells whether a value does not parse as YAML by itself: handed in, so that this module needs no parser."""

_PAIR = re.compile(r"^(?P<lead>[ ]*(?:- +)?)(?P<key>[A-Za-z_][\w.\-]*):[ \t]+(?P<value>\S.*)$")
_BLOCK = re.compile(r"[|>][0-9+\-]*(?:\s+#.*)?$")
_COMMENT = re.compile(r"\s+#.*$")
_NEEDS_QUOTES = "[{@`*&!%"


class Repair(NamedTuple):
    """The mended text, and the place of each value that was quoted."""

    text: str
    places: tuple[tuple[int, int, str], ...]
    """(line, column, key), counted from the first line of the text."""


def quote_loose_values(text: str, *, broken_alone: BrokenAlone) -> Repair | None:
    """Quote every value that YAML would misread; `None` when there is nothing to mend."""
    lines = text.splitlines()
    places: list[tuple[int, int, str]] = []
    block_indent: int | None = None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if block_indent is not None:
            if not line.strip() or indent > block_indent:
                continue
            block_indent = None
        pair = _PAIR.match(line)
        if pair is None:
            continue
        value = pair["value"].rstrip()
        if _BLOCK.match(value):
            block_indent = indent
            continue
        mended = _mended(value, broken_alone)
        if mended is not None:
            lines[number] = line[: pair.start("value")] + mended
            places.append((number + 1, pair.start("value") + 1, pair["key"]))
    return Repair("\n".join(lines) + "\n", tuple(places)) if places else None


def _mended(value: str, broken_alone: BrokenAlone) -> str | None:
    if value[0] in "\"'":
        return None
    comment = _COMMENT.search(value)
    scalar = value[: comment.start()] if comment else value
    loose = ": " in scalar or scalar.endswith(":")
    if not (scalar[:1] in _NEEDS_QUOTES and broken_alone(scalar)) and not (loose and scalar[:1] not in _NEEDS_QUOTES):
        return None
    return "'" + scalar.replace("'", "''") + "'" + (comment[0] if comment else "")
