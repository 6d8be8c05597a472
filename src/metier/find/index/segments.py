"""Writes, reads and merges index segments: a segment holds some documents in the order of their
paths, their words and their lists, and never changes. Pure.

A header says what lies where, how long the whole is and in which format, and carries its own
checksum; so a part of another version or one that was cut off is known for that as soon as it is
opened. Nothing else is read until it is needed. Each small section has a checksum, and so has each
block of words together with its lists; it is looked at when the section or the block is first read:
a changed byte is no other answer.
"""

from __future__ import annotations

import json
import struct
import zlib
from bisect import bisect_left
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.find.index import dictionary, postings
from metier.find.index.dictionary import (
    LIST_COLUMNS,
    ROW_NUMBERS,
    Strings,
    Vocabulary,
    VocabularyWriter,
    bases_of,
    join_strings,
)
from metier.find.index.postings import DamagedIndexError, documents_of_many, halves_of, list_of
from metier.find.words import BODY, FIELDS, count_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet

    from metier.find.index.dictionary import Names, WordRange, WordRow
    from metier.find.index.postings import LongPostings, Numbers, ShortPostings
    from metier.find.model import SkillText
    from metier.model import Texts


SEGMENT_FORMAT = 3
"""Grows whenever the layout, the words or what is counted changes: an index of another number is
made anew."""
MAX_FIELD_WORDS = 0xFFFF
"""The length of a field as far as it is counted."""
_MAGIC = b"metier-index"
_LENGTHS, _KEYS, _PREFIX, _PATHS, _STAMPS, _TRIGGERS, _FIRSTS, _BASES, _NAMES, _CHECKS = range(10)
_SMALL = 10
_SECTIONS = 13
"""The small sections come first. The large ones are the words, their lists, and what goes with each
posting."""
_HEAD = struct.Struct(f"<12sIQ{_SECTIONS}Q{_SMALL}II")
"""Magic, format, documents, where each section ends, a checksum of each small one, and a checksum
of all that."""
_LOOKUP_RATIO = 16
"""Paths are looked for one by one when there are so many times fewer of them than documents."""


class IndexedDocument(NamedTuple):
    """What an index keeps of a skill besides its words."""

    path: bytes
    stamp: bytes
    triggers: Texts
    lengths: tuple[int, ...]


def encode_path(path: str) -> bytes:
    """Give the form of a path by which documents are sorted: the same order as that of the paths
    themselves.
    """
    return path.encode("utf-8", "surrogatepass")


def _decode_path(path: bytes) -> str:
    return str(path, "utf-8", "surrogatepass")


def key_of(path: bytes, stamp: bytes) -> bytes:
    """Give eight bytes that stand for a skill as it was when it was read."""
    return blake2b(len(path).to_bytes(4, "little") + path + stamp, digest_size=8).digest()


def lay_out(
    documents: Sequence[IndexedDocument],
    vocabulary: tuple[bytes, bytes, bytes],
    lists: bytes,
    halves: bytes,
    names: Names,
) -> bytes:
    """Put a segment together; the documents are in the order of their paths."""
    lengths = np.array([one.lengths for one in documents], np.int64).reshape(-1, len(FIELDS))
    paths = [one.path for one in documents]
    start = _shared_bytes(paths)
    blocks, firsts, bases = vocabulary
    triggers = [(number, one.triggers) for number, one in enumerate(documents) if one.triggers]
    words = Strings(memoryview(blocks))
    starts = bases_of(bases)
    small = (
        np.minimum(lengths, MAX_FIELD_WORDS).T.astype("<u2").tobytes(),
        b"".join([key_of(one.path, one.stamp) for one in documents]),
        paths[0][:start] if paths else b"",
        join_strings([path[start:] for path in paths]),
        join_strings([one.stamp for one in documents]),
        zlib.compress(json.dumps(triggers).encode()) if triggers else b"",
        firsts,
        bases,
        dictionary.names_as_bytes(names),
        np.array(
            [_checksum(words, starts, lists, halves, block) for block in range(len(words))], "<u4"
        ).tobytes(),
    )
    sections = (*small, blocks, lists, halves)
    ends = np.cumsum([_HEAD.size, *map(len, sections)]).tolist()[1:]
    counts = (SEGMENT_FORMAT, len(documents), *ends, *map(zlib.crc32, small))
    return b"".join([postings.sealed_head(_HEAD, _MAGIC, *counts), *sections])


