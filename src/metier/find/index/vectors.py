"""Stores the vectors of skills in one quantised file, and searches them where they lie. Pure.

Each document has one vector. It is kept as int8 with a scale of its own, and has a code of one bit
to a dimension as well. A search counts the bits that differ, and computes the cosines of the best.
All of a document depends on its own vector alone, so that files can be merged without a trace.

A file is a header, then a checksum of each few rows, the codes, the scales, and the rows. What the
header does not cover is compared with its checksum when it is first read: a changed byte is no
other answer.

Each vector is kept under the key of its skill as it was when it was read, so a changed skill has
none.
"""

from __future__ import annotations

import struct
import zlib
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.errors import UsageError
from metier.find.index.postings import DamagedIndexError, read_head, sealed_head

if TYPE_CHECKING:
    from collections.abc import Sequence
    from mmap import mmap
    from typing import TypeAlias

    from numpy.typing import NDArray

    from metier.find.model import Floats

    RowNumbers: TypeAlias = NDArray[np.int64]
    RowMask: TypeAlias = NDArray[np.bool_]
    Cosines: TypeAlias = NDArray[np.float32]
    from metier.find.index.postings import Numbers


MATRIX_FORMAT = 2
MATRIX_MAGIC = b"MTVX"
INT8_LEVELS = 127
SHORTLIST_PER_HIT = 16
"""For each answer that is wanted, how many of the best by their codes are looked at exactly: 99 of
100 are among them."""
MIN_SHORTLIST = 512
"""Looked at exactly whatever is wanted: up to here a code saves nothing."""
ROWS_AT_ONCE = 1 << 14
"""Rows that are made floats at a time: what a search needs in memory does not grow with the
file."""
ROWS_PER_CHECKSUM = 16
"""Rows that have a checksum together: those that a search looks at lie everywhere, and few others
are to be read for them."""
MAX_DIMENSIONS = 0xFFFF
"""Dimensions of a vector at the most."""
_MATRIX_HEAD = struct.Struct("<4sHHIQII4x")
"""Magic, format, dimensions, documents, length of the file, a checksum of the codes, and one of all
that and of the checksums."""
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
    """Make the file of documents that are numbered from 0, each with a vector, which may be a
    matrix of one row.
    """
    made = [np.atleast_1d(np.asarray(vector, np.float32)) for vector in vectors]
    width = made[0].shape[-1] if made else 0
    if any(not 0 < one.size == one.shape[-1] == width for one in made):
        raise UsageError(
            "a skill has one vector, and all have as many dimensions as the first",
            hint="an embedder gives one row for each text",
        )
    if width > MAX_DIMENSIONS:
        raise UsageError(
            f"vectors of {width:,} dimensions are not kept",
            hint=f"use a model with {MAX_DIMENSIONS:,} at the most",
        )
    return _file_of(
        *_quantise(np.array([one.ravel() for one in made], np.float32).reshape(len(made), width))
    )


def merge_matrices(parts: Sequence[tuple[Matrix, RowNumbers]]) -> bytes:
    """Make one file of the documents that are kept of others, in the order in which they are named;
    numbered anew from 0.
    """
    taken = [matrix.taken(numbers) for matrix, numbers in parts if len(numbers)]
    if len({rows.shape[1] for _scales, rows in taken}) > 1:
        raise ValueError("vectors of two models do not belong into one file")
    if not taken:
        return pack([])
    return _file_of(
        np.concatenate([scales for scales, _rows in taken]),
        np.concatenate([rows for _scales, rows in taken]),
    )


def shortlist(
    files: Sequence[tuple[Matrix, RowMask | None]], query: Floats, limit: int
) -> list[RowNumbers]:
    """Give of each file the documents that are worth a look, of those that are allowed: whose codes
    differ in the fewest bits.

    One threshold holds for all files, and what draws is in: so which documents these are does not
    depend on who lies where.
    """
    most = max(SHORTLIST_PER_HIT * limit, MIN_SHORTLIST)
    found = [
        np.arange(matrix.count)
        if allowed is None
        else np.flatnonzero(np.asarray(allowed, np.bool_)[: matrix.count])
        for matrix, allowed in files
    ]
    if sum(map(len, found)) <= most:
        return found
    apart = [
        matrix.apart(query)[numbers]
        for (matrix, _allowed), numbers in zip(files, found, strict=True)
    ]
    worst = np.searchsorted(np.cumsum(np.bincount(np.concatenate(apart))), most)
    return [numbers[bits <= worst] for bits, numbers in zip(apart, found, strict=True)]


