"""The sandbox as a process: what it hands on, what it stops, and that nothing is ever left of a run."""

from __future__ import annotations

import gc
import os
import re
import resource
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from fakes.jail import alive
from fakes.ordinary import as_ordinary, open_folder

from metier.errors import SandboxError
from metier.run.io import cgroup, limits
from metier.run.io.bubblewrap import Bubblewrap
from metier.run.io.machine import WORKING_LAYERS
from metier.run.model import MIB, Cage, Mount, RunEnded, RunLimits, never

pytestmark = [pytest.mark.bubblewrap, pytest.mark.python3]

SMALL = RunLimits(
    seconds=30,
    memory_bytes=128 * MIB,
    processes=16,
    output_bytes=MIB,
    scratch_bytes=4 * MIB,
    file_bytes=64 * MIB,
)
PYTHON = "/usr/bin/python3"


class Caught(NamedTuple):
    """A run, and what it printed."""

    ended: RunEnded
    out: str
    err: str


def caught(
    command: tuple[str, ...],
    bounds: RunLimits = SMALL,
    feed: Callable[[int], bytes] | None = None,
    stopped: Callable[[], bool] = never,
    *,
    reports: bool = False,
    mounts: tuple[Mount, ...] = (),
) -> Caught:
    heard: dict[str, list[bytes]] = {"out": [], "err": []}
    cage = Cage(
        command,
        mounts,
        environment=(("PATH", "/usr/bin:/bin"), ("GREETING", "hello")),
        bounds=bounds,
        reports=reports,
    )
    ended = Bubblewrap().run(cage, lambda name, data: heard[name].append(data), feed, stopped)
    return Caught(ended, b"".join(heard["out"]).decode(), b"".join(heard["err"]).decode())


def shell(line: str) -> tuple[str, ...]:
    return "/bin/sh", "-c", line


def python(code: str) -> tuple[str, ...]:
    return PYTHON, "-S", "-c", code


def fed(*parts: bytes) -> Callable[[int], bytes]:
    given = iter((*parts, b""))
    return lambda _size: next(given)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(params=["as we are", "as an ordinary user"])
def as_user(request: pytest.FixtureRequest) -> Callable[[Callable[[], Caught]], Caught]:
    """Give what runs a piece of a test as this user, and as an ordinary one."""
    return as_ordinary if request.param == "as an ordinary user" else lambda task: task()


@pytest.fixture
def mark() -> str:
    """Give a word that no other process has among its arguments."""
    return f"mark-{uuid.uuid4().hex}"


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """Every test leaves as many descriptors, threads and groups as it found."""
    gc.collect()  # what other tests left open is closed now, and not in between
    before = descriptors(), threading.active_count()

    yield

    assert before == (descriptors(), threading.active_count())
    assert [] == [
        name
        for place in cgroup.find().places
        for name in os.listdir(place.folder)
        if f"metier-{os.getpid()}-" in name
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [("true", 0), ("exit 3", 3), ("exit 125", 125), ("kill -9 $$", 137), ("kill -15 $$", 143)],
)
def test_the_exit_code_is_the_program_s_own(line: str, code: int) -> None:
    run = caught(shell(line))

    assert (code, "") == (run.ended.code, run.ended.stopped)


def test_both_streams_arrive_apart_and_the_environment_is_the_cage_s_alone() -> None:
    run = caught(shell("env; echo wrong >&2"))

    assert {"PATH=/usr/bin:/bin", "GREETING=hello", "PWD=/scratch"} == set(run.out.splitlines())
    assert "wrong\n" == run.err


def test_output_arrives_before_the_program_ends() -> None:
    answers: list[bytes] = []

    def hear(_name: str, data: bytes) -> None:
        answers.append(data)
        said.set()

    said = threading.Event()
    feed = iter((b"go\n", b""))

    def wait(_size: int) -> bytes:
        assert said.wait(
            30
        )  # the program cannot end before it is fed, and is not fed before it was heard
        return next(feed)

    ended = Bubblewrap().run(
        Cage(shell("echo first; read line; echo $line"), bounds=SMALL), hear, wait
    )

    assert (0, b"first\ngo\n") == (ended.code, b"".join(answers))


def test_an_argument_is_never_read_by_a_shell() -> None:
    run = caught(("/usr/bin/printf", "%s\n", "$(id); rm -rf / #", "--", "a b"))

    assert "$(id); rm -rf / #\n--\na b\n" == run.out


