"""`update`: bring locked skills to what their sources have now. Edits are merged; what conflicts, is worse or wants more waits.

Everything is fetched, merged and judged in quarantine first, and shown as a plan. What may be applied is, at once and wholly;
what may not is held: its version is kept in the store, the reasons are noted, and the working copy is not touched. A version
that somebody turned down is held as well, and only `merge` brings it in; the queue goes on calling it rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import NotFoundError
from metier.supplies import Held, Installed, Outcome, Plan, Refusal
from metier.supply.decided import ident_of, mode_of, published, settled, superseded, turned_down
from metier.supply.state import Pending
from metier.supplying import applying, deploying, fetching, landing, merging, owners, pinning, places
from metier.supplying.deciding import Scales
from metier.supplying.landing import Landing
from metier.supplying.prospects import Bench, Prospect, prospect
from metier.supplying.upstreams import is_fixed, looked_up
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.app import Library
    from metier.store.disk import Store
    from metier.supplies import Pin
    from metier.supply.quarantine.disk import Desk
    from metier.supply.state import State
    from metier.supplying.places import Kept, Place

DOUBLE = "its digest begins like that of another version, as if it were to be taken for that"
ALONE = "it waits for your yes: supply.fast_forward is off"
MERGED = "it would be merged with your edits: that waits for your yes"


class _Looked(NamedTuple):
    """What was found in one place."""

    bench: Bench
    prospects: list[Prospect]
    gone: list[Held]
    refused: list[Refusal]
    current: set[str]
    """What its source has nothing newer of: no update of that can wait any more."""
    notes: list[str]

    @property
    def fit(self) -> list[Prospect]:
        return [one for one in self.prospects if not one.reasons]

    @property
    def waiting(self) -> list[Prospect]:
        return [one for one in self.prospects if one.reasons]


def update(library: Library, names: Sequence[str], *, user: bool | None, check: bool,
           consent: Callable[[Outcome], bool] | None) -> Outcome:  # fmt: skip
    """Look at the sources, show what there is, and apply what may be applied; `check` stops after the look."""
    if not check:
        places.settle(library)
    wanted = _wanted(library, names, user)
    with fetching.desk(library) as desk, Scales(library) as scales:
        found = [_looked(library, desk, scales, place, pins, named=bool(names)) for place, pins in wanted]
        unasked = found if check else [_by_itself(library, one) for one in found]
        # Where the setting has said yes to all of it, nobody is asked.
        if consent is None or (library.settings.supply.fast_forward and _outcome(found).plan == _outcome(unasked).plan):
            found, consent = unasked, None
        outcome = _outcome(found)
        if check or (consent is not None and outcome.plan.update and not consent(outcome)):
            return outcome._replace(held=tuple(one._replace(settle=False) for one in outcome.held))  # none of it is noted
        installed = list[Installed]()
        notes = list(outcome.notes)
        for one in found:
            installed += _applied(library, one, notes)
    return outcome._replace(installed=tuple(installed), notes=tuple(notes))


def _wanted(library: Library, names: Sequence[str], user: bool | None) -> list[tuple[Place, list[Pin]]]:  # noqa: FBT001 - which of the two, or both
    """Give the pins that are meant, by place; a name that no lock has is an error before anything is asked."""
    if not names:
        return [(place, list(places.read(place).lock.pins)) for place in places.places(library, user)]
    found: dict[Place, list[Pin]] = {}
    for name in dict.fromkeys(names):
        try:
            place, _kept, pin = places.holding(library, name, user)
        except NotFoundError:
            for place in places.places(library, user):
                owners.sure(library, place, (name,))
            raise
        found.setdefault(place, []).append(pin)
    return list(found.items())


def _looked(library: Library, desk: Desk, scales: Scales, place: Place, pins: Sequence[Pin], *, named: bool) -> _Looked:
    """Ask the sources of some skills of a place; who `named` them is told of those that can have no newer version."""
    bench = Bench(library, place, places.read(place), desk, scales)
    owned = owners.owners(library, place)
    looked = _Looked(bench, [], [], [whose for pin in pins if (whose := owners.owned(owned, pin.name)) is not None], set(), [])
    pins = [pin for pin in pins if owners.owned(owned, pin.name) is None]
    for pin in pins:
        deploying.sure(library, place, pin)
        why = is_fixed(place, pin) if named else ""
        looked.notes.extend([f"{pin.name} has no newer version: {why}"] if why else [])
    for upstream in looked_up(library, place, desk, [pin for pin in pins if not is_fixed(place, pin)]):
        looked.notes.extend([upstream.note] if upstream.note else [])
        if upstream.gone:
            looked.gone.append(Held(upstream.pin.name, (upstream.gone,), settle=False))
        elif upstream.refusal is not None:
            looked.refused.append(upstream.refusal)
        else:
            found = prospect(bench, upstream.pin, upstream.laid) if upstream.laid is not None else None
            if isinstance(found, Refusal):
                looked.refused.append(found)
            elif found is not None and _is_double(bench.kept.state, found):
                looked.refused.append(Refusal(found.pin.name, (DOUBLE,)))
            elif found is not None:
                looked.prospects.append(_remembered(bench, found))
            else:
                looked.current.add(upstream.pin.name)
    return looked


def _is_double(state: State, found: Prospect) -> bool:
    """Tell whether a version would go by the id of another one: a yes to the one that somebody looked at would be one to this."""
    name, theirs = found.pin.name, found.laid.digest
    known = [one.theirs for one in state.pending if one.name == name] + [one.theirs for one in state.reviewed if one.name == name]
    return any(one != theirs and ident_of(name, one) == ident_of(name, theirs) for one in known)


def _remembered(bench: Bench, found: Prospect) -> Prospect:
    """Hold back a version that somebody turned down: no yes to many at once takes that back."""
    row = turned_down(bench.kept.state, found.pin.name, found.laid.digest)
    if row is None or found.mode == "already_applied":
        return found
    said = f"you turned it down on {row.at[:10]}" + (f": {row.reason}" if row.reason else "")
    return found._replace(reasons=(*found.reasons, said))


def _by_itself(library: Library, looked: _Looked) -> _Looked:
    """Hold back what nobody said yes to. The setting is a yes in advance, but not while nobody knows what was decided."""
    alone = library.settings.supply.fast_forward and not looked.bench.scales.state.broken
    why = {"fast_forward": () if alone else (ALONE,), "three_way": (MERGED,)}
    return looked._replace(prospects=[
        one if one.reasons else one._replace(reasons=why.get(one.mode, ())) for one in looked.prospects
    ])  # fmt: skip


def _outcome(found: Sequence[_Looked]) -> Outcome:
    plan = Plan(update=tuple(one.step() for looked in found for one in looked.fit),
                conflicts=tuple(conflict for looked in found for one in looked.waiting for conflict in one.conflicts))  # fmt: skip
    held = [Held(one.pin.name, one.reasons, one.settles) for looked in found for one in looked.waiting]
    held += [one for looked in found for one in looked.gone]
    refused = tuple(one for looked in found for one in looked.refused)
    return Outcome(plan, refused=refused, held=tuple(held), notes=tuple(note for looked in found for note in looked.notes))


def _applied(library: Library, looked: _Looked, notes: list[str]) -> list[Installed]:
    """Apply what fits and note what waits, in one change."""
    place, fit, waiting = looked.bench.place, looked.fit, looked.waiting
    store, changer = places.store_of(library), places.changer_of(library)
    with changer.alone():
        kept = places.read(place)
        for one in (*fit, *waiting):
            if kept.lock.named(one.pin.name) != one.pin:
                raise landing.changed(f"the lock's entry of '{one.pin.name}'")
        before, state = kept.state, _noted(kept, looked, decisions.now())
        if not fit and state == kept.state:
            return []
        for one in (*fit, *waiting):
            _stored(store, one)
        landings = [_landing(place, one) for one in fit]
        notes += landing.land(library, place, kept._replace(state=state), landings, changer, "update", pending=state.pending)
    merging.let_go(library, before, state)
    for one in waiting:
        applying.record(library, "update", "held", one.pin.name, one.laid.digest, origin=one.pin.source,
                        commit=one.laid.origin.commit, reason="; ".join(one.reasons)[:500])  # fmt: skip
    return landing.reported(library, place, landings, "update")


def _stored(store: Store, one: Prospect) -> None:
    """Take the source's version into the store, and what was merged from it."""
    store.take(one.laid.folder, one.laid.files)
    store.note(one.laid.digest, *one.laid.told[1:])
    if not one.reasons and one.folder != one.laid.folder:
        store.take(one.folder, one.files)


