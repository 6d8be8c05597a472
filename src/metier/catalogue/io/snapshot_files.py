"""Snapshots on disk: written whole or not at all, read without a lock, safe with many processes at
once.

Each file is replaced by renaming a finished one over it, so a reader sees the old or the new, and a
process killed half-way leaves at most a stray temporary file, which a later run sweeps up.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

KEEP = 256
"""More files than this are trimmed, the longest untouched first."""
STRAY_SECONDS = 3600


class SnapshotFolder:
    """A folder of snapshots. `trouble` says why nothing could be saved, if so."""

    def __init__(self, folder: str, home: str | None) -> None:
        """Keep snapshots in `folder`; `home` is never created on the way."""
        self.folder = folder
        self.home = home
        self.trouble = ""

    def load(self, name: str) -> bytes | None:
        """Give what was saved under a name, or nothing."""
        path = f"{self.folder}/{name}"
        try:
            with open(path, "rb", buffering=0) as file:
                data = file.read()
        except OSError:
            return None
        with suppress(OSError):
            os.utime(path)  # what is used is not trimmed
        return data

    def head(self, name: str, size: int) -> bytes | None:
        """Give the first bytes of what was saved under a name, or nothing."""
        try:
            file = os.open(f"{self.folder}/{name}", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            return None
        try:
            return os.read(file, size)
        except OSError:
            return None
        finally:
            os.close(file)

    def save(self, name: str, data: bytes) -> None:
        """Keep bytes under a name; when that fails, remember why and try no more."""
        if self.trouble:
            return
        temporary = f"{self.folder}/{name}.{os.getpid()}.{time.monotonic_ns()}.tmp"
        try:
            self._ready()
            with open(temporary, "xb", opener=_private) as file:
                file.write(data)
            os.replace(temporary, f"{self.folder}/{name}")
        except OSError as error:
            self.trouble = f"cannot write the index in {self.folder}: {error.strerror or error}"
            try:
                os.unlink(temporary)
            except OSError:
                pass

    def _ready(self) -> None:
        if os.path.isdir(self.folder):
            return
        from metier.store.io.safe_files import make_folder  # only the first listing makes it

        make_folder(self.folder, self.home)

    def trim(self) -> None:
        """Drop what has not been touched for longest, and what killed processes left behind."""
        try:
            with os.scandir(self.folder) as entries:
                files = sorted(
                    (entry.stat().st_mtime, entry.path) for entry in entries if entry.is_file()
                )
        except OSError:
            return
        stale = time.time() - STRAY_SECONDS
        doomed = [path for changed, path in files if path.endswith(".tmp") and changed < stale]
        doomed += [path for _changed, path in files[:-KEEP] if not path.endswith(".tmp")]
        for path in doomed:
            try:
                os.unlink(path)
            except OSError:
                continue


def _private(path: str, flags: int) -> int:
    file = os.open(path, flags, 0o600)
    if sys.platform != "win32":
        os.fchmod(file, 0o600)  # whatever the umask
    return file


class NoSnapshots:
    """Keeps nothing: every run begins anew."""

    trouble = ""

    def load(self, name: str) -> bytes | None:  # noqa: ARG002
        """Give nothing."""
        return None

    def head(self, name: str, size: int) -> bytes | None:  # noqa: ARG002
        """Give nothing."""
        return None

    def save(self, name: str, data: bytes) -> None:
        """Keep nothing."""

    def trim(self) -> None:
        """Have nothing to drop."""