def test_a_program_has_no_descriptor_but_its_pipes(
    as_user: Callable[[Callable[[], Caught]], Caught],
) -> None:
    code = "import os; print({int(n): os.readlink(f'/proc/self/fd/{n}').split(':')[0] for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')})"
    with open_folder() as folder:
        run = as_user(lambda: caught(python(code), reports=True, mounts=(Mount(folder, "/skill"),)))

    assert re.fullmatch(r"\{0: 'pipe', 1: 'pipe', 2: 'pipe', \d+: 'pipe'\}\n", run.out), run


def test_what_is_mounted_can_be_read_and_is_not_changed_unless_lent_for_that() -> None:
    with open_folder() as read, open_folder() as write:
        mounts = (Mount(read, "/skill"), Mount(write, "/work", writable=True))
        run = caught(
            shell("echo a > /work/a && echo written; echo b > /skill/b || echo refused"),
            mounts=mounts,
        )
        found = os.listdir(read), os.listdir(write)

    assert "written\nrefused\n" == run.out
    assert ([], ["a"]) == found


def test_standard_input_is_fed_and_ended() -> None:
    run = caught(shell("cat; echo end"), feed=fed(b"one ", b"two "))

    assert "one two end\n" == run.out


def test_without_a_feed_standard_input_is_empty() -> None:
    assert "end\n" == caught(shell("cat; echo end")).out


def test_a_program_that_does_not_read_its_input_ends_all_the_same() -> None:
    run = caught(shell("exec <&-; echo done"), feed=lambda size: b"x" * size)

    assert (0, "done\n") == (run.ended.code, run.out)


def test_a_feed_that_never_comes_back_holds_nothing_up() -> None:
    waiting = threading.Event()

    def feed(_size: int) -> bytes:
        waiting.wait(30)
        return b""

    run = caught(shell("echo done"), feed=feed)
    waiting.set()
    _settle()

    assert (0, "done\n") == (run.ended.code, run.out)


def _settle() -> None:
    """Wait until the threads that feed have seen that nobody listens."""
    for thread in threading.enumerate():
        if thread.name == "metier-feeder":
            thread.join(30)


def test_a_report_comes_back_beside_the_output() -> None:
    code = "import os; os.write(int(os.environ['METIER_REPORT']), b'{}' * 100_000); print('shown')"

    run = caught(python(code), reports=True)

    assert (b"{}" * 100_000, "shown\n") == (run.ended.report, run.out)


def test_a_report_that_never_ends_is_stopped() -> None:
    run = caught(
        python("import os\nwhile True: os.write(int(os.environ['METIER_REPORT']), b'x' * 65536)"),
        reports=True,
    )

    assert ("output", 4 * MIB, True) == (
        run.ended.stopped,
        len(run.ended.report),
        run.ended.truncated,
    )


def test_a_program_that_is_not_there_is_refused() -> None:
    with pytest.raises(SandboxError) as raised:
        caught(("/usr/bin/no-such-program",))

    assert ("no-program", True) == (raised.value.code, "No such file" in raised.value.message)


@pytest.mark.parametrize(
    ("name", "value"), [("A", "\ud800"), ("A", "x\0y"), ("A=B", "x"), ("", "x")]
)
def test_a_variable_that_no_program_can_be_given_is_refused(name: str, value: str) -> None:
    with pytest.raises(SandboxError) as raised:
        Bubblewrap().run(
            Cage(shell("true"), environment=((name, value),)), lambda _name, _data: None
        )

    assert "sandbox-variable" == raised.value.code


def test_a_program_that_speaks_like_bubblewrap_is_not_taken_for_it() -> None:
    words = "bwrap: execvp x: No such file or directory"

    run = caught(shell(f"echo '{words}' >&2; exit 1"))

    assert (1, f"{words}\n") == (run.ended.code, run.err)


def test_a_sandbox_that_cannot_be_set_up_says_so_in_bubblewrap_s_words() -> None:
    with pytest.raises(SandboxError) as raised:
        caught(
            ("/usr/bin/true",), mounts=(Mount("/usr/bin/true", "/usr/share/no-such-folder/true"),)
        )

    assert "sandbox" == raised.value.code
    assert raised.value.message.startswith("the sandbox could not be set up: ")
    assert raised.value.hint


def test_one_that_failed_just_before_it_is_let_go_says_so_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def set_late(pid: int, _bounds: RunLimits) -> bool:
        while os.path.exists(f"/proc/{pid}"):
            time.sleep(0.01)
        return True

    monkeypatch.setattr(limits, "set_limits", set_late)

    with pytest.raises(SandboxError) as raised:
        caught(
            ("/usr/bin/true",), mounts=(Mount("/usr/bin/true", "/usr/share/no-such-folder/true"),)
        )

    assert raised.value.message.startswith("the sandbox could not be set up: ")


