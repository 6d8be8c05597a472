"""Compares two releases of a skill: what changed in its files, and what a scan said before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.hub.examine import unpack
from metier.hub.releases import LATEST, archive_of, need_release, need_skill
from metier.standard.digest import TreeFile
from metier.supply.merge.unified import unified

if TYPE_CHECKING:
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.model import Caller, Release

MAX_DIFF_CHARS = 1 << 20


def compare_releases(
    hub: Hub, caller: Caller, namespace: str, name: str, old: str, new: str = LATEST
) -> dict[str, Any]:
    """Give the change from one release to another; without an older one, from the one before it."""
    with hub.database.read() as connection:
        _space, after = need_release(connection, caller, namespace, name, new or LATEST)
        before = None
        if old:
            _space, before = need_release(connection, caller, namespace, name, old)
    before = before or release_before(hub, caller, after)
    if before is None:
        raise UsageError("there is no version before this one", hint="name two versions")
    return _changes(hub, before, after)


def changes_before(hub: Hub, caller: Caller, release: Release) -> dict[str, Any]:
    """Give what a release changes; all of it, where it is the first."""
    return _changes(hub, release_before(hub, caller, release), release)


def release_before(hub: Hub, caller: Caller, release: Release) -> Release | None:
    """Give the version that somebody had before a release; nothing where it is the first."""
    with hub.database.read() as connection:
        _skill, seen = need_skill(connection, caller, release.namespace, release.name)
    versions = [one.version for one in seen]
    rest = seen[versions.index(release.version) + 1 :]
    return next((one for one in rest if one.state in {"approved", "yanked"}), None)


def _changes(hub: Hub, before: Release | None, after: Release) -> dict[str, Any]:
    text = diff_of(hub, before, after)
    old = {"level": before.level, "score": before.score} if before else None
    return {
        "from": before.version if before else "",
        "to": after.version,
        "diff": text[:MAX_DIFF_CHARS],
        "cut": len(text) > MAX_DIFF_CHARS,
        "verdicts": {
            "before": old,
            "after": {"level": after.level, "score": after.score},
            "new_findings": _new_findings(before, after),
            "gone_findings": _new_findings(after, before) if before else [],
        },
    }


def diff_of(hub: Hub, before: Release | None, after: Release) -> str:
    """Give what changed between two releases as a unified diff."""
    old = contents_of(hub, before) if before else {}
    new = contents_of(hub, after)
    return unified(
        _files_of(before),
        _files_of(after),
        lambda path: old.get(path, b""),
        lambda path: new.get(path, b""),
        (before.version if before else "nothing", after.version),
    )


def contents_of(hub: Hub, release: Release) -> dict[str, bytes]:
    """Give the files of a release by their paths."""
    limits = hub.library().context.settings.supply
    return {one.path: one.data for one in unpack(archive_of(hub, release), limits)}


def _files_of(release: Release | None) -> dict[str, TreeFile]:
    return {
        one.path: TreeFile(one.path, one.size, bytes.fromhex(one.sha256), one.executable)
        for one in (release.files if release else ())
    }


def _new_findings(before: Release | None, after: Release) -> list[Any]:
    known = {one.get("fingerprint") for one in (before.findings if before else ())}
    return [one for one in after.findings if one.get("fingerprint") not in known]
