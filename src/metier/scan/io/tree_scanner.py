"""One tree through the scanner: read once, digested and judged on the same bytes, or taken from the
book of verdicts.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.catalogue.io.cache_db import VerdictBook
from metier.discover import skill_files
from metier.discover.io import disk
from metier.model import Digest
from metier.scan import cache
from metier.scan.cache import PlainVerdict
from metier.scan.model import ScanEntry, ScanTree
from metier.standard.digest import TreeFile, tree_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.model import Verdict
    from metier.ports import Analyzer, PassageReader
    from metier.scan.cache import ScanTarget

MAX_TREE_FILES = 2_000
"""How many files of a tree are judged, the smallest first; the others are hashed, and reported."""


class ReadLimit(NamedTuple):
    """How many bytes are judged: of one file, and of all such files in a tree. What is longer is
    hashed, and reported as cut.
    """

    file: int
    tree: int


# Analysis takes memory many times the size of what is read, and Python's syntax tree most: these
# keep any tree within 150 MB.
TEXT_LIMIT = ReadLimit(1 << 20, 3 << 20)
CODE_LIMIT = ReadLimit(512 << 10, 3 << 20)
PYTHON_LIMIT = ReadLimit(256 << 10, 3 << 20)
OTHER_LIMIT = ReadLimit(8 << 20, 16 << 20)
"""Pictures, archives and the like, which are only looked at as bytes."""


class Scanner:
    """Scans trees under one ruleset, and remembers the verdicts."""

    def __init__(
        self,
        data: str | None,
        ruleset: str,
        extra: Sequence[Analyzer],
        *,
        reader: Callable[[], PassageReader | None],
        remembers: bool,
        now: int,
    ) -> None:
        """Keep what is learnt in the folder `data`; `now` is the clock, against which a file is old
        or fresh. The `reader` of passages is asked for where something is scanned.
        """
        self.ruleset = ruleset
        self.extra = extra
        self.reader = reader
        self.now = now
        self.book = VerdictBook(data if remembers else None)
        self._received: dict[str, bytes] = {}

    def close(self) -> None:
        """Write what was learnt."""
        self.book.close()

    def scan_tree(self, target: ScanTarget, grown: disk.TreeLook) -> PlainVerdict:
        """Judge a tree, or say what is known of it."""
        known = self.recall(target, grown)
        if known is not None:
            return known
        tree, digest = read_tree(target, grown)
        if digest is None:
            return _plain_verdict(target, self.verdict(tree, None))
        self.note_digest(target, grown, digest)
        known = self.known(digest, target)
        if known is None:
            known = _plain_verdict(target, self.verdict(tree, digest))
            self.book.keep(digest, cache.cache_key(self.ruleset), cache.encode_verdict(known))
        return known

    def recall(self, target: ScanTarget, grown: disk.TreeLook) -> PlainVerdict | None:
        """Give what is known of a tree by the stats of its files, without reading it."""
        stamp = self._stamp(grown)
        name = target.path.encode("utf-8", "surrogateescape")
        return self.known(self.book.get(name, stamp), target) if stamp else None

    def note_digest(self, target: ScanTarget, grown: disk.TreeLook, digest: str) -> None:
        """Remember the digest of a tree under the stats that its files had before it was read."""
        stamp = self._stamp(grown)
        if stamp:
            self.book.put(target.path.encode("utf-8", "surrogateescape"), stamp, digest)

    def read_again(self, target: ScanTarget) -> tuple[ScanTree, Digest | None]:
        """Read a tree once more, to judge it without some of its findings."""
        return read_tree(target, disk.look_at_tree(target.folder, target.only))

    def verdict(
        self, tree: ScanTree, digest: Digest | None, without: frozenset[str] = frozenset()
    ) -> Verdict:
        """Give the engine's verdict."""
        from metier.scan.engine import scan  # all rules and analyzers: only where something is new

        return scan(tree, digest, without=without, extra=self.extra, reader=self.reader())

    def known(self, digest: str | None, target: ScanTarget) -> PlainVerdict | None:
        """Give the verdict that is kept of a digest, as of the tree at a target."""
        if digest is None:
            return None
        data = self._received.get(digest) or self.book.verdict(
            digest, cache.cache_key(self.ruleset)
        )
        return cache.decode_verdict(data, target.path, target.name, Digest(digest))

    def add_verdict(self, digest: str, data: bytes) -> None:
        """Take the verdict of another process, which judged under the same rules."""
        self._received[digest] = data
        self.book.keep(digest, cache.cache_key(self.ruleset), data)

    def _stamp(self, grown: disk.TreeLook) -> bytes:
        """Condense the stats of a tree, as the book of digests does; nothing when one is too fresh
        to be trusted.
        """
        packed = b"".join(grown.keys)
        if grown.faults or not grown.pieces or not disk.is_settled(packed, self.now):
            return b""
        return skill_files.condense(grown.pieces, packed)


