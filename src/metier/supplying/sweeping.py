"""`gc`: free what no lock, no kept revision and no waiting update needs. Nothing is ever freed unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import MetierError, UsageError
from metier.keeping import disk as keeping
from metier.store.changing.disk import JOURNAL, MADE, SAVED, Change, Replace
from metier.store.trees.disk import clear
from metier.supply.files.disk import small
from metier.supply.gitlist import cache_name
from metier.supply.lock import read_lock
from metier.supply.state import read_state, state_bytes
from metier.supplying import fetching, places
from metier.supplying.merging import desks, is_untouched
from metier.supplying.tapping import taps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.app import Library
    from metier.store.disk import Freed
    from metier.supplies import Pin, Revision
    from metier.supply.state import State

OWN = frozenset({JOURNAL, MADE, SAVED})
"""What lies among the notes and is none."""


class _Known(NamedTuple):
    """This machine's notes on one lock, with the lock's pins; `None` where there is no lock that can be read."""

    path: str
    data: bytes
    state: State
    pins: tuple[Pin, ...] | None


def sweep(library: Library, *, dry_run: bool, revisions: int | None) -> Freed:
    """Remove trees that nothing names; `revisions` forgets all but so many of each skill first."""
    if revisions is not None and revisions < 1:
        raise UsageError(f"{revisions} revisions cannot be kept", hint="one at least; 'metier remove' takes a skill away")
    store, changer = places.store_of(library), places.changer_of(library)
    with changer.alone():
        known = [_trimmed(one, revisions) for one in _known(library)]
        changed = [Replace(one.path, changer.folder, one.data, state_bytes(one.state)) for one in known]
        if not dry_run:
            changer.apply(Change((), tuple(one for one in changed if one.before != one.after)))
        saved, _data = changer.unclaimed()
        freed = store.sweep(_needed(known) | {one.digest for one in saved}, dry_run=dry_run)
        if not dry_run:
            _tidied(library, known)
    if not dry_run:
        library.reload()
    return freed


def _known(library: Library) -> list[_Known]:
    """Read all notes; one that cannot be read stops everything, for nobody knows what it needs."""
    folder, found = f"{places.home_of(library)}/supply", []
    for name in disk.list_folder(folder).files:
        if name.endswith(".json") and name not in OWN:
            data = small(f"{folder}/{name}", places.LOCK_BYTES)
            if data is not None:
                state = read_state(data)
                lock = f"{places.home_of(library)}/{places.LOCK}" if name == f"{places.USER}.json" else state.lock
                found.append(_Known(f"{folder}/{name}", data, state, _pins(lock)))
    return found


def _pins(lock: str) -> tuple[Pin, ...] | None:
    try:
        data = small(lock, places.LOCK_BYTES)
        return read_lock(data).pins if data is not None else None
    except MetierError:
        return None


def _trimmed(known: _Known, most: int | None) -> _Known:
    """Keep the newest revisions of each skill; where the lock is gone, all of them, for they are all there is."""
    if most is None or known.pins is None:
        return known
    newest: dict[str, list[Revision]] = {}
    for one in sorted(known.state.revisions, key=lambda one: one.number):
        newest.setdefault(one.name, []).append(one)
    kept = {one for own in newest.values() for one in own[-most:]}
    return known._replace(state=known.state._replace(revisions=tuple(one for one in known.state.revisions if one in kept)))


def _needed(known: Iterable[_Known]) -> set[str]:
    needed: set[str] = set()
    for one in known:
        for pin in one.pins or ():
            needed |= {pin.digest, pin.base}
        for revision in one.state.revisions:
            needed |= {revision.digest, revision.base}
        for pending in one.state.pending:
            needed |= {pending.base, pending.ours, pending.theirs}
    return needed


def _tidied(library: Library, known: Iterable[_Known]) -> None:
    """Remove desks of merges that wait no longer, quarantine that a crash left, and repositories that no lock names.

    A desk that somebody worked on stays: nothing else has that work.
    """
    known = list(known)
    with fetching.desk(library):
        pass  # which sweeps what dead processes left
    wanted = {pending.desk.rpartition("/")[2] for one in known for pending in one.state.pending}
    folder = desks(library)
    for name in disk.list_folder(folder).folders:
        if name not in wanted and is_untouched(f"{folder}/{name}"):
            _removed(library, f"{folder}/{name}")
        elif name not in wanted:
            library.warnings.append(f"{folder}/{name} was worked on and is left; delete it when you need it no longer")
    _repositories(library, {pin.source for one in known for pin in one.pins or ()})


def forget_repository(library: Library, source: str) -> None:
    """Remove our copy of a repository of which nothing was let in, unless a lock or a tap names it: a refusal leaves no trace."""
    try:
        used = {pin.source for one in _known(library) for pin in one.pins or ()}
        used |= {tap.source for tap in taps(library)}
    except MetierError:
        return  # whether anybody needs it cannot be told
    if source not in used:
        _repositories(library, (), cache_name(source))


def _repositories(library: Library, used: Iterable[str], only: str = "") -> None:
    """Remove our copies of repositories that no lock names, or `only` that one; one that is being fetched stays."""
    cache = f"{places.home_of(library)}/cache/git"
    wanted = {cache_name(source) for source in used}
    for name in disk.list_folder(cache).folders:
        own = name.partition(".")[0]  # a copy's history has its name, and its lock
        if name.endswith(".git") and own not in wanted and only in {"", own}:
            try:
                with keeping.alone(f"{cache}/{own}.lock", 0.0):
                    _removed(library, f"{cache}/{name}")
            except OSError:
                continue


def _removed(library: Library, path: str) -> None:
    try:
        clear(path, places.hands_of(library))
    except OSError as error:
        library.warnings.append(f"{path} could not be removed: {error.strerror or error}")
