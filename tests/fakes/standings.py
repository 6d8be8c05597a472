"""A simple model of mirrored plugins: what each verb should come to, from digests alone. It knows no disk, version or candidate.

A verb gives the stages that it leads through, each of which a crash may leave behind; the last is what it comes to.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.plugins.model import Mirror

UPDATE, ADD, REMOVE = "plugin_skill_update", "plugin_skill_added", "plugin_skill_removed"


class Waits(NamedTuple):
    """Something a person has to decide about: what kind of change, and the tree that it is about."""

    kind: str
    digest: str


class Tie:
    """How a skill stands to its plugin."""

    def __init__(
        self,
        accepted: str = "",
        waits: Waits | None = None,
        observed: str = "",
        *,
        gone: bool = False,
    ) -> None:
        """Begin with a tree that was accepted, or with something that waits."""
        self.accepted, self.waits = accepted, waits
        self.observed = observed or accepted
        """What its plugin shipped when it was seen last."""
        self.gone = gone
        """Its plugin no longer shipped it then."""


class Kit:
    """One plugin."""

    def __init__(self, *, enabled: bool = True, status: str = "synced") -> None:
        """Begin with no skills."""
        self.enabled, self.status = enabled, status
        self.ties: dict[str, Tie] = {}

    def settle(self) -> None:
        """Work out the status from what waits."""
        if self.enabled and self.status not in {"paused", "missing"}:
            self.status = (
                "update_pending" if any(tie.waits for tie in self.ties.values()) else "synced"
            )


class Sight(NamedTuple):
    """What there is outside: what a plugin ships, or nothing where its manifest is gone, and what lies in the project."""

    ships: Mapping[str, str] | None
    evil: frozenset[str]
    local: Mapping[str, str]
    """The state of each working copy; nothing where there is none."""


class Standings:
    """All plugins, and who has which skill."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.kits: dict[str, Kit] = {}
        self.owners: dict[str, str] = {}
        """Of each skill that has versions: its plugin, `user`, or nothing where it was let go."""
        self.adopted: dict[str, str] = {}
        """Which plugin a skill was adopted from."""
        self.current: dict[str, str] = {}
        """The tree of the current version."""
        self.refused: set[tuple[str, str, Waits]] = set()

    @classmethod
    def of(cls, mirror: Mirror) -> Standings:
        """Read them off what is written down, as after a crash."""
        found, waiting = cls(), {one.id: one for one in mirror.candidates}
        for skill in mirror.skills:
            found.owners[skill.name] = (
                ""
                if skill.why.startswith("plugin_removed:")
                else skill.owner.removeprefix("plugin:")
            )
            current = skill.version(skill.current)
            found.current[skill.name] = current.digest if current is not None else ""
            if skill.lineage.startswith("adopted_from_plugin:"):
                found.adopted[skill.name] = skill.lineage.partition(":")[2]
        for plugin in mirror.plugins:
            kit = found.kits[plugin.plugin_id] = Kit(enabled=plugin.enabled, status=plugin.status)
            for tie in plugin.skills:
                one = waiting.get(tie.pending)
                waits = (
                    _waits(one) if one is not None and one.status in {"open", "accepted"} else None
                )
                kit.ties[tie.skill] = Tie(
                    tie.accepted, waits, tie.observed, gone=tie.status in {"removed", "kept"}
                )
        found.refused = {
            (one.evidence.plugin_id, one.skill, _waits(one))
            for one in mirror.candidates
            if one.status == "rejected"
        }
        return found

    def seen(self) -> dict[str, tuple[object, ...]]:
        """Give what can be told apart from outside."""
        return {
            name: (
                kit.enabled,
                kit.status,
                tuple(
                    sorted((key, tie.accepted, tie.waits or ()) for key, tie in kit.ties.items())
                ),
            )
            for name, kit in self.kits.items()
        }

    def after(self) -> Standings:
        """Give a copy to go on with."""
        return deepcopy(self)

    # --- the verbs

    def synced(self, plugin: str, sight: Sight) -> list[Standings]:
        """Look at a plugin that is enabled and not paused."""
        kit = self.kits[plugin]
        if not kit.enabled or kit.status == "paused":
            return [self]
        then = self.after()
        kit = then.kits[plugin]
        if sight.ships is None:
            kit.status = "missing"
            then.compare_own(plugin, sight)
            return [self, then]
        kit.status = "synced"
        for name, tree in sight.ships.items():
            if then.owners.get(name) == "user" and then.adopted.get(name) == plugin:
                continue
            then.compare(plugin, name, tree, sight.local.get(name, ""))
        for name in set(kit.ties) - set(sight.ships):
            tie = kit.ties[name]
            if tie.accepted:
                tie.gone = True
                then.ask(plugin, name, Waits(REMOVE, tie.accepted))
            else:
                del kit.ties[name]
        kit.settle()
        return [self, then]

    def looked(self, plugin: str, sight: Sight) -> list[Standings]:
        """Look at a plugin before something of it is accepted: the source of a paused one is not asked."""
        kit = self.kits[plugin]
        if not kit.enabled or kit.status != "paused":
            return self.synced(plugin, sight)
        then = self.after()
        then.compare_own(plugin, sight)
        return [self, then]

    def compare_own(self, plugin: str, sight: Sight) -> None:
        """Compare working copies with what was seen last."""
        for name, tie in self.kits[plugin].ties.items():
            if tie.accepted and not tie.gone:
                self.compare(plugin, name, tie.observed, sight.local.get(name, ""))

    def compare(self, plugin: str, name: str, tree: str, local: str) -> None:
        """Compare one skill with what its plugin ships."""
        tie = self.kits[plugin].ties.setdefault(name, Tie())
        tie.observed, tie.gone = tree, False
        if local and tie.accepted:
            self.current[name] = local
        if not tie.accepted:
            self.ask(plugin, name, Waits(ADD, tree))
        elif tree == tie.accepted:
            tie.waits = None
        elif tree == (local or self.current[name]):
            tie.accepted, tie.waits = tree, None
        else:
            self.ask(plugin, name, Waits(UPDATE, tree))

    def ask(self, plugin: str, name: str, waits: Waits) -> None:
        """Have something wait, unless a person has said no to it."""
        self.kits[plugin].ties[name].waits = (
            None if (plugin, name, waits) in self.refused else waits
        )

    def conflicts(self, plugin: str, name: str, sight: Sight) -> bool:
        """Tell whether a skill that a plugin ships is somebody else's."""
        owner, there = self.owners.get(name, ""), bool(sight.local.get(name))
        return there or (owner not in {"", plugin} and owner != "user")

    def enabled(self, plugin: str, sight: Sight) -> list[Standings] | None:
        """Enable a plugin; nothing where that is refused."""
        kit = self.kits.get(plugin)
        if kit is not None and kit.enabled:
            return self.synced(plugin, sight)
        if sight.ships is None:
            return None
        then = self.after()
        kit = then.kits.setdefault(plugin, Kit())
        kit.enabled, kit.status, again = True, "synced", bool(self.kits.get(plugin))
        back = bool(kit.ties)  # then what is new since waits for a yes of its own
        for name in kit.ties:
            if sight.local.get(name, "") not in {"", self.current[name]}:
                return None
            then.owners[name] = plugin
        for name, tree in sight.ships.items():
            if (
                back
                or name in kit.ties
                or (self.owners.get(name) == "user" and self.adopted.get(name) == plugin)
            ):
                continue
            if self.conflicts(plugin, name, sight):
                return None
            if (plugin, name, Waits(ADD, tree)) in self.refused:  # a no holds
                continue
            if name in sight.evil:
                return None
            kit.ties[name] = Tie(tree)
            then.owners[name], then.current[name] = plugin, tree
            then.adopted.pop(name, None)
        local = {**sight.local, **{name: then.current[name] for name in kit.ties}}
        return [
            self,
            then,
            *(then.synced(plugin, sight._replace(local=local))[1:] if again else ()),
        ]

    def paused(self, plugin: str) -> list[Standings] | None:
        """Leave a plugin alone."""
        if plugin not in self.kits or not self.kits[plugin].enabled:
            return None
        then = self.after()
        then.kits[plugin].status = "paused"
        return [self, then]

    def resumed(self, plugin: str, sight: Sight) -> list[Standings] | None:
        """Go on with it, and look at once."""
        if plugin not in self.kits or not self.kits[plugin].enabled:
            return None
        then = self.after()
        then.kits[plugin].status = "synced"
        then.kits[plugin].settle()
        return [self, then, *then.synced(plugin, sight)[1:]]

    def disabled(self, plugin: str, sight: Sight) -> list[Standings] | None:
        """Take its skills away."""
        if plugin not in self.kits:
            return None
        if self.kits[plugin].status == "adopted":
            return [self]
        then = self.after()
        kit = then.kits[plugin]
        if kit.enabled:
            then.current.update(
                {
                    name: sight.local[name]
                    for name in kit.ties
                    if kit.ties[name].accepted and sight.local.get(name)
                }
            )
        kit.ties = {
            name: Tie(tie.accepted, None, tie.observed)
            for name, tie in kit.ties.items()
            if tie.accepted
        }
        kit.enabled, kit.status = False, "disabled"
        return [self, then]

    def taken(self, plugin: str, name: str, sight: Sight) -> list[Standings] | None:
        """Adopt a skill."""
        tie = self.kits[plugin].ties.get(name) if plugin in self.kits else None
        if (
            tie is None
            or not tie.accepted
            or (not self.kits[plugin].enabled and sight.local.get(name))
        ):
            return None
        then = self.after()
        kit = then.kits[plugin]
        if kit.enabled and sight.local.get(name):
            then.current[name] = sight.local[name]
        del kit.ties[name]
        then.owners[name], then.adopted[name] = "user", plugin
        if any(one.accepted for one in kit.ties.values()):
            kit.settle()
        else:
            kit.ties, kit.enabled, kit.status = {}, False, "adopted"
        return [self, then]

    def reclaimed(self, plugin: str, name: str, sight: Sight) -> list[Standings] | None:
        """Take back a skill of a plugin's that was let go."""
        if sight.local.get(name):
            return None
        then = self.after()
        then.kits[plugin].ties.pop(name, None)
        then.kits[plugin].settle()
        then.owners[name], then.adopted[name] = "user", plugin
        return [self, then]

    def rejected(self, plugin: str, name: str) -> list[Standings]:
        """Turn down what waits."""
        then = self.after()
        tie = then.kits[plugin].ties[name]
        assert tie.waits is not None
        then.refused.add((plugin, name, tie.waits))
        tie.waits = None
        then.kits[plugin].settle()
        return [self, then]

    def published(self, plugin: str, name: str, tree: str) -> list[Standings]:
        """Accept what waits; a tree is put in place."""
        then = self.after()
        kit = then.kits[plugin]
        waits = kit.ties[name].waits
        assert waits is not None
        if waits.kind == REMOVE:
            del kit.ties[name]
            then.owners[name] = ""
        else:
            kit.ties[name] = Tie(waits.digest)
            then.owners[name], then.current[name] = plugin, tree
        kit.settle()
        return [self, then]


def _waits(candidate: object) -> Waits:
    about = candidate.evidence  # type: ignore[attr-defined]
    kind = candidate.kind  # type: ignore[attr-defined]
    return Waits(
        kind, about.base_upstream_tree_hash if kind == REMOVE else about.new_upstream_tree_hash
    )
