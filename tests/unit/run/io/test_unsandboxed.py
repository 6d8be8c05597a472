"""Running without a sandbox: the same streams and limits, and plain words about what is missing."""

from __future__ import annotations

import os
import select
import signal
import tempfile
from pathlib import Path

import pytest

from metier.errors import SandboxError
from metier.run.io.unsandboxed import Unsandboxed
from metier.run.model import MIB, Cage, RunEnded, RunLimits

SMALL = RunLimits(
    seconds=30, memory_bytes=256 * MIB, processes=16, output_bytes=MIB, file_bytes=MIB
)


def ran(
    line: str, bounds: RunLimits = SMALL, *, reports: bool = False, given: bytes = b""
) -> tuple[RunEnded, str]:
    heard: list[bytes] = []
    left = iter((given, b""))
    cage = Cage(
        ("/bin/sh", "-c", line),
        environment=(("PATH", "/usr/bin:/bin"), ("A", "1")),
        bounds=bounds,
        reports=reports,
    )
    ended = Unsandboxed().run(
        cage, lambda _name, data: heard.append(data), lambda _size: next(left)
    )
    return ended, b"".join(heard).decode()


def test_it_says_loudly_that_there_is_no_sandbox() -> None:
    first = Unsandboxed().layers()[0]

    assert ("sandbox", False, True) == (first.name, first.active, first.detail.startswith("NONE"))


def test_streams_code_report_and_environment_are_as_in_the_sandbox() -> None:
    ended, heard = ran(
        'cat; echo "$A$HOME"; echo told > /proc/self/fd/$METIER_REPORT; exit 4',
        reports=True,
        given=b"in ",
    )

    assert (4, "", b"told\n", "in 1\n") == (ended.code, ended.stopped, ended.report, heard)


def test_it_starts_in_an_empty_folder_that_is_gone_afterwards() -> None:
    _ended, heard = ran("pwd; ls -A; touch left")

    assert 1 == len(heard.splitlines())
    assert not os.path.exists(heard.strip())


@pytest.mark.parametrize(
    ("line", "bounds", "code", "stopped"),
    [
        ("trap '' TERM; sleep 600", SMALL._replace(seconds=1), 124, "time"),
        ("yes", SMALL, 137, "output"),
        (
            "for i in 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0; do sleep 600 & done; sleep 600",
            SMALL,
            137,
            "processes",
        ),
        ("sleep 600 & exit 3", SMALL, 3, ""),
        ("kill -9 $$", SMALL, 137, ""),
    ],
)
def test_limits_are_kept_and_the_whole_group_is_ended(
    line: str, bounds: RunLimits, code: int, stopped: str
) -> None:
    ended, _heard = ran(line, bounds)

    assert (code, stopped) == (ended.code, ended.stopped)


def test_it_does_not_outlive_whoever_started_it_however_that_ended(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # a metier that is killed, and can do nothing about it
        os.close(reader)
        tempfile.tempdir = str(tmp_path)
        cage = Cage(
            ("/bin/sh", "-c", "echo $$; exec sleep 600"),
            environment=(("PATH", "/usr/bin:/bin"),),
            bounds=SMALL,
        )
        Unsandboxed().run(
            cage,
            lambda _name, data: print(
                data.decode(), end="", file=os.fdopen(writer, "w", closefd=False)
            ),
        )
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        number = int(pipe.readline())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    assert _is_gone(number)


def _is_gone(number: int) -> bool:
    """Wait until a process has ended."""
    try:
        process = os.pidfd_open(number)
    except ProcessLookupError:
        return True
    poll = select.poll()
    poll.register(process, select.POLLIN)
    ended = bool(poll.poll(20_000))
    os.close(process)
    return ended


def test_a_program_that_is_not_there_is_refused() -> None:
    with pytest.raises(SandboxError) as raised:
        Unsandboxed().run(Cage(("/no/such/program",)), lambda _name, _data: None)

    assert "no-program" == raised.value.code
