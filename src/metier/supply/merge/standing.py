"""Which files of a merged tree cannot lie side by side: one path twice, a file where a folder must be, two that differ in case."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    Way = Literal["added", "folder", "case"]
    Wanted = tuple[str, bool, bool]


def standing(places: Sequence[Wanted]) -> Iterator[tuple[int, int, Way]]:
    """Give the pairs that are in each other's way, by their positions: the path of each, and whether ours and theirs want it there.

    Two that one side alone has together already are that side's own business: nothing is made worse by leaving them.
    """
    exact: dict[str, list[int]] = {}
    folded: dict[str, list[int]] = {}
    for at, (path, _, _) in enumerate(places):
        exact.setdefault(path, []).append(at)
        folded.setdefault(_folded(path), []).append(at)
    yield from _twice(exact)
    yield from _cases(places, folded)
    yield from _folders(places, folded)


def _twice(exact: dict[str, list[int]]) -> Iterator[tuple[int, int, Way]]:
    for same in exact.values():
        for other in same[1:]:
            yield same[0], other, "added"


def _cases(places: Sequence[Wanted], folded: dict[str, list[int]]) -> Iterator[tuple[int, int, Way]]:
    for same in folded.values():
        for count, one in enumerate(same[:16]):  # more spellings of one path than this are a joke
            for other in same[count + 1 : 16]:
                if places[one][0] != places[other][0] and not _together(places[one], places[other]):
                    yield one, other, "case"


def _folders(places: Sequence[Wanted], folded: dict[str, list[int]]) -> Iterator[tuple[int, int, Way]]:
    """Give each file with every path that needs a folder in its place."""
    for at, (path, _, _) in enumerate(places):
        parts = _folded(path).split("/")
        for depth in range(1, min(len(parts), 100)):
            for file in folded.get("/".join(parts[:depth]), ()):
                if not _together(places[file], places[at]):
                    yield file, at, "folder"


def _together(one: Wanted, other: Wanted) -> bool:
    return (one[1] and other[1]) or (one[2] and other[2])


def _folded(path: str) -> str:
    """Give the form that two paths share which some file systems cannot tell apart."""
    return unicodedata.normalize("NFC", path.casefold())
