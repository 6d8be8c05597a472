"""Stage 4 · many candidates → what each name means. Pure, and independent of the order in which a disk lists things.

Identity is the canonical path: the same skill reached twice is one skill. Every other copy is kept; the order of the
roots alone decides which copy a plain name means (decision 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.model import Card, Entry, Readiness, Root, Said, State
from metier.resolve.gates import closed_by, disabled_by
from metier.resolve.needs import lacking_skills, missing_of, never_given, readiness_of
from metier.standard.rules import BARE, FATAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Needs
    from metier.ports import Machine
    from metier.resolve.policy import Policy


class Judged(NamedTuple):
    """The state of one candidate by itself, before names are compared."""

    state: State
    readiness: Readiness
    reasons: tuple[str, ...]
    held: str = ""
    """What holds it back by itself. Its name may still mean it when nothing does, or only its own wish not to be offered
    to a model; otherwise it gives way to the next copy."""


_FINE = Judged("visible", "available", ())
_MAY_WIN = frozenset({"", "model"})
_OPEN: tuple[str, Readiness, str] = ("", "available", "")


def resolve(found: Iterable[tuple[Root, list[Entry]]], policy: Policy, machine: Machine) -> list[Card]:
    """Decide the state of every skill. Roots come strongest first; the cards come in the same order."""
    found = list(found)
    cards = _cards(found, policy, machine, {})
    needing = [entry for _root, entries in found for entry in entries if entry[11] is not None and entry[11].skills]
    if not needing:
        return cards
    # Whether the skills that a skill needs are there is known only now.
    hide = policy.settings.hide_unready
    lacking = lacking_skills(needing, cards, spreads=hide)
    if hide and lacking:
        return _cards(found, policy, machine, lacking)  # each of them gives way to the next copy of its name
    return [_lacking(card, lacking[card.path]) if card.path in lacking else card for card in cards]


def _lacking(card: Card, skills: list[str]) -> Card:
    """Say of a card that skills are missing to it."""
    if card.readiness == "unsupported" or card.held not in _MAY_WIN:
        return card
    reason = f"needs skills {', '.join(skills)}"
    if card.readiness == "setup_needed":
        reasons = tuple(f"{one}; {reason.removeprefix('needs ')}" if one.startswith("needs ") else one for one in card.reasons)
        return card._replace(reasons=reasons)
    return card._replace(readiness="setup_needed", reasons=(*card.reasons, reason))


def _cards(
    found: list[tuple[Root, list[Entry]]], policy: Policy, machine: Machine, lacking: dict[str, list[str]]
) -> list[Card]:  # fmt: skip
    settings = policy.settings
    unruled = not (settings.rules or settings.disabled or settings.platform_disabled)
    identities: set[str] = set()
    waiting: dict[str, Card] = {}
    winners: dict[tuple[str, str], Card] = {}
    hidden_by: dict[str, list[str]] = {}
    cards: list[Card] = []
    decided = policy.said.state_of is not None
    for root, entries in found:
        location, scope, agent = root.location, root.scope, root.agent
        doubt = doubt_about(root, policy.said)
        for entry in entries:
            identity = entry[3] or entry[1]
            if identity in identities or (doubt and identity in waiting):
                continue
            if unruled and entry[10] is None and entry[11] is None and not entry[12]:
                state, readiness, reasons, held = _FINE
            else:
                state, readiness, reasons, held = judge(entry, policy, machine, lacking.get(entry[1]))
            if (doubt or decided) and held in _MAY_WIN:
                judged = Judged(state, readiness, reasons, held)
                state, readiness, reasons, held = _after_people(root, entry, judged, policy.said, machine, doubt)
            name, plugin = entry[4], entry[7]
            # A plugin's names are its own: a skill that merely calls itself `plugin:name` does not stand in their way.
            winner = winners.get((plugin, name))
            eligible = held in _MAY_WIN
            if eligible and winner is not None and not policy.keep_duplicates:
                state, reasons = "shadowed", (shadow_reason(winner, root), *reasons)
                hidden_by.setdefault(winner.path, []).append(entry[1])
            card = Card(name, entry[5], scope, entry[6], entry[0], entry[1], None, state, readiness, entry[8], (),
                        entry[12], reasons, location, agent, plugin, held)  # fmt: skip
            if eligible and winner is None:
                winners[plugin, name] = card
            if doubt and not eligible:
                waiting[identity] = card
            else:
                identities.add(identity)
            cards.append(card)
    # A stranger's link to a skill of the user's own does not take it away: the user's root still brings it.
    twice = {id(card) for identity, card in waiting.items() if identity in identities}
    cards = [card for card in cards if id(card) not in twice] if twice else cards
    if hidden_by:
        cards = [card._replace(shadows=tuple(hidden_by[card.path])) if card.path in hidden_by else card for card in cards]
    return cards


def doubt_about(root: Root, said: Said) -> str:
    """Say why nothing in a root is offered yet; nothing when it is."""
    if said.broken:
        return f"{said.broken}; nothing is approved until that is put right"
    if root.project and root.project not in said.projects:
        return f"its project is not trusted; after a look at it, 'metier trust project {root.project}' offers its skills"
    return ""


def _after_people(root: Root, entry: Entry, judged: Judged, said: Said, machine: Machine, doubt: str) -> Judged:
    """Let what people have said about a skill or its project overrule what it would be by itself."""
    if said.state_of is not None and (entry.path in said.paths or said.fold(entry.name) in said.names):
        state, reasons = said.state_of(root, entry, machine.digest(entry.path))
        if state == "visible":
            return judged
        held = str(state) if state != "ask" else "project" if doubt in reasons else "changed"
        return Judged(state, judged.readiness, (*reasons, *judged.reasons), held)
    if not doubt:
        return judged
    state = "ask" if judged.state == "visible" else judged.state
    return Judged(state, judged.readiness, (doubt, *judged.reasons), "project")


def judge(entry: Entry, policy: Policy, machine: Machine, skills: list[str] | None = None) -> Judged:
    """Judge one candidate by itself: its text, the rules, the gates, what it needs; `skills` are those known to be missing."""
    settings = policy.settings
    fatal = [note for note in entry.diagnostics if note.code in FATAL]
    if fatal:
        note = fatal[0]
        reason = f"{note.code} at {note.path}:{note.line}:{note.column}: {note.message}"
        return Judged("invalid", "available", (reason,), "invalid")
    disabled = disabled_by(entry, settings)
    if disabled:
        return Judged("hidden", "available", (disabled,), "disabled")
    closed, readiness, held = closed_by(entry.gates, settings, policy.world) if entry.gates is not None else _OPEN
    if closed and held != "model":
        return Judged("hidden", readiness, (closed,), held)
    if not settings.allow_without_frontmatter and any(note.code in BARE for note in entry.diagnostics):
        reason = "it has no frontmatter; allow_without_frontmatter = true shows such skills"
        return Judged("hidden", "available", (reason,), "bare")
    judged = Judged("hidden", readiness, (closed,), held) if closed else _FINE
    return judged if entry.needs is None else _ready(entry.needs, judged, policy, machine, skills or [])


def _ready(needs: Needs, judged: Judged, policy: Policy, machine: Machine, skills: list[str]) -> Judged:
    """Add what is missing to a candidate that nothing else speaks against."""
    missing = missing_of(needs, machine, policy.settings)
    if skills:
        missing["skills"] = skills
    readiness, reason = readiness_of(missing, needs.systems, policy.world.platform, never_given(missing["env"], machine))
    if not reason:
        return judged
    if policy.settings.hide_unready:  # ZE-42
        return Judged("hidden", readiness, (reason, *judged.reasons), "unready")
    return judged._replace(readiness=readiness, reasons=(*judged.reasons, reason))


def shadow_reason(winner: Card, root: Root) -> str:
    """Say what hides a copy, and by which rule."""
    if winner.scope != root.scope:
        return f"shadowed by {winner.path}: {winner.scope} comes before {root.scope}"
    if winner.root != root.location:
        return f"shadowed by {winner.path}: {winner.root} comes before {root.location}"
    return f"shadowed by {winner.path}: it comes first in the same folder"
