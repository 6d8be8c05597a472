"""A folder as the place of an index: files are mapped into memory and never changed, and a rename
switches from old to new. A process of its own fills it in the background.
"""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING
from weakref import ref

from metier.discover.io import disk
from metier.errors import StoreError
from metier.find.index.engine import IndexEngine
from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

MANIFEST = "manifest"
LOCK = "lock"
FILL_LOCK = "filling"
"""Held by the process that makes vectors in the background."""
TRIED = "tried"
"""Names the vectors that such a process began to make."""
RETRY_SECONDS = 3600
"""After which time it may begin again with the very same vectors."""
MAX_TRIED_BYTES = 64
LEAST_PRIORITY = 19
STRAY_SECONDS = 3600
"""A file that no manifest names belongs to somebody who is writing, unless it is older than
this."""
MAX_INDEXES = 16
"""Indexes that stay: each belongs to one set of folders with skills, as each project has its
own."""
RECENT_SECONDS = 3600
"""What was used so lately stays whatever their number: another process may be searching it."""


_OWN_FILES = frozenset({MANIFEST, LOCK, FILL_LOCK, TRIED})


class IndexFolder:
    """A folder that holds one index and nothing else."""

    def __init__(self, folder: str, home: str | None) -> None:
        """Look at nothing yet; `home` is never created on the way."""
        self.folder = folder
        self.home = home
        self._maps: list[ref[mmap.mmap]] = []

    def version(self) -> object:
        """Give what a stat says of the manifest."""
        try:
            found = os.stat(f"{self.folder}/{MANIFEST}")
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def manifest(self) -> bytes:
        """Give the manifest; nothing when there is none."""
        return bytes(self.load(MANIFEST) or b"")

    def load(self, name: str) -> memoryview | None:
        """Map a file into memory: it stays there for whoever has it, even after it was deleted."""
        try:
            file = safe_files.open_file(f"{self.folder}/{name}", os.O_RDONLY)
        except OSError:
            return None
        try:
            found = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
            self._maps = [*(known for known in self._maps if known() is not None), ref(found)]
            return memoryview(found)
        except (OSError, ValueError):  # an empty file cannot be mapped
            return None
        finally:
            os.close(file)

    def rest(self) -> None:
        """Give pages back to the system, which keeps them as long as it has room."""
        for known in self._maps if hasattr(mmap, "MADV_DONTNEED") else ():
            found = known()
            if found is not None:
                with suppress(OSError, ValueError):
                    found.madvise(mmap.MADV_DONTNEED)

    def keep(self, data: bytes) -> str:
        """Write a file under a name that no other has."""
        name = f"{os.urandom(8).hex()}.part"
        with self._writing():
            safe_files.replace_file(f"{self.folder}/{name}", data)
        return name

    def switch(self, manifest: bytes) -> None:
        """Put a manifest in the place of the old one, in one step."""
        with self._writing():
            safe_files.replace_file(f"{self.folder}/{MANIFEST}", manifest)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let one writer at a time go on, of all processes."""
        with self._writing():
            lock = safe_files.hold_lock(f"{self.folder}/{LOCK}")
            lock.__enter__()
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Make the folder; say what could not be written, and what may help."""
        try:
            safe_files.make_folder(self.folder, self.home)
            yield
        except OSError as error:
            raise StoreError(
                f"cannot write the index in {self.folder}: {error.strerror or error}",
                hint="check METIER_HOME and its permissions",
            ) from error

    def drop(self, names: Iterable[str]) -> None:
        """Delete files; one that cannot be deleted is left."""
        for name in names:
            with suppress(OSError):
                os.unlink(f"{self.folder}/{name}")

    def sweep(self, kept: Collection[str]) -> None:
        """Delete what writers that were killed have left behind."""
        stale = time.time() - STRAY_SECONDS
        try:
            with os.scandir(self.folder) as entries:
                old = [
                    entry.name
                    for entry in entries
                    if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < stale
                ]
        except OSError:
            return
        self.drop(name for name in old if name not in kept and name not in _OWN_FILES)


def folder_engine(folder: str, home: str | None) -> IndexEngine:
    """Give an engine that keeps its index in a folder."""
    return IndexEngine(IndexFolder(folder, home))


def mark_used(folder: str, now: float) -> None:
    """Note that an index is in use, and let go of those that were not used for longest."""
    with suppress(OSError, ValueError):
        os.utime(folder, (now, now))
        with os.scandir(os.path.dirname(folder)) as entries:
            found = sorted(
                (entry.stat(follow_symlinks=False).st_mtime, entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
            )
        for changed, path in found[:-MAX_INDEXES]:
            if changed < now - RECENT_SECONDS and path != folder:
                shutil.rmtree(path, ignore_errors=True)


# --- filled in the background


def is_being_filled(folder: str) -> bool:
    """Tell whether a process makes vectors for an index right now."""
    try:
        with safe_files.hold_lock(f"{folder}/{FILL_LOCK}", 0, create=False):
            return False
    except TimeoutError:
        return True
    except OSError:
        return False


def tried_lately(folder: str) -> str:
    """Name the vectors that were begun a short while ago; nothing where none were."""
    try:
        with os.fdopen(safe_files.open_file(f"{folder}/{TRIED}", os.O_RDONLY), "rb") as file:
            if time.time() - os.fstat(file.fileno()).st_mtime < RETRY_SECONDS:
                return file.read(MAX_TRIED_BYTES).decode("ascii", "replace")
    except OSError:
        pass
    return ""


@contextmanager
def fill_alone(folder: str, lacking: str) -> Iterator[bool]:
    """Let one process at a time make vectors for an index, with the least priority; tell whether
    it is this one. What it begins is noted first: however it ends, it is not begun again at once.
    """
    with ExitStack() as held:
        free = True
        try:
            held.enter_context(safe_files.hold_lock(f"{folder}/{FILL_LOCK}", 0, named=True))
            safe_files.replace_file(f"{folder}/{TRIED}", lacking.encode())
        except OSError:
            free = False
        if free and hasattr(os, "nice"):
            with suppress(OSError):
                os.nice(LEAST_PRIORITY)
        yield free


def let_settle() -> None:
    """Wait until files that were written a moment ago can be taken at their stats."""
    time.sleep(disk.SETTLED_NS / 1e9)


_STARTED: list[subprocess.Popen[bytes]] = []
"""Processes that may not have ended yet: a server has to hear of their end."""


def start_filling(roots: Iterable[str], agent: str, cwd: str, env: Mapping[str, str]) -> bool:
    """Start a process that makes the missing vectors of a library, opened in the same way. It has
    no terminal, holds nothing of this process open, and goes on when this one ends.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        return False  # it would start the program that metier is a part of
    _STARTED[:] = [one for one in _STARTED if one.poll() is None]
    # -P: what lies in the working folder is a stranger's, and no module of ours
    words = [sys.executable, "-P", "-m", "metier", "__index", "-C", cwd]
    words += [word for root in roots for word in ("--root", root)]
    words += ["--agent", agent] if agent else []
    apart = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(
        subprocess, "IDLE_PRIORITY_CLASS", 0
    )
    try:
        _STARTED.append(
            subprocess.Popen(  # noqa: S603 - fixed words, and no shell
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=cwd,
                env=dict(env),
                close_fds=True,
                start_new_session=True,
                creationflags=apart,
            )
        )
    except (OSError, ValueError):
        return False
    return True
