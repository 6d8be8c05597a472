"""Implements `metier merge`: a person settles an update that was held, by a side, by hand on a
desk, or by dropping it.

A desk is an ordinary folder below METIER_HOME with the merged files. Where both sides changed the
same lines, the file has markers; where somebody has to choose between two files, both lie there
under names of their own. A dropped update is not forgotten by its source: the next `update` holds
it again and says that it was turned down, so that it can still be merged; the queue goes on calling
it rejected. What becomes of an update is noted in the same change that makes it so.

The base or the working copy may have changed since the update was held. Taking that up changes the
notes alone, and the desk where there is one: what was made there is carried over to what is in
place now. Nothing that somebody wrote is lost by it: the old desk stays where it is.
"""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.discover.io import disk
from metier.errors import (
    IntegrityError,
    MetierError,
    NotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)
from metier.store.io import safe_files
from metier.store.io.folders import clear, state_of
from metier.supply import apply, local_state, places
from metier.supply.apply import VersionChange, changed_error
from metier.supply.assess import admit, open_update, origin_of, signing_key, three_of
from metier.supply.deploy import check_targets, working_of
from metier.supply.merge import combine
from metier.supply.merge.combine import ThreeVersions, conflicts_of, find_unmerged, stored_version
from metier.supply.model import Outcome, Plan, Refusal, classify
from metier.supply.places import (
    changer_of,
    check_not_owned,
    find_pin,
    hands_of,
    home_of,
    recover,
    store_of,
)
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.supply.assess import UpdateContext
    from metier.supply.judge import JudgedSkill
    from metier.supply.local_state import PendingUpdate, SupplyState
    from metier.supply.merge.combine import CombinedTree
    from metier.supply.merge.diff3 import Favour
    from metier.supply.model import Conflict, Pin, UpdateKind
    from metier.supply.places import InstallPlace, LockFiles


MERGE_WAYS = ("", "ours", "theirs", "continue", "abort")
DESK_DIGITS = 12
"""How many digits of the digest of what was laid out a desk has in its name."""


class MergeStatus(NamedTuple):
    """The state of a held update."""

    name: str
    state: str
    """`shown`, `merged` or `aborted`."""
    desk: str
    """The folder where it can be settled by hand; nothing once it is."""
    conflicts: tuple[Conflict, ...]
    reasons: Texts
    outcome: Outcome | None = None
    left: tuple[tuple[str, int], ...] = ()
    """What is not settled on the desk: each file with the line of a marker, or 0 for a file that is
    still to be chosen."""


class MergeCase(NamedTuple):
    """One held update, and what working on it takes."""

    bench: UpdateContext
    pin: Pin
    pending: PendingUpdate
    three: ThreeVersions
    """Base, the working copy as it is now, and the version that waits."""

    @property
    def mode(self) -> UpdateKind:
        """How the update stands to the working copy as it is now (BE-13)."""
        return classify(self.pin.base, self.three.ours.digest, self.three.theirs.digest)

    def combine(self, favour: Favour = "") -> CombinedTree:
        """Merge the three in quarantine."""
        return combine.combine(self.bench.context, self.bench.desk, self.three, favour)


class ProposedMerge(NamedTuple):
    """What would be put in place as things are now, lying in quarantine."""

    combined: CombinedTree
    conflicts: tuple[Conflict, ...]
    """What is left to settle; then it is nothing to put in place."""
    desk: str = ""
    """The folder that it was made of."""
    seen: str = ""
    """The digest of that."""
    left: tuple[tuple[str, int], ...] = ()
    """What is not settled on the desk: files, and the lines of markers."""


def merge(context: Context, name: str, how: str, *, user: bool | None) -> MergeStatus:
    """Show a held update, or settle it."""
    if how not in MERGE_WAYS:
        raise UsageError(
            f"'{how}' is not a way to settle a merge", hint=f"one of: {', '.join(MERGE_WAYS[1:])}"
        )
    recover(context)
    place, kept, pin = find_pin(context, name, user)
    pending = waiting_for(kept, name)
    if how == "abort":
        return drop(context, place, pin, pending)
    with open_case(context, place, kept, pin, pending) as case:
        if how:
            return settle(case, how)
        # The desk is laid unless it is for just these three versions: what was edited there stays.
        combined = case.combine()
        conflicts = conflicts_of(name, combined.conflicts, case.three)
        desk, _noted = lay_out_desk(case, combined)
        return MergeStatus(
            name,
            "shown",
            desk,
            conflicts,
            pending.reasons,
            left=_left_on_desk(case, desk, conflicts),
        )


