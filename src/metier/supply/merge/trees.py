"""Three versions of a whole skill into one: per file, and within a file per line. What cannot be told is a conflict, never a guess.

Each file of the base is followed through both sides, also where it was moved; what only one side did to it is taken. The result
of `merge_trees(b, x, x)`, `merge_trees(b, b, x)` and `merge_trees(b, x, b)` is always `x`, and exchanging the sides exchanges
nothing but the names of the sides in the conflicts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supply.merge.diff3 import merge3
from metier.supply.merge.lines import is_text
from metier.supply.merge.renames import renames
from metier.supply.merge.standing import standing
from metier.supply.merge.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Literal

    from metier.standard.digest import TreeFile
    from metier.supply.merge.diff3 import Favour

    Side = Literal["base", "ours", "theirs"]
    Tree = Mapping[str, TreeFile]
    Read = Callable[[Side, str], bytes]
    Clash = Literal["content", "binary", "deleted", "added", "renamed", "folder", "case"]

LABELS = ("ours", "base", "theirs")


class Taken(NamedTuple):
    """One file of the result: that of a side, or bytes that were merged."""

    side: Side | Literal["merged"]
    path: str
    """Where the side has it."""
    mode: bool | str
    data: bytes | None = None
    """The merged bytes; `None` where the side's own are taken."""


class FileConflict(NamedTuple):
    """A file that the two sides do not agree on, with the path that each knows it by; `None` where a side has none."""

    path: str
    kind: Clash
    base: str | None
    ours: str | None
    theirs: str | None
    marked: bool = False
    """Whether the result has the file with markers in it; else it is left out, for somebody to choose."""
    mine: Taken | None = None
    """What there is to choose from: this on our side, and the next on theirs."""
    yours: Taken | None = None


class MergedTree(NamedTuple):
    """The result: its files by path, what is not agreed on, and what was moved, from where to where."""

    files: Mapping[str, Taken]
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
    taken: Taken | None
    clash: Clash | None = None
    mine: Taken | None = None
    yours: Taken | None = None

    def of(self, side: Side) -> bool:
        """Tell whether a side wants the file just there."""
        return (self.thread.ours if side == "ours" else self.thread.theirs) == self.path


class _Merge:
    """The three trees, and how they are read and settled."""

    def __init__(self, base: Tree, ours: Tree, theirs: Tree, read: Read, labels: tuple[str, str, str], favour: Favour) -> None:
        self.base, self.ours, self.theirs = base, ours, theirs
        self.read, self.labels, self.favour = read, labels, favour
        self.work = Work()

    def moved(self, side: Side, tree: Tree) -> dict[str, str]:
        return renames(self.base, tree, lambda path: self.read("base", path), lambda path: self.read(side, path), self.work)

    def settle(self, thread: _Thread) -> _Piece | None:
        """Say what becomes of a file; nothing when it is gone."""
        mine = Taken("ours", thread.ours, self.ours[thread.ours].mode) if thread.ours is not None else None
        yours = Taken("theirs", thread.theirs, self.theirs[thread.theirs].mode) if thread.theirs is not None else None
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

    def _both(self, thread: _Thread, mine: Taken, yours: Taken) -> _Piece:
        taken, clash = self._content(thread, mine, yours)
        if thread.base is None or mine.path in {yours.path, thread.base}:
            path = yours.path
        elif yours.path == thread.base or self.favour == "ours":
            path = mine.path
        elif self.favour == "theirs":
            path = yours.path
        else:
            return _Piece(thread, min(mine.path, yours.path), None, "renamed", taken or mine, taken or yours)
        return _Piece(thread, path, taken, clash, *((mine, yours) if taken is None else (None, None)))

    def _content(self, thread: _Thread, mine: Taken, yours: Taken) -> tuple[Taken | None, Clash | None]:
        """Give what a file is in the end, wherever it lies; nothing where somebody has to choose."""
        ours, theirs = self.ours[mine.path], self.theirs[yours.path]
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

    def _lines(self, thread: _Thread, mine: Taken, yours: Taken) -> tuple[Taken | None, Clash | None]:
        """Merge two texts that both sides wrote or changed."""
        has_base = thread.base is not None and self.base[thread.base].mode != "link"
        texts = (self.read("base", thread.base) if has_base and thread.base is not None else b"",
                 self.read("ours", mine.path), self.read("theirs", yours.path))  # fmt: skip
        if not all(map(is_text, texts)):
            return self._chosen(thread, mine, yours)
        merged = merge3(*texts, self.labels, favour=self.favour, work=self.work)
        clash: Clash = "content" if thread.base is not None else "added"
        return Taken("merged", mine.path, mine.mode, merged.data), clash if merged.conflicts else None

    def _chosen(self, thread: _Thread, mine: Taken, yours: Taken) -> tuple[Taken | None, Clash | None]:
        """Take the favoured side of what cannot be merged by lines; a conflict where none is."""
        if self.favour:
            return mine if self.favour == "ours" else yours, None
        return None, "binary" if thread.base is not None else "added"


