"""Passages: a text as overlapping windows of forty words, each with the features that the learned weights speak of.

A feature is a word, two or three neighbouring words, or two concepts in one sentence, hashed to a place in one table of
weights. Every feature belongs to one place of the text, so the weight of any window is the difference of two sums, and a
text costs one pass however many windows it has.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.scan.concepts import Sentence

BITS = 18
WINDOW = 40
STRIDE = 20
MOST_WORDS = 60_000
"""Words of one text that are weighed: at most some 400 kB of prose."""
PAIR_WORDS = 12
"""How far apart two concepts of one sentence still form a pair."""

_MASK = (1 << BITS) - 1
_WORD = re.compile(r"https?://[^\s)\]>\"'`]{1,300}|[~./$]?[A-Za-z_][A-Za-z0-9_]*(?:['-][A-Za-z]+){0,6}|\d+|[|&><;${}()]|[^\x00-\x7f]")


class Passages(NamedTuple):
    """The words of a text and the features that belong to each."""

    starts: list[int]
    """Where each word begins."""
    features: list[tuple[int, ...]]
    end: int


@lru_cache(maxsize=1 << 15)
def _hashed(word: str) -> int:
    if word.startswith("http"):
        word = "url"
    elif word.isdigit():
        word = "0"
    return crc32(word.lower().encode("utf-8", "surrogatepass"))


def passages(text: str, cut: Iterable[Sentence]) -> Passages:
    """Read a normalised text into words, each with its features."""
    starts: list[int] = []
    features: list[tuple[int, ...]] = []
    two = one = 0
    for match in _WORD.finditer(text):
        word = _hashed(match.group())
        pair = (one * 0x9E3779B1 ^ word) & 0xFFFFFFFF
        starts.append(match.start())
        features.append((
            word & _MASK,
            pair >> 3 & _MASK,
            ((two * 0x85EBCA6B ^ pair) & 0xFFFFFFFF) >> 5 & _MASK,
            ((two * 0xC2B2AE35 ^ word) & 0xFFFFFFFF) >> 7 & _MASK,
        ))  # fmt: skip
        two, one = one, word
        if len(starts) >= MOST_WORDS:
            break
    _add_concepts(starts, features, cut)
    return Passages(starts, features, len(text))


def exceeds(text: str) -> bool:
    """Tell whether a text has more words than are weighed."""
    return len(text) > MOST_WORDS and any(at == MOST_WORDS for at, _word in enumerate(_WORD.finditer(text)))


def _add_concepts(starts: list[int], features: list[tuple[int, ...]], cut: Iterable[Sentence]) -> None:
    at, last = 0, len(starts) - 1
    for sentence in cut:
        mentions = sentence.mentions
        for number, mention in enumerate(mentions):
            while at < last and starts[at + 1] <= mention.start:
                at += 1
            found = {_hashed(f"={mention.concept}") & _MASK}
            for other in mentions[max(0, number - PAIR_WORDS) : number]:
                if mention.at - other.at <= PAIR_WORDS and other.concept != mention.concept:
                    found.add(_hashed(f"{other.concept}>{mention.concept}") & _MASK)
            if last >= 0:
                features[at] += tuple(sorted(found))


def windows(count: int) -> Iterable[tuple[int, int]]:
    """Give the windows over so many words."""
    for start in range(0, max(1, count - STRIDE), STRIDE):
        yield start, min(count, start + WINDOW)


def strongest(found: Passages, weights: Sequence[int]) -> tuple[int, int, int]:
    """Give the weight of the strongest window and the characters it spans."""
    sums = [0]
    total = 0
    for features in found.features:
        for feature in features:
            total += weights[feature]
        sums.append(total)
    count = len(found.starts)
    if not count:
        return 0, 0, 0
    best, start, end = max(((sums[end] - sums[start]), -start, end) for start, end in windows(count))
    start = -start
    return best, found.starts[start], found.starts[end] if end < count else found.end
