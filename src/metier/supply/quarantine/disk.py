"""The desk: a private folder for one operation, where fetched files lie until they are kept or thrown away."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeAlias

from metier.errors import IntegrityError, RefusedError, StoreError
from metier.keeping import disk as keeping
from metier.standard.digest import TreeFile
from metier.supply.paths import checked, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from metier.ports import Hands, Tree
    from metier.settings.tables import Supply
    from metier.supplies import Item

Progress: TypeAlias = "Callable[[str, int], None]"

LOCK = ".lock"
TOLD_EVERY = 256
"""How many files lie between two reports of progress."""


class Desk:
    """A folder below `staging` that is gone after the `with` block; those that dead processes left are swept on the way."""

    def __init__(self, staging: str, home: str | None, hands: Hands) -> None:
        """Name the place; nothing is made yet."""
        self.staging, self.home, self.hands = staging, home, hands
        self.folder = f"{staging}/{os.getpid()}-{os.urandom(8).hex()}"
        self._count = 0
        self._held = ExitStack()

    def __enter__(self) -> Self:
        """Sweep what is stale, and make the folder."""
        try:
            keeping.make(self.staging, self.home)
            # Nobody may sweep between the making of a lock and its taking.
            with keeping.alone(f"{self.staging}/{LOCK}"):
                self._sweep()
                self._held.enter_context(keeping.alone(self.folder + LOCK))
            self.hands.make(self.folder, 0o700)
        except OSError as error:
            self._held.close()
            raise unusable(self.staging, error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave nothing behind."""
        try:
            clear(self.folder, self.hands)
        except OSError:
            pass  # the next desk sweeps it
        finally:
            self._held.close()
        _forget(self.folder + LOCK)

    def fresh(self) -> str:
        """Give a path on this desk that nothing has yet."""
        self._count += 1
        return f"{self.folder}/{self._count}"

    def lay(
        self, tree: Tree, items: Sequence[Item], strip: str, limits: Supply, progress: Progress = lambda _what, _count: None
    ) -> tuple[str, tuple[TreeFile, ...]]:  # fmt: skip
        """Write entries of a source into a fresh folder, their paths taken from below `strip`; give it with what was written."""
        wanted = _relative(items, strip, limits)
        total = 0
        for item in wanted.values():
            total += item.size
            _refuse_kind(item)
            if item.size > limits.file_bytes:
                raise _too_large(f"'{shown(item.path)}'", item.size, "file_bytes", limits.file_bytes)
        if total > limits.unpacked_bytes:
            raise _too_large("the skill", total, "unpacked_bytes", limits.unpacked_bytes)
        folder = self.fresh()
        try:
            self.hands.make(folder, 0o700)
            return folder, tuple(self._written(tree, items, wanted, folder, progress))
        except OSError as error:
            raise unusable(folder, error) from error

    def _written(
        self, tree: Tree, items: Sequence[Item], wanted: dict[Item, Item], folder: str, progress: Progress
    ) -> Iterator[TreeFile]:  # fmt: skip
        made = {""}
        for count, (item, chunks) in enumerate(tree.contents([item for item in items if item in wanted]), 1):
            target = wanted[item]
            self._folders(folder, target.path.rpartition("/")[0], made)
            counted = _Counted(chunks, target)
            self.hands.write(f"{folder}/{target.path}", counted, 0o700 if target.mode == "exec" else 0o600)
            if count % TOLD_EVERY == 0:
                progress("files", count)
            yield counted.file()

    def _folders(self, folder: str, path: str, made: set[str]) -> None:
        if path not in made:
            self._folders(folder, path.rpartition("/")[0], made)
            self.hands.make(f"{folder}/{path}", 0o700)
            made.add(path)

    def _sweep(self) -> None:
        """Remove desks whose process is gone: nobody holds their lock any more."""
        for name in sorted({name.removesuffix(LOCK) for name in os.listdir(self.staging) if name != LOCK}):
            place = f"{self.staging}/{name}"
            try:
                with keeping.alone(place + LOCK, 0.0):
                    clear(place, self.hands)
            except OSError:
                continue  # it is in use, or cannot be removed now
            _forget(place + LOCK)


class _Counted:
    """The bytes of one entry on their way to the disk: hashed, and held to the size that was announced."""

    def __init__(self, chunks: Iterator[bytes], item: Item) -> None:
        """Count from nothing."""
        self.chunks, self.item, self.size, self.hash = chunks, item, 0, hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        """Hand the bytes on; fail before the first one that is too many, or at the end when some are missing."""
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


def clear(path: str, hands: Hands) -> None:
    """Remove a folder with all that is in it, or whatever else is there, never through a link; nothing there is fine."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        hands.remove(path)
        return
    with os.scandir(path) as entries:
        below = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for entry, is_folder in below:
        if is_folder:
            clear(entry, hands)
        else:
            hands.remove(entry)
    hands.remove_folder(path)


def _relative(items: Sequence[Item], strip: str, limits: Supply) -> dict[Item, Item]:
    """Give each file as it is to be written, by how the source has it. Checked here too: nobody may come past the rules."""
    prefix = f"{strip}/" if strip else ""
    files = [item for item in items if not (item.path.endswith("/") and item.mode in {"file", "exec"})]
    odd = next((item for item in files if not item.path.startswith(prefix)), None)
    if odd is not None:
        raise RefusedError(f"'{shown(odd.path)}' does not lie below '{shown(strip)}'", code="unsafe-path")
    return dict(zip(files, checked([item._replace(path=item.path[len(prefix) :]) for item in files], limits), strict=True))


def _refuse_kind(item: Item) -> None:
    hint = "a skill that is installed holds plain files only"
    if item.mode == "link":
        raise RefusedError(f"'{shown(item.path)}' is a link", hint=hint, code="unsafe-link")
    if item.mode == "other":
        raise RefusedError(f"'{shown(item.path)}' is neither a file nor a folder", hint=hint, code="unsafe-entry")


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # another desk was first


def _differs(item: Item, which: str) -> IntegrityError:
    return IntegrityError(f"'{shown(item.path)}' has {which} bytes than the {item.size:,} that its source announced",
                          hint="the source changed meanwhile, or lies: try again", code="digest")  # fmt: skip


def _too_large(what: str, size: int, limit: str, allowed: int) -> RefusedError:
    return RefusedError(f"{what} has {size:,} bytes", hint=f"supply.{limit} allows {allowed:,}", code="too-large")


def unusable(place: str, error: OSError) -> StoreError:
    """Say that metier's own folder cannot be written to."""
    return StoreError(f"cannot write to {place}: {error.strerror or error}", hint="METIER_HOME says where metier keeps its files")
