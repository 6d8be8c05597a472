"""Limits what a run takes of the machine: it sets the kernel's limits before the program begins,
and counts tasks and memory from outside.

A process and all that it starts keep the kernel's limits. All that a program starts descends from
the first process of its pid namespace, whatever it does: an orphan is adopted by that one.
"""

from __future__ import annotations

import errno
import os
import resource
import time
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from metier.errors import SandboxError
from metier.run.model import HOME, SCRATCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.run.model import RunLimits


OPEN_FILES = 1024
LOCKED_BYTES = 64 * 1024
SPARE_TASKS = 8
"""How many tasks the kernel allows beyond the limit, so that the watchdog sees that it was crossed
and says so."""
BWRAP_TASKS = 1
"""bubblewrap's own process inside."""
MAX_ARGUMENT_BYTES = 131_071
_MIN_ALL_ARGUMENTS_BYTES = 131_072
"""Bytes that the kernel takes in one argument, and in all of them on any system."""
COUNTED_APART_SINCE = (5, 14)
"""Since this kernel a user namespace counts its own tasks; before, all of the user's on the whole
machine were counted."""


def set_limits(pid: int, bounds: RunLimits, *, apart: bool = True) -> bool:
    """Set every limit on a process; false when it is gone already. `apart`: it has a user namespace
    of its own.
    """
    try:
        for kind, most in _limits(bounds, apart=apart):
            _soft, hard = resource.prlimit(pid, kind)
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, kind, (bound, bound))
    except ProcessLookupError:
        return False
    except (OSError, ValueError, OverflowError) as error:
        raise SandboxError(
            f"the limits of the run cannot be set: {error}", code="sandbox-limits"
        ) from error
    return True


def max_all_arguments_bytes() -> int:
    """Give how many bytes arguments and variables may have together; a pointer to each counts as
    well.
    """
    try:
        return max(os.sysconf("SC_ARG_MAX"), _MIN_ALL_ARGUMENTS_BYTES)
    except (OSError, ValueError):
        return _MIN_ALL_ARGUMENTS_BYTES


def counts_tasks() -> bool:
    """Tell whether the kernel can limit the tasks of one run; root's it never does."""
    return os.getuid() != 0 and kernel_version() >= COUNTED_APART_SINCE


def _limits(bounds: RunLimits, *, apart: bool) -> list[tuple[int, int]]:
    cores = os.cpu_count() or 1
    limits = [
        # Not 0: where dumps go to a program, as root and outside, the kernel takes only a limit of
        # 1 for a no.
        (resource.RLIMIT_CORE, 1),
        (resource.RLIMIT_FSIZE, bounds.file_bytes),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        # Memory that can be written to. Not the address space: what Node reserves of that is more
        # than any machine has.
        (resource.RLIMIT_DATA, bounds.memory_bytes),
        # Only for the case that nobody is left to watch the clock; threads spend several seconds in
        # one.
        (resource.RLIMIT_CPU, (bounds.seconds + 1) * cores),
        (resource.RLIMIT_MEMLOCK, LOCKED_BYTES),
        (resource.RLIMIT_MSGQUEUE, 0),
    ]
    if apart and kernel_version() >= COUNTED_APART_SINCE:
        limits.append((resource.RLIMIT_NPROC, bounds.processes + BWRAP_TASKS + SPARE_TASKS))
    return limits


def kernel_version() -> tuple[int, ...]:
    """Give the first two numbers of the kernel's version."""
    return tuple(
        int(part) for part in os.uname().release.split("-")[0].split(".")[:2] if part.isdigit()
    )


_PARENT = 1
"""A field of /proc/PID/stat after the name."""
_TASKS = b"Threads"
_RESIDENT = b"VmRSS"
_TABLES = b"VmPTE"
"""Lines of /proc/PID/status: the number of threads; what it uses, and the tables of where that
lies, in units of 1024 bytes."""
FILE_BYTES = 2048
SOCKET_BYTES = 208 * 1024
"""What the kernel holds for a file that is empty, and at most for a socket that nobody reads from,
as it is set up everywhere."""
OWN_FOLDERS = (SCRATCH, HOME, "/tmp", "/dev/shm")  # noqa: S108 - the sandbox's own


