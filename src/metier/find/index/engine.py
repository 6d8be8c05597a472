"""Implements the embedded search index behind the `Engine` port, on disk or in memory: which
segments there are, when they are merged, and how they are asked.

Segments and files of vectors are never changed; a manifest says which of them count, and is
replaced in one step once what it names is written. So whoever reads never waits, and a process that
is killed leaves the old index or the new one. What cannot be read, or was written by another
version, counts as not there: its skills are then not known, and are indexed again.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from metier.errors import StoreError
from metier.find.index import segments
from metier.find.index.manifest import IndexManifest, SegmentEntry, manifest_bytes, read_manifest
from metier.find.index.postings import DamagedIndexError
from metier.find.index.search import OpenIndex
from metier.find.index.segments import IndexSegment
from metier.find.index.vectors import (
    VectorFile,
    merge_vector_files as merge_files,
    pack_vector_file as pack_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from metier.find.index.postings import Numbers
    from metier.find.model import Floats, IndexCandidate, IndexQuery, SkillText
    from metier.model import Texts


AnswerT = TypeVar("AnswerT")

MERGE_RATIO = 4
"""A segment is merged with all smaller ones unless it has more than so many times their documents:
few segments, seldom written."""
GONE_SHARE = 3
"""A segment of which more than one in so many documents is gone is written anew."""
GONE_VECTORS_SHARE = 2
"""The same of a file of vectors."""
VECTORS_PER_FILE = 1024
"""Skills whose vectors are kept together: making so many takes a while, and is not to be done again
after an interruption."""
QUESTIONS_PER_REST = 8
"""After so many questions the memory is let go of into which files were read: they are read again
at next to no cost."""
_TRIES = 5
"""How often the manifest is read again because a file that it named had been replaced meanwhile."""


class IndexPlace(Protocol):
    """Where an index lies."""

    def version(self) -> object:
        """Give something that is another thing as soon as the manifest was replaced; it costs next
        to nothing.
        """

    def manifest(self) -> bytes:
        """Give the manifest; nothing when there is none."""

    def load(self, name: str) -> bytes | memoryview | None:
        """Give a file, or nothing."""

    def keep(self, data: bytes) -> str:
        """Write a file that nobody knows yet; give its name."""

    def switch(self, manifest: bytes) -> None:
        """Put a manifest in the place of the old one, in one step."""

    def alone(self) -> AbstractContextManager[None]:
        """Let one writer at a time go on."""

    def rest(self) -> None:
        """Let go of the memory into which files were read; whoever needs them again reads them
        again.
        """

    def drop(self, names: Iterable[str]) -> None:
        """Delete files that nothing names any more."""

    def sweep(self, kept: Collection[str]) -> None:
        """Delete what writers that were killed have left behind, long ago."""


class _HeldSegment(NamedTuple):
    """A segment while the index is being changed."""

    name: str
    segment: IndexSegment
    live: Numbers

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.live))


class IndexEngine:
    """An index in a place of its own."""

    def __init__(self, place: IndexPlace) -> None:
        """Look at nothing yet."""
        self.place = place
        self._open: OpenIndex | None = None
        self._model = ""
        self._queries = 0
        self._seen: tuple[SegmentEntry, ...] | None = ()

    # --- asking

    def known(self) -> Mapping[str, bytes]:
        """Give the path of every skill in the index, with the stamp it had when it was read."""
        with self._forgetting():
            index = self._current()
            self._seen = index.manifest.parts if index.whole else None
            return index.known

    def sealed(self) -> str:
        """Give what `seal` was told last; nothing once the skills have changed since, or some of
        them cannot be read.
        """
        return self._ask(lambda index: index.manifest.sealed if index.whole else "")

    def seal(self, state: str) -> None:
        """Note of which state of the library the skills are, unless somebody else has changed them
        since they were looked at.
        """
        with self._forgetting(), self.place.alone():
            manifest = self._manifest()
            if manifest.parts == self._seen and manifest.sealed != state:
                self.place.switch(manifest_bytes(manifest._replace(sealed=state)))

    def triggers(self) -> Mapping[str, Texts]:
        """Give the phrases of every skill that declares some, by path."""
        return self._ask(lambda index: index.triggers())

    def without_vectors(self, model: str) -> Sequence[str]:
        """Give the paths of skills that have no vectors of this model yet."""
        self._model = model
        return self._ask(lambda index: index.without_vectors(model))

    def query(self, asked: IndexQuery) -> Sequence[IndexCandidate]:
        """Give the skills that may fit, each once, with what speaks for each; those come first for
        which the words say most.
        """
        found = self._ask(lambda index: index.query(asked, self._model))
        self._queries += 1
        if self._queries % QUESTIONS_PER_REST == 0:  # or all of it would stay in memory in the end
            self.place.rest()
        return found

    def likeness(self, paths: Sequence[str]) -> Floats:
        """Give the cosine of each two of these skills, one row to each; NaN where one of the two
        has no vector.
        """
        return self._ask(lambda index: index.likeness(paths, self._model))

    def vectors_of(self, paths: Sequence[str]) -> Floats:
        """Give the vector of each of these skills, one row to each; NaN where it has none."""
        return self._ask(lambda index: index.vectors_of(paths, self._model))

    def neighbours(
        self, path: str, limit: int, among: frozenset[str]
    ) -> Sequence[tuple[str, float]]:
        """Give those of some skills that mean most nearly the same as another, with their
        cosines.
        """
        return self._ask(lambda index: index.neighbours(path, limit, among, self._model))

    def _ask(self, question: Callable[[OpenIndex], AnswerT]) -> AnswerT:
        with self._forgetting():
            return question(self._current())

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """Forget what turns out to be damaged when it is read, so that it is made anew."""
        try:
            yield
        except DamagedIndexError:
            self._forget()
            raise StoreError(
                "the index of skills is damaged", hint="ask again: it is made anew"
            ) from None

    def _forget(self) -> None:
        """Take what is damaged out of the index, unless somebody has changed it since it was
        opened.
        """
        with self.place.alone():
            index = self._open
            if index is None or index.version != self.place.version():
                return
            before = self._manifest()
            sound = {name for name, segment in index.segments.items() if segment.is_sound()}
            sound |= {name for name, file in index.files.items() if file.is_sound()}
            parts = tuple(part for part in before.parts if part.name in sound)
            files = tuple(name for name in before.vectors if name in sound)
            if (parts, files) == (before.parts, before.vectors):
                parts = ()  # whatever it was, it is not to be found again
            sealed = before.sealed if parts == before.parts else ""
            self._switch(before._replace(parts=parts, vectors=files, sealed=sealed), before)

    def _current(self) -> OpenIndex:
        """Give the index as it is now; what is open already stays open."""
        for _attempt in range(_TRIES):
            version = self.place.version()
            if self._open is not None and self._open.version == version:
                return self._open
            found = self._open = _open_index(self.place, version, self._manifest(), self._open)
            # a file that is missing was damaged, or replaced a moment ago
            if found.complete or self.place.version() == version:
                break
        return found

    def _manifest(self) -> IndexManifest:
        try:
            return read_manifest(self.place.manifest())
        except DamagedIndexError:
            return IndexManifest()

    # --- changing

    def build(self, texts: Iterable[SkillText]) -> None:
        """Begin anew with these skills and no others. Vectors of those that have not changed
        stay.
        """
        with self._forgetting(), self._writing() as new:
            held = self._write(texts, new)
            if len(held) > 1:
                held = [self._merge(held, new)]
            with self.place.alone():
                manifest = self._manifest()
                self._switch(manifest._replace(parts=_parts(held), sealed=""), manifest)
                self._seen = _parts(held)

    def update(self, texts: Iterable[SkillText], gone: Iterable[str]) -> None:
        """Put skills in, in the place of what had their paths, and take others out; the rest is not
        touched.
        """
        with self._forgetting(), self._writing() as new:
            added = self._write(texts, new)
            leaving = list(gone)
            with self.place.alone():
                manifest = self._manifest()
                held = self._held_segments()
                for paths in (leaving, *(one.segment.paths() for one in added)):
                    _take_out(held, paths)
                parts = _parts(self._tidy([*held, *added], new))
                if parts != manifest.parts:
                    self._switch(manifest._replace(parts=parts, sealed=""), manifest)
                self._seen = parts if manifest.parts == self._seen else None

    def add_vectors(self, model: str, vectors: Iterable[tuple[str, Floats]]) -> None:
        """Keep the vector of each skill. Those of any other model are forgotten, and those of
        another width count as such.
        """
        self._model = model
        rows: dict[int, Floats] = {}
        with self._forgetting():
            for path, row in vectors:
                index = self._current()
                number = index.number_of(path)
                if number is not None:
                    rows[int(index.keys[number])] = row
                if len(rows) >= VECTORS_PER_FILE:
                    self._add(model, rows)
                    rows = {}
            self._add(model, rows)

    def _add(self, model: str, rows: Mapping[int, Floats]) -> None:
        """Keep vectors under the keys of their skills."""
        with self._writing() as new:
            if rows:
                new.append(self.place.keep(pack_file(list(rows.items()))))
            with self.place.alone():
                before = self._manifest()
                files = (*(before.vectors if before.model == model else ()), *new)
                if files != before.vectors:
                    manifest = before._replace(model=model, vectors=files)
                    files = self._tidy_files(manifest, new)
                    self._switch(manifest._replace(vectors=files), before)

    @contextmanager
    def _writing(self) -> Iterator[list[str]]:
        """Give a list for the names of new files; those that are not part of the index in the end
        are deleted.
        """
        new: list[str] = []
        try:
            yield new
        finally:
            self.place.drop(set(new) - self._manifest().names())

    def _switch(self, manifest: IndexManifest, before: IndexManifest) -> None:
        """Let another manifest count, and delete what only the one before had."""
        self.place.switch(manifest_bytes(manifest))
        self.place.drop(before.names() - manifest.names())
        self.place.sweep(manifest.names())

    def _write(self, texts: Iterable[SkillText], new: list[str]) -> list[_HeldSegment]:
        """Write segments of skills; of two with one path, the later counts."""
        held: list[_HeldSegment] = []
        for data in segments.segments_of(texts):
            one = self._keep(data, new)
            _take_out(held, one.segment.paths())
            held.append(one)
        return held

    def _keep(self, data: bytes, new: list[str]) -> _HeldSegment:
        name = self.place.keep(data)
        new.append(name)
        segment = IndexSegment(self.place.load(name) or b"")
        return _HeldSegment(name, segment, np.ones(segment.count, np.bool_))

    def _held_segments(self) -> list[_HeldSegment]:
        """Give the segments of the index as they are now, to be changed."""
        index = self._current()
        return [
            _HeldSegment(name, segment, live.copy())
            for name, (segment, live) in zip(index.segments, index.index.parts, strict=True)
        ]

    def _merge(self, held: Sequence[_HeldSegment], new: list[str]) -> _HeldSegment:
        return self._keep(segments.merge_segments([(one.segment, one.live) for one in held]), new)

    def _tidy(self, held: Iterable[_HeldSegment], new: list[str]) -> list[_HeldSegment]:
        """Merge what has become too small or too empty; so many changes cost a few times what they
        are, however they come.
        """
        ordered = sorted((one for one in held if one.size), key=lambda one: -one.size)
        chosen = _to_merge([(one.size, len(one.live)) for one in ordered], GONE_SHARE)
        if not chosen:
            return ordered
        rest = [one for at, one in enumerate(ordered) if at not in chosen]
        return [*rest, self._merge([ordered[at] for at in chosen], new)]

    def _tidy_files(self, manifest: IndexManifest, new: list[str]) -> Texts:
        """Merge files of vectors in the same way; give the names of those that count: as wide as
        the last, which is the newest.
        """
        files = _open_index(self.place, None, manifest, self._open)
        rows = [np.flatnonzero(where >= 0) for where in files.where]
        widths = [file.matrix.width for file in files.files.values()]
        ordered = [
            (name, file, some)
            for (name, file), some in zip(files.files.items(), rows, strict=True)
            if len(some) and file.matrix.width == widths[-1]
        ]
        ordered.sort(key=lambda one: -len(one[-1]))
        sizes = [(len(some), file.matrix.count) for _name, file, some in ordered]
        chosen = _to_merge(sizes, GONE_VECTORS_SHARE)
        rest = tuple(name for at, (name, *_file) in enumerate(ordered) if at not in chosen)
        if not chosen:
            return rest
        name = self.place.keep(merge_files([ordered[at][1:] for at in chosen]))
        new.append(name)
        return (*rest, name)


def _open_index(
    place: IndexPlace, version: object, manifest: IndexManifest, before: OpenIndex | None
) -> OpenIndex:
    """Open what a manifest names, as far as it can be."""
    segments, files = (before.segments, before.files) if before else ({}, {})
    segments = _open_files(place, [part.name for part in manifest.parts], segments, IndexSegment)
    parts = [
        (part.name, segments[part.name], _mask(segments[part.name], part.gone))
        for part in manifest.parts
        if part.name in segments
    ]
    files = _open_files(place, manifest.vectors, files, VectorFile)
    return OpenIndex(version, manifest, parts, files)


def _open_files(
    place: IndexPlace,
    names: Iterable[str],
    known: Mapping[str, AnswerT],
    kind: Callable[[bytes | memoryview], AnswerT],
) -> dict[str, AnswerT]:
    """Open files that are not known; what is not there or damaged is left out."""
    found: dict[str, AnswerT] = {}
    for name in names:
        data = None if name in known else place.load(name)
        with suppress(DamagedIndexError):
            if name in known or data is not None:
                found[name] = known[name] if data is None else kind(data)
    return found


def _mask(segment: IndexSegment, gone: Sequence[int]) -> Numbers:
    """Give a mask of the documents that are still there."""
    live: Numbers = np.ones(segment.count, np.bool_)
    live[[number for number in gone if number < segment.count]] = False
    return live


def _parts(held: Iterable[_HeldSegment]) -> tuple[SegmentEntry, ...]:
    return tuple(
        SegmentEntry(one.name, tuple(np.flatnonzero(~one.live).tolist()))
        for one in held
        if one.size
    )


def _take_out(held: Iterable[_HeldSegment], paths: Sequence[str]) -> None:
    """Mark what has one of these paths as gone."""
    wanted = frozenset(paths)
    for one in held:
        one.live[one.segment.numbers_of(wanted)] = False


def _to_merge(sizes: Sequence[tuple[int, int]], gone_share: int) -> list[int]:
    """Tell which of some files are merged, the largest first, by how many documents each has and
    once had: all from the first that is not far larger than those after it, and what is too empty.
    """
    start = len(sizes)
    total = 0
    for at, (size, _once) in reversed(list(enumerate(sizes))):
        if total and size > MERGE_RATIO * total:
            break
        start = at
        total = total + size
    several = len(sizes) - start > 1
    return [
        at
        for at, (size, once) in enumerate(sizes)
        if (several and at >= start) or (once - size) * gone_share > once
    ]


# --- an index in memory


class MemoryPlace:
    """Files in a dictionary."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.files: dict[str, bytes] = {}
        self.written = b""
        self.count = 0

    def version(self) -> object:
        """Count what was ever written."""
        return self.count

    def manifest(self) -> bytes:
        """Give the manifest; nothing when there is none."""
        return self.written

    def load(self, name: str) -> bytes | None:
        """Give a file, or nothing."""
        return self.files.get(name)

    def keep(self, data: bytes) -> str:
        """Keep a file; give its name."""
        self.count += 1
        name = str(self.count)
        self.files[name] = data
        return name

    def switch(self, manifest: bytes) -> None:
        """Put a manifest in the place of the old one."""
        self.written = manifest
        self.count += 1

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Go on: nobody else sees what this process holds."""
        yield

    def rest(self) -> None:
        """Hold on: there is no other copy."""

    def drop(self, names: Iterable[str]) -> None:
        """Forget files."""
        for name in names:
            self.files.pop(name, None)

    def sweep(self, kept: Collection[str]) -> None:
        """Find nothing: what is not dropped is needed."""


def memory_engine() -> IndexEngine:
    """Give an engine that keeps its index in memory."""
    return IndexEngine(MemoryPlace())
