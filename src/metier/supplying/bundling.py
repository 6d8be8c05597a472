"""Skills that come with a host: installed, kept current while nobody edits them, and left alone by whatever the user did to them.

What was done is known from the lock and this machine's notes alone. A marker inside what the host ships means nothing, and where
the host ships what it shipped before, nothing is written (HE-46, CX-35, ZE-39).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from metier.discover import disk
from metier.errors import MetierError
from metier.standard.digest import TreeFile, tree_digest
from metier.store.changing.disk import state_of
from metier.supplies import Origin, Refusal, Request
from metier.supply.decided import without
from metier.supply.paths import checked, safe_name
from metier.supplying import applying, deploying, fetching, owners, pinning, places
from metier.supplying.admitting import admitted
from metier.supplying.deciding import Scales
from metier.trust import disk as decisions
from metier.trust.levels import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.store.changing.disk import Changer
    from metier.supplies import Picked, Pin
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.fetching import Source
    from metier.supplying.places import Kept, Place

    What = Literal["installed", "updated", "unchanged", "kept", "deleted", "dropped", "foreign", "available", "failed"]

_WRITES = frozenset({"installed", "updated", "dropped", "forget"})


class Bundled(NamedTuple):
    """What became of one skill of a host."""

    name: str
    state: What
    """`kept` was edited and stays so; `deleted` was by the user; `foreign` is somebody else's of the same name."""
    why: str = ""


class _Case(NamedTuple):
    """One skill of a host as things are now, and what is to be done about it."""

    name: str
    what: str
    why: str = ""
    picked: Picked | None = None
    pin: Pin | None = None
    before: str = ""
    """What lies at its working copy."""


def bundled(library: Library, folder: str, *, optional: bool = False, user: bool = True,
            names: Sequence[str] = ()) -> list[Bundled]:  # fmt: skip
    """Install or refresh what a host ships in a folder.

    Of an `optional` set only what is installed already is refreshed, and the rest is available. `names` asks for some by name:
    those are installed even if they are optional or were deleted.
    """
    if not library.settings.supply.bundled:
        return []  # CX-36: what is there stays there, for others who share it
    place = places.place_of(library, user=user)
    places.settle(library)
    request = Request("bundled", disk.real(folder))
    with fetching.opened(library, request) as source:
        cases = _cases(library, place, source, optional=optional, names=names)
        if not any(case.what in _WRITES for case in cases):
            return _told(cases)
        changer = places.changer_of(library)
        with fetching.desk(library) as desk, Scales(library) as scales, changer.alone():
            cases = _cases(library, place, source, optional=optional, names=names)
            ready = [_ready(library, place, source, desk, scales, case) for case in cases]
            return _told([_applied(library, place, changer, case, move) for case, move in ready])


def _told(cases: Sequence[_Case]) -> list[Bundled]:
    states = {"forget": "deleted"}
    return [Bundled(case.name, states.get(case.what, case.what), case.why) for case in cases]  # type: ignore[arg-type]


# --- what is to be done


def _cases(library: Library, place: Place, source: Source, *, optional: bool, names: Sequence[str]) -> list[_Case]:
    kept, owned = places.read(place), owners.owners(library, place)
    found: dict[str, _Case] = {}
    for picked in source.pickings.skills:
        try:
            name = safe_name(picked.name)
            if name in found:
                found[name] = _Case(name, "failed", "the host ships several skills of this name")
                continue
            whose = owners.owned(owned, name)
            if whose is not None:
                found[name] = _Case(name, "foreign", whose.reasons[0])
                continue
            wanted = name in names or (not optional and not names)
            found[name] = _case(library, place, kept, source, picked._replace(name=name), wanted=wanted, asked=name in names)
        except MetierError as error:
            found[picked.name] = _Case(picked.name, "failed", f"{error.code}: {error.message}")
    place_here = source.request.location
    gone = [pin for pin in kept.lock.pins if pin.kind == "bundled" and pin.source == place_here and pin.name not in found]
    gone = [pin for pin in gone if owners.owned(owned, pin.name) is None]
    dropped = [_Case(pin.name, "dropped", "the host no longer ships it; your copy stays", None, pin) for pin in gone]
    return [*sorted(found.values()), *dropped]


def _case(library: Library, place: Place, kept: Kept, source: Source, picked: Picked, *, wanted: bool, asked: bool) -> _Case:
    """Compare what is shipped with what was done and with what lies there (HE-46)."""
    name, pin = picked.name, kept.lock.named(picked.name)
    if pin is not None and not _is_ours(pin, source):
        return _Case(name, "foreign", f"a skill of this name is installed from {pin.source}")
    if pin is not None:
        deploying.sure(library, place, pin)
    before = state_of(deploying.working_of(place, pin) if pin is not None else deploying.working_copy(place, name))
    if pin is None:
        return _new(library, kept, source, picked, before, wanted=wanted, asked=asked)
    if not before:
        what = "installed" if asked else "forget"
        return _Case(name, what, "" if asked else "you deleted it, and it stays so", picked, pin)
    shipped = _digest(library, source, picked)
    if before not in {pin.base, shipped}:
        newer = "; the host has another version: 'metier update' merges" if shipped != pin.base else ""
        return _Case(name, "kept", "you edited it" + newer, picked, pin, before)
    if shipped == pin.base and before == pin.digest and pin.source == source.request.location:
        return _Case(name, "unchanged", "", picked, pin, before)
    return _Case(name, "updated", "", picked, pin, before)


