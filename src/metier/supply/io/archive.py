"""An archive on this machine as a source: listed in one pass, read in another, never more of it in
memory than a window.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, RefusedError, SourceError
from metier.supply.archives import read_tar, read_zip
from metier.supply.archives.compression import archive_kind, decompress
from metier.supply.archives.limits import WINDOW_BYTES, ArchiveEntry, malformed_error
from metier.supply.model import Item, Origin
from metier.supply.safe_names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.settings.model import SupplySettings
    from metier.supply.model import Contents, Request

HEAD_BYTES = 512
_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)


if hasattr(os, "pread"):
    _pread = os.pread
else:

    def _pread(file: int, count: int, offset: int) -> bytes:
        os.lseek(file, offset, os.SEEK_SET)
        return os.read(file, count)


class ArchiveFetcher(NamedTuple):
    """Opens local archives. What one resolves to is the sha256 of its bytes."""

    limits: SupplySettings
    """How much to read at most."""

    def open(self, request: Request) -> ArchiveTree:
        """Open an archive by its absolute path; a link that the user named is followed once,
        here.
        """
        file = ArchiveFile(os.path.realpath(request.location), self.limits)
        try:
            digest = check_wanted(request, file.sha256())
            return ArchiveTree(
                file, Origin("archive", request.location, request.ref, digest), self.limits
            )
        except BaseException:
            file.close()
            raise

    def newest(self, request: Request) -> str:
        """Give the sha256 of the archive as it is now."""
        with ArchiveFile(os.path.realpath(request.location), self.limits) as file:
            return file.sha256()


def check_wanted(request: Request, digest: str) -> str:
    """Give the digest of an archive; fail when a request asks for another one."""
    if request.ref and request.ref.removeprefix("sha256:") != digest:
        raise IntegrityError(
            f"{printable(request.location)} is not the archive that was asked for",
            hint="add it anew",
            code="digest",
        )
    return digest


class ArchiveFile:
    """A plain file that is read at any place and watched for changes. Outside a `with` block
    somebody has to close it.
    """

    def __init__(self, path: str, limits: SupplySettings) -> None:
        """Open the file; never through a link."""
        self.path = path
        try:
            self._file = os.open(path, _FLAGS)
        except OSError as error:
            code = "not-found" if isinstance(error, FileNotFoundError) else None
            raise SourceError(
                f"cannot read {printable(path)}: {error.strerror}", hint="check the path", code=code
            ) from error
        self._stat = os.fstat(self._file)
        self.size = self._stat.st_size
        fault = ""
        if not stat.S_ISREG(self._stat.st_mode):
            fault = "is not a plain file"
            code = "malformed"
            hint = "name an archive"
        elif self.size > limits.download_bytes:
            fault = f"has {self.size:,} bytes"
            code = "too-large"
            hint = f"supply.download_bytes allows {limits.download_bytes:,}"
        if fault:
            self.close()
            raise RefusedError(f"{printable(path)} {fault}", hint=hint, code=code)

    def __enter__(self) -> ArchiveFile:
        """Use the file in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the file."""
        self.close()

    def at(self, offset: int, count: int) -> bytes:
        """Give so many bytes from a place, or fewer where the file ends."""
        try:
            return (
                _pread(self._file, count, offset) if 0 <= offset <= self.size and count > 0 else b""
            )
        except OSError as error:
            raise SourceError(
                f"cannot read {printable(self.path)}: {error.strerror}", hint="check the disk"
            ) from error

    def chunks(self) -> Iterator[bytes]:
        """Give all bytes, a window at a time."""
        for offset in range(0, self.size, WINDOW_BYTES):
            yield self.at(offset, WINDOW_BYTES)

    def sha256(self) -> str:
        """Hash the whole file."""
        found = hashlib.sha256()
        for chunk in self.chunks():
            found.update(chunk)
        return found.hexdigest()

    def check_unchanged(self) -> None:
        """Fail when somebody wrote to the file meanwhile: its digest would be that of other
        bytes.
        """
        now = os.fstat(self._file)
        then = self._stat
        if (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns):
            raise IntegrityError(
                f"{printable(self.path)} changed while it was read", hint="try again", code="digest"
            )

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


class ArchiveTree:
    """The entries of an archive, each with its place in it as its key."""

    def __init__(self, file: ArchiveFile, origin: Origin, limits: SupplySettings) -> None:
        """Tell by its bytes what the archive is; the commit of `origin` is its sha256."""
        self.file = file
        self.origin = origin
        self.limits = limits
        self._kind = archive_kind(file.at(0, HEAD_BYTES))
        self._zipped: list[read_zip.ZipEntry] | None = None
        self._items: list[Item] | None = None
        if not self._kind:
            self.close()
            raise malformed_error("it is neither a zip nor a tar, nor a tar in gzip, xz or zstd")

    def items(self) -> Sequence[Item]:
        """List every entry; a folder's path ends with `/`."""
        if self._items is None:
            entries = (
                (packed.entry for packed in self._packed())
                if self._kind == "zip"
                else (entry for entry, _feed in self._tarred())
            )
            self._items = [
                Item(entry.path, entry.size, entry.mode, str(at))
                for at, entry in enumerate(entries)
            ]
        return self._items

    def _packed(self) -> list[read_zip.ZipEntry]:
        if self._zipped is None:
            self._zipped = read_zip.zip_entries(self.file, self.limits)
        return self._zipped

    def _tarred(self) -> Iterator[tuple[ArchiveEntry, read_tar.ByteFeed]]:
        return read_tar.tar_entries(
            decompress(self._kind, self.file.chunks(), self.limits), self.limits
        )

    def contents(self, items: Sequence[Item]) -> Contents:
        """Give the bytes of entries. A tar is read anew when an earlier entry is asked for after a
        later one.
        """
        if self._kind == "zip":
            packed = self._packed()
            for item in items:
                yield item, read_zip.zip_content(self.file, packed[int(item.key)], self.limits)
        else:
            yield from self._untarred(items)
        self.file.check_unchanged()

    def _untarred(self, items: Sequence[Item]) -> Contents:
        at = -1
        stream = self._tarred()
        for item in items:
            if int(item.key) <= at:
                at = -1
                stream = self._tarred()
            for entry, feed in stream:
                at += 1
                if at == int(item.key):
                    yield item, feed.pieces(entry.size)
                    break

    def close(self) -> None:
        """Let go of the archive."""
        self.file.close()
