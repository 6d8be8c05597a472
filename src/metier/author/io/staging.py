"""Making a change to a skill ready on disk: alone, in a folder of its own, on a copy of the whole
tree. No link is followed.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
import time
import weakref
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from metier.author.limits import MAX_TREE_BYTES
from metier.discover.io.disk import look_at_tree
from metier.errors import MetierError, RefusedError, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

STAGING_FOLDER = "manage"
TRASH_FOLDER = "trash"
LOCK_FILE = "manage.lock"
"""Below METIER_HOME. What agents change is made ready apart from `staging`, which whoever installs
sweeps by rules of its own."""
UNFINISHED_PREFIX = ".metier-"
"""What the name of something that is not finished begins with; the id of the change follows."""
_LEFT_OVER = re.compile(re.escape(UNFINISHED_PREFIX) + "[0-9a-f]{32}")
WAIT_SECONDS = 30.0
SAFE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | SAFE_FLAGS
WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE_FLAGS


@contextmanager
def hold_lock(data: str | None, home: str | None) -> Iterator[str]:
    """Let one process at a time change skills; give the folder of metier's own files."""
    if data is None:
        raise StoreError(
            "there is no place to make a change ready in", hint="set METIER_HOME or HOME"
        )
    with translate_errors(data):
        if home and data.startswith(home + "/") and not os.path.isdir(home):
            raise FileNotFoundError(2, f"the home folder {home} does not exist")
        os.makedirs(data, mode=0o700, exist_ok=True)
        lock = os.open(f"{data}/{LOCK_FILE}", os.O_RDWR | os.O_CREAT | SAFE_FLAGS, 0o600)
    try:
        with translate_errors(data):
            try:
                wait_for(lock)
            except TimeoutError:
                raise busy_error(f"is changing skills with {data}") from None
        yield data
    finally:
        os.close(lock)  # which lets the lock go


def busy_error(what: str) -> StoreError:
    """Say that another process was waited for in vain."""
    return StoreError(
        f"another process {what}", hint="try again when it is done; nothing was changed"
    )


def wait_for(lock: int) -> None:
    """Take the lock of an open file or folder as soon as nobody else has it, but do not wait
    forever.
    """
    import fcntl  # Unix alone: elsewhere no skill is changed

    limit = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > limit:
                raise TimeoutError(errno.ETIMEDOUT, "another process holds its lock") from None
            time.sleep(0.005)


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Say what could not be written, and why."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}",
            hint="check the folder and its permissions",
        ) from error