def _new(library: Library, kept: Kept, source: Source, picked: Picked, before: str, *, wanted: bool, asked: bool) -> _Case:
    name = picked.name
    if name in dict(kept.state.forgotten) and not asked:
        return _Case(name, "deleted", "you deleted it, and it stays so")
    if before and before != _digest(library, source, picked):
        return _Case(name, "foreign", "something else of this name is there already")
    return _Case(name, "installed" if wanted else "available", "", picked, None, before)


def _is_ours(pin: Pin, source: Source) -> bool:
    """Tell a skill of this host from others: by its folder, which a new version of the host may have moved."""
    return pin.kind == "bundled" and (pin.source == source.request.location or disk.kind_of(pin.source) is None)


def _digest(library: Library, source: Source, picked: Picked) -> str:
    """Hash what the host ships where it lies; nothing is written."""
    at = len(picked.path) + 1 if picked.path else 0
    files = []
    for item, chunks in source.tree.contents(checked(picked.items, library.settings.supply)):
        sha256 = hashlib.sha256()
        for chunk in chunks:
            sha256.update(chunk)
        files.append(TreeFile(item.path[at:], item.size, sha256.digest(), "link" if item.mode == "link" else item.mode == "exec"))
    return tree_digest(files)


# --- doing it


def _ready(library: Library, place: Place, source: Source, desk: Desk, scales: Scales,
           case: _Case) -> tuple[_Case, applying.Move | None]:  # fmt: skip
    """Lay out and judge what is new; what is wrong with one skill is that skill's trouble (ZE-39)."""
    if case.what in {"dropped", "forget"}:
        return case, applying.Move(case.name, None, (), "remove", case.pin)
    if case.what not in _WRITES or case.picked is None:
        return case, None
    try:
        return _move(library, place, source, desk, scales, case)
    except MetierError as error:
        return case._replace(what="failed", why=f"{error.code}: {error.message}"), None


def _move(library: Library, place: Place, source: Source, desk: Desk, scales: Scales,
          case: _Case) -> tuple[_Case, applying.Move | None]:  # fmt: skip
    assert case.picked is not None
    laid = fetching.lay(library, desk, source, case.picked)
    if isinstance(laid, Refusal):
        return case._replace(what="failed", why="; ".join(laid.reasons)), None
    # The program that embeds metier named this folder: that alone makes it builtin, nothing inside it does (HE-36).
    working = deploying.working_copy(place, case.name)
    weighed = scales.weigh(laid.folder, case.name, Origin("bundled", SHIPPED), place.scope, working)
    refusal = weighed if isinstance(weighed, Refusal) else admitted(weighed, force=False, accept_dangerous=False, asked=False)
    if refusal is not None or isinstance(weighed, Refusal):
        return case._replace(what="failed", why="; ".join(refusal.reasons if refusal else ())), None
    store = places.store_of(library)
    store.take(laid.folder, laid.files)
    store.note(laid.digest, SHIPPED, "", "")
    targets = case.pin.targets if case.pin is not None else deploying.targets_for(library, place, case.name, ())
    states = deploying.states(place, targets)
    pin = pinning.pinned(place, weighed, laid._replace(origin=Origin("bundled", source.request.location)), targets)
    if states[deploying.path_of(place, targets[0])] != case.before:
        return case._replace(what="kept", why="it was changed just now"), None
    return case, applying.Move(case.name, pin, deploying.switches(place, targets, laid.digest, states), "add", case.pin)


def _applied(library: Library, place: Place, changer: Changer, case: _Case, move: applying.Move | None) -> _Case:
    """Make one change whole; the next is made whatever becomes of it."""
    if move is None:
        return case
    kept = places.read(place)
    forgotten = dict(kept.state.forgotten)
    if case.what == "forget" and case.pin is not None:
        forgotten[case.name] = case.pin.base
    elif case.what in {"installed", "updated"}:
        forgotten.pop(case.name, None)
    state = kept.state if move.pin is not None else without(kept.state, (case.name,), decisions.now())
    kept = kept._replace(state=state._replace(forgotten=tuple(sorted(forgotten.items()))))
    try:
        applying.apply(library, place, kept, [move], changer)
    except MetierError as error:
        return case._replace(what="failed", why=f"{error.code}: {error.message}")
    digest = move.pin.digest if move.pin is not None else ""
    applying.record(library, "install" if move.pin is not None else "remove", "done", case.name, digest, origin=SHIPPED)
    return case
