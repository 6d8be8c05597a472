"""Words asked for → the documents that have them, and how much each field says for each. Pure over
opened segments.

One BM25 for each field, with counts over the documents that are still there, in all segments
together; and every sum is made in the same order. So the answer does not depend on how the
documents came to lie in which segment.

In a large index, words that a good part of all documents have are left out of the sweep over all
documents, and are added for the best of them: they make up most of the work and hardly any of the
difference.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate, pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.find.index.dictionary import LIST_COLUMNS
from metier.find.index.postings import COUNT_STEPS, IN_HEADING, ShortPostings
from metier.find.words import BODY, FIELDS, HEADINGS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from metier.find.index.postings import LongPostings, Numbers
    from metier.find.index.segments import IndexSegment

K1 = 1.2
B = 0.75
MAX_TERMS = 64
"""Words of a query that count: those that the fewest documents have."""
LARGE_INDEX_DOCUMENTS = 4096
"""From so many documents on, common words are left out of the sweep."""
COMMON_WORD_SHARE = 4
"""One in so many documents has a common word."""
CANDIDATES_PER_HIT = 3
"""For each candidate that is wanted, how many the sweep finds: they are then looked at with all
words, and exactly."""
MAX_CACHED_POSTINGS = 1 << 20
MIN_WORD_POSTINGS = 64
"""Postings of words that stay read, a few being in every query; and what a word counts at the
least."""
SUMMED_FIELDS = FIELDS[: BODY + 1]
"""Fields whose scores are added up to tell which documents are candidates; what a heading says, the
body says too."""
_SAMPLE = 8
"""One in so many scores is looked at first, to see which are worth a look."""
_STEPS = np.concatenate((COUNT_STEPS, COUNT_STEPS))
"""How often a word stands there, by the half byte that goes with its posting."""


class QueryTerm(NamedTuple):
    """Something that is asked for: a word, or several that may all be meant, as one."""

    word: bytes
    weight: float
    lists: tuple[tuple[ShortPostings | LongPostings | None, ...], ...]
    """Of each segment, a list for each column. Documents that are gone may be in it."""
    sizes: tuple[int, ...]
    """How many documents that are still there have it, by column and then in a heading."""

    @property
    def size(self) -> int:
        """How many documents have it in one of the fields, the one with the most."""
        return max(self.sizes)


class WordIndex:
    """Segments that are searched together; their documents are numbered one segment after the
    other.
    """

    def __init__(self, parts: Sequence[tuple[IndexSegment, Numbers]]) -> None:
        """Take each segment with a mask of the documents that are still there."""
        self.parts = tuple(parts)
        self.starts = [0, *accumulate(segment.count for segment, _live in parts)]
        """The first number of each segment, and after the last the number of all documents."""
        self.live: Numbers = np.concatenate([np.zeros(0, np.bool_), *(live for _, live in parts)])
        self.count = int(np.count_nonzero(self.live))
        self._gone = [np.flatnonzero(~live) for _segment, live in parts]
        self._norms: dict[tuple[int, int], Numbers] = {}
        self._terms: dict[tuple[object, ...], QueryTerm] = {}
        self._held = 0

    @cached_property
    def averages(self) -> tuple[float, ...]:
        """How long each field is on average."""
        totals = np.zeros(len(FIELDS), np.int64)
        for segment, live in self.parts:
            totals += segment.lengths[:, live].sum(axis=1, dtype=np.int64)
        return tuple(max(total, 1) / max(self.count, 1) for total in totals.tolist())

    @property
    def _most(self) -> int:
        """How many documents have a word at the most that is not common."""
        return (
            self.count // COMMON_WORD_SHARE if self.count >= LARGE_INDEX_DOCUMENTS else self.count
        )

    def _norm(self, lengths: Numbers, field: int) -> Numbers:
        """Give what the length of a field does to the score."""
        norm: Numbers = K1 * (1 - B + B * lengths.astype(np.float64) / self.averages[field])
        return norm

    def _all_norms(self, part: int, column: int) -> Numbers:
        found = self._norms.get((part, column))
        if found is None:
            norm = self._norm(self.parts[part][0].lengths[column], column)
            found = self._norms[part, column] = norm.astype(np.float32)
        return found

    def rarity(self, count: int) -> float:
        """Tell how much a word says that so many documents have."""
        return log((self.count + 1) / (count + 0.5))

    # --- terms

    def term(
        self,
        words: Sequence[bytes],
        columns: Collection[int] = range(LIST_COLUMNS),
        weight: float = 1.0,
    ) -> QueryTerm:
        """Look words up that mean the same thing here: a document that has several of them counts
        as if it had the best one.
        """
        key = (*words, *columns, weight)
        found = self._terms.get(key)
        if found is None:
            found = self._look_up(words, columns, weight)
            self._held += MIN_WORD_POSTINGS + sum(
                len(one.documents)
                for row in found.lists
                for one in row
                if isinstance(one, ShortPostings)
            )
            if self._held > MAX_CACHED_POSTINGS:
                self._terms = {}
                self._held = 0
            self._terms[key] = found
        return found

    def _look_up(
        self, words: Sequence[bytes], columns: Collection[int], weight: float
    ) -> QueryTerm:
        lists = []
        sizes = np.zeros(len(FIELDS), np.int64)
        for (segment, _live), gone in zip(self.parts, self._gone, strict=True):
            rows = [row for row in map(segment.vocabulary.find, words) if row is not None]
            found = [
                _combine([segment.list_of(row, column) for row in rows if row.sizes[column]])
                if column in columns
                else None
                for column in range(LIST_COLUMNS)
            ]
            for column, one in enumerate(found):
                if one is not None:
                    has, halves = one.at(gone)
                    sizes[column] += one.size - np.count_nonzero(has)
                    if column == BODY:
                        sizes[HEADINGS] += np.count_nonzero(one.halves >= IN_HEADING)
                        sizes[HEADINGS] -= np.count_nonzero(has & (halves >= IN_HEADING))
            lists.append(tuple(found))
        return QueryTerm(words[0], weight, tuple(lists), tuple(sizes.tolist()))

    def foremost(self, terms: Sequence[QueryTerm]) -> list[QueryTerm]:
        """Give the terms that count when there are too many, in the order in which all sums are
        made.
        """
        rarest = sorted(
            terms, key=lambda term: (not term.size, term.size, term.word)
        )  # what nobody has finds nothing
        return sorted(rarest[:MAX_TERMS], key=lambda term: term.word)

    # --- documents

    def likely(self, terms: Sequence[QueryTerm], allowed: Numbers, limit: int) -> Numbers:
        """Give a few times as many documents as are wanted: the best of all are among them."""
        limit *= CANDIDATES_PER_HIT
        found = self._sweep(terms, allowed, limit, self._most)
        if len(found) < limit and any(
            size > self._most for term in terms for size in term.sizes[:LIST_COLUMNS]
        ):
            found = self._sweep(terms, allowed, limit, self.count)
        return found

    def _sweep(
        self, terms: Sequence[QueryTerm], allowed: Numbers, limit: int, most: int
    ) -> Numbers:
        """Give the best of all documents by the words that at most so many documents have."""
        numbers = [np.zeros(0, np.int64)]
        scores = [np.zeros(0, np.float32)]
        for part, (start, end) in enumerate(pairwise(self.starts)):
            found = self._scores(terms, part, most)
            found[~allowed[start:end]] = 0.0
            highest = _highest(found, limit)
            numbers.append(start + highest)
            scores.append(found[highest])
        every = np.concatenate(numbers)
        return every[self.first(every, np.concatenate(scores), limit)]

    def first(self, numbers: Numbers, scores: Numbers, limit: int) -> Numbers:
        """Give the places of the highest scores; of those that draw at the end, the first by
        path.
        """
        above, draws = _above_and_drawn(scores, limit)
        drawn = sorted(draws.tolist(), key=lambda at: self.path(int(numbers[at])))
        return np.concatenate((above, np.array(drawn[: limit - len(above)], np.int64)))

    def path(self, number: int) -> str:
        """Give the path of a document."""
        part = bisect_right(self.starts, number) - 1
        return self.parts[part][0].path(number - self.starts[part])

    def _scores(self, terms: Sequence[QueryTerm], part: int, most: int) -> Numbers:
        scores: Numbers = np.zeros(self.parts[part][0].count, np.float32)
        for term in terms:
            for column, one in enumerate(term.lists[part]):
                if one is not None and term.sizes[column] <= most:
                    if one.gains is None:
                        often = _STEPS[one.halves]
                        documents = one.documents
                        factor = np.float32(
                            term.weight * self.rarity(term.sizes[column]) * (K1 + 1)
                        )
                        one.gains = (
                            documents,
                            factor * often / (often + self._all_norms(part, column)[documents]),
                        )
                        self._held += len(documents)
                    documents, gains = one.gains
                    scores[documents] += gains
        return scores

    def signals(self, terms: Sequence[QueryTerm], numbers: Numbers) -> dict[str, Numbers]:
        """Tell what each field says for some documents, which are sorted, and which share of what
        is asked for they have.

        `asked` is how much all words of the task weigh, also those that no skill has: what a field
        says grows with it.
        """
        cuts = np.searchsorted(numbers, self.starts).tolist()
        found = [
            self._signals(terms, part, numbers[begin:end] - self.starts[part])
            for part, (begin, end) in enumerate(pairwise(cuts))
        ]
        return {name: np.concatenate([one[name] for one in found]) for name in found[0]}

    def _signals(
        self, terms: Sequence[QueryTerm], part: int, numbers: Numbers
    ) -> dict[str, Numbers]:
        found = {field: np.zeros(len(numbers)) for field in (*FIELDS, "coverage")}
        lengths = self.parts[part][0].lengths[:, numbers]
        norms = [self._norm(lengths[field], field) for field in range(len(FIELDS))]
        whole = 0.0
        for term in terms:
            factors = [term.weight * self.rarity(size) * (K1 + 1) for size in term.sizes]
            anywhere = np.zeros(len(numbers), np.bool_)
            for column, one in enumerate(term.lists[part]):
                if one is None:
                    continue
                has, halves = one.at(numbers)
                anywhere |= has
                often = _STEPS[halves] * has.astype(np.float64)
                found[FIELDS[column]] += factors[column] * often / (often + norms[column])
                if column == BODY:
                    headed = has & (halves >= IN_HEADING)
                    found[FIELDS[HEADINGS]] += factors[HEADINGS] * headed / (1 + norms[HEADINGS])
            rarity = self.rarity(term.size)
            whole += rarity
            found["coverage"] += term.weight * rarity * anywhere
        found["coverage"] /= whole or 1.0
        found["asked"] = np.full(len(numbers), whole)
        return found


def sum_fields(signals: Mapping[str, Numbers]) -> Numbers:
    """Add up what the fields say."""
    first, *rest = (signals[field] for field in SUMMED_FIELDS)
    for field in rest:
        first = first + field
    return first


def _combine(lists: Sequence[ShortPostings | LongPostings]) -> ShortPostings | LongPostings | None:
    """Make one list of several: a document is in it once, with the most that any of them says."""
    if len(lists) < 2:
        return lists[0] if lists else None
    halves = np.concatenate([one.halves for one in lists])
    documents, which = np.unique(
        np.concatenate([one.documents for one in lists]), return_inverse=True
    )
    often = np.zeros(len(documents), np.uint8)
    headed = np.zeros(len(documents), np.uint8)
    np.maximum.at(often, which, halves & (IN_HEADING - 1))
    np.maximum.at(headed, which, halves & IN_HEADING)
    return ShortPostings(documents, often | headed)


def _highest(scores: Numbers, limit: int) -> Numbers:
    """Give the numbers of the highest scores above nothing; of those that draw at the end, the
    first, which is so by path.
    """
    least = np.finfo(np.float32).tiny
    if len(scores) > _SAMPLE * limit:
        # the last of the highest of some is no higher than the last of the highest of all
        least = max(np.partition(scores[::_SAMPLE], -limit)[-limit], least)
    numbers = np.flatnonzero(scores >= least)
    above, draws = _above_and_drawn(scores[numbers], limit)
    found: Numbers = numbers[np.concatenate((above, draws[: limit - len(above)]))]
    return found


def _above_and_drawn(scores: Numbers, limit: int) -> tuple[Numbers, Numbers]:
    """Give the places of the highest scores, and of all that draw for the last of so many."""
    if len(scores) <= limit:
        return np.arange(len(scores)), np.zeros(0, np.int64)
    least = np.partition(scores, -limit)[-limit]
    return np.flatnonzero(scores > least), np.flatnonzero(scores == least)
