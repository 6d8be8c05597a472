"""System calls that fail or kill at a chosen step, for whatever lies below one folder."""

from __future__ import annotations

import errno
import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fakes.hands import Fault

_BY_PATH = ("open", "mkdir", "replace", "rename", "unlink", "chmod", "listdir")
_BY_FILE = ("read", "write", "fsync", "ftruncate", "fchmod")
_SHRINKING = frozenset({"unlink", "read", "listdir", "chmod", "fchmod", "ftruncate"})
"""What works on a full disk."""


class FaultyOs:
    """Counts the system calls on files whose name has one of these beginnings, and breaks at one of them.

    A step breaks before it does anything; a write may break when half of its bytes are there. `at=0` never breaks. With `lasting`,
    every later step that needs space fails too, as on a full disk.
    """

    def __init__(self, folder: str, names: tuple[str, ...], at: int, fault: Fault) -> None:
        """Break at step `at`, counted from one."""
        self.prefixes = tuple(f"{folder}/{name}" for name in names)
        self.at, self.fault, self.lasting = at, fault, fault == "ENOSPC"
        self.steps = 0
        self.files: set[int] = set()

    @contextmanager
    def calls(self) -> Iterator[FaultyOs]:
        """Stand in for the system's calls meanwhile."""
        real = {name: getattr(os, name) for name in (*_BY_PATH, *_BY_FILE, "close")}
        try:
            for name in _BY_PATH:
                setattr(os, name, self._by_path(name, real[name]))
            for name in _BY_FILE:
                setattr(os, name, self._by_file(name, real[name]))
            setattr(os, "close", self._closing(real["close"]))  # noqa: B010 - mypy knows its name
            yield self
        finally:
            for name, call in real.items():
                setattr(os, name, call)

    def _step(self, name: str) -> bool:
        """Tell whether the step is to break."""
        self.steps += 1
        later = self.lasting and self.steps > self.at and name not in _SHRINKING
        return bool(self.at) and (self.steps == self.at or later)

    def _break(self) -> None:
        if self.fault == "SIGKILL":
            os.kill(os.getpid(), signal.SIGKILL)
        number = errno.ENOSPC if self.fault == "ENOSPC" else errno.EIO
        raise OSError(number, os.strerror(number))

    def _by_path(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **more: Any) -> Any:
            ours = isinstance(path, str) and path.startswith(self.prefixes)
            if ours and self._step(name):
                self._break()
            found = real(path, *rest, **more)
            if ours and name == "open":
                self.files.add(found)
            return found

        return call

    def _by_file(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: int, *rest: Any) -> Any:
            if file in self.files and self._step(name):
                if name == "write":
                    real(file, rest[0][: len(rest[0]) // 2])
                self._break()
            return real(file, *rest)

        return call

    def _closing(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def call(file: int) -> None:
            self.files.discard(file)
            real(file)

        return call
