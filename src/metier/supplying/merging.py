"""`merge`: a person settles an update that was held: by a side, by hand on a desk, or by dropping it.

The desk is an ordinary folder below METIER_HOME with the merged files. Where both sides changed the same lines, the file has
markers; where somebody has to choose between two files, both lie there under names of their own. A dropped update is not
forgotten by its source: the next `update` offers it again.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import IntegrityError, NotFoundError, RefusedError, StoreError, UsageError
from metier.keeping import disk as keeping
from metier.store.trees.disk import clear, state_of
from metier.supplies import Outcome, Plan, Refusal
from metier.supplying import applying, combining, deploying, fetching, landing, pinning, places, versions
from metier.supplying.admitting import admitted
from metier.supplying.combining import Three
from metier.supplying.deciding import Scales
from metier.supplying.landing import Landing
from metier.supplying.prospects import Bench, origin_of, signing_key, three_of, weigh
from metier.supplying.unmerged import unmerged

if TYPE_CHECKING:
    from metier.app import Library
    from metier.supplies import Conflict, Pin
    from metier.supply.state import Pending
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


class _Case(NamedTuple):
    """One held update, and what working on it takes."""

    bench: Bench
    pin: Pin
    pending: Pending
    three: Three
    """Base, the working copy as it is now, and the version that waits."""


def merge(library: Library, name: str, how: str, *, user: bool | None) -> Merging:
    """Show a held update, or settle it."""
    if how not in WAYS:
        raise UsageError(f"'{how}' is no way to settle a merge", hint=f"one of: {', '.join(WAYS[1:])}")
    places.settle(library)
    place, kept, pin = places.holding(library, name, user)
    pending = waiting_for(kept, name)
    deploying.sure(library, place, pin)
    if how == "abort":
        return _aborted(library, place, pin, pending)
    with fetching.desk(library) as desk, Scales(library) as scales:
        bench = Bench(library, place, kept, desk, scales)
        three = three_of(bench, pin, versions.kept(places.store_of(library), pending.theirs))
        if isinstance(three, Refusal):
            raise StoreError(f"'{name}' cannot be merged: {'; '.join(three.reasons)}", hint="see to that, then say it again")
        case = _Case(bench, pin, pending, three)
        if not how:
            return _shown(case)
        if how == "continue":
            return _settled(case, *_continued(case))
        return _settled(case, combining.combine(library, desk, three, "ours" if how == "ours" else "theirs"))


def waiting_for(kept: Kept, name: str) -> Pending:
    """Give the update of a skill that waits."""
    found = next((one for one in kept.state.pending if one.name == name), None)
    if found is None:
        raise NotFoundError(f"no update of '{name}' waits", hint=f"see whether there is one: metier update {name}")
    return found


# --- the desk


def _shown(case: _Case) -> Merging:
    """Lay the desk, unless it is laid for just these three versions: what was edited there stays."""
    pin, three = case.pin, case.three
    combined = combining.combine(case.bench.library, case.bench.desk, three)
    desk = _laid(case, combined)
    conflicts = combining.conflicts_of(pin.name, combined.conflicts, three)
    return Merging(pin.name, "shown", desk, conflicts, case.pending.reasons)


def _laid(case: _Case, combined: Combined) -> str:
    library, place = case.bench.library, case.bench.place
    name, store = _desk_of(place, case.pin.name, case.three, combined), places.store_of(library)
    desk = f"{desks(library)}/{name}"
    if disk.kind_of(desk) != disk.FOLDER:
        try:
            keeping.make(desk.rpartition("/")[0], library.home)
            places.hands_of(library).move(combined.folder, desk)
        except OSError as error:
            raise StoreError(f"cannot lay out {desk}: {error.strerror or error}", hint="check the space there") from error
    new = case.pending._replace(base=case.pin.base, ours=case.three.ours.digest, desk=name)
    if new != case.pending:
        changer = places.changer_of(library)
        with changer.alone():
            kept = _still(place, case.pending)
            if not store.has(new.ours):
                landing.keep(library, place, case.pin, new.ours)
            others = [one for one in kept.state.pending if one.name != new.name]
            applying.apply(library, place, kept, [], changer, pending=[*others, new])
    return desk


def desks(library: Library) -> str:
    """Give the folder that all desks lie in."""
    return f"{places.home_of(library)}/merges"


def _desk_of(place: Place, name: str, three: Three, combined: Combined) -> str:
    """Name the folder of a merge: its own for each three versions, with the beginning of the digest of what was laid there."""
    about = f"{place.lock}\n{three.base.digest}\n{three.ours.digest}\n{three.theirs.digest}"
    own = blake2b(about.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    return f"{name}-{own}-{combined.digest.removeprefix('sha256:')[:SHOWN]}"


def is_untouched(desk: str) -> bool:
    """Tell whether nobody has changed anything on a desk since it was laid."""
    laid = desk.rpartition("-")[2]
    return len(laid) == SHOWN and state_of(desk).startswith(f"sha256:{laid}")


def _desk_at(library: Library, pending: Pending) -> str:
    """Give the folder that a waiting update is worked on in, where METIER_HOME is now; nothing when there is none."""
    path = f"{desks(library)}/{pending.desk.rpartition('/')[2]}"
    return path if pending.desk and disk.kind_of(path) == disk.FOLDER else ""


def _still(place: Place, pending: Pending) -> Kept:
    """Read the notes once more, now that nobody else changes them; `changed` when this update waits no longer."""
    kept = places.read(place)
    if pending not in kept.state.pending:
        raise landing.changed(f"the update of '{pending.name}' that waits")
    return kept


# --- settling


def _continued(case: _Case) -> tuple[Combined, str]:
    """Give what somebody made of the desk, together with what was edited in the working copy since; and the desk's digest."""
    library, staging, pending = case.bench.library, case.bench.desk, case.pending
    desk = _desk_at(library, pending)
    if not desk:
        combined = combining.combine(library, staging, case.three)
        if combined.conflicts:
            desk = _laid(case, combined)
            raise _refused(case.pin.name, [(one.path, 0) for one in combined.conflicts], desk)
        return combined, ""
    store = places.store_of(library)
    was = Three(case.three.base, versions.kept(store, pending.ours), case.three.theirs)
    edited = versions.snapshot(library, staging, desk)
    left = unmerged(edited, was)
    if left:
        raise _refused(case.pin.name, left, desk)
    # Where the working copy is what it was, this gives the desk as it is.
    combined = combining.combine(library, staging, Three(was.ours, case.three.ours, edited))
    if combined.conflicts:
        what = f"'{case.pin.name}' was edited in its place after the desk was laid, and the two do not fit"
        hint = f"'metier merge {case.pin.name}' lays a new desk; yours stays at {desk}"
        raise IntegrityError(what, hint=hint, code="unmerged")
    return combined, edited.digest


