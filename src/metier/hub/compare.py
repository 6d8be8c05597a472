"""Compares two releases of a skill: what changed in its files, and what a scan said before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.hub.examine import unpack
from metier.hub.io.objects import blob_key
from metier.hub.releases import LATEST, need_release, need_skill
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
        if old:
            _space, before = need_release(connection, caller, namespace, name, old)
        else:
            _skill, seen = need_skill(connection, caller, namespace, name)
            versions = [one.version for one in seen]
            rest = seen[versions.index(after.version) + 1 :]
            found = next((one for one in rest if one.state in {"approved", "yanked"}), None)
            if found is None:
                raise UsageError("there is no version before this one", hint="name two versions")
            before = found
    text = diff_of(hub, before, after)
    return {
        "from": before.version,
        "to": after.version,
        "diff": text[:MAX_DIFF_CHARS],
        "cut": len(text) > MAX_DIFF_CHARS,
        "verdicts": {
            "before": {"level": before.level, "score": before.score},
            "after": {"level": after.level, "score": after.score},
            "new_findings": _new_findings(before, after),
        },
    }


def diff_of(hub: Hub, before: Release, after: Release) -> str:
    """Give what changed between two releases as a unified diff."""
    old, new = (contents_of(hub, one) for one in (before, after))
    return unified(
        _files_of(before),
        _files_of(after),
        old.__getitem__,
        new.__getitem__,
        (before.version, after.version),
    )


def contents_of(hub: Hub, release: Release) -> dict[str, bytes]:
    """Give the files of a release by their paths."""
    limits = hub.library().context.settings.supply
    data = hub.objects.get(blob_key(release.archive))
    return {one.path: one.data for one in unpack(data, limits)}


def _files_of(release: Release) -> dict[str, TreeFile]:
    return {
        one.path: TreeFile(one.path, one.size, bytes.fromhex(one.sha256), one.executable)
        for one in release.files
    }


def _new_findings(before: Release, after: Release) -> list[Any]:
    known = {one.get("fingerprint") for one in before.findings}
    return [one for one in after.findings if one.get("fingerprint") not in known]
