"""Vectors of skills in one file: quantised, and searched where they lie. Pure: a buffer in, numbers out.

Each document has one vector. It is kept as int8 with a scale of its own, and has a code of one bit to a dimension as well. A
search counts the bits that differ, and computes the cosines of the best. All of a document depends on its own vector alone, so
that files can be merged without a trace.

A file is a header, then a checksum of each few rows, the codes, the scales, and the rows. What the header does not cover is
compared with its checksum when it is first read: a changed byte is no other answer.
"""

from __future__ import annotations

import struct
import zlib
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.errors import UsageError
from metier.route.postings import DamagedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap
    from typing import TypeAlias

    from numpy.typing import NDArray

    from metier.wanted import Floats

    Numbers: TypeAlias = NDArray[np.int64]
    Kept: TypeAlias = NDArray[np.bool_]
    Cosines: TypeAlias = NDArray[np.float32]

FORMAT = 2
MAGIC = b"MTVX"
LEVELS = 127
SHORTLIST = 16
"""For each answer that is wanted, how many of the best by their codes are looked at exactly: 99 of 100 are among them."""
LEAST = 512
"""Looked at exactly whatever is wanted: up to here a code saves nothing."""
BLOCK = 1 << 14
"""Rows that are made floats at a time: what a search needs in memory does not grow with the file."""
CHECKED = 16
"""Rows that have a checksum together: those that a search looks at lie everywhere, and few others are to be read for them."""
WIDEST = 0xFFFF
"""Dimensions of a vector at the most."""
_HEADER = struct.Struct("<4sHHIQII4x")
"""Magic, format, dimensions, documents, length of the file, a checksum of the codes, and one of all that and of the checksums."""
_WORD = 64
"""Bits that are counted at a time."""


class _Parts(NamedTuple):
    """The numbers of a file."""

    checks: NDArray[np.uint32]
    codes: NDArray[np.uint64]
    """One column to a document: counting goes along a row of 64 bits of each."""
    scales: NDArray[np.float32]
    rows: NDArray[np.int8]


def pack(vectors: Sequence[Floats]) -> bytes:
    """Make the file of documents that are numbered from 0, each with a vector, which may be a matrix of one row."""
    made = [np.atleast_1d(np.asarray(vector, np.float32)) for vector in vectors]
    width = made[0].shape[-1] if made else 0
    if any(not 0 < one.size == one.shape[-1] == width for one in made):
        raise UsageError("a skill has one vector, and all have as many dimensions as the first",
                         hint="an embedder gives one row for each text")  # fmt: skip
    if width > WIDEST:
        raise UsageError(f"vectors of {width:,} dimensions are not kept", hint=f"use a model with {WIDEST:,} at the most")
    return _written(*_quantised(np.array([one.ravel() for one in made], np.float32).reshape(len(made), width)))


