"""Counts installs by day. A client tells of one only where its user wants that."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from metier.hub.namespaces import need_namespace
from metier.hub.releases import need_release

if TYPE_CHECKING:
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.model import Caller

MAX_ROWS = 5_000


def count_install(hub: Hub, caller: Caller, namespace: str, name: str, version: str) -> None:
    """Count one install of a release that somebody may see."""
    day = datetime.fromtimestamp(hub.now(), UTC).strftime("%Y-%m-%d")
    with hub.database.write() as connection:
        _space, found = need_release(connection, caller, namespace, name, version)
        connection.run(
            "INSERT INTO installs (skill_id, day, version, count) VALUES (?, ?, ?, 1) "
            "ON CONFLICT (skill_id, day, version) DO UPDATE SET count = installs.count + 1",
            found.skill,
            day,
            found.version,
        )
        connection.run("UPDATE skills SET installs = installs + 1 WHERE id = ?", found.skill)


def installs_of(hub: Hub, caller: Caller, namespace: str) -> list[dict[str, Any]]:
    """Give the installs of a namespace's skills, by day."""
    with hub.database.read() as connection:
        space = need_namespace(connection, caller, namespace)
        rows = connection.rows(
            "SELECT i.day, s.name, sum(i.count) AS count FROM installs i "
            "JOIN skills s ON s.id = i.skill_id WHERE s.namespace_id = ? "
            "GROUP BY i.day, s.name ORDER BY i.day DESC, s.name LIMIT ?",
            space.id,
            MAX_ROWS,
        )
    return [{"day": row["day"], "name": row["name"], "count": int(row["count"])} for row in rows]
