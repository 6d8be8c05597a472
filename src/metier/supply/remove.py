"""`remove`: take back exactly what was put in place for a skill, and nothing else (HE-42)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.audit import log
from metier.errors import NotFoundError
from metier.standard.names import did_you_mean
from metier.store.io.atomic_change import Switch
from metier.supply import apply, dependencies, deploy, fetch, places
from metier.supply.apply import PinChange
from metier.supply.deploy import check_targets, path_of, target_states, wanted_state, working_of
from metier.supply.local_state import without_pending
from metier.supply.merge import settle
from metier.supply.model import Outcome, Plan, PlanStep, Refusal
from metier.supply.places import changer_of, place_of, plugin_owners, recover, refusal_if_owned
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.context import Context
    from metier.supply.model import Consent, Pin
    from metier.supply.places import InstallPlace, LockFiles


MAX_NAMED = 5
"""Skills that are named because they need another, or came for it."""


def remove(
    context: Context,
    names: Sequence[str],
    *,
    user: bool,
    dry_run: bool,
    force: bool,
    orphans: bool,
    consent: Consent | None,
) -> Outcome:
    """Remove skills from their places and from the lock; an edited one, or one that another skill
    needs, only with `force`. Edits stay in the store. `orphans` takes along what came only because
    these needed it.
    """
    place = place_of(context, user=user)
    if not dry_run:
        recover(context)
    named = tuple(dict.fromkeys(names))
    names = (*named, *_orphans(place, named)) if orphans else named
    steps, refused, notes = _plan(context, place, names, force=force)
    if not orphans:
        notes += _left_behind(place, [step.name for step in steps])
    outcome = Outcome(Plan(remove=tuple(steps)), refused=tuple(refused), notes=tuple(notes))
    if dry_run or not steps or (consent is not None and not consent(outcome)):
        return outcome
    changer = changer_of(context)
    with changer.alone():
        if _plan(context, place, names, force=force)[0] != steps:
            raise apply.say_again("things changed while this was looked at; nothing was removed")
        kept = places.read(place)
        pins = {pin.name: pin for pin in kept.lock.pins}
        moves = []
        for step in steps:
            switches, _edited, _others = _find_installed(place, pins[step.name])
            moves.append(PinChange(step.name, None, tuple(switches), "remove", pins[step.name]))
        after = _with_forgotten(kept, moves)
        apply.apply(context, place, after, moves, changer)
    settle.remove_stale_desks(context, kept.state, after.state)
    for step in steps:
        log.record(
            context,
            "remove",
            "done",
            name=step.name,
            digest=step.before,
            origin=step.source,
            forced=force,
        )
    return outcome


def _not_removable(
    context: Context, place: InstallPlace, kept: LockFiles, name: str
) -> NotFoundError:
    """Say that a lock doesn't have a skill: with the names that are near, or the lock that has
    it.
    """
    meant = did_you_mean(name, [pin.name for pin in kept.lock.pins])
    hint = meant or "see what is here: metier list --all"
    for card in context.catalogue.contents().cards:
        if card.name == name and not meant:
            hint = (
                f"metier didn't install it, so it removes nothing: it is {card.path}. Delete that "
                f"yourself, or hide it: metier disable {name}"
            )
            break
    for other in places.places(context, None):
        if other.lock != place.lock and places.read(other).lock.named(name) is not None:
            hint = f"it is installed for {other.scope}: add --{other.scope}"
    return NotFoundError(f"'{name}' is not in {place.lock}", hint=hint)


def _orphans(place: InstallPlace, names: Sequence[str]) -> list[str]:
    pins = places.read(place).lock.pins
    requires = {pin.name: pin.requires for pin in pins}
    return dependencies.orphans(requires, (pin.name for pin in pins if pin.dependency), names)


def _left_behind(place: InstallPlace, names: Sequence[str]) -> list[str]:
    """Say what nobody needs any more."""
    found = _orphans(place, names) if names else []
    way = "--orphans removes what only these skills needed"
    return [f"no longer needed: {_listed(found)}; {way}"] if found else []


def _plan(
    context: Context, place: InstallPlace, names: Sequence[str], *, force: bool
) -> tuple[list[PlanStep], list[Refusal], list[str]]:
    kept = places.read(place)
    owned = plugin_owners(context, place)
    steps = []
    refused = []
    notes = []
    for name in dict.fromkeys(names):
        pin = kept.lock.named(name)
        whose = refusal_if_owned(owned, name)
        if whose is not None:
            refused.append(whose)
            continue
        if pin is None:
            raise _not_removable(context, place, kept, name)
        check_targets(context, place, pin)
        switches, edited, others = _find_installed(place, pin)
        notes += [f"{path} is not what was put there, and stays" for path in others]
        why_not = () if force else _objections(place, kept, pin, names, edited)
        if why_not:
            refused.append(Refusal(name, why_not))
            continue
        before = next(
            (switch.before for switch in switches if switch.before.startswith("sha256:")), ""
        )
        steps.append(
            PlanStep(
                name=name,
                mode="remove",
                source=pin.source,
                path=pin.path,
                ref=pin.ref,
                commit=pin.commit,
                digest=pin.digest,
                before=before,
                files=len(pin.files),
                size=0,
                tokens=0,
                level="community",
                verdict=pin.verdict.level,
                score=pin.verdict.score,
                findings=(),
                action="allow",
                reasons=(),
                targets=pin.targets,
            )
        )
    if not force:
        steps = _without_needed(kept, steps, refused)
    return steps, refused, notes


def _without_needed(
    kept: LockFiles, steps: Sequence[PlanStep], refused: list[Refusal]
) -> list[PlanStep]:
    """Leave out what skills need that were to go as well, and stay: `refused` learns of them."""
    pins = {pin.name: pin for pin in kept.lock.pins}
    going = {step.name: step for step in steps}
    for one in refused:  # which grows
        needed = pins[one.name].requires if one.name in pins else ()
        stay = [name for name in needed if going.pop(name, None) is not None]
        refused += [Refusal(name, (_needed_reason([one.name]),)) for name in stay]
    return [*going.values()]


def _needed_reason(needing: Sequence[str]) -> str:
    verb = "needs" if len(needing) == 1 else "need"
    return f"{_listed(needing)} {verb} it; --force removes it all the same"


def _objections(
    place: InstallPlace, kept: LockFiles, pin: Pin, names: Sequence[str], edited: Sequence[str]
) -> tuple[str, ...]:
    """Say what keeps a skill in its place unless it is forced out."""
    if fetch.is_its_own_source(place, pin):
        return (
            "it was adopted, and nobody else has it; --force removes it, and the store keeps it",
        )
    needing = [
        one.name for one in kept.lock.pins if pin.name in one.requires and one.name not in names
    ]
    if needing:
        return (_needed_reason(needing),)
    why = "was edited; --force removes it, and keeps the edits in the store"
    return tuple(f"{path} {why}" for path in edited)


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _find_installed(place: InstallPlace, pin: Pin) -> tuple[list[Switch], list[str], list[str]]:
    """Give what there is to remove, which of it was edited, and what lies there but is not ours."""
    states = target_states(place, pin.targets)
    working = working_of(place, pin)
    switches = []
    edited = []
    others = []
    for target in pin.targets:
        path = path_of(place, target)
        state = states.pop(path, "")
        if not state:
            continue
        if state not in {wanted_state(place, target, pin.digest, working), pin.base}:
            if target.method == "link" or not state.startswith("sha256:"):
                others.append(path)
                continue
            edited.append(path)
        switches.append(Switch(path, deploy.below(place, path), state, ""))
    return switches, edited, others


def _with_forgotten(kept: LockFiles, moves: Sequence[PinChange]) -> LockFiles:
    """Note which skills of a host were deleted: they stay deleted (HE-46). And no update of what is
    gone waits any more.
    """
    gone = {move.name: move.before for move in moves}
    deleted = tuple(
        (name, pin.base) for name, pin in gone.items() if pin is not None and pin.kind == "bundled"
    )
    state = without_pending(kept.state, gone, decisions_file.now())
    return kept._replace(state=state._replace(forgotten=(*kept.state.forgotten, *deleted)))
