"""The disk, as far as finding skills needs it: list a folder, stat, read the head of a file.
Nothing here decides.

A path that vanishes, turns into something else or cannot be read is an answer, not an exception.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from array import array
from contextvars import ContextVar
from functools import partial
from itertools import chain
from operator import attrgetter
from struct import error, pack

from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import HEAD_BYTES, Head, Listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.model import Key
    from metier.ports import Answer

_numbers = attrgetter("st_ino", "st_mtime_ns", "st_ctime_ns", "st_size")
_MOST = (1 << 63) - 1
# O_NONBLOCK: a FIFO named SKILL.md must not hang the reader. O_NOFOLLOW: a link is never read in
# its place (CX-26).
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)

_TYPE = 0o170000
_LOOKS_AT_LINKS = os.access in os.supports_follow_symlinks

FOLDER, FILE, LINK, OTHER = "folder", "file", "link", "other"


def _key(status: os.stat_result) -> Key:
    try:
        return pack("4q", *_numbers(status))
    except error:  # some file systems number inodes beyond 63 bits
        return pack("4q", *(number & _MOST for number in _numbers(status)))


def key_of(path: str) -> Key | None:
    """Stat a path, following links; `None` when it is not there or not reachable."""
    try:
        return _key(os.stat(path))
    except (OSError, ValueError):
        return None


def folder_of(path: str) -> tuple[Key, int, int] | None:
    """Stat a folder: its key, its link count and its device; `None` when it cannot be reached."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return _key(status), status.st_nlink, status.st_dev


def keys_below(folder: str, paths: list[bytes], *, follow: bool = True) -> bytes | None:
    """Stat many paths below a folder in one sweep, in C throughout; `None` as soon as one is
    missing.
    """
    try:
        descriptor = os.open(
            folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
        )
    except OSError:
        return None
    try:
        look = partial(os.stat if follow else os.lstat, dir_fd=descriptor)
        return array("q", chain.from_iterable(map(_numbers, map(look, paths)))).tobytes()
    except (OSError, ValueError, OverflowError):
        return None  # missing, or an inode beyond 63 bits: then each path is looked at by itself
    finally:
        os.close(descriptor)


def kind_of(path: str) -> str | None:
    """Tell what a path is, following links."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return None
    return FOLDER if stat.S_ISDIR(mode) else FILE if stat.S_ISREG(mode) else OTHER


def readable(path: str) -> bool:
    """Tell whether a folder can be listed and entered."""
    return os.access(path, os.R_OK | os.X_OK)


def writable(path: str) -> bool:
    """Tell whether this user may write there."""
    return os.access(path, os.W_OK)


def is_there(path: str) -> bool:
    """Tell whether anything of this name exists, a broken link too. The usual answer is no, so it
    must cost no exception.
    """
    return (
        os.access(path, os.F_OK, follow_symlinks=False)
        if _LOOKS_AT_LINKS
        else os.path.lexists(path)
    )


def why_unknown(path: str) -> str:
    """Say why nobody can tell whether something lies at a path; nothing where that can be told. A
    folder that is no folder, or a link that leads nowhere, hides what lay in it.
    """
    folder = path.rpartition("/")[0]
    try:
        os.lstat(path)
    except FileNotFoundError:
        return f"{folder} leads nowhere" if is_there(folder) and kind_of(folder) is None else ""
    except (OSError, ValueError) as failure:
        return f"{folder}: {getattr(failure, 'strerror', None) or failure}"
    return ""


_KEPT_HERE = frozenset(
    (
        *("audit", "cache", "index", "keys", "manage", "mcp", "metier", "pending", "plugins"),
        *("review", "route", "run", "signatures", "skill-bundles", "staging", "state"),
        *("store", "supply", "taps", "trash", "trust", "usage"),
    )
)
"""What metier keeps below METIER_HOME, each name up to its first dot. Secrets are not among them:
values that others could read are refused, so that somebody hears of it."""


def keep_private(folder: str, home: str | None) -> None:
    """Close METIER_HOME to everybody but its owner, and what metier keeps in it, where somebody has
    left it open. A folder that is more than that, such as the user's home, is left as it is.
    """
    try:
        found = os.lstat(folder)
    except OSError:
        return
    mode = found.st_mode
    if not stat.S_ISDIR(mode) or not mode & 0o077 or not hasattr(os, "getuid"):
        return
    whole = os.path.realpath(folder).rstrip("/") + "/"
    if (
        found.st_uid != os.getuid()
        or mode & stat.S_ISVTX
        or (home and f"{os.path.realpath(home)}/".startswith(whole))
    ):
        return
    from metier.store.io.safe_files import tighten

    try:
        os.chmod(folder, 0o700)
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.partition(".")[0].partition("-wal")[0].partition("-shm")[0] in _KEPT_HERE:
            tighten(f"{folder}/{name}")


def is_link(path: str) -> bool:
    """Tell whether the path itself is a link."""
    return os.path.islink(path)


def is_gone(path: str) -> bool:
    """Tell whether nothing is at a path, for certain: what cannot be looked at may be there."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def real(path: str) -> str:
    """Give the canonical path."""
    return os.path.realpath(path)


