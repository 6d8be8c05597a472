"""Which skills could be mistaken for one another (ZE-34): by the words of their cards, or by pairs that somebody measured. Pure."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from metier.route.words import SAY_NOTHING, words
from metier.wanted import Confusable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.wanted import Floats

LEAST_WORDS = 0.5
"""From which share of common words on two cards answer the same tasks."""
LEAST_MEANING = 0.85
"""From which cosine on they do."""
MOST_CHARACTERS = 2_000


def card_words(name: str, description: str) -> frozenset[str]:
    """Give the words of a card that say something."""
    return frozenset(words(f"{name}\n{description}"[:MOST_CHARACTERS])) - SAY_NOTHING


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Give the share of words that both have, of all that either has."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def rivals(cards: Sequence[tuple[str, str, str]], likeness: Floats | None = None) -> dict[str, tuple[str, ...]]:
    """Give for each (path, name, description) the names of the others that are nearly the same, in the order they came in.

    Two are compared by their cosine in `likeness` where it has one, else by their words.
    """
    sets = [card_words(name, description) for _path, name, description in cards]

    def alike(one: int, other: int) -> bool:
        cosine = nan if likeness is None else float(likeness[one][other])
        return overlap(sets[one], sets[other]) >= LEAST_WORDS if isnan(cosine) else cosine >= LEAST_MEANING

    found: dict[str, tuple[str, ...]] = {}
    for at, (path, name, _description) in enumerate(cards):
        near = (cards[other][1] for other in range(len(cards)) if other != at and alike(at, other))
        found[path] = tuple(dict.fromkeys(one for one in near if one != name))
    return found


def measured(pairs: Iterable[tuple[str, str, float]], names: Mapping[str, str], least: float) -> list[Confusable]:
    """Give each pair of paths once, with its highest similarity, the closest first; two copies of one name are no confusion."""
    best: dict[tuple[str, str], float] = {}
    for one, other, similarity in pairs:
        key = min(one, other), max(one, other)
        if one != other and similarity >= least and names[one] != names[other]:
            best[key] = max(similarity, best.get(key, similarity))
    return ordered(
        Confusable(names[one], names[other], one, other, round(min(similarity, 1.0), 3))
        for (one, other), similarity in best.items()
    )


def ordered(pairs: Iterable[Confusable]) -> list[Confusable]:
    """Sort pairs: the closest first, then by path."""
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first_path, pair.second_path))
