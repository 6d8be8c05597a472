"""`run_skill_script` over MCP, for real: a server of its own, the SDK's client, and scripts in the sandbox."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import pytest
from conftest import Home
from doors.command import PATIENCE, environment
from doors.served import INITIALIZE, serving
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import metier
from metier.trust import approve

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conftest import Writer

pytestmark = pytest.mark.bubblewrap

SCRIPTS = {"say.sh": 'echo "said $1"; exit 3\n', "wait.sh": "sleep 60 & wait\n"}


class Starter(NamedTuple):
    """What starts a server that runs scripts; one skill is approved, the other is not."""

    home: Home
    folder: Path

    def env(self, seconds: int) -> dict[str, str]:
        """Let a script run for so long."""
        config = self.folder / "metier.toml"
        config.write_text(f"[mcp]\nrun = true\nseconds = {seconds}\n")
        return {**self.home.env, "METIER_CONFIG": str(config)}

    def stdio(self, seconds: int) -> StdioServerParameters:
        """Start it for one client."""
        return StdioServerParameters(
            command=sys.executable,
            args=["-m", "metier", "mcp", "--root", str(self.folder / "skills")],
            env=environment(self.env(seconds)),
            cwd=str(self.folder),
        )

    def noted(self) -> list[tuple[str, str]]:
        """Give what the audit log says of runs: who asked, and how each ended."""
        with metier.open(env=self.home.env, cwd=self.folder) as library:
            return [
                (event["source"], event["outcome"])
                for event in library.audit_tail()
                if event["event"] == "run"
            ]


@pytest.fixture
def starter(home: Home, tmp_path: Path, skill: Writer) -> Starter:
    """Have two skills."""
    for name in ("known", "stranger"):
        folder = skill(f"skills/{name}") / "scripts"
        folder.mkdir()
        for file, text in SCRIPTS.items():
            (folder / file).write_text(text)
    with metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")]) as library:
        approve.trust(library.context, "known", "approve", reason="read it", level="trusted")
    return Starter(home, tmp_path)


def talk(server: StdioServerParameters, use: Callable[[Client], Awaitable[None]]) -> None:
    """Let a client of the SDK speak to a server of its own."""

    async def main() -> None:
        with anyio.fail_after(PATIENCE):
            async with Client(stdio_client(server)) as client:
                await use(client)

    anyio.run(main)


async def ran(client: Client, name: str, script: str, *args: str) -> dict[str, Any]:
    """Have a script run; give the answer as data."""
    answer = await client.call_tool(
        "run_skill_script", {"name": name, "script": f"scripts/{script}", "args": list(args)}
    )
    return {**(answer.structured_content or {}), "is_error": answer.is_error}


def is_running(mark: str) -> bool:
    """Tell whether a process that was started with this word is there."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in file.read_bytes():
                return True
        except OSError:  # it has just ended
            continue
    return False


async def until(mark: str, *, running: bool) -> None:
    """Wait until a process is there, or gone."""
    with anyio.fail_after(PATIENCE):
        while running != is_running(mark):  # noqa: ASYNC110 - a process sets none
            await anyio.sleep(0.01)


def test_a_script_is_run_refused_without_a_yes_and_ended_in_time(starter: Starter) -> None:
    found: list[dict[str, Any]] = []

    async def use(client: Client) -> None:
        found.append(await ran(client, "known", "say.sh", "this"))
        found.append(await ran(client, "stranger", "say.sh", "that"))
        found.append(await ran(client, "known", "wait.sh", "late"))

    talk(starter.stdio(1), use)

    said, refused, late = found
    assert (3, True) == (said["exit_code"], "said this" in said["output"])
    assert (True, "ask") == (refused["is_error"], refused["error"]["code"])
    assert 124 == late["exit_code"]


def test_a_script_is_ended_with_whoever_waits_for_it(starter: Starter) -> None:
    mark, alive = uuid.uuid4().hex, []

    async def use(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ran, client, "known", "wait.sh", mark)
            await until(mark, running=True)
            tasks.cancel_scope.cancel()  # the client tells the server that nobody waits any more
        with anyio.move_on_after(PATIENCE / 2):
            await until(mark, running=False)
        alive.append(is_running(mark))

    talk(starter.stdio(600), use)

    assert [False] == alive


CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}


def call_of(mark: str) -> dict[str, Any]:
    """Ask for a script that would run for long."""
    arguments = {"name": "known", "script": "scripts/wait.sh", "args": [mark]}
    return {**CALL, "params": {"name": "run_skill_script", "arguments": arguments}}


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_script_and_what_came_of_it_is_noted_down(
    how: int, starter: Starter
) -> None:
    mark, server, pipe = uuid.uuid4().hex, starter.stdio(600), subprocess.PIPE
    command = [server.command, *server.args]
    with subprocess.Popen(
        command, env=server.env, cwd=server.cwd, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stdin is not None
        try:
            process.stdin.write(f"{json.dumps(INITIALIZE)}\n{json.dumps(call_of(mark))}\n")
            process.stdin.flush()
            anyio.run(partial(until, mark, running=True))

            process.send_signal(how)
            code = process.wait(PATIENCE)  # and its input is still open
            left = is_running(mark)
            _out, err = process.communicate()
        finally:
            process.kill()

    assert (0, "", False) == (code, err, left)
    assert [("mcp-stdio", "stopped")] == starter.noted()


@pytest.mark.loopback
def test_a_signal_ends_a_script_over_http_and_what_came_of_it_is_noted_down(
    starter: Starter,
) -> None:
    mark, words = (
        uuid.uuid4().hex,
        ("--http", "127.0.0.1:0", "--root", str(starter.folder / "skills")),
    )
    with serving(starter.env(600), starter.folder, *words) as made, ThreadPoolExecutor(1) as aside:
        _status, headers, _body = made.post(INITIALIZE)
        cut_off = aside.submit(made.post, call_of(mark), Mcp_Session_Id=headers["mcp-session-id"])
        anyio.run(partial(until, mark, running=True))

        code, _out, err = made.stop(signal.SIGTERM)
        left = is_running(mark)
        cut_off.exception(PATIENCE)

    assert (0, "", False) == (code, err, left)
    assert [("mcp-http", "stopped")] == starter.noted()
