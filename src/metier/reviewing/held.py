"""Updates that `update` held, in the queue: what waits in the notes on a lock, and what became of what did.

They are settled by the machinery of `merge`, so that both say the same. A version that somebody turned down stays rejected in
the queue although `update` holds it once more: `metier merge NAME` still brings it in. An update is known by its skill and the
tree that waits; where a project and the user have the same, its id means the one that is open, and the project's before the
user's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from metier.errors import NotFoundError, RefusedError, UsageError
from metier.mirrors import Candidate, Decided, Evidence, Reviewed
from metier.supplies import Refusal
from metier.supply.capabilities import gained
from metier.supply.decided import KIND, ident_of, mode_of, turned_down
from metier.supply.merge.unified import unified
from metier.supplying import deploying, merging, places, rebasing, versions
from metier.supplying.prospects import in_place, origin_of, weigh

if TYPE_CHECKING:
    from metier.app import Library
    from metier.mirrors import CandidateStatus, MergeMode
    from metier.supplies import Pin
    from metier.supply.state import Pending, Settled
    from metier.supplying.deciding import Weighed
    from metier.supplying.merging import Case, Proposed
    from metier.supplying.places import Kept, Place
    from metier.supplying.versions import Version

SIDES = ("", "ours", "theirs")


class _Open(NamedTuple):
    """An update that waits, and where."""

    place: Place
    kept: Kept
    pin: Pin
    pending: Pending


def listed(library: Library, user: bool | None, *, everything: bool) -> list[Candidate]:  # noqa: FBT001 - which of the two, or both
    """Give the updates that wait; with `everything`, after them those that were decided. Nothing is merged or scanned for it."""
    found: list[Candidate] = []
    for place in places.places(library, user):
        kept = places.read(place)
        waiting = _waiting(place, kept)
        found += [_candidate(one) for one in waiting]
        if everything:
            known = {(one.pending.name, one.pending.theirs) for one in waiting}
            found += [_past(place, row) for row in kept.state.reviewed if (row.name, row.theirs) not in known]
    return found


def show(library: Library, ident: str, *, user: bool | None = None) -> Reviewed:
    """Show what an update would change in the working copy as that is now, and what speaks for and against it."""
    found = _found(library, ident, user)
    if not isinstance(found, _Open):
        place, row = found
        return Reviewed(_past(place, row), _past_diff(library, row), (), ())
    with merging.opened(library, *found) as case:
        return _reviewed(case)


def accept(library: Library, ident: str, how: str, *, reason: str, user: bool | None = None) -> Decided:
    """Put an update in place, provided that it is held with just what is there now; else that is noted, and asked about again.

    `how` settles conflicts; without it, what was made on the desk counts.
    """
    if how not in SIDES:
        raise UsageError(f"'{how}' is no way to settle a merge", hint="ours, theirs, or nothing: then the desk counts")
    places.settle(library)
    found = _still_open(library, ident, user)
    with merging.opened(library, *found) as case:
        what = rebasing.moved(case)
        if what:
            after = _Open(found.place, found.kept, found.pin, rebasing.rebased(case).pending)
            said = f"{found.pin.name}: {what} was changed since this update was held; look at it again: metier review show {ident}"
            return Decided(_candidate(after), done=False, message=said)
        _one_way(library, case, how)
        merging.settle(case, how or "continue", reason)
    path = deploying.working_of(found.place, found.pin)
    return Decided(_decided(found), done=True, message=f"{found.pin.name}: the update is in place", path=path)


def reject(library: Library, ident: str, *, reason: str, user: bool | None = None) -> Decided:
    """Turn an update down; the working copy stays as it is, and its desk goes unless somebody worked there."""
    places.settle(library)
    found = _still_open(library, ident, user)
    merging.drop(library, found.place, found.pin, found.pending, reason)
    return Decided(_decided(found), done=True, message=f"{found.pin.name}: turned down; your copy stays as it is")


def edit(library: Library, ident: str, *, user: bool | None = None) -> Reviewed:
    """Lay an update out where a person changes it; a desk that is there is carried over to what is in place now."""
    places.settle(library)
    with merging.opened(library, *_still_open(library, ident, user)) as case:
        if rebasing.moved(case):
            case = rebasing.rebased(case)  # noqa: PLW2901 - the same case, as it is now
        if not merging.desk_at(library, case.pending):
            _desk, pending = merging.lay(case, merging.proposed(case).combined)
            case = case._replace(pending=pending)  # noqa: PLW2901 - the same
        return _reviewed(case)


# --- finding


def _waiting(place: Place, kept: Kept) -> list[_Open]:
    """Give what waits for a decision: not what somebody has turned down, what is in place, nor what no lock has any more."""
    pins = {pin.name: pin for pin in kept.lock.pins}
    return [_Open(place, kept, pins[one.name], one) for one in kept.state.pending
            if one.name in pins and pins[one.name].base != one.theirs
            and turned_down(kept.state, one.name, one.theirs) is None]  # fmt: skip


def _found(library: Library, ident: str, user: bool | None) -> _Open | tuple[Place, Settled]:  # noqa: FBT001 - whose, or both
    past: tuple[Place, Settled] | None = None
    for place in places.places(library, user) if ident.startswith(f"{KIND}:") else ():
        kept = places.read(place)
        for one in _waiting(place, kept):
            if ident_of(one.pending.name, one.pending.theirs) == ident:
                return one
        row = next((row for row in reversed(kept.state.reviewed) if ident_of(row.name, row.theirs) == ident), None)
        past = past or ((place, row) if row is not None else None)
    if past is None:
        raise NotFoundError(f"there is no candidate '{ident[:200]}'", hint="'metier review list --all' shows all")
    return past


def _still_open(library: Library, ident: str, user: bool | None) -> _Open:  # noqa: FBT001 - the same
    found = _found(library, ident, user)
    if isinstance(found, _Open):
        return found
    _place, row = found
    newer = f"what came in its place: metier review show {row.replaced_by}"
    hint = newer if row.replaced_by else f"whether there is more: metier update {row.name}"
    raise RefusedError(f"'{ident}' was {row.status} on {row.at[:10]}", hint=hint, code="decided")


def _decided(found: _Open) -> Candidate:
    """Give an update as it was noted down a moment ago."""
    rows = places.read(found.place).state.reviewed
    key = (found.pending.name, found.pending.theirs)
    return _past(found.place, next(row for row in reversed(rows) if (row.name, row.theirs) == key))


def _one_way(library: Library, case: Case, how: str) -> None:
    """Refuse a side where somebody has worked on the desk: one of the two would be lost."""
    desk = merging.desk_at(library, case.pending)
    if how and desk and not merging.is_untouched(desk):
        raise UsageError(f"{desk} was worked on, and '{how}' would leave that out",
                         hint="accept it as it is there; or delete that folder, and say it again")  # fmt: skip


# --- telling


def _candidate(found: _Open) -> Candidate:
    pending, mode = found.pending, mode_of(found.pending, found.pin)
    evidence = Evidence(skill_name=pending.name, merge_mode=mode, base_upstream_tree_hash=pending.base,
                        new_upstream_tree_hash=pending.theirs, local_tree_hash=pending.ours, path=pending.path,
                        commit=pending.commit)  # fmt: skip
    return Candidate(ident_of(pending.name, pending.theirs), "skill_update", pending.name, mode, "open", "; ".join(pending.reasons),
                     evidence, at=pending.at, desk=pending.desk, scope=found.place.scope)  # fmt: skip


def _past(place: Place, row: Settled) -> Candidate:
    mode, status = cast("MergeMode", row.mode), cast("CandidateStatus", row.status)  # the reader of the notes knows no others
    evidence = Evidence(skill_name=row.name, merge_mode=mode, base_upstream_tree_hash=row.base, new_upstream_tree_hash=row.theirs,
                        local_tree_hash=row.ours, proposed_tree_hash=row.digest, path=row.path, commit=row.commit)  # fmt: skip
    return Candidate(ident_of(row.name, row.theirs), "skill_update", row.name, mode, status, row.reason, evidence, at=row.since,
                     decided_at=row.at, replaced_by=row.replaced_by, scope=place.scope)  # fmt: skip


def _reviewed(case: Case) -> Reviewed:
    """Merge and judge an update as it is now, in quarantine."""
    library, place, pin = case.bench.library, case.bench.place, case.pin
    made = merging.proposed(case)
    open_conflicts = tuple(dict.fromkeys((*(path for path, _line in made.left), *(one.path for one in made.conflicts))))
    version, weighed = _weighed(case, made)
    findings = weighed.verdict.findings if not isinstance(weighed, Refusal) else ()
    _level, old = in_place(case.bench, pin)
    new = versions.abilities(version, findings)
    candidate = _candidate(_Open(place, case.bench.kept, pin, case.pending))
    evidence = candidate.evidence._replace(
        local_tree_hash=case.three.ours.digest, merge_mode=case.mode, gained=gained(old, new), lost=gained(new, old),
        proposed_tree_hash="" if open_conflicts else made.combined.digest, conflicts=open_conflicts,
    )  # fmt: skip
    if isinstance(weighed, Refusal):
        candidate = candidate._replace(reason="; ".join((*case.pending.reasons, *weighed.reasons)))
    else:
        evidence = evidence._replace(verdict=weighed.verdict.level, score=weighed.verdict.score)
    after = versions.laid_out(made.combined.folder, made.combined.files, made.combined.digest)
    diff = _diff(case.three.ours, after, ("yours", "merged" if open_conflicts else "proposed"))
    return Reviewed(candidate._replace(merge_mode=case.mode, evidence=evidence), diff, findings, made.conflicts,
                    merging.desk_at(library, case.pending))  # fmt: skip


def _weighed(case: Case, made: Proposed) -> tuple[Version, Weighed | Refusal]:
    """Judge what would be put in place; while something is not settled, what its source has."""
    library, combined = case.bench.library, made.combined
    origin = origin_of(library, case.pin, case.pending.theirs)
    if not made.conflicts and not made.left:
        version = versions.laid_out(combined.folder, combined.files, combined.digest)
        return version, weigh(case.bench, case.pin, combined.folder, combined.digest, origin)
    folder = case.bench.desk.fresh()
    places.store_of(library).lay(case.pending.theirs, folder)
    return case.three.theirs, weigh(case.bench, case.pin, folder, case.pending.theirs, origin)


def _past_diff(library: Library, row: Settled) -> str:
    """Show what a decided update changed, or would have, as far as the store still has it."""
    store = places.store_of(library)
    old, new, names = (row.ours, row.digest, ("yours", "merged")) if row.digest else (row.base, row.theirs, ("base", "theirs"))
    if not (old and store.has(old) and store.has(new)):
        return ""
    return _diff(versions.kept(store, old), versions.kept(store, new), names)


def _diff(old: Version, new: Version, names: tuple[str, str]) -> str:
    return unified(old.files, new.files, old.read, new.read, names)
