"""A folder on this machine as a source: listed without following a link, its files opened the same
way.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError, SourceError
from metier.supply.archives.limits import WINDOW_BYTES
from metier.supply.model import Item, Origin
from metier.supply.safe_names import MAX_PATH_DEPTH, printable, safe_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.settings.model import SupplySettings
    from metier.supply.model import Contents, ItemMode, Request

_OPEN = 0
for _flag in ("O_RDONLY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"):
    _OPEN |= getattr(os, _flag, 0)
_BELOW = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")


class FolderFetcher(NamedTuple):
    """Opens local folders. They have no versions: what is there is what there is."""

    limits: SupplySettings
    """How much to list at most."""

    def open(self, request: Request) -> FolderTree:
        """Open a folder by its absolute path; a link that the user named is followed once, here."""
        folder = os.path.realpath(request.location)
        if not os.path.isdir(folder):
            raise SourceError(
                f"there is no folder {printable(request.location)}",
                hint="check the path",
                code="not-found",
            )
        inside = safe_path(request.path) if request.path.strip("/") not in {"", "."} else ""
        return FolderTree(folder, inside, self.limits, request.location)

    def newest(self, request: Request) -> str:
        """Say nothing: only reading it can tell."""
        del request
        return ""


class FolderTree:
    """The entries of a folder. Nothing outside it is read, whatever links it has and however it
    changes meanwhile.
    """

    def __init__(self, folder: str, inside: str, limits: SupplySettings, named: str) -> None:
        """Hold the folder itself, so that nobody can put another in its place; `named` is what the
        user called it.
        """
        self.folder = folder
        self.inside = inside
        self.limits = limits
        self.origin = Origin("folder", named)
        try:
            self._root = os.open(folder, _OPEN | os.O_DIRECTORY) if _BELOW else -1
        except OSError as error:
            raise _unreadable(folder, error) from error
        self._near: tuple[str, int] = ("", self._root)

    def items(self) -> Sequence[Item]:
        """List every file and link, sorted by path; `.git` is not looked into."""
        found = []
        waiting = [self.inside]
        while waiting:
            path = waiting.pop()
            if path.count("/") > MAX_PATH_DEPTH:
                raise RefusedError(
                    f"'{printable(path)}' lies too deep",
                    hint=f"at most {MAX_PATH_DEPTH} folders are read",
                    code="too-deep",
                )
            for item, is_folder in self._listed(path):
                if is_folder:
                    waiting.append(item.path)
                else:
                    found.append(item)
            if len(found) + len(waiting) > self.limits.files:
                raise RefusedError(
                    f"{self.folder} has more than {self.limits.files:,} entries",
                    hint="supply.files is the limit; name the skill's own folder",
                    code="too-many",
                )
        return sorted(found)

    def _listed(self, path: str) -> Iterator[tuple[Item, bool]]:
        try:
            with os.scandir(f"{self.folder}/{path}" if path else self.folder) as entries:
                for entry in entries:
                    if entry.name != ".git":
                        here = f"{path}/{entry.name}" if path else entry.name
                        what = entry.stat(follow_symlinks=False)
                        yield (
                            Item(here, what.st_size, _mode(what.st_mode)),
                            stat.S_ISDIR(what.st_mode),
                        )
        except OSError as error:
            raise _unreadable(f"{self.folder}/{path}", error) from error

    def contents(self, items: Sequence[Item]) -> Contents:
        """Give the bytes of files, each opened without following a link anywhere below the
        folder.
        """
        for item in items:
            try:
                folder, _slash, name = item.path.rpartition("/")
                file = (
                    os.open(name, _OPEN, dir_fd=self._entered(folder))
                    if _BELOW
                    else os.open(f"{self.folder}/{item.path}", _OPEN)
                )
            except OSError as error:
                raise _unreadable(f"{self.folder}/{item.path}", error) from error
            try:
                if not stat.S_ISREG(os.fstat(file).st_mode):
                    raise RefusedError(
                        f"'{printable(item.path)}' is not a plain file", code="unsafe-entry"
                    )
                yield item, _chunks(file, item)
            finally:
                os.close(file)

    def _entered(self, folder: str) -> int:
        """Walk down to a folder step by step; the last one is kept, because files of one folder
        come together.
        """
        if self._near[0] == folder:
            return self._near[1]
        at = os.dup(self._root)
        for step in filter(None, folder.split("/")):
            try:
                below = os.open(step, _OPEN | os.O_DIRECTORY, dir_fd=at)
            finally:
                os.close(at)
            at = below
        self._leave()
        self._near = folder, at
        return at

    def _leave(self) -> None:
        if self._near[1] != self._root:
            os.close(self._near[1])
        self._near = "", self._root

    def close(self) -> None:
        """Let go of the folder."""
        self._leave()
        if self._root >= 0:
            os.close(self._root)
        self._root = -1
        self._near = ("", -1)


def _chunks(file: int, item: Item) -> Iterator[bytes]:
    """Read a file; one byte more than announced is enough to show that it grew."""
    left = item.size + 1
    try:
        while left > 0 and (data := os.read(file, min(WINDOW_BYTES, left))):
            left -= len(data)
            yield data
    except OSError as error:
        raise _unreadable(item.path, error) from error


def _mode(mode: int) -> ItemMode:
    if stat.S_ISLNK(mode):
        return "link"
    if not stat.S_ISREG(mode):
        return "other"
    return "exec" if mode & stat.S_IXUSR else "file"


def _unreadable(path: str, error: OSError) -> SourceError:
    return SourceError(
        f"cannot read {printable(path)}: {error.strerror or error}",
        hint="check that it can be read",
    )
