"""Control groups, where they can be had: one for each run, made, limited, joined, and removed.

Version 2 where a group above this process is ours to divide; version 1 as root. Everything else is
left to the watchdog.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from metier.run.io.limits import BWRAP_TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.model import Texts
    from metier.run.model import RunLimits

WANTED_CONTROLLERS = ("pids", "memory")
_PREFIX = "metier-"
_NUMBERS = count()
_PATIENCE_SECONDS = 2.0
"""Seconds for the kernel to notice that a group is empty."""


class CgroupPlace(NamedTuple):
    """A group below which others can be made, and what those can limit."""

    folder: str
    version: int
    controllers: Texts


class CgroupSupport(NamedTuple):
    """What this machine offers."""

    places: tuple[CgroupPlace, ...]
    reason: str
    """Why not more; nothing where both tasks and memory can be limited."""

    @property
    def controllers(self) -> Texts:
        """What can be limited."""
        return tuple(name for place in self.places for name in place.controllers)


class RunCgroup:
    """One run's own control group; under version 1 a folder for each controller."""

    def __init__(self, places: tuple[CgroupPlace, ...], bounds: RunLimits) -> None:
        """Make it and set its limits; an `OSError` where that fails, with nothing left of it."""
        name = f"{_PREFIX}{os.getpid()}-{next(_NUMBERS)}"
        self.controllers = tuple(one for place in places for one in place.controllers)
        self._made: list[CgroupPlace] = []
        try:
            for place in places:
                folder = os.path.join(place.folder, name)
                os.mkdir(folder)
                self._made.append(place._replace(folder=folder))
                _limit(self._made[-1], bounds)
        except OSError:
            self.remove()
            raise

    def join(self, pid: int) -> None:
        """Put a process in; all that it starts is in as well. What the kernel refuses is not among
        `controllers` any more.
        """
        joined: list[str] = []
        for place in self._made:
            with suppress(OSError):
                _write(f"{place.folder}/cgroup.procs", str(pid))
                joined += place.controllers
        self.controllers = tuple(joined)

    def exceeded(self) -> str:
        """Name the limit that was met: `memory`, `processes` or nothing."""
        for place in self._made:
            if "memory" in place.controllers and _events(place, "memory", "oom_kill"):
                return "memory"
            if "pids" in place.controllers and _events(place, "pids", "max"):
                return "processes"
        return ""

    def kill(self) -> None:
        """End all that is in it."""
        for place in self._made:
            try:
                _write(f"{place.folder}/cgroup.kill", "1")
            except OSError:
                for pid in map(int, _read(f"{place.folder}/cgroup.procs").split()):
                    # One that this process cannot see is listed as 0, and to signal that would be
                    # to signal ourselves.
                    if pid > 0:
                        with suppress(OSError):
                            os.kill(pid, signal.SIGKILL)

    def remove(self) -> None:
        """Remove it. The kernel may need a moment after the last process is gone."""
        until = time.monotonic() + _PATIENCE_SECONDS
        for place in self._made:
            while not _removed(place.folder) and time.monotonic() < until:
                self.kill()
                time.sleep(0.001)
        self._made = []


def make(bounds: RunLimits) -> RunCgroup:
    """Make a group for one run; one that limits nothing where none can be had."""
    try:
        return RunCgroup(find().places, bounds)
    except OSError:
        return RunCgroup((), bounds)


@lru_cache(maxsize=1)
def find() -> CgroupSupport:
    """Look for what can be limited here, and try it once."""
    return look(_read("/proc/self/cgroup"), _read("/proc/self/mountinfo"))


def look(own: str, mounts: str) -> CgroupSupport:
    """Look for what can be limited, from the kernel's lists of a process's groups and of what is
    mounted.
    """
    places: list[CgroupPlace] = []
    why = "no control groups are mounted"
    groups = dict[str, str]()
    """This process's group for each controller of version 1; under an empty name that of version 2."""
    for line in own.splitlines():
        _number, names, path = line.split(":", 2)
        groups.update(dict.fromkeys(names.split(","), path))
    for place, reason in _candidates(groups, mounts):
        why = reason or _prepare(place)
        fresh = tuple(
            name for name in place.controllers if not any(name in one.controllers for one in places)
        )
        if not why and fresh:
            places.append(place._replace(controllers=fresh))
        if {name for one in places for name in one.controllers} == set(WANTED_CONTROLLERS):
            return CgroupSupport(tuple(places), "")
    return CgroupSupport(tuple(places), why)


