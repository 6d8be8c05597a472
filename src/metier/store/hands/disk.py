"""The system's own calls behind the port `Hands`: each method is one step on disk, and follows no link at its end."""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_LOOK = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.EXDEV, errno.ENOTSUP, errno.EOPNOTSUPP}
"""The system, the file system or the pair of paths has no exchange: then the slow way is taken."""
_HERE, _EXCHANGE, _SWAP = -100, 2, 2


class OsHands:
    """Stands behind `Hands` wherever nothing else is put there."""

    def make(self, folder: str, mode: int = 0o700) -> None:
        """Make one folder."""
        os.mkdir(folder, mode)

    def write(self, path: str, chunks: Iterable[bytes], mode: int = 0o600) -> None:
        """Write a new file, piece by piece."""
        file = os.open(path, _NEW, mode)
        try:
            for chunk in chunks:
                written = os.write(file, chunk)
                while written < len(chunk):
                    written += os.write(file, memoryview(chunk)[written:])
        finally:
            os.close(file)

    def move(self, source: str, target: str) -> None:
        """Rename."""
        os.rename(source, target)

    def swap(self, one: str, other: str) -> bool:
        """Exchange two paths, whatever lies at each."""
        exchange = _exchange()
        return exchange is not None and exchange(os.fsencode(one), os.fsencode(other))

    def link(self, aim: str, path: str) -> None:
        """Make a symbolic link; what is there already is never replaced."""
        os.symlink(aim, path)

    def remove(self, path: str) -> None:
        """Remove a file or a link."""
        os.unlink(path)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        os.rmdir(path)

    def sync(self, path: str) -> None:
        """Bring a file, or a folder with all that is below it, to the disk: the whole file system at once, not file by file."""
        file = os.open(path, _LOOK)
        try:
            if not os.path.isdir(path) or not _synced(file):
                os.fsync(file)
        finally:
            os.close(file)


@cache
def _exchange() -> Callable[[bytes, bytes], bool] | None:
    """Find the system's call that exchanges two paths."""
    import ctypes  # costs milliseconds, and a machine without skills never needs it

    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            call, before, flag = libc.renamex_np, (), _SWAP
        else:
            call, before, flag = libc.renameat2, (_HERE,), _EXCHANGE
    except (OSError, AttributeError, TypeError):
        return None

    def exchange(one: bytes, other: bytes) -> bool:
        if call(*before, one, *before, other, ctypes.c_uint(flag)) == 0:
            return True
        number = ctypes.get_errno()
        if number in _CANNOT:
            return False
        raise OSError(number, os.strerror(number), os.fsdecode(one), None, os.fsdecode(other))

    return exchange


@cache
def _syncfs() -> Callable[[int], int] | None:
    import ctypes

    try:
        found: Callable[[int], int] = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError, TypeError):
        return None
    return found


def _synced(file: int) -> bool:
    call = _syncfs()
    if call is not None:
        return call(file) == 0
    os.sync()
    return False
