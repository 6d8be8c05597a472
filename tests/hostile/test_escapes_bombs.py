"""Scripts that take all they can get, or will not end: each is stopped at its limit, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import time
import uuid
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fakes.jail import USERS, Jail, Lent, alive, jailed

from metier.run.io import limits
from metier.run.model import MIB

if TYPE_CHECKING:
    from metier.run.model import Ran

pytestmark = [pytest.mark.bubblewrap, pytest.mark.python3]

PATIENCE = 20
"""Seconds for what was killed to be gone; nothing is measured by it."""


class Bomb(NamedTuple):
    """A script that goes off, and how it must end."""

    code: str
    stopped: str
    exit: int = 137
    seconds: int = 30
    network: bool = False


FORKS = """
import os, sys, time
print("begun", flush=True)
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.01)
"""
THREADS = """
import threading, time
threading.stack_size(65536)
print("begun", flush=True)
while True:
    try:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    except RuntimeError:
        time.sleep(0.01)
"""
MANY = """
import os, time
print("begun", flush=True)
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(b"x" * (40 << 20))
        time.sleep(60)
time.sleep(60)
"""
SHARED = """
import mmap, os, time
print("begun", flush=True)
held = []
while True:
    page = mmap.mmap(-1, 4 << 20)
    page.write(b"x" * (4 << 20))
    held.append(page)
"""
TABLES = """
import mmap, time
print("begun", flush=True)
page = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
page.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, 1 << 39, 1 << 21):
    page[place]
time.sleep(60)
"""
EMPTY = """
import os, time
print("begun", flush=True)
made = 0
try:
    while made < 1_000_000:
        os.mkdir(f"/scratch/{made}")
        made += 1
except OSError:
    pass
time.sleep(60)
"""
SOCKETS = """
import os, socket, time
print("begun", flush=True)
for _ in range(2):
    os.fork()
held = []
try:
    while True:
        pair = socket.socketpair()
        held.append(pair)
        for one in pair:
            one.setblocking(False)
            try:
                while True:
                    one.send(b"x" * 65536)
            except BlockingIOError:
                pass
except OSError:
    pass
time.sleep(60)
"""
QUICK = """
import os, time
print("begun", flush=True)
while True:
    try:
        if os.fork() == 0 and os.fork() == 0:
            os.setsid()
            time.sleep(60)
    except OSError:
        time.sleep(0.01)
"""
HIDDEN = """
import ctypes, os, threading, time
print("begun", flush=True)
def hold():
    kept = b"x" * (64 << 20)
    time.sleep(60)
for _ in range(8):
    if os.fork() == 0:
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
time.sleep(60)
"""
OUTPUT = """
import os
os.write(1, b"begun")
while True:
    os.write(1, b"x" * 65536)
    os.write(2, b"y" * 65536)
"""
DEAF = """
import os, signal, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
print("begun", flush=True)
"""
TERM = (
    DEAF
    + """
while True:
    time.sleep(60)
"""
)
SPIN = (
    DEAF
    + """
for number in range(3):
    os.close(number)
while True:
    pass
"""
)
STOPPED = """
import os, signal
print("begun", flush=True)
os.kill(os.getppid(), signal.SIGSTOP)
os.kill(0, signal.SIGSTOP)
"""
SLOW = """
import sys, time
while True:
    print("begun", end="", flush=True)
    time.sleep(0.02)
"""
BOMBS = {
    "forks": Bomb(FORKS, "processes"),
    "forks that leave home at once": Bomb(QUICK, "processes"),
    "threads": Bomb(THREADS, "processes"),
    "memory of many": Bomb(MANY, "memory"),
    "memory that is shared": Bomb(SHARED, "memory"),
    "memory for the tables of where memory lies": Bomb(TABLES, "memory"),
    "memory for files with nothing in them": Bomb(EMPTY, "memory"),
    "memory for what waits in sockets": Bomb(SOCKETS, "memory"),
    "memory for what waits in sockets of a script with the network": Bomb(
        SOCKETS, "memory", network=True
    ),
    "memory of processes whose first thread is gone": Bomb(HIDDEN, "memory"),
    "output": Bomb(OUTPUT, "output"),
    "busy, deaf to every signal, with every stream closed": Bomb(SPIN, "time", 124, seconds=1),
    "stopped, with all the others": Bomb(STOPPED, "time", 124, seconds=1),
    "one letter after the other, for ever": Bomb(SLOW, "time", 124, seconds=1),
}


@pytest.fixture
def mark() -> str:
    """Give a word that no other process has among its arguments."""
    return f"mark-{uuid.uuid4().hex}"


def gone(mark: str) -> bool:
    """Wait until no process has a word among its arguments any more."""
    until = time.monotonic() + PATIENCE
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(mark)


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("user", USERS)
def test_a_bomb_is_stopped_at_its_limit_and_nothing_is_left_of_it(
    user: str, name: str, mark: str
) -> None:
    bomb = BOMBS[name]

    ran = jailed(
        user, lambda jail: jail.run(bomb.code, [mark], Lent(bomb.network, seconds=bomb.seconds))
    )

    assert ran.output.startswith("begun")
    assert (bomb.exit, bomb.stopped) == (ran.code, ran.stopped)
    assert gone(mark)


GREED = """
import os
held, taken = [], 0
try:
    while taken < 1024:
        held.append(bytearray(4 << 20))
        taken += 4
