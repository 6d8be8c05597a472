"""Merges two versions of a skill's folder that came from a third: it finds moved files, merges each
file, and finds those in each other's way.

Moves are matched by bytes, then by how much two files have in common. In each other's way are one
path twice, a file where a folder must be, and two paths that differ in case.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import partial
from itertools import combinations, islice
from typing import TYPE_CHECKING, NamedTuple

from metier.supply.merge.diff3 import merge3
from metier.supply.merge.line_diff import WorkBudget, is_text, split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Literal

    from metier.standard.digest import TreeFile

    Way = Literal["added", "folder", "case"]
    Wanted = tuple[str, bool, bool]
    from metier.supply.merge.diff3 import Favour

    Side = Literal["base", "ours", "theirs"]
    Tree = Mapping[str, TreeFile]
    Read = Callable[[Side, str], bytes]
    Clash = Literal["content", "binary", "deleted", "added", "renamed", "folder", "case"]

    Clashes = Iterator[tuple[int, int, Way]]

    Settled = tuple["MergedFile | None", Clash | None]

    Labels = tuple[str, str, str]


MAX_RENAME_PAIRS = 4_000
"""How many pairs of files are compared in one tree; those of the same name come first, and the rest
counts as not moved."""
MAX_RENAME_BYTES = 1 << 20
"""A file larger than this is taken for moved only when it is the same to the byte."""


def find_renames(
    base: Tree,
    side: Tree,
    read_base: Callable[[str], bytes],
    read_side: Callable[[str], bytes],
    work: WorkBudget,
) -> dict[str, str]:
    """Give the new path of each file of the base that the side has elsewhere: at least half of its
    bytes, line by line.
    """
    gone = [path for path in sorted(base) if path not in side and base[path].size]
    come = [path for path in sorted(side) if path not in base and side[path].size]
    found = _identical(base, side, gone, come)
    taken = set(found.values())
    gone = [path for path in gone if path not in found and base[path].mode != "link"]
    come = [
        path
        for path in come
        if path not in taken and side[path].mode != "link" and side[path].size <= MAX_RENAME_BYTES
    ]
    olds = _Weights(read_base, work)
    news = _Weights(read_side, work)
    alike = []
    for old, new in _pairs(base, side, gone, come):
        before = olds.of(old)
        after = news.of(new)
        if before and after:
            common = sum(
                min(weight, after[line]) for line, weight in before.items() if line in after
            )
            share = common / max(base[old].size, side[new].size)
            if share >= 0.5:
                alike.append((-share, _name(old) != _name(new), old, new))
    for _share, _other_name, old, new in sorted(alike):
        if old not in found and new not in taken:
            found[old] = new
            taken.add(new)
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
    pairs = (
        (old, new)
        for named in (True, False)
        for old in gone
        for new in come
        if (_name(old) == _name(new)) is named
    )
    count = 0
    for old, new in islice(pairs, 100 * MAX_RENAME_PAIRS + 1):
        if count == MAX_RENAME_PAIRS:
            return
        small, large = sorted((base[old].size, side[new].size))
        if small * 2 >= large:
            count += 1
            yield old, new


class _Weights:
    """How many bytes each line makes up in a file; nothing for what is no text, or when there is no
    work left.
    """

    def __init__(self, read: Callable[[str], bytes], work: WorkBudget) -> None:
        self._read = read
        self._work = work
        self._known: dict[str, Counter[bytes]] = {}

    def of(self, path: str) -> Counter[bytes]:
        weights = self._known.get(path)
        if weights is None:
            weights = self._known[path] = Counter()
            data = self._read(path) if self._work.left > 0 else b""
            for line in split_lines(data) if is_text(data) else ():
                weights[line] += len(line)
        self._work.spend(len(weights))
        return weights


# --- files in each other's way


def find_clashes(places: Sequence[Wanted]) -> Clashes:
    """Give the pairs that are in each other's way, by their positions: the path of each, and
    whether ours and theirs want it there.

    Two that one side alone has together already are that side's own business: nothing is made worse
    by leaving them.
    """
    exact: dict[str, int] = {}
    folded: dict[str, list[int]] = {}
    for at, (path, _, _) in enumerate(places):
        folded.setdefault(_folded(path), []).append(at)
        first = exact.setdefault(path, at)
        if first != at:
            yield first, at, "added"
    for same in folded.values():
        # More spellings of one path than this are a joke.
        for one, other in combinations(same[:16], 2):
            if places[one][0] != places[other][0] and not _on_one_side(places[one], places[other]):
                yield one, other, "case"
    for at, (path, _, _) in enumerate(places):
        parts = _folded(path).split("/")
        for depth in range(1, min(len(parts), 100)):
            for file in folded.get("/".join(parts[:depth]), ()):
                if not _on_one_side(places[file], places[at]):
                    yield file, at, "folder"


def _on_one_side(one: Wanted, other: Wanted) -> bool:
    return (one[1] and other[1]) or (one[2] and other[2])


def _folded(path: str) -> str:
    """Give the form that two paths share which some file systems cannot tell apart."""
    return unicodedata.normalize("NFC", path.casefold())


# --- merging folders

LABELS = ("ours", "base", "theirs")


class MergedFile(NamedTuple):
    """One file of the result: that of a side, or bytes that were merged."""

    side: Side | Literal["merged"]
    path: str
    """Where the side has it."""
    mode: bool | str
    data: bytes | None = None
    """The merged bytes; `None` where the side's own are taken."""


