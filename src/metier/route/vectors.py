"""Vectors of skills in one file: quantised, and searched where they lie. Pure: a buffer in, numbers out.

Each document has one vector for its card and up to a few for its passages. A vector is kept as int8 with a scale of its own; the
cards have a code of one bit to a dimension as well. A search counts the bits that differ, and computes the cosines of the best.
All of a document depends on its own vectors alone, so that files can be merged without a trace.

A file is a header, then the row at which each document begins, the codes of the cards, the scales of all rows, and the rows.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap
    from typing import TypeAlias

    from numpy.typing import NDArray

    from metier.wanted import Floats

    Numbers: TypeAlias = NDArray[np.int64]
    Kept: TypeAlias = NDArray[np.bool_]
    Cosines: TypeAlias = NDArray[np.float32]

FORMAT = 1
MAGIC = b"MTVX"
LEVELS = 127
SHORTLIST = 16
"""For each answer that is wanted, how many of the best by their codes are looked at exactly: 99 of 100 are among them."""
LEAST = 512
"""Looked at exactly whatever is wanted: up to here a code saves nothing."""
BLOCK = 1 << 14
"""Rows that are made floats at a time: what a search needs in memory does not grow with the file."""
_HEADER = struct.Struct("<4sHHIIQI4x")
"""Magic, format, dimensions, documents, rows, length of the file, and a checksum of all that and of where documents begin."""
_WORD = 64
"""Bits that are counted at a time."""


class _Parts(NamedTuple):
    """The numbers of a file."""

    starts: NDArray[np.uint32]
    codes: NDArray[np.uint64]
    """One column to a document: counting goes along a row of 64 bits of each."""
    scales: NDArray[np.float32]
    rows: NDArray[np.int8]


class _Block(NamedTuple):
    """Documents that come into a file together: how many rows each has, the scales of the rows, the rows."""

    lengths: Numbers
    scales: NDArray[np.float32]
    rows: NDArray[np.int8]


def pack(rows: Sequence[tuple[int, Floats]]) -> bytes:
    """Make the file of documents that are numbered from 0 without a gap; of each its card first, then its passages."""
    ordered = sorted(rows, key=lambda one: one[0])
    if [number for number, _ in ordered] != list(range(len(ordered))):
        raise ValueError("documents are numbered from 0, each once and without a gap")
    matrices = [np.atleast_2d(np.asarray(matrix, np.float32)) for _, matrix in ordered]
    if any(not matrix.size or matrix.shape[1:] != matrices[0].shape[1:] for matrix in matrices):
        raise ValueError("a document has a card at least, and all vectors have as many dimensions as the first")
    if not matrices:
        return _written([])
    return _written([_Block(np.array([len(matrix) for matrix in matrices], np.int64), *_quantised(np.concatenate(matrices)))])


def merged(parts: Sequence[tuple[Matrix, Numbers]]) -> bytes:
    """Make one file of the documents that are kept of others, in the order in which they are named; numbered anew from 0."""
    blocks = []
    for matrix, numbers in parts:
        taken, lengths = matrix.rows_of(numbers)
        if len(taken):
            blocks.append(_Block(lengths, matrix.parts.scales[taken], matrix.parts.rows[taken]))
    if len({block.rows.shape[1] for block in blocks}) > 1:
        raise ValueError("vectors of two models do not belong into one file")
    return _written(blocks)


def shortlisted(files: Sequence[tuple[Matrix, Kept | None]], query: Floats, limit: int) -> list[Numbers]:
    """Give of each file the documents that are worth a look, of those that are allowed: whose codes differ in the fewest bits.

    One threshold holds for all files, and what draws is in: so which documents these are does not depend on who lies where.
    """
    most = max(SHORTLIST * limit, LEAST)
    found = [np.arange(matrix.count) if allowed is None else np.flatnonzero(np.asarray(allowed, np.bool_)[: matrix.count])
             for matrix, allowed in files]  # fmt: skip
    if sum(map(len, found)) <= most:
        return found
    apart = [matrix.apart(query)[numbers] for (matrix, _allowed), numbers in zip(files, found, strict=True)]
    worst = np.searchsorted(np.cumsum(np.bincount(np.concatenate(apart))), most)
    return [numbers[bits <= worst] for bits, numbers in zip(apart, found, strict=True)]


class Matrix:
    """The vectors of a file, searched where they lie: nothing is copied when it is opened."""

    def __init__(self, buffer: bytes | bytearray | memoryview | mmap) -> None:
        """Look at the header, the length and where documents begin; `ValueError` when this is no such file, or not all of one."""
        self.parts = _opened(memoryview(buffer).toreadonly())

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.parts.starts) - 1

    @property
    def width(self) -> int:
        """How many dimensions a vector has."""
        return int(self.parts.rows.shape[1])

    def nearest(self, query: Floats, allowed: Kept | None, limit: int) -> tuple[Numbers, Cosines]:
        """Give the documents whose cards lie nearest, best first and then by number, with their cosines."""
        (numbers,) = shortlisted([(self, allowed)], query, limit)
        cosines = self.near(query, numbers)
        order = np.lexsort((numbers, -cosines))[: max(limit, 0)]
        return numbers[order], cosines[order]

    def apart(self, query: Floats) -> NDArray[np.uint16]:
        """Tell of every document in how many bits the code of its card differs."""
        apart = np.zeros(self.count, np.uint16)
        for codes, code in zip(self.parts.codes, _codes(self._asked(query)[None, :]), strict=True):
            apart += np.bitwise_count(codes ^ code)
        return apart

    def near(self, query: Floats, numbers: Numbers) -> Cosines:
        """Give the cosine of each document's card."""
        return self._products(self._asked(query), self.parts.starts[numbers])

    def cards(self, numbers: Numbers) -> Floats:
        """Give the cards of documents as they are kept, made unit vectors."""
        taken = self.parts.starts[numbers]
        return self.parts.rows[taken].astype(np.float64) * self.parts.scales[taken, None]

    def cosines(self, query: Floats, numbers: Numbers) -> tuple[Cosines, Cosines]:
        """Give the cosine of each document's card, and that of its best passage: 0 when it has none."""
        taken, lengths = self.rows_of(numbers)
        if not len(taken):
            return np.zeros(0, np.float32), np.zeros(0, np.float32)
        products = self._products(self._asked(query), taken)
        first = np.cumsum(lengths) - lengths
        cards = products[first]
        products[first] = -np.inf
        return cards, np.where(lengths > 1, np.maximum.reduceat(products, first), np.float32(0))

    def rows_of(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Give the rows of documents, one document after the other, and how many each has."""
        wanted = np.asarray(numbers, np.int64)
        if len(wanted) and not 0 <= wanted.min() <= wanted.max() < self.count:
            raise ValueError("there is no document of that number here")
        begin, end = (self.parts.starts[at].astype(np.int64) for at in (wanted, wanted + 1))
        lengths = end - begin
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.repeat(begin, lengths) + within, lengths

    def _asked(self, query: Floats) -> Cosines:
        asked = np.nan_to_num(np.asarray(query, np.float64).reshape(-1), posinf=0, neginf=0)
        if self.count and len(asked) != self.width:
            raise ValueError(f"the question has {len(asked)} dimensions, the vectors here have {self.width}")
        largest = np.abs(asked).max(initial=0)
        asked = asked / (largest or 1)
        return (asked / (np.sqrt(np.square(asked).sum()) or 1)).astype(np.float32)

    def _products(self, asked: Cosines, taken: NDArray[np.integer]) -> Cosines:
        """Give the cosines of rows as they are kept; each is summed by itself, whichever others are asked for."""
        found: Cosines = self.parts.scales[taken]
        for at in range(0, len(taken), BLOCK):
            some = taken[at : at + BLOCK]
            found[at : at + BLOCK] *= np.einsum("ij,j->i", self.parts.rows[some].astype(np.float32), asked)
        return found


# --- numbers and bytes


def _quantised(matrix: Floats) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Give what each row must be multiplied with for unit length, and the rows as int8; one without a direction stays nothing."""
    clean = np.nan_to_num(matrix, posinf=0, neginf=0)
    largest = np.abs(clean).max(axis=1, keepdims=True)
    rows = np.rint(clean / np.where(largest > 0, largest, 1) * LEVELS).astype(np.int8)
    lengths = np.sqrt(np.square(rows, dtype=np.float32).sum(axis=1))
    return (1 / np.where(lengths > 0, lengths, 1)).astype(np.float32), rows


def _codes(vectors: NDArray[np.int8] | Cosines) -> NDArray[np.uint64]:
    """Give one bit to a dimension, 64 of them to a row, and one column to a vector."""
    bits = np.packbits(vectors > 0, axis=1)
    whole = np.zeros((len(bits), _words(vectors.shape[1]) * 8), np.uint8)
    whole[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(whole.view("<u8").T)


def _words(width: int) -> int:
    return -(-width // _WORD)


def _written(blocks: Sequence[_Block]) -> bytes:
    width = blocks[0].rows.shape[1] if blocks else 0
    starts = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(block.lengths for block in blocks)])).astype("<u4")
    cards = [block.rows[np.cumsum(block.lengths) - block.lengths] for block in blocks]
    codes = _codes(np.concatenate([np.zeros((0, width), np.int8), *cards]))
    parts: list[bytes | memoryview] = [starts.tobytes(), bytes(-starts.nbytes % 8), codes.tobytes()]
    parts += [block.scales.astype("<f4", copy=False).tobytes() for block in blocks]
    parts += [np.ascontiguousarray(block.rows).data.cast("B") for block in blocks]
    counts = FORMAT, width, len(starts) - 1, int(starts[-1]), _HEADER.size + sum(len(part) for part in parts)
    return b"".join([_HEADER.pack(MAGIC, *counts, _checksum(counts, parts[0])), *parts])


