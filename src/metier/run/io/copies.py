"""Copies of skills to run from, each under its digest: what is mounted is what was decided about,
whatever happens to the folder.

A copy is made beside its place, hashed there, and renamed; so a folder that changes while it is
copied gives no copy at all, and links, which are copied as links, lead nowhere outside the sandbox.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from contextlib import suppress
from os.path import dirname, isdir

from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import IntegrityError, StoreError
from metier.store.io import safe_files

FOLDER = "run/trees"
CHUNK_BYTES = 1 << 20
MAX_COPIES = 64
"""How many copies are kept; those used longest ago go first."""
IN_USE_SECONDS = 24 * 3600
"""A copy that was used within so many seconds may be mounted still, and is left alone."""


def ensure(data: str, home: str | None, path: str, digest: str, token: str) -> str:
    """Give the folder of the copy of a skill, making it where there is none; `token` makes its
    passing name one's own.
    """
    folder = f"{data}/{FOLDER}"
    target = path_of(data, digest)
    try:
        if _is_whole(target, digest, f"{folder}/.{token}"):
            os.utime(target)
            return target
        safe_files.make_folder(folder, home)
        _make(path, digest, target, f"{folder}/.{token}")
        _trim(folder, target)
    except OSError as error:
        raise StoreError(
            f"cannot copy {path} to run it: {error.strerror}",
            hint="see to it that METIER_HOME can be written, and that there is room",
        ) from error
    return target


def path_of(data: str, digest: str) -> str:
    """Say where the copy of a skill lies, or will."""
    return f"{data}/{FOLDER}/{digest.rpartition(':')[2]}"


def _is_whole(target: str, digest: str, passing: str) -> bool:
    """Tell whether a copy is there and is what it was: a run without a sandbox, or a machine that
    fell, may have changed it.
    """
    if not isdir(target):
        return False
    if _digest_of(target) == digest:
        return True
    with suppress(FileNotFoundError):  # another process was quicker
        os.rename(target, passing)
    shutil.rmtree(passing, ignore_errors=True)
    return False


def _digest_of(folder: str) -> str | None:
    return skill_files.digest(folder, disk.whole_tree(folder) or [])


def _changed(message: str) -> IntegrityError:
    return IntegrityError(message, code="changed", hint="say it again")


def _make(path: str, digest: str, target: str, passing: str) -> None:
    base, pieces = skill_files.pieces_of(path)
    os.mkdir(passing, 0o700)
    try:
        for piece in pieces:
            aim = f"{passing}/{piece.path}"
            os.makedirs(dirname(aim), 0o700, exist_ok=True)
            _copy(f"{base}/{piece.path}", aim, piece)
        if _digest_of(passing) != digest:
            raise _changed(f"{path} changed while it was copied, so it was not run")
        try:
            os.rename(passing, target)
        except OSError:
            if not isdir(target):  # another process made the same copy first
                raise
    finally:
        shutil.rmtree(passing, ignore_errors=True)


def _copy(source: str, aim: str, piece: disk.TreeItem) -> None:
    """Copy one file, following no link; what is a link is copied as one."""
    if piece.link:
        os.symlink(os.readlink(source), aim)
        return
    taken = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(taken).st_mode):
            raise _changed(f"{source} is no file any more, so nothing was run")
        mode = 0o700 if piece.executable else 0o600
        with open(
            os.open(aim, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb"
        ) as written:
            left = (
                piece.size + 1
                # one more than it had: a file that grew does not fit its digest, and need not be read
                # to its end
            )
            while left > 0 and (block := os.read(taken, min(CHUNK_BYTES, left))):
                written.write(block)
                left -= len(block)
    finally:
        os.close(taken)


def sweep(data: str, *, dry_run: bool) -> list[int]:
    """Drop every copy that is not in use, or only look; give the size of each."""
    sizes: list[int] = []
    for path in _unused(f"{data}/{FOLDER}"):
        sizes.append(sum(piece.size for piece in disk.tree(path)))
        if not dry_run:
            shutil.rmtree(path, ignore_errors=True)
    return sizes


def _unused(folder: str) -> list[str]:
    """List the copies that cannot be in use, those used longest ago first; one that another process
    has just removed is left out.
    """
    found = []
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                found.append((os.stat(f"{folder}/{name}").st_mtime, f"{folder}/{name}"))
    return [path for used, path in sorted(found) if 0 < used < time.time() - IN_USE_SECONDS]


def _trim(folder: str, spared: str) -> None:
    """Drop the copies used longest ago, and never one that may be in use."""
    count = sum(not name.startswith(".") for name in os.listdir(folder))
    unused = [path for path in _unused(folder) if not path.startswith(f"{folder}/.")]
    for path in unused[: max(count - MAX_COPIES, 0)]:
        if path != spared:
            shutil.rmtree(path, ignore_errors=True)
