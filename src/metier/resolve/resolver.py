"""Stage 4 · many candidates → what each name means. Pure, and independent of the order in which a disk lists things.

Identity is the canonical path: the same skill reached twice is one skill. Every other copy is kept; the order of the
roots alone decides which copy a plain name means (decision 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.model import Card, Entry, Readiness, Root, State
from metier.resolve.gates import closed_by, disabled_by, missing_of
from metier.standard.rules import BARE, FATAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.ports import Machine
    from metier.resolve.policy import Policy


class Judged(NamedTuple):
    """The state of one candidate by itself, before names are compared."""

    state: State
    readiness: Readiness
    reasons: tuple[str, ...]
    eligible: bool
    """Whether its name may mean it: a skill that is invalid or disabled gives way to the next copy."""


_FINE = Judged("visible", "available", (), eligible=True)


def resolve(found: Iterable[tuple[Root, list[Entry]]], policy: Policy, machine: Machine) -> list[Card]:
    """Decide the state of every skill. Roots come strongest first; the cards come in the same order."""
    settings = policy.settings
    unruled = not (settings.rules or settings.disabled or settings.platform_disabled)
    identities: set[str] = set()
    winners: dict[str, Card] = {}
    hidden_by: dict[str, list[str]] = {}
    cards: list[Card] = []
    for root, entries in found:
        location, scope, agent = root.location, root.scope, root.agent
        for entry in entries:
            identity = entry[3] or entry[1]
            if identity in identities:
                continue
            identities.add(identity)
            if unruled and entry[10] is None and entry[11] is None and not entry[12]:
                state, readiness, reasons, eligible = _FINE
            else:
                state, readiness, reasons, eligible = judge(entry, policy, machine)
            name = entry[4]
            winner = winners.get(name)
            if eligible and winner is not None and not policy.keep_duplicates:
                state, reasons = "shadowed", (shadow_reason(winner, root), *reasons)
                hidden_by.setdefault(winner.path, []).append(entry[1])
            card = Card(name, entry[5], scope, entry[6], entry[0], entry[1], None, state, readiness, entry[8], (),
                        entry[12], reasons, location, agent)  # fmt: skip
            if eligible and winner is None:
                winners[name] = card
            cards.append(card)
    if hidden_by:
        cards = [card._replace(shadows=tuple(hidden_by[card.path])) if card.path in hidden_by else card for card in cards]
    return cards


def judge(entry: Entry, policy: Policy, machine: Machine) -> Judged:
    """Judge one candidate by itself: its text, the rules, the gates, what it needs."""
    settings = policy.settings
    fatal = [note for note in entry.diagnostics if note.code in FATAL]
    if fatal:
        note = fatal[0]
        reason = f"{note.code} at {note.path}:{note.line}:{note.column}: {note.message}"
        return Judged("invalid", "available", (reason,), eligible=False)
    disabled = disabled_by(entry, settings)
    if disabled:
        return Judged("hidden", "available", (disabled,), eligible=False)
    if entry.gates is not None:
        reason, readiness = closed_by(entry.gates, settings, policy.world)
        if reason:
            return Judged("hidden", readiness, (reason,), eligible=reason.startswith("not offered"))
    if not settings.allow_without_frontmatter and any(note.code in BARE for note in entry.diagnostics):
        reason = "it has no frontmatter; allow_without_frontmatter = true shows such skills"
        return Judged("hidden", "available", (reason,), eligible=True)
    if entry.needs is not None:
        return _ready(missing_of(entry.needs, machine), hide=settings.hide_unready)
    return _FINE


def _ready(missing: dict[str, list[str]], *, hide: bool) -> Judged:
    lacking = [f"{kind} {', '.join(names)}" for kind, names in missing.items() if names]
    if not lacking:
        return _FINE
    reason = f"needs {'; '.join(lacking)}"
    return Judged("hidden" if hide else "visible", "setup_needed", (reason,), eligible=True)


def shadow_reason(winner: Card, root: Root) -> str:
    """Say what hides a copy, and by which rule."""
    if winner.scope != root.scope:
        return f"shadowed by {winner.path}: {winner.scope} comes before {root.scope}"
    if winner.root != root.location:
        return f"shadowed by {winner.path}: {winner.root} comes before {root.location}"
    return f"shadowed by {winner.path}: it comes first in the same folder"
