"""What every other client may be offered: approved releases of namespaces that whoever asks may read.
A version that was yanked is listed nowhere and given to whoever names it; one that waits or was
rejected is never given.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.errors import AmbiguousError, NotFoundError, RefusedError
from metier.hub import authorize
from metier.hub.examine import unpack
from metier.hub.io.objects import blob_key
from metier.hub.namespaces import need_namespace
from metier.hub.releases import LATEST, need_release, need_skill
from metier.supply.safe_names import fold_name, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from metier.hub.examine import UnpackedFile
    from metier.hub.hub import Hub
    from metier.hub.model import Caller, HubSkill, Release, Row

GIVEN = frozenset({"approved", "yanked"})
"""The states of a release that may be given to somebody who names its version."""
MAX_OFFERED = 10_000


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


def archive_of(hub: Hub, release: Release) -> bytes:
    """Give the archive of a release, held to its hash."""
    data = hub.objects.get(blob_key(release.archive))
    if hashlib.sha256(data).hexdigest() != release.archive:
        raise RefusedError(
            f"the hub's copy of {release.name} {release.version} is damaged",
            code="digest",
            hint="ask an admin to run: metier hub check",
        )
    return data


def files_of(hub: Hub, release: Release) -> list[UnpackedFile]:
    """Give the files of a release."""
    return unpack(archive_of(hub, release), hub.library().context.settings.supply)


def address_of_hub(hub: Hub, request: Request) -> str:
    """Give the address that a client reaches the hub by."""
    return (hub.options.public_url or str(request.base_url)).rstrip("/")
