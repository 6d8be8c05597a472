"""`merge`: a person settles an update that was held: by a side, by hand on a desk, or by dropping it.

The desk is an ordinary folder below METIER_HOME with the merged files. Where both sides changed the same lines, the file has
markers; where somebody has to choose between two files, both lie there under names of their own. A dropped update is not
forgotten by its source: the next `update` holds it again and says that it was turned down, so that it can still be merged; the
queue goes on calling it rejected. What becomes of an update is noted in the same change that makes it so.
"""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import IntegrityError, NotFoundError, RefusedError, StoreError, UsageError
from metier.keeping import disk as keeping
from metier.store.trees.disk import clear, state_of
from metier.supplies import Outcome, Plan, Refusal
from metier.supply import decided
from metier.supply.merge.classify import classify
from metier.supplying import applying, combining, deploying, fetching, landing, owners, pinning, places, versions
from metier.supplying.admitting import admitted
from metier.supplying.combining import Three
from metier.supplying.deciding import Scales
from metier.supplying.landing import Landing
from metier.supplying.prospects import Bench, origin_of, signing_key, three_of, weigh
from metier.supplying.unmerged import unmerged
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.app import Library
    from metier.supplies import Conflict, Pin
    from metier.supply.merge.classify import Kind
    from metier.supply.state import Pending, State
    from metier.supplying.combining import Combined
    from metier.supplying.deciding import Weighed
    from metier.supplying.places import Kept, Place
    from metier.supplying.versions import Version

WAYS = ("", "ours", "theirs", "continue", "abort")
SHOWN = 12
"""How many digits of the digest of what was laid out a desk has in its name."""


class Merging(NamedTuple):
    """Where the settling of an update stands."""

    name: str
    state: str
    """`shown`, `merged` or `aborted`."""
    desk: str
    """The folder where it can be settled by hand; nothing once it is."""
    conflicts: tuple[Conflict, ...]
    reasons: tuple[str, ...]
    outcome: Outcome | None = None


class Case(NamedTuple):
    """One held update, and what working on it takes."""

    bench: Bench
    pin: Pin
    pending: Pending
    three: Three
    """Base, the working copy as it is now, and the version that waits."""

    @property
    def mode(self) -> Kind:
        """How the update stands to the working copy as it is now (BE-13)."""
        return classify(self.pin.base, self.three.ours.digest, self.three.theirs.digest)


class Proposed(NamedTuple):
    """What would be put in place as things are now, lying in quarantine."""

    combined: Combined
    conflicts: tuple[Conflict, ...]
    """What is left to settle; then it is nothing to put in place."""
    desk: str = ""
    """The folder that it was made of."""
    seen: str = ""
    """The digest of that."""
    left: tuple[tuple[str, int], ...] = ()
    """What is not settled on the desk: files, and the lines of markers."""


def merge(library: Library, name: str, how: str, *, user: bool | None) -> Merging:
    """Show a held update, or settle it."""
    if how not in WAYS:
        raise UsageError(f"'{how}' is no way to settle a merge", hint=f"one of: {', '.join(WAYS[1:])}")
    places.settle(library)
    place, kept, pin = places.holding(library, name, user)
    pending = waiting_for(kept, name)
    if how == "abort":
        return drop(library, place, pin, pending)
    with opened(library, place, kept, pin, pending) as case:
        return settle(case, how) if how else _shown(case)


@contextmanager
def opened(library: Library, place: Place, kept: Kept, pin: Pin, pending: Pending) -> Iterator[Case]:
    """Gather what working on a held update takes; nothing is changed by that."""
    owners.sure(library, place, (pin.name,))
    deploying.sure(library, place, pin)
    with fetching.desk(library) as desk, Scales(library) as scales:
        bench = Bench(library, place, kept, desk, scales)
        three = three_of(bench, pin, versions.kept(places.store_of(library), pending.theirs))
        if isinstance(three, Refusal):
            raise StoreError(f"'{pin.name}' cannot be merged: {'; '.join(three.reasons)}", hint="see to that, then say it again")
        yield Case(bench, pin, pending, three)


def settle(case: Case, how: str, reason: str = "") -> Merging:
    """Put a held update in place: by a side, or as it was made on its desk; `reason` is kept with it."""
    if how == "continue":
        return _settled(case, *_continued(case), reason)
    side = combining.combine(case.bench.library, case.bench.desk, case.three, "ours" if how == "ours" else "theirs")
    return _settled(case, side, "", reason)


def waiting_for(kept: Kept, name: str) -> Pending:
    """Give the update of a skill that waits."""
    found = next((one for one in kept.state.pending if one.name == name), None)
    if found is None:
        raise NotFoundError(f"no update of '{name}' waits", hint=f"see whether there is one: metier update {name}")
    return found


# --- the desk


def _shown(case: Case) -> Merging:
    """Lay the desk, unless it is laid for just these three versions: what was edited there stays."""
    combined = combining.combine(case.bench.library, case.bench.desk, case.three)
    conflicts = combining.conflicts_of(case.pin.name, combined.conflicts, case.three)
    return Merging(case.pin.name, "shown", lay(case, combined)[0], conflicts, case.pending.reasons)


