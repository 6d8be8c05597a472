"""Holds a mirror while it is being changed: it finds everything by name, records each change, and
writes the whole back in order.

Nothing here looks at a disk or decides about trust. Each function takes the ledger from one sound
state to the next, so a walk over them at random can be held against a simple model.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import NotFoundError, UsageError
from metier.plugins.model import (
    Binding,
    Mirror,
    MirroredVersion,
    PluginRecord,
    VersionedSkill,
    VersionProvenance,
)
from metier.supply.safe_names import fold_name

if TYPE_CHECKING:
    from metier.plugins.model import MergeMode, PluginStatus, ReviewCandidate
    from metier.supply.model import InstallTarget


FIRST_VERSION = "v0001"
OPEN_STATUSES = frozenset({"open", "accepted"})
"""What still waits."""
WAITING_STATUSES = frozenset({"update_pending", "new", "removed"})
"""The skills on whose account a plugin is not synced."""

ADOPTED_PREFIX = "adopted_from_plugin:"
"""What the lineage of a skill begins with that became the user's own; the plugin's id follows."""
REMOVED_PREFIX = "plugin_removed:"
"""Why a skill is disabled that a person let go when its plugin no longer shipped it; the plugin's
id follows."""


class TreeHashes(NamedTuple):
    """A tree, and the hashes of its SKILL.md and of the body of that."""

    digest: str
    content_hash: str = ""
    summary_hash: str = ""


class ShippedSkill(NamedTuple):
    """What a plugin ships now as one of its skills."""

    path: str
    tree: TreeHashes


def unknown_plugin(plugin_id: str) -> NotFoundError:
    """Say that a plugin was never enabled here (BE-23)."""
    return NotFoundError(
        f"the plugin '{plugin_id}' was never enabled here", hint="'metier plugin list' shows all"
    )


def owned_by(plugin_id: str) -> str:
    """Give the owner's name of a plugin."""
    return f"plugin:{plugin_id}"


def conflict(name: str, rival: VersionedSkill) -> str:
    """Say who else owns a skill that a plugin ships."""
    whose = (
        f"it belongs to the {rival.owner.replace(':', ' ', 1)}"
        if rival.owner != "user"
        else "it is your own"
    )
    return (
        f"Skill ownership conflict: {name} "
        f"({whose}{f', as {rival.name}' if rival.name != name else ''})"
    )


def is_retired(skill: VersionedSkill) -> bool:
    """Tell whether a skill was let go when its plugin no longer shipped it: its versions are kept,
    and its name is free.
    """
    return skill.status == "disabled" and skill.why.startswith(REMOVED_PREFIX)


def provenance(
    plugin: PluginRecord, seen: ShippedSkill, mode: MergeMode, version: str = ""
) -> VersionProvenance:
    """Say where a version is from (BE-9)."""
    return VersionProvenance(
        source_kind="plugin",
        plugin_id=plugin.plugin_id,
        plugin_version=version or plugin.installed_version,
        plugin_skill_path=seen.path,
        upstream_skill_content_hash=seen.tree.content_hash,
        upstream_skill_tree_hash=seen.tree.digest,
        merge_mode=mode,
    )


def next_version(skill: VersionedSkill | None) -> str:
    """Give the number after the highest; what is no number is passed over (BE-8)."""
    numbers = (one.version[1:] for one in skill.versions) if skill is not None else ()
    return f"v{max((int(digits) for digits in numbers if digits.isascii() and digits.isdigit()), default=0) + 1:04}"


