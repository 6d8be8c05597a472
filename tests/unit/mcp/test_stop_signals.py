"""Signals that tell a server to end."""

from __future__ import annotations

import os
import signal
import threading

import anyio
import pytest
from doors.command import python

from metier.mcp import shutdown

TWICE = """
import anyio, os, signal
from metier.mcp import shutdown
shutdown.ECHO_SECONDS = 0
async def main():
    told = anyio.Event()
    with shutdown.stop_on_signal(told.set):
        os.kill(os.getpid(), signal.{0})
        await told.wait()
        await anyio.sleep(0.05)
        os.kill(os.getpid(), signal.{0})
        await anyio.sleep_forever()
anyio.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_comes_again_at_once_is_one_and_afterwards_all_is_as_before(
    number: signal.Signals,
) -> None:
    before, told = signal.getsignal(number), []

    async def main() -> None:
        with shutdown.stop_on_signal(lambda: told.append(number)):
            os.kill(os.getpid(), number)
            with anyio.fail_after(30):
                while not told:  # noqa: ASYNC110 - what is told is what is tested
                    await anyio.sleep(0.001)
            os.kill(os.getpid(), number)
            await anyio.sleep(0.01)

    anyio.run(main)

    assert ([number], before) == (told, signal.getsignal(number))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_whoever_is_told_again_later_ends_at_once(name: str) -> None:
    answer = python({}, "-c", TWICE.format(name))

    assert (-getattr(signal, name), "") == (answer.code, answer.err)


def test_another_thread_leaves_signals_alone() -> None:
    found = []

    async def main() -> None:
        with shutdown.stop_on_signal(lambda: None):
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=anyio.run, args=(main,))
    thread.start()
    thread.join()

    assert [signal.getsignal(signal.SIGTERM)] == found


def test_whoever_is_to_outlive_the_terminal_does() -> None:
    before, told = signal.signal(signal.SIGHUP, signal.SIG_IGN), []

    async def main() -> None:
        with shutdown.stop_on_signal(lambda: told.append(True)):
            os.kill(os.getpid(), signal.SIGHUP)
            await anyio.sleep(0.01)

    try:
        anyio.run(main)
    finally:
        signal.signal(signal.SIGHUP, before)

    assert [] == told
