"""Drives a run from its start to its end: it feeds standard input, watches the program, and hands
on what it prints.

The keeper's thread starts the program, watches its time and what it takes, and ends it; an
interrupt never reaches that thread, and a listener that is slow does not delay it. The caller's
thread hands on what is printed, so that printing, and whatever is raised there, behave as if no
other thread existed. Input comes from a thread of its own: who gives it may take its time.
"""

from __future__ import annotations

import os
import select
import threading
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from metier.errors import SandboxError
from metier.run.model import KILLED, TIMED_OUT, RunEnded, never

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.run.io.descriptors import Descriptors
    from metier.run.model import Feed, Hear, RunLimits, Stopped


INPUT_CHUNK_BYTES = 65_536
_PATIENCE_SECONDS = 1.0


class InputFeeder:
    """Carries bytes from whoever has them to a pipe, and closes that at the end."""

    def __init__(self, pipe: int, feed: Feed, failed: Callable[[], None]) -> None:
        """Own the writing end of a pipe from now on. `failed` is called when `feed` raises; `error`
        then says what.
        """
        self.error: BaseException | None = None
        self._pipe = pipe
        self._feed = feed
        self._failed = failed
        self._mine = threading.Lock()
        try:
            threading.Thread(target=self._carry, name="metier-feeder", daemon=True).start()
        except RuntimeError as error:
            self._shut()
            raise SandboxError(
                f"the program cannot be given its input: {error}", code="sandbox"
            ) from error

    def close(self) -> None:
        """Close the pipe, which has no reader any more: a write that waits has ended, and the next
        finds it closed.

        The thread may still wait in `feed`, for a terminal, say. It is left there, and does nothing
        when it comes back. Where it waits in a write, because without a sandbox something has got
        away with the reading end, the pipe is left to it too.
        """
        if self._mine.acquire(timeout=_PATIENCE_SECONDS):
            self._shut()
            self._mine.release()

    def _carry(self) -> None:
        try:
            while data := self._feed(INPUT_CHUNK_BYTES):
                if not self._give(data):
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread of whoever waits for the run
            self.error = error
            self._failed()
        finally:
            self.close()

    def _give(self, data: bytes) -> bool:
        """Write all of it, unless nobody reads any more."""
        left = memoryview(data)
        with self._mine:
            while left and self._pipe >= 0:
                try:
                    left = left[os.write(self._pipe, left) :]
                except BrokenPipeError:
                    self._shut()
            return self._pipe >= 0

    def _shut(self) -> None:
        pipe = self._pipe
        self._pipe = -1
        if pipe >= 0:
            os.close(pipe)


# --- the run itself

TICK_SECONDS = 0.05
"""Seconds between two looks at what a run takes, and at whether the caller wants it ended."""
OUTPUT_CHUNK_BYTES = 65_536
MAX_REPORT_BYTES = 4 * 1024 * 1024
"""How long a report may be."""
_MAX_MARKED_BYTES = 4096
"""How much of what begins like the sandbox's own words is kept back."""


class ProgramPipes(NamedTuple):
    """This side's ends of a program's pipes."""

    into: int
    out: int
    err: int
    report: int = -1


class RunningProgram(Protocol):
    """Something that can be started, looked at and ended. All of it happens in the run's own
    thread.
    """

    def start(self, until: float, over: Stopped) -> int:
        """Start it; give a descriptor that can be read when it has ended. `over` tells that nobody
        waits for it any more.
        """

    def exceeded(self) -> str:
        """Name a limit that it has crossed."""

    def end(self) -> None:
        """See to it that nothing of it is left."""


class RunCallbacks(NamedTuple):
    """What the caller of a run wants."""

    hear: Hear
    feed: Feed | None
    stopped: Stopped


class RunFinish(NamedTuple):
    """How a run went."""

    stopped: str
    seconds: float
    report: bytes
    truncated: bool
    marked: bytes
    """What began like the sandbox's own words, and was not handed on."""

    def as_ended(self, own: int) -> RunEnded:
        """Say how the run ended: with the program's own exit code, unless a limit ended it."""
        code = {"": own, "time": TIMED_OUT}.get(self.stopped, KILLED)
        return RunEnded(code, self.stopped, self.seconds, self.report, self.truncated)


def drive(
    program: RunningProgram,
    ends: Descriptors,
    wires: ProgramPipes,
    bounds: RunLimits,
    callbacks: RunCallbacks,
    mark: bytes = b"",
) -> RunFinish:
    """Run something to its end. What the caller's functions raise is raised again, once nothing is
    left of the run.

    The first bytes of the error stream are kept back as long as they could be `mark` and what
    follows it.
    """
    pump = OutputPump(callbacks.hear, bounds.output_bytes, mark)
    thread = RunThread(program, ends, bounds.seconds)
    feeder: InputFeeder | None = None
    try:
        thread.begin()
        if callbacks.feed is None:
            ends.shut(wires.into)
        else:  # who closes it, and then its number may already be another's
            feeder = InputFeeder(ends.give(wires.into), callbacks.feed, thread.stop)
        pump.work(wires, thread, callbacks.stopped)
    finally:
        try:
            thread.close()
        finally:
            if feeder is not None:
                feeder.close()
    for error in (thread.error, feeder.error if feeder is not None else None):
        if error is not None:
            raise error
    return RunFinish(
        thread.stopped, thread.seconds, bytes(pump.report), pump.truncated, pump.marked
    )


