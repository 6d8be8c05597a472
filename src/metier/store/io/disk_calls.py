"""The system's own calls behind the port `DiskCalls`: each method is one step on disk, and follows no
link at its end.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING

from metier.store.io.safe_files import PLAIN_FLAGS
from metier.store.journal import GuardedPath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | PLAIN_FLAGS
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.EXDEV, errno.ENOTSUP, errno.EOPNOTSUPP}
"""The system, the file system or the pair of paths has no exchange: then the slow way is taken."""
_HERE = -2 if sys.platform == "darwin" else -100
_SWAP = 2
"""The folder that a path without a beginning is in, and the flag that both systems exchange with."""


class OsDiskCalls:
    """Stands behind `DiskCalls` wherever nothing else is put there."""

    def make(self, folder: str, mode: int = 0o700) -> None:
        """Make one folder."""
        with _held(folder) as (name, at):
            os.mkdir(name, mode, dir_fd=at)
            if _is_private(mode):
                os.chmod(name, mode, dir_fd=at)

    def write(self, path: str, chunks: Iterable[bytes], mode: int = 0o600) -> None:
        """Write a new file, piece by piece."""
        with _held(path) as (name, at):
            made = os.open(name, _NEW, mode, dir_fd=at)
        try:  # thousands of them at once: a file object for each would take longer than its bytes
            if _is_private(mode):
                os.fchmod(made, mode)
            for chunk in chunks:
                written = os.write(made, chunk)
                while written < len(chunk):  # more than the system takes at once
                    written += os.write(made, memoryview(chunk)[written:])
        finally:
            os.close(made)

    def move(self, source: str, target: str) -> None:
        """Rename."""
        with _held(source) as (old, here), _held(target) as (new, there):
            try:
                os.rename(old, new, src_dir_fd=here, dst_dir_fd=there)
            except OSError as error:  # people know the whole paths
                raise OSError(error.errno, error.strerror, source, None, target) from error

    def swap(self, one: str, other: str) -> bool:
        """Exchange two paths, whatever lies at each."""
        with _held(one) as (first, here), _held(other) as (second, there):
            return self._swapped((here, first), (there, second), one, other)

    def _swapped(
        self, first: tuple[int | None, str], second: tuple[int | None, str], one: str, other: str
    ) -> bool:
        arguments = []
        for at, name in (first, second):
            arguments += [_HERE if at is None else at, os.fsencode(name)]
        name = "renameatx_np" if sys.platform == "darwin" else "renameat2"
        exchange = _libc_call(name)
        if exchange is None:
            return False
        if exchange(*arguments, _SWAP) == 0:
            return True
        import ctypes

        number = ctypes.get_errno()
        if number in _CANNOT:
            return False
        raise OSError(number, os.strerror(number), one, None, other)

    def link(self, aim: str, path: str) -> None:
        """Make a symbolic link; what is there already is never replaced."""
        with _held(path) as (name, at):
            os.symlink(aim, name, dir_fd=at)

    def remove(self, path: str) -> None:
        """Remove a file or a link."""
        os.unlink(path)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        os.rmdir(path)

    def sync(self, path: str) -> None:
        """Bring a file, or a folder with all that is below it, to the disk: the whole file system
        at once, not file by file.
        """
        file = os.open(path, os.O_RDONLY | PLAIN_FLAGS)
        try:
            if os.path.isdir(path):
                sync_all = _libc_call("syncfs")
                if sync_all is None:
                    os.sync()
                elif sync_all(file) == 0:
                    return
            os.fsync(file)
        finally:
            os.close(file)


_HOLDS = {os.open, os.mkdir, os.rename, os.symlink} <= os.supports_dir_fd
_FOLDER = os.O_RDONLY | PLAIN_FLAGS | getattr(os, "O_DIRECTORY", 0)


def _is_private(mode: int) -> bool:
    """Tell whether something is for its owner alone: it is so whatever the umask, which otherwise
    decides.
    """
    return sys.platform != "win32" and not mode & 0o077


def _held(path: str) -> AbstractContextManager[tuple[str, int | None]]:
    """Give a path as it is or, if it is guarded, its name and the folder that it is in as a
    descriptor.
    """
    if not isinstance(path, GuardedPath) or not _HOLDS:
        return nullcontext((path, None))
    return _held_folder(path)


@contextmanager
def _held_folder(path: GuardedPath) -> Iterator[tuple[str, int | None]]:
    """Open every folder on the way by its own name; none of them may be a link."""
    below = path.below.rstrip("/")
    *folders, name = path[len(below) + 1 :].split("/")
    at = os.open(below or "/", os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        for folder in folders:
            try:
                inner = os.open(folder, _FOLDER, dir_fd=at)
            except OSError as error:
                # A link where a folder was is one errno here and another there.
                number = errno.ENOTDIR if error.errno == errno.ELOOP else error.errno
                raise OSError(number, error.strerror, str(path)) from error
            os.close(at)
            at = inner
        yield name, at
    finally:
        os.close(at)


@cache
def _libc_call(name: str) -> Callable[..., int] | None:
    """Give a function of the system's own library; nothing where it has none of this name."""
    import ctypes  # costs milliseconds, and a machine without skills never needs it

    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError, TypeError):
        return None
    return found
