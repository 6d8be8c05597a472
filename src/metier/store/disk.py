"""The store on disk: `blobs/` by the hash of their bytes, `trees/` by digest, `origins/` with what each was fetched from.

What is in it never changes: everything is written under a passing name and renamed, bytes first and the tree that names them
last, so a crash leaves at most blobs that nobody names. One writer at a time; readers need no lock. Nothing is believed
because of its name: bytes are hashed again whenever they leave.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, NotFoundError, StoreError
from metier.keeping import disk as keeping
from metier.model import Digest
from metier.standard.digest import TreeFile
from metier.store import layout
from metier.store.blobs.disk import CHUNK, KEPT, Blobs, all_of, bytes_of
from metier.store.trees import disk as trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from metier.ports import Hands


class Freed(NamedTuple):
    """What a sweep removed, or would remove."""

    trees: int
    blobs: int
    bytes: int
    environments: int = 0
    """Environments of scripts, and copies of skills to run from, that nobody used of late."""


class Store:
    """Trees of files, each under its digest."""

    def __init__(self, folder: str, home: str | None, hands: Hands) -> None:
        """Keep everything in `folder`, which the first tree creates; `home` is never created on the way."""
        self.folder, self.home, self.hands = folder, home, hands
        self.blobs = Blobs(folder, hands)
        self._last: tuple[str, dict[str, TreeFile]] = ("", {})

    def has(self, digest: str) -> bool:
        """Tell whether a tree is here whole, as far as names and sizes say."""
        try:
            return all(self.blobs.size(file.sha256) == file.size for file in self._files(digest))
        except (NotFoundError, IntegrityError):
            return False

    def files(self, digest: str) -> tuple[TreeFile, ...]:
        """List the files of a tree, sorted by path."""
        return self._files(digest)

    def read(self, digest: str, path: str) -> bytes:
        """Give the bytes of one file, or the aim of a link; they are what the digest promises."""
        if self._last[0] != digest:
            self._last = digest, {file.path: file for file in self._files(digest)}
        file = self._last[1].get(path)
        if file is None:
            raise NotFoundError(f"there is no {path!r} in the tree {digest}", code="not-in-store")
        return b"".join(self.blobs.verified(file))

    def take(self, folder: str, files: Sequence[TreeFile]) -> Digest:
        """Move files that were hashed while they were written below `folder` into the store; their folders are left behind."""
        digest = layout.check(files)
        with self._writing(f"cannot take {folder} into the store"):
            sound = set[str]()
            for file in files:
                self._take(folder, file, sound)
            self.blobs.put(layout.tree_path(digest), layout.write_manifest(files))
        return digest

    def keep(self, folder: str) -> Digest:
        """Copy a folder as it is now into the store; `StoreError` when it cannot be read whole."""
        with self._writing(f"cannot keep {folder} in the store"):
            left, files = trees.TREE_BYTES, []
            for found in trees.walk(folder):
                files.append(self._copy(found, left))
                left -= files[-1].size
            digest = layout.check(files)
            self.blobs.put(layout.tree_path(digest), layout.write_manifest(files))
        return digest

    def lay(self, digest: str, folder: str) -> None:
        """Write a tree out into a new folder, as ordinary files, each checked on the way; half a tree is never left."""
        files = self._files(digest)
        with self._trouble(f"cannot write {folder}"):
            self.hands.make(folder, 0o755)
            try:
                self._lay(files, folder)
            except BaseException:
                self._take_back(folder)
                raise

    def digests(self) -> Iterator[Digest]:
        """Give the digest of every tree whose record is here."""
        for fan, name in self._below(layout.TREES):
            digest = layout.digest_at(fan, name)
            if digest is not None:
                yield Digest(digest)

    def note(self, digest: str, source: str, ref: str, commit: str) -> None:
        """Remember that this machine itself fetched these bytes from there."""
        place, where = layout.origin_path(digest), (source, ref, commit)
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
        """Remove trees that are not kept, then blobs that no kept tree names. To be called where no change is under way.

        What a tree was fetched from stays noted: a copy of it may be in use elsewhere. What to `keep` is asked when no other
        writer is at work any more.
        """
        with self._writing("cannot sweep the store"):
            kept = set(keep)
            unwanted = [layout.tree_path(digest) for digest in self.digests() if digest not in kept]
            freed = sum(self._drop(path, dry_run=dry_run) for path in unwanted)
            named = self._named(kept)
            blobs = [f"{layout.BLOBS}/{fan}/{name}" for fan, name in self._below(layout.BLOBS) if fan + name not in named]
            blobs = blobs if None not in named else []
            freed += sum(self._drop(path, dry_run=dry_run) for path in blobs)
            self._last = "", {}
        return Freed(len(unwanted), len(blobs), freed)

    # --- trees and blobs

    def _files(self, digest: str) -> tuple[TreeFile, ...]:
        path = layout.tree_path(digest)
        try:
            data = bytes_of(f"{self.folder}/{path}", layout.MANIFEST_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            hint = "add the skill again, or run `metier sync` where its source can be reached"
            raise NotFoundError(f"the tree {digest} is not in the store", hint=hint, code="not-in-store") from None
        except OSError as error:
            raise layout.damaged(f"the record of the tree {digest}") from error
        return layout.read_manifest(data, digest)

    def _lay(self, files: Sequence[TreeFile], folder: str) -> None:
        made = {""}
        for file in files:
            parent = file.path.rpartition("/")[0]
            if parent not in made:
                parts = parent.split("/")
                for above in ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1)):
                    if above not in made:
                        self.hands.make(f"{folder}/{above}", 0o755)
                        made.add(above)
            if file.mode == "link":
                self.hands.link(self._aim(file), f"{folder}/{file.path}")
            else:
                self.hands.write(f"{folder}/{file.path}", self.blobs.verified(file), 0o755 if file.mode else 0o644)

    def _aim(self, file: TreeFile) -> str:
        aim = b"".join(self.blobs.verified(file))
        if not aim or b"\0" in aim:
            raise layout.damaged(f"the link {file.path!r}")
        return os.fsdecode(aim)

    def _take_back(self, folder: str) -> None:
        try:
            trees.clear(folder, self.hands)
        except OSError:
            pass  # what went wrong first matters more

    # --- taking in

    def _take(self, folder: str, file: TreeFile, sound: set[str]) -> None:
        self._only_folders(folder, file.path, sound)
        source = f"{folder}/{file.path}"
        status = os.lstat(source)
        if file.mode == "link" and stat.S_ISLNK(status.st_mode):
            self._take_link(source, file)
            return
        if not stat.S_ISREG(status.st_mode) or status.st_size != file.size:
            raise IntegrityError(f"{file.path!r} is not what was written to {folder}", code="digest")
        if stat.S_IMODE(status.st_mode) != KEPT:
            os.chmod(source, KEPT)
        target = self.blobs.fan(layout.blob_path(file.sha256))
        try:
            self.hands.move(source, target)  # over what is there: the same bytes, or damaged ones
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self.blobs.carry(source, file)

    def _take_link(self, source: str, file: TreeFile) -> None:
        aim = os.fsencode(os.readlink(source))
        if (len(aim), hashlib.sha256(aim).digest()) != (file.size, file.sha256):
            raise IntegrityError(f"the link {file.path!r} is not what was written", code="digest")
        self.blobs.put(layout.blob_path(file.sha256), aim)
        self.hands.remove(source)

    def _only_folders(self, folder: str, path: str, sound: set[str]) -> None:
        """See to it that a path leads through folders alone; each is looked at once."""
        parts = path.split("/")
        for depth in range(len(parts) - 1, 0, -1):
            above = "/".join(parts[:depth])
            if above in sound:
                return
            if not stat.S_ISDIR(os.lstat(f"{folder}/{above}").st_mode):
                raise IntegrityError(f"{above!r} is not what was written to {folder}", code="digest")
            sound.add(above)

    def _copy(self, found: trees.Found, most: int) -> TreeFile:
        """Copy one file of a folder; bytes that are here already are not written again."""
        if found.link:
            aim = found.aim()
            sha256 = hashlib.sha256(aim).digest()
            self.blobs.put(layout.blob_path(sha256), aim)
            return TreeFile(found.path, len(aim), sha256, "link")
        file, status = found.opened()
        executable = bool(status.st_mode & stat.S_IXUSR)
        try:
            if status.st_size < CHUNK:
                data = all_of(file, CHUNK)
                if len(data) < CHUNK:  # it may have grown since
                    sha256 = hashlib.sha256(data).digest()
                    self.blobs.put(layout.blob_path(sha256), data)
                    return TreeFile(found.path, len(data), sha256, executable)
                os.lseek(file, 0, os.SEEK_SET)
            size, sha256 = self.blobs.through(file, most)
        finally:
            os.close(file)
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
        """Name the blobs of trees; `None` among them when one cannot be read, for then nobody knows which it needs."""
        named: set[str | None] = set()
        for digest in kept:
            try:
                named.update(file.sha256.hex() for file in self._files(digest))
            except NotFoundError:
                continue
            except IntegrityError:
                named.add(None)
        return named

    def _drop(self, path: str, *, dry_run: bool) -> int:
        size = os.lstat(f"{self.folder}/{path}").st_size
        if not dry_run:
            self.hands.remove(f"{self.folder}/{path}")
        return size

    def _noted(self, digest: str) -> tuple[layout.Where, ...]:
        try:
            return layout.read_origins(bytes_of(f"{self.folder}/{layout.origin_path(digest)}", layout.ORIGIN_BYTES))
        except OSError:
            return ()

    @contextmanager
    def _writing(self, what: str) -> Iterator[None]:
        """Let one writer at a time go on: what it found here must not be swept before it is named."""
        with self._trouble(what):
            keeping.make(self.folder, self.home)
            with keeping.alone(f"{self.folder}/{layout.LOCK}"):
                for kind in (layout.TEMPORARY, layout.BLOBS, layout.TREES, layout.ORIGINS):
                    self.blobs.fan(f"{kind}/")
                for name in self._names(layout.TEMPORARY):  # one writer at a time, and that is this one: it is of the dead
                    self._drop(f"{layout.TEMPORARY}/{name}", dry_run=False)
                yield

    @contextmanager
    def _trouble(self, what: str) -> Iterator[None]:
        try:
            yield
        except ValueError as error:  # a path that no system takes
            raise StoreError(f"{what}: {error}") from error
        except OSError as error:
            words = f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
            raise StoreError(f"{what}: {words}", hint="check the space and the permissions there") from error
