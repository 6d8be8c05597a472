"""`run_skill_script` over MCP, for real: a server of its own, the SDK's client, and scripts in the sandbox."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from doors.command import PATIENCE, environment
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import metier
from metier import vetting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from conftest import Home, Writer

pytestmark = pytest.mark.bubblewrap

SCRIPTS = {"say.sh": 'echo "said $1"; exit 3\n', "wait.sh": "sleep 60 & wait\n"}


@pytest.fixture
def served(home: Home, tmp_path: Path, skill: Writer) -> StdioServerParameters:
    """Give what starts a server that runs scripts for two seconds; one skill is approved, the other is not."""
    for name in ("known", "stranger"):
        folder = skill(f"skills/{name}") / "scripts"
        folder.mkdir()
        for file, text in SCRIPTS.items():
            (folder / file).write_text(text)
    config = tmp_path / "metier.toml"
    config.write_text("[mcp]\nrun = true\nseconds = 2\n")
    with metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")]) as library:
        vetting.trust(library, "known", "approve", reason="read it", level="trusted")
    return StdioServerParameters(command=sys.executable, args=["-m", "metier", "mcp", "--root", str(tmp_path / "skills")],
                                 env=environment({**home.env, "METIER_CONFIG": str(config)}), cwd=str(tmp_path))  # fmt: skip


def talk(server: StdioServerParameters, use: Callable[[Client], Awaitable[None]]) -> None:
    """Let a client of the SDK speak to a server of its own."""

    async def main() -> None:
        with anyio.fail_after(PATIENCE):
            async with Client(stdio_client(server)) as client:
                await use(client)

    anyio.run(main)


async def ran(client: Client, name: str, script: str, *args: str) -> dict[str, Any]:
    """Have a script run; give the answer as data."""
    answer = await client.call_tool("run_skill_script", {"name": name, "script": f"scripts/{script}", "args": list(args)})
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


def test_a_script_is_run_refused_without_a_yes_ended_in_time_and_with_whoever_waits_for_it(served: StdioServerParameters) -> None:
    found: list[dict[str, Any]] = []
    mark, alive = uuid.uuid4().hex, []

    async def use(client: Client) -> None:
        found.append(await ran(client, "known", "say.sh", "this"))
        found.append(await ran(client, "stranger", "say.sh", "that"))
        found.append(await ran(client, "known", "wait.sh", "late"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ran, client, "known", "wait.sh", mark)
            while not is_running(mark):  # noqa: ASYNC110 - a process sets none
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()  # the client tells the server that nobody waits any more
        with anyio.move_on_after(1.5):  # it would have run for longer
            while is_running(mark):  # noqa: ASYNC110 - as above
                await anyio.sleep(0.01)
        alive.append(is_running(mark))

    talk(served, use)

    said, refused, late = found
    assert (3, True) == (said["exit_code"], "said this" in said["output"])
    assert (True, "ask") == (refused["is_error"], refused["error"]["code"])
    assert 124 == late["exit_code"]
    assert [False] == alive
