"""A server within another program: it leaves nothing behind, and survives what goes wrong beside the answers."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest
from fakes.connected import ask, talk
from mcp.client.client import Client

import metier
from metier.mcp import server
from metier.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Home, Writer

    from metier.mcp.server import SkillServer


def threads() -> set[threading.Thread]:
    """Give the threads of servers that are there."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("metier-")}


@pytest.mark.parametrize("natively", [False, True])
def test_a_server_that_is_cancelled_leaves_no_thread_behind(
    natively: bool, home: Home, tmp_path: Path, skill: Writer
) -> None:
    skill("skills/pdf")
    before = threads()
    during: list[int] = []

    async def serve(serving: SkillServer, heard: anyio.Event) -> None:
        said, reading = anyio.create_memory_object_stream[Any](1)
        writing, _answers = anyio.create_memory_object_stream[Any](1)
        async with said, _answers:
            heard.set()
            await serving.server.run(
                reading, writing, serving.server.create_initialization_options()
            )

    async def main() -> None:
        serving, begun = make_server(library), anyio.Event()
        task = asyncio.ensure_future(serve(serving, begun)) if natively else None
        async with anyio.create_task_group() as tasks:
            if task is None:
                tasks.start_soon(serve, serving, begun)
            await begun.wait()
            library.context.in_background(lambda: None)
            with anyio.move_on_after(30):
                while len(threads() - before) < 2:  # noqa: ASYNC110 - a thread sets none
                    await anyio.sleep(0.001)
            during.append(len(threads() - before))  # one writes, and one watches
            tasks.cancel_scope.cancel()
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    with metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")]) as library:
        anyio.run(main)

        assert ([2], set()) == (during, threads() - before)


def test_a_script_that_is_told_to_stop_is_waited_for_until_it_is_noted_down(
    home: Home, tmp_path: Path, skill: Writer
) -> None:
    skill("skills/pdf")
    (tmp_path / "metier.toml").write_text("[mcp]\nrun = true\n")
    begun, noted = threading.Event(), []

    def call(
        _name: str, _arguments: Any, _talk: Any, stopped: Callable[[], bool]
    ) -> dict[str, Any]:
        begun.set()
        while not stopped():
            time.sleep(0.001)
        time.sleep(0.2)  # it takes its time to end
        noted.append("stopped")
        return {"content": []}

    def tuned(serving: SkillServer) -> None:
        serving.tools.call = call  # type: ignore[method-assign, assignment]

    async def use(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                client.call_tool, "run_skill_script", {"name": "pdf", "script": "a.sh"}
            )
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()

    with metier.open(
        env={**home.env, "METIER_CONFIG": str(tmp_path / "metier.toml")},
        cwd=tmp_path,
        roots=[str(tmp_path / "skills")],
    ) as library:
        talk(library, use, tuned=tuned)

    assert ["stopped"] == noted


class Wrong:
    """Something that fails, in no way that anybody thought of, as often as it is told to; then it is as it was."""

    def __init__(self, real: Any, times: int) -> None:
        """Stand before what is real."""
        self.real, self.left, self.failed = real, times, threading.Event()

    def __call__(self, *words: Any, **named: Any) -> Any:
        """Fail."""
        if self.left:
            self.left -= 1
            return self._fail()
        self.failed.set()
        return self.real(*words, **named)

    def _fail(self) -> Any:
        if not self.left:
            self.failed.set()
        raise ZeroDivisionError("not thought of")


@pytest.mark.parametrize(
    ("face", "verb", "times"),
    [("library", "watch", 1), ("notifications", "tell", 1), ("served", "now", 3)],
)
def test_what_goes_wrong_beside_the_answers_costs_nobody_the_server(
    face: str,
    verb: str,
    times: int,
    home: Home,
    tmp_path: Path,
    skill: Writer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skill("skills/pdf")
    monkeypatch.setattr(server, "DECISION_POLL_SECONDS", 0.01)
    wrongs: list[Wrong] = []
    found: list[Any] = []

    def tuned(serving: SkillServer) -> None:
        thing = getattr(serving, face)
        wrongs.append(Wrong(getattr(thing, verb), times))
        monkeypatch.setattr(thing, verb, wrongs[0])

    def rewrite() -> None:
        """Change the skill in one step, as editors do: whoever looks meanwhile sees no half of it."""
        new = skill("desk/pdf", description=f"As it is at {anyio.current_time()}.")
        (new / "SKILL.md").replace(tmp_path / "skills/pdf/SKILL.md")

    async def use(client: Client) -> None:
        while not wrongs[0].failed.is_set():
            rewrite()  # there is something to tell
            await anyio.sleep(0.02)
        found.append([entry["uri"] for entry in (await ask(client, "skills/list"))["skills"]])

    with metier.open(env=home.env, cwd=tmp_path, roots=[str(tmp_path / "skills")]) as library:
        talk(library, use, tuned=tuned)

    assert [["skill://pdf/SKILL.md"]] == found
