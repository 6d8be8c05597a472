"""One part of an index, never changed once written: its documents in the order of their paths, its words, its lists. Pure.

A header says what lies where, how long the whole is and in which format, and carries its own checksum; so a part of another
version or one that was cut off is known for that as soon as it is opened. Nothing else is read until it is needed. The lists of
each block of words have a checksum that is looked at when the block is first read: a changed byte is no other answer.
"""

from __future__ import annotations

import json
import struct
import zlib
from bisect import bisect_left
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.route.fields import FIELDS
from metier.route.postings import DamagedError, documents_of_many, halves_of, list_of
from metier.route.vocabulary import COLUMNS, Strings, Vocabulary, bases_of, pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.route.postings import Few, Many, Numbers
    from metier.route.vocabulary import Row, Stretch

FORMAT = 2
"""Grows whenever the layout, the words or what is counted changes: an index of another number is made anew."""
LONGEST = 0xFFFF
"""The length of a field as far as it is counted."""
_MAGIC = b"metier-index"
_CHECK = 4
_SECTIONS = 13
_HEAD = struct.Struct(f"<12sIQ{_SECTIONS}QI")
"""Magic, format, documents, where each section ends, and a checksum of all that."""


class Document(NamedTuple):
    """What an index keeps of a skill besides its words."""

    path: bytes
    stamp: bytes
    triggers: tuple[str, ...]
    lengths: tuple[int, ...]


def encoded(path: str) -> bytes:
    """Give the form of a path by which documents are sorted: the same order as that of the paths themselves."""
    return path.encode("utf-8", "surrogatepass")


def _decoded(path: bytes) -> str:
    try:
        return str(path, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise DamagedError from None


def key_of(path: bytes, stamp: bytes) -> bytes:
    """Give eight bytes that stand for a skill as it was when it was read."""
    return blake2b(len(path).to_bytes(4, "little") + path + stamp, digest_size=8).digest()


def laid_out(
    documents: Sequence[Document], vocabulary: tuple[bytes, bytes, bytes], lists: bytes, halves: bytes, names: list[bytes]
) -> bytes:
    """Put a segment together; the documents are in the order of their paths."""
    lengths = np.array([one.lengths for one in documents], np.int64).reshape(-1, len(FIELDS))
    paths = [one.path for one in documents]
    start = _shared(paths)
    bases = bases_of(vocabulary[2])
    triggers = [(number, one.triggers) for number, one in enumerate(documents) if one.triggers]
    sections = (
        np.minimum(lengths, LONGEST).T.astype("<u2").tobytes(),
        b"".join([key_of(one.path, one.stamp) for one in documents]),
        paths[0][:start] if paths else b"",
        pieces([path[start:] for path in paths]),
        pieces([one.stamp for one in documents]),
        zlib.compress(json.dumps(triggers).encode()) if triggers else b"",
        *vocabulary,
        zlib.compress(b"\n".join(names), 9),
        np.array([_checksum(bases, lists, halves, block) for block in range(len(bases))], "<u4").tobytes(),
        lists,
        halves,
    )  # fmt: skip
    ends = np.cumsum([_HEAD.size, *map(len, sections)]).tolist()[1:]
    head = _HEAD.pack(_MAGIC, FORMAT, len(documents), *ends, 0)[:-4]
    return b"".join([head, zlib.crc32(head).to_bytes(4, "little"), *sections])


def _checksum(bases: Numbers, lists: bytes | memoryview, halves: bytes | memoryview, block: int) -> int:
    """Give a checksum of the lists of a block of words; `bases` says where those of each begin."""
    start, half = bases[block].tolist()
    end, last = bases[block + 1].tolist() if block + 1 < len(bases) else (len(lists), 2 * len(halves))
    return zlib.crc32(halves[half >> 1 : last + 1 >> 1], zlib.crc32(lists[start:end]))


def _shared(paths: Sequence[bytes]) -> int:
    """Tell how many bytes all paths begin with; they are sorted, so the first and the last tell it."""
    if not paths:
        return 0
    pairs = zip(paths[0], paths[-1], strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(paths[0]), len(paths[-1])))