class Matrix:
    """The vectors of a file, searched where they lie: nothing is copied when it is opened."""

    def __init__(self, buffer: bytes | bytearray | memoryview | mmap) -> None:
        """Look at the header and the length; `DamagedError` when this is no such file, or not all
        of one.
        """
        self.parts, self._check = _open_matrix(memoryview(buffer).toreadonly())
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
            raise DamagedIndexError
        return self.parts.codes

    def apart(self, query: Floats) -> NDArray[np.uint16]:
        """Tell of every document in how many bits its code differs."""
        apart = np.zeros(self.count, np.uint16)
        for codes, code in zip(self.codes, _codes(self._unit(query)[None, :]), strict=True):
            apart += np.bitwise_count(codes ^ code)
        return apart

    def near(self, query: Floats, numbers: RowNumbers) -> Cosines:
        """Give the cosine of each document; it is summed by itself, whichever others are asked
        for.
        """
        asked = self._unit(query)
        found = np.empty(len(numbers), np.float32)
        for at in range(0, len(numbers), ROWS_AT_ONCE):
            scales, rows = self.taken(numbers[at : at + ROWS_AT_ONCE])
            found[at : at + ROWS_AT_ONCE] = scales * np.einsum(
                "ij,j->i", rows.astype(np.float32), asked
            )
        return found

    def vectors(self, numbers: RowNumbers) -> Floats:
        """Give the vectors of documents as they are kept, made unit vectors."""
        scales, rows = self.taken(numbers)
        return rows.astype(np.float64) * scales[:, None]

    def taken(self, numbers: RowNumbers) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Give the scales and the rows of documents, if they are those that were written."""
        wanted = np.asarray(numbers, np.int64)
        if len(wanted) and not 0 <= wanted.min() <= wanted.max() < self.count:
            raise ValueError("there is no document of that number here")
        blocks = wanted // ROWS_PER_CHECKSUM
        for block in np.unique(blocks[~self._sound[blocks]]).tolist():
            if _checksum(self.parts.scales, self.parts.rows, block) != self.parts.checks[block]:
                raise DamagedIndexError
            self._sound[block] = True
        return self.parts.scales[wanted], self.parts.rows[wanted]

    def _unit(self, query: Floats) -> Cosines:
        asked = np.nan_to_num(np.asarray(query, np.float64).reshape(-1), posinf=0, neginf=0)
        if self.count and len(asked) != self.width:
            raise ValueError(
                f"the question has {len(asked)} dimensions, the vectors here have {self.width}"
            )
        largest = np.abs(asked).max(initial=0)
        asked = asked / (largest or 1)
        return (asked / (np.sqrt(np.square(asked).sum()) or 1)).astype(np.float32)


# --- numbers and bytes


def _quantise(matrix: Floats) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Give what each row must be multiplied with for unit length, and the rows as int8; one without
    a direction stays nothing.
    """
    clean = np.nan_to_num(matrix, posinf=0, neginf=0)
    largest = np.abs(clean).max(axis=1, keepdims=True, initial=0)
    rows = np.rint(clean / np.where(largest > 0, largest, 1) * INT8_LEVELS).astype(np.int8)
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