def exceeded_limit(
    pid: int, bounds: RunLimits, *, tasks: bool = True, memory: bool = True, beside: int = 0
) -> str:
    """Name the limit that a process and all its descendants have crossed together: `processes`,
    `memory` or nothing.

    `beside` is memory that is held for them and belongs to no process.
    """
    found = 0
    held = beside
    seen: list[int] = []
    for one in _descent(pid):
        count, size = _use_of(one)
        found = found + count
        held = held + size
        seen.append(one)
        if tasks and found > bounds.processes + BWRAP_TASKS:
            return "processes"
    # Pages that several share are counted for each at first, which is quick; only who is over is
    # counted exactly.
    if (
        memory
        and held > bounds.memory_bytes
        and beside + sum(map(_exactly, seen)) > bounds.memory_bytes
    ):
        return "memory"
    return ""


def kernel_memory(pid: int, *, network: bool, folders: Sequence[str] = OWN_FOLDERS) -> int:
    """Give the memory that the kernel itself holds for a sandbox: for its files, however empty, and
    for what waits in its sockets.

    The size of a folder limits only what is in its files. The kernel counts sockets by network; of
    who shares the machine's, those are counted that a process has open. `folders` are those that
    lie in memory.
    """
    files = 0
    for folder in folders:
        with suppress(OSError):  # it ended while it was looked at
            found = os.statvfs(f"/proc/{pid}/root{folder}")
            files += found.f_files - found.f_ffree
    return files * FILE_BYTES + (_held_sockets(pid) if network else _sockets(pid)) * SOCKET_BYTES


