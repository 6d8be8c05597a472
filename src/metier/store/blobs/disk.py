"""Bytes by their hash, on disk: written under a passing name and renamed, hashed again whenever they leave."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import stat
from typing import TYPE_CHECKING

from metier.errors import IntegrityError
from metier.keeping import disk as keeping
from metier.store import layout
from metier.store.trees import disk as trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metier.ports import Hands
    from metier.standard.digest import TreeFile

CHUNK = trees.CHUNK
KEPT = 0o400
"""What is in the store is for its owner to read, and for nobody to change."""


class Blobs:
    """The files of one store."""

    def __init__(self, folder: str, hands: Hands) -> None:
        """Work below the store's own folder."""
        self.folder, self.hands = folder, hands
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
        """Give the bytes of a file; `IntegrityError` in the place of its last piece when they are not what they were."""
        whole, size, sound = hashlib.sha256(), 0, False
        try:
            descriptor = keeping.opened(f"{self.folder}/{layout.blob_path(file.sha256)}", os.O_RDONLY)
        except OSError as error:
            raise layout.damaged(f"the file {file.path!r}") from error
        try:
            while chunk := os.read(descriptor, min(CHUNK, file.size + 1 - size)):
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

    def through(self, file: int, most: int) -> tuple[int, bytes]:
        """Copy an open file into a blob, whatever its size."""
        whole, size = hashlib.sha256(), 0

        def chunks() -> Iterator[bytes]:
            nonlocal size
            while chunk := os.read(file, CHUNK):
                whole.update(chunk)
                size += len(chunk)
                if size > most:
                    raise OSError(errno.EFBIG, f"more than {trees.TREE_BYTES:,} bytes")
                yield chunk

        temporary = self._write(chunks())
        self._rename(temporary, layout.blob_path(whole.digest()))
        return size, whole.digest()

    def carry(self, source: str, file: TreeFile) -> None:
        """Copy from another file system, and hash while doing so."""
        descriptor = keeping.opened(source, os.O_RDONLY)
        try:
            found = self.through(descriptor, trees.TREE_BYTES)
        finally:
            os.close(descriptor)
        if found != (file.size, file.sha256):
            raise IntegrityError(f"{file.path!r} is not what was written", code="digest")
        self.hands.remove(source)

    def put(self, path: str, data: bytes) -> None:
        """Have a file of the store hold just these bytes; those that are there already are not written again."""
        if not self._is(path, data):
            self._rename(self._write((data,)), path)

    def fan(self, path: str) -> str:
        """Give the whole path of something in the store; the folder it lies in is there then."""
        whole = f"{self.folder}/{path}"
        folder = whole.rpartition("/")[0]
        if not os.access(folder, os.F_OK):
            try:
                self.hands.make(folder, 0o700)
            except FileExistsError:
                pass
        return whole

    def _is(self, path: str, data: bytes) -> bool:
        try:
            return bytes_of(f"{self.folder}/{path}", len(data)) == data
        except OSError:
            return False

    def _write(self, chunks: Iterable[bytes]) -> str:
        path = f"{self.folder}/{layout.TEMPORARY}/{self._token}-{next(self._numbers)}"
        try:
            self.hands.write(path, chunks, KEPT)
        except BaseException:
            self._forget(path)
            raise
        return path

    def _rename(self, temporary: str, path: str) -> None:
        try:
            self.hands.move(temporary, self.fan(path))
        except BaseException:
            self._forget(temporary)
            raise

    def _forget(self, temporary: str) -> None:
        try:
            if os.path.lexists(temporary):
                self.hands.remove(temporary)
        except OSError:
            pass  # the next sweep finds it; what went wrong first matters more


def bytes_of(path: str, most: int) -> bytes:
    """Read a plain file of at most so many bytes."""
    file = keeping.opened(path, os.O_RDONLY)
    try:
        data = all_of(file, most + 1)
    finally:
        os.close(file)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"{path} is too large")
    return data


def all_of(file: int, most: int) -> bytes:
    """Read an open file to its end, or up to so many bytes."""
    data = os.read(file, min(CHUNK, most))
    while len(data) < most and (more := os.read(file, most - len(data))):
        data += more
    return data
