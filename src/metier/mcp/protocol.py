"""Makes the protocol's errors, and splits long lists into pages.

A cursor is opaque: sealed with a key of this server, it names the list, its edition and a place.
Paging goes on in the order in which the first page was made, for as long as that is remembered;
what has gone meanwhile is passed over, and a cursor of another server, another list or a forgotten
order is refused.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from metier.standard.names import encodable, one_line, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.disclose.offer import OfferRefusal
    from metier.errors import MetierError
    from metier.model import JsonObject


_MAX_ERROR_CHARACTERS = 500


def complete(
    found: Mapping[str, Any], ttl_ms: int | None = None, following: str | None = None
) -> JsonObject:
    """Give a result: with the cursor of the next page where there is one, and for how long a client
    may keep it where it may.
    """
    return {
        "resultType": "complete",
        **found,
        **({"nextCursor": following} if following else {}),
        **({} if ttl_ms is None else {"ttlMs": ttl_ms, "cacheScope": "private"}),
    }


def not_served(uri: str, what: str = "resource") -> MCPError:
    """Say that nothing is served at a URI, which clients find in the error's data."""
    told = error_text(uri)
    return MCPError(INVALID_PARAMS, f"no {what} is served at {told}", {"uri": told})


def refusal_error(refusal: OfferRefusal | MetierError) -> MCPError:
    """Give a refusal of metier's, with its code."""
    data = {"code": refusal.code, "hint": error_text(refusal.hint)}
    return MCPError(INVALID_PARAMS, error_text(refusal.message), data)


def invalid_params(message: str) -> MCPError:
    """Say what is wrong with a request."""
    return MCPError(INVALID_PARAMS, error_text(message))


def internal_error() -> MCPError:
    """Say that the fault is ours, and nothing else: what went wrong inside is no business of a
    client's.
    """
    return MCPError(INTERNAL_ERROR, "the server failed")


def error_text(text: str) -> str:
    """Give a stranger's words as they may stand in an error: one line, and not too long."""
    return shortened(encodable(one_line(text)), _MAX_ERROR_CHARACTERS)


PAGE_ENTRIES = 50
PAGE_BYTES = 256 * 1024
"""How much a page holds: an entry is never split, so one alone may be longer."""
MAX_LOOKED_AT = 400
"""How many skills are looked at for one page, however few of them turn out to be served."""
STALE_CURSOR = "the cursor is stale; begin again without one"
_MAX_CURSOR_CHARACTERS = 512
_SEAL_BYTES = 12


class ListPages:
    """Makes the cursors of one server, and reads them."""

    def __init__(self) -> None:
        """Choose a key."""
        self._key = os.urandom(16)

    def cursor(self, what: str, edition: int, place: int) -> str:
        """Name a place in a list."""
        plain = json.dumps([_list_key(what), edition, place]).encode()
        return base64.urlsafe_b64encode(self._seal(plain) + plain).decode()

    def place(self, cursor: str, what: str) -> tuple[int, int]:
        """Give the edition and the place that a cursor of this list names."""
        raw = b""
        if len(cursor) <= _MAX_CURSOR_CHARACTERS:
            with suppress(ValueError):
                raw = base64.urlsafe_b64decode(cursor.encode("ascii"))
        seal = raw[:_SEAL_BYTES]
        plain = raw[_SEAL_BYTES:]
        if not plain or not hmac.compare_digest(seal, self._seal(plain)):
            raise invalid_params("that is no cursor of this server")
        found = json.loads(plain)
        if found[0] != _list_key(what):
            raise invalid_params("that is a cursor of another list")
        return found[1], found[2]

    def _seal(self, plain: bytes) -> bytes:
        return hmac.digest(self._key, plain, hashlib.sha256)[:_SEAL_BYTES]

    def page(
        self,
        what: str,
        cursor: str | None,
        orders: Mapping[int, Sequence[Any]],
        entry: Callable[[Any], Any],
    ) -> tuple[list[Any], str | None]:
        """Give the entries of one page, and the cursor of the next; `entry` gives nothing for what
        is not served.
        """
        edition, start = self.place(cursor, what) if cursor else (max(orders), 0)
        order = orders.get(edition)
        if order is None:
            raise invalid_params(STALE_CURSOR)
        found: list[Any] = []
        room = PAGE_BYTES
        at = start
        while at < len(order) and len(found) < PAGE_ENTRIES and at - start < MAX_LOOKED_AT:
            one = entry(order[at])
            if one is not None:
                room -= len(json.dumps(one))
                if found and room < 0:
                    break
                found.append(one)
            at += 1
        return found, self.cursor(what, edition, at) if at < len(order) else None


def _list_key(what: str) -> str:
    """Name a list in a few letters: the URI of a folder may be long."""
    return hashlib.sha256(what.encode("utf-8", "surrogatepass")).hexdigest()[:16]
