"""Disks for tests: one in memory, listed in whatever order a test wants, and the real one with another helper."""

from __future__ import annotations

import posixpath
import struct
from typing import TYPE_CHECKING, Any

from metier.discover.io import disk
from metier.model import NO_KEY, Head, Key, Listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.ports import Answer


class FakeDisk:
    """Stands in for the `Disk` port. A value of bytes is a file, text is a link to another path.

    `order` arranges the names of a folder before they are handed out, as a file system would in its own way.
    Folders exist because something lies in them.
    """

    def __init__(
        self, tree: dict[str, bytes | str], order: Callable[[list[str]], Iterable[str]] = sorted
    ) -> None:
        """Take absolute paths and what lies there."""
        self.tree = tree
        self.order = order
        self.folders: dict[str, list[str]] = {"/": []}
        self.reads: list[str] = []
        for path in tree:
            self._enter(path)

    def _enter(self, path: str) -> None:
        above, name = posixpath.split(path)
        if above not in self.folders and above != path:
            self.folders[above] = []
            self._enter(above)
        if name and name not in self.folders[above]:
            self.folders[above].append(name)

    def real(self, path: str) -> str:
        """Resolve every link on the way; a loop resolves to itself."""
        seen: set[str] = set()
        at = "/"
        parts = [part for part in reversed(path.split("/")) if part]
        while parts:
            part = parts.pop()
            if part == "..":
                at = posixpath.dirname(at)
                continue
            here = posixpath.join(at, part)
            target = self.tree.get(here)
            if isinstance(target, str) and here not in seen:
                seen.add(here)
                at = "/" if target.startswith("/") else at
                parts += [step for step in reversed(target.split("/")) if step not in {"", "."}]
            else:
                at = here
        return at

    def key_of(self, path: str) -> Key | None:
        """Make a key of what lies there: it changes with the content."""
        real = self.real(path)
        held = self.tree.get(real)
        if isinstance(held, bytes):
            return struct.pack("4q", hash(real) & 0xFFFFFFFF, 1, 1, len(held))
        size = len(self.folders[real]) if real in self.folders else 0
        return (
            struct.pack("4q", hash(real) & 0xFFFFFFFF, 1, 1, size) if real in self.folders else None
        )

    def keys_below(self, folder: str, paths: list[bytes]) -> bytes | None:
        """Give the keys of many paths, or nothing when one is missing."""
        keys = [self.key_of(posixpath.normpath(f"{folder}/{path.decode()}")) for path in paths]
        return None if None in keys else b"".join(key for key in keys if key)

    def folder_of(self, path: str) -> tuple[Key, int, int] | None:
        """Count no links: a disk need not."""
        key = self.key_of(path)
        return (key, 1, 1) if key else None

    def kind_of(self, path: str) -> str | None:
        """Tell a file from a folder."""
        real = self.real(path)
        return (
            "folder"
            if real in self.folders
            else "file"
            if isinstance(self.tree.get(real), bytes)
            else None
        )

    def readable(self, path: str) -> bool:
        """Tell whether there is a folder: nothing is locked here."""
        return self.real(path) in self.folders

    def is_there(self, path: str) -> bool:
        """Tell whether anything lies there."""
        return path in self.tree or path in self.folders

    def is_link(self, path: str) -> bool:
        """Tell whether a text lies there."""
        return isinstance(self.tree.get(path), str)

    def list_folder(self, path: str) -> Listing:
        """List a folder by kind, each kind in this disk's own order."""
        real = self.real(path)
        if real not in self.folders:
            return Listing(fault="No such file or directory")
        kinds: dict[str, list[str]] = {"folders": [], "files": [], "links": []}
        for name in self.order(list(self.folders[real])):
            child = posixpath.join(real, name)
            held = self.tree.get(child)
            kinds[
                "folders"
                if child in self.folders
                else "files"
                if isinstance(held, bytes)
                else "links"
            ].append(name)
        return Listing(tuple(kinds["folders"]), tuple(kinds["files"]), tuple(kinds["links"]))

    def apart(self, task: Callable[[], bytes]) -> None:
        """Have no other process to hand work to."""
        del task

    def read_head(self, path: str, at_least: int = 4096) -> Head:
        """Read the beginning of a file; a link is never read."""
        self.reads.append(path)
        real = posixpath.join(self.real(posixpath.dirname(path)), posixpath.basename(path))
        held = self.tree.get(real)
        if not isinstance(held, bytes):
            return Head(
                fault="SK003" if isinstance(held, str) else "SK004", message="not a regular file"
            )
        return Head(held[:at_least], len(held), self.key_of(path) or NO_KEY)


class Apart:
    """The real disk, except that the other process it lends is of the test's own choosing."""

    def __init__(self, lend: Callable[[Callable[[], bytes]], Answer | None]) -> None:
        """Ask `lend` for the other process."""
        self.lend = lend

    def __getattr__(self, name: str) -> Any:
        """Hand every other question to the real disk."""
        return getattr(disk, name)

    def apart(self, task: Callable[[], bytes]) -> Answer | None:
        """Lend what the test wants lent."""
        return self.lend(task)