def test_time_ends_a_program_that_ignores_every_signal_and_its_children_of_another_session(
    as_user: Callable[[Callable[[], Caught]], Caught], mark: str
) -> None:
    code = f"""
import os, signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
print("ready", flush=True)
time.sleep(600)
{mark!r}
"""

    run = as_user(lambda: caught(python(code), SMALL._replace(seconds=1)))

    assert (124, "time", "ready\n", []) == (run.ended.code, run.ended.stopped, run.out, alive(mark))


def test_the_end_of_the_program_is_the_end_of_what_it_left_behind(
    as_user: Callable[[Callable[[], Caught]], Caught], mark: str
) -> None:
    run = as_user(lambda: caught(shell(f"setsid sh -c 'sleep 600; : {mark}' & echo done; exit 7")))

    assert (7, "", "done\n", []) == (run.ended.code, run.ended.stopped, run.out, alive(mark))


def test_a_program_that_closes_its_streams_is_still_waited_for() -> None:
    run = caught(shell("exec >&- 2>&-; sleep 0.2; exit 5"))

    assert 5 == run.ended.code


def test_a_fork_bomb_is_stopped(
    as_user: Callable[[Callable[[], Caught]], Caught], mark: str
) -> None:
    code = f"import os, time\nwhile True:\n try: os.fork()\n except OSError: time.sleep(0.01)\n{mark!r}"

    run = as_user(lambda: caught(python(code)))

    assert (137, "processes", []) == (run.ended.code, run.ended.stopped, alive(mark))


def test_memory_of_one_process_is_limited(
    as_user: Callable[[Callable[[], Caught]], Caught],
) -> None:
    run = as_user(lambda: caught(python("b'x' * 200_000_000")))

    assert (1, True) == (run.ended.code, "MemoryError" in run.err)


def test_memory_of_many_processes_is_limited(
    as_user: Callable[[Callable[[], Caught]], Caught], mark: str
) -> None:
    code = f"import os, time\nfor _ in range(8):\n if os.fork() == 0: x = bytearray(b'x' * 40_000_000); time.sleep(600)\ntime.sleep(600)\n{mark!r}"

    run = as_user(lambda: caught(python(code)))

    assert (137, "memory", []) == (run.ended.code, run.ended.stopped, alive(mark))


def test_memory_that_processes_share_is_counted_once(
    as_user: Callable[[Callable[[], Caught]], Caught],
) -> None:
    code = "import os, time\nx = b'x' * 40_000_000\nfor _ in range(8):\n if os.fork() == 0: time.sleep(0.3); os._exit(0)\nfor _ in range(8): os.wait()\nprint('fine')"

    run = as_user(lambda: caught(python(code)))

    assert (0, "", "fine\n") == (run.ended.code, run.ended.stopped, run.out)


@pytest.mark.parametrize("folder", ["/scratch", "/tmp", "/home/skill", "/dev/shm"])
def test_a_folder_of_its_own_has_a_size(folder: str) -> None:
    run = caught(shell(f"head -c 20000000 /dev/zero > {folder}/big; stat -c %s {folder}/big"))

    assert (4 * MIB, True) == (int(run.out), "No space left" in run.err)


def test_a_folder_that_is_lent_grows_no_more_than_it_may(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"x" * 3 * MIB)
    mounts = (Mount(str(tmp_path), "/lent", writable=True),)
    bounds = SMALL._replace(seconds=60, lent_bytes=2 * MIB)
    little = "rm /lent/old; head -c 4000000 /dev/zero > /lent/a"
    endless = "i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero > /lent/$i; done"

    fine = caught(shell(f"{little}; sleep 1"), bounds, mounts=mounts)
    stopped = caught(shell(endless), bounds, mounts=mounts)

    assert (0, "") == (fine.ended.code, fine.ended.stopped)  # what went makes room for what comes
    assert (137, "lent") == (stopped.ended.code, stopped.ended.stopped)
    assert (tmp_path / "1").exists()  # nothing of it is taken back


def test_a_single_file_has_a_size(as_user: Callable[[Callable[[], Caught]], Caught]) -> None:
    run = as_user(
        lambda: caught(
            shell("head -c 3000000 /dev/zero > /scratch/big; stat -c %s /scratch/big"),
            SMALL._replace(file_bytes=MIB),
        )
    )

    assert MIB == int(run.out)


