"""The approval log: what a namespace's reviewers let in and took back, each entry chained to the one
before it by its hash. Whoever has a copy can tell whether the hub ever changes its past.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from metier.hub.io.database import Transaction

HEAD_TYPE = "application/vnd.metier.approvals+json"
"""What the signature of a log's head is about."""


class LogEntry(NamedTuple):
    """One entry, and where it stands."""

    number: int
    entry: str
    """Canonical JSON: sorted keys, no spaces."""
    previous: str
    hash: str


class LogCopy(NamedTuple):
    """A namespace's log of approvals, whole, with the hub's signature of its head."""

    entries: tuple[LogEntry, ...]
    signature: str


def canonical(value: dict[str, Any]) -> str:
    """Write a table so that everybody gets the same text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def hash_of(previous: str, entry: str) -> str:
    """Chain an entry to what was before it."""
    return hashlib.sha256(f"{previous}\n{entry}".encode()).hexdigest()


def append(
    connection: Transaction, namespace: int, release: int, fields: dict[str, Any]
) -> LogEntry:
    """Write one entry at the end of a namespace's log."""
    connection.lock(f"approvals:{namespace}")
    last = head_of(connection, namespace)
    entry = canonical(fields)
    added = LogEntry(last.number + 1, entry, last.hash, hash_of(last.hash, entry))
    connection.run(
        "INSERT INTO approvals (namespace_id, release_id, number, entry, previous, hash) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        namespace,
        release,
        *added,
    )
    return added


def head_of(connection: Transaction, namespace: int) -> LogEntry:
    """Give the newest entry; one of the number 0 where there is none."""
    row = connection.row(
        "SELECT number, entry, previous, hash FROM approvals WHERE namespace_id = ? "
        "ORDER BY number DESC LIMIT 1",
        namespace,
    )
    return _entry(row) if row else LogEntry(0, "", "", "")


def entries_from(connection: Transaction, namespace: int, first: int, limit: int) -> list[LogEntry]:
    """Give entries from a number on."""
    rows = connection.rows(
        "SELECT number, entry, previous, hash FROM approvals WHERE namespace_id = ? AND number >= ? "
        "ORDER BY number LIMIT ?",
        namespace,
        first,
        limit,
    )
    return [_entry(row) for row in rows]


def head_statement(namespace: str, head: LogEntry) -> bytes:
    """Give what the hub signs of a log: how long it is, and its last hash."""
    return canonical({"namespace": namespace, "size": head.number, "head": head.hash}).encode()


def first_broken(entries: Iterable[LogEntry], previous: str = "", number: int = 0) -> int:
    """Give the number of the first entry that does not follow from the one before it; 0 where all
    do.
    """
    for one in entries:
        number += 1
        if (
            one.number != number
            or one.previous != previous
            or one.hash != hash_of(previous, one.entry)
        ):
            return number
        previous = one.hash
    return 0


def _entry(row: Any) -> LogEntry:
    return LogEntry(row["number"], row["entry"], row["previous"], row["hash"])
