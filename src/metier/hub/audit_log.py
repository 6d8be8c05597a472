"""The hub's audit log: every act that changed something, who did it and what about, chained by
hashes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from metier.audit.redact import redact_text
from metier.hub import authorize
from metier.supply.approvals import canonical, hash_of

if TYPE_CHECKING:
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Row


class AuditQuery(NamedTuple):
    """Which events somebody asks for; what is empty does not narrow."""

    who: str = ""
    what: str = ""
    about: str = ""
    """What the name of the thing begins with."""
    before: int = 0
    """Only events with a smaller number."""
    limit: int = 100


def record(
    connection: Transaction,
    now: int,
    caller: Caller,
    what: str,
    about: str = "",
    namespace: int = 0,
    **detail: Any,
) -> None:
    """Write down an act, in the transaction that does it."""
    connection.lock("audit")
    row = connection.row("SELECT hash FROM audit_events ORDER BY id DESC LIMIT 1")
    previous = row["hash"] if row else ""
    if caller.door:
        detail["door"] = caller.door
    said = canonical({name: _safe(value) for name, value in detail.items()})
    who = caller.ident or "nobody"
    entry = canonical(
        {
            "at": now,
            "who": who,
            "what": what,
            "about": about,
            "namespace": namespace,
            "detail": said,
        }
    )
    connection.run(
        "INSERT INTO audit_events (at, who, what, about, namespace_id, detail, previous, hash) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        now,
        who,
        what,
        about,
        namespace,
        said,
        previous,
        hash_of(previous, entry),
    )


def list_events(hub: Hub, caller: Caller, query: AuditQuery) -> list[dict[str, Any]]:
    """Give events, the newest first, each with what people call whoever did it."""
    authorize.check_hub(caller, "audit")
    parts = ["1 = 1"]
    values: list[str | int] = []
    for condition, wanted in (
        ("e.id < ?", query.before),
        ("e.who = ?", query.who),
        ("e.what = ?", query.what),
        ("substr(e.about, 1, length(?)) = ?", query.about),
    ):
        if wanted:
            parts.append(condition)
            values += [wanted] * condition.count("?")
    with hub.database.read() as connection:
        rows = connection.rows(
            "SELECT e.id, e.at, e.who, e.what, e.about, e.detail, e.hash, "
            "coalesce(t.name, p.name, '') AS name FROM audit_events e "
            "LEFT JOIN tokens t ON e.who = 'token:' || t.id "
            "LEFT JOIN people p ON e.who = 'person:' || p.id "
            f"WHERE {' AND '.join(parts)} ORDER BY e.id DESC LIMIT ?",
            *values,
            query.limit,
        )
    return [{**dict(row), "detail": json.loads(row["detail"])} for row in rows]


def event_kinds(hub: Hub, caller: Caller) -> list[str]:
    """Give the kinds of events that there are."""
    authorize.check_hub(caller, "audit")
    with hub.database.read() as connection:
        rows = connection.rows("SELECT DISTINCT what FROM audit_events ORDER BY what")
    return [row["what"] for row in rows]


def _safe(value: Any) -> Any:
    return redact_text(value) if isinstance(value, str) else value


def first_broken_event(connection: Transaction) -> int:
    """Give the id of the first event that does not follow from the one before it; 0 where all do."""
    previous = ""
    last = 0
    while True:
        rows = connection.rows(
            "SELECT * FROM audit_events WHERE id > ? ORDER BY id LIMIT 1000", last
        )
        if not rows:
            return 0
        for row in rows:
            if row["previous"] != previous or row["hash"] != hash_of(previous, _entry_of(row)):
                return int(row["id"])
            previous, last = row["hash"], row["id"]


def _entry_of(row: Row) -> str:
    return canonical(
        {
            "at": row["at"],
            "who": row["who"],
            "what": row["what"],
            "about": row["about"],
            "namespace": row["namespace_id"],
            "detail": row["detail"],
        }
    )