def real_below(path: str, folders: dict[str, str]) -> str:
    """Give the canonical path of one of many that lie in the same few folders; the way to each of
    the `folders` is followed once.
    """
    folder, slash, name = path.rpartition("/")
    if sys.platform == "win32" or not slash or name in {"", ".", ".."} or os.path.islink(path):
        return real(path)
    if folder not in folders:
        folders[folder] = real(folder or "/")
    return os.path.join(folders[folder], name)


def apart(task: Callable[[], bytes]) -> Answer | None:
    """Start a task in another process; `None` where that cannot be done."""
    from metier.discover.io import (
        second_process,
    )  # only a large root read for the first time needs it

    return second_process.start_apart(task)


def list_folder(path: str) -> Listing:
    """List a folder, by type and name."""
    folders: list[str] = []
    files: list[str] = []
    links: list[str] = []
    others: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_symlink():
                    links.append(entry.name)
                else:
                    others.append(entry.name)
    except OSError as failure:
        return Listing(fault=failure.strerror or str(failure))
    folders.sort()
    files.sort()
    return Listing(tuple(folders), tuple(files), tuple(sorted(links)), tuple(sorted(others)))


def read_head(path: str, at_least: int = HEAD_BYTES) -> Head:
    """Read the beginning of a regular file, without following a link or waiting for a pipe."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as failure:
        # ELOOP: it is a link. ENXIO: it is a socket.
        fault = "SK003" if failure.errno in {errno.ELOOP, errno.ENXIO} else "SK004"
        return Head(fault=fault, message=failure.strerror or str(failure))
    try:
        status = os.fstat(descriptor)
        if status.st_mode & _TYPE != stat.S_IFREG:
            return Head(fault="SK003", message="not a regular file")
        size = status.st_size
        wanted = (
            size + 1 if size < at_least else at_least
        )  # one more, so that the usual file is seen to end
        data = os.read(descriptor, wanted)
        while data and len(data) < wanted - 1:
            more = os.read(descriptor, wanted - len(data))
            if not more:
                break
            data += more
        return Head(data, size, _key(status))
    except OSError as failure:
        return Head(fault="SK004", message=failure.strerror or str(failure))
    finally:
        os.close(descriptor)


class TreeItem(NamedTuple):
    """One thing below a skill's folder: a file, or a link that is not followed."""

    path: str
    size: int
    executable: bool
    link: bool


MAX_TREE_FILES = 20_000
"""A skill with more files than this is not one."""


def whole_tree(folder: str) -> list[TreeItem] | None:
    """List every file below a folder; `None` when a part of it cannot be read or there are too
    many.
    """
    look = look_at_tree(folder)
    return look.pieces if look.is_whole else None


def tree(folder: str) -> list[TreeItem]:
    """List files below a folder, links included but never followed."""
    return look_at_tree(folder).pieces


