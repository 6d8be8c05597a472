"""Counts installs by day. A client tells of one only where its user wants that."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from metier.hub import authorize
from metier.hub.namespaces import need_namespace
from metier.hub.releases import need_release

if TYPE_CHECKING:
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.model import Caller

MAX_ROWS = 5_000
MAX_SKILLS = 100
DAYS = 30
"""How many days are shown."""


class DayCount(NamedTuple):
    """How often something was installed on one day."""

    day: str
    installs: int


class SkillCount(NamedTuple):
    """How often one skill was installed."""

    namespace: str
    name: str
    installs: int


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


def installs_by_day(
    hub: Hub, caller: Caller, namespace: str = "", name: str = "", days: int = DAYS
) -> list[DayCount]:
    """Give how often skills that somebody may read were installed on each of the last days: those of
    the whole hub, of a namespace, or one.
    """
    where, values = authorize.visible_where(caller)
    for column, wanted in (("n.name", namespace), ("s.name", name)):
        if wanted:
            where += f" AND {column} = ?"
            values.append(wanted)
    today = datetime.fromtimestamp(hub.now(), UTC).date()
    shown = [str(today - timedelta(days=back)) for back in range(days - 1, -1, -1)]
    with hub.database.read() as connection:
        if namespace:
            need_namespace(connection, caller, namespace)
        rows = connection.rows(
            "SELECT i.day, sum(i.count) AS count FROM installs i "
            "JOIN skills s ON s.id = i.skill_id JOIN namespaces n ON n.id = s.namespace_id "
            f"WHERE {where} AND i.day >= ? GROUP BY i.day",
            *values,
            shown[0],
        )
    counted = {row["day"]: int(row["count"]) for row in rows}
    return [DayCount(day, counted.get(day, 0)) for day in shown]


def installs_by_skill(
    hub: Hub, caller: Caller, namespace: str = "", days: int = DAYS
) -> list[SkillCount]:
    """Give the skills that somebody may read and that were installed most in the last days."""
    where, values = authorize.visible_where(caller)
    if namespace:
        where += " AND n.name = ?"
        values.append(namespace)
    first = str(datetime.fromtimestamp(hub.now(), UTC).date() - timedelta(days=days - 1))
    with hub.database.read() as connection:
        rows = connection.rows(
            "SELECT n.name AS namespace, s.name, sum(i.count) AS count FROM installs i "
            "JOIN skills s ON s.id = i.skill_id JOIN namespaces n ON n.id = s.namespace_id "
            f"WHERE {where} AND i.day >= ? GROUP BY n.name, s.name "
            "ORDER BY count DESC, n.name, s.name LIMIT ?",
            *values,
            first,
            MAX_SKILLS,
        )
    return [SkillCount(row["namespace"], row["name"], int(row["count"])) for row in rows]


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
