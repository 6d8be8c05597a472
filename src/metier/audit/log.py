"""What metier notes down about its own decisions, and how that is read again: the library's side of
the audit log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.audit.chain import AuditEvent, VerifiedLog
from metier.audit.io import AuditLog
from metier.discover.io import disk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from metier.audit.chain import AuditRecord
    from metier.context import Context
    from metier.model import Card, Digest

NO_LOG_FOLDER = "there is nowhere to keep an audit log: set METIER_HOME or HOME"


def record(context: Context, what: str, outcome: str, **parts: Any) -> None:
    """Note an event down (load, refuse, approve, block, install, run), of the same parts as `event`.
    Never raises; trouble becomes a warning, once.
    """
    record_all(context, (event(context, what, outcome, **parts),))


def event(
    context: Context,
    what: str,
    outcome: str,
    *,
    name: str = "",
    digest: str | None = None,
    source: str = "",
    **details: object,
) -> AuditEvent:
    """Put an event into words."""
    door = source or context.door or (context.agent.id if context.agent else "metier")
    return AuditEvent(
        at=None,
        who="",
        what=what,
        outcome=outcome,
        name=name,
        digest=digest or "",
        source=door,
        details=details,
    )


def record_all(context: Context, events: Sequence[AuditEvent]) -> bool:
    """Note many events down, one after the other; tell whether that went well."""
    log = _log(context)
    if log is not None and events:
        disk.keep_private(str(context.data), context.home)
        log.append(*events)
    trouble = log.trouble if log is not None else NO_LOG_FOLDER
    if trouble and trouble not in context.warnings:
        context.warnings.append(trouble)
    return not trouble


def tail(context: Context, limit: int) -> list[AuditRecord]:
    """Give the last events, the newest last."""
    log = _log(context)
    return log.tail(limit) if log is not None else []


def verify(context: Context) -> VerifiedLog:
    """Say whether the log is as it was written."""
    log = _log(context)
    return (
        log.verify()
        if log is not None
        else VerifiedLog(0, ok=True, first_bad=None, reason=NO_LOG_FOLDER)
    )


def _log(context: Context) -> AuditLog | None:
    return AuditLog(f"{context.data}/audit", home=context.home) if context.data else None


def is_first_load(context: Context, card: Card, digest: Digest) -> bool:
    """Tell whether these bytes are read for the first time from here, and remember that they
    were.
    """
    from metier.catalogue.io.cache_db import DigestBook

    book = DigestBook(context.data)
    name = b"\0loaded\0" + card.path.encode("utf-8", "surrogateescape")
    try:
        known = book.get(name, b"")
        if known != digest:
            book.put(name, b"", digest)
    finally:
        book.close()
    return known != digest
