"""An index as it lies open: its segments and vectors together, and what they answer. Pure over what was opened."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from metier.route.asking import Asker
from metier.route.lexical import SUMMED, Index, Place
from metier.wanted import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.route.lexical import Term
    from metier.route.manifest import Manifest
    from metier.route.postings import Numbers
    from metier.route.segment import Segment
    from metier.route.vectorfile import VectorFile
    from metier.wanted import Asked

_FEW = 16
"""Paths are looked for one by one when there are so many times fewer of them than documents."""


class Opened:
    """An index as one manifest describes it."""

    def __init__(self, version: object, manifest: Manifest, parts: Sequence[tuple[str, Segment, Numbers | None]],
                 files: Sequence[tuple[str, VectorFile]]) -> None:  # fmt: skip
        """Take what could be opened: each segment with a mask of what is still there, and each file of vectors."""
        self.version, self.manifest = version, manifest
        self.segments = {name: segment for name, segment, _live in parts}
        self.files = dict(files)
        self.index = Index([(segment, live) for _name, segment, live in parts])
        self.asker = Asker(self.index)
        counts = [segment.count for _name, segment, _live in parts]
        self.starts: Numbers = np.cumsum([0, *counts])
        self._known: dict[str, bytes] | None = None
        self._among: tuple[frozenset[str], list[Numbers]] | None = None
        self._where: list[Numbers] | None = None
        self._held: list[Numbers] | None = None

    def known(self) -> dict[str, bytes]:
        """Give the stamp of every skill by its path."""
        if self._known is None:
            self._known = {}
            for segment, live in self.index.parts:
                rows = zip(segment.paths(), segment.stamps(), strict=True)
                self._known.update(rows if live is None else compress(rows, live.tolist()))
        return self._known

    def triggers(self) -> dict[str, tuple[str, ...]]:
        """Give the phrases of every skill that declares some."""
        return {segment.path(number): phrases for segment, live in self.index.parts
                for number, phrases in segment.triggers() if live is None or live[number]}  # fmt: skip

    def find(self, path: str) -> Place | None:
        """Give the document with a path."""
        for part, (segment, live) in enumerate(self.index.parts):
            number = segment.number_of(path)
            if number >= 0 and (live is None or live[number]):
                return Place(part, number)
        return None

    def key_of(self, path: str) -> int | None:
        """Give what stands for a skill as it was when it was read; nothing for one that is not known."""
        found = self.find(path)
        return None if found is None else int(self.index.parts[found.part][0].keys[found.number])

    # --- candidates

    def query(self, asked: Asked, model: str) -> list[Candidate]:
        """Give the best by their words and the best by their vectors, each once and with everything that speaks for it."""
        allowed = self._allowed(asked)
        terms = self.asker.terms(asked.text, unfinished=asked.unfinished)
        chosen = {*self.index.best(terms, allowed, asked.limit)}
        means = self._comparable(asked, model)
        chosen.update(self._nearest(asked, allowed) if means else ())
        found: list[Candidate] = []
        for part in range(len(allowed)):
            found += self._candidates(asked, terms, part, chosen, means=means)
        return sorted(found, key=lambda one: (-sum(one.signals[field] for field in SUMMED), -one.signals["vector"], one.path))

    def _candidates(self, asked: Asked, terms: Sequence[Term], part: int, chosen: set[Place], *, means: bool) -> list[Candidate]:
        numbers: Numbers = np.array(sorted(one.number for one in chosen if one.part == part), np.int64)
        if not len(numbers):
            return []
        signals = self.index.signals(terms, part, numbers)
        signals["vector"], signals["passage"] = self._cosines(asked, numbers + self.starts[part], means=means)
        segment = self.index.parts[part][0]
        columns = [column.tolist() for column in signals.values()]
        return [Candidate(segment.path(number), dict(zip(signals, row, strict=True)))
                for number, *row in zip(numbers.tolist(), *columns, strict=True)]  # fmt: skip

    def _allowed(self, asked: Asked) -> list[Numbers | None]:
        """Give a mask for every segment: which of its documents may be answered."""
        masks: list[Numbers | None] = [live for _segment, live in self.index.parts]
        if asked.among is not None:
            masks = [_both(mask, other) for mask, other in zip(masks, self._masks(asked.among), strict=True)]
        if asked.tags:
            masks = [_both(mask, self.asker.tagged(asked.tags, part)) for part, mask in enumerate(masks)]
        return masks

    def _masks(self, among: frozenset[str]) -> list[Numbers]:
        if self._among is None or self._among[0] is not among:
            self._among = among, [_mask(segment, among) for segment, _live in self.index.parts]
        return self._among[1]

    # --- vectors

    def without_vectors(self, model: str) -> list[str]:
        """Give the paths of skills that have no vectors of a model."""
        has: Numbers = np.zeros(self.starts[-1], np.bool_)
        for where in self.where() if model == self.manifest.model else ():
            has[where[where >= 0]] = True
        found: list[str] = []
        for start, (segment, live) in zip(self.starts.tolist(), self.index.parts, strict=False):
            found += compress(segment.paths(), (_all(segment, live) & ~has[start : start + segment.count]).tolist())
        return sorted(found)

    def where(self) -> list[Numbers]:
        """Tell of every file which document each of its rows belongs to, counted through all segments; -1 where it is none."""
        if self._where is None:
            keys = np.concatenate([np.zeros(0, np.uint64), *(segment.keys for segment, _live in self.index.parts)])
            there = np.flatnonzero(np.concatenate([np.zeros(0, np.bool_), *(_all(*part) for part in self.index.parts)]))
            order = there[np.argsort(keys[there], kind="stable")]
            taken = np.zeros(len(keys), np.bool_)
            later_first = [_placed(file.keys, keys[order], order, taken) for file in reversed(self.files.values())]
            self._where = later_first[::-1]  # of two files with one skill, the later has the newer vectors
        return self._where

    def _comparable(self, asked: Asked, model: str) -> bool:
        """Tell whether there are vectors that the one of the query can be compared with."""
        if asked.vector is None or not self.files or (model and model != self.manifest.model):
            return False
        vector = np.asarray(asked.vector)
        return bool(vector.any()) and all(file.matrix.width == vector.size for file in self.files.values())

    def _nearest(self, asked: Asked, allowed: Sequence[Numbers | None]) -> list[Place]:
        may = np.concatenate([_all(segment, mask) for (segment, _live), mask in zip(self.index.parts, allowed, strict=True)])
        found: list[tuple[float, str, Place]] = []
        for file, where in zip(self.files.values(), self.where(), strict=True):
            rows = (where >= 0) & may[where]
            numbers, cosines = _nearest(file, asked, None if rows.all() else rows)
            places = [self._place(place) for place in where[numbers].tolist()]
            found += [(-cosine, self.index.path(place), place) for cosine, place in zip(cosines.tolist(), places, strict=True)]
        return [place for _cosine, _path, place in sorted(found)[: max(asked.limit, 0)]]

    def _cosines(self, asked: Asked, places: Numbers, *, means: bool) -> tuple[Numbers, Numbers]:
        """Give the cosine of each document's card and of its best passage; nothing where there are no vectors."""
        cards, passages = np.zeros(len(places)), np.zeros(len(places))
        for file, rows in zip(self.files.values(), self._rows(), strict=True) if means else ():
            has = np.flatnonzero(rows[places] >= 0)
            cards[has], passages[has] = file.matrix.cosines(asked.vector, rows[places[has]])
        return cards, passages

    def _rows(self) -> list[Numbers]:
        """Tell of every file which of its rows each document has there; -1 for none."""
        if self._held is None:
            self._held = []
            for where in self.where():
                rows: Numbers = np.full(self.starts[-1], -1, np.int64)
                rows[where[where >= 0]] = np.flatnonzero(where >= 0)
                self._held.append(rows)
        return self._held

    def _place(self, place: int) -> Place:
        part = int(np.searchsorted(self.starts, place, side="right")) - 1
        return Place(part, place - int(self.starts[part]))


