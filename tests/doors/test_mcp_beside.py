"""`metier mcp --beside AGENT`: an agent is served the skills that it does not read by itself, over either wire."""

from __future__ import annotations

import json
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from doors.command import PATIENCE, document, environment, error_of, run
from doors.served import serving
from fakes.connected import ERAS, every, refused
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import metier
from metier.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from conftest import Home, Writer

pytestmark = pytest.mark.loopback
WIRES = ("stdio", "http")


@pytest.fixture
def machine(home: Home, skill: Writer) -> Home:
    """Give a machine on which two agents read some skills each."""
    skill("home/.claude/skills/own")
    skill("home/.agents/skills/shared")
    skill("home/.agents/skills/linked")
    (home.path / ".claude/skills/linked").symlink_to(home.path / ".agents/skills/linked")
    skill("home/.agents/skills/copied")
    skill("home/.claude/skills/copied")
    skill("home/.agents/skills/edited")
    skill("home/.claude/skills/edited", description="Does it in another way.")
    skill("home/.codex/skills/.system/imagegen")
    return home


@asynccontextmanager
async def connected(
    home: Home, folder: Path, wire: str, mode: str, *words: str
) -> AsyncIterator[Client]:
    """Start a server, and connect the SDK's own client over one of the wires."""
    if wire == "http":
        with serving(home.env, folder, "--http", "127.0.0.1:0", *words) as made:
            async with made.client(mode) as client:
                yield client
        return
    start = StdioServerParameters(
        command=sys.executable,
        args=["-m", "metier", "mcp", *words],
        env=environment(home.env),
        cwd=str(folder),
    )
    async with Client(stdio_client(start), mode=mode) as client:
        yield client


def served(home: Home, folder: Path, wire: str, mode: str, *words: str) -> dict[str, Any]:
    """Give what each face of a server has."""
    found: dict[str, Any] = {}

    async def main() -> None:
        with anyio.fail_after(PATIENCE):
            async with connected(home, folder, wire, mode, *words) as client:
                listed = await every(client, "skills/list", "skills")
                found["skills"] = {one["frontmatter"]["name"] for one in listed}
                resources = await every(client, "resources/list", "resources")
                found["resources"] = {one["uri"].split("/")[2] for one in resources}
                found["prompts"] = {one.name for one in (await client.list_prompts()).prompts}
                hits = await client.call_tool("search_skills", {"query": "one thing", "limit": 50})
                found["search"] = {one["name"] for one in (hits.structured_content or {})["hits"]}
                loaded = await client.call_tool("load_skill", {"name": "own"})
                found["load"] = (loaded.is_error, loaded.structured_content or {})
                if loaded.is_error:
                    uri = "skill://own/SKILL.md"
                    found["read"] = (await refused(client, "resources/read", uri=uri)).message
                found["instructions"] = client.instructions

    anyio.run(main)
    return found


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("mode", ERAS)
def test_every_face_has_what_the_agent_does_not_read_by_itself(
    machine: Home, tmp_path: Path, wire: str, mode: str
) -> None:
    found = served(machine, tmp_path, wire, mode, "--beside", "claude-code")

    rest = {"edited", "shared"}  # what it reads through a link, or as the same copy, it has
    faces = [found[face] for face in ("skills", "resources", "prompts", "search")]
    assert [rest] * 4 == faces
    failed, said = found["load"][0], found["load"][1]["error"]
    assert (True, "has-it") == (failed, said["code"])
    assert "Claude Code reads it by itself" in said["message"]
    assert "Claude Code reads it by itself" in found["read"]
    assert "Claude Code reads some skills by itself" in found["instructions"]


@pytest.mark.parametrize("wire", WIRES)
def test_another_agent_is_served_others_and_what_codex_ships_for_itself_is_nobodys(
    machine: Home, tmp_path: Path, wire: str
) -> None:
    beside = served(machine, tmp_path, wire, "auto", "--beside", "codex")
    alone = served(machine, tmp_path, wire, "auto")

    assert {"own"} == beside["skills"]
    assert {"own", "shared", "linked", "copied", "edited"} == alone["skills"]
    assert (False, False) == (beside["load"][0], alone["load"][0])
    assert "by itself" not in alone["instructions"]


@pytest.mark.parametrize("agent", [None, "claude-code", "cursor", "opencode", "gemini-cli"])
def test_what_codex_ships_for_itself_enters_no_other_list(
    machine: Home, tmp_path: Path, agent: str | None
) -> None:
    with metier.open(env=machine.env, cwd=tmp_path, agent=agent) as m:
        assert "imagegen" not in {card.name for card in m.skills(all=True)}
    with metier.open(env=machine.env, cwd=tmp_path, agent="codex") as m:
        assert "imagegen" in {card.name for card in m.skills()}


def test_a_skill_that_the_agent_gets_meanwhile_is_served_no_more(
    machine: Home, tmp_path: Path
) -> None:
    with metier.open(env=machine.env, cwd=tmp_path) as m:
        offered = make_server(m, beside="claude-code").served
        before = {card.name for card in offered.now().visible.values()}
        (machine.path / ".claude/skills/shared").symlink_to(machine.path / ".agents/skills/shared")
        m.reload()
        after = {card.name for card in offered.now().visible.values()}
        offered.settle()

    assert ({"edited", "shared"}, {"edited"}) == (before, after)


def test_configuring_a_client_says_what_it_has_and_what_is_added(
    machine: Home, tmp_path: Path
) -> None:
    words = ("mcp", "config", "--for", "claude-code")

    said, as_json = (
        run(machine.env, *words, cwd=tmp_path),
        run(machine.env, *words, "--json", cwd=tmp_path),
    )

    args = json.loads(said.out)["mcpServers"]["metier"]["args"]
    assert ["mcp", "--beside", "claude-code"] == args[-3:]
    assert "here Claude Code reads 3 skills by itself: copied, linked, own" in said.err
    assert "the server leaves those out, and adds 2 skills: edited, shared" in said.err
    found = document(as_json)
    assert ("claude-code", ["copied", "linked", "own"], ["edited", "shared"]) == (
        found["agent"],
        found["has"],
        found["serves"],
    )


def test_configuring_a_client_for_http_names_the_server_that_goes_with_it(
    machine: Home, tmp_path: Path
) -> None:
    words = ("mcp", "config", "--for", "cursor", "--http", "127.0.0.1:7331")

    said = run(machine.env, *words, cwd=tmp_path)

    assert "metier mcp --http 127.0.0.1:7331 --beside cursor" in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--beside", "nobody"), "no agent named 'nobody'"),
        (("--agent", "codex", "--beside", "codex"), "nothing would be served"),
        (("config", "--for", "codex", "--agent", "codex"), "nothing would be served"),
    ],
)
def test_what_would_serve_nothing_is_refused(
    machine: Home, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    answer = run(machine.env, "mcp", *words, cwd=tmp_path)

    assert (2, "") == (answer.code, answer.out)
    assert message in error_of(answer)[0]
