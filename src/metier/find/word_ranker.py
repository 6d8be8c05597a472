"""Which skills fit a task, by their words alone. Pure; a ranker behind `ports.Ranker` may know
better.

A word that few skills use weighs more than one that many do, and one in a name more than one in a
description. How often a skill was used before does not count: a rare skill is found as easily as a
common one. Ties go by name, then by path (MT-23).
"""

from __future__ import annotations

from math import log

from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.model import Card

NAME_WEIGHT = 3
MAX_TASK_CHARS = 10_000
"""Characters of a task that are looked at."""
MAX_SEARCHED_WORDS = 24
"""Words of a task up to which a skill is first searched for them: with more, taking it apart costs
less."""
MIN_PLURAL_CHARS = 4
_MARKS = str.maketrans(
    dict.fromkeys(
        "!\"#$%&'()*,-./:;<=>?@[\\]^_`{|}~\u2013\u2014\u2018\u2019\u201c\u201d\u3001\u3002", " "
    )
)
_SAY_NOTHING = (
    "a an and are as at be by can do for from how i if in into is it me my of on or please that "
    "the then this to use want we when "
    "with you your"
)
_EMPTY = frozenset(_SAY_NOTHING.split())


def telling_words(text: str) -> set[str]:
    """Give the words that say something, without case and plural."""
    found = text.casefold().translate(_MARKS).split()
    return {_singular(word) for word in found if word not in _EMPTY}


def _singular(word: str) -> str:
    return (
        word[:-1] if len(word) >= MIN_PLURAL_CHARS and word[-1] == "s" and word[-2] != "s" else word
    )


class WordRanker:
    """The plain ranker: it compares words."""

    def rank(self, task: str, cards: Sequence[Card]) -> Sequence[Card]:
        """Give the cards that share a word with the task, best first."""
        wanted = telling_words(task[:MAX_TASK_CHARS])
        found: list[tuple[set[str], set[str]]] = []
        counts = dict.fromkeys(wanted, 0)
        few = len(wanted) <= MAX_SEARCHED_WORDS
        for card in cards:
            if few:
                folded = f"{card.name}\n{card.description}".casefold()
                if not any(
                    word in folded for word in wanted
                ):  # most share nothing, and need not be taken apart
                    found.append((set(), set()))
                    continue
            name = telling_words(card.name) & wanted
            either = (telling_words(card.description) & wanted) | name
            for word in either:
                counts[word] += 1
            found.append((name, either))
        weights = {word: log(1 + len(cards) / count) for word, count in counts.items() if count}
        scored = []
        for card, (name, either) in zip(cards, found, strict=True):
            if either:
                # In a fixed order, or the last digit of the sum would depend on how a set is laid
                # out.
                score = sum(
                    weights[word] * (NAME_WEIGHT if word in name else 1) for word in sorted(either)
                )
                scored.append((-score, card.name, card.path, card))
        return [item[3] for item in sorted(scored, key=lambda item: item[:3])]
