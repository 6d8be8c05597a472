"""Where the frontmatter of a SKILL.md begins and ends, found in its bytes.

A fence is `---` alone on a line at column 0. A byte-order mark, blank lines before the first fence, CRLF and an end
of file right after the closing fence are all accepted (decision 10); everything else that looks like a fence is
diagnosed. Only the head of the file is needed, so a body of any size costs nothing here.
"""

from __future__ import annotations

import re
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


class Split(NamedTuple):
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


def split(data: bytes, *, complete: bool) -> Split:
    """Find the frontmatter in the head of a file; `more` when the head was too short to tell."""
    at = 3 if data.startswith(_BOM) else 0
    bom = at == 3
    opening = _OPEN.match(data, at)
    if opening is None:
        if not complete and len(data) < FRONTMATTER_BYTES and _BLANK.fullmatch(data, at):
            return Split("more")
        if _ALMOST_OPEN.match(data, at):
            return Split("malformed", bom=bom, body_at=at)
        return Split("absent", bom=bom, body_at=at)
    start = opening.end()
    # The overwhelming case is a fence on the very first line: counting then costs nothing.
    blank = data.count(b"\n", at, data.index(b"---", at))
    first = blank + 2
    closing = _CLOSE.search(data, start - 1)
    if closing is None or (not complete and closing.end() == len(data) and not data.endswith(b"\n")):
        return _unclosed(data, start, first, complete=complete, bom=bom)
    end = max(closing.start() + 1, start)
    outcome: Outcome = "found" if data[start:end].strip() else "empty"
    return Split(outcome, start, end, closing.end(), first, bom, blank)


def _unclosed(data: bytes, start: int, first: int, *, complete: bool, bom: bool) -> Split:
    if not complete and len(data) < FRONTMATTER_BYTES:
        return Split("more")
    almost = _ALMOST_CLOSE.search(data, start - 1)
    line = first + data.count(b"\n", start, almost.start() + 1) if almost else first - 1
    return Split("malformed" if almost else "unclosed", start, len(data), start, first, bom, line=line)
