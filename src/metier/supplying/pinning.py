"""Between a pin and the source it names: what the lock calls a source, and how that source is opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover import disk
from metier.errors import IntegrityError
from metier.supplies import Pin, Pinned, Refusal
from metier.supply import sources
from metier.supplying import deploying, fetching

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.app import Library
    from metier.standard.digest import TreeFile
    from metier.supplies import Origin, Picked, Request, Target
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.deciding import Weighed
    from metier.supplying.fetching import Laid, Source
    from metier.supplying.places import Place

_ON_DISK = frozenset({"folder", "archive", "bundled"})


def locked(place: Place, source: str) -> str:
    """Give a source as the lock calls it: what lies inside a project is named from there, so that the lock serves others."""
    if place.scope != "project" or not source.startswith("/"):
        return source
    real = disk.real(source)  # the project may have been reached through a link
    return f"./{real[len(place.base) + 1 :]}" if f"{real}/".startswith(f"{place.base}/") else source


def request_of(place: Place, pin: Pin, *, fixed: bool) -> Request:
    """Give the request that a pin stands for: as it was asked for, or `fixed` at what that was resolved to."""
    source = f"{place.base}/{pin.source[2:]}" if pin.source.startswith("./") and pin.kind in _ON_DISK else pin.source
    return sources.request_of(pin.kind, source, (pin.commit or pin.ref) if fixed else pin.ref, pin.path)


def is_its_own_source(place: Place, pin: Pin) -> bool:
    """Tell whether a skill was adopted as it lies there: nobody else has its bytes."""
    folder = f"{request_of(place, pin, fixed=False).location}/{pin.path}".rstrip("/") if pin.kind == "folder" else ""
    return folder == deploying.working_of(place, pin)


def found_in(source: Source, pin: Pin) -> Picked | None:
    """Find the skill of a pin in its source: where it was, or, if it moved, the only one that still has its name."""
    here = next((one for one in source.pickings.skills if one.path == pin.path), None)
    if here is not None:
        return here
    named = [one for one in source.pickings.skills if one.name == pin.name]
    return named[0] if len(named) == 1 else None


def restored(library: Library, place: Place, desk: Desk, pin: Pin) -> Laid | Refusal:
    """Fetch the very tree that a pin's base names, into quarantine; other bytes are not what was locked."""
    with fetching.opened(library, request_of(place, pin, fixed=True)) as source:
        picked = found_in(source, pin)
        if picked is None:
            return Refusal(pin.name, (f"not-found: {pin.source} no longer has it at {pin.path or 'its top'}",))
        laid = fetching.lay(library, desk, source, picked)
    if not isinstance(laid, Refusal) and laid.digest not in {pin.base, pin.digest}:
        raise IntegrityError(f"{pin.source} gives other bytes for '{pin.name}' than the lock has: {laid.digest}", code="digest",
                             hint="the source was changed after it was locked; 'metier update' shows what it has now")  # fmt: skip
    return laid


def pinned(place: Place, weighed: Weighed, laid: Laid, targets: tuple[Target, ...]) -> Pin:
    """Give the pin of a skill as its source gave it."""
    return pin_of(place, laid.origin, laid.picked.path, weighed, laid.digest, laid.digest, laid.files, targets)


def pin_of(place: Place, origin: Origin, path: str, weighed: Weighed, digest: str, base: str,  # noqa: PLR0913, PLR0917 - a row of the lock
           files: Iterable[TreeFile], targets: tuple[Target, ...]) -> Pin:  # fmt: skip
    """Give the pin of a working copy whose source gave `base`."""
    signature = weighed.signature.key if weighed.signature else ""
    approval = digest if weighed.decision.install == "ask" else ""
    return Pin(weighed.name, origin.kind, locked(place, origin.source), path, origin.ref, origin.commit, digest, base,
               pinned_files(files), weighed.judged, approval, signature, targets)  # fmt: skip


def pinned_files(files: Iterable[TreeFile]) -> tuple[Pinned, ...]:
    """Give the files of a tree as the lock has them."""
    found = (Pinned(file.path, file.sha256.hex(), "l" if file.mode == "link" else "x" if file.mode else "") for file in files)
    return tuple(sorted(found))
