"""Drops what policy no longer keeps: releases that were rejected, or never decided about, and what is
left over from logins and webhooks. A release that was ever approved may be in somebody's lock, and
stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.hub import audit_log
from metier.hub.namespaces import namespace_of, policy_of

if TYPE_CHECKING:
    from metier.hub.hub import Hub
    from metier.hub.model import Caller, Row

DAY_SECONDS = 86_400
DELIVERY_DAYS = 30
"""How long it is known what became of a webhook's event."""
LOGIN_DAYS = 30
"""How long a token of a login that is over is still listed."""
NEVER_APPROVED = "NOT EXISTS (SELECT 1 FROM approvals a WHERE a.release_id = r.id) AND r.vouch = ''"


def drop_old_releases(hub: Hub, caller: Caller) -> int:
    """Drop the releases that policy keeps no longer; give how many."""
    return sum(_drop(hub, caller, row) for row in _too_old(hub))


def _too_old(hub: Hub) -> list[Row]:
    found: list[Row] = []
    with hub.database.read() as connection:
        for row in connection.rows("SELECT * FROM namespaces ORDER BY id"):
            policy = policy_of(connection, namespace_of(row))
            for state, days in (
                ("rejected", policy["keep_rejected_days"]),
                ("pending", policy["keep_pending_days"]),
            ):
                if days:
                    found += connection.rows(
                        "SELECT r.id, r.state, r.version, r.digest, r.size, s.id AS skill, s.name, "
                        "s.folded, s.namespace_id, n.name AS space FROM releases r "
                        "JOIN skills s ON s.id = r.skill_id "
                        "JOIN namespaces n ON n.id = s.namespace_id "
                        "WHERE s.namespace_id = ? AND r.state = ? "
                        "AND (CASE WHEN r.decided_at > 0 THEN r.decided_at ELSE r.created_at END) < ? "
                        f"AND {NEVER_APPROVED}",
                        row["id"],
                        state,
                        hub.now() - days * DAY_SECONDS,
                    )
    return found


def _drop(hub: Hub, caller: Caller, row: Row) -> bool:
    """Drop one release, if nobody has decided otherwise in between."""
    with hub.database.write() as connection:
        connection.lock(f"skill:{row['namespace_id']}/{row['folded']}")
        still = connection.row(
            f"SELECT r.id FROM releases r WHERE r.id = ? AND r.state = ? AND {NEVER_APPROVED}",
            row["id"],
            row["state"],
        )
        if still is None:
            return False
        connection.run("DELETE FROM votes WHERE release_id = ?", row["id"])
        connection.run("DELETE FROM releases WHERE id = ?", row["id"])
        connection.run(
            "UPDATE namespaces SET used_bytes = used_bytes - ? WHERE id = ?",
            row["size"],
            row["namespace_id"],
        )
        about = f"{row['space']}/{row['name']}@{row['version']}"
        audit_log.record(
            connection,
            hub.now(),
            caller,
            "release.drop",
            about,
            row["namespace_id"],
            digest=row["digest"],
            state=row["state"],
        )
    return True


def drop_leftovers(hub: Hub) -> None:
    """Drop logins that are over, tokens of people that ended long ago, and deliveries that are done."""
    now = hub.now()
    with hub.database.write() as connection:
        connection.run("DELETE FROM logins WHERE expires_at < ?", now)
        before = now - LOGIN_DAYS * DAY_SECONDS
        connection.run(
            "DELETE FROM visits WHERE token_id IN (SELECT id FROM tokens WHERE person_id IS NOT NULL "
            "AND expires_at < ?)",
            before,
        )
        connection.run("DELETE FROM tokens WHERE person_id IS NOT NULL AND expires_at < ?", before)
        over = now - DELIVERY_DAYS * DAY_SECONDS
        connection.run(
            "DELETE FROM deliveries WHERE (done_at > 0 AND done_at < ?) "
            "OR (given_up_at > 0 AND given_up_at < ?)",
            over,
            over,
        )
