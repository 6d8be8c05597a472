"""`sync`: make the disk match the lock. What is missing is restored at its pin; what differs is somebody's work and stays.

`frozen` leaves lock and differing bytes alone and says so: the same bytes, or an exit code. Without it, edits of a working
copy are recorded in the lock, so that they are what the next `sync --frozen` expects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.errors import MetierError, NotFoundError, StoreError
from metier.store.changing.disk import Switch, state_of
from metier.supplies import Origin, Refusal, Synced
from metier.supplying import applying, deploying, fetching, owners, pinning, places
from metier.supplying.admitting import admitted
from metier.supplying.deciding import Scales, Weighed
from metier.vetting.cases import fetched_from

if TYPE_CHECKING:
    from collections.abc import Sequence, Set as AbstractSet

    from metier.app import Library
    from metier.standard.digest import TreeFile
    from metier.store.disk import Store
    from metier.supplies import Pin, Target
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.places import Place


class Found(NamedTuple):
    """How one skill of the lock stands: what to switch, what differs, whether its tree must be fetched first."""

    pin: Pin
    switches: tuple[Switch, ...]
    drift: tuple[str, ...]
    edited: str = ""
    """The digest of a working copy that was edited."""
    mine: bool = False
    """Whether these bytes were in this place on this machine before."""


def sync(library: Library, *, frozen: bool, user: bool) -> Synced:
    """Restore what is missing, and say what differs."""
    place = places.place_of(library, user=user)
    places.settle(library)
    if frozen and places.read(place).lock_bytes is None:
        raise NotFoundError(f"there is no {place.lock}", hint="'metier add' makes one; commit it with the project")
    drift, notes = list[str](), list[str]()
    with fetching.desk(library) as desk, Scales(library) as scales:
        seen = _looked(library, place, frozen=frozen)
        drift += _owned(library, place)
        ready = _fetched(library, place, desk, scales, [one for one in seen if one.switches], drift)
        changer = places.changer_of(library)
        with changer.alone():
            kept = places.read(place)
            if _looked(library, place, frozen=frozen) != seen:
                raise StoreError("things changed while this was looked at; nothing was done", code="changed", hint="say it again")
            drift += [text for one in seen for text in one.drift]
            moves = [_move(library, place, scales, one, ready, frozen=frozen) for one in seen]
            done = [move for move in moves if move is not None]
            if not frozen:
                recorded = {_edited(place, move.pin) for move in done if move.what == "edit" and move.pin is not None}
                drift = [text for text in drift if text not in recorded]
            healed = bool(kept.lock.notes) and not frozen
            saved = applying.apply(library, place, kept, done, changer, frozen=frozen) if done or healed else ()
            notes += [f"{one.path}: kept as {one.digest}" for one in saved]
    recording.note(library, [
        recording.event(library, "sync", "done", name=move.name, digest=move.pin.digest if move.pin else "", frozen=frozen)
        for move in done
    ])  # fmt: skip
    changed = tuple(switch.path for move in done for switch in move.switches)
    notes += [f"{move.name}: edits recorded in the lock" for move in done if move.what == "edit"]
    return Synced(not drift, changed, tuple(drift), (*notes, *kept.lock.notes))


def _owned(library: Library, place: Place) -> list[str]:
    """Say which skills of the lock belong to a plugin here: whoever shares the lock has locked what this one mirrors."""
    owned = owners.owners(library, place)
    whose = (owners.owned(owned, pin.name) for pin in places.read(place).lock.pins) if owned else ()
    return [f"{one.name}: {'; '.join(one.reasons)}" for one in whose if one is not None]


def _looked(library: Library, place: Place, *, frozen: bool) -> list[Found]:
    """Compare the disk with the lock; what a plugin owns is not looked at."""
    found, kept, owned = list[Found](), places.read(place), owners.owners(library, place)
    known: dict[str, dict[str, bool]] = {}
    for one in kept.state.revisions:
        known.setdefault(one.name, {})[one.digest] = one.what == "edit"
    for pin in kept.lock.pins:
        if owners.owned(owned, pin.name) is not None:
            continue
        deploying.sure(library, place, pin)
        # What metier itself once put there is nobody's work: after a pull, the lock may have a newer version.
        own = known.get(pin.name, {})
        past = frozenset(digest for digest, edit in own.items() if digest != pin.digest and not edit and not frozen)
        found.append(_compared(place, pin, past)._replace(mine=pin.digest in own))
    return found


def _compared(place: Place, pin: Pin, past: AbstractSet[str]) -> Found:
    states = deploying.states(place, pin.targets)
    working = deploying.working_of(place, pin)
    present = states.get(working, "")
    edited = present if present.startswith("sha256:") and present != pin.digest and present not in past else ""
    switches, drift = list[Switch](), list[str]()
    for target in dict.fromkeys(target._replace(agent="") for target in pin.targets):
        path = deploying.path_of(place, target)
        state, after = states[path], deploying.wanted_state(place, target, pin.digest, working)
        if state == after or (target.method == "link" and path == working):  # that agent's folder leads here already
            continue
        if not state or (state in past and target.method != "link"):
            switches.append(Switch(path, deploying.below(place, path), state, after))
        else:
            drift.append(_edited(place, pin) if path == working and edited else _differs(path, target))
    return Found(pin, tuple(dict.fromkeys(switches)), tuple(drift), edited)


def _edited(place: Place, pin: Pin) -> str:
    return f"{deploying.working_of(place, pin)}: differs from the lock"


def _differs(path: str, target: Target) -> str:
    return f"{path}: is not the {target.method} that the lock has"


def _fetched(library: Library, place: Place, desk: Desk, scales: Scales, found: Sequence[Found],
             drift: list[str]) -> frozenset[str]:  # fmt: skip
    """See to it that the store has the tree of each pin, and that the policy still lets it in; give the names that it does."""
    store, ready = places.store_of(library), set[str]()
    for one in found:
        pin = one.pin
        try:
            refusal = _had(library, place, desk, scales, store, one)
        except MetierError as error:
            refusal = Refusal(pin.name, (f"{error.code}: {error.message}",))
        if refusal is None:
            ready.add(pin.name)
        else:
            drift.append(f"{pin.name}: not restored: {'; '.join(refusal.reasons)}")
            why = "; ".join(refusal.reasons)[:500]
            applying.record(library, "install", "refused", pin.name, pin.digest, reason=why, asked="sync")
        library.progress("skills", len(ready))
    return frozenset(ready)


def _had(library: Library, place: Place, desk: Desk, scales: Scales, store: Store, found: Found) -> Refusal | None:
    """Find the tree of a pin in the store, in the working copy, or where it came from; and decide about it."""
    pin = found.pin
    working = deploying.working_of(place, pin)
    if store.has(pin.digest):
        return _decided(place, desk, scales, store, found) or _told(pin, store.files(pin.digest))
    if state_of(working) == pin.digest:
        refusal = _decided(place, desk, scales, store, found, working)
        return refusal or _told(pin, store.files(store.keep(working)))
    return _brought(library, place, desk, scales, store, found)


def _told(pin: Pin, files: Sequence[TreeFile]) -> Refusal | None:
    """Refuse a pin whose list of files is not that of its digest: somebody would read the one and get the other."""
    if pinning.pinned_files(files) == pin.files:
        return None
    return Refusal(pin.name, ("malformed: the files that the lock lists are not those of its digest",))


def _brought(library: Library, place: Place, desk: Desk, scales: Scales, store: Store, found: Found) -> Refusal | None:
    pin = found.pin
    laid = pinning.restored(library, place, desk, pin)
    if isinstance(laid, Refusal):
        return laid
    if laid.digest != pin.digest:
        return Refusal(pin.name, ("its edits are not on this machine: commit the working copy with the lock",))
    working = deploying.working_of(place, pin)
    weighed = scales.weigh(laid.folder, pin.name, laid.told, place.scope, working)
    refusal = _judged(scales, place, found, weighed, working) or _told(pin, laid.files)
    if refusal is None:
        store.take(laid.folder, laid.files)
        store.note(laid.digest, *laid.told[1:])
    return refusal


def _decided(place: Place, desk: Desk, scales: Scales, store: Store, found: Found,
             folder: str = "") -> Refusal | None:  # fmt: skip
    """Decide once more about a tree that is here: somebody may have blocked it since, or the rules may know more."""
    pin = found.pin
    working, origin = deploying.working_of(place, pin), _origin(scales.library, pin)
    weighed: Weighed | Refusal | None = scales.recalled(pin.digest, pin.name, origin, place.scope, working)
    if weighed is None:
        if not folder:
            folder = desk.fresh()
            store.lay(pin.digest, folder)
        weighed = scales.weigh(folder, pin.name, origin, place.scope, working)
    return _judged(scales, place, found, weighed, working)


def _judged(scales: Scales, place: Place, found: Found, weighed: Weighed | Refusal, working: str) -> Refusal | None:
    """Say why a pin is not restored.

    That somebody let in what is doubtful is only the lock's word, unless the lock is the user's, the project is trusted, or it
    was this user who did.
    """
    digest = found.pin.digest
    if isinstance(weighed, Refusal):
        return weighed
    if weighed.verdict.digest != digest:
        return Refusal(found.pin.name, ("unscanned: the scan did not see all of it",))
    vouched = found.mine or scales.vouched(place) or scales.spoken(weighed.called, digest, working) is not None
    danger = scales.accepted(weighed.called, digest, working)
    if weighed.decision.install == "ask" and not vouched:
        why = f"after a look at the lock, 'metier trust project {place.base}' lets it in"
        return Refusal(found.pin.name, (*weighed.decision.reasons, why))
    return admitted(weighed, force=vouched, accept_dangerous=danger, asked=vouched)


def _origin(library: Library, pin: Pin) -> Origin:
    """Give where this machine has the bytes from, by its own notes: never by what the lock says."""
    return Origin(pin.kind, *fetched_from(library, pin.digest))


def _move(library: Library, place: Place, scales: Scales, found: Found, ready: frozenset[str], *,
          frozen: bool) -> applying.Move | None:  # fmt: skip
    pin = found.pin
    switches = found.switches if pin.name in ready else ()
    if found.edited and not frozen:
        return _recorded(library, place, scales, found, switches)
    return applying.Move(pin.name, pin, switches, "sync", pin) if switches else None


def _recorded(library: Library, place: Place, scales: Scales, found: Found, switches: tuple[Switch, ...]) -> applying.Move | None:
    """Record a working copy's edits in the lock, and bring along the copies that nobody edited."""
    pin, store = found.pin, places.store_of(library)
    working = deploying.working_of(place, pin)
    digest = store.keep(working)
    if digest != found.edited:
        raise StoreError(f"{working} is being edited right now", code="changed", hint="say it again")
    weighed = scales.weigh(working, pin.name, _origin(scales.library, pin), place.scope, working)
    if isinstance(weighed, Refusal):
        return applying.Move(pin.name, pin, switches, "sync", pin) if switches else None
    copies = tuple(
        Switch(path, deploying.below(place, path), pin.digest, digest)
        for path in (deploying.path_of(place, target) for target in pin.targets if target.method == "copy")
        if state_of(path) == pin.digest
    )
    after = pin._replace(digest=digest, files=pinning.pinned_files(store.files(digest)), verdict=weighed.judged)
    switches = tuple(switch._replace(after=digest) if switch.after == pin.digest else switch for switch in switches)
    return applying.Move(pin.name, after, (*switches, *copies), "edit", pin)
