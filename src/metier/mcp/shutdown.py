"""Stops a server in order when a signal says so, and sees to it that no running script outlives it.

A server that is told again, and has had its time, ends at once. What became of each script is noted
down first.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ECHO_SECONDS = 1.0
"""How long a signal may come again and mean the same: a terminal tells everybody, and whoever
started us may hand it on."""


def can_hear_signals() -> bool:
    """Tell whether signals can be heard here: only the main thread gets them."""
    return sys.platform != "win32" and threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def stop_on_signal(end: Callable[[], None]) -> Iterator[None]:
    """Do `end` in the loop that runs when a signal says to stop, where signals are ours; the next
    one is the system's again.
    """
    if not can_hear_signals():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _signals()}
    timers: list[asyncio.TimerHandle] = []

    def told() -> None:
        if not timers:
            timers.append(loop.call_later(ECHO_SECONDS, _restore_default, loop, tuple(before)))
            end()

    for number in before:
        loop.add_signal_handler(number, told)
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
        _restore_default(loop, tuple(before))
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _signals() -> list[signal.Signals]:
    """Name the signals; who is told to outlive its terminal does."""
    found = [signal.SIGINT, signal.SIGTERM]
    return found if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [*found, signal.SIGHUP]


def _restore_default(loop: asyncio.AbstractEventLoop, numbers: tuple[signal.Signals, ...]) -> None:
    """Let the system end the process on the next signal, whatever the process is waiting for."""
    for number in numbers:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)


STOP_WAIT_SECONDS = 20.0
"""How many seconds the end waits for scripts that were told to stop."""


class RunningScripts:
    """The runs of one server."""

    def __init__(self) -> None:
        """Begin with none."""
        self._changed = threading.Condition()
        self._many = 0
        self._over = False

    @contextlib.contextmanager
    def one(self) -> Iterator[bool]:
        """Hold the end up for one run; tells whether it may begin at all."""
        with self._changed:
            may = not self._over
            self._many += may
        try:
            yield may
        finally:
            with self._changed:
                self._many -= may
                self._changed.notify_all()

    def is_over(self) -> bool:
        """Tell whether every run is to stop."""
        return self._over

    def begin(self) -> None:
        """Let runs begin; a server may serve again."""
        self._over = False

    def end(self) -> bool:
        """Have every run stop, and wait for them; tells whether all did."""
        with self._changed:
            self._over = True
            return self._changed.wait_for(lambda: not self._many, STOP_WAIT_SECONDS)
