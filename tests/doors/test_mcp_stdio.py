"""`metier mcp` over standard input and output: a process of its own, and the SDK's client."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from doors.command import PATIENCE, SOURCE
from fakes.connected import ERAS, ask
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import metier

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


def started(home: Home, folder: Path) -> StdioServerParameters:
    """Give what starts the server."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "metier", "mcp", "--root", str(folder / "skills")],
        env={**home.env, "PYTHONPATH": SOURCE},
        cwd=str(folder),
    )


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_searches_loads_reads_and_lists(
    home: Home, tmp_path: Path, skill: Writer, mode: str
) -> None:
    (skill("skills/pdf", description="Fills in forms.") / "a.md").write_text("noted")
    found: list[Any] = []

    async def main() -> None:
        with anyio.fail_after(PATIENCE):
            async with Client(stdio_client(started(home, tmp_path)), mode=mode) as client:
                hits = (
                    await client.call_tool("search_skills", {"query": "fill in a form"})
                ).structured_content or {}
                found.append([hit["name"] for hit in hits["hits"]])
                loaded = await client.call_tool("load_skill", {"name": "pdf"})
                found.append("Do the one thing." in loaded.content[0].text)  # type: ignore[union-attr]
                read = (
                    await client.call_tool("read_skill_file", {"name": "pdf", "path": "a.md"})
                ).structured_content or {}
                found.append("noted" in read["content"])
                found.append(
                    [entry["uri"] for entry in (await ask(client, "skills/list"))["skills"]]
                )
                found.append([prompt.name for prompt in (await client.list_prompts()).prompts])

    anyio.run(main)

    assert [["pdf"], True, True, ["skill://pdf/SKILL.md"], ["pdf"]] == found


def request(number: int, method: str, **params: Any) -> bytes:
    """Write a request on a line."""
    return (
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
        + b"\n"
    )


HELLO = request(
    1,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "t", "version": "0"},
)
NEWER = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


def raw(home: Home, folder: Path) -> subprocess.Popen[bytes]:
    """Start a server that is spoken to by hand."""
    server, pipe = started(home, folder), subprocess.PIPE
    return subprocess.Popen(
        [server.command, *server.args],
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=server.env,
        cwd=folder,
    )


def test_nonsense_is_survived_and_every_request_answered_before_the_end(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    (skill("skills/pdf") / "long.txt").write_text("word " * 100_000)
    nonsense = [
        b"nonsense",
        b"{}",
        b"\xff\xfe",
        b"[" * 10_000,
        b'[{"jsonrpc": "2.0", "id": 90, "method": "ping"}]',
        b"x" * 17_000_000,
    ]
    silent = (
        b'\n{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}\n'
    )
    said = (
        b"\n".join(nonsense)
        + silent
        + request(96, "tools/list", x="x" * 17_000_000)
        + HELLO
        + b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
    )
    said += (
        request(2, "skills/list")
        + request(3, "skills/get")
        + request(4, "nope/none")
        + request(5, "skills/get", uri=7)
    )
    said += b'{"jsonrpc": "2.0", "id": 6, "method": "skills/list", "params": [1]}\n'
    said += b'{"jsonrpc": "2.0", "id": 7, "method": "skills/get", "params": {"uri": "\\ud800"}}\n'
    said += request(8, "tools/call", name="load_skill", arguments={"name": "x" * 10_000})
    said += request(9, "resources/read", uri="skill://pdf/long.txt") + request(
        10, "skills/list", cursor="from another process"
    )

    with raw(home, tmp_path) as server:
        out, err = server.communicate(
            said, timeout=PATIENCE
        )  # which leaves right after the last word

    everything = [json.loads(line) for line in out.splitlines()]
    answers = {answer["id"]: answer for answer in everything}
    assert (0, b"", {None, *range(1, 11), 96}) == (server.returncode, err, set(answers))
    assert [-32700, -32600, -32700, -32600, -32600, -32600] == [
        answer["error"]["code"] for answer in everything if answer["id"] is None
    ]
    assert ["skill://pdf/SKILL.md"] == [entry["uri"] for entry in answers[2]["result"]["skills"]]
    codes = {
        number: answer["error"]["code"]
        for number, answer in answers.items()
        if "error" in answer and number is not None
    }
    assert {3: -32602, 4: -32601, 5: -32602, 6: -32600, 7: -32600, 10: -32602, 96: -32600} == codes
    assert answers[8]["result"]["isError"]
    assert 500_000 == len(answers[9]["result"]["contents"][0]["text"])


def test_a_client_of_the_newer_protocol_that_can_nothing_is_answered(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    skill("skills/pdf")

    with raw(home, tmp_path) as server:
        out, _err = server.communicate(
            request(1, "skills/list", **NEWER)
            + request(2, "skills/get", uri="skill://none/SKILL.md", **NEWER),
            timeout=PATIENCE,
        )

    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    assert ["skill://pdf/SKILL.md"] == [entry["uri"] for entry in answers[1]["result"]["skills"]]
    assert -32602 == answers[2]["error"]["code"]


def test_server_ends_when_nobody_reads_what_it_says(home: Home, tmp_path: Path) -> None:
    with raw(home, tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(HELLO)
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()

        code = server.wait(PATIENCE)  # and its input is still open

    assert 0 == code


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order_while_the_client_is_still_there(
    how: int, home: Home, tmp_path: Path, skill: Writer
) -> None:
    skill("skills/pdf")

    with raw(home, tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(
            HELLO + request(2, "tools/call", name="load_skill", arguments={"name": "pdf"})
        )
        server.stdin.flush()
        answered = [json.loads(server.stdout.readline())["id"] for _answer in range(2)]
        server.send_signal(how)
        code = server.wait(PATIENCE)  # and its input is still open
        out, err = server.communicate()

    assert ([1, 2], 0, b"", b"") == (answered, code, out, err)
    with metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")]) as library:
        assert [("pdf", 1)] == [(one.name, one.loads) for one in library.usage().skills]
