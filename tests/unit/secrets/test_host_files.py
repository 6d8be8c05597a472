"""Where the host keeps its own logins: by their usual places, where a variable moved them, and a cloud's while it is used."""

from __future__ import annotations

import pytest

from metier.secrets.host_files import host_places, is_among

HOME = "/home/ann"


@pytest.mark.parametrize(
    ("path", "env", "held"),
    [
        (".codex/auth.json", {}, True),
        (".codex/config.toml", {}, False),
        (".CURSOR/anything/below", {}, True),
        (".cursor-notes/x", {}, False),
        (".ssh/id_rsa", {}, True),
        (".gnupg/private-keys-v1.d/x.key", {}, True),
        (".netrc", {}, True),
        (".config/gh/hosts.yml", {}, True),
        (".config/xdg/gh/hosts.yml", {"XDG_CONFIG_HOME": f"{HOME}/.config/xdg"}, True),
        (".sshrc", {}, False),
        (".aws/credentials", {}, False),
        (".aws/credentials", {"CLAUDE_CODE_USE_BEDROCK": "1"}, True),
        (".aws/sso/cache/x.json", {"AWS_BEARER_TOKEN_BEDROCK": "x"}, True),
        (".azure/msal_token_cache.json", {"AZURE_OPENAI_ENDPOINT": "https://x"}, True),
        (".azure/msal_token_cache.json", {"CLAUDE_CODE_USE_BEDROCK": "1"}, False),
        (
            ".config/gcloud/application_default_credentials.json",
            {"CLAUDE_CODE_USE_VERTEX": "1"},
            True,
        ),
        (
            ".config/gcloud/application_default_credentials.json",
            {"CLAUDE_CODE_USE_VERTEX": ""},
            False,
        ),
        (
            "keys/g.json",
            {
                "GOOGLE_GENAI_USE_VERTEXAI": "1",
                "GOOGLE_APPLICATION_CREDENTIALS": f"{HOME}/keys/g.json",
            },
            True,
        ),
        ("keys/g.json", {"GOOGLE_APPLICATION_CREDENTIALS": f"{HOME}/keys/g.json"}, False),
        ("dot/codex/auth.json", {"CODEX_HOME": f"{HOME}/dot/codex/"}, True),
        ("dot/codex/notes.md", {"CODEX_HOME": f"{HOME}/dot/codex"}, False),
        ("xdg/github-copilot/apps.json", {"XDG_CONFIG_HOME": f"{HOME}/xdg"}, True),
        ("x", {"CODEX_HOME": "/\0"}, False),
    ],
)
def test_what_the_host_logs_in_with_is_known_by_its_place(
    path: str, env: dict[str, str], held: bool
) -> None:  # HE-20, HE-21
    assert held == is_among(f"{HOME}/{path}", host_places(env, HOME))
