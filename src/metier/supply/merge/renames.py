"""Which files of a tree were moved: what went and what came, matched by their bytes, then by how much they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supply.merge.lines import cut, is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from metier.standard.digest import TreeFile
    from metier.supply.merge.work import Work

    Tree = Mapping[str, TreeFile]

MOST_PAIRS = 4_000
"""How many pairs of files are compared in one tree; those of the same name come first, and the rest counts as not moved."""
MOST_BYTES = 1 << 20
"""A file larger than this is taken for moved only when it is the same to the byte."""


class _Likeness(NamedTuple):
    share: float
    named: bool
    old: str
    new: str


def renames(base: Tree, side: Tree, read_base: Callable[[str], bytes], read_side: Callable[[str], bytes],
            work: Work) -> dict[str, str]:  # fmt: skip
    """Give the new path of each file of the base that the side has elsewhere: at least half of its bytes, line by line."""
    gone = [path for path in sorted(base) if path not in side and base[path].size]
    come = [path for path in sorted(side) if path not in base and side[path].size]
    found = _identical(base, side, gone, come)
    gone = [path for path in gone if path not in found]
    taken = set(found.values())
    come = [path for path in come if path not in taken]
    alike = _alike(base, side, _pairs(base, side, gone, come), _Weights(read_base, work), _Weights(read_side, work))
    for one in sorted(alike, key=lambda one: (-one.share, not one.named, one.old, one.new)):
        if one.old not in found and one.new not in taken:
            found[one.old] = one.new
            taken.add(one.new)
    return found


def _identical(base: Tree, side: Tree, gone: Iterable[str], come: Iterable[str]) -> dict[str, str]:
    places: dict[tuple[bytes, bool], list[str]] = {}
    for path in come:
        places.setdefault(_bytes_of(side[path]), []).append(path)
    found = {}
    for path in gone:
        same = places.get(_bytes_of(base[path]))
        if same:
            # The order of both is that of paths; of several, the one that kept its name is meant.
            found[path] = next((one for one in same if _name(one) == _name(path)), same[0])
            same.remove(found[path])
    return found


def _bytes_of(file: TreeFile) -> tuple[bytes, bool]:
    return file.sha256, file.mode == "link"


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _pairs(base: Tree, side: Tree, gone: list[str], come: list[str]) -> Iterator[tuple[str, str]]:
    """Give what may be the same file: of like size, the same name first, not too many in all."""
    small = [path for path in come if side[path].mode != "link" and side[path].size <= MOST_BYTES]
    pairs = ((old, new) for named in (True, False) for old in gone for new in small if (_name(old) == _name(new)) is named)
    count = 0
    for looked, (old, new) in enumerate(pairs):
        if count == MOST_PAIRS or looked > 100 * MOST_PAIRS:
            return
        sizes = sorted((base[old].size, side[new].size))
        if base[old].mode != "link" and sizes[0] * 2 >= sizes[1]:
            count += 1
            yield old, new


def _alike(base: Tree, side: Tree, pairs: Iterable[tuple[str, str]], olds: _Weights, news: _Weights) -> Iterator[_Likeness]:
    for old, new in pairs:
        before, after = olds.of(old), news.of(new)
        if before and after:
            common = sum(min(weight, after[line]) for line, weight in before.items() if line in after)
            share = common / max(base[old].size, side[new].size)
            if share >= 0.5:
                yield _Likeness(share, _name(old) == _name(new), old, new)


class _Weights:
    """How many bytes each line makes up in a file; nothing for what is no text, or when there is no work left."""

    def __init__(self, read: Callable[[str], bytes], work: Work) -> None:
        self._read, self._work = read, work
        self._known: dict[str, dict[bytes, int]] = {}

    def of(self, path: str) -> dict[bytes, int]:
        if path not in self._known:
            self._known[path] = self._weighed(path) if self._work.left > 0 else {}
        self._work.spend(len(self._known[path]))
        return self._known[path]

    def _weighed(self, path: str) -> dict[bytes, int]:
        data = self._read(path)
        weights: dict[bytes, int] = {}
        for line in cut(data) if is_text(data) else ():
            weights[line] = weights.get(line, 0) + len(line)
        return weights
