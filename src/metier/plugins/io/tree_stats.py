"""One sweep over everything below a folder: listed, and each file's stat taken, but nothing opened
and no link followed.
"""

from __future__ import annotations

import marshal
import os
from hashlib import blake2b
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from metier.store.layout import MAX_DEPTH

DIGEST_BYTES = 16
"""Bytes of a condensed glance."""
_MARSHAL_FORMAT = 2
"""Of marshal's formats, the last whose bytes depend on the values alone, and not on who else holds
them."""
_FOLDERS_AT_ONCE = 100
"""So many folders are condensed in one go."""
_ENTER = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_DIRECTORY", 0)
)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_numbers = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_mode")


class TreeStats(NamedTuple):
    """A tree as one sweep saw it."""

    condensed: bytes
    """Of the names and stats of all there is."""
    newest: int
    """When the last of its files changed, in nanoseconds."""


def stat_tree(folder: str, most: int, *, skip: str = "", follow: bool = False) -> TreeStats | None:
    """Look at everything below a folder that is not called `skip`; nothing where a part cannot be
    seen, or it is too much.

    With `follow`, the folder itself may be a link, because somebody named it; below it, none is
    followed.
    """
    try:
        top = os.open(folder, _ENTER if follow else _ENTER | _NOFOLLOW)
        sweep = _StatSweep(most, skip)
        sweep.begin(top)
    except (OSError, ValueError):  # a path that no system has is a ValueError
        return None
    return TreeStats(sweep.whole.digest(), sweep.newest)


class _StatSweep:
    """What a sweep has seen so far; every so often it is condensed and forgotten."""

    __slots__ = ("left", "newest", "rows", "skip", "whole")

    def __init__(self, most: int, skip: str) -> None:
        self.left = most
        self.skip = skip
        self.newest = 0
        self.rows = list[tuple[object, ...]]()
        self.whole = blake2b(digest_size=DIGEST_BYTES)

    def begin(self, top: int) -> None:
        """Take in a whole tree. Its own folder counts too: one that was moved away and back may
        have been another meanwhile.
        """
        numbers = _numbers(os.fstat(top))
        self.newest = max(numbers[:2])
        self.rows.append(numbers)
        self._below(top, 1)
        self._condense()

    def _below(self, descriptor: int, depth: int) -> None:
        """Take in a folder that is open, and let go of it."""
        try:
            folders = self._listed(descriptor)
            if folders and depth >= MAX_DEPTH:
                raise OSError
            for name in folders:
                self._below(os.open(name, _ENTER | _NOFOLLOW, dir_fd=descriptor), depth + 1)
        finally:
            os.close(descriptor)

    def _listed(self, descriptor: int) -> list[str]:
        """Take in what lies in one folder; gives the folders in it, in an order that is always the
        same.
        """
        folders, files, skip, newest = list[str](), [], self.skip, self.newest
        with os.scandir(descriptor) as entries:
            for entry in islice(
                entries, self.left + 2
            ):  # one more than is too much: one may be skipped
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.name != skip:
                    numbers = changed, touched, _size, _node, _mode = _numbers(
                        entry.stat(follow_symlinks=False)
                    )
                    files.append((entry.name, numbers))
                    if newest < touched or newest < changed:
                        newest = max(changed, touched)
        self.left -= len(folders) + len(files)
        if self.left < 0:
            raise OSError
        if skip in folders:
            folders.remove(skip)
        folders.sort()
        files.sort()
        self.newest = newest
        self.rows.append((folders, files))
        if len(self.rows) > _FOLDERS_AT_ONCE:
            self._condense()
        return folders

    def _condense(self) -> None:
        self.whole.update(marshal.dumps(self.rows, _MARSHAL_FORMAT))
        self.rows.clear()