def lay(case: Case, combined: Combined) -> tuple[str, Pending]:
    """Lay out a merge of the three versions where a person works on it; give the folder, and the note on that."""
    name = desk_name(case, combined.digest)
    desk = put(case.bench.library, combined.folder, f"{desks(case.bench.library)}/{name}")
    return desk, noted(case, name)


def put(library: Library, folder: str, desk: str) -> str:
    """Make a folder in quarantine a desk; one that is there already stays as it is, with what was made of it."""
    if disk.kind_of(desk) != disk.FOLDER:
        try:
            keeping.make(desk.rpartition("/")[0], library.home)
            places.hands_of(library).move(folder, desk)
        except OSError as error:
            raise StoreError(f"cannot lay out {desk}: {error.strerror or error}", hint="check the space there") from error
    return desk


def noted(case: Case, desk: str) -> Pending:
    """Note that an update waits with these three versions and this desk; the working copy goes into the store first."""
    library, place = case.bench.library, case.bench.place
    new = case.pending._replace(base=case.pin.base, ours=case.three.ours.digest, desk=desk)
    if new != case.pending:
        changer = places.changer_of(library)
        with changer.alone():
            kept = _still(place, case.pending)
            if not places.store_of(library).has(new.ours):
                landing.keep(library, place, case.pin, new.ours)
            others = [one for one in kept.state.pending if one.name != new.name]
            applying.apply(library, place, kept, [], changer, pending=[*others, new])
    return new


def desks(library: Library) -> str:
    """Give the folder that all desks lie in."""
    return f"{places.home_of(library)}/merges"