class RunThread:
    """The thread that a run lives in: bubblewrap dies with the thread that started it, so it stays
    to the end.
    """

    def __init__(self, program: RunningProgram, ends: Descriptors, seconds: int) -> None:
        """Start nothing yet."""
        self.stopped = ""
        self.error: BaseException | None = None
        self.seconds = 0.0
        self._program = program
        self._allowed = seconds
        self._begun = self._over = self._closed = False
        self._speaking = threading.Lock()
        self._told, self._tell = ends.pipe()
        self.finished, self._finish = ends.pipe()
        self._thread = threading.Thread(target=self._keep, name="metier-keeper", daemon=True)

    def begin(self) -> None:
        """Start it."""
        try:
            self._thread.start()
        except RuntimeError as error:
            raise SandboxError(
                f"the run cannot be watched over: {error}", code="sandbox"
            ) from error

    def stop(self, why: str = "asked") -> None:
        """End the run; the first reason counts."""
        with self._speaking:
            self.stopped = self.stopped or why
            self._over = True
            if not self._closed:  # who feeds a program may come back long after its end
                os.write(self._tell, b".")

    def close(self) -> None:
        """End the run if it has not ended, and wait until nothing is left of it. No interrupt cuts
        that short.

        Not by `join` alone: an interrupt in the midst of that has Python take a thread for ended
        that is not.
        """
        interrupt: BaseException | None = None
        while not self._closed:
            try:
                if not self._over:
                    self.stop()
                self._let_go()
            except BaseException as error:  # noqa: BLE001 - what a host raises from its handlers of signals need not be Ctrl-C's
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def _let_go(self) -> None:
        """Wait for the thread's last word. Where it has not begun it never will: an interrupt may
        come while it is started.
        """
        with self._speaking:
            self._closed = not self._begun
        if not self._closed:
            poll = select.poll()
            poll.register(self.finished, select.POLLIN)
            poll.poll()
            self._thread.join()  # it has nothing left to do
            with self._speaking:
                self._closed = True

    def _keep(self) -> None:
        with self._speaking:
            if self._closed:
                return
            self._begun = True
        began = time.monotonic()
        try:
            self._watch(began + self._allowed)
        except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread of whoever waits for the run
            self.error = error
        try:
            self._program.end()
        except BaseException as error:  # noqa: BLE001 - the same
            self.error = self.error or error
        self.seconds = time.monotonic() - began
        self._over = True
        os.write(self._finish, b".")

    def _watch(self, until: float) -> None:
        ended = self._program.start(until, lambda: self._over)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self._told, select.POLLIN)
        why = ""
        while not why:
            left = until - time.monotonic()
            if poll.poll(max(min(left, TICK_SECONDS), 0) * 1000):
                why = self._program.exceeded()  # the kernel may have ended it, for a limit
                break
            why = "time" if left <= 0 else self._program.exceeded()
        self.stopped = self.stopped or why


class OutputPump:
    """Hands on what a program prints, in the caller's thread."""

    def __init__(self, hear: Hear, limit: int, mark: bytes) -> None:
        """Hand on no more than so many bytes of both streams together."""
        self.report = bytearray()
        self.truncated = False
        self.marked = b""
        self._hear = hear
        self._left = limit
        self._mark = mark

    def work(self, wires: ProgramPipes, thread: RunThread, stopped: Stopped) -> None:
        """Hand on what comes until the run has ended, and what is left in the pipes then."""
        names = {wires.out: "out", wires.err: "err", wires.report: "report"}
        names.pop(-1, None)
        poll = select.poll()
        for number in (*names, thread.finished):
            poll.register(number, select.POLLIN)
        pause = None if stopped is never else TICK_SECONDS * 1000
        while True:
            ready = [number for number, _event in poll.poll(pause)]
            for number in ready:
                if number in names and not self._pass_on(number, names[number], thread):
                    poll.unregister(number)
                    del names[number]
            if thread.finished in ready:
                break
            if not thread.stopped and stopped():
                thread.stop()
        for number, name in names.items():
            while not self.truncated and self._pass_on(number, name, thread):
                pass

    def _pass_on(self, number: int, name: str, thread: RunThread) -> bool:
        """Hand on what one pipe holds; false when there is no more, now or ever."""
        try:
            data = os.read(number, OUTPUT_CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not data:
            return False
        room = MAX_REPORT_BYTES - len(self.report) if name == "report" else self._left
        if len(data) > room:
            self.truncated = True
            if not thread.stopped:
                thread.stop("output")
        if name == "report":
            self.report += data[:room]
        else:
            self._hand_on(name, data[:room])
        return True

    def _hand_on(self, name: str, data: bytes) -> None:
        self._left -= len(data)
        if name == "err" and self._mark:
            self.marked += data
            if (
                len(self.marked) < _MAX_MARKED_BYTES
                and self.marked[: len(self._mark)] == self._mark[: len(self.marked)]
            ):
                return
            data = self.marked
            self.marked = b""
            self._mark = b""
        if data:
            self._hear(name, data)
