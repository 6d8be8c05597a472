"""The digest of a skill's tree as it lies on disk, and the stats that prove a digest still true."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from metier.discover import disk
from metier.standard.digest import TreeFile, tree_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.model import Digest


def pieces_of(path: str) -> tuple[str, list[disk.Piece]]:
    """Give the folder and the files of a skill: all below a folder, or the one file of a flat or code skill.

    There are none when it is gone, unreadable in part, or too large.
    """
    if disk.kind_of(path) == disk.FOLDER:
        return path, disk.whole_tree(path) or []
    base, _, file = path.rpartition("/")
    return base, [piece for piece in disk.pieces_in(base) if piece.path == file]


def digest(base: str, pieces: Sequence[disk.Piece]) -> Digest | None:
    """Hash every file now; none when there is nothing, or a part cannot be read: no digest rather than half of one."""
    try:
        files = [TreeFile(p.path, p.size, disk.hash_of(f"{base}/{p.path}"), "link" if p.link else p.executable) for p in pieces]
    except OSError:
        return None
    return tree_digest(files) if files else None


def stamp(base: str, pieces: Sequence[disk.Piece]) -> bytes:
    """Condense the stats of a tree; nothing when a stat is too fresh to be trusted."""
    keys = disk.settled_keys([f"{base}/{piece.path}" for piece in pieces])
    return hashlib.sha256(repr((pieces, keys)).encode("utf-8", "backslashreplace")).digest() if keys is not None else b""
