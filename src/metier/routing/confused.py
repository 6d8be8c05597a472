"""Which skills a model could mistake for one another, over the whole library (ZE-34)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.route import confusing
from metier.routing.upkeep import BATCH, current, embedder_of, lacking
from metier.wanted import Asked, Confusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.routing.upkeep import Routed
    from metier.wanted import Candidate

NEIGHBOURS = 6
"""How many skills are asked for that are like a skill, itself among them."""


def confusable(library: Library, least: float | None = None) -> Confusion:
    """Give the pairs of visible skills that answer the same tasks: by meaning where there are vectors, else by words (ZE-34).

    No skill is compared with all others: each is asked for as if it were a task, and only what answers is looked at.
    """
    from metier.usage.alike import LEAST, alike

    if least is not None and not 0 < least <= 1:
        raise UsageError(f"{least} is no share", hint="give how alike two skills must be, from above 0 to 1")
    state = current(library)
    cards = {card.path: card for card in library.contents().cards if card.state == "visible" and card.path in state.places}
    embedder = embedder_of(library, state)
    unseen = [path for path in lacking(library, state, embedder) if path in cards] if embedder else []
    seen = cards.keys() - unseen if embedder else frozenset()
    pairs = _neighbours(library, state, [card for path, card in cards.items() if path in seen], frozenset(cards)) if seen else []
    names = {path: card.name for path, card in cards.items()}
    found = confusing.measured(pairs, names, least or confusing.LEAST_MEANING)
    by_words = alike(((card.path, card.name, card.description) for card in cards.values()), least or LEAST)
    more = [(one.first_path, one.second_path, one.similarity) for one in by_words if not {one.first_path, one.second_path} <= seen]
    return Confusion(tuple(confusing.ordered([*found, *confusing.measured(more, names, 0.0)])), tuple(sorted(unseen)))


def _neighbours(library: Library, state: Routed, cards: Sequence[Card], among: frozenset[str]) -> list[tuple[str, str, float]]:
    """Ask for what is nearest to each skill in meaning."""
    from metier.route.pieces import card as piece

    embedder, engine = embedder_of(library, state), state.engine
    assert embedder is not None
    assert engine is not None
    found: list[tuple[str, str, float]] = []
    for start in range(0, len(cards), BATCH):
        some = cards[start : start + BATCH]
        rows = embedder.passages([piece(card.name, card.description) for card in some])
        for card, row in zip(some, rows, strict=True):
            near: Sequence[Candidate] = engine.query(Asked(card.name, NEIGHBOURS, among, (), row))
            found += [(card.path, one.path, one.signals.get("vector", 0.0)) for one in near if one.path in among]
        library.progress("skills", start + len(some))
    return found