def _file_of(scales: NDArray[np.float32], rows: NDArray[np.int8]) -> bytes:
    codes = _codes(rows).astype("<u8", copy=False).tobytes()
    blocks = range(-(-len(rows) // ROWS_PER_CHECKSUM))
    checks = np.array([_checksum(scales, rows, block) for block in blocks], "<u4").tobytes()
    parts = (
        checks,
        bytes(-len(checks) % 8),
        codes,
        scales.astype("<f4", copy=False).tobytes(),
        rows.tobytes(),
    )
    counts = (
        MATRIX_FORMAT,
        rows.shape[1],
        len(rows),
        _MATRIX_HEAD.size + sum(map(len, parts)),
        zlib.crc32(codes),
    )
    return b"".join([_MATRIX_HEAD.pack(MATRIX_MAGIC, *counts, _head_check(counts, checks)), *parts])


def _checksum(scales: NDArray[np.float32], rows: NDArray[np.int8], block: int) -> int:
    """Give a checksum of a few rows with their scales."""
    these = slice(block * ROWS_PER_CHECKSUM, (block + 1) * ROWS_PER_CHECKSUM)
    return zlib.crc32(rows[these].data, zlib.crc32(scales[these].astype("<f4", copy=False).data))


def _head_check(counts: tuple[int, ...], checks: bytes | memoryview) -> int:
    return zlib.crc32(checks, zlib.crc32(repr(counts).encode()))


def _open_matrix(buffer: memoryview) -> tuple[_Parts, int]:
    """Give the numbers of a file, and the checksum that its codes must have."""
    if len(buffer) < _MATRIX_HEAD.size or bytes(buffer[:4]) != MATRIX_MAGIC:
        raise DamagedIndexError("not a file of vectors")
    _, number, width, count, length, codes, check = _MATRIX_HEAD.unpack_from(buffer)
    if number != MATRIX_FORMAT:
        raise DamagedIndexError(f"vectors of format {number}, not {MATRIX_FORMAT}")
    blocks = -(-count // ROWS_PER_CHECKSUM)
    sizes = (4 * (blocks + blocks % 2), 8 * _words(width) * count, 4 * count, count * width)
    ends = list(accumulate(sizes, initial=_MATRIX_HEAD.size))
    checks, bits, scales, rows = (buffer[start:end] for start, end in pairwise(ends))
    checks = checks[: 4 * blocks]
    if (
        not len(buffer) == length == ends[-1]
        or _head_check((number, width, count, length, codes), checks) != check
    ):
        raise DamagedIndexError("the file of vectors is damaged, or not all of it is there")
    return _Parts(
        np.frombuffer(checks, "<u4"),
        np.frombuffer(bits, "<u8").reshape(_words(width), count),
        np.frombuffer(scales, "<f4"),
        np.frombuffer(rows, np.int8).reshape(count, width),
    ), codes


VECTOR_FILE_FORMAT = 2
_FILE_MAGIC = b"metier-means"
_FILE_HEAD = struct.Struct("<12sIQII")
"""Magic, format, number of skills, a checksum of their keys and one of all that; what follows
begins at a multiple of eight."""
_KEY = 8


class VectorFile:
    """Vectors as they lie in a buffer, each skill's under its key."""

    def __init__(self, buffer: bytes | memoryview) -> None:
        """Look at the headers; whatever is not right about them is a `DamagedError`."""
        data = memoryview(buffer)
        magic, version, count, self._check = read_head(_FILE_HEAD, data)
        start = _FILE_HEAD.size + count * _KEY
        if (magic, version) != (_FILE_MAGIC, VECTOR_FILE_FORMAT) or len(data) < start:
            raise DamagedIndexError
        self._keys = data[_FILE_HEAD.size : start]
        self.matrix = Matrix(data[start:])
        if self.matrix.count != count:
            raise DamagedIndexError

    @cached_property
    def keys(self) -> Numbers:
        """The key of each skill, if they are those that were written."""
        if zlib.crc32(self._keys) != self._check:
            raise DamagedIndexError
        return np.frombuffer(self._keys, "<u8")

    def is_sound(self) -> bool:
        """Read everything: tell whether it is what was written."""
        try:
            _read = self.keys, self.matrix.codes, self.matrix.taken(np.arange(self.matrix.count))
        except DamagedIndexError:
            return False
        return True


def pack_vector_file(rows: Sequence[tuple[int, Floats]]) -> bytes:
    """Make a file of some skills' vectors, each under its key."""
    return _file_bytes(
        np.array([key for key, _vector in rows], "<u8"), pack([vector for _key, vector in rows])
    )


def merge_vector_files(parts: Sequence[tuple[VectorFile, Numbers]]) -> bytes:
    """Make one file of several, of each only the skills with these numbers."""
    keys = np.concatenate([file.keys[numbers] for file, numbers in parts])
    return _file_bytes(keys, merge_matrices([(file.matrix, numbers) for file, numbers in parts]))


def _file_bytes(keys: Numbers, data: bytes) -> bytes:
    held = keys.astype("<u8").tobytes()
    counts = (VECTOR_FILE_FORMAT, len(keys), zlib.crc32(held))
    return b"".join([sealed_head(_FILE_HEAD, _FILE_MAGIC, *counts), held, data])
