"""`plugin pause`, `resume`, `disable`, `adopt`: who changes a plugin's skills, and whether agents see them (BE-20 to BE-22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import RefusedError, UsageError
from metier.mirroring import grounds, listing, publishing, syncing
from metier.plugins import moves
from metier.plugins.ledger import Ledger
from metier.store.changing.disk import state_of
from metier.supplying import applying, deploying
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.app import Library
    from metier.mirroring.grounds import Ground
    from metier.mirrors import Mirrored
    from metier.store.changing.disk import Switch

    Act = Callable[[Ground, Ledger, str], tuple[Switch, ...]]


def pause(library: Library, plugin: str, *, user: bool | None, blocking: bool) -> Mirrored:
    """Leave a plugin's skills as they are until it is resumed."""

    def act(_ground: Ground, ledger: Ledger, _at: str) -> tuple[Switch, ...]:
        moves.paused(ledger, plugin)
        return ()

    return _done(library, plugin, "paused", act, user=user, blocking=blocking)


def resume(library: Library, plugin: str, *, user: bool | None, blocking: bool) -> Mirrored:
    """Go on with a plugin, and look at it at once."""

    def act(_ground: Ground, ledger: Ledger, _at: str) -> tuple[Switch, ...]:
        moves.resumed(ledger, plugin)
        return ()

    done = _done(library, plugin, "resumed", act, user=user, blocking=blocking)
    found = syncing.sync(library, (plugin,), user=user, blocking=blocking)
    return found._replace(changed=found.changed or done.changed)


def disable(library: Library, plugin: str, *, confirmed: bool, user: bool | None, blocking: bool) -> Mirrored:
    """Take a plugin's skills away from agents; the store keeps every version of them, edits included."""
    grounds.settle(library, blocking=blocking)
    ground, _known = grounds.with_plugin(library, plugin, user)
    if not confirmed:
        raise UsageError("disable_linked_skills confirmation is required", hint="agents will not see its skills: say so, or --yes")

    def act(ground: Ground, ledger: Ledger, at: str) -> tuple[Switch, ...]:
        linked = moves.linked(ledger, plugin)
        switches = tuple(switch for skill in linked for switch in publishing.taken_away(library, ground, ledger, skill, at))
        moves.disabled(ledger, plugin, at)
        return switches

    return _done(library, plugin, "disabled", act, user=ground.place.scope == "user", blocking=blocking)


def adopt(library: Library, plugin: str, skill: str, *, user: bool | None, blocking: bool) -> Mirrored:
    """Make a skill the user's own, as it is now; one that was disabled is put in place again."""

    def act(ground: Ground, ledger: Ledger, at: str) -> tuple[Switch, ...]:
        moves.bound(ledger, plugin, skill)
        before = ledger.skills.get(skill)
        working = deploying.path_of(ground.place, before.targets[0]) if before is not None else ""
        if before is not None and before.status == "active":
            syncing.edit_noted(library, ground.place, ledger, skill, state_of(working), at)
        moves.adopted(ledger, plugin, skill, at)
        if before is None or before.status == "active":
            return ()
        digest = ledger.current(skill).digest
        other = publishing.in_the_way(ground, before.targets, digest)
        if other or publishing.is_shared(library, ground, skill):
            raise UsageError(f"there is something at {other or working} already", hint="move it away first")
        return publishing.placing(ground, before.targets, digest)

    return _done(library, plugin, "adopted", act, user=user, blocking=blocking, name=skill)


def lend(library: Library, plugin: str, agents: Sequence[str], *, user: bool | None, blocking: bool) -> Mirrored:
    """Put a plugin's skills where further agents look; something else in such a place is a conflict, and then nothing is done."""

    def act(ground: Ground, ledger: Ledger, at: str) -> tuple[Switch, ...]:
        found: list[Switch] = []
        for binding in moves.known(ledger, plugin).skills:
            skill = ledger.skills.get(binding.skill)
            if skill is None or skill.status != "active" or not binding.accepted:
                continue
            local = state_of(deploying.path_of(ground.place, skill.targets[0]))
            if not local.startswith("sha256:"):
                continue  # somebody took the working copy away: there is nothing to lead an agent to
            syncing.edit_noted(library, ground.place, ledger, skill.name, local, at)
            asked = deploying.targets_for(library, ground.place, skill.name, agents)
            targets = deploying.joined(library, ground.place, skill.targets, asked)
            new = [one for one in targets if one not in skill.targets]
            digest = ledger.current(skill.name).digest
            other = publishing.in_the_way(ground, (skill.targets[0], *new), digest) if new else ""
            if other:
                raise RefusedError(f"Skill ownership conflict: {skill.name} (there is something at {other})", code="ownership",
                                   hint="move it away first")  # fmt: skip
            paths = {deploying.path_of(ground.place, one) for one in new}
            states = deploying.states(ground.place, targets)
            found += [one for one in deploying.switches(ground.place, targets, digest, states) if one.path in paths]
            ledger.skill(ledger.skills[skill.name]._replace(targets=targets))
        return tuple(found)

    return _done(library, plugin, "lent", act, user=user, blocking=blocking)


def _done(library: Library, plugin: str, what: str, act: Act, *, user: bool | None, blocking: bool, name: str = "") -> Mirrored:
    """Hold the lock, change the ledger and the places at once, and write down who did what."""
    grounds.settle(library, blocking=blocking)
    place = grounds.with_plugin(library, plugin, user)[0].place
    with grounds.alone(library, blocking=blocking) as changer:
        ground = grounds.read(library, place)
        ledger = Ledger(ground.mirror)
        moves.known(ledger, plugin)
        switches = act(ground, ledger, decisions.now())
        after = grounds.apply(library, ground, ledger.mirror(), switches, changer)
    if after is not ground:
        applying.record(library, "plugin", what, name, "", plugin=plugin)
    return listing.result(after, plugin, changed=after is not ground)
