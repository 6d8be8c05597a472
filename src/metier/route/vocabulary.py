"""All words of a segment, sorted, in small compressed blocks: a word is found by bisection and one block is read. Pure."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.route.postings import DamagedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.route.postings import Numbers

COLUMNS = 4
"""Fields with lists of their own."""
WIDTH = 2 * COLUMNS + 1
"""Of each word: the size of each list, the bytes of each list, and in how many documents it stands in a heading."""
BLOCK = 64
"""Words in a block."""
REMEMBERED = 256
"""Blocks that stay read: a few words are in every query."""
_NUMBER = 4
_WORDS, _PLACES = "<u4", "<u8"


class Strings:
    """Many pieces of bytes in one buffer, each found by its number."""

    def __init__(self, data: memoryview) -> None:
        """Read from what `pieces` made."""
        self.count = int.from_bytes(data[:_NUMBER], "little")
        start = _NUMBER + self.count * _NUMBER
        if len(data) < start:
            raise DamagedError
        self.ends: Numbers = np.frombuffer(data[_NUMBER:start], _WORDS)
        self.data = data[start:]
        if (self.ends[-1] if self.count else 0) != len(self.data):
            raise DamagedError

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
        data, ends = bytes(self.data), self.ends.tolist()
        return [data[begin:end] for begin, end in zip((0, *ends), ends, strict=False)]


def pieces(parts: Sequence[bytes]) -> bytes:
    """Put many pieces of bytes into one."""
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64).astype(_WORDS)
    return b"".join([len(parts).to_bytes(_NUMBER, "little"), ends.tobytes(), *parts])


class Row(NamedTuple):
    """Where the lists of a word lie: of each column the number of postings, its bytes and where they and their halves begin."""

    sizes: tuple[int, ...]
    lengths: tuple[int, ...]
    data: tuple[int, ...]
    halves: tuple[int, ...]
    headed: int


class Stretch(NamedTuple):
    """A stretch of the vocabulary: its words, a row of numbers for each, and where their lists begin."""

    words: list[bytes]
    rows: Numbers
    data: int
    halves: int


class Written:
    """A vocabulary that is being written, word by word in their order."""

    def __init__(self) -> None:
        """Begin with no words."""
        self.blocks: list[bytes] = []
        self.firsts: list[bytes] = []
        self.bases: list[tuple[int, int]] = []
        self.data = self.halves = 0

    def add(self, words: list[bytes], rows: Numbers) -> None:
        """Add words that come after all others, each with its row."""
        for start in range(0, len(words), BLOCK):
            some, numbers = words[start : start + BLOCK], rows[start : start + BLOCK]
            self.blocks.append(zlib.compress(_rows_as_bytes(numbers) + b"\n".join(some), 9))
            self.firsts.append(some[0])
            self.bases.append((self.data, self.halves))
            self.data += int(numbers[:, COLUMNS : 2 * COLUMNS].sum())
            self.halves += int(numbers[:, :COLUMNS].sum())

    def parts(self) -> tuple[bytes, bytes, bytes]:
        """Give the blocks, their first words, and where the lists of each begin."""
        return pieces(self.blocks), pieces(self.firsts), np.array(self.bases, _PLACES).reshape(-1, 2).tobytes()


def _rows_as_bytes(rows: Numbers) -> bytes:
    """Lay out the numbers of a block byte by byte, column by column: most are small and nearly all high bytes are nothing."""
    planes = np.ascontiguousarray(rows.T.astype(_WORDS)).view(np.uint8).reshape(-1, _NUMBER)
    return bytes([len(rows) - 1]) + np.ascontiguousarray(planes.T).tobytes()


def _rows_of(data: bytes) -> tuple[Numbers, bytes]:
    count = data[0] + 1
    end = 1 + count * WIDTH * _NUMBER
    if len(data) < end:
        raise DamagedError
    planes = np.frombuffer(data[1:end], np.uint8).reshape(_NUMBER, -1)
    return np.ascontiguousarray(planes.T).view(_WORDS).reshape(WIDTH, count).T.astype(np.int64), data[end:]


def bases_of(data: bytes | memoryview) -> Numbers:
    """Give where the lists of each block begin, and their halves."""
    return np.frombuffer(data, _PLACES).reshape(-1, 2)


class Vocabulary:
    """A vocabulary as it lies in a buffer."""

    def __init__(self, blocks: memoryview, firsts: memoryview, bases: memoryview) -> None:
        """Read from what `Written` gave."""
        self.blocks, self.firsts = Strings(blocks), Strings(firsts)
        if not 16 * len(self.blocks) == 16 * len(self.firsts) == len(bases):
            raise DamagedError
        self.bases = bases_of(bases)
        self._firsts: list[bytes] = []
        self._read: dict[int, Stretch] = {}
        self.check: Callable[[int], None] | None = None
        """Told of each block before it is read."""

    def find(self, word: bytes) -> Row | None:
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
        row = found.rows[at]
        sizes, lengths = row[:COLUMNS], row[COLUMNS : 2 * COLUMNS]
        data = found.data + int(found.rows[:at, COLUMNS : 2 * COLUMNS].sum()) + np.cumsum(lengths) - lengths
        halves = found.halves + int(found.rows[:at, :COLUMNS].sum()) + np.cumsum(sizes) - sizes
        return Row(tuple(sizes.tolist()), tuple(lengths.tolist()), tuple(data.tolist()), tuple(halves.tolist()), int(row[-1]))

    def between(self, low: bytes, high: bytes | None) -> Stretch:
        """Give the words from `low` up to `high`, which is not one of them; without it, up to the end."""
        first = max(bisect_right(self.firsts, low) - 1, 0)
        after = len(self.blocks) if high is None else bisect_left(self.firsts, high)
        some = [self._block(number) for number in range(first, after)]
        if not some:
            return Stretch([], np.zeros((0, WIDTH), np.int64), 0, 0)
        words = [word for one in some for word in one.words]
        rows = np.concatenate([one.rows for one in some])
        start = bisect_left(words, low)
        stop = len(words) if high is None else bisect_left(words, high)
        skipped = rows[:start]
        data = some[0].data + int(skipped[:, COLUMNS : 2 * COLUMNS].sum())
        return Stretch(words[start:stop], rows[start:stop], data, some[0].halves + int(skipped[:, :COLUMNS].sum()))

    def _block(self, number: int) -> Stretch:
        found = self._read.get(number)
        if found is None:
            if self.check is not None:
                self.check(number)
            try:
                rows, words = _rows_of(zlib.decompress(self.blocks[number]))
            except zlib.error:
                raise DamagedError from None
            split = words.split(b"\n")
            if len(split) != len(rows):
                raise DamagedError
            found = Stretch(split, rows, *self.bases[number].tolist())
            if len(self._read) >= REMEMBERED:
                self._read.clear()
            self._read[number] = found
        return found
