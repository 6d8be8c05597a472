"""A run from its start to its end, in two threads.

The keeper's thread starts the program, watches its time and what it takes, and ends it; an interrupt never reaches that thread,
and a listener that is slow does not delay it. The caller's thread hands on what is printed, so that printing, and whatever is
raised there, behave as if no other thread existed.
"""

from __future__ import annotations

import os
import select
import threading
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from metier.errors import SandboxError
from metier.execute.feeding.proc import Feeder
from metier.runs import never

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.execute.ends.proc import Ends
    from metier.runs import Bounds

TICK = 0.05
"""Seconds between two looks at what a run takes, and at whether the caller wants it ended."""
CHUNK = 65_536
REPORT = 4 * 1024 * 1024
"""How long a report may be."""
_MARKED = 4096
"""How much of what begins like the sandbox's own words is kept back."""


class Wires(NamedTuple):
    """This side's ends of a program's pipes."""

    into: int
    out: int
    err: int
    report: int = -1


class Tenant(Protocol):
    """Something that can be started, looked at and ended. All of it happens in the keeper's thread."""

    def start(self, until: float, over: Callable[[], bool]) -> int:
        """Start it; give a descriptor that can be read when it has ended. `over` tells that nobody waits for it any more."""

    def exceeded(self) -> str:
        """Name a limit that it has crossed."""

    def end(self) -> None:
        """See to it that nothing of it is left."""


class Asked(NamedTuple):
    """What the caller of a run wants."""

    hear: Callable[[str, bytes], None]
    feed: Callable[[int], bytes] | None
    stopped: Callable[[], bool]


class Finish(NamedTuple):
    """How a run went."""

    stopped: str
    seconds: float
    report: bytes
    truncated: bool
    kept: bytes
    """What began like the sandbox's own words, and was not handed on."""


def drive(tenant: Tenant, ends: Ends, wires: Wires, bounds: Bounds, asked: Asked, mark: bytes = b"") -> Finish:
    """Run something to its end. What the caller's functions raise is raised again, once nothing is left of the run.

    The first bytes of the error stream are kept back as long as they could be `mark` and what follows it.
    """
    pump = Pump(asked.hear, bounds.output_bytes, mark)
    keeper = Keeper(tenant, ends, bounds.seconds)
    feeder: Feeder | None = None
    try:
        keeper.begin()
        if asked.feed is None:
            ends.shut(wires.into)
        else:  # who closes it, and then its number may already be another's
            feeder = Feeder(ends.give(wires.into), asked.feed, keeper.stop)
        pump.work(wires, keeper, asked.stopped)
    finally:
        try:
            keeper.close()
        finally:
            if feeder is not None:
                feeder.close()
    for error in (keeper.error, feeder.error if feeder is not None else None):
        if error is not None:
            raise error
    return Finish(keeper.stopped, keeper.seconds, bytes(pump.report), pump.truncated, pump.kept)


class Keeper:
    """The thread that a run lives in: bubblewrap dies with the thread that started it, so it stays to the end."""

    def __init__(self, tenant: Tenant, ends: Ends, seconds: int) -> None:
        """Start nothing yet."""
        self.stopped = ""
        self.error: BaseException | None = None
        self.seconds = 0.0
        self._tenant, self._allowed = tenant, seconds
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
            raise SandboxError(f"the run cannot be watched over: {error}", code="sandbox") from error

    def stop(self, why: str = "asked") -> None:
        """End the run; the first reason counts."""
        with self._speaking:
            self.stopped = self.stopped or why
            self._over = True
            if not self._closed:  # who feeds a program may come back long after its end
                os.write(self._tell, b".")

    def close(self) -> None:
        """End the run if it has not ended, and wait until nothing is left of it. No interrupt cuts that short.

        Not by `join` alone: an interrupt in the midst of that has Python take a thread for ended that is not.
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
        """Wait for the thread's last word. Where it has not begun it never will: an interrupt may come while it is started."""
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
            self._tenant.end()
        except BaseException as error:  # noqa: BLE001 - the same
            self.error = self.error or error
        self.seconds = time.monotonic() - began
        self._over = True
        os.write(self._finish, b".")

    def _watch(self, until: float) -> None:
        ended = self._tenant.start(until, lambda: self._over)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(self._told, select.POLLIN)
        why = ""
        while not why:
            left = until - time.monotonic()
            if poll.poll(max(min(left, TICK), 0) * 1000):
                why = self._tenant.exceeded()  # the kernel may have ended it, for a limit
                break
            why = "time" if left <= 0 else self._tenant.exceeded()
        self.stopped = self.stopped or why


class Pump:
    """Hands on what a program prints, in the caller's thread."""

    def __init__(self, hear: Callable[[str, bytes], None], limit: int, mark: bytes) -> None:
        """Hand on no more than so many bytes of both streams together."""
        self.report = bytearray()
        self.truncated = False
        self.kept = b""
        self._hear, self._left, self._mark = hear, limit, mark

    def work(self, wires: Wires, keeper: Keeper, stopped: Callable[[], bool]) -> None:
        """Hand on what comes until the run has ended, and what is left in the pipes then."""
        names = {wires.out: "out", wires.err: "err", wires.report: "report"}
        names.pop(-1, None)
        poll = select.poll()
        for number in (*names, keeper.finished):
            poll.register(number, select.POLLIN)
        pause = None if stopped is never else TICK * 1000
        while True:
            ready = [number for number, _event in poll.poll(pause)]
            for number in ready:
                if number in names and not self._pass_on(number, names[number], keeper):
                    poll.unregister(number)
                    del names[number]
            if keeper.finished in ready:
                break
            if not keeper.stopped and stopped():
                keeper.stop()
        for number, name in names.items():
            while not self.truncated and self._pass_on(number, name, keeper):
                pass

    def _pass_on(self, number: int, name: str, keeper: Keeper) -> bool:
        """Hand on what one pipe holds; false when there is no more, now or ever."""
        try:
            data = os.read(number, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            return False
        room = REPORT - len(self.report) if name == "report" else self._left
        if len(data) > room:
            self.truncated = True
            if not keeper.stopped:
                keeper.stop("output")
        self._take(name, data[:room])
        return True

    def _take(self, name: str, data: bytes) -> None:
        if name == "report":
            self.report += data
            return
        self._left -= len(data)
        if name == "err" and self._mark:
            self.kept += data
            if len(self.kept) < _MARKED and self.kept[: len(self._mark)] == self._mark[: len(self.kept)]:
                return
            data, self.kept, self._mark = self.kept, b"", b""
        if data:
            self._hear(name, data)
