"""How a mirrored plugin stands: what enabling, pausing, disabling and adopting write down, as values.

Nothing here looks at a disk or decides about trust. Each function takes the ledger from one sound state to the next, so a walk
over them at random can be held against a simple model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import NotFoundError, UsageError
from metier.mirrors import Binding, Plugin, Provenance, Skill, Version
from metier.plugins.ledger import FIRST

if TYPE_CHECKING:
    from metier.mirrors import MergeMode, PluginStatus
    from metier.plugins.ledger import Ledger
    from metier.supplies import Target

OPEN = frozenset({"open", "accepted"})
"""What still waits."""
WAITING = frozenset({"update_pending", "new", "removed"})
"""The skills on whose account a plugin is not synced."""

REMOVED = "plugin_removed:"
"""Why a skill is disabled that a person let go when its plugin no longer shipped it; the plugin's id follows."""


class Tree(NamedTuple):
    """A tree, and the hashes of its SKILL.md and of the body of that."""

    digest: str
    content_hash: str = ""
    summary_hash: str = ""


class Seen(NamedTuple):
    """What a plugin ships now as one of its skills."""

    path: str
    tree: Tree


# --- who owns what


def owned_by(plugin_id: str) -> str:
    """Give the owner's name of a plugin."""
    return f"plugin:{plugin_id}"


def rivals(ledger: Ledger, plugin_id: str, name: str) -> list[Skill]:
    """Give what has the name of a skill that a plugin ships, in any spelling, and is not that skill (BE-4, and BE-6 put right)."""
    own = owned_by(plugin_id)
    return [one for one in ledger.alike(name) if not is_retired(one) and (one.name, one.owner) != (name, own)]


def conflict(name: str, rival: Skill) -> str:
    """Say who else owns a skill that a plugin ships."""
    whose = f"it belongs to the {rival.owner.replace(':', ' ', 1)}" if rival.owner != "user" else "it is your own"
    return f"Skill ownership conflict: {name} ({whose}{f', as {rival.name}' if rival.name != name else ''})"


def is_retired(skill: Skill) -> bool:
    """Tell whether a skill was let go when its plugin no longer shipped it: its versions are kept, and its name is free."""
    return skill.status == "disabled" and skill.why.startswith(REMOVED)


def is_adopted(ledger: Ledger, plugin_id: str, name: str) -> bool:
    """Tell whether a skill was this plugin's and is the user's own now: its plugin's updates are no longer offered."""
    skill = ledger.skills.get(name)
    return skill is not None and skill.owner == "user" and skill.lineage == f"adopted_from_plugin:{plugin_id}"


def known(ledger: Ledger, plugin_id: str) -> Plugin:
    """Give a plugin that was enabled here once (BE-23)."""
    plugin = ledger.plugins.get(plugin_id)
    if plugin is None:
        raise NotFoundError(f"Unknown plugin state: {plugin_id}", hint="'metier plugin list' shows all")
    return plugin


def bound(ledger: Ledger, plugin_id: str, name: str) -> Binding:
    """Give how a skill stands to its plugin (BE-23)."""
    binding = known(ledger, plugin_id).binding(name)
    if binding is None:
        raise NotFoundError(f"Plugin skill binding not found: {plugin_id}/{name}", hint="'metier plugin list' shows its skills")
    return binding


def bound_to(ledger: Ledger, plugin_id: str, name: str) -> bool:
    """Tell whether a skill was taken over from a plugin and is still bound to it."""
    binding = known(ledger, plugin_id).binding(name)
    return binding is not None and bool(binding.accepted) and name in ledger.skills


def linked(ledger: Ledger, plugin_id: str) -> list[Skill]:
    """Give the skills that a plugin owns; one that it only offers may be somebody else's, and stays so."""
    found = [ledger.skills.get(one.skill) for one in known(ledger, plugin_id).skills if one.accepted]
    return [one for one in found if one is not None]


# --- enabling


def mirrored(ledger: Ledger, plugin_id: str, name: str, seen: Seen, targets: tuple[Target, ...], at: str) -> Version:
    """Take a skill over as its plugin ships it: a version without a parent, accepted as observed (BE-5, BE-8, BE-11)."""
    plugin, owner = ledger.plugins[plugin_id], owned_by(plugin_id)
    before = ledger.skills.get(name)
    versions = before.versions if before is not None else ()
    ledger.skill(Skill(name, owner, owner, "active", "", "", targets, versions))
    why = f"mirrored from {plugin_id} {plugin.installed_version}".rstrip()
    made = ledger.version(name, Version(FIRST, *seen.tree, "", owner, why, "published", at, provenance(plugin, seen, "mirror")))
    ledger.binding(plugin_id, Binding(name, seen.path, seen.tree.digest, seen.tree.digest, made.version, "synced"))
    return made


def restored(ledger: Ledger, plugin_id: str, name: str) -> Version:
    """Bring a disabled skill back as it was, edits and all (BE-7 put right); give the version to put in place."""
    skill = ledger.skills[name]
    ledger.skill(skill._replace(status="active", why="", owner=owned_by(plugin_id)))
    return ledger.current(name)


