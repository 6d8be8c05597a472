"""Copies of skills to run from, each under its digest: what is mounted is what was decided about, whatever happens to the folder.

A copy is made beside its place, hashed there, and renamed; so a folder that changes while it is copied gives no copy at all,
and links, which are copied as links, lead nowhere outside the sandbox.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from contextlib import suppress

from metier.discover import disk, trees
from metier.errors import IntegrityError, StoreError
from metier.keeping import disk as keeping

FOLDER = "run/trees"
CHUNK = 1 << 20
KEPT = 64
"""How many copies are kept; those used longest ago go first."""
IN_USE = 24 * 3600
"""A copy that was used within so many seconds may be mounted still, and is left alone."""


def ready(data: str, home: str | None, path: str, digest: str, token: str) -> str:
    """Give the folder of the copy of a skill, making it where there is none; `token` makes its passing name one's own."""
    folder, target = f"{data}/{FOLDER}", place(data, digest)
    try:
        if _is_whole(target, digest, f"{folder}/.{token}"):
            os.utime(target)
            return target
        keeping.make(folder, home)
        _make(path, digest, target, f"{folder}/.{token}")
        _trim(folder, target)
    except OSError as error:
        hint = "see to it that METIER_HOME can be written, and that there is room"
        raise StoreError(f"cannot copy {path} to run it: {error.strerror}", hint=hint) from error
    return target


def place(data: str, digest: str) -> str:
    """Say where the copy of a skill lies, or will."""
    return f"{data}/{FOLDER}/{digest.rpartition(':')[2]}"


def _is_whole(target: str, digest: str, passing: str) -> bool:
    """Tell whether a copy is there and is what it was: a run without a sandbox, or a machine that fell, may have changed it."""
    if not os.path.isdir(target):
        return False
    if trees.digest(target, disk.whole_tree(target) or []) == digest:
        return True
    with suppress(FileNotFoundError):  # another process was quicker
        os.rename(target, passing)
    shutil.rmtree(passing, ignore_errors=True)
    return False


def _make(path: str, digest: str, target: str, passing: str) -> None:
    base, pieces = trees.pieces_of(path)
    os.mkdir(passing, 0o700)
    try:
        for piece in pieces:
            aim = f"{passing}/{piece.path}"
            os.makedirs(os.path.dirname(aim), 0o700, exist_ok=True)
            _copy(f"{base}/{piece.path}", aim, piece)
        if trees.digest(passing, disk.whole_tree(passing) or []) != digest:
            raise IntegrityError(f"{path} changed while it was copied, so it was not run", code="changed", hint="say it again")
        try:
            os.rename(passing, target)
        except OSError:
            if not os.path.isdir(target):  # another process made the same copy first
                raise
    finally:
        shutil.rmtree(passing, ignore_errors=True)


def _copy(source: str, aim: str, piece: disk.Piece) -> None:
    """Copy one file, following no link; what is a link is copied as one."""
    if piece.link:
        os.symlink(os.readlink(source), aim)
        return
    taken = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(taken).st_mode):
            raise IntegrityError(f"{source} is no file any more, so nothing was run", code="changed", hint="say it again")
        mode = 0o700 if piece.executable else 0o600
        with open(os.open(aim, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as written:
            left = piece.size + 1  # one more than it had: a file that grew does not fit its digest, and need not be read to its end
            while left > 0 and (block := os.read(taken, min(CHUNK, left))):
                written.write(block)
                left -= len(block)
    finally:
        os.close(taken)


def sweep(data: str, *, dry_run: bool) -> list[int]:
    """Drop every copy that is not in use, or only look; give the size of each."""
    folder, sizes = f"{data}/{FOLDER}", list[int]()
    try:
        found = [f"{folder}/{name}" for name in os.listdir(folder)]
    except OSError:
        return sizes
    for path in found:
        used = _used(path)
        if used and used < time.time() - IN_USE:
            sizes.append(sum(piece.size for piece in disk.tree(path)))
            if not dry_run:
                shutil.rmtree(path, ignore_errors=True)
    return sizes


def _used(path: str) -> float:
    """Say when a copy was last used; never, where another process has just removed it."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _trim(folder: str, spared: str) -> None:
    """Drop the copies used longest ago, and never one that may be in use."""
    found = sorted((used, name) for name in os.listdir(folder) if not name.startswith(".") and (used := _used(f"{folder}/{name}")))
    for used, name in found[: max(len(found) - KEPT, 0)]:
        if f"{folder}/{name}" != spared and used < time.time() - IN_USE:
            shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
