"""The versions of a mirrored skill: listed, viewed, compared, and any of them put in place
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import NotFoundError, StoreError, UsageError
from metier.plugins import install, mirror_ledger, mirror_store
from metier.plugins.install import PluginWorkspace
from metier.plugins.mirror_store import being_edited, digest_of_state
from metier.store.io.atomic_change import state_of
from metier.supply import places
from metier.supply.judge import record_approvals
from metier.supply.merge import combine
from metier.supply.merge.combine import difference

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Texts
    from metier.plugins.mirror_store import MirroredPlace, PlaceLedger
    from metier.plugins.model import MirroredVersion, VersionedSkill
    from metier.supply.merge.combine import VersionFiles

MAX_SHOWN_BYTES = 1 << 20
"""How many bytes of a file are shown."""
BASE_VERSION = "base"
"""Stands for the upstream tree that the version in place goes back to."""


class ViewedVersion(NamedTuple):
    """One version of a skill, for a person to read."""

    name: str
    version: MirroredVersion
    current: bool
    file: str
    content: str
    """Nothing for a file that is no text."""
    files: Texts


def list_versions(context: Context, name: str, *, user: bool | None) -> VersionedSkill:
    """Give a skill with all its versions."""
    return mirror_store.with_skill(context, name, user)[1]


def view(
    context: Context, name: str, version: str, *, file: str, user: bool | None
) -> ViewedVersion:
    """Show a version's SKILL.md, or another file of it."""
    _ground, skill = mirror_store.with_skill(context, name, user)
    found = _named(skill, version or skill.current)
    tree = combine.stored_version(places.store_of(context), found.digest)
    wanted = file or next((path for path in sorted(tree.files) if path.lower() == "skill.md"), "")
    if wanted not in tree.files:
        raise NotFoundError(
            f"{found.version} of '{name}' has no file '{wanted}'",
            hint=f"it has: {', '.join(sorted(tree.files)[:20])}",
        )
    data = tree.read(wanted)[:MAX_SHOWN_BYTES]
    text = "" if b"\0" in data else data.decode("utf-8", "replace")
    return ViewedVersion(
        name, found, found.version == skill.current, wanted, text, tuple(sorted(tree.files))
    )


def compare(context: Context, name: str, one: str, other: str, *, user: bool | None) -> str:
    """Show what differs between two versions; without the second, between a version and the working
    copy as it is now.

    `base` stands for what was last accepted from its plugin.
    """
    here, skill = mirror_store.with_skill(context, name, user)
    first = _tree(here, skill, one)
    working = here.working(skill)
    if other or not digest_of_state(state_of(working)):
        other = other or skill.current
        return difference(first, _tree(here, skill, other), (one, other))
    with PluginWorkspace(here) as work:
        return difference(first, work.snapshot(working), (one, "yours"))


def _tree(here: MirroredPlace, skill: VersionedSkill, version: str) -> VersionFiles:
    """Give the files of a version, or of the upstream tree that `base` stands for."""
    digest = _base(here, skill) if version == BASE_VERSION else _named(skill, version).digest
    return combine.stored_version(places.store_of(here.context), digest)


def _base(here: MirroredPlace, skill: VersionedSkill) -> str:
    plugin = here.mirror.plugin(skill.owner.removeprefix("plugin:"))
    binding = plugin.binding(skill.name) if plugin is not None else None
    if binding is not None and binding.accepted:
        return binding.accepted
    # Of one's own skill, the last that was not.
    shipped = [one for one in skill.versions if one.created_by.startswith("plugin:")]
    return (shipped or skill.versions)[-1].digest


def make_current(context: Context, name: str, version: str, *, user: bool | None) -> VersionedSkill:
    """Put a version in place; what is there now is a version first, and what the scan of today
    refuses is refused.

    A skill that was let go when its plugin no longer shipped it comes back as the user's own.
    """
    mirror_store.settle_crash(context)
    here, skill = mirror_store.with_skill(context, name, user)
    found = _named(skill, version)
    if skill.status != "active" and not mirror_ledger.is_retired(skill):
        raise UsageError(f"'{name}' is disabled: {skill.why_text}", hint="enable its plugin first")
    with PluginWorkspace(here) as work:
        weighed = install.weigh_tree(work, name, work.choose(found.digest))
        with mirror_store.change(here) as ledger:
            after = _switch(ledger, skill, found)
    record_approvals(context, here.place, [(weighed, here.working(skill))], f"back to {version}")
    log.record(context, "plugin", "switched", name=name, digest=found.digest, version=found.version)
    context.catalogue.refresh()
    return after.mirror.skill(name) or skill


def _switch(ledger: PlaceLedger, skill: VersionedSkill, found: MirroredVersion) -> MirroredPlace:
    here = ledger.here
    name = skill.name
    if mirror_ledger.is_retired(skill):
        install.check_owner(ledger, "", name)
        ledger.reclaim(name)
    working = here.working(skill)
    local = state_of(working)
    if local and not digest_of_state(local):
        raise StoreError(
            f"{working} is not a readable folder", hint="check what it is and its permissions"
        )
    ledger.keep_edit(name, local, being_edited)
    ledger.put_skill(ledger.skills[name]._replace(current=found.version))
    own = {"", *(one.digest for one in ledger.skills[name].versions)}
    return ledger.commit(install.switches_to(here, skill, found.digest, own))


def _named(skill: VersionedSkill, version: str) -> MirroredVersion:
    found = skill.version(version)
    if found is None:
        known = ", ".join(one.version for one in skill.versions[-10:])
        raise NotFoundError(f"'{skill.name}' has no version '{version}'", hint=f"it has: {known}")
    return found
