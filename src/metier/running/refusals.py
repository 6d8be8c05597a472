"""What the audit log is told of a run that was not made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import recording

if TYPE_CHECKING:
    from metier.app import Library
    from metier.errors import MetierError
    from metier.model import Card

OTHERS_SAY = frozenset({"ask", "consent", "vetoed", "hook", "usage", "dependencies-ask", "interpreter", "no-home", "store"})
"""Refusals that say nothing about the skill: they do not count against it (ZE-26)."""


def note(library: Library, card: Card, error: MetierError, door: str, *, digest: str | None = None, script: str = "") -> None:
    """Note down that nothing was run, and why."""
    others = {"asked": error.code} if error.code in OTHERS_SAY else {}
    named = {"script": script} if script else {}
    recording.record(library, "run", "refused", name=card.name, digest=digest, source=door, path=card.path, reason=error.message,
                     code=error.code, **named, **others)  # fmt: skip
