"""Words asked for → the documents that have them, and how much each field says for each. Pure over opened segments.

One BM25 for each field, with counts over the documents that are still there, in all segments together; and every sum is made in
the same order. So the answer does not depend on how the documents came to lie in which segment.

In a large index, words that a good part of all documents have are left out of the sweep over all documents, and are added for
the best of them: they make up most of the work and hardly any of the difference.
"""

from __future__ import annotations

from functools import cached_property
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.route.fields import BODY, FIELDS, HEADINGS
from metier.route.postings import HEADED, STEPS, Few
from metier.route.vocabulary import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from metier.route.postings import Many, Numbers
    from metier.route.segment import Segment

K1, B = 1.2, 0.75
MOST_TERMS = 64
"""Words of a query that count: those that the fewest documents have."""
LARGE = 4096
"""From so many documents on, common words are left out of the sweep."""
COMMON = 4
"""One in so many documents has a common word."""
SPARE = 3
"""For each candidate that is wanted, how many the sweep finds: they are then looked at with all words, and exactly."""
MOST_HELD, LEAST_HELD = 1 << 20, 64
"""Postings of words that stay read, a few being in every query; and what a word counts at the least."""
SUMMED = FIELDS[: BODY + 1]
"""Fields whose scores are added up to tell which documents are candidates; what a heading says, the body says too."""
_SAMPLE = 8
"""One in so many scores is looked at first, to see which are worth a look."""
_STEPS = np.concatenate((STEPS, STEPS))
"""How often a word stands there, by the half byte that goes with its posting."""


class Place(NamedTuple):
    """A document of an index: its segment, and its number there."""

    part: int
    number: int


class Term(NamedTuple):
    """Something that is asked for: a word, or several that may all be meant, as one."""

    word: bytes
    weight: float
    lists: tuple[tuple[Few | Many | None, ...], ...]
    """Of each segment, a list for each column. Documents that are gone may be in it."""
    sizes: tuple[int, ...]
    """How many documents that are still there have it, by column and then in a heading."""

    @property
    def size(self) -> int:
        """How many documents have it in one of the fields, the one with the most."""
        return max(self.sizes)


