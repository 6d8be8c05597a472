"""Which skills say nearly the same: names and descriptions as sets of words and word pairs, compared by their overlap. Pure.

Only pairs that share a band of their signatures are compared (minhash and locality-sensitive hashing), and of each band's
group only each with a few before it, so the work grows with the number of skills and not with its square. One hash serves
a whole signature: it falls into one of the places by its first bits, and the least of each place is kept; an empty place
takes what the next one to its right holds.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

try:
    from _blake2 import blake2b  # the same on every machine, unlike Python's own hash
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

LEAST = 0.6
"""From which overlap on two skills are alike: the share of words and pairs that they have in common."""
WORDS = 200
"""Words of a description that count."""
BANDS, ROWS = 24, 3
"""At an overlap of 0.6 all but 3 in 1,000 pairs share one of 24 bands of 3 places."""
NEIGHBOURS = 8
"""With how many before it in its group a skill is compared: of many that are all alike, each is named with some."""
MOST_CHARACTERS = 4_096
STEP = 500
"""After how many descriptions it is told how far the work has come."""

_WORD = re.compile(r"[0-9a-z\u00df-\u052f]+|[^\W_]")
"""A word of an alphabet, or one character of a script that does not part words."""
_PLACES = BANDS * ROWS
_BYTES = 7
"""Of a hash: enough that hardly two words share one, and few enough that Python counts with them fast."""
_EMPTY = 1 << 8 * _BYTES


class Alike(NamedTuple):
    """Two skills that say nearly the same."""

    first: str
    second: str
    first_path: str
    second_path: str
    similarity: float
    """From 0 to 1: the share of words and word pairs that both have, of all that either has."""


def alike(
    skills: Iterable[tuple[str, str, str]], least: float = LEAST, told: Callable[[int], None] = lambda _count: None
) -> list[Alike]:
    """Find the pairs among (path, name, description) that are alike, the closest first; `told` learns how far it has come."""
    ordered = sorted(set(skills))
    sets: list[frozenset[int]] = []
    found: dict[tuple[int, int], float] = {}
    for one, other in _candidates(_read(ordered, sets, told)):
        if (one, other) not in found:
            found[one, other] = _overlap(sets[one], sets[other])
    pairs = [
        Alike(ordered[one][1], ordered[other][1], ordered[one][0], ordered[other][0], round(share, 3))
        for (one, other), share in found.items()
        if share >= least
    ]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first_path, pair.second_path))


def _read(
    ordered: Sequence[tuple[str, str, str]], sets: list[frozenset[int]], told: Callable[[int], None]
) -> Iterable[frozenset[int]]:
    """Give the words of each skill as a set, and keep it."""
    known: dict[str, int] = {}
    for at, (_path, name, description) in enumerate(ordered):
        if at % STEP == 0:
            told(at)
        sets.append(_shingles(f"{name} {description}", known))
        yield sets[-1]


def _candidates(sets: Iterable[frozenset[int]]) -> Iterable[tuple[int, int]]:
    """Give pairs worth comparing, the lower number first."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for at, shingles in enumerate(sets):
        if not shingles:
            continue
        places = _signature(shingles)
        for band in range(BANDS):
            key = (band, *places[band * ROWS : band * ROWS + ROWS])
            group = groups.setdefault(key, [])
            for other in group[-NEIGHBOURS:]:
                yield other, at
            group.append(at)


def _signature(shingles: Iterable[int]) -> list[int]:
    places = [_EMPTY] * _PLACES
    for value in sorted(shingles, reverse=True):  # the least comes last, and stays
        places[value % _PLACES] = value
    # Twice round, so that what stands at the beginning reaches the empty places at the end.
    last = _EMPTY
    for at in range(2 * _PLACES - 1, -1, -1):
        if places[at % _PLACES] == _EMPTY:
            places[at % _PLACES] = last
        last = places[at % _PLACES]
    return places


def _shingles(text: str, known: dict[str, int]) -> frozenset[int]:
    """Give the hashes of the words of a text and of each two that stand together."""
    words = [_hash(word, known) for word in _WORD.findall(text[:MOST_CHARACTERS].casefold())[:WORDS]]
    # A pair's hash is made of its words' hashes: a library has many pairs and few words, and hashing is what costs.
    return frozenset((*words, *((5 * one + other) % _EMPTY for one, other in pairwise(words))))


def _hash(word: str, known: dict[str, int]) -> int:
    value = known.get(word)
    if value is None:
        value = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest(), "big")
        known[word] = value
    return value


def _overlap(one: frozenset[int], other: frozenset[int]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