def _checksum(counts: tuple[int, ...], starts: bytes | memoryview) -> int:
    return zlib.crc32(starts, zlib.crc32(repr(counts).encode()))


def _opened(buffer: memoryview) -> _Parts:
    if len(buffer) < _HEADER.size or bytes(buffer[:4]) != MAGIC:
        raise ValueError("not a file of vectors")
    _, number, width, count, rows, length, checksum = _HEADER.unpack_from(buffer)
    if number != FORMAT:
        raise ValueError(f"vectors of format {number}, not {FORMAT}")
    sizes = 4 * (count + 1 + (count + 1) % 2), 8 * _words(width) * count, 4 * rows, rows * width
    at = [_HEADER.size]
    for size in sizes:
        at.append(at[-1] + size)
    starts = buffer[at[0] : at[0] + 4 * (count + 1)]
    if len(buffer) != length or length != at[-1] or _checksum((number, width, count, rows, length), starts) != checksum:
        raise ValueError("the file of vectors is damaged, or not all of it is there")
    return _Parts(
        np.frombuffer(starts, "<u4"),
        np.frombuffer(buffer[at[1] : at[2]], "<u8").reshape(_words(width), count),
        np.frombuffer(buffer[at[2] : at[3]], "<f4"),
        np.frombuffer(buffer[at[3] : at[4]], np.int8).reshape(rows, width),
    )
