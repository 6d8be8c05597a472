"""Stores the words of an index segment: the sorted vocabulary, and the words of skills' names as
they are written. Pure.

The vocabulary lies in small compressed blocks: a word is found by bisection, and one block is read.
The names are what a mistyped word is compared with: an index knows words by their stems alone, and
a slip in an ending makes another stem. Which documents have a name's word is kept because the name
of a skill that is gone must not stand before that of one that is there.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.find.index.postings import DamagedIndexError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.find.index.postings import Numbers


LIST_COLUMNS = 4
"""Fields with lists of their own."""
ROW_NUMBERS = 2 * LIST_COLUMNS + 1
"""Of each word: the size of each list, the bytes of each list, and in how many documents it stands
in a heading."""
WORDS_PER_BLOCK = 64
"""Words in a block."""
MAX_CACHED_BLOCKS = 256
"""Blocks that stay read: a few words are in every query."""
_NUMBER = 4
_WORDS = "<u4"
_PLACES = "<u8"


class Strings:
    """Many pieces of bytes in one buffer, each found by its number."""

    def __init__(self, data: memoryview) -> None:
        """Read from what `pieces` made."""
        self.count = int.from_bytes(data[:_NUMBER], "little")
        start = _NUMBER + self.count * _NUMBER
        if len(data) < start:
            raise DamagedIndexError
        self.ends: Numbers = np.frombuffer(data[_NUMBER:start], _WORDS)
        self.data = data[start:]
        if (self.ends[-1] if self.count else 0) != len(self.data):
            raise DamagedIndexError

    def __len__(self) -> int:
        """Tell how many there are."""
        return self.count

    def __getitem__(self, number: int) -> bytes:
        """Give one."""
        if not 0 <= number < self.count:
            raise IndexError(number)
        return bytes(self.data[self.ends[number - 1] if number else 0 : self.ends[number]])

    def all(self) -> list[bytes]:
        """Give all of them."""
        data = bytes(self.data)
        return [data[begin:end] for begin, end in pairwise([0, *self.ends.tolist()])]


def join_strings(parts: Sequence[bytes]) -> bytes:
    """Put many pieces of bytes into one."""
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64).astype(_WORDS)
    return b"".join([len(parts).to_bytes(_NUMBER, "little"), ends.tobytes(), *parts])


class WordRow(NamedTuple):
    """Where the lists of a word lie: of each column the number of postings, its bytes and where
    they and their halves begin.
    """

    sizes: Numbers
    lengths: Numbers
    data: Numbers
    halves: Numbers


class WordRange(NamedTuple):
    """A stretch of the vocabulary: its words, a row of numbers for each, and where their lists
    begin.
    """

    words: list[bytes]
    rows: Numbers
    data: int
    halves: int


class VocabularyWriter:
    """A vocabulary that is being written, word by word in their order."""

    def __init__(self) -> None:
        """Begin with no words."""
        self.blocks: list[bytes] = []
        self.firsts: list[bytes] = []
        self.bases: list[tuple[int, int]] = []
        self.data = self.halves = 0

    def add(self, words: list[bytes], rows: Numbers) -> None:
        """Add words that come after all others, each with its row."""
        for start in range(0, len(words), WORDS_PER_BLOCK):
            block = slice(start, start + WORDS_PER_BLOCK)
            some = words[block]
            numbers = rows[block]
            self.blocks.append(zlib.compress(_rows_as_bytes(numbers) + b"\n".join(some), 9))
            self.firsts.append(some[0])
            self.bases.append((self.data, self.halves))
            data, halves = _space(numbers)
            self.data += data
            self.halves += halves

    def parts(self) -> tuple[bytes, bytes, bytes]:
        """Give the blocks, their first words, and where the lists of each begin."""
        return (
            join_strings(self.blocks),
            join_strings(self.firsts),
            np.array(self.bases, _PLACES).reshape(-1, 2).tobytes(),
        )


def _space(rows: Numbers) -> tuple[int, int]:
    """Tell how many bytes the lists of some words take up, and how many halves."""
    return int(rows[:, LIST_COLUMNS:-1].sum()), int(rows[:, :LIST_COLUMNS].sum())


def _rows_as_bytes(rows: Numbers) -> bytes:
    """Lay out the numbers of a block byte by byte, column by column: most are small and nearly all
    high bytes are nothing.
    """
    return bytes([len(rows) - 1]) + _planes(rows.T)


def _planes(numbers: Numbers) -> bytes:
    """Put all bytes first that count least, then those that count more: so they are compressed
    best.
    """
    flat = np.ascontiguousarray(numbers.astype(_WORDS)).view(np.uint8)
    return flat.reshape(-1, _NUMBER).T.tobytes()


def _from_planes(data: bytes) -> Numbers:
    planes = np.frombuffer(data, np.uint8).reshape(_NUMBER, -1)
    return np.ascontiguousarray(planes.T).view(_WORDS).ravel().astype(np.int64)


def _rows_of(data: bytes) -> tuple[Numbers, bytes]:
    count = data[0] + 1
    end = 1 + count * ROW_NUMBERS * _NUMBER
    if len(data) < end:
        raise DamagedIndexError
    return _from_planes(data[1:end]).reshape(ROW_NUMBERS, count).T, data[end:]


def bases_of(data: bytes | memoryview) -> Numbers:
    """Give where the lists of each block begin, and their halves."""
    return np.frombuffer(data, _PLACES).reshape(-1, 2)


class Vocabulary:
    """A vocabulary as it lies in a buffer."""

    def __init__(self, blocks: memoryview, firsts: memoryview, bases: memoryview) -> None:
        """Read from what `Written` gave."""
        self.blocks, self.firsts = Strings(blocks), Strings(firsts)
        if not 16 * len(self.blocks) == 16 * len(self.firsts) == len(bases):
            raise DamagedIndexError
        self.bases = bases_of(bases)
        self._firsts: list[bytes] = []
        self._read: dict[int, WordRange] = {}
        self.check: Callable[[int], None] | None = None
        """Told of each block before it is read."""

    def find(self, word: bytes) -> WordRow | None:
        """Give the row of a word."""
        if not self._firsts:
            self._firsts = self.firsts.all()  # bisecting a list takes a twentieth of the time
        block = bisect_right(self._firsts, word) - 1
        if block < 0:
            return None
        found = self._block(block)
        at = bisect_left(found.words, word)
        if at == len(found.words) or found.words[at] != word:
            return None
        sizes = found.rows[at, :LIST_COLUMNS]
        lengths = found.rows[at, LIST_COLUMNS:-1]
        data, halves = _space(found.rows[:at])
        return WordRow(
            sizes,
            lengths,
            found.data + data + np.cumsum(lengths) - lengths,
            found.halves + halves + np.cumsum(sizes) - sizes,
        )

    def between(self, low: bytes, high: bytes | None) -> WordRange:
        """Give the words from `low` up to `high`, which is not one of them; without it, up to the
        end.
        """
        first = max(bisect_right(self.firsts, low) - 1, 0)
        after = len(self.blocks) if high is None else bisect_left(self.firsts, high)
        some = [self._block(number) for number in range(first, after)]
        if not some:
            return WordRange([], np.zeros((0, ROW_NUMBERS), np.int64), 0, 0)
        words = [word for one in some for word in one.words]
        rows = np.concatenate([one.rows for one in some])
        start = bisect_left(words, low)
        stop = len(words) if high is None else bisect_left(words, high)
        data, halves = _space(rows[:start])
        return WordRange(
            words[start:stop], rows[start:stop], some[0].data + data, some[0].halves + halves
        )

    def _block(self, number: int) -> WordRange:
        found = self._read.get(number)
        if found is None:
            if self.check is not None:
                self.check(number)
            try:
                rows, words = _rows_of(zlib.decompress(self.blocks[number]))
            except zlib.error:
                raise DamagedIndexError from None
            split = words.split(b"\n")
            if len(split) != len(rows):
                raise DamagedIndexError
            found = WordRange(split, rows, *self.bases[number].tolist())
            if len(self._read) >= MAX_CACHED_BLOCKS:
                self._read.clear()
            self._read[number] = found
        return found


# --- the words of skills' names

_NUL = b"\0"


class Names(NamedTuple):
    """Words in their order, how many documents have each, and the documents of one after those of
    the other.
    """

    words: list[bytes]
    sizes: Numbers
    documents: Numbers


def names_of(documents: Sequence[Iterable[str]]) -> Names:
    """Take the words of the name of each document."""
    found: dict[bytes, list[int]] = {}
    for number, words in enumerate(documents):
        for word in set(words):
            found.setdefault(word.encode("utf-8", "replace"), []).append(number)
    return _sorted(found)


def merge_names(parts: Sequence[tuple[Names, Numbers]]) -> Names:
    """Put names together, each with the new numbers of its documents; one below zero is gone."""
    found: dict[bytes, list[int]] = {}
    for names, numbers in parts:
        new = numbers[names.documents].tolist()
        end = 0
        for word, size in zip(names.words, names.sizes.tolist(), strict=True):
            start = end
            end = end + size
            found.setdefault(word, []).extend(number for number in new[start:end] if number >= 0)
    return _sorted(found)


def _sorted(found: Mapping[bytes, list[int]]) -> Names:
    words = sorted(word for word, documents in found.items() if documents)
    return Names(
        words,
        np.array([len(found[word]) for word in words], np.int64),
        np.array([number for word in words for number in sorted(found[word])], np.int64),
    )


def live_words(names: Names, live: Numbers) -> list[str]:
    """Give the words that a document has which is still there."""
    if not names.words:
        return []
    starts = np.cumsum(names.sizes) - names.sizes
    left = np.add.reduceat(live[names.documents].astype(np.int64), starts)
    return [names.words[place].decode("utf-8", "replace") for place in np.flatnonzero(left)]


def names_as_bytes(names: Names) -> bytes:
    """Put names into bytes."""
    numbers = np.concatenate((names.sizes, names.documents))
    return zlib.compress(b"\n".join(names.words) + _NUL + _planes(numbers))


def read_names(data: bytes | memoryview, count: int) -> Names:
    """Read names of so many documents; whatever is not right about them is a `DamagedError`."""
    try:
        text, _nul, numbers = zlib.decompress(data).partition(_NUL)
    except zlib.error:
        raise DamagedIndexError from None
    words = text.split()
    if len(numbers) % _NUMBER or len(numbers) < _NUMBER * len(words):
        raise DamagedIndexError
    found = _from_planes(numbers)
    sizes = found[: len(words)]
    documents = found[len(words) :]
    if sizes.sum() != len(documents) or (sizes < 1).any() or (documents >= count).any():
        raise DamagedIndexError
    return Names(words, sizes, documents)
