"""An index as it lies open: its segments and vectors together, and what they answer. Pure over what
was opened.
"""

from __future__ import annotations

from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from metier.find.index.bm25 import WordIndex, sum_fields
from metier.find.index.query import TermFinder
from metier.find.index.vectors import shortlist
from metier.find.model import IndexCandidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.find.index.manifest import IndexManifest
    from metier.find.index.postings import Numbers
    from metier.find.index.segments import IndexSegment
    from metier.find.index.vectors import VectorFile
    from metier.find.model import Floats, IndexQuery
    from metier.model import Texts

_MAX_MASKS = 4
"""Sets of paths whose masks are remembered."""


class OpenIndex:
    """An index as one manifest describes it."""

    def __init__(
        self,
        version: object,
        manifest: IndexManifest,
        parts: Sequence[tuple[str, IndexSegment, Numbers]],
        files: dict[str, VectorFile],
    ) -> None:
        """Take what could be opened: each segment with a mask of what is still there, and each file
        of vectors.
        """
        self.version = version
        self.manifest = manifest
        self.segments = {name: segment for name, segment, _live in parts}
        self.files = files
        self.whole = len(parts) == len(manifest.parts)
        """Whether every segment could be opened."""
        self.complete = self.whole and len(files) == len(manifest.vectors)
        self.index = WordIndex([(segment, live) for _name, segment, live in parts])
        self.asker = TermFinder(self.index)
        self._masks: tuple[tuple[frozenset[str] | None, frozenset[str], Numbers], ...] = ()
        """What was made of a set of paths that may be answered and one of those that may not."""

    @cached_property
    def known(self) -> dict[str, bytes]:
        """The stamp of every skill by its path."""
        known: dict[str, bytes] = {}
        for segment, live in self.index.parts:
            rows = zip(segment.paths(), segment.stamps(), strict=True)
            known.update(compress(rows, live.tolist()))
        return known

    def triggers(self) -> dict[str, Texts]:
        """Give the phrases of every skill that declares some."""
        return {
            segment.path(number): phrases
            for segment, live in self.index.parts
            for number, phrases in segment.triggers()
            if live[number]
        }

    def number_of(self, path: str) -> int | None:
        """Give the number of the document with a path."""
        for start, (segment, live) in zip(self.index.starts, self.index.parts, strict=False):
            number = segment.number_of(path)
            if number >= 0 and live[number]:
                return start + number
        return None

    @cached_property
    def keys(self) -> Numbers:
        """What stands for each document as it was when it was read."""
        return np.concatenate(
            [np.zeros(0, np.uint64), *(segment.keys for segment, _live in self.index.parts)]
        )

    # --- candidates

    def query(self, asked: IndexQuery, model: str) -> list[IndexCandidate]:
        """Give the best by their words and the best by their vectors, each once and with everything
        that speaks for it.
        """
        if asked.limit <= 0:
            return []
        allowed = self._allowed(asked)
        terms = self.asker.terms(asked.text, unfinished=asked.unfinished)
        likely = self.index.likely(terms, allowed, asked.limit)
        means = self._comparable(asked.vector, model)
        near = self._nearest(asked.vector, asked.limit, allowed)[0] if means else likely[:0]
        numbers = np.union1d(likely, near)
        if not len(numbers):
            return []
        signals = self.index.signals(terms, numbers)
        totals = sum_fields(signals)
        worded = np.flatnonzero(np.isin(numbers, likely))
        best = worded[self.index.first(numbers[worded], totals[worded], asked.limit)]
        chosen = np.union1d(best, np.searchsorted(numbers, near))
        signals = {name: column[chosen] for name, column in signals.items()}
        signals["vector"] = self._cosines(asked.vector if means else None, numbers[chosen])
        rows = zip(*(column.tolist() for column in signals.values()), strict=True)
        found = [
            (-total, IndexCandidate(self.index.path(number), dict(zip(signals, row, strict=True))))
            for total, number, row in zip(
                totals[chosen].tolist(), numbers[chosen].tolist(), rows, strict=True
            )
        ]
        found.sort(key=lambda one: (one[0], -one[1].signals["vector"], one[1].path))
        return [candidate for _total, candidate in found]

    def _allowed(self, asked: IndexQuery) -> Numbers:
        """Give a mask of the documents that may be answered."""
        mask = self._mask(asked.among, asked.without)
        return mask & self.asker.tagged(asked.tags) if asked.tags else mask

    def _mask(self, among: frozenset[str] | None, without: frozenset[str]) -> Numbers:
        for known, known_without, mask in self._masks:
            if known is among and known_without is without:
                return mask
        mask = self.index.live
        if among is not None:
            mask = mask & self._has(among)
        if without:
            mask = mask & ~self._has(without)
        self._masks = ((among, without, mask), *self._masks[: _MAX_MASKS - 1])
        return mask

    def _has(self, paths: frozenset[str]) -> Numbers:
        """Tell which documents have one of these paths."""
        parts = zip(self.index.starts, self.index.parts, strict=False)
        has: Numbers = np.zeros_like(self.index.live)
        has[[start + n for start, (segment, _) in parts for n in segment.numbers_of(paths)]] = True
        return has

    # --- vectors

    def without_vectors(self, model: str) -> list[str]:
        """Give the paths of skills that have no vectors of a model."""
        lacks = self.index.live.copy()
        for where in self.where if model == self.manifest.model else ():
            lacks[where[where >= 0]] = False
        found: list[str] = []
        for start, (segment, _live) in zip(self.index.starts, self.index.parts, strict=False):
            some = lacks[start : start + segment.count]
            found += compress(segment.paths(), some.tolist()) if some.any() else ()
        return sorted(found)

    @cached_property
    def where(self) -> list[Numbers]:
        """Of every file, which document each of its rows belongs to; -1 where it is none."""
        there = np.flatnonzero(self.index.live)
        order = there[np.argsort(self.keys[there], kind="stable")]
        taken: Numbers = np.zeros(len(self.keys), np.bool_)
        later_first = [
            _place_rows(file.keys, self.keys[order], order, taken)
            for file in reversed(self.files.values())
        ]
        return later_first[::-1]  # of two files with one skill, the later has the newer vectors

    @cached_property
    def _rows(self) -> list[Numbers]:
        """Of every file, which of its rows each document has there; -1 for none."""
        held = []
        for where in self.where:
            rows: Numbers = np.full(len(self.keys), -1, np.int32)
            rows[where[where >= 0]] = np.flatnonzero(where >= 0)
            held.append(rows)
        return held

    def likeness(self, paths: Sequence[str], model: str) -> Floats:
        """Give the cosine of each two of these skills; NaN where one of the two has no vector."""
        rows = self.vectors_of(paths, model)
        return rows @ rows.T if rows.shape[1] else np.full((len(paths), len(paths)), np.nan)

    def vectors_of(self, paths: Sequence[str], model: str) -> Floats:
        """Give the vector of each of these skills; NaN where it has none."""
        found = [self._vector(path, model) for path in paths]
        width = max((len(vector) for vector in found if vector is not None), default=0)
        none = np.full(width, np.nan)
        rows: Floats = np.array([none if vector is None else vector for vector in found]).reshape(
            len(paths), width
        )
        return rows

    def neighbours(
        self, path: str, limit: int, among: frozenset[str], model: str
    ) -> list[tuple[str, float]]:
        """Give those of some skills that lie nearest to another, the nearest first."""
        vector = self._vector(path, model)
        if vector is None or limit <= 0:
            return []
        if not vector.any():
            return []
        near = self._nearest(vector, limit + 1, self._mask(among, frozenset()))
        found = sorted(
            (-cosine, self.index.path(number))
            for number, cosine in zip(*(some.tolist() for some in near), strict=True)
        )
        return [(other, -cosine) for cosine, other in found if other != path][:limit]

    def _vector(self, path: str, model: str) -> Floats | None:
        """Give the vector of a skill, where there is one."""
        number = self.number_of(path) if not model or model == self.manifest.model else None
        if number is None:
            return None
        for file, rows in zip(self.files.values(), self._rows, strict=True):
            if rows[number] >= 0:
                return file.matrix.vectors(rows[number : number + 1])[0]
        return None

    def _comparable(self, vector: Floats | None, model: str) -> bool:
        """Tell whether there are vectors that the one of the query can be compared with."""
        if (
            vector is None
            or not (self.files and self.index.count)
            or (model and model != self.manifest.model)
        ):
            return False
        vector = np.asarray(vector)
        return bool(vector.any()) and all(
            file.matrix.width == vector.size for file in self.files.values()
        )

    def _nearest(self, vector: Floats, limit: int, allowed: Numbers) -> tuple[Numbers, Numbers]:
        """Give the documents that lie nearest, and their cosines; of those that draw at the end,
        the first by path.
        """
        matrices = [file.matrix for file in self.files.values()]
        may = [(where >= 0) & allowed[where] for where in self.where]
        rows = shortlist(list(zip(matrices, may, strict=True)), vector, limit)
        numbers = np.concatenate(
            [where[some] for where, some in zip(self.where, rows, strict=True)]
        )
        cosines = np.concatenate(
            [matrix.near(vector, some) for matrix, some in zip(matrices, rows, strict=True)]
        )
        chosen = self.index.first(numbers, cosines, limit)
        return numbers[chosen], cosines[chosen]

    def _cosines(self, vector: Floats | None, numbers: Numbers) -> Numbers:
        """Give the cosine of each document; nothing where there are no vectors."""
        found: Numbers = np.zeros(len(numbers))
        if vector is not None:
            for file, rows in zip(self.files.values(), self._rows, strict=True):
                has = np.flatnonzero(rows[numbers] >= 0)
                found[has] = file.matrix.near(vector, rows[numbers[has]])
        return found


def _place_rows(keys: Numbers, known: Numbers, order: Numbers, taken: Numbers) -> Numbers:
    """Give the document of each key that no later file has; `known` are the sorted keys of the
    documents in `order`.
    """
    where: Numbers = np.full(len(keys), -1, np.int64)
    if len(known):
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        where = np.where(known[places] == keys, order[places], -1)
        where[(where >= 0) & taken[where]] = -1
        taken[where[where >= 0]] = True
    return where
