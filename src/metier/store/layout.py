"""Where things lie in the store, and how a tree is written down: bytes and values only.

A manifest is one JSON line for each file. It is believed only when the digest of what it says is
its own name, so a damaged or forged one is no tree at all.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from metier.errors import IntegrityError, NotFoundError, RefusedError
from metier.standard.digest import TreeFile, tree_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.model import Digest

BLOBS, TREES, ORIGINS, TEMPORARY, LOCK = "blobs", "trees", "origins", "tmp", "lock"
MAX_TREE_FILES = 20_000
"""A tree has fewer files than this: the same limit as finding skills has."""
MAX_MANIFEST_BYTES = 64 << 20
MAX_ORIGIN_BYTES = 1 << 20
MAX_ORIGINS = 100
"""So many places are remembered for one tree; the oldest goes first."""
MAX_DEPTH = 100
"""Folders within folders, at most."""
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_HEX = re.compile(r"[0-9a-f]{64}", re.ASCII)
_REST = re.compile(r"[0-9a-f]{62}\.json", re.ASCII)
_MODES: dict[str, bool | str] = {"": False, "x": True, "l": "link"}

OriginRow = tuple[str, str, str]
"""A source, the ref that was asked for, and what it was resolved to."""


def is_digest(word: str) -> bool:
    """Tell whether a word has the form of a tree's digest."""
    return _DIGEST.fullmatch(word) is not None


def blob_path(sha256: bytes) -> str:
    """Give where the bytes with this hash lie, below the store."""
    name = sha256.hex()
    return f"{BLOBS}/{name[:2]}/{name[2:]}"


def tree_path(digest: str) -> str:
    """Give where the manifest of a tree lies, below the store."""
    return f"{TREES}/{_place(digest)}"


def origin_path(digest: str) -> str:
    """Give where it is noted what a tree was fetched from, below the store."""
    return f"{ORIGINS}/{_place(digest)}"


def digest_at(fan: str, name: str) -> str | None:
    """Give the digest that a manifest's place stands for; nothing where it is no such place."""
    if len(fan) != 2 or not _REST.fullmatch(name):
        return None
    digest = f"sha256:{fan}{name[:-5]}"
    return digest if is_digest(digest) else None


def _place(digest: str) -> str:
    if not is_digest(digest):
        raise NotFoundError(f"{digest[:100]!r} is not the digest of a tree", code="not-in-store")
    return f"{digest[7:9]}/{digest[9:]}.json"


def write_manifest(files: Iterable[TreeFile]) -> bytes:
    """Write a tree down, sorted by path, one file to a line."""
    rows = [
        json.dumps(
            [
                file.path,
                file.size,
                file.sha256.hex(),
                "l" if file.mode == "link" else "x" if file.mode else "",
            ]
        )
        for file in sorted(files, key=lambda file: file.path)
    ]
    return b'{"format": 1, "files": [\n%b\n]}\n' % ",\n".join(rows).encode()


def read_manifest(data: bytes, digest: str) -> tuple[TreeFile, ...]:
    """Read a tree; `IntegrityError` unless it is just the one with this digest."""
    try:
        found = json.loads(data)
        files = tuple(_file(row) for row in found["files"]) if found["format"] == 1 else ()
        if tree_digest(files) == digest:
            check_tree(files)
            return files
    except (ValueError, TypeError, KeyError, RecursionError, RefusedError):
        pass  # whatever it is, it is not that tree
    raise damaged(f"the record of the tree {digest}")


def _file(row: Sequence[object]) -> TreeFile:
    path, size, sha256, mode = row
    if not (isinstance(path, str) and isinstance(sha256, str) and isinstance(mode, str)):
        raise TypeError(path)
    if type(size) is not int or size < 0 or not _HEX.fullmatch(sha256):
        raise ValueError(size)
    return TreeFile(path, size, bytes.fromhex(sha256), _MODES[mode])


def check_tree(files: Sequence[TreeFile]) -> Digest:
    """Give the digest of a tree that can be laid out below a folder and nowhere else;
    `RefusedError` for any other.
    """
    if len(files) >= MAX_TREE_FILES:
        raise RefusedError(
            f"a tree of {len(files):,} files is too large",
            hint=f"the limit is {MAX_TREE_FILES:,}",
            code="too-many",
        )
    paths = {file.path for file in files}
    if len(paths) != len(files):
        raise RefusedError("a tree names the same path twice", code="collision")
    folders = set[str]()
    for path in paths:
        if not path or "\0" in path or not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise RefusedError(f"{path[:200]!r} is not a path below a skill", code="unsafe-path")
        if path.count("/") >= MAX_DEPTH:
            raise RefusedError(f"{path[:200]!r} lies too deep", code="too-deep")
        folders.update(folders_above(path))
    if not folders.isdisjoint(paths):
        raise RefusedError(
            f"{min(folders & paths)!r} is both a file and a folder", code="collision"
        )
    try:
        return tree_digest(files)
    except UnicodeEncodeError as error:
        raise RefusedError(
            f"{error.object[:200]!r} cannot be the name of a file", code="unsafe-path"
        ) from error


def folders_above(path: str) -> list[str]:
    """List the folders that a path leads through, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def damaged(what: str) -> IntegrityError:
    """Make the error for something in the store that is not what it was."""
    return IntegrityError(
        f"{what} in the store is damaged",
        hint="`metier sync` fetches what a lock names again; add anything else again",
        code="store-damaged",
    )


def write_origins(wheres: Sequence[OriginRow]) -> bytes:
    """Write down where a tree was fetched from."""
    rows = ",\n".join(
        "  [\n   " + ",\n   ".join(map(json.dumps, where)) + "\n  ]"
        for where in wheres[-MAX_ORIGINS:]
    )
    return f'{{\n "format": 1,\n "from": [\n{rows}\n ]\n}}\n'.encode()


def read_origins(data: bytes) -> tuple[OriginRow, ...]:
    """Read where a tree was fetched from, in the order of noting; nothing when this cannot be
    read.
    """
    try:
        found = json.loads(data)
        rows = found["from"] if found["format"] == 1 else ()
        wheres = [(source, ref, commit) for source, ref, commit in rows]
        return tuple(where for where in wheres if all(isinstance(word, str) for word in where))
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()
