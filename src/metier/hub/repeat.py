"""Answers a request that comes twice with the same key as it was answered the first time."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Row

MAX_KEY_CHARS = 200


def hash_of_request(*parts: str | bytes) -> str:
    """Tell a request from another one by what it asks for."""
    whole = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        whole.update(b"%d:%b" % (len(data), data))
    return whole.hexdigest()


def known_answer(hub: Hub, caller: Caller, key: str, asked: str) -> tuple[int, str] | None:
    """Give how this caller's request of this key was answered; nothing where it is new."""
    if len(key) > MAX_KEY_CHARS:
        raise UsageError(
            "the Idempotency-Key is too long", hint=f"{MAX_KEY_CHARS} letters are enough"
        )
    with hub.database.read() as connection:
        row = connection.row(
            "SELECT asked, status, body FROM answers WHERE who = ? AND key = ?", caller.ident, key
        )
    if row is None:
        return None
    return _answer_in(row, asked)


def _answer_in(row: Row, asked: str) -> tuple[int, str]:
    if row["asked"] != asked:
        raise RefusedError(
            "this Idempotency-Key was used for another request",
            code="hub-key-reused",
            hint="make a new key for each request",
        )
    return row["status"], row["body"]


def keep_answer(
    connection: Transaction, now: int, caller: Caller, key: str, asked: str, answer: tuple[int, str]
) -> tuple[int, str]:
    """Remember an answer in the transaction that makes it true: whoever asks again after a crash gets
    the same. Of two that come at once, the first counts, and is given.
    """
    known = connection.row(
        "SELECT asked, status, body FROM answers WHERE who = ? AND key = ?", caller.ident, key
    )
    if known is not None:
        return _answer_in(known, asked)
    status, body = answer
    connection.run(
        "INSERT INTO answers (who, key, asked, status, body, at) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (who, key) DO NOTHING",
        caller.ident,
        key,
        asked,
        status,
        body,
        now,
    )
    return answer
