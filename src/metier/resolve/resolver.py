"""Stage 3 · many candidates → what each name means. Pure, and independent of the order in which a
disk lists things.

Identity is the canonical path: the same skill reached twice is one skill. Every other copy is kept;
the order of the roots alone decides which copy a plain name means (MT-1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.model import EDITED, Card, Entry, Readiness, Root, Said, State
from metier.resolve.gates import closed_by, disabled_by
from metier.resolve.needs import lacking_skills, missing_of, never_given, readiness_of
from metier.standard.rules import BARE, FATAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.discover.agents import ListingBudget
    from metier.model import Judged, Needs, Texts
    from metier.ports import Machine
    from metier.resolve.model import ResolvePolicy


class CandidateState(NamedTuple):
    """The state of one candidate by itself, before names are compared."""

    state: State
    readiness: Readiness
    reasons: Texts
    held: str = ""
    """What holds it back by itself. Its name may still mean it when nothing does, or only its own
    wish not to be offered to a model; otherwise it gives way to the next copy."""


_FINE = CandidateState("visible", "available", ())
_MAY_WIN = frozenset({"", "model"})
_OFFERED = frozenset({""})
_NAMEABLE = frozenset({"model", "offer"})
_ASK_PEOPLE = _MAY_WIN | _NAMEABLE | {"unready"}
"""What is held back for nothing worse than this may still be given to somebody who names it."""
_OPEN: tuple[str, Readiness, str] = ("", "available", "")


def resolve(
    found: Iterable[tuple[Root, list[Entry]]], policy: ResolvePolicy, machine: Machine
) -> list[Card]:
    """Decide the state of every skill. Roots come strongest first; the cards come in the same
    order.
    """
    found = list(found)
    return remark(_resolve(found, policy, machine), policy)


def _resolve(
    found: list[tuple[Root, list[Entry]]], policy: ResolvePolicy, machine: Machine
) -> list[Card]:
    cards = _cards(found, policy, machine, {})
    needing = [
        entry
        for _root, entries in found
        for entry in entries
        if entry.needs is not None and entry.needs.skills
    ]
    if not needing:
        return cards
    # Whether the skills that a skill needs are there is known only now.
    hide = policy.settings.hide_unready
    lacking = lacking_skills(needing, cards, spreads=hide)
    if hide and lacking:
        return _cards(
            found, policy, machine, lacking
        )  # each of them gives way to the next copy of its name
    return [_lacking(card, lacking[card.path]) if card.path in lacking else card for card in cards]


def remark(cards: list[Card], policy: ResolvePolicy) -> list[Card]:
    """Say of cards that are offered what the agent makes less of: one that it refuses to use, one
    whose description does not fit into its list.
    """
    said = dict[str, str]()
    for name, told_by in policy.refused:
        said.update(
            (card.path, f"{policy.asker} lists it but refuses to use it: {told_by}")
            for card in cards
            if (card.name.startswith(name[:-1]) if name[-1] == "*" else card.name == name)
        )
    if policy.budget is not None:
        said.update(_cut(cards, policy.budget, policy.asker))
    if not said:
        return cards
    return [
        card._replace(reasons=(*card.reasons, said[card.path])) if card.path in said else card
        for card in cards
    ]


_FULL = "{}'s listing budget is full; this one is cut {}"


def is_cut(reason: str) -> bool:
    """Tell whether a reason says that a skill's description does not fit into its agent's list."""
    return _FULL.format("", "") in reason


def _cut(cards: list[Card], budget: ListingBudget, asker: str) -> dict[str, str]:
    """Say of the skills whose descriptions do not fit that they do not: names come first, then
    descriptions in their order; or whole lines in their order.
    """
    offered = [card for card in cards if card.state in {"visible", "ask"}]
    left = budget.characters - budget.reserved
    lines = [len(card.name) + budget.line for card in offered]
    left -= 0 if budget.whole else sum(lines)
    fits = list[bool]()
    for card, line in zip(offered, lines, strict=True):
        left -= min(len(card.description), budget.each or len(card.description))
        left -= line if budget.whole else 0
        fits.append(left >= 0)
    if budget.evenly and not all(fits):
        return {card.path: _FULL.format(asker, "short, as all are") for card in offered}
    less = ", unless it is used more than others" if budget.by_use else ""
    told = _FULL.format(asker, f"to its name{less}")
    return {card.path: told for card, fit in zip(offered, fits, strict=True) if not fit}


def _lacking(card: Card, skills: list[str]) -> Card:
    """Say of a card that skills are missing to it."""
    if card.readiness == "unsupported" or card.held not in _MAY_WIN:
        return card
    reason = f"needs skills {', '.join(skills)}"
    if card.readiness == "setup_needed":
        reasons = tuple(
            f"{one}; {reason.removeprefix('needs ')}" if one.startswith("needs ") else one
            for one in card.reasons
        )
        return card._replace(reasons=reasons)
    return card._replace(readiness="setup_needed", reasons=(*card.reasons, reason))


def _cards(
    found: list[tuple[Root, list[Entry]]],
    policy: ResolvePolicy,
    machine: Machine,
    lacking: dict[str, list[str]],
) -> list[Card]:
    settings = policy.settings
    unruled = not (
        settings.rules or settings.disabled or settings.platform_disabled or policy.everything_off
    )
    identities: set[str] = set()
    waiting: dict[str, Card] = {}
    winners: dict[tuple[str, str], Card] = {}
    hidden_by: dict[str, list[str]] = {}
    cards: list[Card] = []
    decided = policy.said.state_of is not None
    for root, entries in found:
        doubt = doubt_about(root, policy.said)
        verdicts = policy.judged.get(root.location, {})
        for entry in entries:
            identity = entry.real or entry.path
            if identity in identities or (doubt and identity in waiting):
                continue
            if unruled and not (entry.gates or entry.needs or entry.diagnostics or entry.left_out):
                judged = _FINE
            else:
                judged = judge(entry, policy, machine, lacking.get(entry.path))
            verdict = verdicts.get(entry.path)
            if (doubt or decided) and judged.held in _ASK_PEOPLE:
                judged = _after_people(root, entry, judged, policy, machine, doubt, verdict)
            card = _card(root, entry, judged, verdict)
            eligible = judged.held in (_OFFERED if policy.offered else _MAY_WIN)
            # A plugin's names are its own: a skill that merely calls itself `plugin:name` does not
            # stand in their way.
            winner = winners.setdefault((entry.plugin, entry.name), card) if eligible else card
            older = root.newest_first and winner.root == root.location  # of one plugin
            if winner is not card and (older or not policy.keep_duplicates):
                told = shadow_reason(winner, root)
                if policy.undefined or (policy.unordered and winner.root == root.location):
                    told += f"; {policy.asker} itself may take either, from run to run"
                reasons = (told, *card.reasons)
                card = card._replace(state="shadowed", reasons=reasons)
                hidden_by.setdefault(winner.path, []).append(entry.path)
            if doubt and not eligible:
                waiting[identity] = card
            else:
                identities.add(identity)
            cards.append(card)
    # A stranger's link to a skill of the user's own does not take it away: the user's root still
    # brings it.
    twice = {id(card) for identity, card in waiting.items() if identity in identities}
    cards = [card for card in cards if id(card) not in twice] if twice else cards
    if hidden_by:
        cards = [
            card._replace(shadows=tuple(hidden_by[card.path])) if card.path in hidden_by else card
            for card in cards
        ]
    return cards


def _card(root: Root, entry: Entry, judged: CandidateState, verdict: Judged | None) -> Card:
    state, readiness, reasons, held = judged
    # A listing builds thousands of them, and each keyword takes its time: the first few go without.
    return Card(
        entry.name,
        entry.description,
        root.scope,
        entry.category,
        entry.kind,
        entry.path,
        digest=None,
        state=state,
        readiness=readiness,
        tokens=entry.tokens,
        shadows=(),
        diagnostics=entry.diagnostics,
        reasons=reasons,
        root=root.location,
        agent=root.agent,
        plugin=entry.plugin,
        held=held,
        verdict=verdict.level if verdict is not None else "",
    )


def doubt_about(root: Root, said: Said) -> str:
    """Say why nothing in a root is offered yet; nothing when it is."""
    if said.broken:
        return said.broken
    if root.project and root.project not in said.projects:
        return (
            f"you haven't trusted this project yet. Review it, then run: metier trust project "
            f"{root.project}"
        )
    return ""


def _after_people(
    root: Root,
    entry: Entry,
    judged: CandidateState,
    policy: ResolvePolicy,
    machine: Machine,
    doubt: str,
    verdict: Judged | None,
) -> CandidateState:
    """Let what people have said about a skill or its project, and what the scan says of it,
    overrule what it would be by itself.
    """
    said = policy.said
    if said.all_blocked:
        return CandidateState("blocked", judged.readiness, (doubt, *judged.reasons), "blocked")
    doubter = "record" if said.broken else "project"
    real = entry.real or entry.path
    spoken = (
        entry.path in said.paths
        or real in said.paths
        or said.fold(entry.name) in said.names
        or real in said.own
    )
    weighs = verdict is not None and (
        verdict.level != "safe"
        or said.asks_safe
        or verdict.pinned != ""
        or verdict.changed != ""
        or verdict.digest in said.digests
    )
    if said.state_of is not None and (spoken or weighs):
        digest = machine.digest(entry.path) if spoken or verdict is None else verdict.digest
        state, reasons = said.state_of(root, entry, digest, verdict)
        edited = tuple(reason for reason in reasons if reason.startswith(EDITED))
        if edited and policy.ask_edits:
            state, reasons = (
                "ask",
                (f"{edited[0]}. Review it, then run: metier trust approve {entry.name}",),
            )
        if state == "visible":
            return judged._replace(reasons=(*edited, *judged.reasons)) if edited else judged
        held = str(state) if state != "ask" else doubter if doubt in reasons else "changed"
        return CandidateState(state, judged.readiness, (*reasons, *judged.reasons), held)
    if not doubt or judged.held not in _MAY_WIN:
        return judged
    state = "ask" if judged.state == "visible" else judged.state
    return CandidateState(state, judged.readiness, (doubt, *judged.reasons), doubter)


def judge(
    entry: Entry, policy: ResolvePolicy, machine: Machine, skills: list[str] | None = None
) -> CandidateState:
    """Judge one candidate by itself: its text, the rules, the gates, what it needs; `skills` are
    those known to be missing.
    """
    settings = policy.settings
    fatal = [note for note in entry.diagnostics if note.code in FATAL]
    if fatal and not entry.loaded:
        note = fatal[0]
        reason = f"{note.code} at {note.path}:{note.line}:{note.column}: {note.message}"
        return CandidateState("invalid", "available", (reason,), "invalid")
    if entry.left_out:
        reason = f"{policy.asker} does not load it: {entry.left_out}"
        return CandidateState("hidden", "available", (reason,), "agent")
    disabled = disabled_by(entry, settings)
    if policy.everything_off and not disabled:
        disabled = f"disabled: {policy.everything_off} switches all skills off"
    if disabled:
        return CandidateState("hidden", "available", (disabled,), "disabled")
    closed, readiness, held = (
        closed_by(entry.gates, settings, policy.world) if entry.gates is not None else _OPEN
    )
    if closed and held not in _NAMEABLE:
        return CandidateState("hidden", readiness, (closed,), held)
    bare = not entry.loaded and any(note.code in BARE for note in entry.diagnostics)
    if bare and not settings.allow_without_frontmatter:
        reason = "it has no frontmatter; to show such skills, set allow_without_frontmatter = true"
        return CandidateState("hidden", "available", (reason,), "bare")
    judged = CandidateState("hidden", readiness, (closed,), held) if closed else _FINE
    return (
        judged
        if entry.needs is None
        else _ready(entry.needs, judged, policy, machine, skills or [])
    )


def _ready(
    needs: Needs, judged: CandidateState, policy: ResolvePolicy, machine: Machine, skills: list[str]
) -> CandidateState:
    """Add what is missing to a candidate that nothing else speaks against."""
    missing = missing_of(needs, machine, policy.settings)
    if skills:
        missing["skills"] = skills
    readiness, reason = readiness_of(
        missing, needs.systems, policy.world.platform, never_given(missing["env"], machine)
    )
    if not reason:
        return judged
    if policy.settings.hide_unready:  # ZE-42
        return CandidateState("hidden", readiness, (reason, *judged.reasons), "unready")
    return judged._replace(readiness=readiness, reasons=(*judged.reasons, reason))


def shadow_reason(winner: Card, root: Root) -> str:
    """Say what hides a copy, and by which rule."""
    if winner.scope != root.scope:
        return f"shadowed by {winner.path}: {winner.scope} comes before {root.scope}"
    if winner.root != root.location:
        return f"shadowed by {winner.path}: {winner.root} comes before {root.location}"
    return f"shadowed by {winner.path}: it comes first in the same folder"