def _checksum(
    words: Strings,
    bases: Numbers,
    lists: bytes | memoryview,
    halves: bytes | memoryview,
    block: int,
) -> int:
    """Give a checksum of a block of words and of its lists; `bases` says where those of each
    begin.
    """
    start, half = bases[block].tolist()
    end, last = (
        bases[block + 1].tolist() if block + 1 < len(bases) else (len(lists), 2 * len(halves))
    )
    return zlib.crc32(
        halves[half >> 1 : last + 1 >> 1], zlib.crc32(lists[start:end], zlib.crc32(words[block]))
    )


def _shared_bytes(paths: Sequence[bytes]) -> int:
    """Tell how many bytes all paths begin with; they are sorted, so the first and the last tell
    it.
    """
    if not paths:
        return 0
    pairs = zip(paths[0], paths[-1], strict=False)
    return next(
        (at for at, (one, other) in enumerate(pairs) if one != other),
        min(len(paths[0]), len(paths[-1])),
    )


class IndexSegment:
    """A segment as it lies in a buffer."""

    def __init__(self, buffer: bytes | memoryview) -> None:
        """Look at the header; whatever is not right about it is a `DamagedError`."""
        data = memoryview(buffer)
        magic, version, count, *rest = postings.read_head(_HEAD, data)
        self.count = int(count)
        ends = [_HEAD.size, *rest[:_SECTIONS]]
        self._sums = rest[_SECTIONS:]
        if (magic, version, ends[-1]) != (_MAGIC, SEGMENT_FORMAT, len(data)) or ends != sorted(
            ends
        ):
            raise DamagedIndexError
        self._parts = [data[start:end] for start, end in pairwise(ends)]
        *_small, self._blocks, lists, halves = self._parts
        self._lists: Numbers = np.frombuffer(lists, np.uint8)
        self._halves: Numbers = np.frombuffer(halves, np.uint8)
        self._sound = set[int]()

    def _section(self, number: int) -> memoryview:
        """Give a small section, if it is what was written."""
        found = self._parts[number]
        if zlib.crc32(found) != self._sums[number]:
            raise DamagedIndexError
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
    def _checks(self) -> Numbers:
        return np.frombuffer(self._section(_CHECKS), "<u4")

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """All words."""
        found = Vocabulary(self._blocks, self._section(_FIRSTS), self._section(_BASES))
        if len(self._checks) != len(found.blocks):
            raise DamagedIndexError
        found.check = self._check
        return found

    def _check(self, block: int) -> None:
        """Look once whether a block of words and its lists are those that were written."""
        if block not in self._sound:
            words, (lists, halves) = self.vocabulary, self._parts[-2:]
            found = _checksum(words.blocks, words.bases, lists, halves, block)
            if found != self._checks[block]:
                raise DamagedIndexError
            self._sound.add(block)

    def is_sound(self) -> bool:
        """Read everything: tell whether it is what was written."""
        try:
            for number in range(_SMALL):
                self._section(number)
            for block in range(len(self.vocabulary.blocks)):
                self._check(block)
        except DamagedIndexError:
            return False
        return True

    def path(self, number: int) -> str:
        """Give the path of a document."""
        return _decode_path(self._prefix + self._paths[number])

    def paths(self) -> list[str]:
        """Give the paths of all documents."""
        prefix = self._prefix
        data = bytes(self._paths.data)
        if not prefix.isascii() or not data.isascii():
            return [_decode_path(prefix + path) for path in self._paths.all()]
        start, text = str(prefix, "ascii"), str(data, "ascii")  # four times as fast
        return [start + text[begin:end] for begin, end in pairwise([0, *self._paths.ends.tolist()])]

    def stamps(self) -> list[bytes]:
        """Give the stamps of all documents."""
        return Strings(self._section(_STAMPS)).all()

    def number_of(self, path: str) -> int:
        """Give the number of the document with this path; -1 where there is none."""
        wanted = encode_path(path)
        prefix = self._prefix
        if not wanted.startswith(prefix):
            return -1
        rest = wanted[len(prefix) :]
        at = bisect_left(self._paths, rest)
        return at if at < self.count and self._paths[at] == rest else -1

    def numbers_of(self, paths: AbstractSet[str]) -> list[int]:
        """Give the numbers of the documents that have one of these paths."""
        if len(paths) * _LOOKUP_RATIO > self.count:
            return [number for number, path in enumerate(self.paths()) if path in paths]
        return [number for number in map(self.number_of, paths) if number >= 0]

    def triggers(self) -> list[tuple[int, Texts]]:
        """Give the documents that declare phrases, with their phrases."""
        found = self._section(_TRIGGERS)
        return (
            [(number, tuple(phrases)) for number, phrases in json.loads(zlib.decompress(found))]
            if found
            else []
        )

    def documents(self) -> list[IndexedDocument]:
        """Give all documents."""
        triggers = dict(self.triggers())
        prefix = self._prefix
        rows = zip(self._paths.all(), self.stamps(), self.lengths.T.tolist(), strict=True)
        return [
            IndexedDocument(prefix + path, stamp, triggers.get(number, ()), tuple(lengths))
            for number, (path, stamp, lengths) in enumerate(rows)
        ]

    def names(self) -> Names:
        """Give every word that stands in a name, as it is written, and the documents that have
        it.
        """
        return dictionary.read_names(self._section(_NAMES), self.count)

    def list_of(self, row: WordRow, column: int) -> ShortPostings | LongPostings:
        """Give one list of a word."""
        size = row.sizes[column]
        start = row.data[column]
        return list_of(
            self._lists[start : start + row.lengths[column]],
            self._halves,
            row.halves[column],
            size,
            self.count,
        )

    def lists_of(self, stretch: WordRange) -> tuple[Numbers, Numbers]:
        """Give the documents in all lists of a stretch of words, one behind the other, and what
        goes with each.
        """
        sizes = stretch.rows[:, :LIST_COLUMNS].ravel()
        lengths = stretch.rows[:, LIST_COLUMNS:-1].ravel()
        data = self._lists[stretch.data : stretch.data + int(lengths.sum())]
        documents = documents_of_many(data, sizes, lengths, self.count)
        halves = halves_of(self._halves, stretch.halves, len(documents))
        if len(halves) != len(documents):
            raise DamagedIndexError
        return documents, halves


