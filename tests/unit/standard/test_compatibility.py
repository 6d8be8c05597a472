"""The standard's `compatibility` text: what it plainly requires is taken, and nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from metier.standard.compatibility import MOST_CHARS, Compatibility, read_compatibility

COMMANDS = [
    ("Requires git, docker, jq, and access to the internet", ("git", "docker", "jq")),
    ("Requires Python 3.14+ and uv", ("python3|python", "uv")),
    ("Requires Node.js 18+ (for fetch API) and access to the internet", ("node",)),
    (
        "Requires kubectl binary (v1.20+) and active kubeconfig connection to a cluster.",
        ("kubectl",),
    ),
    ("Requires git available on PATH", ("git",)),
    ("Requires gh CLI authenticated to the repo.", ("gh",)),
    ("Needs the GitHub CLI (gh), ripgrep and ImageMagick", ("gh", "rg", "magick|convert")),
    ("Requires docker or podman", ("docker|podman",)),
    ("Requires `aivault` CLI and Node.js (runs via `npx tsx`).", ("aivault", "node")),
    (
        "Requires Python >= 3.10, an OpenSSH client, and Paramiko. Works on Linux, macOS, and Windows.",
        ("python3|python", "ssh"),
    ),
    ("Requires Go 1.21+", ("go",)),
    ("Requires `make`", ("make",)),
]
NOTHING = [
    "Designed for Claude Code (or similar products)",
    "Requires a Benchling account and API key",
    "An OpenRouter API key is required to use Perplexity search",
    "Requires fairlearn, shap, lime.",
    "Requires git, .NET/Node toolchains or a supported container engine",
    "Requires a git repository",
    "Requires docker in the cloud",
    "Requires brew on macOS",
    "Requires a GitHub account",
    "Requires make",
    "Works with git repositories",
    "Works with `make`",
    "Works best with git, docker and jq",
    "Optionally requires git",
    "Requires git if you publish",
    "Does not require git",
    "ffmpeg (macOS only)",
    "Requires ffmpeg-like tools",
    "Works on macOS, Linux, and Windows (WSL).",
    "Requires macOS or Plan 9",
    "Tested on macOS only",
    "Requires an MCP server",
    "DataForSEO MCP for Tier 1+",
    "opencode",
    "",
]


@pytest.mark.parametrize(("text", "commands"), COMMANDS)
def test_well_known_commands_that_are_required_are_taken(
    text: str, commands: tuple[str, ...]
) -> None:
    assert Compatibility(commands=commands) == read_compatibility(text)


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_doubtful_optional_or_about_something_else_is_not(text: str) -> None:
    assert Compatibility() == read_compatibility(text)


@pytest.mark.parametrize(
    ("text", "systems"),
    [
        ("macOS only", ("macos",)),
        ("Only works on Linux", ("linux",)),
        ("macOS, Linux only", ("macos", "linux")),
        ("Requires macOS 13+", ("macos",)),
        ("Requires Windows", ("windows",)),
        ("Linux/WSL only", ("linux", "windows")),
        ("This skill runs on macOS only", ("macos",)),
        ("Requires macOS (Apple Silicon) and git", ("macos",)),
        ("macOS only. Does not work on Windows.", ("macos",)),
        ("Windows, macOS, Linux. Requires PowerShell 7 on Windows only", ()),
        ("On Windows, requires WSL2", ()),
        ("Windows support requires WSL", ()),
        ("Linux only for GPU features", ()),
        ("GPU features only on Linux", ()),
        ("Only Windows needs a restart", ()),
        ("Requires macOS or Linux. On Windows, use WSL", ()),
    ],
)
def test_a_text_can_limit_a_skill_to_systems(text: str, systems: tuple[str, ...]) -> None:
    assert systems == read_compatibility(text).systems


@pytest.mark.parametrize(
    ("text", "servers"),
    [
        ("Requires DataForSEO MCP server", ("DataForSEO",)),
        ("Requires Salesforce MCP connector", ("Salesforce",)),
        ("Requires git and the `jdbg` MCP server", ("jdbg",)),
    ],
)
def test_a_named_mcp_server_is_taken(text: str, servers: tuple[str, ...]) -> None:
    assert servers == read_compatibility(text).servers


@pytest.mark.parametrize(
    ("text", "env"),
    [
        ("PARALLEL_API_KEY required", ("PARALLEL_API_KEY",)),
        (
            "Requires the GITLAB_URL and GITLAB_TOKEN environment variables.",
            ("GITLAB_URL", "GITLAB_TOKEN"),
        ),
        ("STORM_KEY and WIND_KEY must be set", ("STORM_KEY", "WIND_KEY")),
        ("GitLab credentials via GITLAB_URL and GITLAB_TOKEN environment variables.", ()),
        ("Supports env vars HTTP_PROXY and NO_PROXY", ()),
        ("Requires network access and supports HTTP_PROXY", ()),
        ("Set the LOG_LEVEL environment variable to see more", ()),
        ("Understands MARKDOWN_IT and JSON_LD", ()),
    ],
)
def test_variables_are_taken_where_they_are_required(text: str, env: tuple[str, ...]) -> None:
    assert env == read_compatibility(text).env


@given(st.text(max_size=300) | st.text("requires git,or()`1.<>= \n", max_size=300))
def test_no_text_can_break_it(text: str) -> None:
    found = read_compatibility(text)

    assert all(isinstance(word, str) for some in found for word in some)


@pytest.mark.parametrize(
    "piece",
    ["1 ", "(", "`a", ", or ", " , linux", "a MCP ", "only linux ", "A_B ", " (a)", "\ud800", "\0"],
)
def test_only_so_much_of_a_text_is_read(piece: str) -> None:
    text = "Requires git " + piece * 400_000

    assert read_compatibility(text[:MOST_CHARS]) == read_compatibility(text)
