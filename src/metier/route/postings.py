"""Lists of documents, coded so that numpy reads one in a single sweep. Pure.

A posting says that a document has a word, how often (one of eight steps) and whether also in a heading. The documents of a list
are gaps in a variable number of bytes; a list with more than an eighth of all documents is a row of bits. What goes with each
posting is half a byte, in a stream of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Numbers: TypeAlias = np.ndarray[Any, Any]

STEPS = np.array([1, 2, 3, 4, 6, 9, 14, 24], dtype=np.float32)
"""How often a word is said to stand in a text. BM25 levels off: more steps change nothing that can be measured."""
HEADED = 8
"""The bit for a word that stands in a heading as well."""
DENSE = 8
"""A list with more than one in so many documents is a row of bits."""
MOST_DOCUMENTS = 1 << 24
_DOCUMENT, _COLUMN, _TERM = 4, 28, 30
"""Where each part of a packed posting begins: half a byte, the document, the column, the term."""
_STEP_OF = np.searchsorted((STEPS[:-1] + STEPS[1:]) / 2, np.arange(256), side="right").astype(np.uint8)


class DamagedError(Exception):
    """What was read is not what was written."""


class Lists(NamedTuple):
    """Many lists, coded: their bytes, what goes with each posting, and of each list its term, column, size and bytes."""

    data: bytes
    halves: Numbers
    terms: Numbers
    columns: Numbers
    sizes: Numbers
    lengths: Numbers


def steps(counts: Numbers) -> Numbers:
    """Give the step of each count."""
    return _STEP_OF[np.minimum(counts, 255)]


def packed(terms: Numbers, column: int, documents: Numbers, halves: Numbers) -> Numbers:
    """Put each posting into one number; sorted, these are the lists of all terms and columns."""
    high = terms.astype(np.uint64) << np.uint64(_TERM) | np.uint64(column << _COLUMN)
    return high | documents.astype(np.uint64) << np.uint64(_DOCUMENT) | halves.astype(np.uint64)


def coded(postings: Numbers, count: int) -> Lists:
    """Code sorted postings over `count` documents."""
    lists = postings >> np.uint64(_COLUMN)
    starts = np.flatnonzero(np.concatenate(([True], lists[1:] != lists[:-1]))) if len(lists) else np.zeros(0, np.int64)
    sizes = np.diff(starts, append=len(lists))
    documents = (postings >> np.uint64(_DOCUMENT) & np.uint64(MOST_DOCUMENTS - 1)).astype(np.int64)
    gaps = np.diff(documents, prepend=-1) - 1
    gaps[starts] = documents[starts]
    dense = sizes * DENSE > count
    widths = 1 + (gaps >= 1 << 7) + (gaps >= 1 << 14) + (gaps >= 1 << 21)
    widths[np.repeat(dense, sizes)] = 0
    lengths = np.add.reduceat(widths, starts) if len(starts) else sizes
    lengths[dense] = -(-count // 8)
    ends = np.cumsum(lengths)
    out = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for one in np.flatnonzero(dense):
        bits = np.zeros(count, np.bool_)
        bits[documents[starts[one] : starts[one] + sizes[one]]] = True
        out[ends[one] - lengths[one] : ends[one]] = np.packbits(bits)
    _put_gaps(out, gaps, widths, np.repeat(ends - lengths - (np.cumsum(widths) - widths)[starts], sizes))
    halves = (postings & np.uint64(15)).astype(np.uint8)
    heads = lists[starts].astype(np.int64)
    return Lists(out.tobytes(), halves, heads >> 2, heads & 3, sizes, lengths)


def _put_gaps(out: Numbers, gaps: Numbers, widths: Numbers, shift: Numbers) -> None:
    """Write every gap where it belongs: seven bits to a byte, the high bit on all but the last."""
    places = np.cumsum(widths) - widths + shift
    for byte in range(4):
        here = widths > byte
        if not here.any():
            return
        more = (widths[here] > byte + 1).astype(np.uint8) << 7
        out[places[here] + byte] = (gaps[here] >> (7 * byte) & 127).astype(np.uint8) | more


def documents_of(data: Numbers, size: int, count: int) -> Numbers:
    """Read one list."""
    found = np.flatnonzero(np.unpackbits(data, count=count)) if size * DENSE > count else _summed(data)
    if len(found) != size or (size and found[-1] >= count):
        raise DamagedError
    return found


def _summed(data: Numbers) -> Numbers:
    """Read gaps from their bytes, and add them up to numbers of documents."""
    more = np.flatnonzero(data >= 128)
    if not len(more):
        return np.cumsum(data, dtype=np.int64) + np.arange(len(data))
    if more[-1] == len(data) - 1:
        raise DamagedError
    parts = (data & 127).astype(np.int64)
    shifted = more + 1  # the second byte of a gap counts 128 times, its third 128 times more
    for _byte in range(3):
        parts[shifted] <<= 7
        shifted = shifted[1:][shifted[1:] == shifted[:-1] + 1]
    sums = np.cumsum(parts)[data < 128]
    return sums + np.arange(len(sums))


def documents_of_many(data: Numbers, sizes: Numbers, lengths: Numbers, count: int) -> Numbers:
    """Read lists that lie one behind the other, as one array."""
    found = np.empty(int(sizes.sum()), np.int64)
    dense = sizes * DENSE > count
    ends, bytes_to = np.cumsum(sizes), np.cumsum(lengths)
    if len(data) != (bytes_to[-1] if len(sizes) else 0):
        raise DamagedError
    for one in np.flatnonzero(dense):
        part = data[bytes_to[one] - lengths[one] : bytes_to[one]]
        found[ends[one] - sizes[one] : ends[one]] = documents_of(part, int(sizes[one]), count)
    few = np.repeat(~dense, sizes)
    if few.any():
        to = _summed(data[np.repeat(~dense, lengths)])
        if len(to) != np.count_nonzero(few):
            raise DamagedError
        own = sizes[~dense & (sizes > 0)]
        before = np.concatenate(([0], to[np.cumsum(own) - 1][:-1] + 1))
        found[few] = to - np.repeat(before, own)
    if len(found) and found.max() >= count:
        raise DamagedError
    return found


def squeezed(halves: Numbers) -> bytes:
    """Put two halves into each byte."""
    even = np.zeros(len(halves) + 1 & ~1, np.uint8)
    even[: len(halves)] = halves
    return (even[0::2] | even[1::2] << 4).tobytes()


def halves_of(data: Numbers, start: int, size: int) -> Numbers:
    """Read what goes with `size` postings from the stream of halves."""
    piece = data[start >> 1 : start + size + 1 >> 1]
    both = np.empty(len(piece) * 2, np.uint8)
    both[0::2], both[1::2] = piece & 15, piece >> 4
    return both[start & 1 : (start & 1) + size]


class Few:
    """One list, read as a whole."""

    def __init__(self, documents: Numbers, halves: Numbers) -> None:
        """Take its documents in their order, and what goes with each."""
        self.documents, self.halves = documents, halves
        self.gains: tuple[Numbers, Numbers] | None = None
        """Its documents, and by how much the score of each grows, once somebody has worked it out."""
        if len(documents) != len(halves):
            raise DamagedError

    def at(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Tell of each document whether it is in the list, and what goes with it there."""
        if not len(self.documents):
            return np.zeros(len(numbers), np.bool_), np.zeros(len(numbers), np.uint8)
        places = np.minimum(np.searchsorted(self.documents, numbers), len(self.documents) - 1)
        return self.documents[places] == numbers, self.halves[places]


