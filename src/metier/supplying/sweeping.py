"""`gc`: free what no lock, no kept revision, no waiting update and no mirrored plugin needs. Nothing is ever freed unasked."""

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
from metier.supply.sources import canonical
from metier.supply.state import read_state, state_bytes
from metier.supplying import fetching, owners, places
from metier.supplying.merging import desks, is_untouched
from metier.supplying.tapping import taps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from metier.app import Library
    from metier.mirrors import Mirror
    from metier.store.disk import Freed
    from metier.supplies import Pin, Request, Revision
    from metier.supply.state import State

OWN = frozenset({JOURNAL, MADE, SAVED})
"""What lies among the notes and is none."""


class _Known(NamedTuple):
    """This machine's notes on one lock, with the lock's pins; `None` where there is no lock that can be read."""

    path: str
    data: bytes
    state: State
    pins: tuple[Pin, ...] | None


def sweep(library: Library, *, dry_run: bool, revisions: int | None, also: Callable[[], Iterable[str]] = tuple) -> Freed:
    """Remove trees that nothing names; `revisions` forgets all but so many of each skill first.

    `also` gives digests that somebody else needs, of whom nothing is known here. It is asked where nobody else puts anything into
    the store: whoever writes down what it needs before keeping that is not missed.
    """
    if revisions is not None and revisions < 1:
        raise UsageError(f"{revisions} revisions cannot be kept", hint="one at least; 'metier remove' takes a skill away")
    store, changer = places.store_of(library), places.changer_of(library)
    with changer.alone():
        known, mirrors = [_trimmed(one, revisions) for one in _known(library)], _mirrors(library)
        changed = [Replace(one.path, changer.folder, one.data, state_bytes(one.state)) for one in known]
        if not dry_run:
            changer.apply(Change((), tuple(one for one in changed if one.before != one.after)))
        saved, _data = changer.unclaimed()
        needed = _needed(known) | _mirrored(mirrors) | {one.digest for one in saved}
        freed = store.sweep(_with(needed, also), dry_run=dry_run)
        if not dry_run:
            _tidied(library, known, mirrors)
    if not dry_run:
        library.reload()
    return freed


def _with(needed: Iterable[str], also: Callable[[], Iterable[str]]) -> Iterator[str]:
    yield from needed
    yield from also()


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


def _mirrors(library: Library) -> list[Mirror]:
    """Read what is mirrored anywhere; one that cannot be read stops everything as well."""
    folder = f"{places.home_of(library)}/{owners.FOLDER}"
    found = (owners.mirror_at(f"{folder}/{name}") for name in disk.list_folder(folder).files if name.endswith(".json"))
    return [one for one in found if one is not None]


def _mirrored(mirrors: Iterable[Mirror]) -> set[str]:
    needed: set[str] = set()
    for one in mirrors:
        from metier.plugins.state import needed as trees_of  # most machines have none

        needed |= trees_of(one)
    return needed


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


def _tidied(library: Library, known: Sequence[_Known], mirrors: Sequence[Mirror]) -> None:
    """Remove desks of merges that wait no longer, quarantine that a crash left, and repositories that no lock names.

    A desk that somebody worked on stays: nothing else has that work.
    """
    with fetching.desk(library):
        pass  # which sweeps what dead processes left
    wanted = {pending.desk.rpartition("/")[2] for one in known for pending in one.state.pending}
    waiting = (candidate for one in mirrors for candidate in one.candidates if candidate.status in {"open", "accepted"})
    wanted |= {candidate.desk.rpartition("/")[2] for candidate in waiting}
    folder = desks(library)
    for name in disk.list_folder(folder).folders:
        if name not in wanted and is_untouched(f"{folder}/{name}"):
            _removed(library, f"{folder}/{name}")
        elif name not in wanted:
            library.warnings.append(f"{folder}/{name} was worked on and is left; delete it when you need it no longer")
    _repositories(library, {pin.source for one in known for pin in one.pins or ()} | _shipping(library, mirrors))


def forget_repository(library: Library, source: str) -> None:
    """Remove our copy of a repository of which nothing was let in, unless a lock or a tap names it: a refusal leaves no trace."""
    try:
        used = {pin.source for one in _known(library) for pin in one.pins or ()}
        used |= {tap.source for tap in taps(library)} | _shipping(library, _mirrors(library))
    except MetierError:
        return  # whether anybody needs it cannot be told
    if source not in used:
        _repositories(library, (), cache_name(source))


def _shipping(library: Library, mirrors: Iterable[Mirror]) -> set[str]:
    """Give the repositories that plugins come from: those that are mirrored, and those that the configuration names."""
    requests = [plugin.source for one in mirrors for plugin in one.plugins]
    for said in library.settings.plugins.sources:
        try:
            requests.append(fetching.request_for(library, said))
        except MetierError:
            continue  # what is no source has no copy either
    return {_repository(request) for request in requests}


def _repository(request: Request) -> str:
    return canonical(request._replace(kind="git") if request.kind == "marketplace" else request)


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
