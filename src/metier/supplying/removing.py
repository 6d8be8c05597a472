"""`remove`: take back exactly what was put in place for a skill, and nothing else (HE-42)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import NotFoundError, StoreError
from metier.store.changing.disk import Switch
from metier.supplies import Outcome, Plan, Refusal, Step
from metier.supply.decided import without
from metier.supplying import applying, deploying, merging, owners, pinning, places
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.app import Library
    from metier.supplies import Pin
    from metier.supplying.places import Kept, Place


def remove(library: Library, names: Sequence[str], *, user: bool, dry_run: bool, force: bool,
           consent: Callable[[Outcome], bool] | None) -> Outcome:  # fmt: skip
    """Remove skills from their places and from the lock; an edited one only with `force`, and its edits stay in the store."""
    place = places.place_of(library, user=user)
    if not dry_run:
        places.settle(library)
    steps, refused, notes = _planned(library, place, names, force=force)
    plan = Plan(remove=tuple(steps))
    outcome = Outcome(plan, refused=tuple(refused), notes=tuple(notes))
    if dry_run or not steps or (consent is not None and not consent(outcome)):
        return outcome
    changer = places.changer_of(library)
    with changer.alone():
        if _planned(library, place, names, force=force)[0] != steps:
            raise StoreError("things changed while this was looked at; nothing was removed", code="changed", hint="say it again")
        kept = places.read(place)
        moves = [_move(place, kept, step.name) for step in steps]
        after = _forgetting(kept, moves)
        applying.apply(library, place, after, moves, changer)
    merging.let_go(library, kept.state, after.state)
    for step in steps:
        applying.record(library, "remove", "done", step.name, step.before, origin=step.source, forced=force)
    return outcome


def _planned(library: Library, place: Place, names: Sequence[str], *, force: bool) -> tuple[list[Step], list[Refusal], list[str]]:
    kept, owned = places.read(place), owners.owners(library, place)
    steps, refused, notes = list[Step](), list[Refusal](), list[str]()
    for name in dict.fromkeys(names):
        pin, whose = kept.lock.named(name), owners.owned(owned, name)
        if whose is not None:
            refused.append(whose)
            continue
        if pin is None:
            raise NotFoundError(f"'{name}' is not in {place.lock}", hint="metier removes what it put in place; --user for yours")
        deploying.sure(library, place, pin)
        switches, edited, others = _taken_back(place, pin)
        notes += [f"{path} is not what was put there, and stays" for path in others]
        if pinning.is_its_own_source(place, pin) and not force:
            why = "it was adopted, and nobody else has it; --force removes it, and the store keeps it"
            refused.append(Refusal(name, (why,)))
            continue
        if edited and not force:
            why = "was edited; --force removes it, and keeps the edits in the store"
            refused.append(Refusal(name, tuple(f"{path} {why}" for path in edited)))
            continue
        before = next((switch.before for switch in switches if switch.before.startswith("sha256:")), "")
        verdict = pin.verdict
        steps.append(Step(name, "remove", pin.source, pin.path, pin.ref, pin.commit, pin.digest, before, len(pin.files), 0, 0,
                          "community", verdict.level, verdict.score, (), "allow", (), pin.targets))  # fmt: skip
    return steps, refused, notes


def _taken_back(place: Place, pin: Pin) -> tuple[list[Switch], list[str], list[str]]:
    """Give what there is to remove, which of it was edited, and what lies there but is not ours."""
    states = deploying.states(place, pin.targets)
    working = deploying.working_of(place, pin)
    switches, edited, others = list[Switch](), list[str](), list[str]()
    for target in pin.targets:
        path = deploying.path_of(place, target)
        state = states.pop(path, "")
        if not state:
            continue
        if state not in {deploying.wanted_state(place, target, pin.digest, working), pin.base}:
            if target.method == "link" or not state.startswith("sha256:"):
                others.append(path)
                continue
            edited.append(path)
        switches.append(Switch(path, deploying.below(place, path), state, ""))
    return switches, edited, others


def _move(place: Place, kept: Kept, name: str) -> applying.Move:
    pin = kept.lock.named(name)
    assert pin is not None
    switches, _edited, _others = _taken_back(place, pin)
    return applying.Move(name, None, tuple(switches), "remove", pin)


def _forgetting(kept: Kept, moves: Sequence[applying.Move]) -> Kept:
    """Note which skills of a host were deleted: they stay deleted (HE-46). And no update of what is gone waits any more."""
    gone = {move.name: move.before for move in moves}
    deleted = tuple((name, pin.base) for name, pin in gone.items() if pin is not None and pin.kind == "bundled")
    state = without(kept.state, gone, decisions.now())
    return kept._replace(state=state._replace(forgotten=(*kept.state.forgotten, *deleted)))
