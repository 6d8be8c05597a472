"""What servers are asked in `serve.py`: names of skills, and queries made of the words that skills
describe themselves with.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Kind = Literal["name", "word", "keywords", "sentence", "slip"]

SHARES: dict[Kind, int] = {"name": 15, "word": 10, "keywords": 40, "sentence": 25, "slip": 10}
"""Of a hundred queries: a skill's name in plain words, one word, a few, a whole sentence, and a few
with a slip of the finger."""
FRAMES = (
    "How do I {0}?",
    "please {0} for the whole team",
    "I want to {0}, can you help",
    "there is a skill to {0}, isn't there?",
    "{0} without breaking the build",
    "what's the best way to {0}",
)
FEW, MANY = (2, 3, 4, 5), (5, 6, 8, 10)
_WORD = re.compile(r"[a-z]{3,}")
_NAME = re.compile(r'"(?:name|id)": ?"([^"]+)"')
"""How both servers write which skills they found."""


class Described(NamedTuple):
    """A skill: its name, and the words of its description."""

    name: str
    words: tuple[str, ...]


class Query(NamedTuple):
    """A query, of what kind it is, and the skill that it was made of."""

    text: str
    kind: Kind
    name: str


def cards(root: Path) -> list[Described]:
    """Read names and descriptions off the files; those that the generator wrote over several lines
    count by their first.
    """
    found: list[Described] = []
    for name in sorted(os.listdir(root)):
        text = (root / name / "SKILL.md").read_bytes()[:4000].decode("utf-8", "replace")
        line = text.partition("\ndescription:")[2].partition("\n---")[0].partition("\nname:")[0]
        found.append(Described(name, tuple(_WORD.findall(line.lower()))[:60]))
    return found


def queries(cards: Sequence[Described], count: int, rng: random.Random) -> list[Query]:
    """Make so many queries, no two alike, of every kind as many as its share says."""
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    useful = [card for card in cards if len(card.words) >= max(MANY)] or list(cards)
    found: dict[str, Query] = {}
    while len(found) < count:
        kind, card = kinds[len(found) * 37 % len(kinds)], rng.choice(useful)
        text = _text(kind, card, rng)
        if text in found and kind == "word":  # there are fewer words than such queries
            text = f"{text} {rng.choice(card.words)}"
        found.setdefault(text, Query(text, kind, card.name))
    return list(found.values())


def fits(query: Query, answer: str, words: Mapping[str, frozenset[str]]) -> bool:
    """Tell whether one of the skills in an answer has a word of the query in its name or
    description.
    """
    wanted = set(_WORD.findall(query.text.lower()))
    return any(wanted & words.get(name, frozenset()) for name in _NAME.findall(answer))


def words_of(cards: Sequence[Described]) -> dict[str, frozenset[str]]:
    """Give the words of each skill's name and description."""
    return {card.name: frozenset((*card.words, *card.name.split("-"))) for card in cards}


def _text(kind: Kind, card: Described, rng: random.Random) -> str:
    if kind == "name":
        return card.name.replace("-", " ")
    if kind == "word":
        return rng.choice(card.words)
    if kind == "sentence":
        return rng.choice(FRAMES).format(_some(card, rng.choice(MANY), rng))
    words = _some(card, rng.choice(FEW), rng)
    return _slipped(words, rng) if kind == "slip" else words


def _some(card: Described, count: int, rng: random.Random) -> str:
    start = rng.randrange(max(len(card.words) - count, 1))
    return " ".join(card.words[start : start + count])


def _slipped(words: str, rng: random.Random) -> str:
    """Swap two letters somewhere."""
    at = rng.randrange(len(words) - 1)
    return words[:at] + words[at + 1] + words[at] + words[at + 2 :]
