"""One part of an index, never changed once written: its documents in the order of their paths, its words, its lists. Pure.

A header says what lies where, how long the whole is and in which format, and carries its own checksum; so a part of another
version or one that was cut off is known for that as soon as it is opened. Nothing else is read until it is needed. Each small
section has a checksum, and so has each block of words together with its lists; it is looked at when the section or the block is
first read: a changed byte is no other answer.
"""

from __future__ import annotations

import json
import struct
import zlib
from bisect import bisect_left
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.route import named
from metier.route.fields import FIELDS
from metier.route.postings import DamagedError, documents_of_many, halves_of, list_of
from metier.route.vocabulary import COLUMNS, Strings, Vocabulary, bases_of, pieces

if TYPE_CHECKING:
    from collections.abc import Sequence, Set as AbstractSet

    from metier.route.named import Names
    from metier.route.postings import Few, Many, Numbers
    from metier.route.vocabulary import Row, Stretch

FORMAT = 3
"""Grows whenever the layout, the words or what is counted changes: an index of another number is made anew."""
LONGEST = 0xFFFF
"""The length of a field as far as it is counted."""
_MAGIC = b"metier-index"
_CHECK = 4
_LENGTHS, _KEYS, _PREFIX, _PATHS, _STAMPS, _TRIGGERS, _FIRSTS, _BASES, _NAMES, _CHECKS = range(10)
_SMALL, _SECTIONS = 10, 13
"""The small sections come first. The large ones are the words, their lists, and what goes with each posting."""
_HEAD = struct.Struct(f"<12sIQ{_SECTIONS}Q{_SMALL}II")
"""Magic, format, documents, where each section ends, a checksum of each small one, and a checksum of all that."""
_FEW = 16
"""Paths are looked for one by one when there are so many times fewer of them than documents."""


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
    return str(path, "utf-8", "surrogatepass")


def key_of(path: bytes, stamp: bytes) -> bytes:
    """Give eight bytes that stand for a skill as it was when it was read."""
    return blake2b(len(path).to_bytes(4, "little") + path + stamp, digest_size=8).digest()


def laid_out(
    documents: Sequence[Document], vocabulary: tuple[bytes, bytes, bytes], lists: bytes, halves: bytes, names: Names
) -> bytes:
    """Put a segment together; the documents are in the order of their paths."""
    lengths = np.array([one.lengths for one in documents], np.int64).reshape(-1, len(FIELDS))
    paths = [one.path for one in documents]
    start = _shared(paths)
    blocks, firsts, bases = vocabulary
    triggers = [(number, one.triggers) for number, one in enumerate(documents) if one.triggers]
    words, starts = Strings(memoryview(blocks)), bases_of(bases)
    small = (
        np.minimum(lengths, LONGEST).T.astype("<u2").tobytes(),
        b"".join([key_of(one.path, one.stamp) for one in documents]),
        paths[0][:start] if paths else b"",
        pieces([path[start:] for path in paths]),
        pieces([one.stamp for one in documents]),
        zlib.compress(json.dumps(triggers).encode()) if triggers else b"",
        firsts,
        bases,
        named.coded(names),
        np.array([_checksum(words, starts, lists, halves, block) for block in range(len(words))], "<u4").tobytes(),
    )  # fmt: skip
    sections = (*small, blocks, lists, halves)
    ends = np.cumsum([_HEAD.size, *map(len, sections)]).tolist()[1:]
    head = _HEAD.pack(_MAGIC, FORMAT, len(documents), *ends, *map(zlib.crc32, small), 0)[:-4]
    return b"".join([head, zlib.crc32(head).to_bytes(4, "little"), *sections])


