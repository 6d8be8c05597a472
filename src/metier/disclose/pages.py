"""Cuts a text into pages, and names places in it with cursors that hold for that text alone. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.errors import IntegrityError, UsageError
from metier.fast import NamedTuple, blake2b
from metier.standard.plain_text import estimate

if TYPE_CHECKING:
    from collections.abc import Callable


PAGE_BYTES = 512 * 1024
RESOURCE_BYTES = 1024 * 1024
"""The longest resource that is taken from a provider."""
HANDLE_BYTES = 2_048
"""The longest name of a package or a resource, and the longest cursor."""
STALE_CURSOR = "cursor is stale; restart from the first page"

_CURSOR = re.compile(r"([0-9a-f]{16}):(0|[1-9][0-9]{0,17})")


class Page(NamedTuple):
    """One page: where it stands in the whole, and where to go on.

    `tokens` is what the content costs, without the marks that `disclosed` may add.
    """

    content: str
    cursor: str
    """What to ask for the next page with; nothing after the last."""
    offset: int
    total: int
    tokens: int
    name: str = ""
    file: str = ""
    disclosed: str = ""
    """The content as it may stand in a prompt, as for a body (ZE-25)."""
    level: str = ""


def page(
    content: str,
    cursor: str = "",
    size: int = PAGE_BYTES,
    count: Callable[[str], int] = estimate,
) -> Page:
    """Give the page that a cursor asks for; the first one when it is empty."""
    data = content.encode("utf-8", "surrogatepass")
    mark = fingerprint(data)
    start = place_in(cursor, mark, len(data))
    if _is_inside(data, start):
        raise malformed_cursor(cursor)
    end = _end(data, start, max(size, 4))  # no character is longer
    text = data[start:end].decode("utf-8", "surrogatepass")
    return Page(
        text, cursor_at(mark, end) if end < len(data) else "", start, len(data), count(text)
    )


def fingerprint(data: bytes) -> int:
    """Condense content to 64 bits."""
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def cursor_at(mark: int, offset: int) -> str:
    """Name a place in the content of a fingerprint."""
    return f"{mark:016x}:{offset}"


def place_in(cursor: str, mark: int, total: int) -> int:
    """Give the place that a cursor names, if it is one of this very content."""
    if not cursor:
        return 0
    found = _CURSOR.fullmatch(cursor)
    if found and int(found[1], 16) != mark:
        raise IntegrityError(STALE_CURSOR, code="stale-cursor", hint="ask without a cursor")
    if not found or int(found[2]) >= total:
        raise malformed_cursor(cursor)
    return int(found[2])


def malformed_cursor(cursor: str) -> UsageError:
    """Say that a cursor is none of ours."""
    shown = "".join(char if char.isprintable() else "?" for char in cursor[:40])
    return UsageError(
        f"'{shown}' is not a cursor",
        hint="give the cursor of the page before, or none for the first page",
    )


def _is_inside(data: bytes, at: int) -> bool:
    """Tell whether a place lies inside a character."""
    return at < len(data) and data[at] & 0xC0 == 0x80


def _end(data: bytes, start: int, size: int) -> int:
    """Find where a page ends: after a whole line where the second half of it has one, else after a
    whole character.
    """
    end = start + size
    if end >= len(data):
        return len(data)
    line = data.rfind(b"\n", start + size // 2, end)
    if line >= 0:
        return line + 1
    while _is_inside(data, end):
        end -= 1
    return end