class Index:
    """Segments that are searched together."""

    def __init__(self, parts: Sequence[tuple[Segment, Numbers | None]]) -> None:
        """Take each segment with a mask of the documents that are still there; without one all of them are."""
        self.parts = tuple(parts)
        self._gone = [None if live is None else np.flatnonzero(~live) for _segment, live in parts]
        self.count = sum(segment.count for segment, _live in parts) - sum(len(gone) for gone in self._gone if gone is not None)
        self._norms: dict[tuple[int, int], Numbers] = {}
        self._terms: dict[tuple[object, ...], Term] = {}
        self._held = 0

    @cached_property
    def averages(self) -> tuple[float, ...]:
        """How long each field is on average."""
        totals = sum((segment.lengths[:, slice(None) if live is None else live].sum(axis=1, dtype=np.int64)
                      for segment, live in self.parts), np.zeros(len(FIELDS), np.int64))  # fmt: skip
        return tuple(max(total, 1) / max(self.count, 1) for total in totals.tolist())

    @property
    def _most(self) -> int:
        """How many documents have a word at the most that is not common."""
        return self.count // COMMON if self.count >= LARGE else self.count

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

    def term(self, words: Sequence[bytes], columns: Collection[int] = range(COLUMNS), weight: float = 1.0) -> Term:
        """Look words up that mean the same thing here: a document that has several of them counts as if it had the best one."""
        key = (*words, *columns, weight)
        found = self._terms.get(key)
        if found is None:
            found = self._looked_up(words, columns, weight)
            self._held += LEAST_HELD + sum(len(one.documents) for row in found.lists for one in row if isinstance(one, Few))
            if self._held > MOST_HELD:
                self._terms, self._held = {}, 0
            self._terms[key] = found
        return found

    def _looked_up(self, words: Sequence[bytes], columns: Collection[int], weight: float) -> Term:
        lists, sizes = [], np.zeros(len(FIELDS), np.int64)
        for part, (segment, _live) in enumerate(self.parts):
            rows = [row for row in map(segment.vocabulary.find, words) if row is not None]
            found = [_together([segment.list_of(row, column) for row in rows if column in columns and row.sizes[column]])
                     for column in range(COLUMNS)]  # fmt: skip
            whole = (*rows[0].sizes, rows[0].headed) if len(rows) == 1 and len(columns) == COLUMNS else None
            sizes += self._sizes(found, whole, self._gone[part])
            lists.append(tuple(found))
        return Term(words[0], weight, tuple(lists), tuple(sizes.tolist()))

    def _sizes(self, lists: Sequence[Few | Many | None], whole: tuple[int, ...] | None, gone: Numbers | None) -> Numbers:
        """Count the documents of some lists that are still there; `whole` is how many there were."""
        if whole is None:
            body = lists[BODY]
            headed = 0 if body is None else np.count_nonzero(body.halves >= HEADED)
            whole = (*(0 if one is None else len(one.documents) for one in lists), int(headed))
        sizes = np.array(whole, np.int64)
        for column, one in enumerate(lists):
            if one is not None and gone is not None:
                has, halves = one.at(gone)
                sizes[column] -= np.count_nonzero(has)
                if column == BODY:
                    sizes[HEADINGS] -= np.count_nonzero(has & (halves >= HEADED))
        return sizes

    def foremost(self, terms: Sequence[Term]) -> list[Term]:
        """Give the terms that count when there are too many, in the order in which all sums are made."""
        rarest = sorted(terms, key=lambda term: (not term.size, term.size, term.word))  # what nobody has finds nothing
        return sorted(rarest[:MOST_TERMS], key=lambda term: term.word)

    # --- documents

    def likely(self, terms: Sequence[Term], allowed: Sequence[Numbers | None], limit: int) -> list[Place]:
        """Give a few times as many documents as are wanted: the best of all are among them."""
        if limit <= 0:
            return []
        found = self._swept(terms, allowed, limit * SPARE, self._most)
        if len(found) < limit * SPARE and any(size > self._most for term in terms for size in term.sizes[:COLUMNS]):
            found = self._swept(terms, allowed, limit * SPARE, self.count)
        return found

    def _swept(self, terms: Sequence[Term], allowed: Sequence[Numbers | None], limit: int, most: int) -> list[Place]:
        """Give the best of all documents by the words that at most so many documents have."""
        found = []
        for part, mask in enumerate(allowed):
            scores = self._scores(terms, part, most)
            if mask is not None:
                scores[~mask] = 0.0
            numbers = _highest(scores, limit)
            found.append((numbers, scores[numbers]))
        return self.first(found, limit)

    def first(self, found: Sequence[tuple[Numbers, Numbers]], limit: int) -> list[Place]:
        """Give those with the highest scores, of the numbers and scores in each segment."""
        parts = np.repeat(np.arange(len(found)), [len(numbers) for numbers, _scores in found])
        numbers = np.concatenate([np.zeros(0, np.int64), *(numbers for numbers, _scores in found)])
        scores = np.concatenate([np.zeros(0, np.float32), *(scores for _numbers, scores in found)])
        least = np.partition(scores, -limit)[-limit] if len(scores) > limit else -np.inf
        chosen, draws = (list(map(Place, parts[some].tolist(), numbers[some].tolist()))
                         for some in (scores > least, scores == least))  # fmt: skip
        return chosen + sorted(draws, key=self.path)[: limit - len(chosen)]

    def path(self, place: Place) -> str:
        """Give the path of a document."""
        return self.parts[place.part][0].path(place.number)

    def _scores(self, terms: Sequence[Term], part: int, most: int) -> Numbers:
        scores: Numbers = np.zeros(self.parts[part][0].count, np.float32)
        for term in terms:
            for column, one in enumerate(term.lists[part]):
                if one is not None and term.sizes[column] <= most:
                    if one.gains is None:
                        often, documents = _STEPS[one.halves], one.documents
                        factor = np.float32(term.weight * self.rarity(term.sizes[column]) * (K1 + 1))
                        one.gains = documents, factor * often / (often + self._all_norms(part, column)[documents])
                        self._held += len(documents)
                    documents, gains = one.gains
                    scores[documents] += gains
        return scores

    def signals(self, terms: Sequence[Term], part: int, numbers: Numbers) -> dict[str, Numbers]:
        """Tell what each field says for some documents of a segment, and which share of what is asked for they have.

        `asked` is how much all words of the task weigh, also those that no skill has: what a field says grows with it.
        """
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
                    headed = has & (halves >= HEADED)
                    found[FIELDS[HEADINGS]] += factors[HEADINGS] * headed / (1 + norms[HEADINGS])
            rarity = self.rarity(term.size)
            whole += rarity
            found["coverage"] += term.weight * rarity * anywhere
        found["coverage"] /= whole or 1.0
        found["asked"] = np.full(len(numbers), whole)
        return found


def total(signals: Mapping[str, Numbers]) -> Numbers:
    """Add up what the fields say."""
    first, *rest = (signals[field] for field in SUMMED)
    for field in rest:
        first = first + field
    return first


def _together(lists: Sequence[Few | Many]) -> Few | Many | None:
    """Make one list of several: a document is in it once, with the most that any of them says."""
    if len(lists) < 2:
        return lists[0] if lists else None
    halves = np.concatenate([one.halves for one in lists])
    documents, which = np.unique(np.concatenate([one.documents for one in lists]), return_inverse=True)
    often, headed = np.zeros(len(documents), np.uint8), np.zeros(len(documents), np.uint8)
    np.maximum.at(often, which, halves & (HEADED - 1))
    np.maximum.at(headed, which, halves & HEADED)
    return Few(documents, often | headed)


def _highest(scores: Numbers, limit: int) -> Numbers:
    """Give the numbers of the highest scores above nothing; of those that draw at the end, the first, which is so by path."""
    if len(scores) > _SAMPLE * limit:
        some = scores[::_SAMPLE]  # the last of the highest of some is no higher than the last of the highest of all
        numbers = np.flatnonzero(scores >= max(np.partition(some, -limit)[-limit], np.finfo(np.float32).tiny))
    else:
        numbers = np.flatnonzero(scores > 0)
    held = scores[numbers]
    if len(held) <= limit:
        return numbers
    least = np.partition(held, -limit)[-limit]
    above, draws = np.flatnonzero(held > least), np.flatnonzero(held == least)
    return numbers[np.concatenate((above, draws[: limit - len(above)]))]