def observed(ledger: Ledger, plugin_id: str, version: str, commit: str, *, missing: bool) -> None:
    """Note what a look found of a plugin: its version is the manifest's, also while updates wait (BE-12, BE-16)."""
    plugin = ledger.plugins[plugin_id]
    status: PluginStatus = "missing" if missing else "synced" if plugin.status == "missing" else plugin.status
    ledger.plugin(plugin._replace(status=status, installed_version=version, commit=commit))


def settled(ledger: Ledger, plugin_id: str) -> None:
    """Work out a plugin's status from its skills: it is synced only when every one of them is (BE-16, BE-19 put right)."""
    plugin = ledger.plugins[plugin_id]
    status: PluginStatus = plugin.status
    if plugin.enabled and status not in {"paused", "missing"}:  # what a person decides brings no manifest back
        status = "update_pending" if any(one.status in WAITING for one in plugin.skills) else "synced"
    ledger.plugin(plugin._replace(status=status))


# --- standing


def paused(ledger: Ledger, plugin_id: str) -> None:
    """Leave a plugin's skills alone for a while (BE-20)."""
    plugin = known(ledger, plugin_id)
    if not plugin.enabled:
        raise UsageError(f"'{plugin_id}' is not enabled", hint=f"metier plugin enable {plugin_id}")
    ledger.plugin(plugin._replace(status="paused"))


def resumed(ledger: Ledger, plugin_id: str) -> None:
    """Go on with a plugin that was paused (BE-20)."""
    plugin = known(ledger, plugin_id)
    if not plugin.enabled:
        raise UsageError(f"'{plugin_id}' is not enabled", hint=f"metier plugin enable {plugin_id}")
    ledger.plugin(plugin._replace(status="synced"))
    settled(ledger, plugin_id)


def disabled(ledger: Ledger, plugin_id: str, at: str) -> list[str]:
    """Disable every skill of a plugin, with the reason; give their names (BE-21). What waits is superseded, not lost."""
    plugin = known(ledger, plugin_id)
    if plugin.status == "adopted":  # nothing of it is left to disable
        return []
    active = [one for one in linked(ledger, plugin_id) if one.status == "active"]
    for skill in active:
        ledger.skill(skill._replace(status="disabled", why=f"plugin_disabled:{plugin_id}"))
    for one in plugin.skills:
        withdraw(ledger, one.pending, f"plugin_disabled:{plugin_id}", "", at)
    left = tuple(one._replace(pending="", status="synced") for one in plugin.skills if one.accepted)
    ledger.plugin(plugin._replace(enabled=False, status="disabled", skills=left))
    return [one.name for one in active]


def adopted(ledger: Ledger, plugin_id: str, name: str, at: str) -> None:
    """Make a skill the user's own; its lineage is kept. With the last one the plugin is adopted as a whole (BE-22)."""
    binding = bound(ledger, plugin_id, name)
    skill = ledger.skills.get(name)
    if skill is None or not binding.accepted:
        raise UsageError(f"'{name}' is not here yet: it waits for your yes", hint=f"metier review accept {binding.pending}")
    withdraw(ledger, binding.pending, "it was adopted", "", at)
    ledger.skill(skill._replace(owner="user", lineage=f"adopted_from_plugin:{plugin_id}", status="active", why=""))
    unbound(ledger, plugin_id, name)
    plugin = ledger.plugins[plugin_id]
    if not any(one.accepted for one in plugin.skills):
        for one in plugin.skills:
            withdraw(ledger, one.pending, "its plugin was adopted", "", at)
        ledger.plugin(plugin._replace(enabled=False, status="adopted", skills=()))
    else:
        settled(ledger, plugin_id)


def reclaimed(ledger: Ledger, name: str, at: str) -> None:
    """Take back a skill that was let go: it is the user's own from now on, also where its plugin ships it again."""
    skill = ledger.skills[name]
    plugin = ledger.plugins.get(skill.why.removeprefix(REMOVED))
    binding = plugin.binding(name) if plugin is not None else None
    if plugin is not None and binding is not None:  # it was offered anew meanwhile
        withdraw(ledger, binding.pending, "it was taken back", "", at)
        unbound(ledger, plugin.plugin_id, name)
        settled(ledger, plugin.plugin_id)
    lineage = f"adopted_from_plugin:{skill.why.removeprefix(REMOVED)}"
    ledger.skill(skill._replace(owner="user", lineage=lineage, status="active", why=""))


def unbound(ledger: Ledger, plugin_id: str, name: str) -> None:
    """Part a skill from its plugin."""
    plugin = ledger.plugins[plugin_id]
    ledger.plugin(plugin._replace(skills=tuple(one for one in plugin.skills if one.skill != name)))


# --- small parts


def provenance(plugin: Plugin, seen: Seen, mode: MergeMode, version: str = "") -> Provenance:
    """Say where a version is from (BE-9)."""
    return Provenance("plugin", plugin.plugin_id, version or plugin.installed_version, seen.path, seen.tree.content_hash,
                      seen.tree.digest, mode)  # fmt: skip


def withdraw(ledger: Ledger, ident: str, reason: str, replacement: str, at: str) -> None:
    """Supersede a candidate that waits; it stays in the queue's history, with what came in its place."""
    candidate = ledger.candidates.get(ident)
    if candidate is not None and candidate.status in OPEN:
        ledger.candidate(candidate._replace(status="superseded", reason=reason, decided_at=at, replaced_by=replacement))