except MemoryError:
    print("refused at", taken)
"""


@pytest.mark.parametrize("user", USERS)
def test_one_process_is_refused_more_memory_than_the_whole_run_may_take(user: str) -> None:
    ran = jailed(user, lambda jail: jail.run(GREED))

    said = ran.output.split()
    assert (0, ["refused", "at"]) == (ran.code, said[:2])
    assert 0 < int(said[2]) <= 128


ROOM = """
import socket
for size in (0, 1 << 16, 1 << 23):
    taken = 0
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF) if size else ():
            one.setsockopt(socket.SOL_SOCKET, option, size)
            other.setsockopt(socket.SOL_SOCKET, option, size)
        one.setblocking(False)
        try:
            while True:
                taken += one.send(b"x" * 4096)
        except BlockingIOError:
            pass
    print(taken)
"""


@pytest.mark.parametrize("user", USERS)
def test_no_socket_holds_more_than_it_is_counted_for_whatever_it_is_told(user: str) -> None:
    ran = jailed(user, lambda jail: jail.run(ROOM))

    found = [int(word) for word in ran.output.split()]
    assert (0, 3, 1) == (ran.code, len(found), len(set(found)))
    assert 0 < found[0] <= 2 * limits.SOCKET_BYTES


FILL = """
import errno, os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for folder in ("/scratch", "/tmp", "/home/skill", "/dev/shm", "/var/tmp"):
    taken, why = 0, set()
    for number in range(64):
        file = os.open(f"{folder}/{number}", os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                taken += os.write(file, b"x" * 65536)
        except OSError as error:
            why.add(errno.errorcode[error.errno])
        os.close(file)
    print(folder, taken, *sorted(why))
"""


@pytest.mark.parametrize("user", USERS)
def test_every_folder_of_its_own_has_an_end(user: str) -> None:
    ran = jailed(user, lambda jail: jail.run(FILL))

    rows = [line.split() for line in ran.output.splitlines()]
    assert (0, ["/scratch", "/tmp", "/home/skill", "/dev/shm", "/var/tmp"]) == (
        ran.code,
        [row[0] for row in rows],
    )
    assert all(int(row[1]) <= 4 * MIB for row in rows)
    assert [True] * 4 == [int(row[1]) > MIB for row in rows[:4]]
    assert [["EFBIG", "ENOSPC"]] * 4 == [row[2:] for row in rows[:4]]


STRAY = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("stray", flush=True)
        while True:
            time.sleep(60)
    os._exit(0)
print("main", flush=True)
if sys.argv[2] == "waits":
    time.sleep(0.3)
"""


@pytest.mark.parametrize("how", ["goes at once", "waits"])
@pytest.mark.parametrize("user", USERS)
def test_what_left_home_and_keeps_the_streams_open_ends_with_the_script(
    user: str, how: str, mark: str
) -> None:
    ran = jailed(user, lambda jail: jail.run(STRAY, [mark, how]))

    assert (0, "", True) == (ran.code, ran.stopped, "main" in ran.output)
    assert how != "waits" or "stray" in ran.output
    assert gone(mark)


@pytest.mark.parametrize("user", USERS)
def test_a_run_that_nobody_wants_any_more_leaves_nothing(user: str, mark: str) -> None:
    def task(jail: Jail) -> Ran:
        heard: list[str] = []
        return jail.run(
            FORKS.replace("os.fork()", "time.sleep(0.01)"),
            [mark],
            hear=lambda _stream, text: heard.append(text),
            stopped=lambda: bool(heard),
        )

    ran = jailed(user, task)

    assert (137, "asked", "begun") == (ran.code, ran.stopped, ran.output.strip())
    assert gone(mark)


def tell(writer: int) -> None:
    """Say that it has begun."""
    os.write(writer, b".")


@pytest.mark.parametrize("user", USERS)
def test_a_run_whose_metier_is_killed_leaves_nothing(user: str, mark: str) -> None:
    def task(jail: Jail) -> int:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                jail.run(TERM, [mark], hear=lambda _stream, _text: tell(writer))
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as begun:
            said = begun.read(1)
        os.kill(child, signal.SIGKILL)
        return len(said) + os.WTERMSIG(os.waitpid(child, 0)[1])

    killed = jailed(user, task)

    assert 1 + signal.SIGKILL == killed
    assert gone(mark)


DUMP = """
import os, resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print(*resource.getrlimit(resource.RLIMIT_CORE), flush=True)
os.abort()
"""


@pytest.mark.parametrize("user", USERS)
def test_what_a_crash_leaves_is_handed_to_nobody_outside(user: str) -> None:
    ran = jailed(user, lambda jail: jail.run(DUMP))

    # The kernel pipes a dump to a program of the machine's, as root, at any limit but this one; the script cannot lower it.
    assert ("1 1\n", 128 + signal.SIGABRT) == (ran.output, ran.code)
