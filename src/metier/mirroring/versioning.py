"""The versions of a mirrored skill: listed, viewed, compared, and any of them put in place again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import NotFoundError, RefusedError, StoreError, UsageError
from metier.mirroring import grounds, publishing, syncing
from metier.mirroring.publishing import Result
from metier.mirroring.workbench import Workbench
from metier.plugins import moves
from metier.plugins.ledger import Ledger
from metier.store.changing.disk import state_of
from metier.supplies import Origin
from metier.supply.merge.unified import unified
from metier.supplying import applying, deploying, landing, places, versions as trees
from metier.supplying.admitting import vouched
from metier.trust import disk as decisions
from metier.vetting.cases import fetched_from

if TYPE_CHECKING:
    from metier.app import Library
    from metier.mirroring.grounds import Ground
    from metier.mirrors import Skill, Version
    from metier.store.changing.disk import Changer

MOST_SHOWN = 1 << 20
"""How many bytes of a file are shown."""
BASE = "base"
"""Stands for the upstream tree that the version in place goes back to."""


class Viewed(NamedTuple):
    """One version of a skill, as a person looks at it."""

    name: str
    version: Version
    current: bool
    file: str
    content: str
    """Nothing for a file that is no text."""
    files: tuple[str, ...]


def versions(library: Library, name: str, *, user: bool | None) -> Skill:
    """Give a skill with all its versions."""
    return grounds.with_skill(library, name, user)[1]


def view(library: Library, name: str, version: str, *, file: str, user: bool | None) -> Viewed:
    """Show a version's SKILL.md, or another file of it."""
    _ground, skill = grounds.with_skill(library, name, user)
    found = _named(skill, version or skill.current)
    tree = trees.kept(places.store_of(library), found.digest)
    main = next((path for path in sorted(tree.files) if path.lower() == "skill.md"), "")
    wanted = file or main
    if wanted not in tree.files:
        hint = f"it has: {', '.join(sorted(tree.files)[:20])}"
        raise NotFoundError(f"{found.version} of '{name}' has no file '{wanted}'", hint=hint)
    data = tree.read(wanted)[:MOST_SHOWN]
    text = "" if b"\0" in data else data.decode("utf-8", "replace")
    return Viewed(name, found, found.version == skill.current, wanted, text, tuple(sorted(tree.files)))


def compare(library: Library, name: str, one: str, other: str, *, user: bool | None) -> str:
    """Show what differs between two versions; without the second, between a version and the working copy as it is now.

    `base` stands for what was last accepted from its plugin.
    """
    ground, skill = grounds.with_skill(library, name, user)
    store, first = places.store_of(library), _digest(ground, skill, one)
    with Workbench(library, ground.place) as work:
        if other:
            last, label = trees.kept(store, _digest(ground, skill, other)), other
        else:
            working = deploying.path_of(ground.place, skill.targets[0])
            there = state_of(working).startswith("sha256:")
            last = trees.snapshot(library, work.desk, working) if there else trees.kept(store, _named(skill, skill.current).digest)
            label = "yours" if there else skill.current
        return difference(trees.kept(store, first), last, (one, label))


def _digest(ground: Ground, skill: Skill, version: str) -> str:
    if version != BASE:
        return _named(skill, version).digest
    plugin = ground.mirror.plugin(skill.owner.removeprefix("plugin:"))
    binding = plugin.binding(skill.name) if plugin is not None else None
    if binding is not None and binding.accepted:
        return binding.accepted
    shipped = [one for one in skill.versions if one.created_by.startswith("plugin:")]  # of one's own skill, the last that was not
    return (shipped or skill.versions)[-1].digest


def difference(one: trees.Version, other: trees.Version, names: tuple[str, str]) -> str:
    """Give what differs between two trees as a unified diff."""
    return unified(one.files, other.files, one.read, other.read, names)


def make_current(library: Library, name: str, version: str, *, user: bool | None) -> Skill:
    """Put a version in place; what is there now is a version first, and what the scan of today refuses is refused.

    A skill that was let go when its plugin no longer shipped it comes back as the user's own.
    """
    grounds.settle(library)
    ground, skill = grounds.with_skill(library, name, user)
    found = _named(skill, version)
    if skill.status != "active" and not moves.is_retired(skill):
        raise UsageError(f"'{name}' is disabled: {skill.why}", hint="enable its plugin first")
    with Workbench(library, ground.place) as work:
        folder = work.desk.fresh()
        work.store.lay(found.digest, folder)
        origin = Origin("folder", *fetched_from(library, found.digest))
        weighed = publishing.weighed_for(library, work, name, Result(folder, work.store.files(found.digest), found.digest, origin))
        with grounds.alone(library) as changer:
            if not grounds.is_current(library, ground):
                raise landing.changed("what is mirrored here")
            after = _switched(library, ground, skill, found, changer)
    vouched(library, ground.place, [(weighed, deploying.path_of(ground.place, skill.targets[0]))], f"back to {version}")
    applying.record(library, "plugin", "switched", name, found.digest, version=found.version)
    library.turned()
    return after.mirror.skill(name) or skill


def _switched(library: Library, ground: Ground, skill: Skill, found: Version, changer: Changer) -> Ground:
    ledger, at = Ledger(ground.mirror), decisions.now()
    if moves.is_retired(skill):
        owned = publishing.owned(ground, ledger, "", skill.name, publishing.locked(ground))
        if owned:
            raise RefusedError(owned, code="ownership", hint="rename or remove that one first")
        moves.reclaimed(ledger, skill.name, at)
    working = deploying.path_of(ground.place, skill.targets[0])
    local = state_of(working)
    if local and not local.startswith("sha256:"):
        raise StoreError(f"{working} is no folder that can be read whole", hint="see to it, then say it again")
    syncing.edit_noted(library, ground.place, ledger, skill.name, local, at)
    ledger.skill(ledger.skills[skill.name]._replace(current=found.version))
    states = deploying.states(ground.place, skill.targets)
    wanted = deploying.switches(ground.place, skill.targets, found.digest, states)
    own = {one.digest for one in ledger.skills[skill.name].versions} | {""}
    switches = [one for one in wanted if one.path == working or one.before in own]
    library.warnings += [f"{one.path} was changed by itself, and stays as it is" for one in wanted if one not in switches]
    return grounds.apply(library, ground, ledger.mirror(), switches, changer)


def _named(skill: Skill, version: str) -> Version:
    found = skill.version(version)
    if found is None:
        known = ", ".join(one.version for one in skill.versions[-10:])
        raise NotFoundError(f"'{skill.name}' has no version '{version}'", hint=f"it has: {known}")
    return found
