"""`why`: which copy a name means, and for each other copy the rule, setting or gate that keeps it
back. Pure.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import Choice, Why
from metier.resolve import lookup
from metier.standard.names import lookup_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.model import Card, Problem, Root, State, Texts


def explain(
    query: str,
    cards: Sequence[Card],
    elsewhere: Sequence[Card],
    lost: Sequence[tuple[Root, Problem]],
    asking: Asking,
) -> Why:
    """Explain a name over what the asker sees, what lies elsewhere, and what the walk could not
    follow or read.
    """
    found = lookup.matches(query, cards, asking.cwd, asking.real)
    renamed = () if found else _renamed(query, cards, elsewhere, asking)
    names = {card.name for card in found or renamed} or {query}
    same_name = [card for card in cards if card.name in names]
    seen = {asking.real(card.path) for card in same_name}
    others = [card for card in elsewhere if card.name in names]
    others = others or lookup.matches(query, elsewhere, asking.cwd, asking.real)
    outside = [card for card in others if asking.real(card.path) not in seen]
    unfollowed = [
        (root, problem)
        for root, problem in lost
        if lookup_key(problem.path.rpartition("/")[2]) == lookup_key(query)
    ]
    if not (same_name or outside or unfollowed):
        raise lookup.not_found(query, [*cards, *elsewhere])
    rivals = [
        card
        for card in same_name
        if card.state == "visible" or (asking.refuse and card.state == "shadowed")
    ]
    rivals = rivals or [card for card in same_name if card.held == "model"]
    for held in _STILL_MEANT:
        rivals = rivals or [card for card in same_name if card.held == held][:1]
    sole = len(rivals) == 1 or (asking.strongest and not asking.refuse)
    winner = rivals[0] if rivals and sole else None
    choices = [_choice(card, winner, rivals, asking.name) for card in same_name]
    choices = [
        one._replace(reasons=(*_names_told(card, query, renamed, asking), *one.reasons))
        for one, card in zip(choices, same_name, strict=True)
    ]
    choices += [_choice_of(card, "hidden", (_unseen(card, asking),)) for card in outside]
    choices += [
        Choice(
            path=problem.path,
            scope=root.scope,
            state="hidden",
            reasons=(f"{problem.code}: {problem.message}",),
            agent=root.agent,
            root=root.location,
            readiness="available",
            diagnostics=(),
        )
        for root, problem in unfollowed
    ]
    shown = same_name[0].name if same_name else outside[0].name if outside else query
    return Why(shown, winner.path if winner else None, tuple(choices))


def _renamed(
    query: str, cards: Sequence[Card], elsewhere: Sequence[Card], asking: Asking
) -> Sequence[Card]:
    """Give what the asker has under another name than the one that was asked for."""
    meant = lookup.matches(query, elsewhere, asking.cwd, asking.real)
    return lookup.same_places(cards, meant, asking.real)


def _names_told(card: Card, query: str, renamed: Sequence[Card], asking: Asking) -> Texts:
    """Say what a copy is called, where that is not what was asked for."""
    folder = card.path.rpartition("/")[2]
    if card in renamed:
        after = ", after its folder" if card.name == folder else ""
        return (f"{asking.title or asking.name} calls it {card.name}{after}",)
    if query == folder and lookup_key(card.name) != lookup_key(query):
        return (f"{query} is its folder; its name is {card.name}",)
    return ()


_STILL_MEANT = {"offer": "not offered here", "unready": "hidden because it is not ready"}
"""What holds a skill back and lets whoever names it have it."""


class Asking(NamedTuple):
    """Who asks, from where, and how names are treated."""

    name: str
    cwd: str
    real: Callable[[str], str]
    """Gives a canonical path."""
    refuse: bool
    """Whether a name with several copies means none of them."""
    strongest: bool = False
    """Whether a name means the strongest copy though all are offered."""
    title: str = ""
    """What people call the asker."""
    by: str = ""
    """What is said where nobody asked the agent itself."""
    depths: Mapping[str, int] | None = None
    """How deep the agent looks in each of the folders that it looks in."""


def _unseen(card: Card, asking: Asking) -> str:
    """Say why an agent does not come across a skill at all."""
    depth = (asking.depths or {}).get(card.root)
    if depth is not None:
        levels = "1 level" if depth == 1 else f"{depth} levels"
        return f"{asking.name} looks {levels} deep in {card.root} and doesn't find it"
    whose = f"{card.root} (a folder of {card.agent or 'no agent'})"
    return f"{asking.name} does not look in {whose}{asking.by}"


def _choice(card: Card, winner: Card | None, rivals: Sequence[Card], asker: str) -> Choice:
    reasons = card.reasons
    if winner is not None and card.path == winner.path:
        place = f"{card.scope} scope, {card.root}"
        first = (
            f"chosen: the strongest copy by {asker}'s order ({place})"
            if card.shadows or len(rivals) > 1
            else f"chosen: the only copy ({place})"
        )
        if card.held in _STILL_MEANT:
            first = f"{_STILL_MEANT[card.held]}, and still meant by its name ({place})"
        reasons = (first, *reasons)
    elif winner is not None and len(rivals) > 1 and card in rivals:
        reasons = (f"offered as well: {asker} offers every copy of a name", *reasons)
    elif len(rivals) > 1 and card in rivals:
        what_next = f"name it by its path or as {card.scope}:{card.name}"
        reasons = (
            f"ambiguous: one of {len(rivals)} copies that {asker} keeps; {what_next}",
            *reasons,
        )
    return _choice_of(card, card.state, reasons)


def _choice_of(card: Card, state: State, reasons: Texts) -> Choice:
    return Choice(
        path=card.path,
        scope=card.scope,
        state=state,
        reasons=reasons,
        agent=card.agent,
        root=card.root,
        readiness=card.readiness,
        diagnostics=card.diagnostics,
    )
