"""Making a change to a skill ready on disk: alone, in a folder of its own, on a copy of the whole tree. No link is followed."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from metier.discover.disk import grown
from metier.errors import RefusedError, StoreError
from metier.managing.rules import MAX_TREE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

STAGING, TRASH, LOCK = "staging", "trash", "manage.lock"
WAIT_SECONDS = 30.0
SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | SAFE
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE


@contextmanager
def alone(data: str | None, home: str | None) -> Iterator[str]:
    """Let one process at a time change skills; give the folder of metier's own files."""
    if data is None:
        raise StoreError("there is no place to make a change ready in", hint="set METIER_HOME or HOME")
    with guarded(data):
        if home and data.startswith(home + "/") and not os.path.isdir(home):
            raise FileNotFoundError(2, f"the home folder {home} does not exist")
        os.makedirs(data, mode=0o700, exist_ok=True)
        lock = os.open(f"{data}/{LOCK}", os.O_RDWR | os.O_CREAT | SAFE, 0o600)
    try:
        with guarded(data):
            _wait_for(lock)
        yield data
    finally:
        os.close(lock)  # which lets the lock go


def _wait_for(lock: int) -> None:
    import fcntl  # Unix alone: elsewhere no skill is changed

    limit = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > limit:
                raise TimeoutError(110, "another process holds its lock") from None
            time.sleep(0.005)


@contextmanager
def guarded(path: str) -> Iterator[None]:
    """Say what could not be written, and why."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}", hint="check the folder and its permissions") from error


@contextmanager
def desk(data: str, ident: str) -> Iterator[str]:
    """Give a folder to make one change ready in, and take it away afterwards."""
    folder = f"{data}/{STAGING}/{ident}"
    with guarded(folder):
        os.makedirs(folder, mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# --- the tree that is made ready


def copy_tree(source: str, target: str, *, sync: bool = False) -> None:
    """Copy a skill's whole tree: bytes, executable bits, and links as links; with `sync` it outlives a power cut."""
    found = grown(source)
    size = sum(piece.size for piece in found.pieces if not piece.link)
    if found.faults or size > MAX_TREE_BYTES:
        faults = [f"{path or '.'}: {what}" for path, what in found.faults.items()][:3]
        what = "; ".join(faults) or f"it has {size:,} bytes"
        raise RefusedError(f"{source} cannot be changed: {what}", code="unreadable", hint="a person has to look at it")
    with guarded(target):
        os.makedirs(target)
        for piece in found.pieces:
            path = f"{target}/{piece.path}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if piece.link:
                os.symlink(os.readlink(f"{source}/{piece.path}"), path)
            else:
                _copy(f"{source}/{piece.path}", path, sync=sync)


def _copy(source: str, target: str, *, sync: bool) -> None:
    reading = os.open(source, _READ)
    try:
        mode = os.fstat(reading).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file")
        writing = os.open(target, WRITE, 0o600)
        try:
            os.fchmod(writing, mode & 0o777)
            while block := os.read(reading, 1 << 20):
                pour(writing, block)
            if sync:
                os.fsync(writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def pour(file: int, data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def read(tree: str, relative: str) -> bytes | None:
    """Give the bytes of a file of a tree that was copied; nothing when there is none. A link is refused."""
    plain(tree, relative)
    try:
        file = os.open(f"{tree}/{relative}", _READ)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        return opened.read() if stat.S_ISREG(os.fstat(file).st_mode) else None


def plain(tree: str, relative: str) -> None:
    """Refuse a file that is a link, lies behind one, below a file, or is a folder."""
    path = tree
    *above, last = relative.split("/")
    for segment in above:
        path += "/" + segment
        if os.path.islink(path) or (os.path.lexists(path) and not os.path.isdir(path)):
            raise _aside(relative)
    if os.path.islink(f"{path}/{last}") or os.path.isdir(f"{path}/{last}"):
        raise _aside(relative)


def _aside(relative: str) -> RefusedError:
    return RefusedError(f"'{relative}' is a link or a folder, or lies behind a link or a file", code="path-traversal",
                        hint="only plain files of the skill itself can be changed")  # fmt: skip


def put(tree: str, relative: str, data: bytes) -> None:
    """Write a file of the tree, keeping the permissions of the one it replaces."""
    path = f"{tree}/{relative}"
    with guarded(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else None
        if mode is not None:
            os.unlink(path)
        file = os.open(path, WRITE, 0o666)
        try:
            pour(file, data)
            if mode is not None:
                os.fchmod(file, mode)
        finally:
            os.close(file)


def drop(tree: str, relative: str) -> None:
    """Take a file out of the tree."""
    with guarded(tree):
        os.unlink(f"{tree}/{relative}")


# --- what is taken away


def keep(trash: str, relative: str, data: bytes) -> None:
    """Keep a file that is about to be removed."""
    os.makedirs(trash, mode=0o700, exist_ok=True)
    put(trash, relative, data)


def forget(trash: str) -> None:
    """Take away what was kept for a removal that did not happen."""
    shutil.rmtree(trash, ignore_errors=True)