def merge_trees(base: Tree, ours: Tree, theirs: Tree, read: Read, *, labels: tuple[str, str, str] = LABELS,
                favour: Favour = "") -> MergedTree:  # fmt: skip
    """Merge two versions of a skill that came from a third; `favour` settles what conflicts for one side."""
    merge = _Merge(base, ours, theirs, read, labels, favour)
    moved_ours, moved_theirs = merge.moved("ours", ours), merge.moved("theirs", theirs)
    threads = list(_threads(merge, moved_ours, moved_theirs))
    pieces = [piece for thread in threads if (piece := merge.settle(thread)) is not None]
    files, conflicts = _together(merge, pieces)
    conflicts.sort(key=lambda one: (one.path, one.kind))
    moves = {(old, new) for moved in (moved_ours, moved_theirs) for old, new in moved.items()}
    return MergedTree(dict(sorted(files.items())), tuple(conflicts), tuple(sorted(moves)))


def _threads(merge: _Merge, moved_ours: Mapping[str, str], moved_theirs: Mapping[str, str]) -> Iterator[_Thread]:
    for path in sorted(merge.base):
        mine = path if path in merge.ours else moved_ours.get(path)
        yours = path if path in merge.theirs else moved_theirs.get(path)
        yield _Thread(path, mine, yours)
    new_ours = merge.ours.keys() - merge.base.keys() - set(moved_ours.values())
    new_theirs = merge.theirs.keys() - merge.base.keys() - set(moved_theirs.values())
    for path in sorted(new_ours | new_theirs):
        yield _Thread(None, path if path in new_ours else None, path if path in new_theirs else None)


def _together(merge: _Merge, pieces: Iterable[_Piece]) -> tuple[dict[str, Taken], list[FileConflict]]:
    """Put all files into one tree; those that cannot stand side by side become conflicts, or yield to the favoured side."""
    placed = [piece for piece in pieces if piece.taken is not None]
    fallen: dict[int, _Piece] = {}
    conflicts: dict[tuple[str, str], FileConflict] = {}
    for one, other, kind in standing([(piece.path, piece.of("ours"), piece.of("theirs")) for piece in placed]):
        first, second = placed[one], placed[other]
        if merge.favour:
            loser = other if first.of(merge.favour) and not second.of(merge.favour) else one
            fallen[loser] = placed[loser]
            continue
        fallen |= {one: first} if kind == "folder" else {one: first, other: second}
        conflicts.setdefault((first.path, kind), _in_the_way(kind, first, second))
    lost = set(map(id, fallen.values()))
    kept = [piece for piece in pieces if id(piece) not in lost]
    told = [FileConflict(piece.path, piece.clash, *piece.thread, piece.taken is not None, piece.mine, piece.yours)
            for piece in kept if piece.clash is not None]  # fmt: skip
    return {piece.path: piece.taken for piece in kept if piece.taken is not None}, [*told, *conflicts.values()]


def _in_the_way(kind: Clash, first: _Piece, second: _Piece) -> FileConflict:
    # Of two that one side does not have together, one is ours alone and the other theirs alone.
    ours, theirs = (first, second) if first.of("ours") else (second, first)
    return FileConflict(first.path, kind, None, ours.path, theirs.path, mine=ours.taken, yours=theirs.taken)


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
