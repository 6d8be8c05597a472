"""Which folder wins for which agent: the table's rows against what each agent's own documentation or code says."""

from __future__ import annotations

import pytest

from metier.discover.agents import AGENTS, Agent, agent_named
from metier.discover.scopes import Surroundings, roots_for
from metier.settings.merge import Settings

HERE = Surroundings(
    home="/home/me", cwd="/src/app", project_root="/src/app", env={}, platform="linux"
)

EXPECTED = {  # MT-1, MT-2: strongest first; ~ is /home/me and . is the project
    "universal": "./.agents ./.agent ~/.agents ~/.config/agents ~/.agent",
    "claude-code": "/etc/claude-code/.claude ~/.claude ./.claude",
    "gemini-cli": "./.agents ./.gemini ~/.agents ~/.gemini",
    "github-copilot": "./.github ./.agents ./.claude ~/.copilot ~/.agents",
    "cursor": "./.agents ./.cursor ./.claude ./.codex ~/.agents ~/.cursor ~/.claude ~/.codex",
    "opencode": "./.opencode ./.opencode/skill ./.agents ./.claude ~/.config/opencode "
    "~/.config/opencode/skill ~/.opencode ~/.opencode/skill ~/.agents ~/.claude",
    "goose": "./.agents ./.goose ./.claude ~/.agents ~/.config/goose ~/.claude ~/.config/agents",
    "crush": "./.agents ./.crush ./.claude ./.cursor ~/.config/agents ~/.config/crush ~/.agents "
    "~/.claude",
    "openhands": "./.agents ./.openhands ~/.openhands",
    "openclaw": ". ./.agents ~/.agents ~/.openclaw",
    "hermes": "~/.hermes",  # HE-2, as the one that was asked does
    "deep-agents": "./.claude ~/.claude ./.agents ./.deepagents ~/.agents ~/.deepagents/agent",
    "qwen-code": "./.qwen ./.agents ~/.qwen ~/.agents",
    "rovo-dev": "~/.rovodev ./.rovodev",
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
    whole = {"~": "/home/me", ".": "/src/app"}.get(start, start) + rest
    return whole if whole.endswith("/skill") else whole + "/skills"


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


@pytest.mark.rows("CX-21", "CX-23")
def test_codex_looks_for_skills_in_every_folder_of_the_repository_down_to_the_working_folder() -> (
    None
):
    place = HERE._replace(cwd="/src/app/a/b")

    roots = roots_for(agent("codex"), place, Settings()).roots

    assert [
        "/src/app/a/b/.agents/skills",
        "/src/app/a/.agents/skills",
        "/src/app/.agents/skills",
    ] == [
        root.location
        for root in roots
        if root.location.startswith("/src") and "/.agents/" in root.location
    ]


@pytest.mark.parametrize("one", AGENTS, ids=lambda one: one.id)
def test_every_agent_looks_somewhere_and_nowhere_twice(one: Agent) -> None:
    env = {"OPENCODE_CONFIG_DIR": "/named"}  # unset, it is a folder that is read anyway
    scopes = roots_for(one, HERE._replace(env=env), Settings())

    locations = [root.location for root in scopes.roots]

    written = len(one.folders) + len(one.plugins) + len(one.extensions)
    if one.reach == "everywhere":  # and in the two folders above the project
        written += 2 * [scope for scope, _path in one.folders].count("project")
    assert written == len(locations) == len(set(locations))
    assert 1 <= len(one.folders)
    assert () == scopes.problems


def test_every_known_agent_has_a_row() -> None:
    assert 79 <= len(AGENTS)


def test_no_name_means_two_agents() -> None:
    names = [name for one in AGENTS for name in (one.id, *one.aliases)]

    assert len(names) == len(set(names))
    assert len(AGENTS) == len({one.title.lower() for one in AGENTS})
    assert all(name == name.lower().replace("_", "-").replace(" ", "-") for name in names)
