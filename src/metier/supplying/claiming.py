"""Edits that a change found at the last moment, or a crash left behind: each becomes a revision of the skill it was made to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import MetierError
from metier.store.changing.disk import SAVED, Change, Replace
from metier.store.changing.journal import write_saved
from metier.supplies import Revision
from metier.supply.state import state_bytes
from metier.supplying import deploying, owners, places
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.app import Library
    from metier.store.changing.disk import Changer
    from metier.supplies import Pin
    from metier.supply.state import State
    from metier.supplying.places import Kept, Place


def claim(library: Library, changer: Changer) -> None:
    """Note the edits that lie in the store and are nobody's yet; those of other projects wait for a command there."""
    with changer.alone():
        for place in places.places(library, None):
            try:
                _claimed(place, places.read(place), owners.owners(library, place), changer)
            except MetierError as error:  # a lock that cannot be read keeps nobody from another
                library.warnings.append(f"{place.lock}: edits that were kept are not in the history yet: {error.message}")


def _claimed(place: Place, kept: Kept, owned: Mapping[str, str], changer: Changer) -> None:
    """Note the edits of a place's own skills; those of skills that a plugin owns are left to whoever mirrors it."""
    saved, data = changer.unclaimed()
    state, own = kept.state, set[str]()
    for one in saved:
        name, pin = _whose(place, kept, one.path)
        if name and owners.owned(owned, name) is None:
            about = (pin.base, pin.commit) if pin is not None else (one.digest, "")
            state = appended(state, Revision(name, 0, one.digest, *about, decisions.now(), "edit"))
            own.add(one.path)
    if own:
        rest = [one for one in saved if one.path not in own]
        notes = Replace(place.state, changer.folder, kept.state_bytes, state_bytes(state._replace(lock=place.lock)))
        left = Replace(f"{changer.folder}/{SAVED}", changer.folder, data, write_saved(rest) if rest else None)
        changer.apply(Change((), (notes, left)))


def _whose(place: Place, kept: Kept, path: str) -> tuple[str, Pin | None]:
    """Give the skill that a path is a place of: one of the lock, or one that was removed since."""
    for pin in kept.lock.pins:
        if any(path == deploying.path_of(place, target) for target in pin.targets):
            return pin.name, pin
    name = path.rpartition("/")[2]
    gone = any(one.name == name for one in kept.state.revisions) and path == deploying.working_copy(place, name)
    return (name, None) if gone else ("", None)


def appended(state: State, made: Revision) -> State:
    """Add a revision under the next number, unless the newest of that skill is the same."""
    own = [one for one in state.revisions if one.name == made.name]
    if own and (own[-1].digest, own[-1].base, own[-1].commit) == (made.digest, made.base, made.commit):
        return state
    number = max((one.number for one in own), default=0) + 1
    return state._replace(revisions=(*state.revisions, made._replace(number=number)))
