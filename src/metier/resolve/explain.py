"""`why`: which copy a name means, and for each other copy the rule, setting or gate that keeps it back. Pure."""

from __future__ import annotations

from metier.light import TYPE_CHECKING
from metier.model import Card, Choice, Problem, Why
from metier.resolve import lookup
from metier.standard.names import lookup_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def explain(
    query: str, cards: Sequence[Card], elsewhere: Sequence[Card], problems: Sequence[Problem], *, asker: str, cwd: str,
    real: Callable[[str], str],
) -> Why:  # fmt: skip
    """Explain a name over what the asker sees, and over what lies elsewhere. `real` gives a canonical path."""
    found = lookup.matches(query, cards, cwd)
    names = {card.name for card in found} or {query}
    same_name = [card for card in cards if card.name in names]
    seen = {real(card.path) for card in same_name}
    outside = [card for card in _named(query, names, elsewhere, cwd) if real(card.path) not in seen]
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


def _named(query: str, names: set[str], elsewhere: Sequence[Card], cwd: str) -> list[Card]:
    return [card for card in elsewhere if card.name in names] or lookup.matches(query, elsewhere, cwd)


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
