"""What a run takes of the machine, counted from outside: its tasks, and the memory that they hold.

All that a program starts descends from the first process of its pid namespace, whatever it does: an orphan is adopted by that one.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from metier.execute.limits.proc import OPEN_FILES, OWN
from metier.runs import HOME, SCRATCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.runs import Bounds

_PARENT = 1
"""A field of /proc/PID/stat after the name."""
_TASKS, _RESIDENT, _TABLES = b"Threads", b"VmRSS", b"VmPTE"
"""Lines of /proc/PID/status: the number of threads; what it uses, and the tables of where that lies, in units of 1024 bytes."""
FILE_BYTES, SOCKET_BYTES = 2048, 208 * 1024
"""What the kernel holds for a file that is empty, and at most for a socket that nobody reads from, as it is set up everywhere."""
_FOLDERS = (SCRATCH, HOME, "/tmp", "/dev/shm")  # noqa: S108 - the sandbox's own


class Taken(NamedTuple):
    """What a run holds at a moment."""

    tasks: int = 0
    bytes: int = 0


def exceeded(pid: int, bounds: Bounds, *, tasks: bool = True, memory: bool = True, beside: int = 0) -> str:
    """Name the limit that a process and all its descendants have crossed together: `processes`, `memory` or nothing.

    `beside` is memory that is held for them and belongs to no process.
    """
    found = 0
    held = beside
    seen: list[int] = []
    for one in _descent(pid):
        taken = _taken(one)
        found, held = found + taken.tasks, held + taken.bytes
        seen.append(one)
        if tasks and found > bounds.processes + OWN:
            return "processes"
    # Pages that several share are counted for each at first, which is quick; only who is over is counted exactly.
    if memory and held > bounds.memory_bytes and beside + sum(map(_exactly, seen)) > bounds.memory_bytes:
        return "memory"
    return ""


def beside(pid: int, *, network: bool) -> int:
    """Give the memory that the kernel itself holds for a sandbox: for its files, however empty, and for what waits in its sockets.

    The size of a folder limits only what is in its files. The kernel counts sockets by network; of who shares the machine's, those
    are counted that a process has open.
    """
    files = sum(_files(f"/proc/{pid}/root{folder}") for folder in _FOLDERS)
    return files * FILE_BYTES + (_held_sockets(pid) if network else _sockets(pid)) * SOCKET_BYTES


def _files(folder: str) -> int:
    try:
        found = os.statvfs(folder)
    except OSError:  # it ended while it was looked at
        return 0
    return found.f_files - found.f_ffree


def _sockets(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/net/sockstat", "rb") as file:
            return int(file.readline().split()[2])
    except (OSError, ValueError, IndexError):
        return 0


def _held_sockets(pid: int) -> int:
    """Count the sockets that a process and all below it have open, each once. Every thread may have descriptors of its own."""
    seen: set[str] = set()
    hidden = 0
    for one in _descent(pid):
        unread = False
        for task in _tasks(one):
            try:
                seen.update(_open_sockets(f"{task}/fd"))
            except PermissionError:  # one that has ended, or of a program that nobody may read
                unread = unread or _RESIDENT in _status(task)
        hidden += OPEN_FILES if unread else 0  # whatever that was handed, it is no more than it can have open
    return len(seen) + hidden


def _open_sockets(folder: str) -> Iterator[str]:
    try:
        numbers = os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):  # it ended while it was looked at
        return
    for number in numbers:
        try:
            aim = os.readlink(f"{folder}/{number}")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if aim.startswith("socket:"):
            yield aim


def descendants(pid: int) -> list[int]:
    """List all that a process has started, and what those have; not itself."""
    return list(_descent(pid))[1:]


def _descent(pid: int) -> Iterator[int]:
    """Give a process and all below it, each before its own children."""
    waiting, seen = [pid], {pid}
    while waiting:
        one = waiting.pop()
        yield one
        fresh = [child for child in _children(one) if child not in seen]
        seen.update(fresh)
        waiting += fresh


@lru_cache(maxsize=1)
def _listed() -> bool:
    """Tell whether the kernel lists the children of a task; one built without that has everything looked at."""
    return os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def _searched(pid: int) -> Iterator[int]:
    """Give the children of a process by asking every process for its parent."""
    for name in os.listdir("/proc"):
        if name.isdigit() and _stat(int(name))[_PARENT : _PARENT + 1] == [str(pid).encode()]:
            yield int(name)


def _children(pid: int) -> Iterator[int]:
    if not _listed():
        yield from _searched(pid)
        return
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                yield from map(int, file.read().split())
    except OSError:  # it ended while it was looked at
        return


def _taken(pid: int) -> Taken:
    status = _status(f"/proc/{pid}")
    tasks = status.get(_TASKS, 0)
    if tasks and _RESIDENT not in status:
        status = _status(_speaker(pid))
    return Taken(tasks, (status.get(_RESIDENT, 0) + status.get(_TABLES, 0)) * 1024)


def _speaker(pid: int) -> str:
    """Give the thread that tells of a process's memory: the first one may have ended, and then says nothing for the others."""
    return next((task for task in _tasks(pid) if _RESIDENT in _status(task)), f"/proc/{pid}")


def _tasks(pid: int) -> list[str]:
    """Give the folders of a process's threads."""
    try:
        return [f"/proc/{pid}/task/{task}" for task in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _status(folder: str) -> dict[bytes, int]:
    """Give the numbers that the kernel says about a process or a thread; nothing once it is gone."""
    try:
        with open(f"{folder}/status", "rb") as file:
            lines = (line.split() for line in file)
            return {words[0][:-1]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
    except OSError:
        return {}


def _stat(pid: int) -> list[bytes]:
    """Give what the kernel says about a process after its name, which may hold anything; nothing once it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []


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
    return _taken(pid).bytes  # one that hides its memory has all of it counted
