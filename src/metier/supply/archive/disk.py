"""An archive on this machine as a source: listed in one pass, read in another, never more of it in memory than a window."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from metier.errors import IntegrityError, RefusedError, SourceError
from metier.supplies import Item, Origin
from metier.supply.paths import shown
from metier.supply.unpack import tars, zips
from metier.supply.unpack.found import WINDOW, Entry, malformed
from metier.supply.unpack.squeezed import kind_of, loosened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from metier.settings.tables import Supply
    from metier.supplies import Request

HEAD = 512
_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)


if hasattr(os, "pread"):
    _pread = os.pread
else:

    def _pread(file: int, count: int, offset: int) -> bytes:
        os.lseek(file, offset, os.SEEK_SET)
        return os.read(file, count)


class ArchiveFetcher:
    """Opens local archives. What one resolves to is the sha256 of its bytes."""

    def __init__(self, limits: Supply) -> None:
        """Know how much to read at most."""
        self.limits = limits

    def open(self, request: Request) -> ArchiveTree:
        """Open an archive by its absolute path; a link that the user named is followed once, here."""
        path = os.path.realpath(request.location)
        file = ArchiveFile(path, self.limits)
        try:
            digest = wanted(request, file.sha256())
            return ArchiveTree(file, Origin("archive", request.location, request.ref, digest), self.limits)
        except BaseException:
            file.close()
            raise

    def newest(self, request: Request) -> str:
        """Give the sha256 of the archive as it is now."""
        with ArchiveFile(os.path.realpath(request.location), self.limits) as file:
            return file.sha256()


def wanted(request: Request, digest: str) -> str:
    """Give the digest of an archive; fail when a request asks for another one."""
    if request.ref and request.ref.removeprefix("sha256:") != digest:
        raise IntegrityError(f"{shown(request.location)} is not the archive that was asked for", hint="add it anew", code="digest")
    return digest


class ArchiveFile:
    """A plain file that is read at any place and watched for changes. Outside a `with` block somebody has to close it."""

    def __init__(self, path: str, limits: Supply) -> None:
        """Open the file; never through a link."""
        self.path = path
        try:
            self._file = os.open(path, _FLAGS)
        except OSError as error:
            code = "not-found" if isinstance(error, FileNotFoundError) else None
            raise SourceError(f"cannot read {shown(path)}: {error.strerror}", hint="check the path", code=code) from error
        self._stat = os.fstat(self._file)
        self.size = self._stat.st_size
        fault = ""
        if not stat.S_ISREG(self._stat.st_mode):
            fault, code, hint = "is not a plain file", "malformed", "name an archive"
        elif self.size > limits.download_bytes:
            fault, code, hint = f"has {self.size:,} bytes", "too-large", f"supply.download_bytes allows {limits.download_bytes:,}"
        if fault:
            self.close()
            raise RefusedError(f"{shown(path)} {fault}", hint=hint, code=code)

    def __enter__(self) -> ArchiveFile:
        """Use the file in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the file."""
        self.close()

    def at(self, offset: int, count: int) -> bytes:
        """Give so many bytes from a place, or fewer where the file ends."""
        try:
            return _pread(self._file, count, offset) if 0 <= offset <= self.size and count > 0 else b""
        except OSError as error:
            raise SourceError(f"cannot read {shown(self.path)}: {error.strerror}", hint="check the disk") from error

    def chunks(self) -> Iterator[bytes]:
        """Give all bytes, a window at a time."""
        for offset in range(0, self.size, WINDOW):
            yield self.at(offset, WINDOW)

    def sha256(self) -> str:
        """Hash the whole file."""
        found = hashlib.sha256()
        for chunk in self.chunks():
            found.update(chunk)
        return found.hexdigest()

    def check_unchanged(self) -> None:
        """Fail when somebody wrote to the file meanwhile: its digest would be that of other bytes."""
        now, then = os.fstat(self._file), self._stat
        if (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns):
            raise IntegrityError(f"{shown(self.path)} changed while it was read", hint="try again", code="digest")

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


class ArchiveTree:
    """The entries of an archive, each with its place in it as its key."""

    def __init__(self, file: ArchiveFile, origin: Origin, limits: Supply, closing: Callable[[], None] = lambda: None) -> None:
        """Tell by its bytes what the archive is; `closing` is called when nobody needs it any more."""
        self.file, self._origin, self.limits, self._closing = file, origin, limits, closing
        self._kind = kind_of(file.at(0, HEAD))
        self._zipped: list[zips.Packed] | None = None
        self._items: list[Item] | None = None
        if not self._kind:
            self.close()
            raise malformed("it is neither a zip nor a tar, nor a tar in gzip, xz or zstd")

    @property
    def origin(self) -> Origin:
        """Where it is from; the commit is the sha256 of the archive."""
        return self._origin

    def items(self) -> Sequence[Item]:
        """List every entry; a folder's path ends with `/`."""
        if self._items is None:
            self._items = [Item(entry.path, entry.size, entry.mode, str(at)) for at, entry in enumerate(self._entries())]
        return self._items

    def _entries(self) -> Iterator[Entry]:
        if self._kind == "zip":
            yield from (packed.entry for packed in self._packed())
        else:
            yield from (entry for entry, _feed in self._tarred())

    def _packed(self) -> list[zips.Packed]:
        if self._zipped is None:
            self._zipped = zips.entries(self.file, self.limits)
        return self._zipped

    def _tarred(self) -> Iterator[tuple[Entry, tars.Feed]]:
        return tars.entries(loosened(self._kind, self.file.chunks(), self.limits), self.limits)

    def contents(self, items: Sequence[Item]) -> Iterator[tuple[Item, Iterator[bytes]]]:
        """Give the bytes of entries. A tar is read anew when an earlier entry is asked for after a later one."""
        yield from self._unzipped(items) if self._kind == "zip" else self._untarred(items)
        self.file.check_unchanged()

    def _unzipped(self, items: Sequence[Item]) -> Iterator[tuple[Item, Iterator[bytes]]]:
        packed = self._packed()
        for item in items:
            yield item, zips.content(self.file, packed[int(item.key)], self.limits)

    def _untarred(self, items: Sequence[Item]) -> Iterator[tuple[Item, Iterator[bytes]]]:
        at, stream = -1, self._tarred()
        for item in items:
            if int(item.key) <= at:
                at, stream = -1, self._tarred()
            for entry, feed in stream:
                at += 1
                if at == int(item.key):
                    yield item, feed.pieces(entry.size)
                    break

    def close(self) -> None:
        """Let go of the archive."""
        self.file.close()
        self._closing()
        self._closing = _nothing


def _nothing() -> None:
    """Be called twice."""
