"""Which skills a model could mistake for one another, over the whole library (ZE-34)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.route import confusing
from metier.routing.upkeep import STEP, current
from metier.wanted import Confusion

if TYPE_CHECKING:
    from metier.app import Library
    from metier.ports import Engine

NEIGHBOURS = 5
"""How many skills are asked for that are like a skill."""


def confusable(library: Library, least: float | None = None) -> Confusion:
    """Give the pairs of visible skills that answer the same tasks: by meaning where there are vectors, else by words (ZE-34).

    No skill is compared with all others: an engine is asked for the few that are nearest to each.
    """
    from metier.usage.alike import LEAST, alike

    if least is not None and not _is_share(least):
        raise UsageError(f"{str(least)[:40]} is no share", hint="give how alike two skills must be, from above 0 to 1")
    now = current(library)
    cards = {path: card for path, card in now.cards.items() if card.state == "visible"}
    unseen = now.meaning.lacking & cards.keys() if now.meaning else frozenset[str]()
    seen = frozenset(cards.keys() - unseen if now.meaning else ())
    pairs = _neighbours(library, now.engine, seen)
    names = {path: card.name for path, card in cards.items()}
    found = confusing.measured(pairs, names, least or confusing.LEAST_MEANING)
    by_words = alike(((card.path, card.name, card.description) for card in cards.values()), least or LEAST)
    more = [(one.first_path, one.second_path, one.similarity) for one in by_words if not {one.first_path, one.second_path} <= seen]
    return Confusion(tuple(confusing.ordered([*found, *confusing.measured(more, names, 0.0)])), tuple(sorted(unseen)))


def _is_share(given: object) -> bool:
    return isinstance(given, (int, float)) and 0 < given <= 1


def _neighbours(library: Library, engine: Engine, seen: frozenset[str]) -> list[tuple[str, str, float]]:
    """Ask for what is nearest in meaning to each skill that has vectors."""
    found: list[tuple[str, str, float]] = []
    for count, path in enumerate(sorted(seen), 1):
        found += [(path, other, cosine) for other, cosine in engine.neighbours(path, NEIGHBOURS, seen) if other in seen]
        if count % STEP == 0:
            library.progress("skills", count)
    return found
