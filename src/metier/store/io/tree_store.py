"""The store on disk: `blobs/` by the hash of their bytes, `trees/` by digest, `origins/` with what
each was fetched from.

What is in it never changes: everything is written under a passing name and renamed, bytes first and
the tree that names them last, so a crash leaves at most blobs that nobody names. One writer at a
time; readers need no lock. Nothing is believed because of its name: bytes are hashed again whenever
they leave.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, NotFoundError, StoreError
from metier.model import Digest
from metier.standard.digest import TreeFile
from metier.store import layout
from metier.store.io import folders, safe_files
from metier.store.io.blobs import BLOB_MODE, CHUNK_BYTES, Blobs, bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from metier.ports import DiskCalls


class Freed(NamedTuple):
    """What a cleanup deleted, or would delete."""

    trees: int
    blobs: int
    bytes: int
    environments: int = 0
    """Environments of scripts, and copies of skills to run from, that nobody used of late."""
    gone: tuple[str, ...] = ()
    """Folders of projects that are gone, and that hold versions until somebody lets these go."""


class Store:
    """Trees of files, each under its digest."""

    def __init__(self, folder: str, home: str | None, disk_calls: DiskCalls) -> None:
        """Keep everything in `folder`, which the first tree creates; `home` is never created on the
        way.
        """
        self.folder = folder
        self.home = home
        self.disk_calls = disk_calls
        self.blobs = Blobs(folder, disk_calls)
        self._last: tuple[str, dict[str, TreeFile]] = ("", {})
        self._writer: int | None = None
        """The thread that writes, while it does."""

    def has(self, digest: str) -> bool:
        """Tell whether a tree is here whole, as far as names and sizes say."""
        try:
            return all(self.blobs.size(file.sha256) == file.size for file in self.files(digest))
        except (NotFoundError, IntegrityError):
            return False

    def is_damaged(self, digest: str) -> bool:
        """Tell whether a tree that was put here can no longer be read as it was: every byte of it
        is hashed. What never was here is not damaged.
        """
        try:
            for file in self.files(digest):
                for _chunk in self.blobs.verified(file):
                    pass
        except NotFoundError:
            return False
        except (IntegrityError, OSError):
            return True
        return False

    def files(self, digest: str) -> tuple[TreeFile, ...]:
        """List the files of a tree, sorted by path."""
        try:
            data = bytes_of(f"{self.folder}/{layout.tree_path(digest)}", layout.MAX_MANIFEST_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(
                f"the tree {digest} is not in the store",
                hint="add the skill again, or run `metier sync` where its source can be reached",
                code="not-in-store",
            ) from None
        except OSError as error:
            raise layout.damaged(f"the record of the tree {digest}") from error
        return layout.read_manifest(data, digest)

    def read(self, digest: str, path: str) -> bytes:
        """Give the bytes of one file, or the aim of a link; they are what the digest promises."""
        if self._last[0] != digest:
            self._last = digest, {file.path: file for file in self.files(digest)}
        file = self._last[1].get(path)
        if file is None:
            raise NotFoundError(f"there is no {path!r} in the tree {digest}", code="not-in-store")
        return b"".join(self.blobs.verified(file))

    def take(self, folder: str, files: Sequence[TreeFile]) -> Digest:
        """Move files that were hashed while they were written below `folder` into the store; their
        folders are left behind.
        """
        digest = layout.check_tree(files)
        with self._writing(f"cannot take {folder} into the store"):
            sound = set[str]()
            for file in files:
                for above in layout.folders_above(file.path):  # no link leads elsewhere
                    if above not in sound and not stat.S_ISDIR(
                        os.lstat(f"{folder}/{above}").st_mode
                    ):
                        raise IntegrityError(
                            f"{above!r} is not what was written to {folder}", code="digest"
                        )
                    sound.add(above)
                self._take(f"{folder}/{file.path}", file)
            self.blobs.put(layout.tree_path(digest), layout.write_manifest(files))
        return digest

    def take_loose(self, places: Sequence[str], files: Sequence[TreeFile]) -> Digest:
        """Move files that were hashed while each was written to a place of its own into the
        store.
        """
        digest = layout.check_tree(files)
        with self._writing("cannot take files into the store"):
            for place, file in zip(places, files, strict=True):
                self._take(place, file)
            self.blobs.put(layout.tree_path(digest), layout.write_manifest(files))
        return digest

    def keep(self, folder: str) -> Digest:
        """Copy a folder as it is now into the store; `StoreError` when it cannot be read whole."""
        with self._writing(f"cannot keep {folder} in the store"):
            left = folders.MAX_TREE_BYTES
            files = []
            for found in folders.walk(folder):
                files.append(self._copy(found, left))
                left -= files[-1].size
            digest = layout.check_tree(files)
            self.blobs.put(layout.tree_path(digest), layout.write_manifest(files))
        return digest

    def lay(self, digest: str, folder: str) -> None:
        """Write a tree out into a new folder, as ordinary files, each checked on the way; half a
        tree is never left.
        """
        files = self.files(digest)
        with self._trouble(f"cannot write {folder}"):
            self.disk_calls.make(folder, 0o700 if self._is_private(folder) else 0o755)
            try:
                self._lay(files, folder)
            except BaseException:
                with suppress(OSError):  # what went wrong first matters more
                    folders.clear(folder, self.disk_calls)
                raise

    def digests(self) -> Iterator[Digest]:
        """Give the digest of every tree whose record is here."""
        for fan, name in self._below(layout.TREES):
            digest = layout.digest_at(fan, name)
            if digest is not None:
                yield Digest(digest)

    def note(self, digest: str, source: str, ref: str, commit: str) -> None:
        """Remember that this machine itself fetched these bytes from there."""
        place = layout.origin_path(digest)
        where = (source, ref, commit)
        with self._writing("cannot note where a tree is from"):
            known = self._noted(digest)
            if where not in known:
                self.blobs.put(place, layout.write_origins((*known, where)))

    def origins(self, digest: str) -> tuple[tuple[str, str, str], ...]:
        """Give where this machine fetched these bytes from: source, ref and commit, sorted."""
        return tuple(sorted(self._noted(digest))) if layout.is_digest(digest) else ()

    def drop(self, digests: Iterable[str]) -> None:
        """Take trees back that nobody was told of; their bytes go with the next sweep."""
        with self._writing("cannot take trees back"):
            for path in map(layout.tree_path, digests):
                if os.path.lexists(f"{self.folder}/{path}"):
                    self._drop(path, dry_run=False)
            self._last = "", {}

    def sweep(self, keep: Iterable[str], *, dry_run: bool = False) -> Freed:
        """Remove trees that are not kept, then blobs that no kept tree names. To be called where no
        change is under way.

        What a tree was fetched from stays noted: a copy of it may be in use elsewhere. What to
        `keep` is asked when no other writer is at work any more.
        """
        with self._writing("cannot sweep the store"):
            kept = set(keep)
            unwanted = [layout.tree_path(digest) for digest in self.digests() if digest not in kept]
            freed = sum(self._drop(path, dry_run=dry_run) for path in unwanted)
            named = self._named(kept)
            blobs = [
                f"{layout.BLOBS}/{fan}/{name}"
                for fan, name in self._below(layout.BLOBS)
                if fan + name not in named
            ]
            blobs = blobs if None not in named else []
            freed += sum(self._drop(path, dry_run=dry_run) for path in blobs)
            self._last = "", {}
        return Freed(len(unwanted), len(blobs), freed)

    # --- trees and blobs

    def _lay(self, files: Sequence[TreeFile], folder: str) -> None:
        made = {""}
        closed = 0o700 if self._is_private(folder) else 0o777
        for file in files:
            for above in layout.folders_above(file.path):
                if above not in made:
                    self.disk_calls.make(f"{folder}/{above}", 0o755 & closed)
                    made.add(above)
            path = f"{folder}/{file.path}"
            data = self.blobs.verified(file)
            if file.mode == "link":
                aim = b"".join(data)
                if not aim or b"\0" in aim:
                    raise layout.damaged(f"the link {file.path!r}")
                self.disk_calls.link(os.fsdecode(aim), path)
            else:
                self.disk_calls.write(path, data, (0o755 if file.mode else 0o644) & closed)

    def _is_private(self, folder: str) -> bool:
        """Tell whether a folder is below METIER_HOME, and so for its owner alone."""
        return folder.startswith(f"{os.path.dirname(self.folder)}/")

    # --- taking in

    def _take(self, source: str, file: TreeFile) -> None:
        status = os.lstat(source)
        if file.mode == "link" and stat.S_ISLNK(status.st_mode):
            aim = os.fsencode(os.readlink(source))
            if (len(aim), hashlib.sha256(aim).digest()) != (file.size, file.sha256):
                raise IntegrityError(
                    f"the link {file.path!r} is not what was written", code="digest"
                )
            self.blobs.put(layout.blob_path(file.sha256), aim)
            self.disk_calls.remove(source)
            return
        if not stat.S_ISREG(status.st_mode) or status.st_size != file.size:
            raise IntegrityError(
                f"{file.path!r} is not what was written to {source}", code="digest"
            )
        if stat.S_IMODE(status.st_mode) != BLOB_MODE:
            os.chmod(source, BLOB_MODE)
        target = self.blobs.fan(layout.blob_path(file.sha256))
        try:
            self.disk_calls.move(
                source, target
            )  # over what is there: the same bytes, or damaged ones
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self.blobs.carry(source, file)

    def _copy(self, found: folders.FolderFile, most: int) -> TreeFile:
        """Copy one file of a folder; bytes that are here already are not written again."""
        if found.link:
            aim = found.aim()
            sha256 = hashlib.sha256(aim).digest()
            self.blobs.put(layout.blob_path(sha256), aim)
            return TreeFile(found.path, len(aim), sha256, "link")
        file, status = found.opened()
        executable = bool(status.st_mode & stat.S_IXUSR)
        with file:
            if status.st_size < CHUNK_BYTES:
                data = file.read(CHUNK_BYTES)
                if len(data) < CHUNK_BYTES:  # it may have grown since
                    sha256 = hashlib.sha256(data).digest()
                    self.blobs.put(layout.blob_path(sha256), data)
                    return TreeFile(found.path, len(data), sha256, executable)
                file.seek(0)
            size, sha256 = self.blobs.through(file, most)
        return TreeFile(found.path, size, sha256, executable)

    # --- the folder itself

    def _below(self, kind: str) -> Iterator[tuple[str, str]]:
        for fan in self._names(kind):
            for name in self._names(f"{kind}/{fan}"):
                yield fan, name

    def _names(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(f"{self.folder}/{path}"))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _named(self, kept: Iterable[str]) -> set[str | None]:
        """Name the blobs of trees; `None` among them when one cannot be read, for then nobody knows
        which it needs.
        """
        named: set[str | None] = set()
        for digest in kept:
            try:
                named.update(file.sha256.hex() for file in self.files(digest))
            except NotFoundError:
                continue
            except IntegrityError:
                named.add(None)
        return named

    def _drop(self, path: str, *, dry_run: bool) -> int:
        size = os.lstat(f"{self.folder}/{path}").st_size
        if not dry_run:
            self.disk_calls.remove(f"{self.folder}/{path}")
        return size

    def _noted(self, digest: str) -> tuple[layout.OriginRow, ...]:
        try:
            return layout.read_origins(
                bytes_of(f"{self.folder}/{layout.origin_path(digest)}", layout.MAX_ORIGIN_BYTES)
            )
        except OSError:
            return ()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer for many trees: the others wait until the last is in."""
        with self._writing("cannot write to the store"):
            yield

    @contextmanager
    def _writing(self, what: str) -> Iterator[None]:
        """Let one writer at a time go on: what it found here must not be swept before it is
        named.
        """
        if self._writer == threading.get_ident():
            with self._trouble(what):
                yield
            return
        with self._trouble(what):
            safe_files.make_folder(self.folder, self.home)
            with safe_files.hold_lock(f"{self.folder}/{layout.LOCK}"):
                for kind in (layout.TEMPORARY, layout.BLOBS, layout.TREES, layout.ORIGINS):
                    self.blobs.fan(f"{kind}/")
                for name in self._names(
                    layout.TEMPORARY
                ):  # one writer at a time, and that is this one: it is of the dead
                    self._drop(f"{layout.TEMPORARY}/{name}", dry_run=False)
                self._writer = threading.get_ident()
                try:
                    yield
                finally:
                    self._writer = None

    @contextmanager
    def _trouble(self, what: str) -> Iterator[None]:
        try:
            yield
        except ValueError as error:  # a path that no system takes
            raise StoreError(f"{what}: {error}") from error
        except OSError as error:
            raise StoreError(
                f"{what}: {safe_files.error_in_words(error)}",
                hint="check the space and the permissions there",
            ) from error
