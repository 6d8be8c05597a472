"""DiskCalls that fail or die at a chosen step, so that a test can break any change off between any two steps."""

from __future__ import annotations

import errno
import os
import signal
from typing import TYPE_CHECKING, Literal

from metier.store.io.disk_calls import OsDiskCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.ports import DiskCalls

Fault = Literal["ENOSPC", "EIO", "SIGKILL"]
FAULTS: tuple[Fault, ...] = ("ENOSPC", "EIO", "SIGKILL")


def apart(task: Callable[[], object]) -> int:
    """Begin something in a process of its own; give its number."""
    child = os.fork()
    if not child:
        code = 1
        try:
            task()
            code = 0
        finally:
            os._exit(code)
    return child


def ended_with(child: int) -> int:
    """Wait for such a process; give its exit status, or the signal that killed it as a negative number."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_a_child(task: Callable[[], object]) -> int:
    """Run something in a process of its own, which may be killed."""
    return ended_with(apart(task))


class FaultyHands:
    """Stands behind `DiskCalls`: does what the system's own do, counts the steps, and breaks at one of them.

    A step breaks before it does anything. A write has two: before the file is there, and when half of its bytes are.
    `at=0` never breaks, so that `steps` says how many there are. With `lasting`, every later step that needs space fails too,
    as on a full disk. With `exchange=False` the system has no way to exchange two paths.
    """

    def __init__(
        self,
        at: int = 0,
        fault: Fault = "SIGKILL",
        *,
        lasting: bool = False,
        exchange: bool = True,
        inner: DiskCalls | None = None,
    ) -> None:
        """Break at step `at`, counted from one."""
        self.at, self.fault, self.lasting, self.exchange = at, fault, lasting, exchange
        self.inner: DiskCalls = inner or OsDiskCalls()
        self.steps = 0
        self.done: list[tuple[str, str]] = []
        """Every step that was begun: its name and its path."""

    def _step(self, name: str, path: str, *, grows: bool = True) -> None:
        self.steps += 1
        self.done.append((name, path))
        if self.at and (self.steps == self.at or (self.lasting and grows and self.steps > self.at)):
            if self.fault == "SIGKILL":
                os.kill(os.getpid(), signal.SIGKILL)
            number = errno.ENOSPC if self.fault == "ENOSPC" else errno.EIO
            raise OSError(number, os.strerror(number), path)

    def make(self, folder: str, mode: int = 0o700) -> None:
        """Make one folder."""
        self._step("make", folder)
        self.inner.make(folder, mode)

    def write(self, path: str, chunks: Iterable[bytes], mode: int = 0o600) -> None:
        """Write a new file."""
        self._step("write", path)
        data = b"".join(chunks)
        half = len(data) // 2
        if self.at == self.steps + 1:
            self.inner.write(path, (data[:half],), mode)
            self._step("write half", path)
        self.steps += 1
        self.inner.write(path, (data[:half], data[half:]), mode)

    def move(self, source: str, target: str) -> None:
        """Rename."""
        self._step("move", source, grows=False)
        self.inner.move(source, target)

    def swap(self, one: str, other: str) -> bool:
        """Exchange two paths."""
        self._step("swap", one, grows=False)
        return self.exchange and self.inner.swap(one, other)

    def link(self, aim: str, path: str) -> None:
        """Make a symbolic link."""
        self._step("link", path)
        self.inner.link(aim, path)

    def remove(self, path: str) -> None:
        """Remove a file or a link."""
        self._step("remove", path, grows=False)
        self.inner.remove(path)

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        self._step("remove_folder", path, grows=False)
        self.inner.remove_folder(path)

    def sync(self, path: str) -> None:
        """Bring it to the disk."""
        self._step("sync", path, grows=False)
        self.inner.sync(path)
