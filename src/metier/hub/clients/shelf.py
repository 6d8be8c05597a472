"""What every other client may be offered: approved releases of namespaces that whoever asks may read.
A version that was yanked is listed nowhere and given to whoever names it; one that waits or was
rejected is never given.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from metier.errors import AmbiguousError, NotFoundError
from metier.hub import authorize
from metier.hub.examine import unpack
from metier.hub.namespaces import need_namespace
from metier.hub.releases import LATEST, archive_of, need_release, need_skill
from metier.supply.safe_names import fold_name, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.hub.examine import UnpackedFile
    from metier.hub.hub import Hub
    from metier.hub.model import Caller, HubSkill, Release, Row

GIVEN = frozenset({"approved", "yanked"})
"""The states of a release that may be given to somebody who names its version."""
MAX_OFFERED = 10_000
MAX_KEPT_BYTES = 32 << 20
"""Of all archives that are kept unpacked in memory."""
MAX_KEPT_ARCHIVE_BYTES = 2 << 20
FILE_OVERHEAD_BYTES = 500
"""What a file takes beside its content, about."""


def offered_skills(
    hub: Hub,
    caller: Caller,
    namespace: str = "",
    limit: int = MAX_OFFERED,
    after: tuple[str, str] = ("", ""),
) -> Sequence[Row]:
    """Give the skills that somebody may read, each with its newest approved release, in the order of
    their namespaces and names; `after` is the last one that was given before.
    """
    where, values = authorize.visible_where(caller)
    with hub.database.read() as connection:
        if namespace:
            need_namespace(connection, caller, namespace)
            where, values = f"{where} AND n.name = ?", [*values, namespace]
        return connection.rows(
            "SELECT n.name AS space, s.name, s.description, s.latest, s.level, s.deprecated, "
            "s.installs, s.created_at, s.changed_at, r.archive, r.digest, r.created_at AS made_at, "
            "r.decided_at FROM skills s JOIN namespaces n ON n.id = s.namespace_id "
            "JOIN releases r ON r.skill_id = s.id AND r.version = s.latest "
            f"WHERE s.latest <> '' AND {where} AND (n.name > ? OR (n.name = ? AND s.name > ?)) "
            "ORDER BY n.name, s.name LIMIT ?",
            *values,
            after[0],
            *after,
            min(limit, MAX_OFFERED),
        )


def offered_releases(
    hub: Hub, caller: Caller, namespace: str, name: str
) -> tuple[HubSkill, list[Release]]:
    """Give a skill with its approved releases, the newest first."""
    with hub.database.read() as connection:
        skill, found = need_skill(connection, caller, namespace, name)
    good = [one for one in found if one.state == "approved"]
    if not good:
        raise authorize.no_skill(namespace, name)
    return skill, good


def given_release(
    hub: Hub, caller: Caller, namespace: str, name: str, version: str = LATEST
) -> Release:
    """Give a release that is approved, or that was and is named exactly."""
    with hub.database.read() as connection:
        found = need_release(connection, caller, namespace, name, version)[1]
    if found.state not in GIVEN:
        raise authorize.no_skill(namespace, name, version)
    return found


def place_of_name(hub: Hub, caller: Caller, name: str) -> str:
    """Give the namespace of the only skill of a name that somebody may read. Several are a question,
    for else anybody could put theirs before another's.
    """
    where, values = authorize.visible_where(caller)
    with hub.database.read() as connection:
        rows = connection.rows(
            "SELECT n.name AS space FROM skills s JOIN namespaces n ON n.id = s.namespace_id "
            f"WHERE s.folded = ? AND {where} AND EXISTS (SELECT 1 FROM releases r WHERE "
            "r.skill_id = s.id AND r.state IN ('approved', 'yanked')) ORDER BY n.name LIMIT 6",
            fold_name(name),
            *values,
        )
    if not rows:
        raise NotFoundError(
            f"the hub has no skill '{printable(name)}'",
            hint="check the name, and whether you are logged in",
        )
    if len(rows) > 1:
        named = [f"{row['space']}/{printable(name)}" for row in rows]
        raise AmbiguousError(
            f"several namespaces have this skill: {', '.join(named)}",
            code="hub-several",
            hint="name the namespace, too",
        )
    return str(rows[0]["space"])


class UnpackedArchives:
    """The files of small archives that were asked for lately: some clients ask for one file at a
    time. Archives never change, and whoever asks has been let in before.
    """

    def __init__(self) -> None:
        """Keep none."""
        self._kept: OrderedDict[str, list[UnpackedFile]] = OrderedDict()
        self._bytes = 0
        self._guard = threading.Lock()

    def of(self, hub: Hub, release: Release) -> list[UnpackedFile]:
        """Give the files of a release."""
        with self._guard:
            if release.archive in self._kept:
                self._kept.move_to_end(release.archive)
                return self._kept[release.archive]
        found = unpack(archive_of(hub, release), hub.library().context.settings.supply)
        size = _size_of(found)
        with self._guard:
            if size <= MAX_KEPT_ARCHIVE_BYTES and release.archive not in self._kept:
                self._kept[release.archive] = found
                self._bytes += size
                while self._bytes > MAX_KEPT_BYTES:
                    _oldest, gone = self._kept.popitem(last=False)
                    self._bytes -= _size_of(gone)
        return found


def _size_of(files: list[UnpackedFile]) -> int:
    return sum(len(one.data) + len(one.path) + FILE_OVERHEAD_BYTES for one in files)


_ARCHIVES = UnpackedArchives()


def files_of(hub: Hub, release: Release) -> list[UnpackedFile]:
    """Give the files of a release."""
    return _ARCHIVES.of(hub, release)
