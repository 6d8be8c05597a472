"""What the source of each locked skill has now: every source opened once, and each skill of it laid in quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError
from metier.supplies import Refusal
from metier.supply.naming import HASH
from metier.supplying import deploying, fetching, pinning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from metier.app import Library
    from metier.supplies import Pin, Request
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.fetching import Laid, Source
    from metier.supplying.places import Place

_SHARED = frozenset({"git", "folder", "archive", "bundled", "marketplace"})
"""Sources of these kinds are opened whole, once for all their skills; others give one skill at a time."""


class Upstream(NamedTuple):
    """A locked skill, and what its source has now."""

    pin: Pin
    laid: Laid | None = None
    """The skill in quarantine; nothing where it is known to be the same, or cannot be had."""
    commit: str = ""
    """What the source stands at."""
    gone: str = ""
    """Why the source, which answered, no longer has it."""
    refusal: Refusal | None = None
    note: str = ""


def is_fixed(place: Place, pin: Pin) -> str:
    """Say why a skill has no newer version by definition; nothing when it may have one."""
    if pin.kind == "bundled":
        return "its host keeps it current"
    if HASH.match(pin.ref):
        return "it is locked to a commit"
    if pin.kind == "folder":
        request = pinning.request_of(place, pin, fixed=False)
        if f"{request.location}/{pin.path}".rstrip("/") == deploying.working_of(place, pin):
            return "it was adopted as it lies there, and has no other source"
    return ""


def looked_up(library: Library, place: Place, desk: Desk, pins: Sequence[Pin]) -> Iterator[Upstream]:
    """Ask every source; one that fails is a refusal of its own skills, and the others go on."""
    for request, group in requests(place, pins):
        done = list[Upstream]()
        try:
            for one in _of_source(library, desk, request, group):
                done.append(one)
                library.progress("skills", len(done))
        except MetierError as error:
            seen = {one.pin.name for one in done}
            why = (f"{error.code}: {error.message}", *((error.hint,) if error.hint else ()))
            done += [Upstream(pin, refusal=Refusal(pin.name, why)) for pin in group if pin.name not in seen]
        yield from done


def requests(place: Place, pins: Iterable[Pin]) -> list[tuple[Request, list[Pin]]]:
    """Give what there is to open, each with the skills that come from there."""
    found: dict[Request, list[Pin]] = {}
    for pin in pins:
        request = pinning.request_of(place, pin, fixed=False)
        found.setdefault(request._replace(path="") if request.kind in _SHARED else request, []).append(pin)
    return list(found.items())


def _of_source(library: Library, desk: Desk, request: Request, pins: Sequence[Pin]) -> Iterator[Upstream]:
    newest = fetching.fetcher_for(library, request).newest(request)
    if newest:
        yield from (Upstream(pin, commit=newest) for pin in pins if pin.commit == newest)
        pins = [pin for pin in pins if pin.commit != newest]
    if len(pins) == 1 and (found := _where_it_was(library, desk, request, pins[0])) is not None:
        yield found
        return
    if pins:
        with fetching.opened(library, request) as source:
            for pin in pins:
                yield _found(library, desk, source, pin)


def _where_it_was(library: Library, desk: Desk, request: Request, pin: Pin) -> Upstream | None:
    """Look for one skill where it was: a large source need not be read whole for that."""
    if not pin.path:
        return None
    try:
        with fetching.opened(library, request._replace(path=pin.path)) as source:
            here = any(one.path == pin.path for one in source.pickings.skills)
            return _found(library, desk, source, pin) if here else None
    except MetierError as error:
        if error.code != "not-found":
            raise
        return None


def _found(library: Library, desk: Desk, source: Source, pin: Pin) -> Upstream:
    commit = source.origin.commit
    picked = pinning.found_in(source, pin)
    if picked is None:
        where = f"at {pin.path}" if pin.path else "at its top"
        return Upstream(pin, commit=commit, gone=f"{pin.source} no longer has it {where}, nor anywhere else under its name")
    laid = fetching.lay(library, desk, source, picked)
    if isinstance(laid, Refusal):
        return Upstream(pin, commit=commit, refusal=laid._replace(name=pin.name))
    note = f"{pin.name} is at {picked.path or 'the top'} of its source now" if picked.path != pin.path else ""
    return Upstream(pin, laid, commit, note=note)