@contextmanager
def staging_folder(data: str, ident: str) -> Iterator[str]:
    """Give a folder to make one change ready in, and take it away afterwards."""
    folder = f"{data}/{STAGING_FOLDER}/{ident}"
    try:
        with translate_errors(folder):
            make_private(f"{data}/{STAGING_FOLDER}")
            os.mkdir(folder, 0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_private(folder: str) -> None:
    """Make a folder for its owner alone; one that is there already is closed to others."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        mode = os.lstat(folder).st_mode
        if stat.S_ISDIR(mode) and mode & 0o077:
            os.chmod(folder, 0o700)


# --- what a crash left behind; whoever takes it away is alone


def sweep_staging(data: str) -> None:
    """Take away everything that changes which never ended were made ready in."""
    _sweep(f"{data}/{STAGING_FOLDER}", lambda _entry: True)


def sweep_root(root: str) -> None:
    """Take away what lies unfinished in a root: names of exactly our form, and no links, for those
    are not ours.

    Only for whoever is alone in the root: what another process is about to finish has such a name
    too.
    """
    _sweep(
        root, lambda entry: _LEFT_OVER.fullmatch(entry.name) is not None and not entry.is_symlink()
    )


def _sweep(folder: str, is_ours: Callable[[os.DirEntry[str]], bool]) -> None:
    if os.path.islink(folder):
        return
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if is_ours(entry)]
    except OSError:  # there is none, or it cannot be read: then nothing can be written there either
        return
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(entry.path)


# --- the tree that is made ready


def copy_tree(source: str, target: str, *, sync: bool = False, told: str = "") -> None:
    """Copy a skill's whole tree: bytes, executable bits, and links as links; with `sync` it
    outlives a power cut.

    An error names `told` where the target is a place that nobody knows.
    """
    found = look_at_tree(source)
    size = sum(piece.size for piece in found.pieces if not piece.link)
    if found.faults or size > MAX_TREE_BYTES:
        faults = [f"{path or '.'}: {what}" for path, what in found.faults.items()][:3]
        what = "; ".join(faults) or f"it has {size:,} bytes"
        raise RefusedError(
            f"{source} cannot be changed: {what}",
            code="unreadable",
            hint="someone has to look at it",
        )
    with translate_errors(told or target):
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
        write_new(target, iter(lambda: os.read(reading, 1 << 20), b""), mode & 0o777, sync=sync)
    finally:
        os.close(reading)


def write_new(
    path: str,
    blocks: Iterable[bytes],
    mode: int | None,
    *,
    sync: bool = False,
    folder: int | None = None,
) -> None:
    """Write a file that nobody else had before; without a mode it has what new files have."""
    file = os.open(path, WRITE_FLAGS, 0o666 if mode is None else 0o600, dir_fd=folder)
    try:
        if mode is not None:
            os.fchmod(file, mode)
        for block in blocks:
            view = memoryview(block)
            while view:
                view = view[os.write(file, view) :]
        if sync:
            os.fsync(file)
    finally:
        os.close(file)


def read_file(tree: str, relative: str) -> bytes | None:
    """Give the bytes of a file of a tree that was copied; nothing when there is none. A link is
    refused.
    """
    check_plain(tree, relative)
    try:
        file = os.open(f"{tree}/{relative}", _READ)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        return opened.read() if stat.S_ISREG(os.fstat(file).st_mode) else None


def check_plain(tree: str, relative: str) -> None:
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
    return RefusedError(
        f"'{relative}' is a link or a folder, or lies behind a link or a file",
        code="path-traversal",
        hint="only plain files of the skill itself can be changed",
    )


def write_file(tree: str, relative: str, data: bytes) -> None:
    """Write a file of the tree, keeping the permissions of the one it replaces."""
    path = f"{tree}/{relative}"
    with translate_errors(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else None
        if mode is not None:
            os.unlink(path)
        write_new(path, [data], mode)


def remove_file(tree: str, relative: str) -> None:
    """Take a file out of the tree."""
    with translate_errors(tree):
        os.unlink(f"{tree}/{relative}")


# --- skills that a program registers


def open_registered_folder(owner: object) -> tuple[str, Callable[[], object]]:
    """Make a folder for the skills that a program registers, for its user alone; give it, and what
    takes it away. At the latest that happens when its owner is gone or the program ends, and never
    in a process that was forked from it.
    """
    with translate_errors(tempfile.gettempdir()):
        base = os.path.realpath(tempfile.mkdtemp(prefix="metier-"))
        os.mkdir(f"{base}/skills", 0o700)
    return f"{base}/skills", weakref.finalize(owner, _drop_registered, base, os.getpid())


def _drop_registered(base: str, process: int) -> None:
    if process == os.getpid():
        shutil.rmtree(base, ignore_errors=True)


def put_registered(folder: str, name: str, files: Mapping[str, bytes]) -> None:
    """Put a skill into the folder, whole, in the place of one that has its name. What begins with
    `#!` can be executed.
    """
    new = f"{os.path.dirname(folder)}/new"
    with translate_errors(folder):
        try:
            for relative, data in files.items():
                path = f"{new}/{relative}"
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                write_new(path, [data], 0o700 if data.startswith(b"#!") else 0o600)
            take_registered(folder, name)
            os.rename(new, f"{folder}/{name}")
        finally:
            shutil.rmtree(new, ignore_errors=True)


def take_registered(folder: str, name: str) -> bool:
    """Take a skill out of the folder; tell whether it was there."""
    path = f"{folder}/{name}"
    if not os.path.isdir(path):
        return False
    with translate_errors(folder):
        shutil.rmtree(path)
    return True


# --- what is taken away


def make_trash(trash: str) -> None:
    """Make the folder that the things of one change are kept in, which nobody had before."""
    with translate_errors(trash):
        make_private(os.path.dirname(trash))
        os.mkdir(trash, 0o700)


def is_unchanged(tree: str, relative: str, data: bytes) -> bool:
    """Tell whether a file still lies where it lay, with the same bytes."""
    try:
        return read_file(tree, relative) == data
    except (MetierError, OSError):
        return False


def drop_trash(trash: str) -> None:
    """Take away what was kept for a removal that did not happen."""
    shutil.rmtree(trash, ignore_errors=True)
