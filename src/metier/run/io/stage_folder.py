"""The stage on the disk: decoys and a copy of the skill in a folder of their own, what changed in
it, and its end.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from metier.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.run.observe.model import Stage

MAX_FILES = 50_000
"""How many files are looked at; what a script makes beyond that is not told of one by one."""
MAX_READ_FILES = 1_000
"""How many are read after one try, the weightiest first."""
MAX_DATA_BYTES = 64 * 1024
"""How much is kept of what a file holds."""
NEWEST_DAYS, SPREAD_DAYS, DAY_SECONDS = 3, 400, 86_400
"""How old the decoys are: a home in which nothing is older than a second is none that somebody lives in."""
MIN_ROOM_BYTES = 1024 * 1024 * 1024
_MEMORY = "/dev/shm"  # noqa: S108 - a folder of its own is made in it
_PREFIX = "metier-stage-"
_TMP = "/tmp"  # noqa: S108 - the sandbox's own


class FileMark(NamedTuple):
    """What tells that a file is the same. No program inside can set the last one."""

    inode: int
    mode: int
    size: int
    changed_ns: int
    touched_ns: int


class StageChange(NamedTuple):
    """What happened to a file: `write`, `remove` or `mode`."""

    kind: Literal["write", "remove", "mode"]
    path: str
    """Its path inside."""
    size: int = 0
    data: bytes = b""


class StageFolder:
    """A stage that is laid out. Use it in a `with` block: nothing of it is left behind."""

    def __init__(self, stage: Stage, skill: str) -> None:
        """Lay it out."""
        self.stage = stage
        above = parent_folder()
        _sweep(above)
        self._top = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=above)
        self.home, self.tmp = f"{self._top}/home", f"{self._top}/temporary"
        try:
            for folder in (self.home, self.tmp):
                os.mkdir(folder, 0o700)
            shutil.copytree(skill, self.outside(stage.skill), symlinks=True)
            self._lay()
        except (OSError, shutil.Error) as error:
            self.close()
            raise SandboxError(f"the stage cannot be laid out: {error}", code="sandbox") from error
        self.complete = True
        self._marks = self._look()
        self._decoys = {one.path: one for one in stage.decoys}

    def __enter__(self) -> StageFolder:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Remove it."""
        self.close()

    def close(self) -> None:
        """Remove everything, whatever its modes are."""
        remove_tree(self._top)

    def outside(self, path: str) -> str:
        """Give where a path of the inside lies out here."""
        for inside, folder in ((self.stage.home, self.home), (_TMP, self.tmp)):
            if path == inside or path.startswith(f"{inside}/"):
                found = os.path.normpath(folder + path[len(inside) :])
                if found == folder or found.startswith(f"{folder}/"):
                    return found
        raise SandboxError(f"{path!r} is not on the stage", code="sandbox")

    def inside(self, path: str) -> str:
        """Give how a path out here is called inside, as people write it."""
        if path == self.home or path.startswith(f"{self.home}/"):
            return f"~{path[len(self.home) :]}"
        return f"{_TMP}{path[len(self.tmp) :]}"

    def decoy_folders(self) -> list[str]:
        """Give the folders that decoys lie in, out here."""
        return sorted({os.path.dirname(self.outside(one.path)) for one in self.stage.decoys})

    def decoy_files(self) -> list[str]:
        """Give the decoys, out here."""
        return [self.outside(one.path) for one in self.stage.decoys]

    def is_decoy(self, path: str) -> bool:
        """Tell whether a decoy lies at a path out here."""
        return f"{self.stage.home}{path.removeprefix(self.home)}" in self._decoys

    def read_decoy(self, path: str) -> bytes:
        """Read what lies at a decoy's path out here now, once nothing runs any more."""
        mark = self._marks.get(path)
        return _read(path, mark) if mark is not None else b""

    def changes(self) -> Iterator[StageChange]:
        """Give what has changed since this was last asked."""
        before, now, read = self._marks, self._look(), 0
        self._marks = now
        for path in sorted(before.keys() - now.keys(), key=self._weight):
            if not stat.S_ISDIR(before[path].mode):
                yield StageChange("remove", self.inside(path), before[path].size)
        for path in sorted(now, key=self._weight):
            mark, old = now[path], before.get(path)
            if old == mark:
                continue
            if stat.S_ISDIR(mark.mode):
                if old is not None and old.mode != mark.mode:
                    yield StageChange("mode", self.inside(path))
                continue
            if old is None or old._replace(mode=0, touched_ns=0) != mark._replace(
                mode=0, touched_ns=0
            ):
                read += 1
                data = _read(path, mark) if read <= MAX_READ_FILES else b""
                decoy = self._decoys.get(f"{self.stage.home}{path.removeprefix(self.home)}")
                if decoy is None or old is None or data != decoy.data[:MAX_DATA_BYTES]:
                    yield StageChange("write", self.inside(path), mark.size, data)
            if old is not None and old.mode != mark.mode:
                yield StageChange("mode", self.inside(path), mark.size)

    def _weight(self, path: str) -> tuple[bool, int, str]:
        """Put decoys first, and what lies high up: a thousand files of no interest must not use up
        the room for them.
        """
        return not self.is_decoy(path), path.count("/"), path

    def read_program(self, path: str, most: int) -> bytes:
        """Read the beginning of a program by its path inside, while others may change what lies on
        the way: no link is followed, for it could lead out of the stage.
        """
        found = self.outside(path)
        folder = self.home if found.startswith(f"{self.home}/") else self.tmp
        *parts, name = found.removeprefix(f"{folder}/").split("/")
        at = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            for part in parts:
                below = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = below
            number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        finally:
            os.close(at)
        with os.fdopen(number, "rb") as file:
            return file.read(most) if stat.S_ISREG(os.fstat(number).st_mode) else b""

    def _lay(self) -> None:
        stage, now = self.stage, time.time()
        os.makedirs(self.outside(stage.project), exist_ok=True)
        made: set[str] = set()
        for decoy in stage.decoys:
            path = self.outside(decoy.path)
            folder = os.path.dirname(path)
            if folder not in made:
                os.makedirs(folder, mode=0o700, exist_ok=True)
                made.add(folder)
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(
                number, "wb", buffering=0
            ) as file:  # the time is set after it is written
                file.write(decoy.data)
                os.fchmod(number, decoy.mode & 0o777)
                days = NEWEST_DAYS + zlib.crc32(decoy.path.encode()) % SPREAD_DAYS
                then = now - days * DAY_SECONDS
                os.utime(number, (then, then))
        for folder, folders, files in os.walk(self.outside(stage.skill)):
            for name in (*folders, *files):
                path = f"{folder}/{name}"
                if not os.path.islink(path):
                    os.chmod(path, os.lstat(path).st_mode & 0o777 | 0o600)
        os.chmod(self.outside(stage.skill), 0o700)

    def _look(self) -> dict[str, FileMark]:
        found: dict[str, FileMark] = {}
        left = [self.home, self.tmp]
        while left:
            folder = left.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if len(found) >= MAX_FILES:
                            self.complete = False
                            return found
                        info = entry.stat(follow_symlinks=False)
                        found[entry.path] = FileMark(
                            info.st_ino,
                            info.st_mode,
                            info.st_size,
                            info.st_mtime_ns,
                            info.st_ctime_ns,
                        )
                        if stat.S_ISDIR(info.st_mode):
                            left.append(entry.path)
            except PermissionError:
                # The script has shut a folder of its own; it is ours all the same.
                with suppress(OSError):
                    os.chmod(folder, 0o700)
                    left.append(folder)
            except OSError:  # it lies deeper than a path can say
                self.complete = False
        return found