def _candidates(own: dict[str, str], mounts: str) -> Iterator[tuple[CgroupPlace, str]]:
    """Give places worth a try, version 2 first, each with a reason where it is clear that it will
    not do.
    """
    found = []
    for line in mounts.splitlines():
        before, _dash, after = line.partition(" - ")
        kind, _source, options = after.split(" ", 2)
        if kind in {"cgroup", "cgroup2"}:
            root, folder = before.split()[3:5]  # where in the whole tree that begins; where it is
            found.append((kind, folder, root, options.split(",")))
    for kind, folder, root, options_of_it in sorted(found, key=lambda one: one[0], reverse=True):
        if kind == "cgroup2":
            yield from _above(folder, _below(folder, root, own.get("", "/")))
            continue
        for name in WANTED_CONTROLLERS:
            if name in options_of_it:
                yield _checked(CgroupPlace(_below(folder, root, own.get(name, "/")), 1, (name,)))


def _above(top: str, own: str) -> Iterator[tuple[CgroupPlace, str]]:
    """Give this process's group and those above it that hand the controllers down."""
    folder = own
    while True:
        handed = tuple(
            name
            for name in WANTED_CONTROLLERS
            if name in _read(f"{folder}/cgroup.subtree_control").split()
        )
        if handed:
            yield _checked(CgroupPlace(folder, 2, handed))
        else:
            yield (
                CgroupPlace(folder, 2, ()),
                f"{folder} hands neither tasks nor memory down to groups below it",
            )
        if folder == top or not folder.startswith(f"{top}/"):
            return
        folder = os.path.dirname(folder)


def _checked(place: CgroupPlace) -> tuple[CgroupPlace, str]:
    if all(os.access(path, os.W_OK) for path in (place.folder, f"{place.folder}/cgroup.procs")):
        return place, ""
    return place, f"{place.folder} belongs to another user, or cannot be written to"


def _prepare(place: CgroupPlace) -> str:
    """Make a group and remove it, and say why that fails; else remove what runs left behind whose
    metier was killed: empty groups of processes that are gone.
    """
    folder = os.path.join(place.folder, f"{_PREFIX}{os.getpid()}-try{next(_NUMBERS)}")
    try:
        os.mkdir(folder)
        os.rmdir(folder)
    except OSError as error:
        return f"{place.folder}: {error.strerror}"
    for name in os.listdir(place.folder):
        pid = name.removeprefix(_PREFIX).partition("-")[0]
        if name.startswith(_PREFIX) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            _removed(os.path.join(place.folder, name))
    return ""


def _limit(place: CgroupPlace, bounds: RunLimits) -> None:
    if "pids" in place.controllers:
        _write(f"{place.folder}/pids.max", str(bounds.processes + BWRAP_TASKS))
    if "memory" in place.controllers:
        _write(
            f"{place.folder}/{'memory.max' if place.version == 2 else 'memory.limit_in_bytes'}",
            str(bounds.memory_bytes),
        )
        for name, value in _SWAP[place.version]:
            with suppress(OSError):  # a kernel without swap accounting, or one that is older
                _write(f"{place.folder}/{name}", value or str(bounds.memory_bytes))


_SWAP = {
    2: (("memory.swap.max", "0"), ("memory.oom.group", "1")),
    1: (("memory.memsw.limit_in_bytes", ""),),
}
"""What keeps a run from taking swap in the place of memory."""


def _events(place: CgroupPlace, controller: str, name: str) -> int:
    """Count how often a limit was met."""
    file = (
        "memory.oom_control"
        if (controller, place.version) == ("memory", 1)
        else f"{controller}.events"
    )
    for line in _read(f"{place.folder}/{file}").splitlines():
        key, _space, number = line.partition(" ")
        if key == name and number.isdigit():
            return int(number)
    return 0


def _below(folder: str, root: str, path: str) -> str:
    """Find a group's folder; in a container the tree that is mounted may begin further down."""
    inside = path if root == "/" else path.removeprefix(root) if path.startswith(root) else "/"
    whole = f"{folder}{inside}".rstrip("/")
    return whole if os.path.isdir(whole) else folder


def _removed(folder: str) -> bool:
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _write(path: str, text: str) -> None:
    number = os.open(path, os.O_WRONLY)
    try:
        os.write(number, text.encode())
    finally:
        os.close(number)


def _read(path: str) -> str:
    """Read a small file of the kernel's, as directly as can be: it is done for every run."""
    with suppress(OSError), open(path, "rb", buffering=0) as file:
        return file.read().decode("utf-8", "replace")
    return ""
