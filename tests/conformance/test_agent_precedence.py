"""Which folder wins for which agent: the table's rows against what each agent's own documentation or code says."""

from __future__ import annotations

import pytest

from metier.discover.agents import AGENTS, Agent, agent_named
from metier.discover.scopes import Place, roots_for
from metier.settings import Settings

HERE = Place(home="/home/me", cwd="/src/app", project_root="/src/app", env={}, platform="linux")

EXPECTED = {  # decision 1, decision 2: strongest first; ~ is /home/me and . is the project
    "universal": "./.agents ~/.agents ~/.config/agents",
    "claude-code": "/etc/claude-code/.claude ~/.claude ./.claude",
    "gemini-cli": "./.agents ./.gemini ~/.agents ~/.gemini",
    "github-copilot": "./.github ./.agents ./.claude ~/.copilot ~/.agents",
    "cursor": "./.agents ./.cursor ./.claude ./.codex ~/.cursor",
    "opencode": "./.opencode ./.agents ./.claude ~/.config/opencode",
    "goose": "./.agents ./.goose ./.claude ~/.config/goose ~/.config/agents ~/.claude",
    "openclaw": ". ./.agents ~/.agents ~/.openclaw",
    "hermes": "./.hermes ./.agents ~/.hermes",  # HE-2
    "deep-agents": "./.claude ~/.claude ./.agents ./.deepagents ~/.agents ~/.deepagents/agent",
    "qwen-code": "./.qwen ~/.qwen",
    "rovo-dev": "~/.rovodev ./.rovodev",
    "amp": "./.agents ~/.config/agents",
    "replit": "./.agents ~/.config/agents",
    "cline": "./.agents ~/.agents",
    "zed": "./.agents ~/.agents",
    "coder": "./.agents",
    "antigravity": "./.agents ~/.gemini/antigravity",
    "astrbot": "./data ~/.astrbot/data",
    "cortex": "./.cortex ~/.snowflake/cortex",
    "eve": "./agent",
    "kimchi": "./.kimchi ~/.config/kimchi/harness",
    "posit": "./.posit/assistant ~/.posit/assistant",
    "qoder": "./.qoder ~/.qoder",
    "qoder-cn": "./.qoder ~/.qoder-cn",
    "trae-cn": "./.trae ~/.trae-cn",
    "windsurf": "./.windsurf ~/.codeium/windsurf",
    "zenflow": "./.zencoder ~/.zencoder",
}


def at(folder: str) -> str:
    """Write a folder of the table above out."""
    start, rest = folder[:1], folder[1:]
    return {"~": "/home/me", ".": "/src/app"}.get(start, start) + rest + "/skills"


def agent(name: str) -> Agent:
    """Give an agent that must exist."""
    found = agent_named(name)
    assert found is not None
    return found


@pytest.mark.parametrize(("name", "expected"), EXPECTED.items())
def test_an_agents_folders_come_in_its_own_order(name: str, expected: str) -> None:
    roots = roots_for(agent(name), HERE, Settings()).roots

    found = [root.location for root in roots if root.scope != "plugin"]

    assert [at(folder) for folder in expected.split()] == found


def test_codex_lists_the_project_then_the_user_then_the_system_then_the_administrator() -> None:
    roots = roots_for(agent("codex"), HERE, Settings()).roots

    assert [
        ("project", "/src/app/.agents/skills"),
        ("project", "/src/app/.codex/skills"),
        ("user", "/home/me/.agents/skills"),
        ("user", "/home/me/.codex/skills"),
        ("system", "/home/me/.codex/skills/.system"),
        ("admin", "/etc/codex/skills"),
        ("plugin", "/home/me/.codex/plugins/cache"),
    ] == [(root.scope, root.location) for root in roots]  # CX-21, CX-29


def test_codex_looks_for_skills_in_every_folder_of_the_repository_down_to_the_working_folder() -> None:  # CX-21, CX-23
    place = HERE._replace(cwd="/src/app/a/b")

    roots = roots_for(agent("codex"), place, Settings()).roots

    assert ["/src/app/a/b/.agents/skills", "/src/app/a/.agents/skills", "/src/app/.agents/skills"] == [
        root.location for root in roots if root.location.startswith("/src") and "/.agents/" in root.location
    ]


@pytest.mark.parametrize("one", AGENTS, ids=lambda one: one.id)
def test_every_agent_looks_somewhere_and_nowhere_twice(one: Agent) -> None:
    scopes = roots_for(one, HERE, Settings())

    locations = [root.location for root in scopes.roots]

    assert len(one.folders) + len(one.plugins) == len(locations) == len(set(locations))
    assert 1 <= len(one.folders)
    assert () == scopes.problems


def test_every_known_agent_has_a_row() -> None:
    assert 79 <= len(AGENTS)


def test_no_name_means_two_agents() -> None:
    names = [name for one in AGENTS for name in (one.id, *one.aliases)]

    assert len(names) == len(set(names))
    assert len(AGENTS) == len({one.title.lower() for one in AGENTS})
    assert all(name == name.lower().replace("_", "-").replace(" ", "-") for name in names)
