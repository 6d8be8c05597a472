"""`metier mcp` over standard streams that are closed, full or left: it ends, and says why where there is anything to say."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, Answer, environment

if TYPE_CHECKING:
    from conftest import Home

PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'


def speak(home: Home, said: str, streams: str = "", *words: str) -> Answer:
    """Say something to a server whose streams are turned elsewhere, hear a line where there is one, and leave."""
    command = ["/bin/sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-m", "metier", "mcp", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(home.env), cwd=home.path, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as server:
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
    assert [{"jsonrpc": "2.0", "id": 1, "result": {}}] == [json.loads(line) for line in answer.out.splitlines()]


def test_a_client_that_says_nothing_and_leaves_is_the_usual_end(home: Home) -> None:
    assert (0, "", "") == speak(home, "")


def test_without_standard_error_the_answer_is_the_same(home: Home) -> None:
    answer = speak(home, PING, "2>&-")

    assert (0, 1) == (answer.code, answer.out.count("\n"))


@pytest.mark.parametrize(("streams", "said"), [
    (">/dev/full", "error: cannot write the output: No space left on device"),
    (">&-", "error: cannot write the output: Bad file descriptor"),
    ("<&-", "error: there is no standard input to speak over"),
])  # fmt: skip
def test_a_stream_that_does_not_work_is_said_to_whoever_is_still_there(streams: str, said: str, home: Home) -> None:
    answer = speak(home, PING, streams)

    # Who leaves before the answer could be written is told nothing.
    assert (answer.code, answer.err.partition("\n")[0]) in {(2, said), (0, "")}
