"""Hears which files of the stage are read, from outside: a watched process can neither see that
nor switch it off, and it costs that process nothing.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from metier.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ACCESS, _CLOSE_WRITE, _CLOSE_READ, _MOVED_FROM, _MOVED_TO, _DELETE = 1, 8, 0x10, 0x40, 0x80, 0x200
_READ = _ACCESS | _CLOSE_READ
_CHANGED = _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _DELETE
_OVERFLOW = 0x4000
_FOLDER = 0x40000000
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


class Inotify:
    """Watches some folders: themselves, and the files that lie in them. And some files, by whatever
    name they are reached: another may be given to them.
    """

    def __init__(self, folders: Sequence[str], files: Sequence[str] = ()) -> None:
        """Begin."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.number = self._libc.inotify_init1(_FLAGS)
        if self.number < 0:
            raise SandboxError(
                f"the stage cannot be watched: {os.strerror(ctypes.get_errno())}",
                code="sandbox-watch",
                hint="sysctl fs.inotify.max_user_instances says how many may be",
            )
        self._folders = self._watch(folders, _READ | _CHANGED)
        self._files = self._watch(files, _READ | _CLOSE_WRITE)
        self.complete = len(self._folders) == len(folders) and len(self._files) == len(files)

    def _watch(self, paths: Iterable[str], mask: int) -> dict[int, str]:
        add = self._libc.inotify_add_watch
        found = {add(self.number, os.fsencode(path), ctypes.c_uint32(mask)): path for path in paths}
        return {watch: path for watch, path in found.items() if watch >= 0}

    def events(self) -> Iterator[tuple[str, str]]:
        """Give what has happened since: `read`, `list` of a folder or `change`, and the path. What
        is a folder the kernel says: by now something else may lie there.
        """
        for watch, mask, name in self._raw():
            if watch in self._files:
                if mask & (_READ | _CLOSE_WRITE):
                    yield ("read" if mask & _READ else "change"), self._files[watch]
                continue
            folder = self._folders.get(watch)
            if folder is None:
                self.complete = self.complete and not mask & _OVERFLOW
                continue
            path = f"{folder}/{os.fsdecode(name)}" if name else folder
            if mask & _FOLDER and name:
                continue  # a folder inside tells of itself where it is watched
            if mask & _READ:
                yield ("read" if name else "list"), path
            if mask & _CHANGED and not mask & _FOLDER:
                yield "change", path

    def forget(self) -> None:
        """Drop what has happened since: it was ourselves."""
        for _event in self._raw():
            pass

    def close(self) -> None:
        """End. With hundreds of watches the kernel takes its time, and nobody needs to wait for it."""
        threading.Thread(target=os.close, args=(self.number,)).start()

    def _raw(self) -> Iterator[tuple[int, int, bytes]]:
        with suppress(BlockingIOError):
            while data := os.read(self.number, 65_536):
                at = 0
                while at < len(data):
                    watch, mask, _cookie, size = struct.unpack_from("=iIII", data, at)
                    yield watch, mask, data[at + 16 : at + 16 + size].rstrip(b"\0")
                    at += 16 + size