def _checksum(words: Strings, bases: Numbers, lists: bytes | memoryview, halves: bytes | memoryview, block: int) -> int:
    """Give a checksum of a block of words and of its lists; `bases` says where those of each begin."""
    start, half = bases[block].tolist()
    end, last = bases[block + 1].tolist() if block + 1 < len(bases) else (len(lists), 2 * len(halves))
    return zlib.crc32(halves[half >> 1 : last + 1 >> 1], zlib.crc32(lists[start:end], zlib.crc32(words[block])))


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
        self.count, ends, self._sums = _opened(data)
        self._parts = [data[start:end] for start, end in zip((_HEAD.size, *ends), ends, strict=False)]
        *_small, self._blocks, lists, halves = self._parts
        self._lists: Numbers = np.frombuffer(lists, np.uint8)
        self._halves: Numbers = np.frombuffer(halves, np.uint8)
        self._sound = set[int]()

    def _section(self, number: int) -> memoryview:
        """Give a small section, if it is what was written."""
        found = self._parts[number]
        if zlib.crc32(found) != self._sums[number]:
            raise DamagedError
        return found

    @cached_property
    def lengths(self) -> Numbers:
        """How long each field of every document is, one row to a field."""
        return np.frombuffer(self._section(_LENGTHS), "<u2").reshape(len(FIELDS), self.count)

    @cached_property
    def keys(self) -> Numbers:
        """What stands for each document as it was when it was read."""
        return np.frombuffer(self._section(_KEYS), "<u8")

    @cached_property
    def _prefix(self) -> bytes:
        return bytes(self._section(_PREFIX))

    @cached_property
    def _paths(self) -> Strings:
        return Strings(self._section(_PATHS))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All words."""
        found = Vocabulary(self._blocks, self._section(_FIRSTS), self._section(_BASES))
        if len(self._section(_CHECKS)) != _CHECK * len(found.blocks):
            raise DamagedError
        found.check = self._check
        return found

    def _check(self, block: int) -> None:
        """Look once whether a block of words and its lists are those that were written."""
        if block not in self._sound:
            words, (lists, halves) = self.vocabulary, self._parts[-2:]
            found = _checksum(words.blocks, words.bases, lists, halves, block)
            if found != int.from_bytes(self._parts[_CHECKS][_CHECK * block : _CHECK * (block + 1)], "little"):
                raise DamagedError
            self._sound.add(block)

    def is_sound(self) -> bool:
        """Read everything: tell whether it is what was written."""
        try:
            for number in range(_SMALL):
                self._section(number)
            for block in range(len(self.vocabulary.blocks)):
                self._check(block)
        except DamagedError:
            return False
        return True

    def path(self, number: int) -> str:
        """Give the path of a document."""
        return _decoded(self._prefix + self._paths[number])

    def paths(self) -> list[str]:
        """Give the paths of all documents."""
        prefix, data = self._prefix, bytes(self._paths.data)
        if not prefix.isascii() or not data.isascii():
            return [_decoded(prefix + path) for path in self._paths.all()]
        start, text, ends = str(prefix, "ascii"), str(data, "ascii"), self._paths.ends.tolist()
        return [start + text[begin:end] for begin, end in zip((0, *ends), ends, strict=False)]  # four times as fast

    def stamps(self) -> list[bytes]:
        """Give the stamps of all documents."""
        return Strings(self._section(_STAMPS)).all()

    def number_of(self, path: str) -> int:
        """Give the number of the document with this path; -1 where there is none."""
        wanted, prefix = encoded(path), self._prefix
        if not wanted.startswith(prefix):
            return -1
        rest = wanted[len(prefix) :]
        at = bisect_left(self._paths, rest)
        return at if at < self.count and self._paths[at] == rest else -1

    def numbers_of(self, paths: AbstractSet[str]) -> list[int]:
        """Give the numbers of the documents that have one of these paths."""
        if len(paths) * _FEW > self.count:
            return [number for number, path in enumerate(self.paths()) if path in paths]
        return [number for number in map(self.number_of, paths) if number >= 0]

    def triggers(self) -> list[tuple[int, tuple[str, ...]]]:
        """Give the documents that declare phrases, with their phrases."""
        found = self._section(_TRIGGERS)
        return [(number, tuple(phrases)) for number, phrases in json.loads(zlib.decompress(found))] if found else []

    def documents(self) -> list[Document]:
        """Give all documents."""
        triggers, prefix = dict(self.triggers()), self._prefix
        rows = zip(self._paths.all(), self.stamps(), self.lengths.T.tolist(), strict=True)
        return [Document(prefix + path, stamp, triggers.get(number, ()), tuple(lengths))
                for number, (path, stamp, lengths) in enumerate(rows)]  # fmt: skip

    def names(self) -> Names:
        """Give every word that stands in a name, as it is written, and the documents that have it."""
        return named.read(self._section(_NAMES), self.count)

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


def _opened(data: memoryview) -> tuple[int, list[int], list[int]]:
    """Check the header; give the number of documents, where each section ends, and the checksums of the small ones."""
    if len(data) < _HEAD.size:
        raise DamagedError
    magic, version, count, *rest, check = _HEAD.unpack(data[: _HEAD.size])
    ends, sums = rest[:_SECTIONS], rest[_SECTIONS:]
    sound = check == zlib.crc32(data[: _HEAD.size - 4]) and ends[-1] == len(data) and ends == sorted(ends)
    if magic != _MAGIC or version != FORMAT or not sound:
        raise DamagedError
    return count, ends, sums
