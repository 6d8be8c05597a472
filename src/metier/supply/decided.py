"""What becomes of an update that waits: it is published, turned down, or superseded, and that is noted. Pure.

An update is known by its skill and by the tree that waits. What was decided about it last is kept, of the newest 1,000; a version
that somebody turned down stays turned down when its source offers it once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.supply.merge.classify import classify
from metier.supply.state import Settled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from metier.supplies import Pin
    from metier.supply.merge.classify import Kind
    from metier.supply.state import Pending, State

MOST = 1_000
"""How many decisions are kept."""
MOST_REASON = 500
"""How many characters of what was said are kept."""
DIGITS = 12
KIND = "update"


def ident_of(name: str, theirs: str) -> str:
    """Give the id of an update in the queue."""
    return f"{KIND}:{name}:{theirs.removeprefix('sha256:')[:DIGITS]}"


def mode_of(pending: Pending, pin: Pin | None = None) -> Kind:
    """Say how a waiting update stands to the edits that it was held with (BE-13); where there were none, to the lock."""
    gone = pin.digest if pin is not None else pending.base
    return classify(pending.base, pending.ours or gone, pending.theirs)


def turned_down(state: State, name: str, theirs: str) -> Settled | None:
    """Give a person's no to this very version; nothing where nobody said it, or something else became of it since."""
    found = next((one for one in state.reviewed if (one.name, one.theirs) == (name, theirs)), None)
    return found if found is not None and found.status == "rejected" else None


def settled(state: State, pending: Pending, row: Settled) -> State:
    """Take an update out of those that wait, and note what became of it; an older note on the same version goes."""
    rest = [one for one in state.reviewed if (one.name, one.theirs) != (row.name, row.theirs)]
    waiting = tuple(one for one in state.pending if one != pending)
    return state._replace(pending=waiting, reviewed=(*rest, row)[-MOST:])


def published(pending: Pending, mode: str, at: str, digest: str, reason: str = "") -> Settled:
    """Note that an update is in place."""
    return _row(pending, mode, "published", at, reason)._replace(digest=digest)


def rejected(pending: Pending, mode: str, at: str, reason: str = "") -> Settled:
    """Note that a person said no to an update."""
    return _row(pending, mode, "rejected", at, reason)


def superseded(state: State, pending: Pending, mode: str, at: str, reason: str, replaced_by: str = "") -> State:
    """Take an update out because something else came; that somebody had said no to it stays the last word."""
    if turned_down(state, pending.name, pending.theirs) is not None:
        return state._replace(pending=tuple(one for one in state.pending if one != pending))
    return settled(state, pending, _row(pending, mode, "superseded", at, reason)._replace(replaced_by=replaced_by))


def without(state: State, names: Collection[str], at: str, reason: str = "the skill was taken out of the lock") -> State:
    """Take out the updates of skills that are no longer what they were held against."""
    for pending in [one for one in state.pending if one.name in names]:
        state = superseded(state, pending, mode_of(pending), at, reason)
    return state


def arrived(state: State, pins: Iterable[Pin], at: str) -> State:
    """Note that updates are in place which somebody brought in by another way."""
    bases = {pin.name: pin for pin in pins}
    for pending in [one for one in state.pending if one.name in bases and bases[one.name].base == one.theirs]:
        digest = bases[pending.name].digest
        state = settled(state, pending, published(pending, mode_of(pending), at, digest, "it was installed anew"))
    return state


def _row(pending: Pending, mode: str, status: str, at: str, reason: str) -> Settled:
    return Settled(pending.name, pending.base, pending.ours, pending.theirs, pending.commit, pending.path, mode, status, pending.at,
                   at, reason[:MOST_REASON])  # fmt: skip
