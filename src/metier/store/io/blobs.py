"""Bytes by their hash, on disk: written under a passing name and renamed, hashed again whenever
they leave.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import stat
from contextlib import contextmanager, suppress
from os.path import lexists
from typing import TYPE_CHECKING

from metier.errors import IntegrityError
from metier.store import layout
from metier.store.io import folders, safe_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from metier.ports import DiskCalls
    from metier.standard.digest import TreeFile

CHUNK_BYTES = folders.CHUNK_BYTES
BLOB_MODE = 0o400
"""What is in the store is for its owner to read, and for nobody to change."""


class Blobs:
    """The files of one store."""

    def __init__(self, folder: str, disk_calls: DiskCalls) -> None:
        """Work below the store's own folder."""
        self.folder = folder
        self.disk_calls = disk_calls
        self._numbers = itertools.count()
        self._token = f"{os.getpid()}-{os.urandom(4).hex()}"

    def size(self, sha256: bytes) -> int:
        """Give how large a blob is; less than nothing where there is none."""
        try:
            status = os.lstat(f"{self.folder}/{layout.blob_path(sha256)}")
        except OSError:
            return -1
        return status.st_size if stat.S_ISREG(status.st_mode) else -1

    def verified(self, file: TreeFile) -> Iterator[bytes]:
        """Give the bytes of a file; `IntegrityError` in the place of its last piece when they are
        not what they were.
        """
        whole = hashlib.sha256()
        size = 0
        sound = False
        try:
            descriptor = safe_files.open_file(
                f"{self.folder}/{layout.blob_path(file.sha256)}", os.O_RDONLY
            )
        except OSError as error:
            raise layout.damaged(f"the file {file.path!r}") from error
        try:
            while chunk := os.read(descriptor, min(CHUNK_BYTES, file.size + 1 - size)):
                whole.update(chunk)
                size += len(chunk)
                sound = size == file.size and whole.digest() == file.sha256
                if size >= file.size and not sound:
                    break
                yield chunk
        finally:
            os.close(descriptor)
        if not sound and (size or file.size or whole.digest() != file.sha256):
            raise layout.damaged(f"the file {file.path!r}")

    def through(self, file: BinaryIO, most: int) -> tuple[int, bytes]:
        """Copy an open file into a blob, whatever its size."""
        whole = hashlib.sha256()
        with self._passing_name() as temporary:
            self.disk_calls.write(temporary, folders.hashed_chunks(file, whole, most), BLOB_MODE)
            self.disk_calls.move(temporary, self.fan(layout.blob_path(whole.digest())))
        return file.tell(), whole.digest()

    def carry(self, source: str, file: TreeFile) -> None:
        """Copy from another file system, and hash while doing so."""
        with os.fdopen(safe_files.open_file(source, os.O_RDONLY), "rb") as opened:
            found = self.through(opened, folders.MAX_TREE_BYTES)
        if found != (file.size, file.sha256):
            raise IntegrityError(f"{file.path!r} is not what was written", code="digest")
        self.disk_calls.remove(source)

    def put(self, path: str, data: bytes) -> None:
        """Have a file of the store hold just these bytes; those that are there already are not
        written again.
        """
        with suppress(OSError):
            if bytes_of(f"{self.folder}/{path}", len(data)) == data:
                return
        with self._passing_name() as temporary:
            self.disk_calls.write(temporary, (data,), BLOB_MODE)
            self.disk_calls.move(temporary, self.fan(path))

    def fan(self, path: str) -> str:
        """Give the whole path of something in the store; the folder it lies in is there then."""
        whole = f"{self.folder}/{path}"
        folder = whole.rpartition("/")[0]
        if not os.access(folder, os.F_OK):
            with suppress(FileExistsError):
                self.disk_calls.make(folder, 0o700)
        return whole

    @contextmanager
    def _passing_name(self) -> Iterator[str]:
        """Give a passing name to write under; what is left there when that fails is removed."""
        path = f"{self.folder}/{layout.TEMPORARY}/{self._token}-{next(self._numbers)}"
        try:
            yield path
        except BaseException:
            with suppress(OSError):  # the next sweep finds it; what went wrong first matters more
                if lexists(path):
                    self.disk_calls.remove(path)
            raise


def bytes_of(path: str, most: int) -> bytes:
    """Read a plain file of at most so many bytes."""
    file = safe_files.open_file(path, os.O_RDONLY)
    pieces = []
    left = most
    try:
        while piece := os.read(file, min(CHUNK_BYTES, left + 1)):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                raise OSError(errno.EFBIG, f"{path} is too large")
    finally:
        os.close(file)
    return b"".join(pieces)
