"""The table of clients: where each keeps its servers, and in what words."""

from __future__ import annotations

from typing import Any

import pytest

from metier.discover.agents import agent_named
from metier.errors import UsageError
from metier.mcp import clients, config_text
from metier.mcp.clients import CLIENTS, SERVER_NAME, McpClient, ServerEndpoint

STARTED = ServerEndpoint(("/opt/metier", "mcp", "--agent", "codex"))
REMOTE = ServerEndpoint(url="http://127.0.0.1:7331/mcp", token="a-token-of-thirty-two-characters")
IDS = [client.id for client in CLIENTS]
ARGS = ["mcp", "--agent", "codex"]
BEARER = {"Authorization": "Bearer a-token-of-thirty-two-characters"}


def test_every_name_and_alias_means_one_client() -> None:
    names = [name for client in CLIENTS for name in (client.id, *client.aliases)]

    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("client", CLIENTS, ids=IDS)
def test_every_client_that_follows_an_agent_follows_one_that_metier_knows(
    client: McpClient,
) -> None:
    found = agent_named(client.agent) if client.agent else None

    assert client.agent == (found.id if found else "")


@pytest.mark.parametrize(
    ("said", "client"),
    [
        ("claude-code", "claude-code"),
        ("Claude Code", "claude-code"),
        ("VSCode", "vscode"),
        ("vs_code", "vscode"),
        ("gemini", "gemini-cli"),
        ("LM Studio", "lm-studio"),
    ],
)
def test_a_client_is_found_however_it_is_written(said: str, client: str) -> None:
    assert client == clients.client_named(said).id


def test_a_client_that_nobody_knows_is_an_error_with_the_nearest_one() -> None:
    with pytest.raises(UsageError) as caught:
        clients.client_named("curser")

    assert "did you mean cursor?" in caught.value.hint


LOCAL: dict[str, dict[str, Any]] = {
    "claude-code": {"type": "stdio", "command": "/opt/metier", "args": ARGS},
    "claude-desktop": {"command": "/opt/metier", "args": ARGS},
    "codex": {"command": "/opt/metier", "args": ARGS},
    "cursor": {"command": "/opt/metier", "args": ARGS},
    "vscode": {"type": "stdio", "command": "/opt/metier", "args": ARGS},
    "gemini-cli": {"command": "/opt/metier", "args": ARGS},
    "windsurf": {"command": "/opt/metier", "args": ARGS},
    "zed": {"command": "/opt/metier", "args": ARGS},
    "opencode": {"type": "local", "enabled": True, "command": ["/opt/metier", *ARGS]},
    "copilot-cli": {"type": "local", "tools": ["*"], "command": "/opt/metier", "args": ARGS},
    "goose": {"type": "stdio", "enabled": True, "name": "metier", "description": "Agent skills of this machine", "timeout": 300,
              "cmd": "/opt/metier", "args": ARGS},
}  # fmt: skip
FAR: dict[str, dict[str, Any]] = {
    "claude-code": {"type": "http", "url": REMOTE.url, "headers": BEARER},
    "codex": {"url": REMOTE.url, "http_headers": BEARER},
    "cursor": {"url": REMOTE.url, "headers": BEARER},
    "vscode": {"type": "http", "url": REMOTE.url, "headers": BEARER},
    "gemini-cli": {"httpUrl": REMOTE.url, "headers": BEARER},
    "windsurf": {"serverUrl": REMOTE.url, "headers": BEARER},
    "zed": {"url": REMOTE.url, "headers": BEARER},
    "opencode": {"type": "remote", "enabled": True, "url": REMOTE.url, "headers": BEARER},
    "cline": {"type": "streamableHttp", "disabled": False, "url": REMOTE.url, "headers": BEARER},
    "roo-code": {"type": "streamable-http", "url": REMOTE.url, "headers": BEARER},
    "goose": {"type": "streamable_http", "enabled": True, "name": "metier", "description": "Agent skills of this machine", "timeout": 300,
              "uri": REMOTE.url, "headers": BEARER},
}  # fmt: skip


@pytest.mark.parametrize("name", LOCAL)
def test_a_server_that_the_client_starts_is_written_in_its_own_words(name: str) -> None:
    assert LOCAL[name] == clients.entry_of(clients.client_named(name), STARTED)


