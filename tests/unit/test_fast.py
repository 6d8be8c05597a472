"""The collector rests during bulk work, and is as it was afterwards, however many threads are at it."""

from __future__ import annotations

import gc
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from metier.fast import VALUES_BETWEEN_COLLECTIONS, CollectorOff, collect_rarely

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    gc.enable()


def test_it_rests_inside_and_works_again_outside() -> None:
    with CollectorOff():
        inside = gc.isenabled()
        with CollectorOff():
            deeper = gc.isenabled()
        after = gc.isenabled()

    assert (False, False, False, True) == (inside, deeper, after, gc.isenabled())


def test_a_command_looks_for_garbage_rarely_and_still_does() -> None:
    before = gc.get_threshold()

    collect_rarely()
    rarely = gc.get_threshold()
    gc.set_threshold(*before)

    assert (VALUES_BETWEEN_COLLECTIONS, *before[1:]) == rarely
    assert gc.isenabled()


def test_one_that_was_off_stays_off() -> None:
    gc.disable()

    with CollectorOff():
        pass

    assert not gc.isenabled()


def test_the_last_thread_to_leave_turns_it_on_again() -> None:
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with CollectorOff():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    with CollectorOff():
        thread.start()
        entered.wait()
    between = gc.isenabled()
    leave.set()
    thread.join()

    assert (False, True) == (between, gc.isenabled())


def test_threads_that_come_and_go_never_leave_it_off() -> None:
    def work() -> None:
        for _ in range(2_000):
            with CollectorOff():
                pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    before, failed = sys.getswitchinterval(), []
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        failed = [] if gc.isenabled() else ["left off"]
    finally:
        sys.setswitchinterval(before)

    assert [] == failed


def test_a_forked_process_counts_nobody_as_inside() -> None:
    lock = CollectorOff.lock
    with CollectorOff():
        CollectorOff.renew()
        inside = gc.isenabled()

    assert (True, True, 0) == (inside, gc.isenabled(), CollectorOff.inside)
    assert lock is not CollectorOff.lock


def test_a_collector_that_was_off_before_stays_off_in_a_forked_process() -> None:
    gc.disable()
    with CollectorOff():
        CollectorOff.renew()

    assert not gc.isenabled()
