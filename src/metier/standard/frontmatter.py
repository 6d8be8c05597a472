"""Finds where the frontmatter of a SKILL.md begins and ends, and repairs its commonest fault.

A fence is `---` alone on a line at column 0. A byte-order mark, blank lines before the first fence,
CRLF and an end of file right after the closing fence are all accepted (MT-10); everything
else that looks like a fence is diagnosed. Only the head of the file is needed, so a body of any
size costs nothing here.

The fault is a value that needed quotes and has none. One unquoted `: ` makes a whole skill vanish
from most agents. The line is quoted as its author meant it, and the repair is reported, so that the
file can be put right (CX-13).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

FRONTMATTER_BYTES = 256 * 1024
"""A frontmatter that has not ended by here is refused (SK007)."""

_BOM = b"\xef\xbb\xbf"
_OPEN = re.compile(rb"(?:[ \t]*\r?\n)*---[ \t]*(?:\r?\n|\Z)")
_CLOSE = re.compile(rb"\n---[ \t]*\r?(?:\n|\Z)")
_BLANK = re.compile(rb"(?:[ \t]*\r?\n)*[ \t]*-{0,3}[ \t]*\r?")
"""A head that has not come to its first text yet."""
_ALMOST_OPEN = re.compile(rb"(?:[ \t]*\r?\n)*[ \t]*---")
_ALMOST_CLOSE = re.compile(rb"\n[ \t]+---[ \t]*\r?(?:\n|\Z)")

Outcome = Literal["found", "absent", "unclosed", "malformed", "empty", "more"]


class SplitFile(NamedTuple):
    """Byte offsets of the frontmatter's text and of the body, or why there is none."""

    outcome: Outcome
    start: int = 0
    end: int = 0
    body_at: int = 0
    first_line: int = 1
    """Line number of the first line of the frontmatter's text."""
    bom: bool = False
    blank_lines: int = 0
    line: int = 1
    """Where the fault is, when there is one."""


def split(data: bytes, *, complete: bool) -> SplitFile:
    """Find the frontmatter in the head of a file; `more` when the head was too short to tell."""
    at = 3 if data.startswith(_BOM) else 0
    bom = at == 3
    opening = _OPEN.match(data, at)
    if opening is None:
        if not complete and len(data) < FRONTMATTER_BYTES and _BLANK.fullmatch(data, at):
            return SplitFile("more")
        if _ALMOST_OPEN.match(data, at):
            return SplitFile("malformed", bom=bom, body_at=at)
        return SplitFile("absent", bom=bom, body_at=at)
    start = opening.end()
    # The overwhelming case is a fence on the very first line: counting then costs nothing.
    blank = data.count(b"\n", at, data.index(b"---", at))
    first = blank + 2
    closing = _CLOSE.search(data, start - 1)
    if closing is None or (
        not complete and closing.end() == len(data) and not data.endswith(b"\n")
    ):
        return _unclosed(data, start, first, complete=complete, bom=bom)
    end = max(closing.start() + 1, start)
    outcome: Outcome = "found" if data[start:end].strip() else "empty"
    return SplitFile(
        outcome=outcome,
        start=start,
        end=end,
        body_at=closing.end(),
        first_line=first,
        bom=bom,
        blank_lines=blank,
    )


def _unclosed(data: bytes, start: int, first: int, *, complete: bool, bom: bool) -> SplitFile:
    if not complete and len(data) < FRONTMATTER_BYTES:
        return SplitFile("more")
    almost = _ALMOST_CLOSE.search(data, start - 1)
    line = first + data.count(b"\n", start, almost.start() + 1) if almost else first - 1
    return SplitFile(
        "malformed" if almost else "unclosed", start, len(data), start, first, bom, line=line
    )


BrokenAlone = Callable[[str], bool]
"""Tells whether a value does not parse as YAML by itself: handed in, so that this module needs no
parser."""

_PAIR = re.compile(r"^(?P<lead>[ ]*(?:- +)?)(?P<key>[A-Za-z_][\w.\-]*):[ \t]+(?P<value>\S.*)$")
_BLOCK = re.compile(r"[|>][0-9+\-]*(?:\s+#.*)?$")
_COMMENT = re.compile(r"\s+#.*$")
NEEDS_QUOTES = "[{@`*&!%"
"""What a value that needs quotes may begin with."""


class Repair(NamedTuple):
    """The mended text, and the place of each value that was quoted."""

    text: str
    places: tuple[tuple[int, int, str], ...]
    """(line, column, key), counted from the first line of the text."""


def quote_loose_values(
    text: str, *, broken_alone: BrokenAlone, marks: str = NEEDS_QUOTES, last_colon: bool = True
) -> Repair | None:
    """Quote every value that YAML would misread; `None` when there is nothing to mend. Not every
    agent that does so mends as much: `marks` are the characters before which it does, `last_colon`
    says whether a colon at the very end counts.
    """
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
        mended = _mended(value, broken_alone, marks, last_colon=last_colon)
        if mended is not None:
            lines[number] = line[: pair.start("value")] + mended
            places.append((number + 1, pair.start("value") + 1, pair["key"]))
    return Repair("\n".join(lines) + "\n", tuple(places)) if places else None


def _mended(value: str, broken_alone: BrokenAlone, marks: str, *, last_colon: bool) -> str | None:
    if value[0] in "\"'":
        return None
    comment = _COMMENT.search(value)
    scalar = value[: comment.start()] if comment else value
    loose = ": " in scalar or (last_colon and scalar.endswith(":"))
    if not (scalar[:1] in marks and broken_alone(scalar)) and not (
        loose and scalar[:1] not in marks
    ):
        return None
    return "'" + scalar.replace("'", "''") + "'" + (comment[0] if comment else "")
