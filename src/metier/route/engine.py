"""The embedded index behind the `Engine` port: which segments there are, when they are merged, and how they are asked.

Segments and files of vectors are never changed; a manifest says which of them count, and is replaced in one step once what it
names is written. So whoever reads never waits, and a process that is killed leaves the old index or the new one. What cannot be
read, or was written by another version, counts as not there: its skills are then not known, and are indexed again.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from metier.errors import StoreError
from metier.route import making
from metier.route.manifest import Manifest, Part, read, written
from metier.route.opened import Opened
from metier.route.postings import DamagedError
from metier.route.segment import Segment
from metier.route.vectorfile import VectorFile, made as file_of, merged as merged_files

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from metier.route.postings import Numbers
    from metier.wanted import Asked, Candidate, Floats, Text

Answer = TypeVar("Answer")

RATIO = 4
"""A segment is merged with all smaller ones unless it has more than so many times their documents: few segments, seldom written."""
MOST_GONE = 3
"""A segment of which one in so many documents is gone is written anew."""
MOST_VECTORS = 1024
"""Skills whose vectors are kept together: making so many takes a while, and is not to be done again after an interruption."""
RESTS = 8
"""After so many questions the memory is let go of into which files were read: they are read again at next to no cost."""
_TRIES = 5
"""How often the manifest is read again because a file that it named had been replaced meanwhile."""


class Place(Protocol):
    """Where an index lies."""

    def version(self) -> object:
        """Give something that is another thing as soon as the manifest was replaced; it costs next to nothing."""

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
        """Let go of the memory into which files were read; whoever needs them again reads them again."""

    def drop(self, names: Iterable[str]) -> None:
        """Delete files that nothing names any more."""

    def sweep(self, kept: Collection[str]) -> None:
        """Delete what writers that were killed have left behind, long ago."""


class _Held(NamedTuple):
    """A segment while the index is being changed."""

    name: str
    segment: Segment
    live: Numbers

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.live))


class Embedded:
    """An index in a place of its own."""

    def __init__(self, place: Place) -> None:
        """Look at nothing yet."""
        self.place = place
        self._open: Opened | None = None
        self._model = ""
        self._queries = 0
        self._seen: tuple[Part, ...] | None = ()

    # --- asking

    def known(self) -> Mapping[str, bytes]:
        """Give the path of every skill in the index, with the stamp it had when it was read."""
        return self._asked(self._looked_at)

    def _looked_at(self, index: Opened) -> Mapping[str, bytes]:
        self._seen = index.manifest.parts if index.whole else None
        return index.known()

    def sealed(self) -> str:
        """Give what `seal` was told last; nothing once the skills have changed since, or some of them cannot be read."""
        return self._asked(lambda index: index.manifest.sealed if index.whole else "")

    def seal(self, state: str) -> None:
        """Note of which state of the library the skills are, unless somebody else has changed them since they were looked at."""
        with self._forgetting(), self.place.alone():
            manifest = self._manifest()
            if manifest.parts == self._seen and manifest.sealed != state:
                self.place.switch(written(manifest._replace(sealed=state)))

    def triggers(self) -> Mapping[str, tuple[str, ...]]:
        """Give the phrases of every skill that declares some, by path."""
        return self._asked(lambda index: index.triggers())

    def without_vectors(self, model: str) -> Sequence[str]:
        """Give the paths of skills that have no vectors of this model yet."""
        self._model = model
        return self._asked(lambda index: index.without_vectors(model))

    def query(self, asked: Asked) -> Sequence[Candidate]:
        """Give the skills that may fit, each once, with what speaks for each; those come first for which the words say most."""
        found = self._asked(lambda index: index.query(asked, self._model))
        self._queries += 1
        if self._queries % RESTS == 0:  # in the end the whole index would stay in memory
            self.place.rest()
        return found

    def likeness(self, paths: Sequence[str]) -> Floats:
        """Give the cosine of each two of these skills, one row to each; NaN where one of the two has no vector."""
        return self._asked(lambda index: index.likeness(paths, self._model))

    def neighbours(self, path: str, limit: int, among: frozenset[str]) -> Sequence[tuple[str, float]]:
        """Give those of some skills that mean most nearly the same as another, with their cosines."""
        return self._asked(lambda index: index.neighbours(path, limit, among, self._model))

    def _asked(self, question: Callable[[Opened], Answer]) -> Answer:
        with self._forgetting():
            return question(self._opened())

    @contextmanager
    def _forgetting(self) -> Iterator[None]:
        """Forget what turns out to be damaged when it is read, so that it is made anew."""
        try:
            yield
        except DamagedError:
            self._forget()
            raise StoreError("the index of skills is damaged", hint="ask again: it is made anew") from None

    def _forget(self) -> None:
        """Take what is damaged out of the index, unless somebody has changed it since it was opened."""
        with self.place.alone():
            index = self._open
            if index is None or index.version != self.place.version():
                return
            before = self._manifest()
            sound = {name for name, segment in index.segments.items() if segment.is_sound()}
            sound |= {name for name, file in index.files.items() if file.is_sound()}
            parts = tuple(part for part in before.parts if part.name in sound)
            files = tuple(name for name in before.vectors if name in sound)
            if (parts, files) == (before.parts, before.vectors):  # whatever it was, it is not to be found again
                parts = ()
            sealed = before.sealed if parts == before.parts else ""
            self._switch(before._replace(parts=parts, vectors=files, sealed=sealed), before, [])

    def _opened(self) -> Opened:
        """Give the index as it is now; what is open already stays open."""
        for _attempt in range(_TRIES):
            version = self.place.version()
            if self._open is not None and self._open.version == version:
                return self._open
            manifest = self._manifest()
            whole, self._open = _opened(self.place, version, manifest, self._open)
            if whole or self.place.version() == version:  # a file that is missing was damaged, or replaced a moment ago
                return self._open
        assert self._open is not None
        return self._open

    def _manifest(self) -> Manifest:
        try:
            return read(self.place.manifest())
        except DamagedError:
            return Manifest()

    # --- changing

    def build(self, texts: Iterable[Text]) -> None:
        """Begin anew with these skills and no others. Vectors of those that have not changed stay."""
        with self._forgetting(), self._writing() as new:
            held = self._written(texts, new)
            if len(held) > 1:
                held = [self._merged(held, new)]
            with self.place.alone():
                manifest = self._manifest()
                self._switch(manifest._replace(parts=_parts(held), sealed=""), manifest, new)
                self._seen = _parts(held)

    def update(self, texts: Iterable[Text], gone: Iterable[str]) -> None:
        """Put skills in, in the place of what had their paths, and take others out; the rest is not touched."""
        with self._forgetting(), self._writing() as new:
            added, leaving = self._written(texts, new), list(gone)
            with self.place.alone():
                manifest, held = self._manifest(), self._held()
                for paths in (leaving, *(one.segment.paths() for one in added)):
                    _take_out(held, paths)
                parts = _parts(self._tidied([*held, *added], new))
                if parts != manifest.parts:
                    self._switch(manifest._replace(parts=parts, sealed=""), manifest, new)
                self._seen = parts if manifest.parts == self._seen else None

    def add_vectors(self, model: str, vectors: Iterable[tuple[str, Floats]]) -> None:
        """Keep the vector of each skill. Those of any other model are forgotten, and those of another width count as such."""
        self._model = model
        rows: dict[int, Floats] = {}
        with self._forgetting():
            for path, row in vectors:
                key = self._opened().key_of(path)
                if key is not None:
                    rows[key] = row
                if len(rows) >= MOST_VECTORS:
                    self._add(model, rows)
                    rows = {}
            self._add(model, rows)

    def _add(self, model: str, rows: Mapping[int, Floats]) -> None:
        """Keep vectors under the keys of their skills."""
        with self._writing() as new:
            if rows:
                new.append(self.place.keep(file_of(list(rows.items()))))
            with self.place.alone():
                before = self._manifest()
                files = (*(before.vectors if before.model == model else ()), *new)
                if files != before.vectors:
                    manifest = before._replace(model=model, vectors=files)
                    self._switch(manifest._replace(vectors=self._files_tidied(manifest, new)), before, new)

    @contextmanager
    def _writing(self) -> Iterator[list[str]]:
        """Give a list for the names of new files; those that are not part of the index in the end are deleted."""
        new: list[str] = []
        try:
            yield new
        finally:
            self.place.drop(set(new) - self._manifest().names())

    def _switch(self, manifest: Manifest, before: Manifest, new: list[str]) -> None:
        """Let another manifest count, and delete what only the one before had."""
        self.place.switch(written(manifest))
        self.place.drop((before.names() | set(new)) - manifest.names())
        self.place.sweep(manifest.names())

    def _written(self, texts: Iterable[Text], new: list[str]) -> list[_Held]:
        """Write segments of skills; of two with one path, the later counts."""
        held: list[_Held] = []
        for data in making.segments_of(texts):
            one = self._kept(data, new)
            _take_out(held, one.segment.paths())
            held.append(one)
        return held

    def _kept(self, data: bytes, new: list[str]) -> _Held:
        name = self.place.keep(data)
        new.append(name)
        segment = Segment(self.place.load(name) or b"")
        return _Held(name, segment, np.ones(segment.count, np.bool_))

    def _held(self) -> list[_Held]:
        """Give the segments of the index as they are now, to be changed."""
        index = self._opened()
        return [_Held(name, segment, np.ones(segment.count, np.bool_) if live is None else live.copy())
                for name, (segment, live) in zip(index.segments, index.index.parts, strict=True)]  # fmt: skip

    def _merged(self, held: Sequence[_Held], new: list[str]) -> _Held:
        return self._kept(making.merged([(one.segment, one.live) for one in held]), new)

    def _tidied(self, held: Iterable[_Held], new: list[str]) -> list[_Held]:
        """Merge what has become too small or too empty; so many changes cost a few times what they are, however they come."""
        ordered = sorted((one for one in held if one.size), key=lambda one: -one.size)
        chosen = set(_small([one.size for one in ordered]))
        chosen |= {at for at, one in enumerate(ordered) if (len(one.live) - one.size) * MOST_GONE > len(one.live)}
        if not chosen:
            return ordered
        rest = [one for at, one in enumerate(ordered) if at not in chosen]
        return [*rest, self._merged([ordered[at] for at in sorted(chosen)], new)]

    def _files_tidied(self, manifest: Manifest, new: list[str]) -> tuple[str, ...]:
        """Merge files of vectors in the same way; give the names of those that count: as wide as the last, which is the newest."""
        _whole, index = _opened(self.place, None, manifest, self._open)
        rows = [np.flatnonzero(where >= 0) for where in index.where()]
        wide = {name: file.matrix.width for name, file in index.files.items()}
        files = [(len(some), name, some) for name, some in zip(index.files, rows, strict=True)
                 if len(some) and wide[name] == wide[next(reversed(wide))]]  # fmt: skip
        files.sort(key=lambda file: -file[0])
        chosen = set(_small([size for size, _name, _some in files]))
        chosen |= {at for at, (size, name, _some) in enumerate(files) if size * 2 < index.files[name].matrix.count}
        rest = tuple(name for at, (_size, name, _some) in enumerate(files) if at not in chosen)
        if not chosen:
            return rest
        name = self.place.keep(merged_files([(index.files[files[at][1]], files[at][2]) for at in sorted(chosen)]))
        new.append(name)
        return (*rest, name)


def _opened(place: Place, version: object, manifest: Manifest, before: Opened | None) -> tuple[bool, Opened]:
    """Open what a manifest names, as far as it can be; tell whether that was everything."""
    segments, files = (dict(before.segments), dict(before.files)) if before else ({}, {})
    for names, known, kind in (([part.name for part in manifest.parts], segments, Segment), (manifest.vectors, files, VectorFile)):
        for name in names:
            data = None if name in known else place.load(name)
            try:
                known.update({} if data is None else {name: kind(data)})  # type: ignore[dict-item]
            except DamagedError:
                continue
    parts = [(part.name, segments[part.name], _mask(segments[part.name], part.gone))
             for part in manifest.parts if part.name in segments]  # fmt: skip
    there = [(name, files[name]) for name in manifest.vectors if name in files]
    opened = Opened(version, manifest, parts, there)
    return opened.whole and len(there) == len(manifest.vectors), opened


def _mask(segment: Segment, gone: Sequence[int]) -> Numbers | None:
    """Give a mask of the documents that are still there; none when all are."""
    if not gone:
        return None
    live: Numbers = np.ones(segment.count, np.bool_)
    live[[number for number in gone if number < segment.count]] = False
    return live


def _parts(held: Iterable[_Held]) -> tuple[Part, ...]:
    return tuple(Part(one.name, tuple(np.flatnonzero(~one.live).tolist())) for one in held if one.size)


def _take_out(held: Iterable[_Held], paths: Sequence[str]) -> None:
    """Mark what has one of these paths as gone."""
    wanted = frozenset(paths)
    for one in held:
        one.live[one.segment.numbers_of(wanted)] = False


def _small(sizes: Sequence[int]) -> range:
    """Tell which of some sizes, the largest first, are to be merged: from the first that is not far larger than all after it."""
    start, total = len(sizes), 0
    for at in range(len(sizes) - 1, -1, -1):
        if total and sizes[at] > RATIO * total:
            break
        start, total = at, total + sizes[at]
    return range(start, len(sizes)) if len(sizes) - start > 1 else range(0)
