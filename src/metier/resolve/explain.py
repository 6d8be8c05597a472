"""`why`: which copy a name means, and for each other copy the rule, setting or gate that keeps it back. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from metier.model import Card, Choice, Problem, Why
from metier.resolve import lookup
from metier.standard.names import lookup_key


def explain(
    query: str, cards: Sequence[Card], elsewhere: Sequence[Card], problems: Sequence[Problem], *, asker: str, cwd: str
) -> Why:
    """Explain a name over what the asker sees, and over what lies elsewhere on the machine."""
    found = lookup.matches(query, cards, cwd)
    names = {card.name for card in found} or {query}
    same_name = [card for card in cards if card.name in names]
    outside = _outside(query, names, elsewhere, {card.path for card in cards}, cwd)
    unfollowed = [problem for problem in problems if lookup_key(_base(problem.path)) == lookup_key(query)]
    if not (same_name or outside or unfollowed):
        raise lookup.not_found(query, [*cards, *elsewhere])
    winner = next((card for card in same_name if card.state == "visible"), None)
    winner = winner or next((card for card in same_name if card.state == "hidden" and _is_offered_by_name(card)), None)
    choices = [_choice(card, winner, asker) for card in same_name]
    choices += [_outside_choice(card, asker) for card in outside]
    choices += [Choice(p.path, "external", "hidden", (f"{p.code}: {p.message}",), "", "", "available", ()) for p in unfollowed]
    shown = same_name[0].name if same_name else outside[0].name if outside else query
    return Why(shown, winner.path if winner else None, tuple(choices))


def _outside(query: str, names: set[str], elsewhere: Sequence[Card], seen: set[str], cwd: str) -> list[Card]:
    named = [card for card in elsewhere if card.name in names] or lookup.matches(query, elsewhere, cwd)
    return [card for card in named if card.path not in seen]


def _is_offered_by_name(card: Card) -> bool:
    return any(reason.startswith("not offered") for reason in card.reasons)


def _choice(card: Card, winner: Card | None, asker: str) -> Choice:
    reasons = card.reasons
    if winner is not None and card.path == winner.path:
        place = f"{card.scope} scope, {card.root}"
        first = f"chosen: the strongest copy by {asker}'s order ({place})" if card.shadows else f"chosen: the only copy ({place})"
        reasons = (first, *reasons)
    elif card.state == "visible":
        reasons = (f"kept beside the others: {asker} shows every copy of a name", *reasons)
    return Choice(card.path, card.scope, card.state, reasons, card.agent, card.root, card.readiness, card.diagnostics)


def _outside_choice(card: Card, asker: str) -> Choice:
    reason = f"{asker} does not look in {card.root} (a folder of {card.agent or 'no agent'})"
    return Choice(card.path, card.scope, "hidden", (reason,), card.agent, card.root, card.readiness, card.diagnostics)


def _base(path: str) -> str:
    return path.rpartition("/")[2]
