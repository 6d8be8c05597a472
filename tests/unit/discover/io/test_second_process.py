"""Tasks that copies of a process share: each is done once, and no copy outlives whoever asked."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from doors.command import environment

# A process copies itself only while it has one thread, and whoever runs tests in parallel has more.
ALONE = """
import json, os, sys
from contextlib import closing
from metier.discover.io import second_process
second_process.cores = lambda: 4
parent = os.getpid()
{body}
"""


def alone(body: str) -> object:
    """Run a program by itself, and give what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE.format(body=body)],
        env=environment({}),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_every_task_is_done_once_whoever_does_it() -> None:
    told = alone("""
found = list(second_process.share_tasks(5_000, lambda number: b"%d" % number * (number % 7), 3))
print(json.dumps(sorted((number, answer.decode()) for number, answer in found)))
""")

    assert [[number, str(number) * (number % 7)] for number in range(5_000)] == told


def test_an_answer_may_be_longer_than_a_pipe_is_wide() -> None:
    told = alone("""
found = list(second_process.share_tasks(6, lambda number: bytes([number]) * 5_000_000, 2))
print(json.dumps(sorted((number, len(answer), answer[-1]) for number, answer in found)))
""")

    assert [[number, 5_000_000, number] for number in range(6)] == told


def test_what_a_copy_died_of_has_no_answer_and_the_rest_has() -> None:
    told = alone("""
def work(number):
    if os.getpid() != parent:
        os._exit(3)
    return b"done"
found = list(second_process.share_tasks(200, work, 2))
print(json.dumps([len(found), {answer.decode() for number, answer in found} == {"done"}]))
""")

    assert isinstance(told, list)
    assert 198 <= told[0] <= 200
    assert told[1]


@pytest.mark.parametrize("end", ["break", "raise ValueError"])
def test_whoever_stops_early_leaves_no_copy_behind(end: str) -> None:
    told = alone(f"""
try:
    with closing(second_process.share_tasks(10**6, lambda number: b"x", 3)) as work:
        for one in work:
            {end}
except ValueError:
    pass
try:
    os.waitpid(-1, os.WNOHANG)
    print("true")
except ChildProcessError:
    print("false")
""")

    assert told is False


def test_nothing_is_done_where_no_copy_can_be_made() -> None:
    assert 0 == alone("""
second_process.cores = lambda: 1
print(len(list(second_process.share_tasks(100, lambda number: b"", 3))))
""")


@pytest.mark.parametrize("where", ["at work", "between"])
def test_whoever_is_interrupted_gets_what_the_copies_have_done(where: str) -> None:
    told = alone(f"""
import fcntl, time
where = {where!r}
calls = os.memfd_create("calls")
fcntl.fcntl(calls, fcntl.F_SETFL, os.O_APPEND)  # else two copies write at one place, and one call is lost
mine = 0
def work(number):
    global mine
    mine += 1
    if os.getpid() != parent:
        os.write(calls, b"x")
        if mine > 10:  # ten answers are on their way by now
            time.sleep(600)
    elif where == "at work" or mine == 1:
        while os.fstat(calls).st_size < 22:
            time.sleep(0.01)
        if where == "at work":
            raise KeyboardInterrupt
    return b"done"
found, stopped = dict(), False
with closing(second_process.share_tasks(1_000, work, 2)) as tasks:
    try:
        for number, answer in tasks:
            found[number] = answer
            if where == "between":
                raise KeyboardInterrupt
    except KeyboardInterrupt as stop:
        stopped = True
        try:
            found.update([tasks.throw(stop)])
            found.update(tasks)
        except KeyboardInterrupt:
            pass
print(json.dumps([stopped, len(found)]))
""")

    assert [True, 20 if where == "at work" else 21] == told