def _left_on_desk(
    case: MergeCase, desk: str, conflicts: Sequence[Conflict]
) -> tuple[tuple[str, int], ...]:
    """Give what is not settled on a desk for just these three versions; all of it where the desk
    cannot be read.
    """
    try:
        edited = combine.snapshot(case.bench.context, case.bench.desk, desk)
    except MetierError:
        return tuple((one.path, 0) for one in conflicts)
    return tuple(find_unmerged(edited, case.three))


@contextmanager
def open_case(
    context: Context, place: InstallPlace, kept: LockFiles, pin: Pin, pending: PendingUpdate
) -> Iterator[MergeCase]:
    """Gather what working on a held update takes; nothing is changed by that."""
    check_not_owned(context, place, (pin.name,))
    check_targets(context, place, pin)
    with open_update(context, place, kept) as bench:
        three = three_of(bench, pin, stored_version(store_of(context), pending.theirs))
        if isinstance(three, Refusal):
            raise StoreError(
                f"'{pin.name}' cannot be merged: {'; '.join(three.reasons)}",
                hint="fix that, then try again",
            )
        yield MergeCase(bench, pin, pending, three)


def settle(case: MergeCase, how: str, reason: str = "") -> MergeStatus:
    """Put a held update in place: by a side, or as it was made on its desk; `reason` is kept with
    it.
    """
    if how == "continue":
        return _put_in_place(case, *_continue(case), reason)
    return _put_in_place(case, case.combine("ours" if how == "ours" else "theirs"), "", reason)


def waiting_for(kept: LockFiles, name: str) -> PendingUpdate:
    """Give the update of a skill that waits."""
    found = next((one for one in kept.state.pending if one.name == name), None)
    if found is None:
        raise NotFoundError(
            f"no update of '{name}' is waiting", hint=f"check for one: metier update {name}"
        )
    return found


# --- the desk


def lay_out_desk(case: MergeCase, combined: CombinedTree) -> tuple[str, PendingUpdate]:
    """Lay out a merge of the three versions where a person works on it; give the folder, and the
    note on that.
    """
    name = desk_name(case, combined.digest)
    desk = put_on_desk(
        case.bench.context, combined.folder, f"{desks_folder(case.bench.context)}/{name}"
    )
    return desk, note_pending(case, name)


def put_on_desk(context: Context, folder: str, desk: str) -> str:
    """Make a folder in quarantine a desk; one that is there already stays as it is, with what was
    made of it.
    """
    if disk.kind_of(desk) != disk.FOLDER:
        try:
            safe_files.make_folder(desk.rpartition("/")[0], context.home)
            hands_of(context).move(folder, desk)
        except OSError as error:
            raise StoreError(
                f"cannot lay out {desk}: {error.strerror or error}", hint="check the space there"
            ) from error
    return desk


def note_pending(case: MergeCase, desk: str) -> PendingUpdate:
    """Note that an update waits with these three versions and this desk; the working copy goes into
    the store first.
    """
    context = case.bench.context
    place = case.bench.place
    new = case.pending._replace(base=case.pin.base, ours=case.three.ours.digest, desk=desk)
    if new != case.pending:
        changer = changer_of(context)
        with changer.alone():
            kept = _reread(place, case.pending)
            if not store_of(context).has(new.ours):
                working = working_of(place, case.pin)
                if store_of(context).keep(working) != new.ours:
                    raise changed_error(working)
            others = (one for one in kept.state.pending if one.name != new.name)
            state = kept.state._replace(pending=(*others, new))
            apply.apply(context, place, kept._replace(state=state), [], changer)
    return new


def desks_folder(context: Context) -> str:
    """Give the folder that all desks lie in."""
    return f"{home_of(context)}/merges"


