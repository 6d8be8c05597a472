"""`gc`: free what no lock, no kept revision, no waiting update and no mirrored plugin needs.
Nothing is ever freed unasked.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import MetierError, UsageError
from metier.store.io import safe_files
from metier.store.io.atomic_change import JOURNAL, MADE, SAVED, Replace, StoreChange
from metier.store.io.folders import clear
from metier.supply import fetch, places
from metier.supply.io.lock_file import (
    days_since_written,
    is_project_gone,
    read_lock_file,
    read_state_file,
)
from metier.supply.local_state import state_bytes
from metier.supply.merge.settle import desks_folder, is_untouched
from metier.supply.places import changer_of, hands_of, home_of, store_of
from metier.supply.search import taps
from metier.supply.sources.git_commands import cache_name
from metier.supply.sources.source_name import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from metier.context import Context
    from metier.plugins.model import Mirror
    from metier.store.io.tree_store import Freed
    from metier.supply.local_state import SupplyState
    from metier.supply.model import Pin, Revision

GRACE_DAYS = 30
"""How long a project that is gone keeps its versions, from the day metier last changed anything in
it."""
OWN_FILES = frozenset({JOURNAL, MADE, SAVED})
"""What lies among the notes and is none."""


class _KnownLock(NamedTuple):
    """This machine's notes on one lock, with the lock's pins; `None` where there is no lock that
    can be read.
    """

    path: str
    data: bytes
    state: SupplyState
    pins: tuple[Pin, ...] | None


def sweep(
    context: Context,
    *,
    dry_run: bool,
    revisions: int | None,
    gone: Sequence[str] = (),
    also: Callable[[], Iterable[str]] = tuple,
) -> Freed:
    """Remove trees that nothing names; `revisions` forgets all but so many of each skill first, and
    the projects in `gone` no longer need theirs, if they are gone.

    `also` gives digests that somebody else needs, of whom nothing is known here. It is asked where
    nobody else puts anything into the store: whoever writes down what it needs before keeping that
    is not missed.
    """
    if revisions is not None and revisions < 1:
        raise UsageError(
            f"can't keep {revisions} revisions",
            hint="keep at least one. To remove a skill: metier remove NAME",
        )
    store = store_of(context)
    changer = changer_of(context)
    with changer.alone():
        every = _read_known(context)
        found_gone = {_folder_of(one): one for one in every if _is_gone(one)}
        dropped = [found_gone[folder] for folder in gone if folder in found_gone]
        known = [_trim(one, revisions) for one in every if one not in dropped]
        mirrors = _mirrors(context)
        changed = [
            Replace(one.path, changer.folder, one.data, state_bytes(one.state)) for one in known
        ]
        if not dry_run:
            left = [Replace(one.path, changer.folder, one.data, None) for one in dropped]
            files = [*(one for one in changed if one.before != one.after), *left]
            changer.apply(StoreChange((), tuple(files)))
        saved, _data = changer.unclaimed()
        needed = _needed(known, mirrors) | {one.digest for one in saved}

        def all_needed() -> Iterator[str]:
            yield from needed
            yield from also()

        freed = store.sweep(all_needed(), dry_run=dry_run)
        if not dry_run:
            _tidy(context, known, mirrors)
    if not dry_run:
        context.catalogue.reload()
    return freed._replace(gone=tuple(sorted(found_gone)))


def _is_gone(known: _KnownLock) -> bool:
    """Tell whether a project is gone, and has been left alone for long enough."""
    return (
        known.pins is None
        and known.state.lock.startswith("/")
        and not known.path.endswith(f"/{places.USER_STATE_NAME}.json")
        and is_project_gone(known.state.lock)
        and days_since_written(known.path) >= GRACE_DAYS
    )


def _folder_of(known: _KnownLock) -> str:
    return known.state.lock.rpartition("/")[0]


def _read_known(context: Context) -> list[_KnownLock]:
    """Read all notes; one that cannot be read stops everything, for nobody knows what it needs."""
    folder = f"{home_of(context)}/supply"
    found = []
    for name in disk.list_folder(folder).files:
        if name.endswith(".json") and name not in OWN_FILES:
            state, data = read_state_file(f"{folder}/{name}")
            if data is not None:
                lock = (
                    f"{home_of(context)}/{places.LOCK_NAME}"
                    if name == f"{places.USER_STATE_NAME}.json"
                    else state.lock
                )
                pins = None
                with suppress(MetierError):
                    found_lock, lock_data = read_lock_file(lock)
                    pins = found_lock.pins if lock_data is not None else None
                found.append(_KnownLock(f"{folder}/{name}", data, state, pins))
    return found


def _mirrors(context: Context) -> list[Mirror]:
    """Read what is mirrored anywhere; one that cannot be read stops everything as well."""
    folder = f"{home_of(context)}/{places.MIRROR_FOLDER}"
    found = (
        places.mirror_at(f"{folder}/{name}")
        for name in disk.list_folder(folder).files
        if name.endswith(".json")
    )
    return [one for one in found if one is not None]


def _trim(known: _KnownLock, most: int | None) -> _KnownLock:
    """Keep the newest revisions of each skill; where the lock is gone, all of them, for they are
    all there is.
    """
    if most is None or known.pins is None:
        return known
    newest: dict[str, list[Revision]] = {}
    for one in sorted(known.state.revisions, key=lambda one: one.number):
        newest.setdefault(one.name, []).append(one)
    kept = tuple(one for one in known.state.revisions if one in newest[one.name][-most:])
    return known._replace(state=known.state._replace(revisions=kept))


def _needed(known: Iterable[_KnownLock], mirrors: Iterable[Mirror]) -> set[str]:
    needed = set()
    for one in known:
        for pin in one.pins or ():
            needed |= {pin.digest, pin.base}
        for revision in one.state.revisions:
            needed |= {revision.digest, revision.base}
        for pending in one.state.pending:
            needed |= {pending.base, pending.ours, pending.theirs}
    for mirror in mirrors:
        from metier.plugins.mirror_json import needed_trees  # most machines have none

        needed |= needed_trees(mirror)
    return needed


def _tidy(context: Context, known: Sequence[_KnownLock], mirrors: Sequence[Mirror]) -> None:
    """Remove desks of merges that wait no longer, quarantine that a crash left, and repositories
    that no lock names.

    A desk that somebody worked on stays: nothing else has that work.
    """
    with fetch.open_quarantine(context):
        pass  # which sweeps what dead processes left
    wanted = {pending.desk.rpartition("/")[2] for one in known for pending in one.state.pending}
    waiting = (
        candidate
        for one in mirrors
        for candidate in one.candidates
        if candidate.status in {"open", "accepted"}
    )
    wanted |= {candidate.desk.rpartition("/")[2] for candidate in waiting}
    folder = desks_folder(context)
    for name in disk.list_folder(folder).folders:
        if name not in wanted and is_untouched(f"{folder}/{name}"):
            _remove(context, f"{folder}/{name}")
        elif name not in wanted:
            context.warnings.append(
                f"{folder}/{name} has your edits in it and was kept; delete it when you no longer need it"
            )
    _remove_repositories(
        context,
        {pin.source for one in known for pin in one.pins or ()} | _shipping(context, mirrors),
    )


def forget_repository(context: Context, source: str) -> None:
    """Remove our copy of a repository of which nothing was let in, unless a lock or a tap names it:
    a refusal leaves no trace.
    """
    try:
        used = {pin.source for one in _read_known(context) for pin in one.pins or ()}
        used |= {tap.source for tap in taps(context)} | _shipping(context, _mirrors(context))
    except MetierError:
        return  # whether anybody needs it cannot be told
    if source not in used:
        _remove_repositories(context, (), cache_name(source))


def _shipping(context: Context, mirrors: Iterable[Mirror]) -> set[str]:
    """Give the repositories that plugins come from: those that are mirrored, and those that the
    configuration names.
    """
    requests = [plugin.source for one in mirrors for plugin in one.plugins]
    for said in context.settings.plugins.sources:
        try:
            requests.append(fetch.request_for(context, said))
        except MetierError:
            continue  # what is no source has no copy either
    return {
        canonical(request._replace(kind="git") if request.kind == "marketplace" else request)
        for request in requests
    }


def _remove_repositories(context: Context, used: Iterable[str], only: str = "") -> None:
    """Remove our copies of repositories that no lock names, or `only` that one; one that is being
    fetched stays.
    """
    cache = f"{home_of(context)}/cache/git"
    wanted = {cache_name(source) for source in used}
    for name in disk.list_folder(cache).folders:
        own = name.partition(".")[0]  # a copy's history has its name, and its lock
        if name.endswith(".git") and own not in wanted and only in {"", own}:
            try:
                with safe_files.hold_lock(f"{cache}/{own}.lock", 0.0):
                    _remove(context, f"{cache}/{name}")
            except OSError:
                continue


def _remove(context: Context, path: str) -> None:
    try:
        clear(path, hands_of(context))
    except OSError as error:
        context.warnings.append(f"{path} could not be removed: {error.strerror or error}")