class Ledger:
    """The plugins, skills and candidates of a place, by name."""

    def __init__(self, mirror: Mirror, at: str = "") -> None:
        """Take a mirror apart; `at` is when whatever is written down happened."""
        self.place = mirror.place
        self.at = at
        self.plugins = {one.plugin_id: one for one in mirror.plugins}
        self.skills = {one.name: one for one in mirror.skills}
        self.candidates = {one.id: one for one in mirror.candidates}
        self._spelled: dict[str, list[str]] = {}
        """The names of skills, by what they are on a disk that knows neither case nor spelling;
        made when asked for."""

    def as_mirror(self) -> Mirror:
        """Put it together again."""
        return Mirror(
            self.place,
            tuple(sorted(self.plugins.values())),
            tuple(sorted(self.skills.values())),
            tuple(self.candidates.values()),
        )

    def put_plugin(self, plugin: PluginRecord) -> None:
        """Write a plugin down."""
        self.plugins[plugin.plugin_id] = plugin

    def put_skill(self, skill: VersionedSkill) -> None:
        """Write a skill down."""
        self.skills[skill.name] = skill
        self._spelled.clear()

    def alike(self, name: str) -> list[VersionedSkill]:
        """Give the skills that have a name in any spelling: on some disks they are one folder."""
        if not self._spelled:
            for one in self.skills:
                self._spelled.setdefault(fold_name(one), []).append(one)
        return [self.skills[one] for one in self._spelled.get(fold_name(name), ())]

    def put_candidate(self, candidate: ReviewCandidate) -> None:
        """Write a candidate down; one that is known keeps its place in the queue."""
        self.candidates[candidate.id] = candidate

    def put_binding(self, plugin_id: str, binding: Binding) -> None:
        """Write down how a skill stands to its plugin."""
        plugin = self.plugins[plugin_id]
        at = bisect_left(plugin.skills, (binding.skill,))
        after = at + (plugin.binding(binding.skill) is not None)
        self.put_plugin(
            plugin._replace(skills=(*plugin.skills[:at], binding, *plugin.skills[after:]))
        )

    def add_version(self, name: str, version: MirroredVersion) -> MirroredVersion:
        """Add a version to a skill under the next number, and make it the current one."""
        skill = self.skills[name]
        made = version._replace(version=next_version(skill))
        self.put_skill(skill._replace(versions=(*skill.versions, made), current=made.version))
        return made

    def current(self, name: str) -> MirroredVersion:
        """Give the version of a skill that is in place."""
        skill = self.skills[name]
        found = skill.version(skill.current)
        assert found is not None, f"{name} has no version {skill.current}"
        return found

    def rivals(self, plugin_id: str, name: str) -> list[VersionedSkill]:
        """Give what has the name of a skill that a plugin ships, in any spelling, and is not that skill
        (BE-4, and BE-6 put right).
        """
        own = owned_by(plugin_id)
        return [
            one
            for one in self.alike(name)
            if not is_retired(one) and (one.name, one.owner) != (name, own)
        ]

    def is_adopted(self, plugin_id: str, name: str) -> bool:
        """Tell whether a skill was this plugin's and is the user's own now: its plugin's updates are no
        longer offered.
        """
        skill = self.skills.get(name)
        lineage = f"{ADOPTED_PREFIX}{plugin_id}"
        return skill is not None and (skill.owner, skill.lineage) == ("user", lineage)

    def known_plugin(self, plugin_id: str) -> PluginRecord:
        """Give a plugin that was enabled here once (BE-23)."""
        if plugin_id not in self.plugins:
            raise unknown_plugin(plugin_id)
        return self.plugins[plugin_id]

    def binding_of(self, plugin_id: str, name: str) -> Binding:
        """Give how a skill stands to its plugin (BE-23)."""
        binding = self.known_plugin(plugin_id).binding(name)
        if binding is None:
            raise NotFoundError(
                f"Plugin skill binding not found: {plugin_id}/{name}",
                hint="'metier plugin list' shows its skills",
            )
        return binding

    def is_bound(self, plugin_id: str, name: str) -> bool:
        """Tell whether a skill was taken over from a plugin and is still bound to it."""
        binding = self.known_plugin(plugin_id).binding(name)
        return binding is not None and bool(binding.accepted) and name in self.skills

    def owned_skills(self, plugin_id: str) -> list[VersionedSkill]:
        """Give the skills that a plugin owns; one that it only offers may be somebody else's, and stays
        so.
        """
        bindings = self.known_plugin(plugin_id).skills
        return [
            self.skills[one.skill] for one in bindings if one.accepted and one.skill in self.skills
        ]

    # --- enabling

    def take_over(
        self,
        plugin_id: str,
        name: str,
        seen: ShippedSkill,
        targets: tuple[InstallTarget, ...],
    ) -> MirroredVersion:
        """Take a skill over as its plugin ships it: a version without a parent, accepted as observed
        (BE-5, BE-8, BE-11).
        """
        plugin = self.plugins[plugin_id]
        owner = owned_by(plugin_id)
        before = self.skills.get(name)
        self.put_skill(
            VersionedSkill(
                name=name,
                owner=owner,
                lineage=owner,
                status="active",
                why="",
                current="",
                targets=targets,
                versions=before.versions if before is not None else (),
            )
        )
        why = f"mirrored from {plugin_id} {plugin.installed_version}".rstrip()
        made = self.add_version(
            name,
            MirroredVersion(
                FIRST_VERSION,
                *seen.tree,
                "",
                owner,
                why,
                "published",
                self.at,
                provenance(plugin, seen, "mirror"),
            ),
        )
        self.put_binding(
            plugin_id,
            Binding(name, seen.path, seen.tree.digest, seen.tree.digest, made.version, "synced"),
        )
        return made

    def keep_own(
        self, plugin_id: str, name: str, tree: TreeHashes, targets: tuple[InstallTarget, ...]
    ) -> None:
        """Note a skill of the user's that a plugin ships too: as if it had been adopted from it."""
        self.put_skill(
            VersionedSkill(
                name=name,
                owner="user",
                lineage=f"{ADOPTED_PREFIX}{plugin_id}",
                status="active",
                why="",
                current="",
                targets=targets,
                versions=(),
            )
        )
        self.add_version(
            name,
            MirroredVersion(
                version=FIRST_VERSION,
                digest=tree.digest,
                content_hash=tree.content_hash,
                summary_hash=tree.summary_hash,
                parent_version="",
                created_by="user",
                change_reason=f"kept when {plugin_id} was enabled",
                review_state="published",
                at=self.at,
                provenance=VersionProvenance(),
            ),
        )

    def restore(self, plugin_id: str, name: str) -> MirroredVersion:
        """Bring a disabled skill back as it was, edits and all (BE-7 put right); give the version to
        put in place.
        """
        self.put_skill(
            self.skills[name]._replace(status="active", why="", owner=owned_by(plugin_id))
        )
        return self.current(name)

    def note_observed(self, plugin_id: str, version: str, commit: str, *, missing: bool) -> None:
        """Note what a look found of a plugin: its version is the manifest's, also while updates wait
        (BE-12, BE-16).
        """
        plugin = self.plugins[plugin_id]
        status: PluginStatus = (
            "missing" if missing else "synced" if plugin.status == "missing" else plugin.status
        )
        self.put_plugin(plugin._replace(status=status, installed_version=version, commit=commit))

    def settle_status(self, plugin_id: str) -> None:
        """Work out a plugin's status from its skills: it is synced only when every one of them is
        (BE-16, BE-19 put right).
        """
        plugin = self.plugins[plugin_id]
        # What a person decides brings no manifest back.
        if plugin.enabled and plugin.status not in {"paused", "missing"}:
            waits = any(one.status in WAITING_STATUSES for one in plugin.skills)
            self.put_plugin(plugin._replace(status="update_pending" if waits else "synced"))

    # --- standing

    def pause(self, plugin_id: str, status: PluginStatus = "paused") -> None:
        """Leave a plugin's skills alone for a while (BE-20)."""
        plugin = self.known_plugin(plugin_id)
        if not plugin.enabled:
            raise UsageError(
                f"'{plugin_id}' is not enabled", hint=f"metier plugin enable {plugin_id}"
            )
        self.put_plugin(plugin._replace(status=status))

    def resume(self, plugin_id: str) -> None:
        """Go on with a plugin that was paused (BE-20)."""
        self.pause(plugin_id, "synced")
        self.settle_status(plugin_id)

    def disable(self, plugin_id: str) -> None:
        """Disable every skill of a plugin, with the reason (BE-21). What waits is superseded, not
        lost.
        """
        plugin = self.known_plugin(plugin_id)
        why = f"plugin_disabled:{plugin_id}"
        if plugin.status == "adopted":  # nothing of it is left to disable
            return
        for skill in self.owned_skills(plugin_id):
            if skill.status == "active":
                self.put_skill(skill._replace(status="disabled", why=why))
        for one in plugin.skills:
            self.withdraw(one.pending, why)
        left = tuple(
            one._replace(pending="", status="synced") for one in plugin.skills if one.accepted
        )
        self.put_plugin(plugin._replace(enabled=False, status="disabled", skills=left))

    def adopt(self, plugin_id: str, name: str) -> None:
        """Make a skill the user's own; its lineage is kept. With the last one the plugin is adopted as
        a whole (BE-22).
        """
        binding = self.binding_of(plugin_id, name)
        skill = self.skills.get(name)
        if skill is None or not binding.accepted:
            raise UsageError(
                f"'{name}' is not here yet: it waits for your yes",
                hint=f"metier review accept {binding.pending}",
            )
        self.withdraw(binding.pending, "it was adopted")
        self._give_to_user(skill, plugin_id)
        self.unbind(plugin_id, name)
        plugin = self.plugins[plugin_id]
        if not any(one.accepted for one in plugin.skills):
            for one in plugin.skills:
                self.withdraw(one.pending, "its plugin was adopted")
            self.put_plugin(plugin._replace(enabled=False, status="adopted", skills=()))
        else:
            self.settle_status(plugin_id)

    def reclaim(self, name: str) -> None:
        """Take back a skill that was let go: it is the user's own from now on, also where its plugin
        ships it again.
        """
        skill = self.skills[name]
        plugin_id = skill.why.removeprefix(REMOVED_PREFIX)
        plugin = self.plugins.get(plugin_id)
        binding = plugin.binding(name) if plugin is not None else None
        if binding is not None:  # it was offered anew meanwhile
            self.withdraw(binding.pending, "it was taken back")
            self.unbind(plugin_id, name)
            self.settle_status(plugin_id)
        self._give_to_user(skill, plugin_id)

    def _give_to_user(self, skill: VersionedSkill, plugin_id: str) -> None:
        self.put_skill(
            skill._replace(
                owner="user", lineage=f"{ADOPTED_PREFIX}{plugin_id}", status="active", why=""
            )
        )

    def unbind(self, plugin_id: str, name: str) -> None:
        """Part a skill from its plugin."""
        plugin = self.plugins[plugin_id]
        self.put_plugin(
            plugin._replace(skills=tuple(one for one in plugin.skills if one.skill != name))
        )

    # --- small parts

    def withdraw(self, ident: str, reason: str, replacement: str = "") -> None:
        """Supersede a candidate that waits; it stays in the queue's history, with what came in its
        place.
        """
        candidate = self.candidates.get(ident)
        if candidate is not None and candidate.status in OPEN_STATUSES:
            self.put_candidate(
                candidate._replace(
                    status="superseded", reason=reason, decided_at=self.at, replaced_by=replacement
                )
            )
