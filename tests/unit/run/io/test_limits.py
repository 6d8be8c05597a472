"""What a run takes, counted from outside, without any help of the kernel's groups."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from fakes.ordinary import as_ordinary

from metier.run.io import limits
from metier.run.io.limits import OPEN_FILES
from metier.run.model import MIB, RunLimits


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    """Give a process with a child that has left its session, and one below that."""
    line = "setsid sh -c 'sleep 600 & echo ready; wait' & wait"
    process = subprocess.Popen(["/bin/sh", "-c", line], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as pipe:
        pipe.readline()
        yield process
    for pid in limits.descendants(process.pid):
        subprocess.run(["kill", "-9", str(pid)], check=False)
    process.kill()
    process.wait()


@pytest.mark.parametrize("listed", [True, False])
def test_descendants_of_every_session_are_found(
    family: subprocess.Popen[bytes], listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_listed", lambda: listed)

    found = limits.descendants(family.pid)

    assert 2 == len(found)
    assert family.pid not in found


@pytest.mark.parametrize(
    ("bounds", "over"),
    [
        (RunLimits(), ""),
        (RunLimits(processes=1), "processes"),
        (RunLimits(memory_bytes=4096), "memory"),
        (RunLimits(processes=1, memory_bytes=4096), "processes"),
    ],
)
def test_the_limit_that_was_crossed_is_named(
    family: subprocess.Popen[bytes], bounds: RunLimits, over: str
) -> None:
    assert over == limits.exceeded_limit(family.pid, bounds)


GONE_FIRST = """
import ctypes, os, threading, time
def hold():
    kept = b"x" * (64 << 20)
    print("ready", flush=True)
    time.sleep(600)
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
"""


def test_memory_counts_where_the_thread_that_began_is_gone() -> None:
    with subprocess.Popen(
        [sys.executable, "-S", "-c", GONE_FIRST], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()

        over = [
            limits.exceeded_limit(process.pid, RunLimits(memory_bytes=size * MIB))
            for size in (32, 512)
        ]

        process.kill()
    assert ["memory", ""] == over


HOLDING = """
import os, socket, sys
kept = [open(f"/tmp/{number}", "x").close() for number in range(300)] + [socket.socket(socket.AF_UNIX) for _ in range(20)]
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.mark.bubblewrap
@pytest.mark.python3
def test_the_kernel_s_own_memory_for_empty_files_and_for_sockets_is_counted() -> None:
    line = [
        "bwrap",
        "--unshare-all",
        "--ro-bind",
        "/",
        "/",
        "--tmpfs",
        "/tmp",
        "--",
        "/usr/bin/python3",
        "-S",
        "-c",
        HOLDING,
    ]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        inside = limits.descendants(process.pid)[0]

        alone, shared = (limits.kernel_memory(inside, network=network) for network in (False, True))

        process.communicate()
    assert all(300 * limits.FILE_BYTES + 20 * limits.SOCKET_BYTES <= one for one in (alone, shared))


FORKED = """
import os, socket, sys
kept = socket.socketpair()
os.fork()
os.write(1, b"x")
sys.stdin.read()
"""
UNSHARED = """
import ctypes, os, socket, sys, threading
def hold():
    assert ctypes.CDLL(None).syscall(436, 1000, 1000, 2) == 0  # which gives this thread descriptors of its own
    kept = socket.socketpair()
    os.write(1, b"xx")
    sys.stdin.read()
threading.Thread(target=hold).start()
"""
ENDED = """
import os, socket, sys
kept = socket.socketpair()
child = os.fork()
if child == 0:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
os.write(1, b"xx")
sys.stdin.read()
"""


def held(code: str) -> tuple[bytes, int]:
    """Start a program, wait until it has sockets, and count them."""
    with subprocess.Popen(
        ["/usr/bin/python3", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        begun = process.stdout.read(2)

        found = limits._held_sockets(process.pid)  # noqa: SLF001 - its files are the machine's, and are counted too

        process.communicate()
    return begun, found


HIDDEN = """
import ctypes, os, sys, threading
ctypes.CDLL(None).prctl(4, 0)  # from now on nobody may look into it
for _ in range(6):
    threading.Thread(target=sys.stdin.read, daemon=True).start()
os.write(1, b"xx")
sys.stdin.read()
"""


@pytest.mark.python3
def test_a_program_that_nobody_may_read_counts_once_however_many_threads_it_has() -> None:
    begun, found = as_ordinary(lambda: held(HIDDEN))

    assert (b"xx", OPEN_FILES) == (begun, found)


@pytest.mark.python3
@pytest.mark.parametrize("code", [FORKED, UNSHARED, ENDED])
def test_a_socket_counts_once_whoever_has_it_open_and_who_has_ended_has_none(code: str) -> None:
    as_root, as_other = held(code), as_ordinary(lambda: held(code))

    assert [(b"xx", 2)] * 2 == [as_root, as_other]


def test_what_is_gone_has_nothing_beside_it() -> None:
    process = subprocess.Popen(["/bin/true"])
    process.wait()

    assert [0, 0] == [
        limits.kernel_memory(process.pid, network=network) for network in (False, True)
    ]


def test_what_others_count_is_not_counted_again(family: subprocess.Popen[bytes]) -> None:
    assert "" == limits.exceeded_limit(
        family.pid, RunLimits(processes=1, memory_bytes=MIB), tasks=False, memory=False
    )


def test_a_process_that_is_gone_takes_nothing() -> None:
    process = subprocess.Popen(["/bin/true"])
    process.wait()

    assert "" == limits.exceeded_limit(process.pid, RunLimits(processes=0, memory_bytes=0))
