"""Updates that `update` held, in the queue: what waits in the notes on a lock, and what became of
what did.

They are settled by the machinery of `merge`, so that both say the same. A version that somebody
turned down stays rejected in the queue although `update` holds it once more: `metier merge NAME`
still brings it in. An update is known by its skill and the tree that waits; where a project and the
user have the same, its id means the one that is open, and the project's before the user's.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, cast

from metier.errors import NotFoundError, RefusedError, UsageError
from metier.plugins.model import Decided, Evidence, ReviewCandidate, Reviewed
from metier.plugins.workspace import files_of
from metier.review.trees import ReviewTrees
from metier.supply import deploy, places
from metier.supply.assess import judge_in_place, origin_of, weigh
from metier.supply.io.lock_file import read_state_file
from metier.supply.local_state import QUEUE_KIND, find_rejection, ident_of, mode_of
from metier.supply.merge import combine, settle
from metier.supply.merge.combine import difference
from metier.supply.model import Refusal
from metier.trust.capabilities import gained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.context import Context
    from metier.model import Finding
    from metier.plugins.model import CandidateStatus, MergeMode
    from metier.supply.judge import JudgedSkill
    from metier.supply.local_state import PendingUpdate, SettledUpdate
    from metier.supply.merge.combine import VersionFiles
    from metier.supply.merge.settle import MergeCase, ProposedMerge
    from metier.supply.model import Pin
    from metier.supply.places import InstallPlace, LockFiles


class _HeldUpdate(NamedTuple):
    """An update that waits, and where."""

    place: InstallPlace
    kept: LockFiles
    pin: Pin
    pending: PendingUpdate


class HeldUpdates(NamedTuple):
    """The updates that `update` held: a source of the queue."""

    context: Context
    user: bool | None = None
    """Whose: the user's or the project's; or both."""

    def waiting(self, *, everything: bool) -> list[ReviewCandidate]:
        """Give the updates that wait; with `everything`, after them those that were decided.
        Nothing is merged or scanned for it.
        """
        found: list[ReviewCandidate] = []
        for place in places.places(self.context, self.user):
            notes, _bytes = read_state_file(place.state)
            if not notes.pending and not (everything and notes.reviewed):
                continue  # a lock of ten thousand skills takes most of a second to read
            kept = places.read(place)
            waiting = _waiting(place, kept)
            found += [_candidate(one) for one in waiting]
            if everything:
                known = {(one.pending.name, one.pending.theirs) for one in waiting}
                found += [
                    _past(place, row)
                    for row in kept.state.reviewed
                    if (row.name, row.theirs) not in known
                ]
        return found

    def show(self, ident: str) -> Reviewed:
        """Show what an update would change in the working copy as that is now, and what speaks for
        and against it.
        """
        found = self._found(ident)
        if not isinstance(found, _HeldUpdate):
            place, row = found
            return Reviewed(_past(place, row), _past_diff(self.context, row), (), ())
        with settle.open_case(self.context, *found) as case:
            return _review(case)

    def accept(self, ident: str, how: str, reason: str) -> Decided:
        """Put an update in place, provided that it is held with just what is there now; else that
        is noted, and asked about again.

        `how` settles conflicts; without it, what was made on the desk counts.
        """
        places.recover(self.context)
        found = self._still_open(ident)
        with settle.open_case(self.context, *found) as case:
            what = settle.what_moved(case)
            if what:
                after = found._replace(pending=settle.rebase(case).pending)
                said = (
                    f"{found.pin.name}: {what} was changed since this update was held; look at it "
                    f"again: metier review show {ident}"
                )
                return Decided(_candidate(after), done=False, message=said)
            _refuse_to_lose_edits(case, how)
            settle.settle(case, how or "continue", reason)
        return _decided(found, "the update is in place")._replace(
            path=deploy.working_of(found.place, found.pin)
        )

    def reject(self, ident: str, reason: str) -> Decided:
        """Turn an update down; the working copy stays as it is, and its desk goes unless somebody
        worked there.
        """
        places.recover(self.context)
        found = self._still_open(ident)
        settle.drop(self.context, found.place, found.pin, found.pending, reason)
        return _decided(found, "rejected; your copy stays as it is")

    def edit(self, ident: str) -> Reviewed:
        """Lay an update out where a person changes it; a desk that is there is carried over to what
        is in place now.
        """
        places.recover(self.context)
        with settle.open_case(self.context, *self._still_open(ident)) as case:
            if settle.what_moved(case):
                case = settle.rebase(case)  # noqa: PLW2901 - the same case, as it is now
            if not settle.desk_at(self.context, case.pending):
                _desk, pending = settle.lay_out_desk(case, settle.propose(case).combined)
                case = case._replace(pending=pending)  # noqa: PLW2901 - the same
            return _review(case)

    @contextmanager
    def trees(self, ident: str) -> Iterator[ReviewTrees]:
        """Give an update that waits in all its versions."""
        with settle.open_case(self.context, *self._still_open(ident)) as case:
            staging = case.bench.desk
            folder = settle.desk_at(self.context, case.pending)
            was = case.three
            if folder:
                store = places.store_of(self.context)
                was = was._replace(ours=combine.stored_version(store, case.pending.ours))
                result = combine.snapshot(self.context, staging, folder)
            else:
                result = files_of(case.combine())
            yield ReviewTrees(case.pin.name, case.three, was, result, staging, folder)

    def _found(self, ident: str) -> _HeldUpdate | tuple[InstallPlace, SettledUpdate]:
        past: list[tuple[InstallPlace, SettledUpdate]] = []
        whose = places.places(self.context, self.user) if ident.startswith(f"{QUEUE_KIND}:") else ()
        for place in whose:
            kept = places.read(place)
            for one in _waiting(place, kept):
                if ident_of(one.pending.name, one.pending.theirs) == ident:
                    return one
            past += [
                (place, row)
                for row in reversed(kept.state.reviewed)
                if ident_of(row.name, row.theirs) == ident
            ]
        if not past:
            raise NotFoundError(
                f"there is no candidate '{ident[:200]}'",
                hint="see all: metier review list --all",
            )
        return past[0]

    def _still_open(self, ident: str) -> _HeldUpdate:
        found = self._found(ident)
        if isinstance(found, _HeldUpdate):
            return found
        _place, row = found
        newer = f"what came in its place: metier review show {row.replaced_by}"
        raise RefusedError(
            f"'{ident}' was {row.status} on {row.at[:10]}",
            hint=newer if row.replaced_by else f"whether there is more: metier update {row.name}",
            code="decided",
        )


def _waiting(place: InstallPlace, kept: LockFiles) -> list[_HeldUpdate]:
    """Give what waits for a decision: not what somebody has turned down, what is in place, nor what
    no lock has any more.
    """
    pins = {pin.name: pin for pin in kept.lock.pins}
    return [
        _HeldUpdate(place, kept, pins[one.name], one)
        for one in kept.state.pending
        if one.name in pins
        and pins[one.name].base != one.theirs
        and find_rejection(kept.state, one.name, one.theirs) is None
    ]


def _decided(found: _HeldUpdate, message: str) -> Decided:
    """Give an update as it was noted down a moment ago."""
    rows = places.read(found.place).state.reviewed
    key = (found.pending.name, found.pending.theirs)
    row = next(row for row in reversed(rows) if (row.name, row.theirs) == key)
    return Decided(_past(found.place, row), done=True, message=f"{found.pin.name}: {message}")


def _refuse_to_lose_edits(case: MergeCase, how: str) -> None:
    """Refuse a side where somebody has worked on the desk: one of the two would be lost."""
    desk = settle.desk_at(case.bench.context, case.pending)
    if how and desk and not settle.is_untouched(desk):
        raise UsageError(
            f"{desk} was worked on, and '{how}' would leave that out",
            hint="accept it as it is there, or delete that folder and try again",
        )


# --- telling


def _row(
    place: InstallPlace,
    row: PendingUpdate | SettledUpdate,
    mode: MergeMode,
    status: CandidateStatus,
    reason: str,
) -> ReviewCandidate:
    return ReviewCandidate(
        id=ident_of(row.name, row.theirs),
        kind="skill_update",
        skill=row.name,
        merge_mode=mode,
        status=status,
        reason=reason,
        evidence=Evidence(
            skill_name=row.name,
            merge_mode=mode,
            base_upstream_tree_hash=row.base,
            new_upstream_tree_hash=row.theirs,
            local_tree_hash=row.ours,
            path=row.path,
            commit=row.commit,
        ),
        scope=place.scope,
    )


def _candidate(found: _HeldUpdate) -> ReviewCandidate:
    pending = found.pending
    row = _row(
        found.place, pending, mode_of(found.pending, found.pin), "open", "; ".join(pending.reasons)
    )
    return row._replace(at=pending.at, desk=pending.desk)


def _past(place: InstallPlace, row: SettledUpdate) -> ReviewCandidate:
    # The reader of the notes knows no others.
    found = _row(
        place, row, cast("MergeMode", row.mode), cast("CandidateStatus", row.status), row.reason
    )
    return found._replace(
        evidence=found.evidence._replace(proposed_tree_hash=row.digest),
        at=row.since,
        decided_at=row.at,
        replaced_by=row.replaced_by,
    )


def _review(case: MergeCase) -> Reviewed:
    """Merge and judge an update as it is now, in quarantine."""
    bench = case.bench
    made = settle.propose(case)
    left = [path for path, _line in made.left]
    conflicts = tuple(dict.fromkeys((*left, *(one.path for one in made.conflicts))))
    merged = files_of(made.combined)
    version, weighed = _weigh(case, made, merged)
    _level, old = judge_in_place(bench, case.pin)
    candidate = _candidate(_HeldUpdate(bench.place, bench.kept, case.pin, case.pending))
    evidence = candidate.evidence
    findings: tuple[Finding, ...] = ()
    if isinstance(weighed, Refusal):
        candidate = candidate._replace(reason="; ".join((*case.pending.reasons, *weighed.reasons)))
    else:
        verdict = weighed.verdict
        findings = verdict.findings
        evidence = evidence._replace(verdict=verdict.level, score=verdict.score)
    new = combine.abilities(version, findings)
    evidence = evidence._replace(
        local_tree_hash=case.three.ours.digest,
        merge_mode=case.mode,
        gained=gained(old, new),
        lost=gained(new, old),
        proposed_tree_hash="" if conflicts else merged.digest,
        conflicts=conflicts,
    )
    names = ("yours", "merged" if conflicts else "proposed")
    return Reviewed(
        candidate._replace(merge_mode=case.mode, evidence=evidence),
        difference(case.three.ours, merged, names),
        findings,
        made.conflicts,
        settle.desk_at(bench.context, case.pending),
    )


def _weigh(
    case: MergeCase, made: ProposedMerge, merged: VersionFiles
) -> tuple[VersionFiles, JudgedSkill | Refusal]:
    """Judge what would be put in place; while something is not settled, what its source has."""
    bench = case.bench
    theirs = case.pending.theirs
    origin = origin_of(bench.context, case.pin, theirs)
    if not made.conflicts and not made.left:
        folder = made.combined.folder
        return merged, weigh(bench, case.pin, folder, merged.digest, origin)
    folder = bench.desk.fresh()
    places.store_of(bench.context).lay(theirs, folder)
    return case.three.theirs, weigh(bench, case.pin, folder, theirs, origin)


def _past_diff(context: Context, row: SettledUpdate) -> str:
    """Show what a decided update changed, or would have, as far as the store still has it."""
    store = places.store_of(context)
    old, new, names = (
        (row.ours, row.digest, ("yours", "merged"))
        if row.digest
        else (row.base, row.theirs, ("base", "theirs"))
    )
    if not (old and store.has(old) and store.has(new)):
        return ""
    return difference(combine.stored_version(store, old), combine.stored_version(store, new), names)