def desk_name(case: Case, laid: str, made_of: str = "") -> str:
    """Name the folder of a merge: its own for each three versions, with the beginning of the digest of what was laid there.

    `made_of` tells one apart that was made of another desk.
    """
    three = case.three
    about = f"{case.bench.place.lock}\n{three.base.digest}\n{three.ours.digest}\n{three.theirs.digest}{made_of}"
    own = blake2b(about.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return f"{case.pin.name}-{own}-{laid.removeprefix('sha256:')[:SHOWN]}"


def is_untouched(desk: str) -> bool:
    """Tell whether nobody has changed anything on a desk since it was laid."""
    laid = desk.rpartition("-")[2]
    return len(laid) == SHOWN and state_of(desk).startswith(f"sha256:{laid}")


def desk_at(library: Library, pending: Pending) -> str:
    """Give the folder that a waiting update is worked on in, where METIER_HOME is now; nothing when there is none."""
    name = pending.desk.rpartition("/")[2]
    path = f"{desks(library)}/{name}"
    return path if name not in {"", ".", ".."} and disk.kind_of(path) == disk.FOLDER else ""


def _still(place: Place, pending: Pending) -> Kept:
    """Read the notes once more, now that nobody else changes them; `changed` when this update waits no longer."""
    kept = places.read(place)
    if pending not in kept.state.pending:
        raise landing.changed(f"the update of '{pending.name}' that waits")
    return kept


# --- settling


def proposed(case: Case) -> Proposed:
    """Say what would be put in place: what somebody made of the desk, together with what was edited in the working copy since."""
    desk = desk_at(case.bench.library, case.pending)
    if not desk:
        combined = combining.combine(case.bench.library, case.bench.desk, case.three)
        return Proposed(combined, combining.conflicts_of(case.pin.name, combined.conflicts, case.three))
    return carried(case, desk)


def carried(case: Case, desk: str) -> Proposed:
    """Put a desk and what was edited in the working copy since it was laid together."""
    library, staging, name = case.bench.library, case.bench.desk, case.pin.name
    was = Three(case.three.base, versions.kept(places.store_of(library), case.pending.ours), case.three.theirs)
    edited = versions.snapshot(library, staging, desk)
    left = tuple(unmerged(edited, was))
    # Where the working copy is what it was, this gives the desk as it is.
    after = Three(was.ours, case.three.ours, edited)
    combined = combining.combine(library, staging, after)
    conflicts = combining.conflicts_of(name, combined.conflicts, after)
    if left:
        conflicts = combining.conflicts_of(name, combining.combine(library, staging, was).conflicts, was)
    return Proposed(combined, conflicts, desk, edited.digest, left)


def _continued(case: Case) -> tuple[Combined, str]:
    """Give what is to be put in place, and the digest of the desk that it was made of; not while something is not settled."""
    found, name = proposed(case), case.pin.name
    if not found.desk and found.conflicts:
        desk, _noted = lay(case, found.combined)
        raise _refused(name, [(one.path, 0) for one in found.conflicts], desk)
    if found.left:
        raise _refused(name, found.left, found.desk)
    if found.conflicts:
        raise apart(name, found.desk)
    return found.combined, found.seen


def apart(name: str, desk: str) -> IntegrityError:
    """Make the error for a desk and a working copy that were both edited, and cannot be put together."""
    what = f"'{name}' was edited in its place after the desk was laid, and the two do not fit"
    return IntegrityError(what, hint=f"'metier merge {name}' lays a new desk; yours stays at {desk}", code="unmerged")


def _refused(name: str, left: Sequence[tuple[str, int]], desk: str) -> IntegrityError:
    where = ", ".join(f"{path}:{line}" if line else path for path, line in left[:10])
    hint = f"edit the files in {desk}, take the markers out, then: metier merge {name} --continue"
    error = IntegrityError(f"'{name}' is not merged yet: {where}", hint=hint, code="unmerged")
    error.details["files"] = [{"path": path, "line": line} for path, line in left]
    return error


def _settled(case: Case, result: Combined, seen: str, reason: str) -> Merging:
    """Judge the result like anything new, and put it in place; `seen` is the desk that it was made of."""
    library, place, pin, pending = case.bench.library, case.bench.place, case.pin, case.pending
    weighed = _admitted(case, result)
    key = signing_key(library, case.three.theirs, pin.name)
    origin = origin_of(library, pin, pending.theirs)
    after = pinning.pin_of(place, origin, pending.path, weighed, result.digest, pending.theirs, result.files, pin.targets)
    after = after._replace(kind=pin.kind, source=pin.source, ref=pin.ref, commit=pending.commit, signature=key)
    store, changer = places.store_of(library), places.changer_of(library)
    one = Landing(pin, after, _local(case.three.ours, place, pin), "three_way", weighed)
    with changer.alone():
        kept = _still(place, pending)
        if kept.lock.named(pin.name) != pin:
            raise landing.changed(f"the lock's entry of '{pin.name}'")
        store.take(result.folder, result.files)
        row = decided.published(pending._replace(ours=case.three.ours.digest), case.mode, decisions.now(), result.digest, reason)
        state = decided.settled(kept.state, pending, row)
        notes = landing.land(library, place, kept._replace(state=state), [one], changer, "merge", pending=state.pending)
    put_away(library, desk_at(library, pending), seen)
    installed = landing.reported(library, place, [one], "merge")
    return Merging(pin.name, "merged", "", (), (), Outcome(Plan(), tuple(installed), notes=tuple(notes)))


def _local(ours: Version, place: Place, pin: Pin) -> str:
    """Give what the working copy must still be: nothing where it was gone."""
    return ours.digest if disk.is_there(deploying.working_of(place, pin)) else ""


def _admitted(case: Case, result: Combined) -> Weighed:
    """Give what a scan and the policy say; what is dangerous, blocked or no skill any more is refused."""
    bench, pin = case.bench, case.pin
    working = deploying.working_of(bench.place, pin)
    origin = origin_of(bench.library, pin, case.pending.theirs)
    weighed = weigh(bench, pin, result.folder, result.digest, origin)
    if isinstance(weighed, Refusal):
        refusal: Refusal | None = weighed
    else:
        accepted = bench.scales.accepted(weighed.called, result.digest, working)
        refusal = admitted(weighed, force=True, accept_dangerous=accepted, asked=True)
    if refusal is not None or isinstance(weighed, Refusal):
        reasons = "; ".join(refusal.reasons) if refusal is not None else ""
        applying.record(bench.library, "merge", "refused", pin.name, result.digest, origin=pin.source, reason=reasons[:500])
        raise RefusedError(f"the merged '{pin.name}' is refused: {reasons}", hint=f"nothing was changed; metier merge {pin.name}")
    return weighed


def drop(library: Library, place: Place, pin: Pin, pending: Pending, reason: str = "") -> Merging:
    """Turn a held update down: the working copy stays as it is, and `reason` is kept with the no."""
    owners.sure(library, place, (pin.name,))
    deploying.sure(library, place, pin)
    changer = places.changer_of(library)
    with changer.alone():
        kept = _still(place, pending)
        row = decided.rejected(pending, decided.mode_of(pending, pin), decisions.now(), reason)
        applying.apply(library, place, kept._replace(state=decided.settled(kept.state, pending, row)), [], changer)
    put_away(library, desk_at(library, pending))
    applying.record(library, "merge", "aborted", pin.name, pending.theirs, origin=pin.source, commit=pending.commit,
                    reason=row.reason)  # fmt: skip
    return Merging(pin.name, "aborted", "", (), pending.reasons)


def put_away(library: Library, desk: str, seen: str = "") -> None:
    """Take a desk away that nobody needs any more; what was made there since it was laid, or since it was `seen`, is left."""
    if not desk:
        return
    if not is_untouched(desk) and not (seen and state_of(desk) == seen):
        library.warnings.append(f"{desk} was worked on and is left; delete it when you need it no longer")
        return
    try:
        clear(desk, places.hands_of(library))
    except OSError as error:
        library.warnings.append(f"{desk} could not be removed: {error.strerror or error}")


def let_go(library: Library, before: State, after: State) -> None:
    """Put the desks of updates away that wait no longer, or with other versions than those the desk was laid with."""
    wanted = {one.desk for one in after.pending}
    for one in before.pending:
        if one.desk not in wanted:
            put_away(library, desk_at(library, one))
