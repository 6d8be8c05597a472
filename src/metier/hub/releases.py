"""Reads skills and their releases out of the database, for whoever may see them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from metier.errors import IntegrityError, NotFoundError, StoreError
from metier.hub import authorize
from metier.hub.io.objects import blob_key
from metier.hub.model import HubSkill, Release, ReleaseFile
from metier.hub.namespaces import need_namespace
from metier.standard.semver import read_version
from metier.supply.safe_names import fold_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Namespace, Row

LATEST = "latest"
RELEASE_COLUMNS = (  # every query names r, s and n so; a release's body is long, and only indexed
    "r.id, r.skill_id, r.version, r.digest, r.archive, r.size, r.state, r.level, r.score, r.ruleset, "
    "r.findings, r.files, r.description, r.publisher, r.publisher_ident, r.provenance, r.signature, "
    "r.vouch, r.reason, r.created_at, r.decided_at, s.name AS skill_name, n.name AS space"
)
_FROM = "releases r JOIN skills s ON s.id = r.skill_id JOIN namespaces n ON n.id = s.namespace_id"


def sort_key(version: str) -> str:
    """Give a text that sorts as versions do; one that is no version comes first."""
    read = read_version(version)
    if read is None:
        return f"0:{version}"
    early = "".join(f"{kind}{number:010d}{word}." for kind, number, word in read.prerelease)
    return f"1:{read.major:010d}.{read.minor:010d}.{read.patch:010d}.{'~' if read.final else early}"


def find_skill_row(connection: Transaction, space: Namespace, name: str) -> Row | None:
    """Give the row of a skill; a name that only looks the same is the same."""
    return connection.row(
        "SELECT * FROM skills WHERE namespace_id = ? AND folded = ?", space.id, fold_name(name)
    )


def skill_of(row: Row, space: Namespace) -> HubSkill:
    """Read a row."""
    return HubSkill(
        id=row["id"],
        namespace=space,
        name=row["name"],
        description=row["description"],
        latest=row["latest"],
        level=row["level"],
        deprecated=row["deprecated"],
        installs=row["installs"],
        changed_at=row["changed_at"],
    )


def release_of(row: Row) -> Release:
    """Read a row of `RELEASE_COLUMNS`."""
    return Release(
        id=row["id"],
        skill=row["skill_id"],
        namespace=row["space"],
        name=row["skill_name"],
        version=row["version"],
        digest=row["digest"],
        archive=row["archive"],
        size=row["size"],
        state=row["state"],
        level=row["level"],
        score=row["score"],
        ruleset=row["ruleset"],
        findings=tuple(json.loads(row["findings"])),
        files=tuple(ReleaseFile(*one) for one in json.loads(row["files"])),
        description=row["description"],
        publisher=row["publisher"],
        publisher_ident=row["publisher_ident"],
        provenance=json.loads(row["provenance"]),
        signature=row["signature"],
        vouch=row["vouch"],
        reason=row["reason"],
        created_at=row["created_at"],
        decided_at=row["decided_at"],
    )


def releases_of(connection: Transaction, skill: int) -> list[Release]:
    """Give all releases of a skill, the newest version first, whoever may see them."""
    rows = connection.rows(
        f"SELECT {RELEASE_COLUMNS} FROM {_FROM} WHERE s.id = ? ORDER BY r.sort_key DESC",
        skill,
    )
    return [release_of(row) for row in rows]


def newest_release(connection: Transaction, skill: int) -> Release | None:
    """Give a skill's newest version, whoever may see it."""
    row = connection.row(
        f"SELECT {RELEASE_COLUMNS} FROM {_FROM} WHERE s.id = ? ORDER BY r.sort_key DESC LIMIT 1",
        skill,
    )
    return release_of(row) if row else None


def find_release(connection: Transaction, skill: int, version: str) -> Release | None:
    """Give one release, whoever may see it."""
    row = connection.row(
        f"SELECT {RELEASE_COLUMNS} FROM {_FROM} WHERE s.id = ? AND r.version = ?",
        skill,
        version,
    )
    return release_of(row) if row else None


def need_skill(
    connection: Transaction, caller: Caller, namespace: str, name: str
) -> tuple[HubSkill, list[Release]]:
    """Give a skill with the releases of it that somebody may see; one without any does not exist for
    them.
    """
    space = need_namespace(connection, caller, namespace)
    row = find_skill_row(connection, space, name)
    if row is None:
        raise authorize.no_skill(namespace, name)
    seen = [
        one for one in releases_of(connection, row["id"]) if authorize.may_see(caller, space, one)
    ]
    if not seen:
        raise authorize.no_skill(namespace, name)
    return skill_of(row, space), seen


def need_release(
    connection: Transaction, caller: Caller, namespace: str, name: str, version: str
) -> tuple[Namespace, Release]:
    """Give a release that somebody may see; `latest` is the newest approved one."""
    space = need_namespace(connection, caller, namespace)
    row = find_skill_row(connection, space, name)
    if row is None:
        raise authorize.no_skill(namespace, name, version)
    wanted = row["latest"] if version == LATEST else version
    found = find_release(connection, row["id"], wanted) if wanted else None
    if found is None or not authorize.may_see(caller, space, found):
        raise authorize.no_skill(namespace, name, version)
    return space, found


def archive_of(hub: Hub, release: Release) -> bytes:
    """Give the archive of a release, held to its hash."""
    try:
        data = hub.objects.get(blob_key(release.archive))
    except NotFoundError as error:  # the release is there: it is the hub's own fault
        raise StoreError(error.message, code="hub-object", hint=error.hint) from error
    if hashlib.sha256(data).hexdigest() != release.archive:
        raise IntegrityError(
            f"the hub's copy of {release.name} {release.version} is damaged",
            code="digest",
            hint="ask an admin to run: metier hub check",
        )
    return data


def list_skills(
    hub: Hub, caller: Caller, namespace: str, limit: int = 100, offset: int = 0
) -> list[HubSkill]:
    """List the skills of a namespace that have an approved version."""
    with hub.database.read() as connection:
        space = need_namespace(connection, caller, namespace)
        rows = connection.rows(
            "SELECT * FROM skills WHERE namespace_id = ? AND latest <> '' ORDER BY name "
            "LIMIT ? OFFSET ?",
            space.id,
            limit,
            offset,
        )
    return [skill_of(row, space) for row in rows]


def pending_releases(
    hub: Hub, caller: Caller, limit: int = 200, namespace: str = ""
) -> list[Release]:
    """List what waits for somebody's decision, and what they published that waits for others', the
    oldest first: everywhere, or in one namespace.
    """
    readable, values = authorize.visible_where(caller)
    if namespace:
        readable, values = f"{readable} AND n.name = ?", [*values, namespace]
    decided, more = authorize.granted_where(caller, "see_pending")
    with hub.database.read() as connection:
        rows = connection.rows(
            f"SELECT {RELEASE_COLUMNS} FROM {_FROM} WHERE r.state = 'pending' AND {readable} "
            f"AND ({decided} OR (r.publisher_ident = ? AND r.publisher_ident <> '')) "
            "ORDER BY r.created_at, r.id LIMIT ?",
            *values,
            *more,
            caller.ident,
            limit,
        )
    return [release_of(row) for row in rows]


def findings_text(findings: Sequence[Any]) -> str:
    """Write findings for the database."""
    return json.dumps(list(findings), separators=(",", ":"))
