"""Lists of documents, coded so that numpy reads one in a single sweep. Pure.

A posting says that a document has a word, how often (one of eight steps) and whether also in a
heading. The documents of a list are gaps in a variable number of bytes; a list with more than an
eighth of all documents is a row of bits. What goes with each posting is half a byte, in a stream of
its own.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from struct import Struct
    from typing import Any, TypeAlias

    Numbers: TypeAlias = np.ndarray[Any, Any]

COUNT_STEPS = np.array([1, 2, 3, 4, 6, 9, 14, 24], dtype=np.float32)
"""How often a word is said to stand in a text. BM25 levels off: more steps change nothing that can
be measured."""
IN_HEADING = 8
"""The bit for a word that stands in a heading as well."""
DENSE_SHARE = 8
"""A list with more than one in so many documents is a row of bits."""
MAX_DOCUMENTS = 1 << 24
_DOCUMENT = 4
_COLUMN = 28
_TERM = 30
"""Where each part of a packed posting begins: half a byte, the document, the column, the term."""
_STEP_OF = np.searchsorted(
    (COUNT_STEPS[:-1] + COUNT_STEPS[1:]) / 2, np.arange(256), side="right"
).astype(np.uint8)


_CHECK_BYTES = 4


class DamagedIndexError(Exception):
    """What was read is not what was written."""


def sealed_head(head: Struct, *values: object) -> bytes:
    """Pack a header, whose last number is a checksum of all before it."""
    data = head.pack(*values, 0)[:-_CHECK_BYTES]
    return data + zlib.crc32(data).to_bytes(_CHECK_BYTES, "little")


def read_head(head: Struct, data: memoryview) -> list[Any]:
    """Give the values of a header, if it is what was written."""
    if len(data) < head.size:
        raise DamagedIndexError
    *values, check = head.unpack(data[: head.size])
    if check != zlib.crc32(data[: head.size - _CHECK_BYTES]):
        raise DamagedIndexError
    return values


class CodedLists(NamedTuple):
    """Many lists, coded: their bytes, what goes with each posting, and of each list its term,
    column, size and bytes.
    """

    data: bytes
    halves: Numbers
    terms: Numbers
    columns: Numbers
    sizes: Numbers
    lengths: Numbers


def steps(counts: Numbers) -> Numbers:
    """Give the step of each count."""
    return _STEP_OF[np.minimum(counts, 255)]


def packed(
    terms: Numbers, columns: Numbers | int, documents: Numbers | int, halves: Numbers
) -> Numbers:
    """Put each posting into one number; sorted, these are the lists of all terms and columns."""
    high = terms << _TERM | columns << _COLUMN
    return (high | documents << _DOCUMENT | halves).astype(np.uint64)


def code_lists(postings: Numbers, count: int) -> CodedLists:
    """Code sorted postings over `count` documents."""
    lists = postings >> np.uint64(_COLUMN)
    starts = (
        np.flatnonzero(np.concatenate(([True], lists[1:] != lists[:-1])))
        if len(lists)
        else np.zeros(0, np.int64)
    )
    sizes = np.diff(starts, append=len(lists))
    documents = (postings >> np.uint64(_DOCUMENT) & np.uint64(MAX_DOCUMENTS - 1)).astype(np.int64)
    gaps = np.diff(documents, prepend=-1) - 1
    gaps[starts] = documents[starts]
    dense = sizes * DENSE_SHARE > count
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
    _put_gaps(
        out, gaps, widths, np.repeat(ends - lengths - (np.cumsum(widths) - widths)[starts], sizes)
    )
    halves = (postings & np.uint64(15)).astype(np.uint8)
    heads = lists[starts].astype(np.int64)
    return CodedLists(out.tobytes(), halves, heads >> 2, heads & 3, sizes, lengths)


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
    found = (
        np.flatnonzero(np.unpackbits(data, count=count))
        if size * DENSE_SHARE > count
        else _summed(data)
    )
    if len(found) != size or (size and found[-1] >= count):
        raise DamagedIndexError
    return found


def _summed(data: Numbers) -> Numbers:
    """Read gaps from their bytes, and add them up to numbers of documents."""
    more = np.flatnonzero(data >= 128)
    if not len(more):
        return np.cumsum(data, dtype=np.int64) + np.arange(len(data))
    if more[-1] == len(data) - 1:
        raise DamagedIndexError
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
    dense = sizes * DENSE_SHARE > count
    ends = np.cumsum(sizes)
    bytes_to = np.cumsum(lengths)
    if len(data) != (bytes_to[-1] if len(sizes) else 0):
        raise DamagedIndexError
    for one in np.flatnonzero(dense):
        part = data[bytes_to[one] - lengths[one] : bytes_to[one]]
        found[ends[one] - sizes[one] : ends[one]] = documents_of(part, int(sizes[one]), count)
    few = np.repeat(~dense, sizes)
    if few.any():
        to = _summed(data[np.repeat(~dense, lengths)])
        if len(to) != np.count_nonzero(few):
            raise DamagedIndexError
        own = sizes[~dense & (sizes > 0)]
        before = np.concatenate(([0], to[np.cumsum(own) - 1][:-1] + 1))
        found[few] = to - np.repeat(before, own)
    if len(found) and found.max() >= count:
        raise DamagedIndexError
    return found


def pack_halves(halves: Numbers) -> bytes:
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


class ShortPostings:
    """One list, read as a whole."""

    def __init__(self, documents: Numbers, halves: Numbers) -> None:
        """Take its documents in their order, and what goes with each."""
        self.documents, self.halves, self.size = documents, halves, len(documents)
        self.gains: tuple[Numbers, Numbers] | None = None
        """Its documents, and by how much the score of each grows, once somebody has worked it
        out."""
        if len(documents) != len(halves):
            raise DamagedIndexError

    def at(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Tell of each document whether it is in the list, and what goes with it there."""
        if not len(self.documents):
            return np.zeros(len(numbers), np.bool_), np.zeros(len(numbers), np.uint8)
        places = np.minimum(np.searchsorted(self.documents, numbers), len(self.documents) - 1)
        return self.documents[places] == numbers, self.halves[places]


