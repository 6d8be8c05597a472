"""What metier notes down about its own decisions, and how that is read again: the library's side of the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.audit.chain import Event
from metier.audit.disk import Log
from metier.audit.proof import Verified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.audit.chain import Record
    from metier.model import Card, Digest

NOWHERE = "there is no place for an audit log: set METIER_HOME or HOME"


def record(
    library: Library, what: str, outcome: str, *, name: str = "", digest: str | None = None, source: str = "", **details: object
) -> None:
    """Note an event down (load, refuse, approve, block, install, run). Never raises; trouble becomes a warning, once."""
    note(library, (event(library, what, outcome, name=name, digest=digest, source=source, **details),))


def event(
    library: Library, what: str, outcome: str, *, name: str = "", digest: str | None = None, source: str = "", **details: object
) -> Event:
    """Put an event into words."""
    door = source or (library.agent.id if library.agent else "metier")
    return Event(None, "", what, outcome, name, digest or "", door, details)


def note(library: Library, events: Sequence[Event]) -> None:
    """Note many events down, one after the other."""
    log = _log(library)
    if log is not None and events:
        log.append(*events)
    trouble = log.trouble if log is not None else NOWHERE
    if trouble and trouble not in library.warnings:
        library.warnings.append(trouble)


def tail(library: Library, limit: int) -> list[Record]:
    """Give the last events, the newest last."""
    log = _log(library)
    return log.tail(limit) if log is not None else []


def verify(library: Library) -> Verified:
    """Say whether the log is as it was written."""
    log = _log(library)
    return log.verify() if log is not None else Verified(0, ok=True, first_bad=None, reason=NOWHERE)


def _log(library: Library) -> Log | None:
    return Log(f"{library.data}/audit", home=library.home) if library.data else None


def is_first_load(library: Library, card: Card, digest: Digest) -> bool:
    """Tell whether these bytes are read for the first time from here, and remember that they were."""
    from metier.catalogue.db import DigestBook

    book, name = DigestBook(library.data), b"\0loaded\0" + card.path.encode("utf-8", "surrogateescape")
    try:
        known = book.get(name, b"")
        if known != digest:
            book.put(name, b"", digest)
    finally:
        book.close()
    return known != digest