def test_output_ends_at_its_limit(
    as_user: Callable[[Callable[[], Caught]], Caught], mark: str
) -> None:
    run = as_user(lambda: caught(shell(f"yes {mark}")))

    assert (137, "output", True, MIB, []) == (
        run.ended.code,
        run.ended.stopped,
        run.ended.truncated,
        len(run.out),
        alive(mark),
    )


def test_output_up_to_the_limit_is_whole() -> None:
    run = caught(shell(f"head -c {MIB} /dev/zero"))

    assert (0, "", False, MIB) == (
        run.ended.code,
        run.ended.stopped,
        run.ended.truncated,
        len(run.out),
    )


def test_a_caller_who_asks_for_it_ends_a_run(mark: str) -> None:
    run = caught(shell(f"sleep 600; : {mark}"), stopped=lambda: bool(alive(mark)))

    assert (137, "asked", []) == (run.ended.code, run.ended.stopped, alive(mark))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_the_listener_raises_is_raised_again_when_nothing_is_left(
    error: type[BaseException], mark: str
) -> None:
    def hear(_name: str, _data: bytes) -> None:
        raise error

    with pytest.raises(error):
        Bubblewrap().run(Cage(shell(f"echo hi; sleep 600; : {mark}"), bounds=SMALL), hear)

    assert [] == alive(mark)


def test_what_feeds_or_stops_a_run_may_fail_too(mark: str) -> None:
    def fail(*_size: int) -> bytes:
        raise ValueError(mark)

    for functions in ({"feed": fail}, {"stopped": fail}):
        with pytest.raises(ValueError, match=mark):
            caught(shell(f"sleep 600; : {mark}"), **functions)  # type: ignore[arg-type]

    assert [] == alive(mark)


def test_a_listener_that_is_slow_does_not_keep_a_run_alive(mark: str) -> None:
    left: list[list[str]] = []

    def hear(_name: str, _data: bytes) -> None:
        until = time.monotonic() + 30
        while alive(mark) and time.monotonic() < until:
            time.sleep(0.05)
        left.append(alive(mark))

    ended = Bubblewrap().run(
        Cage(shell(f"echo hi; sleep 600; : {mark}"), bounds=SMALL._replace(seconds=1)), hear
    )

    assert ("time", [[]]) == (ended.stopped, left)


def test_two_runs_at_once_do_not_mix() -> None:
    box = Bubblewrap()
    heard: dict[str, list[bytes]] = {"a": [], "b": []}

    def one(word: str) -> None:
        box.run(
            Cage(shell(f"echo {word}; sleep 0.1; echo {word}"), bounds=SMALL),
            lambda _name, data: heard[word].append(data),
        )

    threads = [threading.Thread(target=one, args=(word,)) for word in heard]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert {"a": b"a\na\n", "b": b"b\nb\n"} == {
        word: b"".join(parts) for word, parts in heard.items()
    }


def test_a_run_dies_with_the_process_that_started_it(mark: str) -> None:
    code = f"""
from metier.run.io.bubblewrap import Bubblewrap
from metier.run.model import Cage
Bubblewrap().run(Cage(("/bin/sh", "-c", "echo up; sleep 600; : {mark}")), lambda name, data: print(data, flush=True))
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as pipe:
        said = pipe.readline()

    process.kill()
    process.wait()

    assert b"b'up\\n'\n" == said
    assert gone(mark)


def gone(mark: str) -> bool:
    until = time.monotonic() + 30
    while alive(mark) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(mark)


def test_the_layers_tell_what_was_found_by_trying() -> None:
    layers = {layer.name: layer for layer in Bubblewrap().layers()}

    assert [
        "bubblewrap",
        "user namespace",
        "seccomp",
        "landlock",
        "rlimits",
        "cgroup",
        "watchdog",
    ] == list(layers)
    assert all(layer.active for layer in layers.values() if layer.needed)
    assert all(layer.detail for layer in layers.values())


def test_what_was_missing_is_looked_for_again() -> None:
    def tried() -> list[bool]:
        WORKING_LAYERS.clear()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))  # no pipe can be made
        first = Bubblewrap().layers()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return [
            all(layer.active for layer in layers if layer.needed)
            for layers in (first, Bubblewrap().layers())
        ]

    assert [False, True] == as_ordinary(tried)


def test_the_layers_of_an_ordinary_user_are_complete_without_a_control_group() -> None:
    layers = as_ordinary(lambda: Bubblewrap().layers())

    assert all(layer.active for layer in layers if layer.needed)