class LongPostings:
    """One list with many documents, in which some can be looked up without reading all of it."""

    def __init__(self, bits: Numbers, halves: Numbers, start: int, size: int, count: int) -> None:
        """Take its bits, and the stream in which what goes with the first posting has the place
        `start`.
        """
        self._bits = bits
        self._stream = halves
        self._start = start
        self.size = size
        self._count = count
        self.gains: tuple[Numbers, Numbers] | None = None
        self._before = np.cumsum(np.bitwise_count(bits), dtype=np.int64)
        if (
            len(bits) != -(-count // 8)
            or self._before[-1] != size
            or len(halves) * 2 < start + size
        ):
            raise DamagedIndexError

    @property
    def documents(self) -> Numbers:
        """Its documents in their order."""
        return documents_of(self._bits, self.size, self._count)

    @property
    def halves(self) -> Numbers:
        """What goes with each of them."""
        return halves_of(self._stream, self._start, self.size)

    def at(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Tell of each document whether it is in the list, and what goes with it there."""
        held = self._bits[numbers >> 3]
        low = (numbers & 7).astype(np.uint8)
        # bits from this one to the end of its byte
        after = np.bitwise_count(held & (np.uint8(255) >> low))
        places = self._start + np.minimum(self._before[numbers >> 3] - after, self.size - 1)
        halves = self._stream[places >> 1] >> (places & 1).astype(np.uint8) * 4 & 15
        return (held >> (7 - low) & 1).astype(np.bool_), halves


def list_of(
    data: Numbers, stream: Numbers, start: int, size: int, count: int
) -> ShortPostings | LongPostings:
    """Give one list from its bytes, and the stream in which what goes with the first posting has
    the place `start`.
    """
    if size * DENSE_SHARE > count:
        return LongPostings(data, stream, start, size, count)
    return ShortPostings(documents_of(data, size, count), halves_of(stream, start, size))