# --- making and merging segments

MAX_SEGMENT_TEXTS = 8192
MAX_SEGMENT_POSTINGS = 1 << 21
"""What a segment is written with at the latest: a library of any size is read with the memory of so
many."""
_BLOCKS_AT_ONCE = 32
"""Blocks of the largest vocabulary that are merged at a time."""
_NUL = "\0"


def segments_of(texts: Iterable[SkillText]) -> Iterator[bytes]:
    """Make segments from skills; of two with one path in a segment, the later counts."""
    heap = _SegmentBuilder()
    for text in texts:
        if _NUL in text.path:
            continue  # no file is called so
        heap.add(text)
        if len(heap.documents) >= MAX_SEGMENT_TEXTS or heap.size >= MAX_SEGMENT_POSTINGS:
            yield heap.build()
            heap = _SegmentBuilder()
    if heap.documents:
        yield heap.build()


class _SegmentBuilder:
    """Skills that were counted and not yet sorted."""

    def __init__(self) -> None:
        self.documents: dict[
            str, tuple[IndexedDocument, frozenset[str], list[tuple[Numbers, Numbers]]]
        ] = {}
        self.words: dict[str, int] = {}
        self.size = 0

    def add(self, text: SkillText) -> None:
        """Count a skill's words."""
        found = count_words(text)
        numbers = self.words
        columns = []
        for column, counts in enumerate(found.counts):
            terms = np.fromiter(
                (numbers.setdefault(word, len(numbers)) for word in counts), np.int64, len(counts)
            )
            halves = postings.steps(np.fromiter(counts.values(), np.int64, len(counts)))
            if column == BODY and found.headed:
                headed = np.fromiter(
                    (word in found.headed for word in counts), np.bool_, len(counts)
                )
                halves[headed] |= postings.IN_HEADING
            columns.append((terms, halves))
            self.size += len(terms)
        document = IndexedDocument(encode_path(text.path), text.stamp, text.triggers, found.lengths)
        self.documents[text.path] = document, found.named, columns

    def build(self) -> bytes:
        """Sort everything, and make a segment of it."""
        words = sorted(
            (word.encode("utf-8", "surrogatepass"), number) for word, number in self.words.items()
        )
        ranks = np.empty(len(words), np.int64)
        ranks[[number for _word, number in words]] = np.arange(len(words))
        documents = []
        names = []
        parts = []
        for number, path in enumerate(sorted(self.documents)):
            document, name, columns = self.documents[path]
            documents.append(document)
            names.append(name)
            for column, (terms, halves) in enumerate(columns):
                parts.append(postings.packed(ranks[terms], column, number, halves))
        writer = _ListWriter(len(documents))
        writer.add([word for word, _number in words], np.concatenate(parts))
        return writer.build(documents, dictionary.names_of(names))


