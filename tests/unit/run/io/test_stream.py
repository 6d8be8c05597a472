"""A run in its two threads, with something in the program's place that does as a test wants: nothing is cut short."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from metier.run.io.descriptors import Descriptors
from metier.run.io.stream import ProgramPipes, RunCallbacks, RunThread, drive
from metier.run.model import RunLimits, never

if TYPE_CHECKING:
    from collections.abc import Callable


class Guest:
    """A tenant that never ends by itself, and takes its time when it is ended."""

    def __init__(self, ends: Descriptors, at_the_end: Callable[[], None]) -> None:
        """Note what happens to it."""
        self.started = self.ended = False
        self._ends, self._at_the_end = ends, at_the_end

    def start(self, _until: float, _over: Callable[[], bool]) -> int:
        """Give a descriptor that is never ready."""
        self.started = True
        return self._ends.pipe()[0]

    def exceeded(self) -> str:
        """Cross no limit."""
        return ""

    def end(self) -> None:
        """End, in the end."""
        self._at_the_end()
        self.ended = True


def wires(ends: Descriptors) -> ProgramPipes:
    return ProgramPipes(ends.pipe()[1], ends.pipe()[0], ends.pipe()[0])


def interrupted() -> bool:
    raise KeyboardInterrupt


def unheard(_name: str, _data: bytes) -> None:
    """Hear nothing."""


def test_a_second_interrupt_does_not_cut_the_end_of_a_run_short() -> None:
    def press_again() -> None:
        for _press in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)

    with Descriptors() as ends:
        guest = Guest(ends, press_again)

        with pytest.raises(KeyboardInterrupt):
            drive(guest, ends, wires(ends), RunLimits(), RunCallbacks(unheard, None, interrupted))

        assert guest.ended


def test_a_keeper_that_was_closed_before_it_began_starts_nothing() -> None:
    with Descriptors() as ends:
        guest = Guest(ends, lambda: None)
        keeper = RunThread(guest, ends, 60)

        keeper.close()
        keeper.begin()
        keeper.close()

    assert (False, False) == (guest.started, guest.ended)


def test_who_feeds_a_run_may_stop_it_long_after_its_end() -> None:
    with Descriptors() as ends:
        keeper = RunThread(Guest(ends, lambda: None), ends, 60)
        keeper.begin()

        keeper.close()
        keeper.stop("asked")

        assert "asked" == keeper.stopped


def test_no_thread_is_left_of_a_run() -> None:
    before = threading.active_count()

    with Descriptors() as ends:
        finish = drive(
            Guest(ends, lambda: None),
            ends,
            wires(ends),
            RunLimits(seconds=0),
            RunCallbacks(unheard, lambda _size: b"", never),
        )

    assert ("time", before) == (finish.stopped, threading.active_count())