class FileConflict(NamedTuple):
    """A file that the two sides do not agree on, with the path that each knows it by; `None` where
    a side has none.
    """

    path: str
    kind: Clash
    base: str | None
    ours: str | None
    theirs: str | None
    marked: bool = False
    """Whether the result has the file with markers in it; else it is left out, for somebody to
    choose."""
    mine: MergedFile | None = None
    """What there is to choose from: this on our side, and the next on theirs."""
    yours: MergedFile | None = None


class MergedTree(NamedTuple):
    """The result: its files by path, what is not agreed on, and what was moved, from where to
    where.
    """

    files: Mapping[str, MergedFile]
    conflicts: tuple[FileConflict, ...] = ()
    renames: tuple[tuple[str, str], ...] = ()


class _Thread(NamedTuple):
    """One file through all three trees."""

    base: str | None
    ours: str | None
    theirs: str | None


class _Piece(NamedTuple):
    """What became of one thread: a file, or nothing and why."""

    thread: _Thread
    path: str
    taken: MergedFile | None
    clash: Clash | None = None
    mine: MergedFile | None = None
    yours: MergedFile | None = None

    def of(self, side: Side) -> bool:
        """Tell whether a side wants the file just there."""
        return (self.thread.ours if side == "ours" else self.thread.theirs) == self.path


class _Merge(NamedTuple):
    """The three trees, and how they are read and settled."""

    base: Tree
    ours: Tree
    theirs: Tree
    read: Read
    labels: Labels
    favour: Favour
    work: WorkBudget

    def moved(self, side: Side, tree: Tree) -> dict[str, str]:
        return find_renames(
            self.base, tree, partial(self.read, "base"), partial(self.read, side), self.work
        )

    def settle(self, thread: _Thread) -> _Piece | None:
        """Say what becomes of a file; nothing when it is gone."""
        mine = _taken("ours", self.ours, thread.ours)
        yours = _taken("theirs", self.theirs, thread.theirs)
        if mine is not None and yours is not None:
            return self._both(thread, mine, yours)
        only = mine or yours
        if only is None:
            return None
        if thread.base is None:
            return _Piece(thread, only.path, only)
        tree = self.ours if only is mine else self.theirs
        if only.path == thread.base and _same(self.base[only.path], tree[only.path]):
            return None
        if self.favour:
            return _Piece(thread, only.path, only) if self.favour == only.side else None
        return _Piece(thread, only.path, None, "deleted", mine, yours)

    def _both(self, thread: _Thread, mine: MergedFile, yours: MergedFile) -> _Piece:
        taken, clash = self._content(thread, mine, yours)
        if thread.base is None or mine.path in {yours.path, thread.base}:
            path = yours.path
        elif yours.path == thread.base:
            path = mine.path
        elif self.favour:
            path = (mine if self.favour == "ours" else yours).path
        else:
            return _Piece(
                thread, min(mine.path, yours.path), None, "renamed", taken or mine, taken or yours
            )
        if taken is None:
            return _Piece(thread, path, None, clash, mine, yours)
        return _Piece(thread, path, taken, clash)

    def _content(self, thread: _Thread, mine: MergedFile, yours: MergedFile) -> Settled:
        """Give what a file is in the end, wherever it lies; nothing where somebody has to
        choose.
        """
        ours = self.ours[mine.path]
        theirs = self.theirs[yours.path]
        old = self.base[thread.base] if thread.base is not None else None
        if _same(ours, theirs) or (old is not None and _same(theirs, old)):
            return mine, None
        if old is not None and _same(ours, old):
            return yours, None
        mode = _mode(old, ours, theirs, self.favour)
        if "link" in {ours.mode, theirs.mode, mode}:
            return self._chosen(thread, mine, yours)
        if ours.sha256 == theirs.sha256:
            return mine._replace(mode=mode), None
        if old is not None and old.mode != "link" and old.sha256 in {ours.sha256, theirs.sha256}:
            return (yours if ours.sha256 == old.sha256 else mine)._replace(mode=mode), None
        return self._lines(thread, mine._replace(mode=mode), yours._replace(mode=mode))

    def _lines(self, thread: _Thread, mine: MergedFile, yours: MergedFile) -> Settled:
        """Merge two texts that both sides wrote or changed."""
        base = b""
        if thread.base is not None and self.base[thread.base].mode != "link":
            base = self.read("base", thread.base)
        ours = self.read("ours", mine.path)
        theirs = self.read("theirs", yours.path)
        if not (is_text(base) and is_text(ours) and is_text(theirs)):
            return self._chosen(thread, mine, yours)
        merged = merge3(base, ours, theirs, self.labels, favour=self.favour, work=self.work)
        clash: Clash = "content" if thread.base is not None else "added"
        taken = MergedFile("merged", mine.path, mine.mode, merged.data)
        return taken, clash if merged.conflicts else None

    def _chosen(self, thread: _Thread, mine: MergedFile, yours: MergedFile) -> Settled:
        """Take the favoured side of what cannot be merged by lines; a conflict where none is."""
        if self.favour:
            return mine if self.favour == "ours" else yours, None
        return None, "binary" if thread.base is not None else "added"