class _ListWriter:
    """The words and lists of a segment that is being made, stretch by stretch."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.vocabulary = VocabularyWriter()
        self.data: list[bytes] = []
        self.halves: list[Numbers] = []

    def add(self, words: list[bytes], found: Numbers) -> None:
        """Add words that come after all others, and the postings that refer to them by their
        place.
        """
        found.sort()
        lists = postings.code_lists(found, self.count)
        rows = np.zeros((len(words), ROW_NUMBERS), np.int64)
        rows[lists.terms, lists.columns] = lists.sizes
        rows[lists.terms, lists.columns + LIST_COLUMNS] = lists.lengths
        headed = lists.halves >= postings.IN_HEADING
        np.add.at(rows[:, -1], np.repeat(lists.terms, lists.sizes)[headed], 1)
        used = np.flatnonzero(
            rows[:, :LIST_COLUMNS].any(axis=1)
        )  # a word of which every document is gone has no list
        self.vocabulary.add([words[number] for number in used], rows[used])
        self.data.append(lists.data)
        self.halves.append(lists.halves)

    def build(self, documents: Sequence[IndexedDocument], names: Names) -> bytes:
        """Put the segment together."""
        halves = postings.pack_halves(np.concatenate([np.zeros(0, np.uint8), *self.halves]))
        return lay_out(documents, self.vocabulary.parts(), b"".join(self.data), halves, names)


def merge_segments(segments: Sequence[tuple[IndexSegment, Numbers]]) -> bytes:
    """Make one segment of several, of each only the documents that its mask says are still there.
    No path is in two of them.
    """
    rows = [
        (document.path, which, number, document)
        for which, (segment, live) in enumerate(segments)
        for number, document in enumerate(segment.documents())
        if live[number]
    ]
    rows.sort(key=lambda row: row[0])
    numbers = [np.full(segment.count, -1, np.int64) for segment, _live in segments]
    for new, (_path, which, old, _document) in enumerate(rows):
        numbers[which][old] = new
    writer = _ListWriter(len(rows))
    for low, high in _stretches([segment for segment, _live in segments]):
        writer.add(*_gather([segment for segment, _live in segments], numbers, low, high))
    names = dictionary.merge_names(
        [(segment.names(), new) for (segment, _live), new in zip(segments, numbers, strict=True)]
    )
    return writer.build([row[-1] for row in rows], names)


def _stretches(segments: Sequence[IndexSegment]) -> Iterator[tuple[bytes, bytes | None]]:
    """Cut all vocabularies at the same words, so that a stretch at a time is in memory."""
    firsts = max((segment.vocabulary.firsts for segment in segments), key=len)
    cuts = [firsts[number] for number in range(_BLOCKS_AT_ONCE, len(firsts), _BLOCKS_AT_ONCE)]
    yield from zip((b"", *cuts), (*cuts, None), strict=True)


def _gather(
    segments: Sequence[IndexSegment], numbers: Sequence[Numbers], low: bytes, high: bytes | None
) -> tuple[list[bytes], Numbers]:
    """Give the words of a stretch of all segments together, and their postings with the new numbers
    of the documents.
    """
    stretches = [segment.vocabulary.between(low, high) for segment in segments]
    words = sorted(set().union(*(stretch.words for stretch in stretches)))
    places = {word: place for place, word in enumerate(words)}
    parts = []
    for segment, stretch, new in zip(segments, stretches, numbers, strict=True):
        documents, halves = segment.lists_of(stretch)
        documents = new[documents]
        terms = np.fromiter((places[word] for word in stretch.words), np.int64, len(stretch.words))
        sizes = stretch.rows[:, :LIST_COLUMNS]
        each = np.repeat(np.repeat(terms, LIST_COLUMNS), sizes.ravel())
        columns = np.repeat(np.tile(np.arange(LIST_COLUMNS), len(terms)), sizes.ravel())
        there = documents >= 0
        parts.append(postings.packed(each[there], columns[there], documents[there], halves[there]))
    return words, np.concatenate(parts)