def _nearest(file: VectorFile, asked: Asked, rows: Numbers | None) -> tuple[Numbers, Numbers]:
    """Give the skills of a file whose cards lie nearest, and all that draw with the last: their paths decide which count."""
    limit = wanted = max(asked.limit, 0)
    while True:
        numbers, cosines = file.matrix.nearest(asked.vector, rows, wanted)
        if not limit or len(numbers) < wanted or cosines[-1] < cosines[limit - 1]:
            return numbers, cosines
        wanted = wanted * 2


def _all(segment: Segment, mask: Numbers | None) -> Numbers:
    return np.ones(segment.count, np.bool_) if mask is None else mask


def _both(mask: Numbers | None, other: Numbers) -> Numbers:
    return other if mask is None else mask & other


def _mask(segment: Segment, among: frozenset[str]) -> Numbers:
    """Tell which documents of a segment have one of these paths."""
    if len(among) * _FEW > segment.count:
        return np.fromiter((path in among for path in segment.paths()), np.bool_, segment.count)
    mask: Numbers = np.zeros(segment.count, np.bool_)
    numbers = [segment.number_of(path) for path in among]
    mask[[number for number in numbers if number >= 0]] = True
    return mask


def _placed(keys: Numbers, known: Numbers, order: Numbers, taken: Numbers) -> Numbers:
    """Give the document of each key that no later file has; `known` are the sorted keys of the documents in `order`."""
    where: Numbers = np.full(len(keys), -1, np.int64)
    if len(known):
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        where = np.where(known[places] == keys, order[places], -1)
        where[(where >= 0) & taken[where]] = -1
        taken[where[where >= 0]] = True
    return where
