"""Which of the paths that changed matter to a library, and by which of its names. Pure, but for the canonical names of roots.

No name is left out for what it looks like: an editor's leavings are part of a skill's digest while they lie there, and once
they are gone a comparison of contents finds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover import disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


class Sieve:
    """What is wanted, ready to be asked about many paths."""

    def __init__(
        self, roots: Sequence[str], files: Sequence[str], quiet: Sequence[str], links: Mapping[str, str] | None = None
    ) -> None:  # fmt: skip
        """Know each folder by its canonical name as well, as systems may tell of changes by that; `links` come with theirs."""
        wanted = (*files, *roots)
        canonical = {**{path: disk.real(path) for path in wanted}, **(links or {})}
        self._own: dict[str, set[str]] = {path: {path} for path in wanted}
        for path, real in canonical.items():
            self._own.setdefault(real, set()).add(path)
        self._linked = {path: real for path, real in canonical.items() if path != real}
        self._quiet = set(quiet).difference(wanted)
        self._above = {above for path in wanted for above in _upwards(path.rpartition("/")[0])}

    def passed(self, paths: Iterable[str]) -> set[str]:
        """Give those that matter, below their roots as the library names them: what several links lead to, by each of them."""
        return {place for path in paths for place in self._places(path)}

    def _places(self, path: str) -> Iterator[str]:
        places = [place for known in self._canonical(path) for place in self._named(known)]
        yield from places
        if not places and path in self._above:  # a folder above a root came or went
            yield path

    def _canonical(self, path: str) -> Iterator[str]:
        """Give a path, and what it is called behind each link that it was heard of by."""
        yield path
        yield from (self._linked[at] + path[len(at) :] for at in _upwards(path) if at in self._linked)

    def _named(self, path: str) -> Iterator[str]:
        """Give every name under which the library may know a path. What lies in a quiet folder has none."""
        for at in _upwards(path):
            if at in self._quiet:
                return
            yield from (own + path[len(at) :] for own in self._own.get(at, ()))


def _upwards(path: str) -> Iterator[str]:
    """Give a path, and every folder above it but the topmost."""
    while path:
        yield path
        path = path.rpartition("/")[0]