class TreeLook(NamedTuple):
    """A tree as one look found it: its files and links, the keys of these and of its folders, and
    what it could not take in.
    """

    pieces: list[TreeItem]
    keys: list[Key]
    """One for each piece."""
    folders: dict[str, Key]
    """By path with a slash at the end; the tree's own folder has none to its name."""
    faults: dict[str, str]
    """What is neither file, folder nor link, or cannot be listed: with such there is no digest."""

    @property
    def is_whole(self) -> bool:
        """Whether every folder could be listed to its end; a pipe does not count."""
        return not any(path == "" or path.endswith("/") for path in self.faults)


class OneLook:
    """Within this, a tree is looked at once: whoever asks in the same thread gets the same look, so
    that all that is said of a skill is about one moment. For what only shows; what changes or runs a
    skill looks for itself.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.known: dict[tuple[str, str, int], TreeLook] = {}

    def __enter__(self) -> None:
        """Keep what is seen from here on."""
        self._before = _ONE_LOOK.set(self)

    def __exit__(self, *_error: object) -> None:
        """Let go of it."""
        _ONE_LOOK.reset(self._before)


_ONE_LOOK: ContextVar[OneLook | None] = ContextVar("one look", default=None)


def look_at_tree(folder: str, only: str = "", limit: int = MAX_TREE_FILES) -> TreeLook:
    """Look at a whole tree, or at one file in a folder, with one stat for each entry; nothing is
    read, no link followed.
    """
    kept = _ONE_LOOK.get()
    if kept is None:
        return walk_tree(folder, only, limit)
    key = (folder, only, limit)
    found = kept.known.get(key)
    if found is None:
        found = kept.known[key] = walk_tree(folder, only, limit)
    return found


def walk_tree(folder: str, only: str, limit: int) -> TreeLook:
    """Look at a tree now, whatever was seen before."""
    found: list[tuple[TreeItem, Key]] = []
    folders = {"": key_of(folder) or b""}
    faults = dict[str, str]()
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            with os.scandir(f"{folder}/{prefix}" if prefix else folder) as entries:
                for entry in entries:
                    if only and entry.name != only:
                        continue
                    path = prefix + entry.name
                    status = entry.stat(follow_symlinks=False)
                    kind = status.st_mode & _TYPE
                    if kind == stat.S_IFDIR:
                        folders[path + "/"] = _key(status)
                        waiting.append(path + "/")
                    elif kind in {stat.S_IFREG, stat.S_IFLNK}:
                        link = kind == stat.S_IFLNK
                        executable = bool(status.st_mode & stat.S_IXUSR) and not link
                        found.append(
                            (TreeItem(path, status.st_size, executable, link), _key(status))
                        )
                    else:
                        faults[path] = "not a regular file"
                    if len(found) >= limit:
                        break
        except OSError as failure:
            faults[prefix] = failure.strerror or str(failure)
        if len(found) >= limit:
            faults[prefix] = f"more than {limit:,} files: the others were not looked at"
            break
    found.sort()
    return TreeLook(
        [piece for piece, _key in found], [key for _piece, key in found], folders, faults
    )


class WholeFile(NamedTuple):
    """All of a file: as many of its first bytes as were asked for, and the size and sha256 of every
    byte.
    """

    data: bytes = b""
    size: int = 0
    sha256: bytes = b""
    executable: bool = False
    fault: str = ""


def read_whole(path: str, keep: Callable[[bytes], int]) -> WholeFile:
    """Read a regular file once, to its end; how many bytes are kept is told by its beginning. A
    link is never followed.
    """
    import hashlib  # a plain listing hashes nothing

    whole, kept, size, most = hashlib.sha256(), bytearray(), 0, 0
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as failure:
        return WholeFile(fault=failure.strerror or str(failure))
    try:
        status = os.fstat(descriptor)
        if status.st_mode & _TYPE != stat.S_IFREG:
            return WholeFile(fault="not a regular file")
        while block := os.read(descriptor, 1 << 18):
            whole.update(block)
            most = most if size else keep(block)
            size += len(block)
            if len(kept) < most:
                kept += block[: most - len(kept)]
    except OSError as failure:
        return WholeFile(fault=failure.strerror or str(failure))
    finally:
        os.close(descriptor)
    return WholeFile(bytes(kept), size, whole.digest(), bool(status.st_mode & stat.S_IXUSR))


def target_of(path: str) -> bytes | None:
    """Give what a link points to, as written; `None` when it is no link any more."""
    try:
        return os.fsencode(os.readlink(path))
    except OSError:
        return None


def pieces_in(folder: str) -> list[TreeItem]:
    """List the files directly in a folder."""
    found: list[TreeItem] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found.append(
                        TreeItem(
                            entry.name,
                            status.st_size,
                            bool(status.st_mode & stat.S_IXUSR),
                            link=False,
                        )
                    )
    except OSError:
        return []
    return sorted(found)


def keys_of_links(paths: list[str]) -> list[Key] | None:
    """Stat many paths without following links; `None` as soon as one is missing."""
    try:
        return [_key(os.lstat(path)) for path in paths]
    except OSError:
        return None


def settled_keys(paths: list[str]) -> list[Key] | None:
    """Give the keys of files that have not changed just now; `None` when a later change could hide
    behind one.
    """
    keys = keys_of_links(paths)
    return keys if keys is not None and is_settled(b"".join(keys)) else None


def is_settled(keys: bytes, now: int | None = None) -> bool:
    """Tell whether the newest of packed keys is old enough that no later change can hide behind the
    same stat; by the clock, where no other moment is given.
    """
    numbers = memoryview(keys).cast("q")
    newest = max(max(numbers[1::4], default=0), max(numbers[2::4], default=0))
    return newest < (time.time_ns() if now is None else now) - SETTLED_NS


SETTLED_NS = 2_000_000_000
"""The coarsest file systems count time in steps of two seconds."""


def absolute(path: str, cwd: str, home: str | None) -> str:
    """Give the absolute, normal form of a path as typed in `cwd`."""
    if home and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    return os.path.normpath(os.path.join(cwd, path))


def hash_of(path: str) -> bytes:
    """Give the sha256 of a regular file's bytes, or of a link's target."""
    import hashlib  # a plain listing hashes nothing

    if os.path.islink(path):
        return hashlib.sha256(os.fsencode(os.readlink(path))).digest()
    whole = hashlib.sha256()
    descriptor = os.open(path, _FLAGS)
    try:
        while block := os.read(descriptor, 1 << 20):
            whole.update(block)
    finally:
        os.close(descriptor)
    return whole.digest()


def write_new(path: str, text: str) -> None:
    """Write a file that does not exist yet, with the folders above it; take all of it back when
    that fails.
    """
    from metier.errors import StoreError

    folder = os.path.dirname(path)
    made = [parent for parent in _parents(folder) if not os.path.isdir(parent)]
    begun = False
    try:
        os.makedirs(folder, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            begun = True
            file.write(text)
    except OSError as failure:
        if begun:
            os.unlink(path)
        for parent in made:
            if os.path.isdir(parent) and not os.listdir(parent):
                os.rmdir(parent)
        raise StoreError(
            f"cannot write {path}: {failure.strerror}", hint="check the folder's permissions"
        ) from failure


def write_over(path: str, text: str) -> None:
    """Write a file whole or not at all, in place of what is there; a linked file stays a link."""
    from metier.errors import StoreError

    path = os.path.realpath(path)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException as failure:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        if not isinstance(failure, OSError):
            raise
        raise StoreError(
            f"cannot write {path}: {failure.strerror}", hint="check the folder and its permissions"
        ) from failure


def _parents(folder: str) -> list[str]:
    """List a folder and its ancestors, deepest first."""
    found = [folder]
    while (above := os.path.dirname(found[-1])) != found[-1]:
        found.append(above)
    return found
