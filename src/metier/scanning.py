"""One tree through the scanner: read once, digested and judged on the same bytes, or taken from the book of verdicts."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.catalogue import verdicts
from metier.catalogue.db import VerdictBook
from metier.catalogue.verdicts import Judged
from metier.discover import disk
from metier.model import Digest
from metier.scan.kinds import HEAD
from metier.scan.sheet import SCRIPTS, TEXTS, kind_of_piece
from metier.scan.tree import Piece, Tree
from metier.standard.digest import TreeFile, tree_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.catalogue.verdicts import Target
    from metier.model import Verdict
    from metier.ports import Analyzer

TREE_FILES = 2_000
"""How many files of a tree are judged, the smallest first; the others are hashed, and reported."""


class Room(NamedTuple):
    """How many bytes are judged: of one file, and of all such files in a tree. What is longer is hashed, and reported as cut."""

    file: int
    tree: int


# Analysis takes memory many times the size of what is read, and Python's syntax tree most: these keep any tree within 150 MB.
TEXT = Room(1 << 20, 3 << 20)
CODE = Room(512 << 10, 3 << 20)
PYTHON = Room(256 << 10, 3 << 20)
OTHER = Room(8 << 20, 16 << 20)
"""Pictures, archives and the like, which are only looked at as bytes."""


class Scanner:
    """Scans trees under one ruleset, and remembers the verdicts."""

    def __init__(self, data: str | None, ruleset: str, extra: Sequence[Analyzer], *, remembers: bool, now: int) -> None:
        """Keep what is learnt in the folder `data`; `now` is the clock, against which a file is old or fresh."""
        self.ruleset, self.extra, self.now = ruleset, extra, now
        self.book = VerdictBook(data if remembers else None)
        self._heard: dict[str, bytes] = {}

    def close(self) -> None:
        """Write what was learnt."""
        self.book.close()

    def judged(self, target: Target, grown: disk.Grown) -> Judged:
        """Judge a tree, or say what is known of it."""
        name = target.path.encode("utf-8", "surrogateescape")
        stamp = self._stamp(grown)
        known = self.known(self.book.get(name, stamp), target) if stamp else None
        if known is not None:
            return known
        tree, digest = read(target, grown)
        if digest is None:
            return _judged(target, self.verdict(tree, None))
        if stamp:
            self.book.put(name, stamp, digest)
        known = self.known(digest, target)
        if known is None:
            known = _judged(target, self.verdict(tree, digest))
            self.book.keep(digest, verdicts.under(self.ruleset), verdicts.encode(known))
        return known

    def again(self, target: Target) -> tuple[Tree, Digest | None]:
        """Read a tree once more, to judge it without some of its findings."""
        return read(target, disk.grown(target.folder, target.only))

    def verdict(self, tree: Tree, digest: Digest | None, without: frozenset[str] = frozenset()) -> Verdict:
        """Give the engine's verdict."""
        from metier.scan.engine import scan  # all rules and analyzers: only where something is new

        return scan(tree, digest, without=without, extra=self.extra)

    def known(self, digest: str | None, target: Target) -> Judged | None:
        """Give the verdict that is kept of a digest, as of the tree at a target."""
        if digest is None:
            return None
        data = self._heard.get(digest) or self.book.verdict(digest, verdicts.under(self.ruleset))
        return verdicts.decode(data, target.path, target.name, Digest(digest))

    def hear(self, digest: str, data: bytes) -> None:
        """Take the verdict of another process, which judged under the same rules."""
        self._heard[digest] = data
        self.book.keep(digest, verdicts.under(self.ruleset), data)

    def _stamp(self, grown: disk.Grown) -> bytes:
        """Condense the stats of a tree, as the book of digests does; nothing when one is too fresh to be trusted."""
        if grown.faults or not grown.pieces or not settled(b"".join(grown.keys), self.now):
            return b""
        return hashlib.sha256(repr((grown.pieces, grown.keys)).encode("utf-8", "backslashreplace")).digest()


def _judged(target: Target, verdict: Verdict) -> Judged:
    return Judged(target.path, target.name, verdict.digest, verdict.level, verdict.score, verdict.findings)


def settled(keys: bytes, now: int) -> bool:
    """Tell whether the newest of packed keys is old enough that no later change can hide behind the same stat."""
    numbers = memoryview(keys).cast("q")
    return max(max(numbers[1::4], default=0), max(numbers[2::4], default=0)) < now - disk.SETTLED_NS


def read(target: Target, grown: disk.Grown) -> tuple[Tree, Digest | None]:
    """Read a tree once. Its digest is that of the bytes read; there is none when a part could not be read."""
    pieces = [Piece(path or ".", fault=fault) for path, fault in grown.faults.items()]
    files: list[TreeFile] = []
    room = _Left()
    for piece in sorted(grown.pieces, key=_smallest_first):
        found, file = _read_one(f"{target.folder}/{piece.path}", piece, partial(room.take, piece))
        pieces.append(found)
        if file is not None:
            files.append(file)
    whole = bool(files) and len(files) == len(pieces)
    return Tree(target.name, tuple(sorted(pieces))), tree_digest(files) if whole else None


def hashes(target: Target) -> tuple[dict[str, bytes], Digest | None]:
    """Hash every file of a tree now, and give the digest of just these hashes; none when a part could not be read."""
    grown = disk.grown(target.folder, target.only)
    read_now = [_read_one(f"{target.folder}/{piece.path}", piece, lambda _head: 0)[1] for piece in grown.pieces]
    files = [file for file in read_now if file is not None]
    whole = bool(files) and not grown.faults and len(files) == len(grown.pieces)
    return {file.path: file.sha256 for file in files}, tree_digest(files) if whole else None


def _smallest_first(piece: disk.Piece) -> tuple[bool, int, str]:
    """Let no mass of files, and no large one, keep the others from being judged: least of all a skill's own text."""
    return piece.path.lower() != "skill.md", piece.size, piece.path


class _Left:
    """How much room is left in a tree."""

    def __init__(self) -> None:
        self.files, self.texts, self.others = TREE_FILES, TEXT.tree, OTHER.tree

    def take(self, piece: disk.Piece, head: bytes) -> int:
        """Say how much of a file is kept, by its beginning."""
        if not self.files:
            return 0
        self.files -= 1
        kind = kind_of_piece(Piece(piece.path, head[: HEAD + 1]))
        if kind not in TEXTS:
            taken = min(OTHER.file, self.others)
            self.others -= min(taken, piece.size)
            return taken
        taken = min((PYTHON if kind == "python" else CODE if kind in SCRIPTS else TEXT).file, self.texts)
        self.texts -= min(taken, piece.size)
        return taken


def _read_one(path: str, piece: disk.Piece, keep: Callable[[bytes], int]) -> tuple[Piece, TreeFile | None]:
    if piece.link:
        aim = disk.target_of(path)
        if aim is None:
            return Piece(piece.path, fault="changed while it was read"), None
        link = Piece(piece.path, size=len(aim), link=aim.decode("utf-8", "surrogateescape"))
        return link, TreeFile(piece.path, len(aim), hashlib.sha256(aim).digest(), "link")
    got = disk.read_whole(path, keep)
    if got.fault:
        return Piece(piece.path, size=piece.size, fault=got.fault), None
    file = TreeFile(piece.path, got.size, got.sha256, got.executable)
    return Piece(piece.path, got.data, got.size, got.executable, sha256=got.sha256), file
