"""`update`: bring locked skills to what their sources have now. Edits are merged; what conflicts,
is worse or wants more waits.

Everything is fetched, merged and judged in quarantine first, and shown as a plan. What may be
applied is, at once and wholly; what may not is held: its version is kept in the store, the reasons
are noted, and the working copy is not touched. A version that somebody turned down is held as well,
and only `merge` brings it in; the queue goes on calling it rejected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import MetierError, NotFoundError, RefusedError
from metier.supply import apply, dependencies, fetch, places
from metier.supply.add import move_of, offer_of, report_installed
from metier.supply.apply import VersionChange
from metier.supply.assess import (
    NEEDED_SKILL,
    AssessedUpdate,
    UpdateContext,
    assess,
    own_version,
    with_changes,
)
from metier.supply.deploy import check_targets, path_of
from metier.supply.judge import SkillJudge, record_approvals
from metier.supply.local_state import (
    PendingUpdate,
    find_rejection,
    ident_of,
    mode_of,
    published,
    settle_update,
    supersede,
)
from metier.supply.merge import settle
from metier.supply.merge.combine import difference, version_in_folder
from metier.supply.model import HeldUpdate, Installed, Outcome, Plan, Refusal
from metier.supply.needed import GatheredSkills, Gatherer, beside_own, needed_names
from metier.supply.places import (
    changer_of,
    check_not_owned,
    find_pin,
    plugin_owners,
    recover,
    refusal_if_owned,
    store_of,
)
from metier.supply.plan import AddOptions, make_plan
from metier.supply.upstream import is_fixed, look_up
from metier.supply.version_needs import (
    ComingVersion,
    at_newest_tag,
    came_by_tag,
    needs_of,
    reasons_to_wait,
    unmet,
    versions_of,
)
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.context import Context
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.local_state import SupplyState
    from metier.supply.model import Consent, Pin, PlanStep, ShowDiff
    from metier.supply.places import InstallPlace, LockFiles

LOOKALIKE_REASON = "its digest starts like another version's, as if to pass for it"
GONE_REASON = "not-found: another process removed it in the meantime"
NEEDS_YES_REASON = "it needs your approval: supply.fast_forward is off"
MERGE_NEEDS_YES_REASON = "it would be merged with your edits, which needs your approval"


class _PlaceUpdates(NamedTuple):
    """What was found in one place."""

    bench: UpdateContext
    prospects: list[AssessedUpdate]
    gone: list[HeldUpdate]
    refused: list[Refusal]
    current: set[str]
    """What its source has nothing newer of: no update of that can wait any more."""
    notes: list[str]
    needed: GatheredSkills = GatheredSkills()
    """What the newer versions need and nobody has yet."""
    coming: tuple[PlanStep, ...] = ()
    """What of that would come along."""

    @property
    def fit(self) -> list[AssessedUpdate]:
        return [one for one in self.prospects if not one.reasons]

    @property
    def waiting(self) -> list[AssessedUpdate]:
        return [one for one in self.prospects if one.reasons]


def update(
    context: Context,
    names: Sequence[str],
    *,
    user: bool | None,
    check: bool,
    diff: bool,
    consent: Consent | None,
    show: ShowDiff | None = None,
) -> Outcome:
    """Look at the sources, show what there is, and apply what may be applied; `check` stops after
    the look, and `diff` has every line that changed upstream. `show` is told what each update
    changes, before anybody is asked.
    """
    if not check:
        recover(context)
    wanted = _wanted(context, names, user)
    with (
        fetch.open_quarantine(context) as desk,
        fetch.SourcePool(context) as pool,
        SkillJudge(context) as scales,
    ):
        found = [
            _look(context, desk, scales, pool, place, pins, named=bool(names))
            for place, pins in wanted
        ]
        asked = check or consent is not None
        found = [_hold_misfits(_with_needed(one, pool, asked=asked)) for one in found]
        found = [
            one._replace(
                prospects=[with_changes(one.bench, each, diff=diff) for each in one.prospects]
            )
            for one in found
        ]
        unasked = found if check else [_hold_misfits(_hold_unasked(context, one)) for one in found]
        # Where the setting has said yes to all of it, nobody is asked.
        if consent is None or (
            context.settings.supply.fast_forward and _outcome(found).plan == _outcome(unasked).plan
        ):
            found = unasked
            consent = None
        if show is not None:
            _show_diffs(found, show)
        outcome = _outcome(found)
        planned = outcome.plan.update or outcome.plan.add
        if check or (consent is not None and planned and not consent(outcome)):
            return outcome._replace(
                held=tuple(one._replace(settle=False) for one in outcome.held)
            )  # none of it is noted
        fetch.check_unmoved(
            context, (each.laid.origin for one in found for each in (*one.fit, *one.waiting))
        )
        installed = []
        notes = list(outcome.notes)
        for one in found:
            installed += _apply(context, one, notes)
    return outcome._replace(installed=tuple(installed), notes=tuple(notes))


def _show_diffs(found: Sequence[_PlaceUpdates], show: ShowDiff) -> None:
    for looked in found:
        for one in looked.prospects:
            old = own_version(looked.bench, one.pin)
            show(one.pin.name, difference(old, version_in_folder(one)))


def _wanted(
    context: Context,
    names: Sequence[str],
    user: bool | None,  # noqa: FBT001 - which of the two, or both
) -> list[tuple[InstallPlace, list[Pin]]]:
    """Give the pins that are meant, by place; a name that no lock has is an error before anything
    is asked.
    """
    if not names:
        return [
            (place, list(places.read(place).lock.pins)) for place in places.places(context, user)
        ]
    found: dict[InstallPlace, list[Pin]] = {}
    for name in dict.fromkeys(names):
        try:
            place, _kept, pin = find_pin(context, name, user)
        except NotFoundError:
            for place in places.places(context, user):
                check_not_owned(context, place, (name,))
            raise
        found.setdefault(place, []).append(pin)
    return list(found.items())


def _look(
    context: Context,
    desk: Quarantine,
    scales: SkillJudge,
    pool: fetch.SourcePool,
    place: InstallPlace,
    pins: Sequence[Pin],
    *,
    named: bool,
) -> _PlaceUpdates:
    """Ask the sources of some skills of a place; who `named` them is told of those that can have no
    newer version. What came along for others by a tag is looked at after them: they may need
    another version of it.
    """
    bench = UpdateContext(context, place, places.read(place), desk, scales)
    owned = plugin_owners(context, place)
    # Since the pins were chosen, another process may have changed the lock.
    locked = {pin.name: pin for pin in bench.kept.lock.pins}
    gone = [Refusal(pin.name, (GONE_REASON,)) for pin in pins if pin.name not in locked]
    pins = [locked[pin.name] for pin in pins if pin.name in locked]
    whose = [refusal_if_owned(owned, pin.name) for pin in pins]
    refused = [*(gone if named else ()), *(one for one in whose if one is not None)]
    looked = _PlaceUpdates(bench, [], [], refused, set(), [])
    pins = [pin for pin in pins if refusal_if_owned(owned, pin.name) is None]
    for pin in pins:
        check_targets(context, place, pin)
        why = is_fixed(place, pin) if named else ""
        looked.notes.extend([f"{pin.name} has no newer version: {why}"] if why else [])
    pins = [pin for pin in pins if not is_fixed(place, pin)]
    _compare(looked, [pin for pin in pins if not came_by_tag(pin)])
    _compare(looked, _needed_otherwise(looked, pool, pins))
    return _hold_misfits(looked)


def _hold_misfits(looked: _PlaceUpdates) -> _PlaceUpdates:
    """Hold back what would leave somebody with a version that will not do; to be asked again
    whenever something else is held.
    """
    bench = looked.bench
    coming = _coming_versions(looked)
    return _held_for(looked, reasons_to_wait(bench.place, bench.kept.lock.pins, coming))


def _coming_versions(looked: _PlaceUpdates) -> list[ComingVersion]:
    return [
        ComingVersion(one.pin.name, one.folder, one.laid.origin.ref)
        for one in looked.fit
        if one.weighed is not None
    ]


def _needed_otherwise(
    looked: _PlaceUpdates, pool: fetch.SourcePool, pins: Sequence[Pin]
) -> list[Pin]:
    """Give what came along by a tag, each at the newest that fits all who need it by now; and what
    came along in a version that an update here cannot use.
    """
    bench = looked.bench
    place, locked = bench.place, bench.kept.lock.pins
    coming = _coming_versions(looked)
    needs = needs_of(place, locked, coming)
    lacking = {need.name for need in unmet(place, locked, needs - needs_of(place, locked), coming)}
    asked = {pin.name for pin in pins}
    owned = plugin_owners(bench.context, place)
    found = [pin for pin in pins if came_by_tag(pin)]
    found += [
        pin
        for pin in locked
        if pin.name in lacking - asked
        and pin.dependency
        and not is_fixed(place, pin)
        and refusal_if_owned(owned, pin.name) is None
    ]
    moved = []
    for pin in found:
        check_targets(bench.context, place, pin)
        try:
            moved.append(at_newest_tag(place, pin, needs, pool.tags))
        except MetierError as error:
            looked.refused.append(Refusal.of(pin.name, error))
    return moved


def _compare(looked: _PlaceUpdates, pins: Sequence[Pin]) -> None:
    """Ask the sources of some skills, and note what each has."""
    bench = looked.bench
    locked = {pin.name: pin for pin in bench.kept.lock.pins}
    for upstream in look_up(bench.context, bench.place, bench.desk, pins):
        looked.notes.extend([upstream.note] if upstream.note else [])
        if upstream.gone:
            looked.gone.append(HeldUpdate(upstream.pin.name, (upstream.gone,), settle=False))
        elif upstream.refusal is not None:
            looked.refused.append(upstream.refusal)
        else:
            pin = locked[upstream.pin.name]  # which may be at another tag
            found = assess(bench, pin, upstream.laid) if upstream.laid is not None else None
            if isinstance(found, Refusal):
                looked.refused.append(found)
            elif found is not None and _is_double(bench.kept.state, found):
                looked.refused.append(Refusal(found.pin.name, (LOOKALIKE_REASON,)))
            elif found is not None:
                looked.prospects.append(_hold_if_rejected(bench, found))
            else:
                looked.current.add(upstream.pin.name)


def _with_needed(looked: _PlaceUpdates, pool: fetch.SourcePool, *, asked: bool) -> _PlaceUpdates:
    """Add what the newer versions need; one that needs what is refused has to wait."""
    fit = [one for one in looked.fit if one.weighed is not None]
    new = [one for one in fit if {*needed_names(one.folder)} - {*one.pin.requires}]
    if not new:
        return looked
    bench = looked.bench
    plain = AddOptions()
    gatherer = Gatherer(
        bench.context,
        bench.desk,
        bench.scales,
        pool,
        bench.place,
        lambda laid: offer_of(bench.context, bench.scales, bench.place, laid, plain),
    )
    gatherer.versions = versions_of(_coming_versions(looked))
    try:
        laid = [one.laid._replace(folder=one.folder) for one in new]
        needed = gatherer.gather(laid, [one.pin.name for one in new])
    except RefusedError as error:
        why = f"{error.code}: {error.message}"
        return _held_for(looked, {one.pin.name: why for one in new})
    steps, refused = make_plan(bench.context, bench.place, needed.offers, plain, asked=asked)
    refused = [*needed.refused, *refused]
    reasons = {one.name: "; ".join(one.reasons[:1]) for one in refused}
    stopped = dependencies.blocked(needed.edges, reasons)
    kept = dependencies.reached({one.pin.name for one in new} - stopped.keys(), needed.edges)
    coming = tuple(one for one in steps if one.name in kept and one.name not in stopped)
    looked.refused.extend(refused)
    looked.notes.extend(
        f"'{edge.by}' now needs '{edge.name}', which was not found: {edge.reason}"
        for edge in needed.edges
        if edge.state == "missing"
    )
    return _held_for(looked, stopped)._replace(needed=needed, coming=coming)


def _held_for(looked: _PlaceUpdates, why: Mapping[str, str]) -> _PlaceUpdates:
    return looked._replace(
        prospects=[
            one._replace(reasons=(*one.reasons, why[one.pin.name])) if one.pin.name in why else one
            for one in looked.prospects
        ]
    )


def _coming(looked: _PlaceUpdates) -> list[PlanStep]:
    """Give what comes along with the updates that are not held."""
    fit = {one.pin.name for one in looked.fit}
    kept = dependencies.reached(fit, looked.needed.edges)
    by: dict[str, list[str]] = {}
    for edge in looked.needed.edges:
        by.setdefault(edge.name, []).append(edge.by)
    return [
        one._replace(needed_by=tuple(dict.fromkeys(by[one.name])))
        for one in looked.coming
        if one.name in kept and one.name in by
    ]


def _is_double(state: SupplyState, found: AssessedUpdate) -> bool:
    """Tell whether a version would go by the id of another one: a yes to the one that somebody
    looked at would be one to this.
    """
    name = found.pin.name
    theirs = found.laid.digest
    return any(
        one.name == name
        and one.theirs != theirs
        and ident_of(name, one.theirs) == ident_of(name, theirs)
        for known in (state.pending, state.reviewed)
        for one in known
    )


def _hold_if_rejected(bench: UpdateContext, found: AssessedUpdate) -> AssessedUpdate:
    """Hold back a version that somebody turned down: no yes to many at once takes that back."""
    row = find_rejection(bench.kept.state, found.pin.name, found.laid.digest)
    if row is None or found.mode == "already_applied":
        return found
    said = f"you rejected it on {row.at[:10]}" + (f": {row.reason}" if row.reason else "")
    return found._replace(reasons=(*found.reasons, said))


def _hold_unasked(context: Context, looked: _PlaceUpdates) -> _PlaceUpdates:
    """Hold back what nobody said yes to. The setting is a yes in advance, but not while nobody
    knows what was decided.
    """
    alone = context.settings.supply.fast_forward and not looked.bench.scales.state.broken
    why = {
        "fast_forward": () if alone else (NEEDS_YES_REASON,),
        "three_way": (MERGE_NEEDS_YES_REASON,),
    }
    return looked._replace(
        prospects=[
            one if one.reasons else one._replace(reasons=why.get(one.mode, ()) or _new_needs(one))
            for one in looked.prospects
        ]
    )


def _new_needs(one: AssessedUpdate) -> tuple[str, ...]:
    """Say that an update needs skills which the version in place does not: nobody is asked, so
    nobody has seen those.
    """
    new = [text for text in one.gained if text.startswith(NEEDED_SKILL)]
    told = {*new, *(f"{NEEDED_SKILL}{name}" for name in one.pin.requires)}
    if one.weighed is not None:  # `gained` knows only SKILL.md, and may be cut short
        said = (f"{NEEDED_SKILL}{name}" for name in needed_names(one.folder))
        new += [text for text in dict.fromkeys(said) if text not in told]
    return (
        (f"it needs other skills, which takes your approval: {', '.join(new[:10])}",) if new else ()
    )


def _outcome(found: Sequence[_PlaceUpdates]) -> Outcome:
    plan = Plan(
        add=tuple(
            one
            for looked in found
            for one in beside_own(looked.bench.context, looked.bench.place, _coming(looked))
        ),
        update=tuple(one.step() for looked in found for one in looked.fit),
        conflicts=tuple(
            conflict for looked in found for one in looked.waiting for conflict in one.conflicts
        ),
    )
    held = [
        HeldUpdate(one.pin.name, one.reasons, one.settles, one.changes, one.diff)
        for looked in found
        for one in looked.waiting
    ]
    held += [one for looked in found for one in looked.gone]
    return Outcome(
        plan,
        refused=tuple(one for looked in found for one in looked.refused),
        held=tuple(held),
        notes=tuple(note for looked in found for note in looked.notes),
        dependencies=tuple(edge for looked in found for edge in looked.needed.edges),
    )


def _apply(context: Context, looked: _PlaceUpdates, notes: list[str]) -> list[Installed]:
    """Apply what fits and note what waits, in one change."""
    place = looked.bench.place
    fit = looked.fit
    waiting = looked.waiting
    store = store_of(context)
    changer = changer_of(context)
    with changer.alone():
        kept = places.read(place)
        for one in (*fit, *waiting):
            if kept.lock.named(one.pin.name) != one.pin:
                raise apply.changed_error(f"the lock's entry of '{one.pin.name}'")
        state = _with_pending(kept, looked, decisions_file.now())
        if not fit and state == kept.state:
            return []
        for one in (*fit, *waiting):
            fetch.keep_fetched(store, one.laid)
            if not one.reasons and one.folder != one.laid.folder:  # what was merged from it
                store.take(one.folder, one.files)
        landings = [_landing(one) for one in fit]
        more = _moves_along(context, looked, kept)
        notes += apply.land(
            context,
            place,
            kept._replace(state=state),
            landings,
            changer,
            "update",
            more,
        )
    settle.remove_stale_desks(context, kept.state, state)
    for one in waiting:
        log.record(
            context,
            "update",
            "held",
            name=one.pin.name,
            digest=one.laid.digest,
            origin=one.pin.source,
            commit=one.laid.origin.commit,
            reason="; ".join(one.reasons)[:500],
        )
    return [
        *_report_along(context, looked),
        *apply.report_landed(context, place, landings, "update"),
    ]


def _moves_along(context: Context, looked: _PlaceUpdates, kept: LockFiles) -> list[apply.PinChange]:
    """Take what comes along into the store, and say where it goes; things must still be as they
    were shown.
    """
    place = looked.bench.place
    coming = [one._replace(needed_by=()) for one in _coming(looked)]
    offers = {one.weighed.name: one for one in looked.needed.offers}
    some = [offers[one.name] for one in coming]
    if make_plan(context, place, some, AddOptions(), asked=True)[0] != coming:
        raise apply.say_again("something changed in the meantime. Nothing was updated")
    store = store_of(context)
    for one in some:
        fetch.keep_fetched(store, one.laid)
    return [move_of(place, kept, offers[one.name], one, dependency=True) for one in coming]


def _report_along(context: Context, looked: _PlaceUpdates) -> list[Installed]:
    """Write down what came along, in the decisions and in the audit log."""
    place = looked.bench.place
    coming = _coming(looked)
    offers = {one.weighed.name: one for one in looked.needed.offers}
    paths = {one.name: path_of(place, one.targets[0]) for one in coming}
    brought = [(offers[one.name].weighed, paths[one.name]) for one in coming]
    record_approvals(context, place, brought, "needed by an update")
    report_installed(context, place, coming)
    return [
        Installed(one.name, one.digest, paths[one.name], one.mode, one.targets) for one in coming
    ]


def _with_pending(kept: LockFiles, looked: _PlaceUpdates, now: str) -> SupplyState:
    """Give what waits afterwards, and what became of that which waited before."""
    state = kept.state
    before = {one.name: one for one in kept.state.pending}
    for name in sorted(looked.current & before.keys()):
        mode = mode_of(before[name], kept.lock.named(name))
        state = supersede(state, before[name], mode, now, "its source no longer has anything newer")
    for one in looked.fit:
        old = before.get(one.pin.name)
        if old is None:
            continue
        if old.theirs == one.laid.digest:
            state = settle_update(
                state, old, published(old, one.mode, now, one.digest, "an update brought it in")
            )
        else:
            state = supersede(
                state, old, mode_of(old, one.pin), now, "an update brought in another version"
            )
    for one in looked.waiting:
        state = _hold(state, one, before.get(one.pin.name), now)
    return state


def _hold(
    state: SupplyState, one: AssessedUpdate, old: PendingUpdate | None, now: str
) -> SupplyState:
    """Note an update that waits: one that waits already for the same version keeps its desk and
    what was done there.
    """
    origin = one.laid.origin
    new = PendingUpdate(
        name=one.pin.name,
        base=one.pin.base,
        ours=one.local,
        theirs=one.laid.digest,
        ref=origin.ref,
        commit=origin.commit,
        path=one.laid.picked.path,
        desk="",
        reasons=one.reasons,
        at=now,
    )
    if old is not None and old.theirs == new.theirs:
        ours = (
            old.ours if old.desk else new.ours
        )  # a desk goes with the edits that it was laid with
        same = old._replace(ours=ours, commit=new.commit, path=new.path, reasons=new.reasons)
        new = same if old.base == new.base else new._replace(at=old.at)
    elif old is not None:
        why = "its source has a newer version"
        state = supersede(
            state, old, mode_of(old, one.pin), now, why, ident_of(new.name, new.theirs)
        )
    others = [waiting for waiting in state.pending if waiting.name != new.name]
    return state._replace(pending=tuple(sorted([*others, new])))


def _landing(one: AssessedUpdate) -> VersionChange:
    assert one.weighed is not None
    moved = came_by_tag(one.pin)
    after = one.pin._replace(
        path=one.laid.picked.path,
        ref=one.laid.origin.ref if moved else one.pin.ref,
        commit=one.laid.origin.commit,
        digest=one.digest,
        base=one.laid.digest,
        signature=one.signature,
    )
    return VersionChange.to(one.pin, after, one.files, one.weighed, one.mode, one.local)
