"""The approval log: what a namespace's reviewers let in and took back, each entry chained to the one
before it by its hash. Whoever has a copy can tell whether the hub ever changes its past.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.supply.approvals import LogEntry, canonical, hash_of

if TYPE_CHECKING:
    from typing import Any

    from metier.hub.io.database import Transaction


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


def newest_about(connection: Transaction, release: int) -> LogEntry | None:
    """Give the newest entry that says in which state a release is; that a skill should not be used any
    more says nothing of it.
    """
    row = connection.row(
        "SELECT number, entry, previous, hash FROM approvals WHERE release_id = ? "
        "AND entry NOT LIKE ? ORDER BY number DESC LIMIT 1",
        release,
        '%"what":"deprecate"}',
    )
    return _entry(row) if row else None


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


def _entry(row: Any) -> LogEntry:
    return LogEntry(row["number"], row["entry"], row["previous"], row["hash"])
