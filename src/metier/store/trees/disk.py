"""A folder's tree, read whole: held by descriptors from folder to folder, so that no link planted on the way leads elsewhere.

The digest is the one that finding skills computes for the same folder. Who cannot be read whole has none: an `OSError`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from metier.standard.digest import TreeFile, tree_digest
from metier.store.layout import DEPTH, TREE_FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.model import Digest
    from metier.ports import Hands

CHUNK = 1 << 20
TREE_BYTES = 4 << 30
"""A folder with more than this is no skill, and is not read to its end."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = _FLAGS | getattr(os, "O_DIRECTORY", 0)


class Found(NamedTuple):
    """A file or a link below a folder; to be read before the next one is asked for."""

    path: str
    folder: int
    """The descriptor of the folder that holds it."""
    name: str
    link: bool

    def aim(self) -> bytes:
        """Give what a link says."""
        return os.fsencode(os.readlink(self.name, dir_fd=self.folder))

    def opened(self) -> tuple[int, os.stat_result]:
        """Open a regular file; nothing is followed or waited for."""
        file = os.open(self.name, _FLAGS, dir_fd=self.folder)
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            os.close(file)
            raise OSError(errno.EINVAL, f"{self.path!r} is not a regular file")
        return file, status


def walk(folder: str) -> Iterator[Found]:
    """Give every file and link below a folder; `OSError` for what is neither, cannot be listed, or is too much."""
    for count, found in enumerate(_below(os.open(folder, _FOLDER), "", 1), 1):
        if count >= TREE_FILES:
            raise OSError(errno.EFBIG, f"{TREE_FILES:,} files or more")
        yield found


def _below(descriptor: int, prefix: str, depth: int) -> Iterator[Found]:
    try:
        with os.scandir(descriptor) as entries:
            names = [(entry.name, _kind(entry)) for entry in entries]
        for name, kind in names:
            path = prefix + name
            if kind == "folder":
                if depth >= DEPTH:
                    raise OSError(errno.ELOOP, f"{path[:200]!r} lies too deep")
                yield from _below(os.open(name, _FOLDER, dir_fd=descriptor), path + "/", depth + 1)
            elif kind == "other":
                raise OSError(errno.EINVAL, f"{path!r} is neither file, folder nor link")
            else:
                yield Found(path, descriptor, name, kind == "link")
    finally:
        os.close(descriptor)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False):
        return "file"
    return "folder" if entry.is_dir(follow_symlinks=False) else "link" if entry.is_symlink() else "other"


def read(folder: str) -> tuple[TreeFile, ...]:
    """Hash every file below a folder; `OSError` when a part of it cannot be read."""
    left = TREE_BYTES
    files = []
    for found in walk(folder):
        files.append(_hashed(found, left))
        left -= files[-1].size
    return tuple(files)


def _hashed(found: Found, most: int) -> TreeFile:
    if found.link:
        aim = found.aim()
        return TreeFile(found.path, len(aim), hashlib.sha256(aim).digest(), "link")
    file, status = found.opened()
    whole, size = hashlib.sha256(), 0
    try:
        while chunk := os.read(file, CHUNK):
            whole.update(chunk)
            size += len(chunk)
            if size > most:
                raise OSError(errno.EFBIG, f"more than {TREE_BYTES:,} bytes")
    finally:
        os.close(file)
    return TreeFile(found.path, size, whole.digest(), bool(status.st_mode & stat.S_IXUSR))


def state_of(path: str) -> str:
    """Give the state word of what lies at a path: nothing, `link:` with its aim, a folder's digest, or `other`."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return "other"
    try:
        if stat.S_ISLNK(mode):
            return f"link:{os.readlink(path)}"
        return digest_of(path) if stat.S_ISDIR(mode) else "other"
    except OSError:
        return "other"


def digest_of(folder: str) -> Digest:
    """Give the digest of a folder as it is now; `OSError` when a part of it cannot be read."""
    return tree_digest(read(folder))


def clear(path: str, hands: Hands) -> None:
    """Remove whatever lies at a path, following nothing; nothing there is fine too."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISDIR(mode):
        hands.remove(path)
        return
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(path, 0o700)  # a folder that its owner may not change can still be old, and go
    with os.scandir(path) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, folder in names:
        if folder:
            clear(f"{path}/{name}", hands)
        else:
            hands.remove(f"{path}/{name}")
    hands.remove_folder(path)
