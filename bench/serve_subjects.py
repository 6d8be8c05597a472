"""The servers that `serve.py` compares: how each is installed, prepared, started and asked."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import measure
import peers
import route_peers
from peers import Command

if TYPE_CHECKING:
    from pathlib import Path

    import trees

    Tool = Literal["search_skills", "load_skill"]

OURS, PEER = "metier", "skillport"
LIMIT = 10
"""How many skills a search gives: skillport's default, which its clients cannot change."""


class Subject(NamedTuple):
    """A server: how it is started, what prepares it, and what it calls a skill's name."""

    name: str
    command: Command
    prepare: tuple[Command, ...]
    key: str
    takes_limit: bool

    def request(self, tool: Tool, value: str) -> tuple[str, dict[str, Any]]:
        """Make a call of a tool."""
        if tool == "load_skill":
            return "tools/call", {"name": tool, "arguments": {self.key: value}}
        return "tools/call", {
            "name": tool,
            "arguments": {"query": value, **({"limit": LIMIT} if self.takes_limit else {})},
        }


def ours(tree: trees.Tree, home: Path, vectors: str) -> Subject:
    """Give metier's server, with its state in `home`."""
    (home / "empty").mkdir(parents=True, exist_ok=True)
    (home / "metier.toml").write_text(f'[route]\nvectors = "{vectors}"\n', encoding="utf-8")
    env, cwd = measure.environment(str(home)), str(home / "empty")

    def command(*words: str) -> Command:
        return Command([sys.executable, "-m", "metier", *words], env, cwd)

    root = str(tree.root)
    ready = (command("scan", root), command("find", "--index", "--root", root))
    return Subject(OURS, command("mcp", "--root", root), ready, "name", takes_limit=True)


def peer(tree: trees.Tree, home: Path) -> Subject:
    """Give skillport's server; it is installed where it is not there."""
    home.mkdir(parents=True, exist_ok=True)
    found = route_peers.TABLE[PEER]
    peers.install(found)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "SKILLPORT_SEARCH_LIMIT": str(LIMIT),
        # Nothing measured may call home.
        "DO_NOT_TRACK": "1",
        "FASTMCP_CHECK_FOR_UPDATES": "off",
        "FASTMCP_SHOW_SERVER_BANNER": "false",
    }
    argv = [
        str(peers.PEERS / found.name / "bin/skillport-mcp"),
        "--skills-dir",
        str(tree.root),
        "--db-path",
        str(home / "db/skills.lancedb"),
        "--embedding-provider",
        "none",
    ]
    return Subject(PEER, Command(argv, env, str(home)), (), "skill_id", takes_limit=False)
