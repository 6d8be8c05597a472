"""A file of vectors, and which skill each belongs to: as it was when it was read, so that a changed one has none. Pure."""

from __future__ import annotations

import struct
import zlib
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from metier.route import vectors
from metier.route.postings import DamagedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.route.postings import Numbers
    from metier.wanted import Floats

FORMAT = 2
_MAGIC = b"metier-means"
_HEAD = struct.Struct("<12sIQII")
"""Magic, format, number of skills, a checksum of their keys and one of all that; what follows begins at a multiple of eight."""
_CHECK = 4
_KEY = 8


class VectorFile:
    """Vectors as they lie in a buffer, each skill's under its key."""

    def __init__(self, buffer: bytes | memoryview) -> None:
        """Look at the headers; whatever is not right about them is a `DamagedError`."""
        data = memoryview(buffer)
        if len(data) < _HEAD.size:
            raise DamagedError
        magic, version, count, self._check, check = _HEAD.unpack(data[: _HEAD.size])
        start = _HEAD.size + count * _KEY
        if (magic, version, check) != (_MAGIC, FORMAT, zlib.crc32(data[: _HEAD.size - _CHECK])) or len(data) < start:
            raise DamagedError
        self._keys = data[_HEAD.size : start]
        self.matrix = vectors.Matrix(data[start:])
        if self.matrix.count != count:
            raise DamagedError

    @cached_property
    def keys(self) -> Numbers:
        """The key of each skill, if they are those that were written."""
        if zlib.crc32(self._keys) != self._check:
            raise DamagedError
        return np.frombuffer(self._keys, "<u8")

    def is_sound(self) -> bool:
        """Read everything: tell whether it is what was written."""
        try:
            _read = self.keys, self.matrix.codes, self.matrix.taken(np.arange(self.matrix.count))
        except DamagedError:
            return False
        return True


def made(rows: Sequence[tuple[int, Floats]]) -> bytes:
    """Make a file of some skills' vectors, each under its key."""
    return _laid_out(np.array([key for key, _vector in rows], "<u8"), vectors.pack([vector for _key, vector in rows]))


def merged(parts: Sequence[tuple[VectorFile, Numbers]]) -> bytes:
    """Make one file of several, of each only the skills with these numbers."""
    keys = np.concatenate([file.keys[numbers] for file, numbers in parts])
    return _laid_out(keys, vectors.merged([(file.matrix, numbers) for file, numbers in parts]))


def _laid_out(keys: Numbers, data: bytes) -> bytes:
    held = keys.astype("<u8").tobytes()
    head = _HEAD.pack(_MAGIC, FORMAT, len(keys), zlib.crc32(held), 0)[:-_CHECK]
    return b"".join([head, zlib.crc32(head).to_bytes(_CHECK, "little"), held, data])