def _refused(name: str, left: list[tuple[str, int]], desk: str) -> IntegrityError:
    where = ", ".join(f"{path}:{line}" if line else path for path, line in left[:10])
    hint = f"edit the files in {desk}, take the markers out, then: metier merge {name} --continue"
    error = IntegrityError(f"'{name}' is not merged yet: {where}", hint=hint, code="unmerged")
    error.details["files"] = [{"path": path, "line": line} for path, line in left]
    return error


def _settled(case: _Case, result: Combined, seen: str = "") -> Merging:
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
        others = [held for held in kept.state.pending if held.name != pin.name]
        notes = landing.land(library, place, kept, [one], changer, "merge", pending=others)
    _cleared(library, pending, seen)
    installed = landing.reported(library, place, [one], "merge")
    return Merging(pin.name, "merged", "", (), (), Outcome(Plan(), tuple(installed), notes=tuple(notes)))


def _local(ours: Version, place: Place, pin: Pin) -> str:
    """Give what the working copy must still be: nothing where it was gone."""
    return ours.digest if disk.is_there(deploying.working_of(place, pin)) else ""


def _admitted(case: _Case, result: Combined) -> Weighed:
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


def _aborted(library: Library, place: Place, pin: Pin, pending: Pending) -> Merging:
    changer = places.changer_of(library)
    with changer.alone():
        kept = _still(place, pending)
        applying.apply(library, place, kept, [], changer, pending=[one for one in kept.state.pending if one != pending])
    _cleared(library, pending)
    applying.record(library, "merge", "aborted", pin.name, pending.theirs, origin=pin.source, commit=pending.commit)
    return Merging(pin.name, "aborted", "", (), pending.reasons)


def _cleared(library: Library, pending: Pending, seen: str = "") -> None:
    """Take the desk away. What cannot be removed now stays, and what was edited since it was `seen` does; both are said."""
    desk = _desk_at(library, pending)
    if desk and seen and state_of(desk) != seen:
        library.warnings.append(f"{desk} was edited meanwhile, and is left")
        return
    try:
        if desk:
            clear(desk, places.hands_of(library))
    except OSError as error:
        library.warnings.append(f"{desk} could not be removed: {error.strerror or error}")
