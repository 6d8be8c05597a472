"""One atomic change of places, lock and notes: what every verb ends in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.store.changing.disk import Change, Replace
from metier.supplies import Lock, Revision
from metier.supply.lock import lock_bytes
from metier.supply.state import state_bytes
from metier.supplying import places
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.app import Library
    from metier.store.changing.disk import Changer, Saved, Switch
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
    edits: str = ""
    """The digest of a working copy that nobody recorded yet; the store has it, and it becomes a revision of its own first."""
    before: Pin | None = None


def apply(library: Library, place: Place, kept: Kept, moves: Sequence[Move], changer: Changer, *,
          pending: Iterable[Pending] | None = None, frozen: bool = False) -> tuple[Saved, ...]:  # fmt: skip
    """Change all places, the lock and the notes, wholly or not at all. The caller holds the changers' lock.

    `pending` replaces the updates that wait; `frozen` leaves the lock as it is.
    """
    state = kept.state if pending is None else kept.state._replace(pending=tuple(pending))
    now = decisions.now()
    for move in moves:
        state = noted(state, move, now)
    gone = {move.name for move in moves}
    pins = [pin for pin in kept.lock.pins if pin.name not in gone] + [move.pin for move in moves if move.pin is not None]
    lock = lock_bytes(Lock(tuple(sorted(pins, key=lambda pin: (pin.name, pin.key)))))
    home = places.home_of(library)
    files = [Replace(place.state, f"{home}/supply", kept.state_bytes, state_bytes(state._replace(lock=place.lock)))]
    if not frozen and (lock != kept.lock_bytes) and (pins or kept.lock_bytes is not None):
        folder = place.base if place.scope == "project" else home
        files.append(Replace(place.lock, folder, kept.lock_bytes, lock))
    saved = changer.apply(Change(tuple(switch for move in moves for switch in move.switches), tuple(files)))
    for one in saved:
        library.warnings.append(f"{one.path} was edited meanwhile; what it was is kept as {one.digest}")
    library.reload()
    return saved


def noted(state: State, move: Move, now: str) -> State:
    """Add the revisions that a move makes."""
    revisions = list(state.revisions)
    if move.edits:  # of a folder that metier never put there, nothing but its bytes is known
        base, commit = (move.before.base, move.before.commit) if move.before is not None else (move.edits, "")
        _append(revisions, Revision(move.name, 0, move.edits, base, commit, now, "edit"))
    if move.pin is not None:
        _append(revisions, Revision(move.name, 0, move.pin.digest, move.pin.base, move.pin.commit, now, move.what))
    return state._replace(revisions=tuple(revisions))


def _append(revisions: list[Revision], made: Revision) -> None:
    """Add a revision under the next number, unless the newest of that skill is the same."""
    own = [one for one in revisions if one.name == made.name]
    if own and (own[-1].digest, own[-1].base, own[-1].commit) == (made.digest, made.base, made.commit):
        return
    revisions.append(made._replace(number=max((one.number for one in own), default=0) + 1))


def record(library: Library, what: str, outcome: str, name: str, digest: str, **details: str | bool) -> None:
    """Note an event in the audit log."""
    recording.record(library, what, outcome, name=name, digest=digest, source="", **dict[str, object](details))
