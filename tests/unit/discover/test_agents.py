"""The table of agents holds together, and its rows can be found by what people call them."""

from __future__ import annotations

import pytest

from metier.discover.agents import AGENTS, Agent, agent_named
from metier.model import SCOPES, Limits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("codex", "codex"),
        ("claude", "claude-code"),
        ("Claude Code", "claude-code"),
        ("CLAUDE_CODE", "claude-code"),
        ("  gemini ", "gemini-cli"),
        ("copilot", "github-copilot"),
        ("VS Code", "github-copilot"),
        ("vscode", "github-copilot"),
        ("deepagents", "deep-agents"),
        ("inference.sh", "inference-sh"),
        ("Qoder CN", "qoder-cn"),
    ],
)
def test_an_agent_is_found_by_its_id_an_alias_or_its_title(text: str, expected: str) -> None:
    found = agent_named(text)

    assert found is not None
    assert expected == found.id


@pytest.mark.parametrize("text", ["", " ", "-", "codexx", "claude code!", "~/.codex"])
def test_a_name_that_nobody_has_finds_nothing(text: str) -> None:
    assert agent_named(text) is None


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.id)
def test_each_agent_answers_to_all_its_names(agent: Agent) -> None:
    names = (agent.id, agent.id.upper(), agent.id.replace("-", "_"), agent.title, *agent.aliases)

    found = [agent_named(name) for name in names]

    assert [agent] * len(names) == found


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.id)
def test_each_path_of_a_row_has_the_shape_of_its_scope(agent: Agent) -> None:
    own = ("~/", "${")
    shapes = {
        "project": (".", "skills", "data/", "agent/"),
        "user": own,
        "system": own,
        "admin": ("/",),
    }

    strange = [(scope, path) for scope, path in agent.folders if not path.startswith(shapes[scope])]

    assert [] == strange
    assert all(path.startswith(own) for path in agent.plugins)
    assert all(path.startswith("~/") for path in agent.home_marker)
    assert set(agent.follow) <= set(SCOPES)


def test_codex_has_its_own_limits_product_and_way_with_duplicates() -> None:
    codex = agent_named("codex")

    assert codex is not None
    assert Limits(depth=6, folders=2_000, entries=20_000) == codex.limits  # CX-3
    assert "codex" == codex.product  # CX-20
    assert "keep" == codex.duplicates  # CX-28, MT-1
    assert ("project", "user", "admin", "plugin") == codex.follow  # CX-26


def test_those_that_nobody_asked_hide_weaker_duplicates_and_have_no_limits_of_their_own() -> None:
    others = [agent for agent in AGENTS if not agent.asked]

    assert {("shadow", None, "", None)} == {
        (agent.duplicates, agent.limits, agent.product, agent.loading) for agent in others
    }
    assert not any({"system", "package"} & set(agent.follow) for agent in AGENTS)


def test_those_that_were_asked_say_what_they_load() -> None:
    assert all(agent.loading and agent.loading.fence for agent in AGENTS if agent.asked)


def test_a_row_speaks_only_of_folders_that_it_has() -> None:
    assert all({path for _scope, path in agent.folders} >= {*agent.dotless} for agent in AGENTS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-code", ("~/.claude",)),
        ("codex", ("~/.codex",)),
        ("gemini-cli", ("~/.gemini",)),
        ("goose", ("~/.config/goose",)),
        ("deep-agents", ("~/.deepagents",)),
        ("grok", ("~/.grok",)),
        ("universal", ()),
        ("amp", ("~/.config/amp",)),
        ("replit", ()),
        ("cline", ()),
    ],
)
def test_only_a_folder_of_its_own_says_that_an_agent_is_installed(
    name: str, expected: tuple[str, ...]
) -> None:
    agent = agent_named(name)

    assert agent is not None
    assert expected == agent.home_marker
