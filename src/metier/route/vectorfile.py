"""A file of vectors, and which skill each belongs to: as it was when it was read, so that a changed one has none. Pure."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from metier.route import vectors
from metier.route.postings import DamagedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.route.postings import Numbers
    from metier.wanted import Floats

FORMAT = 1
_MAGIC = b"metier-means"
_HEAD = struct.Struct("<12sIQI4x")
"""Magic, format, number of skills, and a checksum of all that; what follows begins at a multiple of eight bytes."""
_CHECKED = 24
_KEY = 8


class VectorFile:
    """Vectors as they lie in a buffer, each skill's under its key."""

    def __init__(self, buffer: bytes | memoryview) -> None:
        """Look at the header; whatever is not right about it is a `DamagedError`."""
        data = memoryview(buffer)
        if len(data) < _HEAD.size:
            raise DamagedError
        magic, version, count, check = _HEAD.unpack(data[: _HEAD.size])
        start = _HEAD.size + count * _KEY
        if (magic, version, check) != (_MAGIC, FORMAT, zlib.crc32(data[:_CHECKED])) or len(data) < start:
            raise DamagedError
        self.keys: Numbers = np.frombuffer(data[_HEAD.size : start], "<u8")
        try:
            self.matrix = vectors.Matrix(data[start:])
        except ValueError:
            raise DamagedError from None
        if self.matrix.count != count:
            raise DamagedError


def made(rows: Sequence[tuple[int, Floats]]) -> bytes:
    """Make a file of some skills' vectors, each under its key."""
    packed = vectors.pack([(at, matrix) for at, (_key, matrix) in enumerate(rows)])
    return _laid_out(np.array([key for key, _matrix in rows], "<u8"), packed)


def merged(parts: Sequence[tuple[VectorFile, Numbers]]) -> bytes:
    """Make one file of several, of each only the skills with these numbers."""
    keys = np.concatenate([file.keys[numbers] for file, numbers in parts])
    return _laid_out(keys, vectors.merged([(file.matrix, numbers) for file, numbers in parts]))


def _laid_out(keys: Numbers, data: bytes) -> bytes:
    counts = _MAGIC, FORMAT, len(keys)
    head = _HEAD.pack(*counts, zlib.crc32(_HEAD.pack(*counts, 0)[:_CHECKED]))
    return b"".join([head, keys.astype("<u8").tobytes(), data])
