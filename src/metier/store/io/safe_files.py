"""Files of metier's own: written whole, one process at a time, in folders that only their owner
enters.

Nothing is followed or waited for: a link, a pipe or a folder planted at such a place is an
`OSError`. What that means, and what to say about it, is for whoever keeps something here.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from metier.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT_SECONDS = 30.0
"""How long to wait for other writers: a process that was stopped with the lock must not stop all
others."""
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
PLAIN_FLAGS = (
    _NOFOLLOW
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)
"""Whatever is opened here is neither followed, nor waited for, nor handed on to another program."""
_HALF_A_DAY = 12 * 60 * 60
_POSIX = sys.platform != "win32"


def refuse_on_windows() -> None:
    """Refuse to install or change a skill on Windows: a change there could be left half done."""
    if sys.platform == "win32":
        raise RefusedError(
            "metier can't install or change skills on Windows yet",
            code="unsupported",
            hint="run metier inside WSL",
        )


def error_in_words(error: OSError) -> str:
    """Say what went wrong, and with which file."""
    return f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")


def make_folder(folder: str, home: str | None) -> None:
    """Make a folder and what is missing above it, for their owner alone; a home that does not exist
    is never made on the way.
    """
    if os.path.lexists(folder):
        return
    if home and folder.startswith(home + "/") and not os.path.isdir(home):
        raise FileNotFoundError(2, f"the home folder {home} does not exist")
    missing = []
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        try:
            os.mkdir(path, mode=0o700)
            os.chmod(path, 0o700)  # a strict umask would keep the owner out as well
        except FileExistsError:
            pass  # another process was first


def tighten(path: str) -> None:
    """Close a file, or a folder with all that is below it, to everybody but its owner. No link is
    followed, and what cannot be closed is left.
    """
    if not _POSIX:
        return
    with suppress(OSError):
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):
            if mode & 0o077:
                os.chmod(path, stat.S_IMODE(mode) & 0o700)
            with os.scandir(path) as entries:
                below = [entry.path for entry in entries]
            for entry in below:
                tighten(entry)
        elif stat.S_ISREG(mode) and mode & 0o077:
            os.chmod(path, stat.S_IMODE(mode) & 0o700)


def open_file(path: str, flags: int) -> int:
    """Open a plain file: never through a link, never something that is not a file; one that is made
    is its owner's alone.
    """
    file = os.open(path, flags | PLAIN_FLAGS, 0o600)
    try:
        _own(file, path, made=bool(flags & os.O_CREAT))
    except BaseException:
        os.close(file)
        raise
    return file


def _own(file: int, path: str, *, made: bool) -> None:
    mode = os.fstat(file).st_mode
    if not stat.S_ISREG(mode) or (not _NOFOLLOW and os.path.islink(path)):
        raise OSError(22, f"{path} is not a plain file")
    if made and _POSIX and stat.S_IMODE(mode) != 0o600:
        os.fchmod(file, 0o600)


def replace_file(path: str, data: bytes) -> None:
    """Put bytes in the place of a file, in one step and for its owner alone: a reader sees the old
    or the new.
    """
    temporary = stage_file(path, data)
    try:
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def stage_file(path: str, data: bytes) -> str:
    """Write what is to be put in the place of a file, beside it and to the disk; give its path."""
    temporary = f"{path}.{os.getpid()}.{time.monotonic_ns()}.tmp"
    new = open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(new, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(new)
    except BaseException:
        os.unlink(temporary)
        raise
    return temporary


@contextmanager
def hold_lock(
    path: str, wait: float = WAIT_SECONDS, *, create: bool = True, named: bool = False
) -> Iterator[None]:
    """Let one process or thread at a time go on. Who only reads need not `create` the lock, and
    does without one then.

    Without any `wait`, whoever finds it held gives up at once. One that is `named` lets others see
    who it is: `holder`.
    """
    try:
        file = open_file(path, os.O_RDWR | (os.O_CREAT if create else 0))
    except OSError:
        if create:
            raise
        file = -1
    try:
        if file >= 0:
            _wait(file, wait)
        with _signed(file) if named and file >= 0 else nullcontext():
            yield
    finally:
        if file >= 0:
            os.close(file)  # which lets the lock go


@contextmanager
def _signed(file: int) -> Iterator[None]:
    """Have it written in the lock who holds it. That is for people only, and so never a reason to
    fail.
    """
    from metier.store import lock_holder

    me = lock_holder.LockHolder(os.getpid(), lock_holder.command_of(sys.argv), time.time(), _host())
    with suppress(OSError):
        os.ftruncate(file, 0)  # whoever was killed here may have left a longer name
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, lock_holder.write(me))
    try:
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(file, 0)


def holder_in_words(path: str) -> str:
    """Name who holds a lock, for people; nothing where that is not known. The lock itself was found
    held a moment ago.
    """
    from metier.store import lock_holder

    try:
        with os.fdopen(open_file(path, os.O_RDONLY), "rb") as file:
            found = lock_holder.read(file.read(lock_holder.MAX_HOLDER_BYTES))
    except OSError:
        return ""
    if found is None or (found.host == _host() and not _is_alive(found.pid)):
        return ""  # whoever was killed here holds nothing, and the one who does has not written yet
    form = "%H:%M:%S" if abs(time.time() - found.since) < _HALF_A_DAY else "%Y-%m-%d %H:%M:%S"
    return lock_holder.describe(found, time.strftime(form, time.localtime(found.since)), _host())


def _host() -> str:
    return os.uname().nodename if _POSIX else ""


def _is_alive(pid: int) -> bool:
    if not _POSIX:
        return True  # there, asking a process whether it is there would end it
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # somebody else's
    except (OSError, OverflowError):
        return False
    return True


def _wait(file: int, seconds: float) -> None:
    limit = time.monotonic() + seconds
    pause = 0.0005
    while not _locked(file):
        if time.monotonic() >= limit:
            raise TimeoutError(110, "another process holds its lock")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.01)


if sys.platform == "win32":

    def _locked(file: int) -> bool:
        import msvcrt

        try:
            os.lseek(file, 0, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _locked(file: int) -> bool:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