def parent_folder() -> str:
    """Give the folder that stages are laid in: in memory, where a thousand files take a moment and
    not a second, unless the user names another, programs cannot be run there or it has little room.
    """
    with suppress(OSError):
        found = os.statvfs(_MEMORY)
        room = found.f_bavail * found.f_frsize
        runs = not found.f_flag & os.ST_NOEXEC
        if not os.environ.get("TMPDIR") and runs and room >= MIN_ROOM_BYTES:
            return _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else tempfile.gettempdir()
    return tempfile.gettempdir()


def _sweep(folder: str) -> None:
    """Remove what was left of stages whose metier was killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            pid = entry.name.removeprefix(_PREFIX).partition("-")[0]
            left = entry.name.startswith(_PREFIX) and not os.path.exists(f"/proc/{pid}")
            if left and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                remove_tree(entry.path)


def remove_tree(top: str) -> None:
    """Remove a folder, however deep it goes and whatever its modes are: folders are moved up to the
    top one after the other, so that no path gets long and no call goes deeper than another. Links
    are removed, not followed.
    """
    left, count = [top], 0
    while left:
        folder = left.pop()
        with suppress(OSError):
            with os.scandir(folder) as entries:
                found = list(entries)
            for entry in found:
                with suppress(OSError):
                    if not entry.is_dir(follow_symlinks=False):
                        os.unlink(entry.path)
                        continue
                    os.chmod(entry.path, 0o700)
                    os.rename(entry.path, f"{top}/.{count}")
                    left.append(f"{top}/.{count}")
                    count += 1
        if folder != top:
            with suppress(OSError):
                os.rmdir(folder)
    with suppress(OSError):
        os.rmdir(top)


def _read(path: str, mark: FileMark) -> bytes:
    """Read the beginning of a file; where a link leads, in its place."""
    try:
        if stat.S_ISLNK(mark.mode):
            return b"-> " + os.fsencode(os.readlink(path))
        if not stat.S_ISREG(mark.mode):
            return b""
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(number, "rb") as file:
            return file.read(MAX_DATA_BYTES)
    except OSError:
        return b""
