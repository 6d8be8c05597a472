"""Who may ask the page: one browser that was given the token, from the page itself.

The token in the printed address becomes a cookie and leaves the address. A browser that metier opens
gets a ticket instead, which is good once: what a program is started with, everybody on the machine can
read. After that, every request
must name this host (so that no other name can be pointed at it), and every change must come from a
form of this page: each form holds a number that counts once.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TOKEN_BYTES = 24
TICKET_SECONDS = 120
"""How long a ticket waits for the browser that it was made for."""
MAX_BROWSERS = 64
"""Sessions that are remembered; the oldest goes first."""
MAX_USED_FORMS = 20_000
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
SAFE_METHODS = frozenset({"GET", "HEAD"})
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With "no-referrer" browsers send "Origin: null" with our own forms, which the gate refuses.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
    "cache-control": "no-store",
}


class Visit(NamedTuple):
    """A browser that was let in."""

    ident: str
    secret: bytes

    def form_key(self) -> str:
        """Give a number for one form, which only this browser can send back, once."""
        nonce = secrets.token_urlsafe(12)
        return f"{nonce}.{_sign(self.secret, nonce)}"


class PageGate:
    """Lets browsers in, and knows them again."""

    def __init__(self, port: int, names: Iterable[str] = LOOPBACK_NAMES, token: str = "") -> None:
        """Make the token that lets a browser in."""
        self.token = token or secrets.token_urlsafe(TOKEN_BYTES)
        self.cookie = f"metier_{port}"
        self.hosts = frozenset(f"{name}:{port}" for name in names)
        if port == 80:  # browsers leave it away
            self.hosts |= frozenset(names)
        self._visits: OrderedDict[str, Visit] = OrderedDict()
        self._used: OrderedDict[str, None] = OrderedDict()
        self._tickets: dict[str, float] = {}
        """Each with the moment at which it ends."""
        self._alone = threading.Lock()

    def knows_host(self, host: str) -> bool:
        """Tell whether a request was meant for this page."""
        return host.lower() in self.hosts

    def admit(self, token: str) -> Visit:
        """Let a browser in that has the token."""
        if not _same(token, self.token):
            raise RefusedError(
                "this address holds another token",
                code="web-token",
                hint="open the address that 'metier web' printed last",
            )
        return self._let_in()

    def make_ticket(self) -> str:
        """Make a word that lets in one browser, once, and soon."""
        ticket = secrets.token_urlsafe(TOKEN_BYTES)
        with self._alone:
            self._tickets[ticket] = time.monotonic() + TICKET_SECONDS
        return ticket

    def has_ticket(self, ticket: str) -> bool:
        """Tell whether a ticket still waits."""
        return time.monotonic() < self._tickets.get(ticket, 0.0)

    def admit_by_ticket(self, ticket: str) -> Visit:
        """Let in the first browser that has a ticket."""
        with self._alone:
            known = next((one for one in self._tickets if _same(ticket, one)), "")
            is_good = time.monotonic() < self._tickets.pop(known, 0.0)
        if not is_good:
            raise RefusedError(
                "this ticket was used already, or is too old",
                code="web-token",
                hint="open the address that 'metier web' printed last",
            )
        return self._let_in()

    def _let_in(self) -> Visit:
        visit = Visit(secrets.token_urlsafe(TOKEN_BYTES), secrets.token_bytes(32))
        with self._alone:
            self._visits[visit.ident] = visit
            while len(self._visits) > MAX_BROWSERS:
                self._visits.popitem(last=False)
        return visit

    def visit_of(self, ident: str) -> Visit | None:
        """Give the browser that a cookie belongs to."""
        return self._visits.get(ident) if ident else None

    def check_origin(self, headers: Mapping[str, str]) -> None:
        """Refuse a change that another page asks for."""
        origin = headers.get("origin", "")
        site = headers.get("sec-fetch-site", "same-origin")
        own = origin.startswith("http://") and origin[len("http://") :].lower() in self.hosts
        if not own or site not in {"same-origin", "none"}:
            raise RefusedError(
                "this change was asked for by another page",
                code="web-origin",
                hint="make it from metier's own page",
            )

    def take_form(self, visit: Visit, key: str) -> None:
        """Let a form count, once."""
        nonce, _dot, signature = key.partition(".")
        if not nonce or not _same(signature, _sign(visit.secret, nonce)):
            raise RefusedError(
                "this form is not from this page",
                code="web-form",
                hint="load the page again and send the form once more",
            )
        with self._alone:
            if key in self._used:
                raise RefusedError(
                    "this form was sent already",
                    code="web-form-used",
                    hint="load the page again to see what came of it",
                )
            self._used[key] = None
            while len(self._used) > MAX_USED_FORMS:
                self._used.popitem(last=False)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())


def _sign(secret: bytes, nonce: str) -> str:
    return hmac.new(secret, nonce.encode(), sha256).hexdigest()[:32]
