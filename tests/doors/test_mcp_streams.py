"""`metier mcp` over standard streams that are closed, full or left: it ends, and says why where there is anything to say."""

from __future__ import annotations

import json
import os
import pty
import select
import socket
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, Answer, environment

if TYPE_CHECKING:
    from conftest import Home

PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
ASK = (
    '{"jsonrpc": "2.0", "id": 2, "method": "skills/list", "params": {"_meta": '
    '{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}\n'
)
# A process of its own makes the terminal its own, so that keys are signals to it.
AT_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "metier", "mcp"])
"""


def speak(home: Home, said: str, streams: str = "", *words: str) -> Answer:
    """Say something to a server whose streams are turned elsewhere, hear a line where there is one, and leave."""
    command = [
        "/bin/sh",
        "-c",
        f'exec "$@" {streams}',
        "sh",
        sys.executable,
        "-m",
        "metier",
        "mcp",
        *words,
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        env=environment(home.env),
        cwd=home.path,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        with suppress(BrokenPipeError):
            server.stdin.write(said)
            server.stdin.flush()
        heard = server.stdout.readline() if said else ""  # whoever leaves before is not answered
        out, err = server.communicate(timeout=PATIENCE)
    return Answer(server.returncode, heard + out, err)


def test_nothing_but_the_protocol_is_printed_even_with_json_asked_for(home: Home) -> None:
    (home.path / ".agents" / "skills" / "broken").mkdir(parents=True)
    (home.path / ".agents" / "skills" / "broken" / "SKILL.md").write_text("---\nname: [\n---\n")

    answer = speak(home, PING, "", "--json", "--agent", "cursor")

    assert (0, "") == (answer.code, answer.err)
    assert [{"jsonrpc": "2.0", "id": 1, "result": {}}] == [
        json.loads(line) for line in answer.out.splitlines()
    ]


def test_a_client_that_says_nothing_and_leaves_is_the_usual_end(home: Home) -> None:
    assert (0, "", "") == speak(home, "")


def test_one_socket_may_be_both_ends(home: Home) -> None:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "metier", "mcp"]
    with ours, ours.makefile("rw") as file, theirs:
        ours.settimeout(PATIENCE)
        server = subprocess.Popen(
            command,
            env=environment(home.env),
            cwd=home.path,
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.PIPE,
        )
        theirs.close()
        heard = []
        for _time in range(3):
            file.write(PING)
            file.flush()
            heard.append(json.loads(file.readline())["id"])
        ours.shutdown(socket.SHUT_WR)
        _out, err = server.communicate(timeout=PATIENCE)

    assert ([1, 1, 1], 0, b"") == (heard, server.returncode, err)


def test_without_standard_error_the_answer_is_the_same(home: Home) -> None:
    answer = speak(home, PING, "2>&-")

    assert (0, 1) == (answer.code, answer.out.count("\n"))


@pytest.mark.parametrize(
    ("streams", "said"),
    [
        (">/dev/full", "error: cannot write the output: No space left on device"),
        (">&-", "error: cannot write the output: Bad file descriptor"),
        ("<&-", "error: there is no standard input to speak over"),
    ],
)
def test_a_stream_that_does_not_work_is_said_to_whoever_is_still_there(
    streams: str, said: str, home: Home
) -> None:
    answer = speak(home, PING, streams)

    # Who leaves before the answer could be written is told nothing.
    assert (answer.code, answer.err.partition("\n")[0]) in {(2, said), (0, "")}


@pytest.mark.parametrize(
    "streams", ["< in > out", "< in | cat > out", "< /dev/null > out", "< in 1<> out"]
)
def test_every_request_is_answered_whatever_the_streams_are(streams: str, home: Home) -> None:
    (home.path / "in").write_text(PING + ASK)
    (home.path / "out").write_text("")

    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m metier mcp {streams}', sys.executable],
        env=environment(home.env),
        cwd=home.path,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )

    answers = [json.loads(line)["id"] for line in (home.path / "out").read_text().splitlines()]
    assert (0, b"", [] if "null" in streams else [1, 2]) == (
        done.returncode,
        done.stderr,
        sorted(answers),
    )


@pytest.mark.parametrize("key", [b"\x03", b"\x04", b"\x13\x03"])
def test_a_key_ends_it_at_a_terminal_which_is_left_as_it_was(key: bytes, home: Home) -> None:
    ours, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", AT_TERMINAL],
        env=environment(home.env),
        cwd=home.path,
        stdin=its,
        stdout=its,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as server:
        try:
            os.write(ours, PING.encode())
            heard = b""
            while b'"result"' not in heard and select.select([ours], [], [], PATIENCE)[0]:
                heard += os.read(ours, 4_096)
            during = os.get_blocking(its)
            os.write(ours, key)

            _out, err = server.communicate(timeout=PATIENCE)
        finally:
            server.kill()

    os.close(ours)
    os.close(its)
    assert (0, b"", True) == (server.returncode, err, during)
