"""The desk: a private folder for one operation, where fetched files lie until they are kept or
thrown away.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeAlias

from metier.errors import IntegrityError, RefusedError, StoreError
from metier.standard.digest import TreeFile
from metier.store.io import safe_files
from metier.store.io.blobs import BLOB_MODE
from metier.store.io.folders import clear
from metier.supply.safe_names import check_items, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from metier.ports import DiskCalls, Tree
    from metier.settings.model import SupplySettings
    from metier.supply.model import Chunks, Item

Progress: TypeAlias = "Callable[[str, int, int], None]"

LOCK_NAME = ".lock"
PROGRESS_EVERY_FILES = 256
"""How many files lie between two reports of progress."""


class Quarantine:
    """A folder below `staging` that is gone after the `with` block; those that dead processes left
    are swept on the way.
    """

    def __init__(self, staging: str, home: str | None, hands: DiskCalls) -> None:
        """Name the place; nothing is made yet."""
        self.staging = staging
        self.home = home
        self.hands = hands
        self.folder = f"{staging}/{os.getpid()}-{os.urandom(8).hex()}"
        self._count = 0
        self._held = ExitStack()

    def __enter__(self) -> Self:
        """Sweep what is stale, and make the folder."""
        safe_files.refuse_on_windows()
        try:
            safe_files.make_folder(self.staging, self.home)
            # Nobody may sweep between the making of a lock and its taking.
            with safe_files.hold_lock(f"{self.staging}/{LOCK_NAME}"):
                self._sweep()
                self._held.enter_context(safe_files.hold_lock(self.folder + LOCK_NAME))
            self.hands.make(self.folder, 0o700)
        except OSError as error:
            self._held.close()
            raise unusable_error(self.staging, error) from error
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave nothing behind."""
        try:
            clear(self.folder, self.hands)
        except OSError:
            pass  # the next desk sweeps it
        finally:
            self._held.close()
        _forget(self.folder + LOCK_NAME)

    def fresh(self) -> str:
        """Give a path on this desk that nothing has yet."""
        self._count += 1
        return f"{self.folder}/{self._count}"

    def lay(
        self,
        tree: Tree,
        items: Sequence[Item],
        strip: str,
        limits: SupplySettings,
        progress: Progress = lambda _what, _count, _total: None,
    ) -> tuple[str, tuple[TreeFile, ...]]:
        """Write entries of a source into a fresh folder, their paths taken from below `strip`; give
        it with what was written.
        """
        wanted = _checked(items, strip, limits)
        folder = self.fresh()
        made = {""}

        def place(path: str) -> str:
            self.make_folders(folder, path.rpartition("/")[0], made)
            return f"{folder}/{path}"

        try:
            self.hands.make(folder, 0o700)
            return folder, tuple(self._written(tree, items, wanted, place, progress))
        except OSError as error:
            raise unusable_error(folder, error) from error

    def lay_loose(
        self,
        tree: Tree,
        items: Sequence[Item],
        strip: str,
        limits: SupplySettings,
        progress: Progress = lambda _what, _count, _total: None,
    ) -> tuple[tuple[str, ...], tuple[TreeFile, ...]]:
        """Write entries of a source beside each other, each to a fresh path; give these with what
        was written. On a disk, making folders and removing them again is most of the work. They
        are as the store will have them.
        """
        wanted = _checked(items, strip, limits)
        places = list[str]()

        def place(_path: str) -> str:
            places.append(self.fresh())
            return places[-1]

        try:
            files = tuple(self._written(tree, items, wanted, place, progress, BLOB_MODE))
        except OSError as error:
            raise unusable_error(self.folder, error) from error
        return tuple(places), files

    def _written(
        self,
        tree: Tree,
        items: Sequence[Item],
        wanted: dict[Item, Item],
        place: Callable[[str], str],
        progress: Progress,
        mode: int = 0,
    ) -> Iterator[TreeFile]:
        for count, (item, chunks) in enumerate(
            tree.contents([item for item in items if item in wanted]), 1
        ):
            target = wanted[item]
            counted = _CheckedBytes(chunks, target)
            own = mode or (0o700 if target.mode == "exec" else 0o600)
            self.hands.write(place(target.path), counted, own)
            if count % PROGRESS_EVERY_FILES == 0:
                progress("files", count, len(wanted))
            yield counted.file()

    def make_folders(self, folder: str, path: str, made: set[str]) -> None:
        """Make a path below a folder, step by step; what was `made` already is not again."""
        if path not in made:
            self.make_folders(folder, path.rpartition("/")[0], made)
            self.hands.make(f"{folder}/{path}", 0o700)
            made.add(path)

    def _sweep(self) -> None:
        """Remove desks whose process is gone: nobody holds their lock any more."""
        for name in sorted(
            {name.removesuffix(LOCK_NAME) for name in os.listdir(self.staging) if name != LOCK_NAME}
        ):
            place = f"{self.staging}/{name}"
            try:
                with safe_files.hold_lock(place + LOCK_NAME, 0.0):
                    clear(place, self.hands)
            except OSError:
                continue  # it is in use, or cannot be removed now
            _forget(place + LOCK_NAME)


