"""Signals that tell a server to end: it does so in order; one that is told again, and has had its time, ends at once."""

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
"""How long a signal may come again and mean the same: a terminal tells everybody, and whoever started us may hand it on."""


def is_ours() -> bool:
    """Tell whether signals can be heard here: only the main thread gets them."""
    return sys.platform != "win32" and threading.current_thread() is threading.main_thread()


@contextlib.contextmanager
def heeded(end: Callable[[], None]) -> Iterator[None]:
    """Do `end` in the loop that runs when a signal says to stop, where signals are ours; the next one is the system's again."""
    if not is_ours():
        yield
        return
    loop, before = asyncio.get_running_loop(), {number: signal.getsignal(number) for number in _numbers()}
    timers: list[asyncio.TimerHandle] = []

    def told() -> None:
        if not timers:
            timers.append(loop.call_later(ECHO_SECONDS, _let_go, loop, tuple(before)))
            end()

    for number in before:
        loop.add_signal_handler(number, told)
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()
        _let_go(loop, tuple(before))
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _numbers() -> list[signal.Signals]:
    """Name the signals; who is told to outlive its terminal does."""
    found = [signal.SIGINT, signal.SIGTERM]
    return found if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [*found, signal.SIGHUP]


def _let_go(loop: asyncio.AbstractEventLoop, numbers: tuple[signal.Signals, ...]) -> None:
    """Let the system end the process on the next signal, whatever the process is waiting for."""
    for number in numbers:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)