@pytest.mark.parametrize("name", FAR)
def test_a_server_with_an_address_is_written_in_its_own_words(name: str) -> None:
    assert FAR[name] == clients.entry_of(clients.client_named(name), REMOTE)


def test_a_client_that_takes_no_address_says_so() -> None:
    with pytest.raises(UsageError):
        clients.entry_of(clients.client_named("claude-desktop"), REMOTE)

    assert REMOTE.token not in repr(REMOTE)


@pytest.mark.parametrize("client", CLIENTS, ids=IDS)
def test_what_is_printed_says_what_is_meant(client: McpClient) -> None:
    path = (*client.section, SERVER_NAME)

    text = config_text.render_snippet(client.form, path, clients.entry_of(client, STARTED))

    found: Any = config_text.read_config(client.form, text)
    for key in path:
        found = found[key]
    assert clients.entry_of(client, STARTED) == found


PLACES = {
    ("claude-code", "linux"): "/h/.claude.json",
    ("claude-desktop", "linux"): "/h/.config/Claude/claude_desktop_config.json",
    (
        "claude-desktop",
        "darwin",
    ): "/h/Library/Application Support/Claude/claude_desktop_config.json",
    ("claude-desktop", "win32"): "/h/AppData/Roaming/Claude/claude_desktop_config.json",
    ("codex", "linux"): "/h/.codex/config.toml",
    ("vscode", "linux"): "/h/.config/Code/User/mcp.json",
    ("vscode", "darwin"): "/h/Library/Application Support/Code/User/mcp.json",
    ("zed", "darwin"): "/h/.config/zed/settings.json",
    ("goose", "linux"): "/h/.config/goose/config.yaml",
    ("opencode", "linux"): "/h/.config/opencode/opencode.json",
    ("windsurf", "linux"): "/h/.codeium/windsurf/mcp_config.json",
}


@pytest.mark.parametrize(("name", "platform"), PLACES)
def test_each_client_has_its_file_where_its_platform_keeps_it(name: str, platform: str) -> None:
    assert PLACES[name, platform] == clients.user_file(
        clients.client_named(name), platform, {}, "/h"
    )


@pytest.mark.parametrize(
    ("name", "env", "file"),
    [
        ("codex", {"CODEX_HOME": "/else/codex/"}, "/else/codex/config.toml"),
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/else"}, "/else/.claude.json"),
        ("goose", {"XDG_CONFIG_HOME": "/x"}, "/x/goose/config.yaml"),
        ("codex", {"CODEX_HOME": " "}, "/h/.codex/config.toml"),
    ],
)
def test_what_a_client_is_told_by_its_environment_counts(
    name: str, env: dict[str, str], file: str
) -> None:
    assert file == clients.user_file(clients.client_named(name), "linux", env, "/h")


def test_without_a_home_there_is_no_file() -> None:
    assert "" == clients.user_file(clients.client_named("cursor"), "linux", {}, None)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("cursor", None, {"command": "/opt/metier", "args": ARGS}),
        ("cursor", "odd", {"command": "/opt/metier", "args": ARGS}),
        (
            "cursor",
            {"env": {"A": "b"}, "command": "old"},
            {"env": {"A": "b"}, "command": "/opt/metier", "args": ARGS},
        ),
        (
            "cursor",
            {"url": "http://x", "env": {"A": "b"}},
            {"command": "/opt/metier", "args": ARGS},
        ),
        (
            "opencode",
            {"enabled": False, "command": ["old"]},
            {"enabled": False, "command": ["/opt/metier", *ARGS], "type": "local"},
        ),
        (
            "copilot-cli",
            {"tools": ["load_skill"]},
            {"tools": ["load_skill"], "type": "local", "command": "/opt/metier", "args": ARGS},
        ),
    ],
)
def test_what_the_user_said_about_an_entry_stays_his(
    name: str, before: Any, after: dict[str, Any]
) -> None:
    client = clients.client_named(name)

    found = clients.update_entry(client, before, clients.entry_of(client, STARTED))

    assert list(after.items()) == list(found.items())
