"""The queue: everything that waits for a person, wherever it comes from, under one set of verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.reviewing import drafts, held, mirrored

if TYPE_CHECKING:
    from types import ModuleType

    from metier.app import Library
    from metier.mirrors import Candidate, Decided, Reviewed

WAYS = ("", "ours", "theirs")
_SOURCES: tuple[tuple[str, ModuleType], ...] = (("draft:", drafts), ("update:", held), ("", mirrored))
"""Who answers for candidates whose id begins so; the first that fits."""


def listed(library: Library, *, everything: bool, user: bool | None) -> list[Candidate]:
    """List what waits, plugins' updates first; with `everything`, also what was decided."""
    found: list[Candidate] = []
    for source in (mirrored, held, drafts):
        found += source.listed(library, user, everything=everything)
    return found


def show(library: Library, ident: str, *, user: bool | None = None) -> Reviewed:
    """Show one candidate whole."""
    reviewed: Reviewed = _source(ident).show(library, ident, user=user)
    return reviewed


def accept(library: Library, ident: str, how: str, *, reason: str, user: bool | None = None) -> Decided:
    """Publish a candidate; `how` settles conflicts."""
    if how not in WAYS:
        raise UsageError(f"'{how}' is no way to settle a conflict", hint="ours or theirs")
    decided: Decided = _source(ident).accept(library, ident, how, reason=reason, user=user)
    return decided


def reject(library: Library, ident: str, *, reason: str, user: bool | None = None) -> Decided:
    """Turn a candidate down."""
    decided: Decided = _source(ident).reject(library, ident, reason=reason, user=user)
    return decided


def edit(library: Library, ident: str, *, user: bool | None = None) -> Reviewed:
    """Lay a candidate out for editing."""
    reviewed: Reviewed = _source(ident).edit(library, ident, user=user)
    return reviewed


def _source(ident: str) -> ModuleType:
    return next(module for prefix, module in _SOURCES if ident.startswith(prefix))
