"""One atomic change of places, lock and notes: what every verb ends in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.errors import StoreError
from metier.store.changing.disk import Change, Replace
from metier.supplies import Lock, Revision
from metier.supply.lock import lock_bytes
from metier.supply.state import state_bytes
from metier.supplying import deploying, owners, places
from metier.supplying.claiming import appended, claim
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.app import Library
    from metier.store.changing.disk import Changer, Saved, Switch
    from metier.store.disk import Store
    from metier.supplies import Pin
    from metier.supply.state import Pending, State
    from metier.supplying.places import Kept, Place


class Move(NamedTuple):
    """What becomes of one skill: its pin after and before, the places to change, and what made it so."""

    name: str
    pin: Pin | None
    """None takes it out of the lock."""
    switches: tuple[Switch, ...]
    what: str
    """What made it: the word that its revision carries."""
    before: Pin | None = None


def apply(library: Library, place: Place, kept: Kept, moves: Sequence[Move], changer: Changer, *,
          pending: Iterable[Pending] | None = None, frozen: bool = False) -> tuple[Saved, ...]:  # fmt: skip
    """Change all places, the lock and the notes, wholly or not at all. The caller holds the changers' lock.

    Whatever is replaced is a revision first. `pending` replaces the updates that wait; `frozen` leaves the lock as it is. What
    belongs to a plugin is never touched, whoever asks.
    """
    owners.sure(library, place, (move.name for move in moves))
    state = kept.state if pending is None else kept.state._replace(pending=tuple(pending))
    store, now = places.store_of(library), decisions.now()
    for move in moves:
        state = _with_replaced(store, place, state, move, now)
        if move.pin is not None:
            pin = move.pin
            state = appended(state, Revision(move.name, 0, pin.digest, pin.base, pin.commit, now, move.what))
    gone = {move.name for move in moves}
    pins = [pin for pin in kept.lock.pins if pin.name not in gone] + [move.pin for move in moves if move.pin is not None]
    lock = lock_bytes(Lock(tuple(sorted(pins, key=lambda pin: (pin.name, pin.key)))))
    home = places.home_of(library)
    files = [Replace(place.state, f"{home}/supply", kept.state_bytes, state_bytes(state._replace(lock=place.lock)))]
    if not frozen and (lock != kept.lock_bytes) and (pins or kept.lock_bytes is not None):
        folder = place.base if place.scope == "project" else home
        files.append(Replace(place.lock, folder, kept.lock_bytes, lock))
    saved = changer.apply(Change(tuple(switch for move in moves for switch in move.switches), tuple(files)))
    if saved:
        library.warnings += [f"{one.path} was edited meanwhile; what it was is a revision now" for one in saved]
        claim(library, changer)
    library.turned()
    return saved


def _with_replaced(store: Store, place: Place, state: State, move: Move, now: str) -> State:
    """Make every folder that a move replaces or removes a revision, the working copy last: a rollback goes to that one first."""
    before, pin = move.before, move.before or move.pin
    working = deploying.working_of(place, pin) if pin is not None and move.switches else ""
    for switch in reversed(move.switches):
        digest = switch.before
        if not digest.startswith("sha256:") or digest == switch.after:
            continue
        if not store.has(digest) and store.keep(switch.path) != digest:
            raise StoreError(f"{switch.path} is being edited right now; nothing was done", code="changed", hint="say it again")
        own = [one for one in state.revisions if one.name == move.name]
        known = own[-1:] if switch.path == working else own
        if any(one.digest == digest for one in known):
            continue
        # Of a folder that metier never put there, nothing but its bytes is known.
        base, commit, locked = (before.base, before.commit, before.digest) if before is not None else (digest, "", "")
        own_once = any(one.digest == digest and one.what != "edit" for one in own)
        what = "sync" if digest == locked or own_once else "edit"
        state = appended(state, Revision(move.name, 0, digest, base, commit, now, what))
    return state


def record(library: Library, what: str, outcome: str, name: str, digest: str, **details: str | bool) -> None:
    """Note an event in the audit log."""
    recording.record(library, what, outcome, name=name, digest=digest, source="", **dict[str, object](details))
