"""The queue: everything that waits for a person, wherever it comes from, under one set of verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.review.drafts import DraftReviews
from metier.review.held_updates import HeldUpdates
from metier.review.plugin_updates import PluginUpdates

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.context import Context
    from metier.plugins.model import Decided, ReviewCandidate
    from metier.ports import ReviewSource

SIDES = ("", "ours", "theirs")
"""How conflicts may be settled; nothing leaves that to what was edited."""
_SOURCES: tuple[tuple[str, Callable[[Context, bool | None], ReviewSource]], ...] = (
    ("draft:", DraftReviews),
    ("update:", HeldUpdates),
    ("", PluginUpdates),
)
"""Who answers for candidates whose id begins so; the first that fits."""


def list_waiting(context: Context, *, everything: bool, user: bool | None) -> list[ReviewCandidate]:
    """List what waits, plugins' updates first; with `everything`, also what was decided."""
    return [
        one
        for _prefix, source in reversed(_SOURCES)
        for one in source(context, user).waiting(everything=everything)
    ]


def source_of(context: Context, ident: str, user: bool | None) -> ReviewSource:  # noqa: FBT001 - whose, or both
    """Give who answers for a candidate."""
    return next(source for prefix, source in _SOURCES if ident.startswith(prefix))(context, user)


def accept(
    context: Context, ident: str, how: str, *, reason: str, user: bool | None = None
) -> Decided:
    """Publish a candidate; `how` settles conflicts."""
    if how not in SIDES:
        raise UsageError(f"'{how}' is no way to settle a conflict", hint="ours or theirs")
    return source_of(context, ident, user).accept(ident, how, reason)
