"""A second process for half of a large walk, and copies that share a long list of tasks. Threads
cannot share this work: they would take turns at the interpreter.

The copy is made by `fork`, so it starts in a millisecond with everything already in place, and only
where that is safe: on Linux, with a second core, and while this process has a single thread, those
of C libraries counted.
"""

from __future__ import annotations

import os
import select
import signal
from contextlib import ExitStack, suppress

from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

CHUNK = 1 << 20
NUMBER_BYTES = 4


class SecondProcess:
    """What another process is working on. Leaving the `with` block ends that process, whatever
    happened.
    """

    def __init__(self, child: int, pipe: int) -> None:
        """Wait for nothing yet."""
        self.child = child
        self.pipe = pipe

    def __enter__(self) -> SecondProcess:
        """Use the answer in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
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
        child = self.child
        self.child = 0
        try:
            return os.waitpid(child, 0)[1]
        except (
            ChildProcessError
        ):  # the host program collects its children itself, so the exit code is gone
            return 1


def share_tasks(
    count: int, work: Callable[[int], bytes], copies: int
) -> Generator[tuple[int, bytes]]:
    """Do numbered tasks here and in copies of this process, whoever is free taking the next one;
    give each answer with its number as it comes. Nothing is done where no copy can be made, and
    what a copy was at when it died has no answer.

    Whoever stops early closes the iterator: that ends the copies. Whoever is interrupted still gets
    what they have done by then, before the interruption goes on.
    """
    if not hasattr(os, "memfd_create"):
        return
    tickets = os.memfd_create("tickets")
    parent = os.getpid()
    with ExitStack() as running:
        running.callback(os.close, tickets)
        try:
            os.write(tickets, b"".join(map(_packed, range(count))))
        except OSError:  # no file may grow here, not even one in memory
            return
        os.lseek(tickets, 0, os.SEEK_SET)

        def take_turns(writer: int) -> None:
            while os.getppid() == parent and (ticket := _next_ticket(tickets)):
                answer = work(int.from_bytes(ticket))
                _write_all(writer, ticket + _packed(len(answer)) + answer)

        started = (_start(take_turns) for _ in range(copies))
        helpers = [_Helper(running.enter_context(one)) for one in started if one is not None]
        if not helpers:
            return
        yield from _work_through(tickets, work, helpers)


def _work_through(
    tickets: int, work: Callable[[int], bytes], helpers: list[_Helper]
) -> Generator[tuple[int, bytes]]:
    """Give the answers of this process and of its copies, until there is no task left."""
    ready: list[tuple[int, bytes]] = []
    try:
        while ticket := _next_ticket(tickets):
            number = int.from_bytes(ticket)
            ready = [(number, work(number)), *_arrived(helpers, 0)]
            while ready:
                yield ready.pop()
        while helpers:
            ready = _arrived(helpers, None)
            while ready:
                yield ready.pop()
    except (KeyboardInterrupt, SystemExit):
        while select.select([one.pipe for one in helpers], [], [], 0)[0]:
            ready += _arrived(helpers, 0)
        yield from ready
        raise


def _next_ticket(tickets: int) -> bytes:
    """Read the next ticket. The copies have the same open file, and so the same place in it; but a
    file in memory lets two of them read at the same moment, so one at a time does.
    """
    import fcntl  # Unix alone, as is forking

    fcntl.lockf(tickets, fcntl.LOCK_EX)
    try:
        return os.read(tickets, NUMBER_BYTES)
    finally:
        fcntl.lockf(tickets, fcntl.LOCK_UN)


class _Helper:
    """A copy at work, and the part of its next answer that has come."""

    def __init__(self, copy: SecondProcess) -> None:
        self.pipe = copy.pipe
        self.rest = b""

    def take(self, data: bytes) -> list[tuple[int, bytes]]:
        """Give the answers that are whole."""
        data = self.rest + data
        head = 2 * NUMBER_BYTES
        at = 0
        found = []
        while len(data) - at >= head:
            size = int.from_bytes(data[at + NUMBER_BYTES : at + head])
            if len(data) - at < head + size:
                break
            number = int.from_bytes(data[at : at + NUMBER_BYTES])
            found.append((number, data[at + head : at + head + size]))
            at += head + size
        self.rest = data[at:]
        return found


def _arrived(helpers: list[_Helper], seconds: int | None) -> list[tuple[int, bytes]]:
    """Give the answers that have come; who has ended is taken from the list."""
    ready = select.select([one.pipe for one in helpers], [], [], seconds)[0]
    found = []
    for one in [one for one in helpers if one.pipe in ready]:
        data = os.read(one.pipe, CHUNK)
        if not data:
            helpers.remove(one)
        found += one.take(data)
    return found


def _packed(number: int) -> bytes:
    return number.to_bytes(NUMBER_BYTES)


def start_apart(task: Callable[[], bytes]) -> SecondProcess | None:
    """Start a task in a copy of this process; `None` where that cannot be done safely."""
    return _start(lambda writer: _write_all(writer, task()))


def _start(act: Callable[[int], None]) -> SecondProcess | None:
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
        os.close(
            reader
        )  # else the copy would wait for a reader for ever when this process is killed
        _work(act, writer)
    os.close(writer)
    return SecondProcess(child, reader)


def _work(act: Callable[[int], None], writer: int) -> None:
    """Do the task and end at once: nothing of the copied program may run on."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        act(writer)
        code = 0
    finally:
        os._exit(code)


def _write_all(writer: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(writer, left) :]


def _widen(pipe: int) -> None:
    """Let the copy put its answer down and end, while this process is still at its own half."""
    import fcntl  # not on Windows, where nothing is forked

    with suppress(OSError, AttributeError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, CHUNK)


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_main_thread() -> bool:
    """Tell whether this is the thread that the program began with."""
    import threading

    return threading.current_thread() is threading.main_thread()


def _threads() -> int:
    """Count the threads of this process, those of C libraries too; where that cannot be known, as
    if there were many.
    """
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 2
