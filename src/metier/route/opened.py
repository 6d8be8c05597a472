"""An index as it lies open: its segments and vectors together, and what they answer. Pure over what was opened."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from metier.route.asking import Asker
from metier.route.lexical import Index, Place, total
from metier.route.vectors import shortlisted
from metier.wanted import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from metier.route.lexical import Term
    from metier.route.manifest import Manifest
    from metier.route.postings import Numbers
    from metier.route.segment import Segment
    from metier.route.vectorfile import VectorFile
    from metier.wanted import Asked, Floats

    _Sorted: TypeAlias = tuple[float, float, str, Candidate]
    """A candidate after what it is sorted by."""

_MASKS = 4
"""Sets of paths whose masks are remembered."""


class _Seen(NamedTuple):
    """Documents of a segment, what speaks for each, and how much that is in all."""

    numbers: Numbers
    signals: dict[str, Numbers]
    totals: Numbers


class _Masked(NamedTuple):
    """What was made of a set of paths that may be answered and one of those that may not."""

    among: frozenset[str] | None
    without: frozenset[str]
    masks: list[Numbers | None]


class Opened:
    """An index as one manifest describes it."""

    def __init__(self, version: object, manifest: Manifest, parts: Sequence[tuple[str, Segment, Numbers | None]],
                 files: Sequence[tuple[str, VectorFile]]) -> None:  # fmt: skip
        """Take what could be opened: each segment with a mask of what is still there, and each file of vectors."""
        self.version, self.manifest = version, manifest
        self.segments = {name: segment for name, segment, _live in parts}
        self.files = dict(files)
        self.whole = len(parts) == len(manifest.parts)
        """Whether every segment could be opened."""
        self.index = Index([(segment, live) for _name, segment, live in parts])
        self.asker = Asker(self.index)
        counts = [segment.count for _name, segment, _live in parts]
        self.starts: Numbers = np.cumsum([0, *counts])
        self._known: dict[str, bytes] | None = None
        self._masked: tuple[_Masked, ...] = ()
        self._where: list[Numbers] | None = None
        self._held: list[Numbers] | None = None

    def known(self) -> dict[str, bytes]:
        """Give the stamp of every skill by its path."""
        if self._known is None:
            known: dict[str, bytes] = {}  # put in place when it is whole: others may be asking
            for segment, live in self.index.parts:
                rows = zip(segment.paths(), segment.stamps(), strict=True)
                known.update(rows if live is None else compress(rows, live.tolist()))
            self._known = known
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
        allowed, parts = self._allowed(asked), range(len(self.index.parts))
        terms = self.asker.terms(asked.text, unfinished=asked.unfinished)
        likely = self.index.likely(terms, allowed, asked.limit)
        means = self._comparable(asked.vector, model)
        near = [place for _cosine, place in self._nearest(asked.vector, asked.limit, allowed, means=means)]
        seen = [self._seen(terms, part, _numbers({*likely, *near}, part)) for part in parts]
        worded = [(one.numbers[has], one.totals[has])
                  for part, one in enumerate(seen) for has in [np.isin(one.numbers, _numbers(likely, part))]]  # fmt: skip
        chosen = {*self.index.first(worded, asked.limit), *near} if asked.limit > 0 else set()
        found: list[_Sorted] = []
        for part, one in enumerate(seen):
            found += self._candidates(asked, part, one, np.isin(one.numbers, _numbers(chosen, part)), means=means)
        return [candidate for *_order, candidate in sorted(found, key=_order)]

    def _seen(self, terms: Sequence[Term], part: int, numbers: Numbers) -> _Seen:
        signals = self.index.signals(terms, part, numbers)
        return _Seen(numbers, signals, total(signals))

    def _candidates(self, asked: Asked, part: int, seen: _Seen, chosen: Numbers, *, means: bool) -> list[_Sorted]:
        """Make candidates of some documents, each with what it is sorted by."""
        numbers = seen.numbers[chosen]
        signals = {name: column[chosen] for name, column in seen.signals.items()}
        signals["vector"] = self._cosines(asked, numbers + self.starts[part], means=means)
        paths = map(self.index.parts[part][0].path, numbers.tolist())
        rows = zip(*(column.tolist() for column in signals.values()), strict=True)
        order = (-seen.totals[chosen]).tolist(), (-signals["vector"]).tolist(), paths, rows
        return [(total, vector, path, Candidate(path, dict(zip(signals, row, strict=True))))
                for total, vector, path, row in zip(*order, strict=True)]  # fmt: skip

    def _allowed(self, asked: Asked) -> list[Numbers | None]:
        """Give a mask for every segment: which of its documents may be answered."""
        masks = self._masks(asked.among, asked.without)
        if asked.tags:
            masks = [_both(mask, self.asker.tagged(asked.tags, part)) for part, mask in enumerate(masks)]
        return masks

    def _masks(self, among: frozenset[str] | None, without: frozenset[str]) -> list[Numbers | None]:
        for known in self._masked:
            if known.among is among and known.without is without:
                return known.masks
        masks: list[Numbers | None] = [live for _segment, live in self.index.parts]
        for part, (segment, _live) in enumerate(self.index.parts):
            if among is not None:
                masks[part] = _both(masks[part], _mask(segment, among))
            if without:
                masks[part] = _both(masks[part], ~_mask(segment, without))
        self._masked = (_Masked(among, without, masks), *self._masked[: _MASKS - 1])
        return masks

    # --- vectors

    def without_vectors(self, model: str) -> list[str]:
        """Give the paths of skills that have no vectors of a model."""
        has: Numbers = np.zeros(self.starts[-1], np.bool_)
        for where in self.where() if model == self.manifest.model else ():
            has[where[where >= 0]] = True
        found: list[str] = []
        for start, (segment, live) in zip(self.starts.tolist(), self.index.parts, strict=False):
            lacks = _all(segment, live) & ~has[start : start + segment.count]
            found += compress(segment.paths(), lacks.tolist()) if lacks.any() else ()
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

    def likeness(self, paths: Sequence[str], model: str) -> Floats:
        """Give the cosine of each two of these skills; NaN where one of the two has no vector."""
        found = [self._vector(path, model) for path in paths]
        width = max((len(vector) for vector in found if vector is not None), default=0)
        none = np.full(width, np.nan)
        rows: Floats = np.array([none if vector is None else vector for vector in found]).reshape(len(paths), width)
        return rows @ rows.T if width else np.full((len(paths), len(paths)), np.nan)

    def neighbours(self, path: str, limit: int, among: frozenset[str], model: str) -> list[tuple[str, float]]:
        """Give those of some skills that lie nearest to another, the nearest first."""
        vector = self._vector(path, model)
        if vector is None or limit <= 0:
            return []
        near = self._nearest(vector, limit + 1, self._masks(among, frozenset()), means=bool(vector.any()))
        found = sorted((-cosine, self.index.path(place)) for cosine, place in near)
        return [(other, -cosine) for cosine, other in found if other != path][:limit]

    def _vector(self, path: str, model: str) -> Floats | None:
        """Give the vector of a skill, where there is one."""
        found = self.find(path) if not model or model == self.manifest.model else None
        if found is None:
            return None
        for file, rows in zip(self.files.values(), self._rows(), strict=True):
            row = rows[self.starts[found.part] + found.number]
            if row >= 0:
                return file.matrix.vectors(np.array([row]))[0]
        return None

    def _comparable(self, vector: Floats | None, model: str) -> bool:
        """Tell whether there are vectors that the one of the query can be compared with."""
        if vector is None or not self.files or (model and model != self.manifest.model):
            return False
        vector = np.asarray(vector)
        return bool(vector.any()) and all(file.matrix.width == vector.size for file in self.files.values())

    def _nearest(self, vector: Floats, limit: int, allowed: Sequence[Numbers | None], *, means: bool) -> list[tuple[float, Place]]:
        """Give the documents that lie nearest; of those that draw at the end, the first by path."""
        if limit <= 0 or not means:
            return []
        places, cosines = [], []
        for (file, where), numbers in zip(self._held_by(), self._shortlisted(vector, limit, allowed), strict=True):
            places.append(where[numbers])
            cosines.append(file.matrix.near(vector, numbers))
        scores, every = np.concatenate(cosines), np.concatenate(places)
        least = np.partition(scores, -limit)[-limit] if len(scores) > limit else -np.inf
        chosen = list(zip(scores[scores > least].tolist(), self._places(every[scores > least]), strict=True))
        draws = sorted(self._places(every[scores == least]), key=self.index.path)
        return chosen + [(float(least), place) for place in draws[: limit - len(chosen)]]

    def _shortlisted(self, vector: Floats, limit: int, allowed: Sequence[Numbers | None]) -> list[Numbers]:
        may = np.concatenate([_all(segment, mask) for (segment, _live), mask in zip(self.index.parts, allowed, strict=True)])
        files = [(file.matrix, (where >= 0) & may[where]) for file, where in self._held_by()]
        return shortlisted(files, vector, limit)

    def _held_by(self) -> list[tuple[VectorFile, Numbers]]:
        return list(zip(self.files.values(), self.where(), strict=True))

    def _cosines(self, asked: Asked, places: Numbers, *, means: bool) -> Numbers:
        """Give the cosine of each document; nothing where there are no vectors."""
        found: Numbers = np.zeros(len(places))
        for file, rows in zip(self.files.values(), self._rows(), strict=True) if means else ():
            has = np.flatnonzero(rows[places] >= 0)
            found[has] = file.matrix.near(asked.vector, rows[places[has]])
        return found

    def _rows(self) -> list[Numbers]:
        """Tell of every file which of its rows each document has there; -1 for none."""
        if self._held is None:
            held = []
            for where in self.where():
                rows: Numbers = np.full(self.starts[-1], -1, np.int32)
                rows[where[where >= 0]] = np.flatnonzero(where >= 0)
                held.append(rows)
            self._held = held
        return self._held

    def _places(self, places: Numbers) -> list[Place]:
        parts = np.searchsorted(self.starts, places, side="right") - 1
        return list(map(Place, parts.tolist(), (places - self.starts[parts]).tolist()))


def _numbers(places: Iterable[Place], part: int) -> Numbers:
    """Give the numbers of the documents that lie in a segment, in their order."""
    return np.array(sorted({place.number for place in places if place.part == part}), np.int64)


def _order(one: _Sorted) -> tuple[float, float, str]:
    return one[:3]


def _all(segment: Segment, mask: Numbers | None) -> Numbers:
    return np.ones(segment.count, np.bool_) if mask is None else mask


def _both(mask: Numbers | None, other: Numbers) -> Numbers:
    return other if mask is None else mask & other


def _mask(segment: Segment, among: frozenset[str]) -> Numbers:
    """Tell which documents of a segment have one of these paths."""
    mask: Numbers = np.zeros(segment.count, np.bool_)
    mask[segment.numbers_of(among)] = True
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
