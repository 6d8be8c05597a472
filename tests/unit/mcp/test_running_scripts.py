"""Runs that the end waits for."""

from __future__ import annotations

import threading

import pytest

from metier.mcp import shutdown
from metier.mcp.shutdown import RunningScripts


def test_the_end_tells_every_run_to_stop_and_waits_for_it() -> None:
    runs, begun, noted = RunningScripts(), threading.Event(), []

    def run() -> None:
        with runs.one():
            begun.set()
            while not runs.is_over():
                pass
            noted.append("stopped")

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait()
    ended = runs.end()
    seen = list(noted)
    thread.join()

    assert (True, ["stopped"]) == (ended, seen)


def test_nothing_begins_after_the_end_until_it_begins_anew() -> None:
    runs = RunningScripts()
    runs.end()

    with runs.one() as late:
        pass
    runs.begin()
    with runs.one() as again:
        pass

    assert (False, True) == (late, again)


def test_a_run_that_does_not_stop_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutdown, "STOP_WAIT_SECONDS", 0.01)
    runs = RunningScripts()

    with runs.one():
        ended = runs.end()

    assert not ended
