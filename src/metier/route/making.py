"""Segments are made from skills' texts, or from other segments without a text being read again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from metier.route import named, postings
from metier.route.fields import BODY, counted
from metier.route.segment import Document, encoded, laid_out
from metier.route.vocabulary import COLUMNS, WIDTH, Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from metier.route.named import Names
    from metier.route.postings import Numbers
    from metier.route.segment import Segment
    from metier.wanted import Text

MOST_TEXTS, MOST_POSTINGS = 8192, 1 << 21
"""What a segment is written with at the latest: a library of any size is read with the memory of so many."""
_STRETCH = 32
"""Blocks of the largest vocabulary that are merged at a time."""
_NUL = "\0"


def segments_of(texts: Iterable[Text]) -> Iterator[bytes]:
    """Make segments from skills; of two with one path in a segment, the later counts."""
    heap = _Heap()
    for text in texts:
        if _NUL in text.path:
            continue  # no file is called so
        heap.add(text)
        if len(heap.documents) >= MOST_TEXTS or heap.size >= MOST_POSTINGS:
            yield heap.made()
            heap = _Heap()
    if heap.documents:
        yield heap.made()


class _Heap:
    """Skills that were counted and not yet sorted."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[Document, frozenset[str], list[tuple[Numbers, Numbers]]]] = {}
        self.words: dict[str, int] = {}
        self.size = 0

    def add(self, text: Text) -> None:
        """Count a skill's words."""
        found, numbers = counted(text), self.words
        columns = []
        for column, counts in enumerate(found.counts):
            terms = np.fromiter((numbers.setdefault(word, len(numbers)) for word in counts), np.int64, len(counts))
            halves = postings.steps(np.fromiter(counts.values(), np.int64, len(counts)))
            if column == BODY and found.headed:
                headed = np.fromiter((word in found.headed for word in counts), np.bool_, len(counts))
                halves[headed] |= postings.HEADED
            columns.append((terms, halves))
            self.size += len(terms)
        document = Document(encoded(text.path), text.stamp, text.triggers, found.lengths)
        self.documents[text.path] = document, found.named, columns

    def made(self) -> bytes:
        """Sort everything, and make a segment of it."""
        words = sorted((word.encode("utf-8", "surrogatepass"), number) for word, number in self.words.items())
        ranks = np.empty(len(words), np.int64)
        ranks[[number for _word, number in words]] = np.arange(len(words))
        documents, names, parts = [], [], []
        for number, path in enumerate(sorted(self.documents)):
            document, name, columns = self.documents[path]
            documents.append(document)
            names.append(name)
            for column, (terms, halves) in enumerate(columns):
                parts.append(postings.packed(ranks[terms], column, np.full(len(terms), number), halves))
        written = _Lists(len(documents))
        written.add([word for word, _number in words], np.concatenate(parts))
        return written.made(documents, named.names_of(names))


class _Lists:
    """The words and lists of a segment that is being made, stretch by stretch."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.vocabulary = Written()
        self.data: list[bytes] = []
        self.halves: list[Numbers] = []

    def add(self, words: list[bytes], found: Numbers) -> None:
        """Add words that come after all others, and the postings that refer to them by their place."""
        found.sort()
        lists = postings.coded(found, self.count)
        rows = np.zeros((len(words), WIDTH), np.int64)
        rows[lists.terms, lists.columns] = lists.sizes
        rows[lists.terms, lists.columns + COLUMNS] = lists.lengths
        headed = lists.halves >= postings.HEADED
        np.add.at(rows[:, -1], np.repeat(lists.terms, lists.sizes)[headed], 1)
        used = np.flatnonzero(rows[:, :COLUMNS].any(axis=1))  # a word of which every document is gone has no list
        self.vocabulary.add([words[number] for number in used], rows[used])
        self.data.append(lists.data)
        self.halves.append(lists.halves)

    def made(self, documents: Sequence[Document], names: Names) -> bytes:
        """Put the segment together."""
        halves = postings.squeezed(np.concatenate([np.zeros(0, np.uint8), *self.halves]))
        return laid_out(documents, self.vocabulary.parts(), b"".join(self.data), halves, names)


def merged(segments: Sequence[tuple[Segment, Numbers]]) -> bytes:
    """Make one segment of several, of each only the documents that its mask says are still there. No path is in two of them."""
    rows = [(document.path, which, number, document)
            for which, (segment, live) in enumerate(segments)
            for number, document in enumerate(segment.documents()) if live[number]]  # fmt: skip
    rows.sort(key=lambda row: row[0])
    numbers = [np.full(segment.count, -1, np.int64) for segment, _live in segments]
    for new, (_path, which, old, _document) in enumerate(rows):
        numbers[which][old] = new
    written = _Lists(len(rows))
    for low, high in _stretches([segment for segment, _live in segments]):
        written.add(*_gathered([segment for segment, _live in segments], numbers, low, high))
    names = named.merged([(segment.names(), new) for (segment, _live), new in zip(segments, numbers, strict=True)])
    return written.made([row[-1] for row in rows], names)


def _stretches(segments: Sequence[Segment]) -> Iterator[tuple[bytes, bytes | None]]:
    """Cut all vocabularies at the same words, so that a stretch at a time is in memory."""
    firsts = max((segment.vocabulary.firsts for segment in segments), key=len)
    cuts = [firsts[number] for number in range(_STRETCH, len(firsts), _STRETCH)]
    yield from zip((b"", *cuts), (*cuts, None), strict=True)


def _gathered(
    segments: Sequence[Segment], numbers: Sequence[Numbers], low: bytes, high: bytes | None
) -> tuple[list[bytes], Numbers]:
    """Give the words of a stretch of all segments together, and their postings with the new numbers of the documents."""
    stretches = [segment.vocabulary.between(low, high) for segment in segments]
    words = sorted(set().union(*(stretch.words for stretch in stretches)))
    places = {word: place for place, word in enumerate(words)}
    parts = []
    for segment, stretch, new in zip(segments, stretches, numbers, strict=True):
        documents, halves = segment.lists_of(stretch)
        documents = new[documents]
        terms = np.fromiter((places[word] for word in stretch.words), np.int64, len(stretch.words))
        sizes = stretch.rows[:, :COLUMNS]
        each = np.repeat(np.repeat(terms, COLUMNS), sizes.ravel())
        columns = np.repeat(np.tile(np.arange(COLUMNS), len(terms)), sizes.ravel())
        there = documents >= 0
        parts += [postings.packed(each[here], column, documents[here], halves[here])
                  for column in range(COLUMNS) for here in [there & (columns == column)]]  # fmt: skip
    return words, np.concatenate(parts)