def _sockets(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/net/sockstat", "rb") as file:
            return int(file.readline().split()[2])
    except (OSError, ValueError, IndexError):
        return 0


def _held_sockets(pid: int) -> int:
    """Count the sockets that a process and all below it have open, each once. Every thread may have
    descriptors of its own.
    """
    seen: set[str] = set()
    hidden = 0
    for one in _descent(pid):
        unread = False
        for task in _tasks(one):
            try:
                seen.update(_open_sockets(f"{task}/fd"))
            except PermissionError:  # one that has ended, or of a program that nobody may read
                unread = unread or _RESIDENT in _status(task)
        hidden += (
            OPEN_FILES if unread else 0
        )  # whatever that was handed, it is no more than it can have open
    return len(seen) + hidden


def _open_sockets(folder: str) -> Iterator[str]:
    gone = suppress(FileNotFoundError, ProcessLookupError)  # it ended while it was looked at
    with gone:
        for number in os.listdir(folder):
            with gone:
                aim = os.readlink(f"{folder}/{number}")
                if aim.startswith("socket:"):
                    yield aim


def descendants(pid: int) -> list[int]:
    """List all that a process has started, and what those have; not itself."""
    return list(_descent(pid))[1:]


def _descent(pid: int) -> Iterator[int]:
    """Give a process and all below it, each before its own children."""
    waiting = [pid]
    seen = {pid}
    while waiting:
        one = waiting.pop()
        yield one
        fresh = [child for child in _children(one) if child not in seen]
        seen.update(fresh)
        waiting += fresh


@lru_cache(maxsize=1)
def _listed() -> bool:
    """Tell whether the kernel lists the children of a task; one built without that has everything
    looked at.
    """
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _children(pid: int) -> Iterator[int]:
    if not _listed():  # then every process is asked for its parent
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                # After its own name, which may hold anything.
                if file.read().rpartition(b")")[2].split()[_PARENT] == str(pid).encode():
                    yield int(name)
        return
    with suppress(OSError):  # it ended while it was looked at
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                yield from map(int, file.read().split())


def _use_of(pid: int) -> tuple[int, int]:
    """Give the tasks and the bytes that a process holds at this moment."""
    status = _status(f"/proc/{pid}")
    tasks = status.get(_TASKS, 0)
    if tasks and _RESIDENT not in status:
        status = _status(_speaker(pid))
    return tasks, (status.get(_RESIDENT, 0) + status.get(_TABLES, 0)) * 1024


def _speaker(pid: int) -> str:
    """Give the thread that tells of a process's memory: the first one may have ended, and then says
    nothing for the others.
    """
    return next((task for task in _tasks(pid) if _RESIDENT in _status(task)), f"/proc/{pid}")


def _tasks(pid: int) -> list[str]:
    """Give the folders of a process's threads."""
    try:
        return [f"/proc/{pid}/task/{task}" for task in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _status(folder: str) -> dict[bytes, int]:
    """Give the numbers that the kernel says about a process or a thread; nothing once it is
    gone.
    """
    try:
        with open(f"{folder}/status", "rb") as file:
            lines = (line.split() for line in file)
            return {
                words[0][:-1]: int(words[1])
                for words in lines
                if len(words) > 1 and words[1].isdigit()
            }
    except OSError:
        return {}


def _exactly(pid: int) -> int:
    """Give a process's part of the memory it uses: a page that four share is a quarter for each."""
    try:
        speaker = _speaker(pid)
        with open(f"{speaker}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return (int(line.split()[1]) + _status(speaker).get(_TABLES, 0)) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return _use_of(pid)[1]  # one that hides its memory has all of it counted


# --- folders that a run may change

MAX_COUNTED_FILES = 100_000
"""A folder with more files is not counted one by one: the space left on its disk is."""
MIN_PAUSE_SECONDS = 0.25
PAUSE_FACTOR = 10
"""How much longer a pause is than a look, so that a large folder costs no more than a tenth of the
time."""
_BLOCK_BYTES = 512


class LentFolders:
    """The folders that one run may change, and what they held when it began."""

    def __init__(self, folders: Sequence[str], most: int) -> None:
        """Count them; what is inside another one of them is counted with that one."""
        self.most = most
        chosen = sorted(set(folders), key=len)
        self.folders = [
            one
            for at, one in enumerate(chosen)
            if not any(one.startswith(f"{outer.rstrip('/')}/") for outer in chosen[:at])
        ]
        self._next = 0.0
        self._before = [self._look(folder) for folder in self.folders]

    def exceeded(self) -> str:
        """Say `lent` when more was added than may be; nothing otherwise, and between two looks."""
        began = time.monotonic()
        if not self.folders or began < self._next:
            return ""
        added = 0
        for folder, (counted, size) in zip(self.folders, self._before, strict=True):
            still, now = self._look(folder, space=not counted)
            if counted and not still:  # it has become too many files to count
                return "lent"
            added += max(now - size, 0)
        done = time.monotonic()
        self._next = done + max(MIN_PAUSE_SECONDS, PAUSE_FACTOR * (done - began))
        return "lent" if added > self.most else ""

    def _look(self, folder: str, *, space: bool = False) -> tuple[bool, int]:
        """Give whether files were counted, and how many bytes they take; else what of the disk is
        taken.
        """
        size = None if space else counted_bytes(folder)
        if size is not None:
            return True, size
        try:
            disk = os.statvfs(folder)
        except OSError:
            return False, 0
        return False, (disk.f_blocks - disk.f_bfree) * disk.f_frsize


def counted_bytes(folder: str) -> int | None:
    """Give what everything below a folder takes on the disk, following nothing; nothing where there
    is too much to count.
    """
    total = 0
    count = 0
    left = [folder]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    count += 1
                    if count > MAX_COUNTED_FILES:
                        return None
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            left.append(entry.path)
                        else:
                            total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK_BYTES
                    except OSError:
                        continue  # it was just removed
        except NotADirectoryError:  # a single file may be lent too
            total += os.lstat(folder).st_blocks * _BLOCK_BYTES
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # who goes that deep may put anything there
                return None
    return total
