"""The words of skills' names as they are written, and which documents have each: what a word typed wrongly is compared with. Pure.

An index knows words by their stems alone, and a slip in an ending makes another stem. Which documents have a word is kept because
the name of a skill that is gone must not stand before that of one that is there.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.route.postings import DamagedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.route.postings import Numbers

_WIDTH = 4
_NUL = b"\0"


class Names(NamedTuple):
    """Words in their order, how many documents have each, and the documents of one after those of the other."""

    words: list[bytes]
    sizes: Numbers
    documents: Numbers


def names_of(documents: Sequence[Iterable[str]]) -> Names:
    """Take the words of the name of each document."""
    pairs = [(word.encode("utf-8", "replace"), number) for number, words in enumerate(documents) for word in set(words)]
    words = sorted({word for word, _number in pairs})
    places = {word: place for place, word in enumerate(words)}
    found: Numbers = np.array([(places[word], number) for word, number in pairs], np.int64).reshape(-1, 2)
    return _sorted(words, found[:, 0], found[:, 1])


def merged(parts: Sequence[tuple[Names, Numbers]]) -> Names:
    """Put names together, each with the new numbers of its documents; one below zero is gone."""
    words = sorted(set().union(*(names.words for names, _numbers in parts)))
    places = {word: place for place, word in enumerate(words)}
    none = np.zeros(0, np.int64)
    terms = np.concatenate([none, *(np.repeat([places[word] for word in names.words], names.sizes) for names, _numbers in parts)])
    documents = np.concatenate([none, *(numbers[names.documents] for names, numbers in parts)])
    there = documents >= 0
    return _sorted(words, terms[there].astype(np.int64), documents[there])


def _sorted(words: list[bytes], terms: Numbers, documents: Numbers) -> Names:
    sizes = np.bincount(terms, minlength=len(words))
    used = np.flatnonzero(sizes)
    return Names([words[place] for place in used.tolist()], sizes[used], documents[np.lexsort((documents, terms))])


def standing(names: Names, live: Numbers | None) -> list[str]:
    """Give the words that a document has which is still there."""
    words = names.words
    if live is not None and words:
        left = np.add.reduceat(live[names.documents].astype(np.int64), np.cumsum(names.sizes) - names.sizes)
        words = [words[place] for place in np.flatnonzero(left).tolist()]
    return [word.decode("utf-8", "replace") for word in words]


def coded(names: Names) -> bytes:
    """Put names into bytes; the bytes of all numbers that count least come first, which makes them a third shorter."""
    numbers = np.concatenate((names.sizes, names.documents)).astype("<u4")
    return zlib.compress(b"\n".join(names.words) + _NUL + numbers.view(np.uint8).reshape(-1, _WIDTH).T.tobytes())


def read(data: bytes | memoryview, count: int) -> Names:
    """Read names of so many documents; whatever is not right about them is a `DamagedError`."""
    try:
        text, _nul, numbers = zlib.decompress(data).partition(_NUL)
    except zlib.error:
        raise DamagedError from None
    words = text.split()
    if len(numbers) % _WIDTH or len(numbers) < _WIDTH * len(words):
        raise DamagedError
    planes = np.frombuffer(numbers, np.uint8).reshape(_WIDTH, -1)
    found: Numbers = np.ascontiguousarray(planes.T).view("<u4").ravel().astype(np.int64)
    sizes, documents = found[: len(words)], found[len(words) :]
    if sizes.sum() != len(documents) or (sizes < 1).any() or (documents >= count).any():
        raise DamagedError
    return Names(words, sizes, documents)
