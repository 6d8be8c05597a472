"""`why`: which copy a name means, and for each other copy the rule, setting or gate that keeps it back. Pure."""

from __future__ import annotations

from metier.light import TYPE_CHECKING, NamedTuple
from metier.model import Choice, Why
from metier.resolve import lookup
from metier.standard.names import lookup_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.model import Card, Problem, Root


def explain(
    query: str, cards: Sequence[Card], elsewhere: Sequence[Card], lost: Sequence[tuple[Root, Problem]], asking: Asking
) -> Why:
    """Explain a name over what the asker sees, what lies elsewhere, and what the walk could not follow or read."""
    found = lookup.matches(query, cards, asking.cwd, asking.real)
    names = {card.name for card in found} or {query}
    same_name = [card for card in cards if card.name in names]
    seen = {asking.real(card.path) for card in same_name}
    outside = [card for card in _named(query, names, elsewhere, asking) if asking.real(card.path) not in seen]
    unfollowed = [(root, problem) for root, problem in lost if lookup_key(_base(problem.path)) == lookup_key(query)]
    if not (same_name or outside or unfollowed):
        raise lookup.not_found(query, [*cards, *elsewhere])
    rivals = [card for card in same_name if card.state == "visible" or (asking.refuse and card.state == "shadowed")]
    rivals = rivals or [card for card in same_name if card.held == "model"]
    rivals = rivals or [card for card in same_name if card.held == "unready"][:1]  # it can still be named
    winner = rivals[0] if len(rivals) == 1 else None
    choices = [_choice(card, winner, rivals, asking.name) for card in same_name]
    choices += [_outside_choice(card, asking.name) for card in outside]
    choices += [_lost_choice(root, problem) for root, problem in unfollowed]
    shown = same_name[0].name if same_name else outside[0].name if outside else query
    return Why(shown, winner.path if winner else None, tuple(choices))


class Asking(NamedTuple):
    """Who asks, from where, and how names are treated."""

    name: str
    cwd: str
    real: Callable[[str], str]
    """Gives a canonical path."""
    refuse: bool
    """Whether a name with several copies means none of them."""


def _named(query: str, names: set[str], elsewhere: Sequence[Card], asking: Asking) -> list[Card]:
    return [card for card in elsewhere if card.name in names] or lookup.matches(query, elsewhere, asking.cwd, asking.real)


def _choice(card: Card, winner: Card | None, rivals: Sequence[Card], asker: str) -> Choice:
    reasons = card.reasons
    if winner is not None and card.path == winner.path:
        place = f"{card.scope} scope, {card.root}"
        first = f"chosen: the strongest copy by {asker}'s order ({place})" if card.shadows else f"chosen: the only copy ({place})"
        if card.held == "unready":
            first = f"hidden because it is not ready, and still meant by its name ({place})"
        reasons = (first, *reasons)
    elif len(rivals) > 1 and card in rivals:
        what_next = f"name it by its path or as {card.scope}:{card.name}"
        reasons = (f"ambiguous: one of {len(rivals)} copies that {asker} keeps; {what_next}", *reasons)
    return Choice(card.path, card.scope, card.state, reasons, card.agent, card.root, card.readiness, card.diagnostics)


def _lost_choice(root: Root, problem: Problem) -> Choice:
    reason = f"{problem.code}: {problem.message}"
    return Choice(problem.path, root.scope, "hidden", (reason,), root.agent, root.location, "available", ())


def _outside_choice(card: Card, asker: str) -> Choice:
    reason = f"{asker} does not look in {card.root} (a folder of {card.agent or 'no agent'})"
    return Choice(card.path, card.scope, "hidden", (reason,), card.agent, card.root, card.readiness, card.diagnostics)


def _base(path: str) -> str:
    return path.rpartition("/")[2]