class Segment:
    """A segment as it lies in a buffer."""

    def __init__(self, buffer: bytes | memoryview) -> None:
        """Look at the header; whatever is not right about it is a `DamagedError`."""
        data = memoryview(buffer)
        self.count, ends = _opened(data)
        parts = [data[start:end] for start, end in zip((_HEAD.size, *ends), ends, strict=False)]
        lengths, keys, self._prefix, paths, stamps, self._triggers, *vocabulary, self._names, checks, lists, halves = parts
        if len(lengths) != 2 * len(FIELDS) * self.count or len(keys) != 8 * self.count:
            raise DamagedError
        self.lengths: Numbers = np.frombuffer(lengths, "<u2").reshape(len(FIELDS), self.count)
        self.keys: Numbers = np.frombuffer(keys, "<u8")
        self._paths, self._stamps = Strings(paths), Strings(stamps)
        self.vocabulary = Vocabulary(*vocabulary)
        self.vocabulary.check = self._check
        self._checks, self._coded, self._sound = checks, (lists, halves), set[int]()
        if len(checks) != _CHECK * len(self.vocabulary.blocks):
            raise DamagedError
        self._lists: Numbers = np.frombuffer(lists, np.uint8)
        self._halves: Numbers = np.frombuffer(halves, np.uint8)
        if not self.count == len(self._paths) == len(self._stamps):
            raise DamagedError

    def _check(self, block: int) -> None:
        """Look once whether the lists of a block of words are those that were written."""
        if block not in self._sound:
            found = _checksum(self.vocabulary.bases, *self._coded, block)
            if found != int.from_bytes(self._checks[_CHECK * block : _CHECK * (block + 1)], "little"):
                raise DamagedError
            self._sound.add(block)

    def path(self, number: int) -> str:
        """Give the path of a document."""
        return _decoded(bytes(self._prefix) + self._paths[number])

    def paths(self) -> list[str]:
        """Give the paths of all documents."""
        prefix, data = bytes(self._prefix), bytes(self._paths.data)
        if not prefix.isascii() or not data.isascii():
            return [_decoded(prefix + path) for path in self._paths.all()]
        start, text, ends = str(prefix, "ascii"), str(data, "ascii"), self._paths.ends.tolist()
        return [start + text[begin:end] for begin, end in zip((0, *ends), ends, strict=False)]  # four times as fast

    def stamps(self) -> list[bytes]:
        """Give the stamps of all documents."""
        return self._stamps.all()

    def number_of(self, path: str) -> int:
        """Give the number of the document with this path; -1 where there is none."""
        wanted, prefix = encoded(path), bytes(self._prefix)
        if not wanted.startswith(prefix):
            return -1
        rest = wanted[len(prefix) :]
        at = bisect_left(self._paths, rest)
        return at if at < self.count and self._paths[at] == rest else -1

    def triggers(self) -> list[tuple[int, tuple[str, ...]]]:
        """Give the documents that declare phrases, with their phrases."""
        if not self._triggers:
            return []
        try:
            return [(number, tuple(phrases)) for number, phrases in json.loads(zlib.decompress(self._triggers))]
        except (zlib.error, ValueError, TypeError):
            raise DamagedError from None

    def documents(self) -> list[Document]:
        """Give all documents."""
        triggers, prefix = dict(self.triggers()), bytes(self._prefix)
        rows = zip(self._paths.all(), self._stamps.all(), self.lengths.T.tolist(), strict=True)
        return [Document(prefix + path, stamp, triggers.get(number, ()), tuple(lengths))
                for number, (path, stamp, lengths) in enumerate(rows)]  # fmt: skip

    def names(self) -> list[bytes]:
        """Give every word that stands in a name."""
        try:
            return zlib.decompress(self._names).split()
        except zlib.error:
            raise DamagedError from None

    def list_of(self, row: Row, column: int) -> Few | Many:
        """Give one list of a word."""
        size, start = row.sizes[column], row.data[column]
        return list_of(self._lists[start : start + row.lengths[column]], self._halves, row.halves[column], size, self.count)

    def lists_of(self, stretch: Stretch) -> tuple[Numbers, Numbers]:
        """Give the documents in all lists of a stretch of words, one behind the other, and what goes with each."""
        sizes, lengths = stretch.rows[:, :COLUMNS].ravel(), stretch.rows[:, COLUMNS : 2 * COLUMNS].ravel()
        data = self._lists[stretch.data : stretch.data + int(lengths.sum())]
        documents = documents_of_many(data, sizes, lengths, self.count)
        halves = halves_of(self._halves, stretch.halves, len(documents))
        if len(halves) != len(documents):
            raise DamagedError
        return documents, halves


def _opened(data: memoryview) -> tuple[int, list[int]]:
    """Check the header; give the number of documents and where each section ends."""
    if len(data) < _HEAD.size:
        raise DamagedError
    magic, version, count, *ends, check = _HEAD.unpack(data[: _HEAD.size])
    sound = check == zlib.crc32(data[: _HEAD.size - 4]) and ends[-1] == len(data) and ends == sorted(ends)
    if magic != _MAGIC or version != FORMAT or not sound:
        raise DamagedError
    return count, ends
