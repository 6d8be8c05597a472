"""Putting a change to a skill in place by one rename, or not at all.

Folders are opened one below the other and never through a link, so that nobody can turn a path
aside between the check and the rename. What is not finished lies in the root under a name with a
dot, which no search looks into, and is taken away again whatever happens.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from metier.author.io.staging import (
    SAFE_FLAGS,
    UNFINISHED_PREFIX,
    busy_error,
    copy_tree,
    make_trash,
    translate_errors,
    wait_for,
    write_new,
)
from metier.errors import IntegrityError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)

_MAX_TRIES = 100
"""How often a root is made or opened that somebody else takes away or makes at the same moment."""


@contextmanager
def hold_root_lock(root: str) -> Iterator[bool]:
    """Let one process at a time change what is in a root, wherever each keeps its own files; tell
    whether that is certain.

    Whoever has the lock of METIER_HOME takes this one after it, never the other way round. A root
    that is missing is made, since only what is there can be locked, and taken away again if it
    stays empty. Some file systems lock no folders.
    """
    made: list[str] = []
    held: list[int] = []
    try:
        yield _locked(root, made, held)
    finally:
        _take_back(made)
        for file in held:
            os.close(file)  # which lets the lock go


def _locked(root: str, made: list[str], held: list[int]) -> bool:
    """Lock a root; what cannot be made or opened is told by whoever is to write there."""
    for _try in range(_MAX_TRIES):
        try:
            _make_all(root, made)
            held.append(os.open(root, _FOLDER))
            wait_for(held[-1])
            if os.path.samestat(os.fstat(held[-1]), os.stat(root)):
                return True
        except TimeoutError:
            raise busy_error(f"is changing the skills in {root}") from None
        except (
            FileExistsError,
            FileNotFoundError,
        ):  # somebody made it, or took it away, at the same moment
            pass
        except OSError:
            return False
        while held:
            os.close(held.pop())
    return False


class SkillSpot:
    """A place below a root, entered folder by folder and never through a link."""

    def __init__(self, root: str, segments: Sequence[str], ident: str) -> None:
        """Say where; nothing is opened yet."""
        self.root, self.segments = root, tuple(segments)
        self.unfinished = f"{UNFINISHED_PREFIX}{ident}"

    def path(self, *names: str) -> str:
        """Give the path of the place, or of something in it."""
        return "/".join((self.root, *self.segments, *names))

    @contextmanager
    def entered(self, make: int | None = None) -> Iterator[tuple[int, int]]:
        """Open the root and the folder. Folders below the first `make` are made where missing, and
        taken back when it fails.
        """
        made: list[str] = []
        held: list[int] = []
        try:
            with translate_errors(self.root):
                if make == 0:
                    _make_all(self.root, made)
                held.append(os.open(self.root, _FOLDER))
            path = self.root
            for at, segment in enumerate(self.segments):
                with translate_errors(path):
                    path = f"{path}/{segment}"
                    held.append(
                        _step(
                            held[-1],
                            segment,
                            path,
                            made if make is not None and at >= make else None,
                        )
                    )
            yield held[0], held[-1]
        except BaseException:
            _take_back(made)
            raise
        finally:
            for file in held:
                os.close(file)

    def replace(self, name: str, source: str, make: int, tell: Callable[[], None]) -> None:
        """Put a file in place of the one of this name, whole or not at all; only folders below the
        first `make` are made.
        """
        with self.entered(make) as (root, folder):
            try:
                with translate_errors(self.root):
                    _copy_to(source, root, self.unfinished)
                tell()
                with translate_errors(self.path()):
                    os.rename(self.unfinished, name, src_dir_fd=root, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(self.unfinished, dir_fd=root)
                raise

    def remove(self, name: str) -> None:
        """Take a file away."""
        with self.entered() as (_root, folder), translate_errors(self.path()):
            os.unlink(name, dir_fd=folder)

    def prune(self, count: int) -> None:
        """Take away the last `count` folders, as far as they are empty."""
        for kept in range(len(self.segments), len(self.segments) - count, -1):
            with suppress(OSError):
                os.rmdir("/".join((self.root, *self.segments[:kept])))

    def place(
        self, name: str, tree: str, proven: Callable[[str], bool], tell: Callable[[], None]
    ) -> None:
        """Put a new folder in place under a name that nothing has yet, by one rename of a proven
        copy.
        """
        beside = f"{self.root}/{self.unfinished}"
        with self.entered(0) as (root, folder):
            claimed: list[str] = []
            try:
                copy_tree(tree, beside, sync=True, told=self.root)
                _sure(proven(beside), name)
                tell()
                with translate_errors(self.path()):
                    _claim(name, folder, claimed)
                tell()
                with translate_errors(self.path()):
                    os.rename(self.unfinished, name, src_dir_fd=root, dst_dir_fd=folder)
            except BaseException:
                shutil.rmtree(beside, ignore_errors=True)
                if claimed:
                    with suppress(OSError):
                        os.rmdir(name, dir_fd=folder)
                raise

    def discard(
        self, name: str, trash: str, proven: Callable[[str], bool], tell: Callable[[], None]
    ) -> None:
        """Move a folder to the trash in one step; where that lies on another device, by a proven
        copy.
        """
        target = f"{trash}/{name}"
        with self.entered() as (root, folder):
            make_trash(trash)
            moving = _Moving(target, root, self.unfinished)
            try:
                tell()
                with translate_errors(self._kept_from(name)):
                    try:
                        os.rename(name, target, src_dir_fd=folder)
                    except OSError as error:
                        if error.errno != errno.EXDEV:
                            raise
                        moving.by_copy = True
                        copy_tree(self.path(name), target, sync=True)
                        _sure(proven(target), name)
                        tell()
                        os.rename(name, self.unfinished, src_dir_fd=folder, dst_dir_fd=root)
                    moving.done = True
                shutil.rmtree(self.unfinished, ignore_errors=True, dir_fd=root)
            except BaseException:
                if moving.happened():
                    shutil.rmtree(self.unfinished, ignore_errors=True, dir_fd=root)
                else:
                    shutil.rmtree(trash, ignore_errors=True)
                raise

    def _kept_from(self, name: str) -> str:
        """Say which folder it is that does not let a folder be moved: the one above it, or
        itself.
        """
        return self.path(name) if os.access(self.path(), os.W_OK) else self.path()


class _Moving:
    """Whether a folder was moved away. Its old name does not tell: by now that may be another's.

    An interrupt may come after the rename and before anything could be noted down. So where nothing
    was noted, what only the rename can have made is looked for.
    """

    def __init__(self, target: str, root: int, aside: str) -> None:
        self.target = target
        self.root = root
        self.aside = aside
        self.done = self.by_copy = False

    def happened(self) -> bool:
        """Tell it from what was noted, else from what lies there."""
        return self.done or (
            _is_there(self.aside, self.root) if self.by_copy else _is_there(self.target)
        )


def _is_there(name: str, folder: int | None = None) -> bool:
    with suppress(OSError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return True
    return False


def _sure(same: bool, name: str) -> None:  # noqa: FBT001 - the answer of a check
    if not same:
        raise IntegrityError(f"{name} changed while it was put in place", hint="look again")


def _copy_to(source: str, folder: int, name: str) -> None:
    with open(source, "rb") as reading:
        mode = os.fstat(reading.fileno()).st_mode & 0o777
        write_new(name, [reading.read()], mode, sync=True, folder=folder)


def _claim(name: str, folder: int, made: list[str]) -> None:
    """Make an empty folder, which a rename then replaces: so what somebody else put there meanwhile
    is never written over.
    """
    try:
        _make(name, folder, name, made)
    except FileExistsError:
        raise RefusedError(
            f"there is already something called {name} there",
            code="exists",
            hint="choose another name",
        ) from None


def _make(name: str, folder: int | None, path: str, made: list[str]) -> None:
    """Make a folder and note its path down; before, since an interrupt may come as soon as it is
    there.
    """
    made.append(path)
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        made.pop()
        raise


def _make_all(folder: str, made: list[str]) -> None:
    missing = []
    while not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        _make(path, None, path, made)


def _take_back(made: list[str]) -> None:
    """Take away the folders that were made, as far as they are empty."""
    for folder in reversed(made):
        with suppress(OSError):
            os.rmdir(folder)


def _step(folder: int, segment: str, path: str, made: list[str] | None) -> int:
    try:
        if made is not None:
            with suppress(FileExistsError):
                _make(segment, folder, path, made)
        return os.open(segment, _FOLDER | SAFE_FLAGS, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise RefusedError(
                f"{path} is a link or no folder",
                code="link",
                hint="skills behind a link are not changed",
            ) from error
        raise
