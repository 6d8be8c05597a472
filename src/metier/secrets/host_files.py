"""Where the host keeps the logins to its models, below a home folder or where a variable moved
them. Pure.

The same line as for variables (HE-20): what an agent reaches its model with is no skill's file, a
person's own keys are none, and a cloud's files are the host's own while it reaches its model
through that very cloud.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING
from metier.secrets.names import CLOUDS, sign_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.model import Texts

HOST_FILES = (
    ".anthropic/",
    ".augment/session.json",
    ".cache/huggingface/token",
    ".claude.json",
    ".claude/.credentials.json",
    ".cline/data/secrets.json",
    ".codeium/",
    ".codex/auth.json",
    ".config/anthropic/",
    ".config/claude/",
    ".config/github-copilot/",
    ".config/goose/secrets.yaml",
    ".config/openai/",
    ".copilot/",
    ".cursor/",
    ".factory/auth.json",
    ".gemini/oauth_creds.json",
    ".hermes/.env",
    ".hermes/auth.json",
    ".huggingface/",
    ".local/share/amp/secrets.json",
    ".local/share/opencode/auth.json",
    ".openai/",
    ".openclaw/credentials/",
    ".openclaw/openclaw.json",
    ".windsurf/",
    ".zeph/",
)
"""Where agents keep the logins to their models, below the home folder; a folder ends with a
slash."""
KEY_FILES = (
    ".config/gh/",
    ".git-credentials",
    ".gnupg/",
    ".local/share/keyrings/",
    ".netrc",
    ".password-store/",
    ".ssh/",
)
"""Where a person keeps the keys to everything else (CO-16): far more than any one skill can be
meant to have."""
CLOUD_FILES = {
    "AWS_": (".aws/",),
    "GOOGLE_": (".config/gcloud/", "AppData/Roaming/gcloud/"),
    "AZURE_": (".azure/",),
}
"""Where the tools of each cloud keep their logins."""
MOVED_FOLDERS = (
    ("CODEX_HOME", ".codex/"),
    ("CLAUDE_CONFIG_DIR", ".claude/"),
    ("HERMES_HOME", ".hermes/"),
    ("HF_HOME", ".cache/huggingface/"),
    ("OPENCLAW_STATE_DIR", ".openclaw/"),
    ("XDG_CONFIG_HOME", ".config/"),
    ("XDG_DATA_HOME", ".local/share/"),
    ("XDG_CACHE_HOME", ".cache/"),
    ("CLOUDSDK_CONFIG", ".config/gcloud/"),
    ("AZURE_CONFIG_DIR", ".azure/"),
)
"""Variables that name another place for what lies there otherwise."""
POINTERS: dict[str, Texts] = {
    "AWS_": ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"),
    "GOOGLE_": ("GOOGLE_APPLICATION_CREDENTIALS",),
    "AZURE_": (),
}
"""Variables that name one such file of a cloud."""


def host_places(env: Mapping[str, str], home: str) -> list[str]:
    """List the files and folders that no skill is given, each as an absolute path; a folder ends
    with a slash.
    """
    places = [*HOST_FILES, *KEY_FILES]
    pointed: list[str] = []
    for beginning, signs in CLOUDS:
        if sign_of(signs, env):
            places += CLOUD_FILES[beginning]
            pointed += [path for name in POINTERS[beginning] if (path := _absolute(env, name))]
    moved = [
        f"{folder.rstrip('/')}/{place[len(usual) :]}"
        for name, usual in MOVED_FOLDERS
        if (folder := _absolute(env, name))
        for place in places
        if place.startswith(usual)
    ]
    return [*(f"{home.rstrip('/')}/{place}" for place in places), *moved, *pointed]


def _absolute(env: Mapping[str, str], name: str) -> str:
    path = env.get(name, "")
    return path if path.startswith("/") and "\0" not in path else ""


def is_among(path: str, places: list[str]) -> bool:
    """Tell whether a path is one of these places or lies below one. Letters count in either case,
    as on many a disk.
    """
    low = path.lower()
    return any(
        low.startswith(place) if place.endswith("/") else low == place
        for place in (place.lower() for place in places)
    )