def _plain_verdict(target: ScanTarget, verdict: Verdict) -> PlainVerdict:
    return PlainVerdict(
        target.path, target.name, verdict.digest, verdict.level, verdict.score, verdict.findings
    )


def read_tree(target: ScanTarget, grown: disk.TreeLook) -> tuple[ScanTree, Digest | None]:
    """Read a tree once. Its digest is that of the bytes read; there is none when a part could not
    be read.
    """
    pieces = [ScanEntry(path or ".", fault=fault) for path, fault in grown.faults.items()]
    files = []
    room = _ReadBudget()
    # No mass of files, and no large one, keeps the others from being judged: least of all a skill's
    # own text.
    for piece in sorted(
        grown.pieces, key=lambda one: (one.path.lower() != "skill.md", one.size, one.path)
    ):
        found, file = _read_entry(f"{target.folder}/{piece.path}", piece, partial(room.take, piece))
        pieces.append(found)
        if file is not None:
            files.append(file)
    whole = bool(files) and len(files) == len(pieces)
    return ScanTree(target.name, tuple(sorted(pieces))), tree_digest(files) if whole else None


def tree_of_files(name: str, files: Iterable[TreeFile], read: Callable[[str], bytes]) -> ScanTree:
    """Give a tree to be judged whose files lie in no folder, within the same limits."""
    from metier.scan.languages.kinds import HEAD_BYTES

    entries = []
    room = _ReadBudget()
    for file in sorted(files, key=lambda one: (one.path.lower() != "skill.md", one.size, one.path)):
        data = read(file.path)
        if file.mode == "link":
            link = data.decode("utf-8", "surrogateescape")
            entries.append(ScanEntry(file.path, size=len(data), link=link))
            continue
        kept = room.take(file, data[: HEAD_BYTES + 1])
        executable = file.mode is True
        entries.append(ScanEntry(file.path, data[:kept], len(data), executable, sha256=file.sha256))
    return ScanTree(name, tuple(sorted(entries)))


def hash_tree(target: ScanTarget) -> tuple[dict[str, bytes], Digest | None]:
    """Hash every file of a tree now, and give the digest of just these hashes; none when a part
    could not be read.
    """
    grown = disk.look_at_tree(target.folder, target.only)
    read_now = [
        _read_entry(f"{target.folder}/{piece.path}", piece, lambda _head: 0)[1]
        for piece in grown.pieces
    ]
    files = [file for file in read_now if file is not None]
    whole = bool(files) and not grown.faults and len(files) == len(grown.pieces)
    return {file.path: file.sha256 for file in files}, tree_digest(files) if whole else None


class _ReadBudget:
    """How much room is left in a tree."""

    def __init__(self) -> None:
        self.files = MAX_TREE_FILES
        self.texts = TEXT_LIMIT.tree
        self.others = OTHER_LIMIT.tree

    def take(self, piece: disk.TreeItem | TreeFile, head: bytes) -> int:
        """Say how much of a file is kept, by its beginning."""
        # where the verdict is known, nothing asks what kind a file is
        from metier.scan.languages.file_text import TEXT_KINDS, kind_of_piece
        from metier.scan.languages.kinds import CODE_KINDS, HEAD_BYTES

        if not self.files:
            return 0
        self.files -= 1
        kind = kind_of_piece(ScanEntry(piece.path, head[: HEAD_BYTES + 1]))
        if kind not in TEXT_KINDS:
            taken = min(OTHER_LIMIT.file, self.others)
            self.others -= min(taken, piece.size)
            return taken
        code = PYTHON_LIMIT if kind == "python" else CODE_LIMIT
        taken = min((code if kind in CODE_KINDS else TEXT_LIMIT).file, self.texts)
        self.texts -= min(taken, piece.size)
        return taken


def _read_entry(
    path: str, piece: disk.TreeItem, keep: Callable[[bytes], int]
) -> tuple[ScanEntry, TreeFile | None]:
    if piece.link:
        aim = disk.target_of(path)
        if aim is None:
            return ScanEntry(piece.path, fault="changed while it was read"), None
        link = ScanEntry(piece.path, size=len(aim), link=aim.decode("utf-8", "surrogateescape"))
        return link, TreeFile(piece.path, len(aim), hashlib.sha256(aim).digest(), "link")
    got = disk.read_whole(path, keep)
    if got.fault:
        return ScanEntry(piece.path, size=piece.size, fault=got.fault), None
    file = TreeFile(piece.path, got.size, got.sha256, got.executable)
    return ScanEntry(piece.path, got.data, got.size, got.executable, sha256=got.sha256), file