def _noted(kept: Kept, looked: _Looked, now: str) -> State:
    """Give what waits afterwards, and what became of that which waited before."""
    state, before = kept.state, {one.name: one for one in kept.state.pending}
    for name in sorted(looked.current & before.keys()):
        mode = mode_of(before[name], kept.lock.named(name))
        state = superseded(state, before[name], mode, now, "its source has nothing newer any more")
    for one in looked.fit:
        old = before.get(one.pin.name)
        if old is None:
            continue
        if old.theirs == one.laid.digest:
            state = settled(state, old, published(old, one.mode, now, one.digest, "an update brought it in"))
        else:
            state = superseded(state, old, mode_of(old, one.pin), now, "an update brought in another version")
    for one in looked.waiting:
        state = _held(state, one, before.get(one.pin.name), now)
    return state


def _held(state: State, one: Prospect, old: Pending | None, now: str) -> State:
    """Note an update that waits: one that waits already for the same version keeps its desk and what was done there."""
    origin = one.laid.origin
    new = Pending(one.pin.name, one.pin.base, one.local, one.laid.digest, origin.ref, origin.commit, one.laid.picked.path, "",
                  one.reasons, now)  # fmt: skip
    if old is not None and old.theirs == new.theirs:
        ours = old.ours if old.desk else new.ours  # a desk goes with the edits that it was laid with
        same = old._replace(ours=ours, commit=new.commit, path=new.path, reasons=new.reasons)
        new = same if old.base == new.base else new._replace(at=old.at)
    elif old is not None:
        why = "its source has a newer version"
        state = superseded(state, old, mode_of(old, one.pin), now, why, ident_of(new.name, new.theirs))
    others = [waiting for waiting in state.pending if waiting.name != new.name]
    return state._replace(pending=tuple(sorted([*others, new])))


def _landing(place: Place, one: Prospect) -> Landing:
    assert one.weighed is not None
    pin = pinning.pin_of(place, one.laid.origin, one.laid.picked.path, one.weighed, one.digest, one.laid.digest, one.files,
                         one.pin.targets)  # fmt: skip
    after = pin._replace(kind=one.pin.kind, source=one.pin.source, ref=one.pin.ref, signature=one.signature)
    return Landing(one.pin, after, one.local, one.mode, one.weighed)
