"""Long lists page by page. A cursor is opaque: sealed with a key of this server, it names the list, its edition and a place.

Who pages goes on in the order in which the first page was made, for as long as that is remembered; what has gone meanwhile is
passed over, and a cursor of another server, another list or a forgotten order is refused.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
from typing import TYPE_CHECKING, Any

from metier.mcp.faults import invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ENTRIES, BYTES = 50, 256 * 1024
"""How much a page holds: an entry is never split, so one alone may be longer."""
LOOKED_AT = 400
"""How many skills are looked at for one page, however few of them turn out to be served."""
STALE = "the cursor is stale; begin again without one"
_LONGEST, _SEAL = 512, 12


class Pages:
    """Makes the cursors of one server, and reads them."""

    def __init__(self) -> None:
        """Choose a key."""
        self._key = os.urandom(16)

    def cursor(self, what: str, edition: int, place: int) -> str:
        """Name a place in a list."""
        plain = json.dumps([_short(what), edition, place]).encode()
        return base64.urlsafe_b64encode(self._seal(plain) + plain).decode()

    def place(self, cursor: str, what: str) -> tuple[int, int]:
        """Give the edition and the place that a cursor of this list names."""
        try:
            raw = base64.urlsafe_b64decode(cursor.encode("ascii")) if len(cursor) <= _LONGEST else b""
        except (binascii.Error, ValueError):
            raw = b""
        seal, plain = raw[:_SEAL], raw[_SEAL:]
        if not plain or not hmac.compare_digest(seal, self._seal(plain)):
            raise invalid("that is no cursor of this server")
        found = json.loads(plain)
        if found[0] != _short(what):
            raise invalid("that is a cursor of another list")
        return found[1], found[2]

    def _seal(self, plain: bytes) -> bytes:
        return hmac.digest(self._key, plain, hashlib.sha256)[:_SEAL]

    def page(
        self, what: str, cursor: str | None, orders: Mapping[int, Sequence[Any]], entry: Callable[[Any], Any]
    ) -> tuple[list[Any], str | None]:
        """Give the entries of one page, and the cursor of the next; `entry` gives nothing for what is not served."""
        edition, start = self.place(cursor, what) if cursor else (max(orders), 0)
        order = orders.get(edition)
        if order is None:
            raise invalid(STALE)
        found: list[Any] = []
        room, at = BYTES, start
        while at < len(order) and len(found) < ENTRIES and at - start < LOOKED_AT:
            one = entry(order[at])
            size = len(json.dumps(one)) if one is not None else 0
            if found and size > room:
                break
            if one is not None:
                found.append(one)
                room -= size
            at += 1
        return found, self.cursor(what, edition, at) if at < len(order) else None


def _short(what: str) -> str:
    """Name a list in a few letters: the URI of a folder may be long."""
    return hashlib.sha256(what.encode("utf-8", "surrogatepass")).hexdigest()[:16]
