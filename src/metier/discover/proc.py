"""A second process for half of a large walk. Threads cannot share this work: they would take turns at the interpreter.

The copy is made by `fork`, so it starts in a millisecond with everything already in place, and only where that is safe:
on Linux, with a second core, and while this process has a single thread, those of C libraries counted.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

CHUNK = 1 << 20


class Answer:
    """What another process is working on. Leaving the `with` block ends that process, whatever happened."""

    def __init__(self, child: int, pipe: int) -> None:
        """Wait for nothing yet."""
        self.child, self.pipe = child, pipe

    def __enter__(self) -> Answer:
        """Use the answer in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave no process behind."""
        os.close(self.pipe)
        if self.child:
            os.kill(self.child, signal.SIGKILL)
            self._ended()

    def result(self) -> bytes | None:
        """Wait for the other process; `None` when it failed, and the work must be done here."""
        parts = []
        while part := os.read(self.pipe, CHUNK):
            parts.append(part)
        return b"".join(parts) if self._ended() == 0 else None

    def _ended(self) -> int:
        child, self.child = self.child, 0
        try:
            return os.waitpid(child, 0)[1]
        except ChildProcessError:  # the host program collects its children itself, so the exit code is gone
            return 1


def apart(task: Callable[[], bytes]) -> Answer | None:
    """Start a task in a copy of this process; `None` where that cannot be done safely."""
    if not hasattr(os, "fork") or cores() < 2 or _threads() > 1:
        return None
    reader, writer = os.pipe()
    _widen(writer)
    try:
        child = os.fork()
    except OSError:
        os.close(reader)
        os.close(writer)
        return None
    if child == 0:
        os.close(reader)  # else the copy would wait for a reader for ever when this process is killed
        _work(task, writer)
    os.close(writer)
    return Answer(child, reader)


def _work(task: Callable[[], bytes], writer: int) -> None:
    """Do the task and end at once: nothing of the copied program may run on."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        left = memoryview(task())
        while left:
            left = left[os.write(writer, left) :]
        code = 0
    finally:
        os._exit(code)


def _widen(pipe: int) -> None:
    """Let the copy put its answer down and end, while this process is still at its own half."""
    import fcntl  # not on Windows, where nothing is forked

    with suppress(OSError, AttributeError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, CHUNK)


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _threads() -> int:
    """Count the threads of this process, those of C libraries too; where that cannot be known, as if there were many."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 2