def merged(parts: Sequence[tuple[Matrix, Numbers]]) -> bytes:
    """Make one file of the documents that are kept of others, in the order in which they are named; numbered anew from 0."""
    taken = [matrix.taken(numbers) for matrix, numbers in parts if len(numbers)]
    if len({rows.shape[1] for _scales, rows in taken}) > 1:
        raise ValueError("vectors of two models do not belong into one file")
    if not taken:
        return pack([])
    return _written(np.concatenate([scales for scales, _rows in taken]), np.concatenate([rows for _scales, rows in taken]))


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
        """Look at the header and the length; `DamagedError` when this is no such file, or not all of one."""
        self.parts, self._check = _opened(memoryview(buffer).toreadonly())
        self._sound = np.zeros(len(self.parts.checks), np.bool_)

    @property
    def count(self) -> int:
        """How many documents there are."""
        return len(self.parts.rows)

    @property
    def width(self) -> int:
        """How many dimensions a vector has."""
        return int(self.parts.rows.shape[1])

    @cached_property
    def codes(self) -> NDArray[np.uint64]:
        """One bit to a dimension of every document, if they are those that were written."""
        if zlib.crc32(self.parts.codes.data) != self._check:
            raise DamagedError
        return self.parts.codes

    def apart(self, query: Floats) -> NDArray[np.uint16]:
        """Tell of every document in how many bits its code differs."""
        apart = np.zeros(self.count, np.uint16)
        for codes, code in zip(self.codes, _codes(self._asked(query)[None, :]), strict=True):
            apart += np.bitwise_count(codes ^ code)
        return apart

    def near(self, query: Floats, numbers: Numbers) -> Cosines:
        """Give the cosine of each document; it is summed by itself, whichever others are asked for."""
        asked, found = self._asked(query), np.empty(len(numbers), np.float32)
        for at in range(0, len(numbers), BLOCK):
            scales, rows = self.taken(numbers[at : at + BLOCK])
            found[at : at + BLOCK] = scales * np.einsum("ij,j->i", rows.astype(np.float32), asked)
        return found

    def vectors(self, numbers: Numbers) -> Floats:
        """Give the vectors of documents as they are kept, made unit vectors."""
        scales, rows = self.taken(numbers)
        return rows.astype(np.float64) * scales[:, None]

    def taken(self, numbers: Numbers) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Give the scales and the rows of documents, if they are those that were written."""
        wanted = np.asarray(numbers, np.int64)
        if len(wanted) and not 0 <= wanted.min() <= wanted.max() < self.count:
            raise ValueError("there is no document of that number here")
        blocks = wanted // CHECKED
        for block in np.unique(blocks[~self._sound[blocks]]).tolist():
            if _checksum(self.parts.scales, self.parts.rows, block) != self.parts.checks[block]:
                raise DamagedError
            self._sound[block] = True
        return self.parts.scales[wanted], self.parts.rows[wanted]

    def _asked(self, query: Floats) -> Cosines:
        asked = np.nan_to_num(np.asarray(query, np.float64).reshape(-1), posinf=0, neginf=0)
        if self.count and len(asked) != self.width:
            raise ValueError(f"the question has {len(asked)} dimensions, the vectors here have {self.width}")
        largest = np.abs(asked).max(initial=0)
        asked = asked / (largest or 1)
        return (asked / (np.sqrt(np.square(asked).sum()) or 1)).astype(np.float32)


# --- numbers and bytes


def _quantised(matrix: Floats) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Give what each row must be multiplied with for unit length, and the rows as int8; one without a direction stays nothing."""
    clean = np.nan_to_num(matrix, posinf=0, neginf=0)
    largest = np.abs(clean).max(axis=1, keepdims=True, initial=0)
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


def _written(scales: NDArray[np.float32], rows: NDArray[np.int8]) -> bytes:
    codes = _codes(rows).astype("<u8", copy=False).tobytes()
    blocks = range(-(-len(rows) // CHECKED))
    checks = np.array([_checksum(scales, rows, block) for block in blocks], "<u4").tobytes()
    parts = checks, bytes(-len(checks) % 8), codes, scales.astype("<f4", copy=False).tobytes(), rows.tobytes()
    counts = FORMAT, rows.shape[1], len(rows), _HEADER.size + sum(map(len, parts)), zlib.crc32(codes)
    return b"".join([_HEADER.pack(MAGIC, *counts, _head_check(counts, checks)), *parts])


def _checksum(scales: NDArray[np.float32], rows: NDArray[np.int8], block: int) -> int:
    """Give a checksum of a few rows with their scales."""
    these = slice(block * CHECKED, (block + 1) * CHECKED)
    return zlib.crc32(rows[these].data, zlib.crc32(scales[these].astype("<f4", copy=False).data))


def _head_check(counts: tuple[int, ...], checks: bytes | memoryview) -> int:
    return zlib.crc32(checks, zlib.crc32(repr(counts).encode()))


def _opened(buffer: memoryview) -> tuple[_Parts, int]:
    """Give the numbers of a file, and the checksum that its codes must have."""
    if len(buffer) < _HEADER.size or bytes(buffer[:4]) != MAGIC:
        raise DamagedError("not a file of vectors")
    _, number, width, count, length, codes, check = _HEADER.unpack_from(buffer)
    if number != FORMAT:
        raise DamagedError(f"vectors of format {number}, not {FORMAT}")
    blocks = -(-count // CHECKED)
    at = [_HEADER.size]
    for size in (4 * (blocks + blocks % 2), 8 * _words(width) * count, 4 * count, count * width):
        at.append(at[-1] + size)
    checks = buffer[at[0] : at[0] + 4 * blocks]
    if not len(buffer) == length == at[-1] or _head_check((number, width, count, length, codes), checks) != check:
        raise DamagedError("the file of vectors is damaged, or not all of it is there")
    return _Parts(
        np.frombuffer(checks, "<u4"),
        np.frombuffer(buffer[at[1] : at[2]], "<u8").reshape(_words(width), count),
        np.frombuffer(buffer[at[2] : at[3]], "<f4"),
        np.frombuffer(buffer[at[3] : at[4]], np.int8).reshape(count, width),
    ), codes
