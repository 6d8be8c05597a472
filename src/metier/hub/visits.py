"""Browsers that logged in: each has a cookie, of which only the hash is kept, and a secret that signs
the forms it is given, so that no page of another site can send one.

Cookies open pages only. The JSON interface takes tokens, which no browser sends by itself.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError
from metier.hub import accounts, audit_log
from metier.hub.here import is_from_here
from metier.hub.io.database import DuplicateError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Row

VISIT_SECONDS = 12 * 3600
"""How long a browser stays logged in, and how long a form can be sent."""
COOKIE_BYTES = 32
MAX_COOKIE_CHARS = 200
COOKIE = "metier-hub"
PAGE = "page"
"""What the audit log calls the way in through a browser."""


class NewVisit(NamedTuple):
    """A browser that was let in just now."""

    cookie: str
    """What it is to send back; the hub keeps only the hash."""
    secret: str


def begin_visit(hub: Hub, *, token_id: int | None = None, person_id: int | None = None) -> NewVisit:
    """Let a browser in as the owner of a token, or as a person who has just proven who they are."""
    visit = NewVisit(secrets.token_urlsafe(COOKIE_BYTES), secrets.token_urlsafe(COOKIE_BYTES))
    now = hub.now()
    with hub.database.write() as connection:
        connection.run("DELETE FROM visits WHERE expires_at <= ?", now)
        connection.run(
            "INSERT INTO visits (hash, token_id, person_id, secret, created_at, expires_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            _hash_of(visit.cookie),
            token_id,
            person_id,
            visit.secret,
            now,
            now + VISIT_SECONDS,
        )
        caller = _caller_of(connection, token_id, person_id, now)
        if caller is None:
            raise RefusedError(
                "this token is not valid", code="hub-token", hint="ask an admin for another one"
            )
        audit_log.record(connection, now, caller, "visit.begin", caller.ident)
    return visit


def begin_visit_with_token(hub: Hub, token: str) -> NewVisit:
    """Let a browser in that was given a token; a wrong one is refused, without saying why."""
    accounts.caller_of_token(hub, token.strip())
    with hub.database.read() as connection:
        row = connection.row(
            "SELECT id FROM tokens WHERE hash = ?", accounts.hash_of_token(token.strip())
        )
    return begin_visit(hub, token_id=row["id"] if row else None)


def caller_of_visit(hub: Hub, cookie: str) -> tuple[Caller, str] | None:
    """Give who a browser's cookie stands for, with the secret of the visit; nothing where nobody may
    come in with it any more. Roles are those of this moment.
    """
    if not cookie or len(cookie) > MAX_COOKIE_CHARS:
        return None
    now = hub.now()
    hashed = _hash_of(cookie)
    with hub.database.read() as connection:
        row = connection.row("SELECT * FROM visits WHERE hash = ? AND expires_at > ?", hashed, now)
        if row is None or not hmac.compare_digest(row["hash"], hashed):
            return None
        caller = _caller_of(connection, row["token_id"], row["person_id"], now)
    return (caller, row["secret"]) if caller is not None else None


def end_visit(hub: Hub, cookie: str) -> None:
    """Let a browser in no more."""
    known = caller_of_visit(hub, cookie)
    with hub.database.write() as connection:
        connection.run("DELETE FROM visits WHERE hash = ?", _hash_of(cookie))
        if known is not None:
            audit_log.record(connection, hub.now(), known[0], "visit.end", known[0].ident)


def _caller_of(
    connection: Transaction, token_id: int | None, person_id: int | None, now: int
) -> Caller | None:
    """Give who a token or a person is now; nothing where they may not come in any more."""
    caller = None
    if token_id is not None:
        row = connection.row("SELECT * FROM tokens WHERE id = ?", token_id)
        if row is not None and _is_good(row, now):
            caller = accounts.caller_of_row(connection, row)
    elif person_id is not None:
        row = connection.row("SELECT * FROM people WHERE id = ?", person_id)
        caller = accounts.caller_of_person(connection, row) if row is not None else None
    return caller._replace(door=PAGE) if caller is not None else None


def _is_good(token: Row, now: int) -> bool:
    return token["revoked_at"] is None and (
        token["expires_at"] is None or token["expires_at"] > now
    )


def _hash_of(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).hexdigest()


# --- forms


def secret_for(hub: Hub, who: str) -> str:
    """Give the secret of forms for somebody who has no cookie: the local user, or whoever logs in."""
    return hmac.new(hub.private_key, f"forms of {who}".encode(), hashlib.sha256).hexdigest()


def form_key(secret: str, now: int) -> str:
    """Give a number for one form, which only this browser can send back."""
    told = f"{now}.{secrets.token_urlsafe(12)}"
    return f"{told}.{_signature(secret, told)}"


def take_form(hub: Hub, who: str, secret: str, key: str, *, once: bool = True) -> None:
    """Let a form count, once, on whichever process of the hub it arrives. Without `once` nothing is
    noted down, so that who is not logged in writes nothing into the database.
    """
    told, _dot, signature = key.rpartition(".")
    begun = told.partition(".")[0]
    fresh = begun.isascii() and begun.isdigit() and int(begun[:12]) > hub.now() - VISIT_SECONDS
    good = hmac.compare_digest(
        signature.encode("utf-8", "replace"), _signature(secret, told).encode()
    )
    if not good or not fresh:
        raise RefusedError(
            "this form is not from this page, or too old",
            code="web-form",
            hint="load the page again and send the form once more",
        )
    if not once:
        return
    try:
        with hub.database.write() as connection:
            connection.run(
                "DELETE FROM answers WHERE who = ? AND at <= ?",
                f"form:{who}",
                hub.now() - VISIT_SECONDS,
            )
            connection.run(
                "INSERT INTO answers (who, key, asked, status, body, at) VALUES (?, ?, '', 0, '', ?)",
                f"form:{who}",
                told,
                hub.now(),
            )
    except DuplicateError as error:
        raise RefusedError(
            "this form was sent already",
            code="web-form-used",
            hint="load the page again to see what came of it",
        ) from error


def _signature(secret: str, told: str) -> str:
    return hmac.new(secret.encode(), told.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


# --- cookies


def cookie_name(request: Request) -> str:
    """Give the cookie's name. The prefix makes browsers take it over TLS alone, from this host alone;
    on this machine, where there is no TLS, the port keeps hubs apart.
    """
    if is_from_here(request):
        return f"{COOKIE}-{request.url.port or 80}"
    return f"__Host-{COOKIE}"


def cookie_of(request: Request) -> str:
    """Give the cookie that a browser sent; nothing where it sent none."""
    return request.cookies.get(cookie_name(request), "")


def set_cookie(answer: Response, request: Request, visit: NewVisit) -> None:
    """Have a browser keep its cookie, out of reach of scripts and of other sites' requests."""
    answer.set_cookie(
        cookie_name(request),
        visit.cookie,
        max_age=VISIT_SECONDS,
        path="/",
        httponly=True,
        samesite="strict",
        secure=not is_from_here(request),
    )


def drop_cookie(answer: Response, request: Request) -> None:
    """Have a browser forget its cookie."""
    answer.delete_cookie(
        cookie_name(request),
        path="/",
        httponly=True,
        samesite="strict",
        secure=not is_from_here(request),
    )