def _taken(side: Side, tree: Tree, path: str | None) -> MergedFile | None:
    return MergedFile(side, path, tree[path].mode) if path is not None else None


def merge_trees(
    base: Tree,
    ours: Tree,
    theirs: Tree,
    read: Read,
    *,
    labels: Labels = LABELS,
    favour: Favour = "",
) -> MergedTree:
    """Merge two versions of a skill that came from a third; `favour` settles what conflicts for one
    side.
    """
    merge = _Merge(
        base=base,
        ours=ours,
        theirs=theirs,
        read=read,
        labels=labels,
        favour=favour,
        work=WorkBudget(),
    )
    moved_ours = merge.moved("ours", ours)
    moved_theirs = merge.moved("theirs", theirs)
    threads = list(_threads(merge, moved_ours, moved_theirs))
    pieces = [piece for thread in threads if (piece := merge.settle(thread)) is not None]
    files, conflicts = _together(merge, pieces)
    conflicts.sort(key=lambda one: (one.path, one.kind))
    moves = {(old, new) for moved in (moved_ours, moved_theirs) for old, new in moved.items()}
    return MergedTree(dict(sorted(files.items())), tuple(conflicts), tuple(sorted(moves)))


def _threads(
    merge: _Merge, moved_ours: Mapping[str, str], moved_theirs: Mapping[str, str]
) -> Iterator[_Thread]:
    for path in sorted(merge.base):
        mine = path if path in merge.ours else moved_ours.get(path)
        yield _Thread(path, mine, path if path in merge.theirs else moved_theirs.get(path))
    new_ours = merge.ours.keys() - merge.base.keys() - {*moved_ours.values()}
    new_theirs = merge.theirs.keys() - merge.base.keys() - {*moved_theirs.values()}
    for path in sorted(new_ours | new_theirs):
        yield _Thread(
            None, path if path in new_ours else None, path if path in new_theirs else None
        )


def _together(
    merge: _Merge, pieces: Iterable[_Piece]
) -> tuple[dict[str, MergedFile], list[FileConflict]]:
    """Put all files into one tree; those that cannot stand side by side become conflicts, or yield
    to the favoured side.
    """
    placed = [piece for piece in pieces if piece.taken is not None]
    fallen = set()
    conflicts: dict[tuple[str, str], FileConflict] = {}
    for one, other, kind in find_clashes(
        [(piece.path, piece.of("ours"), piece.of("theirs")) for piece in placed]
    ):
        first = placed[one]
        second = placed[other]
        if merge.favour:
            loser = second if first.of(merge.favour) and not second.of(merge.favour) else first
            fallen.add(id(loser))
            continue
        fallen.add(id(first))
        if kind != "folder":
            fallen.add(id(second))
        # Of two that one side does not have together, one is ours alone, the other theirs alone.
        ours, theirs = (first, second) if first.of("ours") else (second, first)
        conflict = FileConflict(
            path=first.path,
            kind=kind,
            base=None,
            ours=ours.path,
            theirs=theirs.path,
            mine=ours.taken,
            yours=theirs.taken,
        )
        conflicts.setdefault((first.path, kind), conflict)
    kept = [piece for piece in pieces if id(piece) not in fallen]
    told = [
        FileConflict(
            piece.path, piece.clash, *piece.thread, piece.taken is not None, piece.mine, piece.yours
        )
        for piece in kept
        if piece.clash is not None
    ]
    files = {piece.path: piece.taken for piece in kept if piece.taken is not None}
    return files, [*told, *conflicts.values()]


def _same(one: TreeFile, other: TreeFile) -> bool:
    return (one.sha256, one.mode) == (other.sha256, other.mode)


def _mode(old: TreeFile | None, mine: TreeFile, yours: TreeFile, favour: Favour) -> bool | str:
    if mine.mode == yours.mode:
        return mine.mode
    if old is not None and old.mode in {mine.mode, yours.mode}:
        return yours.mode if mine.mode == old.mode else mine.mode
    if "link" in {mine.mode, yours.mode}:
        return "link"
    return (yours if favour == "theirs" else mine).mode if favour else True
