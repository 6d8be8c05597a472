"""A folder's tree, read whole: held by descriptors from folder to folder, so that no link planted
on the way leads elsewhere.

The digest is the one that finding skills computes for the same folder. Who cannot be read whole has
none: an `OSError`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from metier.standard.digest import TreeFile, tree_digest
from metier.store.io.safe_files import PLAIN_FLAGS
from metier.store.layout import MAX_DEPTH, MAX_TREE_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from metier.model import Digest
    from metier.ports import DiskCalls

CHUNK_BYTES = 1 << 20
MAX_TREE_BYTES = 4 << 30
"""A folder with more than this is no skill, and is not read to its end."""
_FLAGS = os.O_RDONLY | PLAIN_FLAGS
_FOLDER = _FLAGS | getattr(os, "O_DIRECTORY", 0)


class FolderFile(NamedTuple):
    """A file or a link below a folder; to be read before the next one is asked for."""

    path: str
    folder: int
    """The descriptor of the folder that holds it."""
    name: str
    link: bool

    def aim(self) -> bytes:
        """Give what a link says."""
        return os.fsencode(os.readlink(self.name, dir_fd=self.folder))

    def opened(self) -> tuple[BinaryIO, os.stat_result]:
        """Open a regular file; nothing is followed or waited for."""
        file = os.open(self.name, _FLAGS, dir_fd=self.folder)
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            os.close(file)
            raise OSError(errno.EINVAL, f"{self.path!r} is not a regular file")
        return os.fdopen(file, "rb"), status


def walk(folder: str) -> Iterator[FolderFile]:
    """Give every file and link below a folder; `OSError` for what is neither, cannot be listed, or
    is too much.
    """
    for count, found in enumerate(_below(os.open(folder, _FOLDER), "", 1), 1):
        if count >= MAX_TREE_FILES:
            raise OSError(errno.EFBIG, f"{MAX_TREE_FILES:,} files or more")
        yield found


def _below(descriptor: int, prefix: str, depth: int) -> Iterator[FolderFile]:
    try:
        with os.scandir(descriptor) as listed:
            entries = list(listed)
        for entry in entries:
            path = prefix + entry.name
            if entry.is_file(follow_symlinks=False) or entry.is_symlink():
                yield FolderFile(path, descriptor, entry.name, entry.is_symlink())
            elif not entry.is_dir(follow_symlinks=False):
                raise OSError(errno.EINVAL, f"{path!r} is neither file, folder nor link")
            elif depth >= MAX_DEPTH:
                raise OSError(errno.ELOOP, f"{path[:200]!r} lies too deep")
            else:
                inner = os.open(entry.name, _FOLDER, dir_fd=descriptor)
                yield from _below(inner, path + "/", depth + 1)
    finally:
        os.close(descriptor)


def read(folder: str) -> tuple[TreeFile, ...]:
    """Hash every file below a folder; `OSError` when a part of it cannot be read."""
    left = MAX_TREE_BYTES
    files = []
    for found in walk(folder):
        files.append(_hashed(found, left))
        left -= files[-1].size
    return tuple(files)


def _hashed(found: FolderFile, most: int) -> TreeFile:
    if found.link:
        aim = found.aim()
        return TreeFile(found.path, len(aim), hashlib.sha256(aim).digest(), "link")
    file, status = found.opened()
    whole = hashlib.sha256()
    with file:
        size = sum(map(len, hashed_chunks(file, whole, most)))
    return TreeFile(found.path, size, whole.digest(), bool(status.st_mode & stat.S_IXUSR))


def hashed_chunks(file: BinaryIO, whole: hashlib._Hash, most: int) -> Iterator[bytes]:
    """Read an open file in pieces, all of them hashed; `OSError` once there is more than `most`."""
    size = 0
    while chunk := file.read(CHUNK_BYTES):
        whole.update(chunk)
        size += len(chunk)
        if size > most:
            raise OSError(errno.EFBIG, f"more than {MAX_TREE_BYTES:,} bytes")
        yield chunk


def state_of(path: str) -> str:
    """Give the state word of what lies at a path: nothing, `link:` with its aim, a folder's digest,
    or `other`.
    """
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return "other"
    try:
        if stat.S_ISLNK(mode):
            return f"link:{os.readlink(path)}"
        return tree_digest(read(path)) if stat.S_ISDIR(mode) else "other"
    except OSError:
        return "other"


def digest_of(folder: str) -> Digest:
    """Give the digest of a folder as it is now; `OSError` when a part of it cannot be read."""
    return tree_digest(read(folder))


def clear(path: str, disk_calls: DiskCalls) -> None:
    """Remove whatever lies at a path, following nothing; nothing there is fine too."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISDIR(mode):
        disk_calls.remove(path)
        return
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(path, 0o700)  # a folder that its owner may not change can still be old, and go
    for name in os.listdir(path):
        clear(f"{path}/{name}", disk_calls)
    disk_calls.remove_folder(path)