def desk_name(case: MergeCase, laid: str, made_of: str = "") -> str:
    """Name the folder of a merge: its own for each three versions, with the beginning of the digest
    of what was laid there.

    `made_of` tells one apart that was made of another desk.
    """
    three = case.three
    about = f"{case.bench.place.lock}\n{three.base.digest}\n{three.ours.digest}\n{three.theirs.digest}{made_of}"
    own = blake2b(about.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return f"{case.pin.name}-{own}-{laid.removeprefix('sha256:')[:DESK_DIGITS]}"


def is_untouched(desk: str) -> bool:
    """Tell whether nobody has changed anything on a desk since it was laid."""
    laid = desk.rpartition("-")[2]
    return len(laid) == DESK_DIGITS and state_of(desk).startswith(f"sha256:{laid}")


def desk_at(context: Context, pending: PendingUpdate) -> str:
    """Give the folder that a waiting update is worked on in, where METIER_HOME is now; nothing when
    there is none.
    """
    name = pending.desk.rpartition("/")[2]
    path = f"{desks_folder(context)}/{name}"
    return path if name not in {"", ".", ".."} and disk.kind_of(path) == disk.FOLDER else ""


def _reread(place: InstallPlace, pending: PendingUpdate) -> LockFiles:
    """Read the notes once more, now that nobody else changes them; `changed` when this update waits
    no longer.
    """
    kept = places.read(place)
    if pending not in kept.state.pending:
        raise changed_error(f"the update of '{pending.name}' that waits")
    return kept


# --- settling


def propose(case: MergeCase) -> ProposedMerge:
    """Say what would be put in place: what somebody made of the desk, together with what was edited
    in the working copy since.
    """
    desk = desk_at(case.bench.context, case.pending)
    if not desk:
        combined = case.combine()
        return ProposedMerge(combined, conflicts_of(case.pin.name, combined.conflicts, case.three))
    return carry_over(case, desk)


def carry_over(case: MergeCase, desk: str) -> ProposedMerge:
    """Put a desk and what was edited in the working copy since it was laid together."""
    context = case.bench.context
    staging = case.bench.desk
    name = case.pin.name
    was = ThreeVersions(
        case.three.base,
        stored_version(store_of(context), case.pending.ours),
        case.three.theirs,
    )
    edited = combine.snapshot(context, staging, desk)
    left = tuple(find_unmerged(edited, was))
    # Where the working copy is what it was, this gives the desk as it is.
    after = ThreeVersions(was.ours, case.three.ours, edited)
    combined = combine.combine(context, staging, after)
    conflicts = conflicts_of(name, combined.conflicts, after)
    if left:
        conflicts = conflicts_of(name, combine.combine(context, staging, was).conflicts, was)
    return ProposedMerge(combined, conflicts, desk, edited.digest, left)


def _continue(case: MergeCase) -> tuple[CombinedTree, str]:
    """Give what is to be put in place, and the digest of the desk that it was made of; not while
    something is not settled.
    """
    found = propose(case)
    name = case.pin.name
    if not found.desk and found.conflicts:
        desk, _noted = lay_out_desk(case, found.combined)
        raise _unmerged_error(name, [(one.path, 0) for one in found.conflicts], desk)
    if found.left:
        raise _unmerged_error(name, found.left, found.desk)
    if found.conflicts:
        raise both_edited_error(name, found.desk)
    return found.combined, found.seen


def both_edited_error(name: str, desk: str) -> IntegrityError:
    """Make the error for a desk and a working copy that were both edited, and cannot be put
    together.
    """
    what = f"'{name}' was edited after you opened it, and the two edits conflict"
    return IntegrityError(
        what,
        hint=f"'metier merge {name}' opens it again; your edits stay in {desk}",
        code="unmerged",
    )


def _unmerged_error(name: str, left: Sequence[tuple[str, int]], desk: str) -> IntegrityError:
    where = ", ".join(f"{path}:{line}" if line else path for path, line in left[:10])
    hint = f"edit the files in {desk}, take the markers out, then: metier merge {name} --continue"
    return IntegrityError(
        f"'{name}' is not merged yet: {where}", hint=hint, code="unmerged"
    ).with_details(files=[{"path": path, "line": line} for path, line in left])


def _put_in_place(case: MergeCase, result: CombinedTree, seen: str, reason: str) -> MergeStatus:
    """Judge the result like anything new, and put it in place; `seen` is the desk that it was made
    of.
    """
    context = case.bench.context
    place = case.bench.place
    pin = case.pin
    pending = case.pending
    weighed = _admit(case, result)
    # What the working copy must still be: nothing where it was gone.
    local = case.three.ours.digest if disk.is_there(working_of(place, pin)) else ""
    after = pin._replace(
        path=pending.path,
        commit=pending.commit,
        digest=result.digest,
        base=pending.theirs,
        signature=signing_key(context, case.three.theirs, pin.name),
    )
    one = VersionChange.to(pin, after, result.files, weighed, "three_way", local)
    store = store_of(context)
    changer = changer_of(context)
    with changer.alone():
        kept = _reread(place, pending)
        if kept.lock.named(pin.name) != pin:
            raise changed_error(f"the lock's entry of '{pin.name}'")
        store.take(result.folder, result.files)
        row = local_state.published(
            pending._replace(ours=case.three.ours.digest),
            case.mode,
            decisions_file.now(),
            result.digest,
            reason,
        )
        notes = apply.land(
            context,
            place,
            kept._replace(state=local_state.settle_update(kept.state, pending, row)),
            [one],
            changer,
            "merge",
        )
    remove_desk(context, desk_at(context, pending), seen)
    installed = apply.report_landed(context, place, [one], "merge")
    return MergeStatus(
        pin.name, "merged", "", (), (), Outcome(Plan(), tuple(installed), notes=tuple(notes))
    )


def _admit(case: MergeCase, result: CombinedTree) -> JudgedSkill:
    """Give what a scan and the policy say; what is dangerous, blocked or no skill any more is
    refused.
    """
    bench = case.bench
    pin = case.pin
    origin = origin_of(bench.context, pin, case.pending.theirs)
    weighed = admit(bench, pin, result.folder, result.digest, origin)
    if not isinstance(weighed, Refusal):
        return weighed
    reasons = "; ".join(weighed.reasons)
    log.record(
        bench.context,
        "merge",
        "refused",
        name=pin.name,
        digest=result.digest,
        origin=pin.source,
        reason=reasons[:500],
    )
    raise RefusedError(
        f"the merged '{pin.name}' is refused: {reasons}",
        hint=f"nothing was changed; metier merge {pin.name}",
    )


def drop(
    context: Context, place: InstallPlace, pin: Pin, pending: PendingUpdate, reason: str = ""
) -> MergeStatus:
    """Turn a held update down: the working copy stays as it is, and `reason` is kept with the
    no.
    """
    check_not_owned(context, place, (pin.name,))
    check_targets(context, place, pin)
    changer = changer_of(context)
    with changer.alone():
        kept = _reread(place, pending)
        row = local_state.rejected(
            pending, local_state.mode_of(pending, pin), decisions_file.now(), reason
        )
        apply.apply(
            context,
            place,
            kept._replace(state=local_state.settle_update(kept.state, pending, row)),
            [],
            changer,
        )
    remove_desk(context, desk_at(context, pending))
    log.record(
        context,
        "merge",
        "aborted",
        name=pin.name,
        digest=pending.theirs,
        origin=pin.source,
        commit=pending.commit,
        reason=row.reason,
    )
    return MergeStatus(pin.name, "aborted", "", (), pending.reasons)


def remove_desk(context: Context, desk: str, seen: str = "") -> None:
    """Take a desk away that nobody needs any more; what was made there since it was laid, or since
    it was `seen`, is left.
    """
    if not desk:
        return
    if not is_untouched(desk) and not (seen and state_of(desk) == seen):
        context.warnings.append(
            f"{desk} has your edits in it and was kept; delete it when you no longer need it"
        )
        return
    try:
        clear(desk, hands_of(context))
    except OSError as error:
        context.warnings.append(f"{desk} could not be removed: {error.strerror or error}")


def remove_stale_desks(context: Context, before: SupplyState, after: SupplyState) -> None:
    """Put the desks of updates away that wait no longer, or with other versions than those the desk
    was laid with.
    """
    wanted = {one.desk for one in after.pending}
    for one in before.pending:
        if one.desk not in wanted:
            remove_desk(context, desk_at(context, one))


_WORKED_ON = "0" * DESK_DIGITS
"""Stands where a desk has the digest of what was laid: no tree begins so, and thus it never counts
as untouched."""


def what_moved(case: MergeCase) -> str:
    """Say what is no longer as it was when an update was held; nothing where all of it is."""
    if case.pending.base != case.pin.base:
        return "the version that it goes back to"
    return (
        "the working copy"
        if case.three.ours.digest != (case.pending.ours or case.pin.digest)
        else ""
    )


def rebase(case: MergeCase) -> MergeCase:
    """Note an update anew with what is there now; what was made on a desk, and does not fit that,
    is `unmerged`.
    """
    context = case.bench.context
    desk = desk_at(context, case.pending)
    if not desk:
        return case._replace(pending=note_pending(case, ""))
    if is_untouched(desk):
        _desk, pending = lay_out_desk(case, case.combine())
        return case._replace(pending=pending)
    found = carry_over(case, desk)
    if found.combined.conflicts:
        raise both_edited_error(case.pin.name, desk)
    name = desk_name(case, _WORKED_ON, f"\n{case.pending.desk}\n{found.combined.digest}")
    put_on_desk(context, found.combined.folder, f"{desks_folder(context)}/{name}")
    return case._replace(pending=note_pending(case, name))
