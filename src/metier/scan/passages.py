"""Passages: a text as overlapping windows of forty words, each with the features that the learned weights speak of.

A feature is a word, two or three words in a row, or two concepts in one sentence, hashed to a place in one table of weights.
Every feature belongs to one word, so the weight of any window is the difference of two sums, and a text costs one pass however
many windows it has.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, islice
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from metier.scan.concepts import Sentence

BITS = 18
WINDOW = 40
STRIDE = 20
MOST_WORDS = 60_000
"""Words of one text that are weighed: at most some 400 kB of prose."""
PAIR_WORDS = 12
"""How far apart two concepts of one sentence still form a pair."""

_MASK = (1 << BITS) - 1
_TWO, _THREE = 0x9E3779B1, 0x85EBCA6B
_WORD = re.compile(r"\S+")
_AROUND = ".,;:!?()[]{}\"'*_<>|`#-\u2019\u201c\u201d"


class Passages(NamedTuple):
    """The words of a text and the features that belong to each."""

    starts: list[int]
    """Where each word begins."""
    features: list[tuple[int, ...]]
    end: int


class _Words(dict[str, int]):
    """Hashes of words as they stand in texts, worked out once: without what stands around them, numbers alike, addresses alike."""

    def __missing__(self, word: str) -> int:
        bare = word.strip(_AROUND).lower()[:60]
        if bare.startswith("http"):
            bare = "url"
        elif bare.isdigit():
            bare = "0"
        if len(self) >= MOST_HASHES:
            self.clear()
        self[word] = found = crc32((bare or word[:8]).encode("utf-8", "surrogatepass"))
        return found


class _Concepts(dict[tuple[str, str], int]):
    """Places of concepts and pairs of them: there are only so many."""

    def __missing__(self, pair: tuple[str, str]) -> int:
        self[pair] = found = crc32(">".join(pair).encode()) & _MASK
        return found


MOST_HASHES = 1 << 15
"""Words whose hashes are kept between texts."""
_WORDS, _CONCEPTS = _Words(), _Concepts()


def exceeds(text: str) -> bool:
    """Tell whether a text has more words than are weighed."""
    return len(text) > MOST_WORDS and len(text.split()) > MOST_WORDS


def passages(text: str, cut: Iterable[Sentence]) -> Passages:
    """Read a normalised text into words, each with its features."""
    starts, codes = _read(text)
    features: list[tuple[int, ...]] = [
        (one & _MASK, (two * _TWO ^ one) >> 3 & _MASK, (three * _THREE ^ two * _TWO ^ one) >> 5 & _MASK)
        for one, two, three in zip(codes, [0, *codes], [0, 0, *codes], strict=False)
    ]
    for at, more in _concepts(starts, cut):
        features[at] += more
    return Passages(starts, features, len(text))


def _read(text: str) -> tuple[list[int], list[int]]:
    starts = [match.start() for match in islice(_WORD.finditer(text), MOST_WORDS)]
    return starts, list(map(_WORDS.__getitem__, text.split()[: len(starts)]))


def _concepts(starts: list[int], cut: Iterable[Sentence]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Give the features that a sentence's concepts and pairs of them add, each once, at the sentence's first word."""
    for sentence in cut if starts else ():
        mentions = sentence.mentions
        found: set[tuple[str, str]] = set()
        for number, (concept, at, *_place) in enumerate(mentions):
            found.add(("", concept))
            for other, before, *_elsewhere in mentions[max(0, number - PAIR_WORDS) : number]:
                if at - before <= PAIR_WORDS and other != concept:
                    found.add((other, concept))
        yield max(0, bisect_right(starts, sentence.start) - 1), tuple(sorted(map(_CONCEPTS.__getitem__, found)))


def windows(count: int) -> Iterable[tuple[int, int]]:
    """Give the windows over so many words."""
    for start in range(0, max(1, count - STRIDE), STRIDE):
        yield start, min(count, start + WINDOW)


def strongest(text: str, cut: Iterable[Sentence], weights: Sequence[int]) -> tuple[int, int, int]:
    """Give the weight of the strongest window and the characters it spans.

    The same features as `passages` gives, weighed as they come: nothing is kept of a word but its place and its weight.
    """
    starts, codes = _read(text)
    if not starts:
        return 0, 0, 0
    own = [
        weights[one & _MASK] + weights[(two * _TWO ^ one) >> 3 & _MASK] + weights[(three * _THREE ^ two * _TWO ^ one) >> 5 & _MASK]
        for one, two, three in zip(codes, [0, *codes], [0, 0, *codes], strict=False)
    ]
    for at, features in _concepts(starts, cut):
        own[at] += sum(map(weights.__getitem__, features))
    sums = [0, *accumulate(own)]
    count = len(starts)
    best, start, end = max((sums[end] - sums[start], -start, end) for start, end in windows(count))
    return best, starts[-start], starts[end] if end < count else len(text)