class Many:
    """One list with many documents, in which some can be looked up without reading all of it."""

    def __init__(self, bits: Numbers, halves: Numbers, start: int, size: int, count: int) -> None:
        """Take its bits, and the stream in which what goes with the first posting has the place `start`."""
        self._bits, self._stream, self._start, self._size, self._count = bits, halves, start, size, count
        self.gains: tuple[Numbers, Numbers] | None = None
        self._before = np.cumsum(np.bitwise_count(bits), dtype=np.int64)
        if len(bits) != -(-count // 8) or self._before[-1] != size or len(halves) * 2 < start + size:
            raise DamagedError

    @property
    def documents(self) -> Numbers:
        """Its documents in their order."""
        return documents_of(self._bits, self._size, self._count)

    @property
    def halves(self) -> Numbers:
        """What goes with each of them."""
        return halves_of(self._stream, self._start, self._size)

    def at(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Tell of each document whether it is in the list, and what goes with it there."""
        held, low = self._bits[numbers >> 3], (numbers & 7).astype(np.uint8)
        after = np.bitwise_count(held & (np.uint8(255) >> low))  # bits from this one to the end of its byte
        places = np.minimum(self._start + self._before[numbers >> 3] - after, self._start + self._size - 1)
        halves = self._stream[places >> 1] >> (places & 1).astype(np.uint8) * np.uint8(4) & np.uint8(15)
        return (held >> (7 - low) & 1).astype(np.bool_), halves


def list_of(data: Numbers, stream: Numbers, start: int, size: int, count: int) -> Few | Many:
    """Give one list from its bytes, and the stream in which what goes with the first posting has the place `start`."""
    if size * DENSE > count:
        return Many(data, stream, start, size, count)
    return Few(documents_of(data, size, count), halves_of(stream, start, size))
