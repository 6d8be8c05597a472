"""What a run takes, counted from outside, without any help of the kernel's groups."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from metier.execute.watchdog import proc as watchdog
from metier.runs import MIB, Bounds


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process with a child that has left its session, and one below that."""
    line = "setsid sh -c 'sleep 600 & echo ready; wait' & wait"
    process = subprocess.Popen(["/bin/sh", "-c", line], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as pipe:
        pipe.readline()
        yield process
    for pid in watchdog.descendants(process.pid):
        subprocess.run(["kill", "-9", str(pid)], check=False)
    process.kill()
    process.wait()


@pytest.mark.parametrize("listed", [True, False])
def test_descendants_of_every_session_are_found(family: subprocess.Popen[bytes], listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_listed", lambda: listed)

    found = watchdog.descendants(family.pid)

    assert 2 == len(found)
    assert family.pid not in found


@pytest.mark.parametrize(
    ("bounds", "over"),
    [
        (Bounds(), ""),
        (Bounds(processes=1), "processes"),
        (Bounds(memory_bytes=4096), "memory"),
        (Bounds(processes=1, memory_bytes=4096), "processes"),
    ],
)
def test_the_limit_that_was_crossed_is_named(family: subprocess.Popen[bytes], bounds: Bounds, over: str) -> None:
    assert over == watchdog.exceeded(family.pid, bounds)


def test_what_others_count_is_not_counted_again(family: subprocess.Popen[bytes]) -> None:
    assert "" == watchdog.exceeded(family.pid, Bounds(processes=1, memory_bytes=MIB), tasks=False, memory=False)


def test_a_process_that_is_gone_takes_nothing() -> None:
    process = subprocess.Popen(["/bin/true"])
    process.wait()

    assert "" == watchdog.exceeded(process.pid, Bounds(processes=0, memory_bytes=0))