class _CheckedBytes:
    """The bytes of one entry on their way to the disk: hashed, and held to the size that was
    announced.
    """

    def __init__(self, chunks: Chunks, item: Item) -> None:
        """Count from nothing."""
        self.chunks, self.item, self.size, self.hash = chunks, item, 0, hashlib.sha256()

    def __iter__(self) -> Chunks:
        """Hand the bytes on; fail before the first one that is too many, or at the end when some
        are missing.
        """
        for chunk in self.chunks:
            self.size += len(chunk)
            if self.size > self.item.size:
                raise _differs(self.item, "more")
            self.hash.update(chunk)
            yield chunk
        if self.size != self.item.size:
            raise _differs(self.item, "fewer")

    def file(self) -> TreeFile:
        """Give what was written."""
        return TreeFile(self.item.path, self.size, self.hash.digest(), self.item.mode == "exec")


def _checked(items: Sequence[Item], strip: str, limits: SupplySettings) -> dict[Item, Item]:
    """Give each file as it is to be written; refuse what is no plain file, or too large."""
    wanted = _relative(items, strip, limits)
    total = 0
    for item in wanted.values():
        total += item.size
        if item.mode in {"link", "other"}:
            raise RefusedError(
                f"'{printable(item.path)}' is "
                + ("a link" if item.mode == "link" else "neither a file nor a folder"),
                hint="a skill that is installed holds plain files only",
                code="unsafe-link" if item.mode == "link" else "unsafe-entry",
            )
        if item.size > limits.file_bytes:
            raise _too_large(
                f"'{printable(item.path)}'", item.size, "file_bytes", limits.file_bytes
            )
    if total > limits.unpacked_bytes:
        raise _too_large("the skill", total, "unpacked_bytes", limits.unpacked_bytes)
    return wanted


def _relative(items: Sequence[Item], strip: str, limits: SupplySettings) -> dict[Item, Item]:
    """Give each file as it is to be written, by how the source has it. Checked here too: nobody may
    come past the rules.
    """
    prefix = f"{strip}/" if strip else ""
    files = [
        item for item in items if not (item.path.endswith("/") and item.mode in {"file", "exec"})
    ]
    odd = next((item for item in files if not item.path.startswith(prefix)), None)
    if odd is not None:
        raise RefusedError(
            f"'{printable(odd.path)}' does not lie below '{printable(strip)}'", code="unsafe-path"
        )
    return dict(
        zip(
            files,
            check_items([item._replace(path=item.path[len(prefix) :]) for item in files], limits),
            strict=True,
        )
    )


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # another desk was first


def _differs(item: Item, which: str) -> IntegrityError:
    return IntegrityError(
        f"'{printable(item.path)}' has {which} bytes than the {item.size:,} that its source "
        f"announced",
        hint="the source changed in the meantime. Try again",
        code="digest",
    )


def _too_large(what: str, size: int, limit: str, allowed: int) -> RefusedError:
    return RefusedError(
        f"{what} has {size:,} bytes", hint=f"supply.{limit} allows {allowed:,}", code="too-large"
    )


def unusable_error(place: str, error: OSError) -> StoreError:
    """Say that metier's own folder cannot be written to."""
    return StoreError(
        f"cannot write to {place}: {error.strerror or error}",
        hint="METIER_HOME says where metier keeps its files",
    )
