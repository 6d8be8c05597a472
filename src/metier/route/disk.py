"""A folder as the place of an index: files are mapped into memory and never changed, and a rename switches from old to new."""

from __future__ import annotations

import mmap
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from weakref import ref

from metier.errors import StoreError
from metier.keeping import disk
from metier.route.engine import Embedded

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MANIFEST, LOCK = "manifest", "lock"
STRAY_SECONDS = 3600
"""A file that no manifest names belongs to somebody who is writing, unless it is older than this."""


class Folder:
    """A folder that holds one index and nothing else."""

    def __init__(self, folder: str, home: str | None) -> None:
        """Look at nothing yet; `home` is never created on the way."""
        self.folder, self.home = folder, home
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
            file = disk.opened(f"{self.folder}/{name}", os.O_RDONLY)
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
        with self._telling():
            disk.make(self.folder, self.home)
            disk.replace(f"{self.folder}/{name}", data)
        return name

    def switch(self, manifest: bytes) -> None:
        """Put a manifest in the place of the old one, in one step."""
        with self._telling():
            disk.make(self.folder, self.home)
            disk.replace(f"{self.folder}/{MANIFEST}", manifest)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let one writer at a time go on, of all processes."""
        with self._telling():
            disk.make(self.folder, self.home)
            lock = disk.alone(f"{self.folder}/{LOCK}")
            lock.__enter__()
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Say what could not be written, and what may help."""
        try:
            yield
        except OSError as error:
            raise StoreError(f"cannot write the index in {self.folder}: {error.strerror or error}",
                             hint="check METIER_HOME and its permissions") from error  # fmt: skip

    def drop(self, names: Iterable[str]) -> None:
        """Delete files; one that cannot be deleted is left."""
        for name in names:
            try:
                os.unlink(f"{self.folder}/{name}")
            except OSError:
                continue

    def sweep(self, kept: Collection[str]) -> None:
        """Delete what writers that were killed have left behind."""
        stale = time.time() - STRAY_SECONDS
        try:
            with os.scandir(self.folder) as entries:
                old = [entry.name for entry in entries if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < stale]
        except OSError:
            return
        self.drop(name for name in old if name not in kept and name not in {MANIFEST, LOCK})


def folder_engine(folder: str, home: str | None) -> Embedded:
    """Give an engine that keeps its index in a folder."""
    return Embedded(Folder(folder, home))
