"""`metier mcp config`: what is printed, what is written, and what never is."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doors.command import SOURCE, document, error_of, python

if TYPE_CHECKING:
    from doors.upstream import Project


def entry(text: str) -> Any:
    return json.loads(text)["mcpServers"]["metier"]


def test_a_snippet_is_printed_and_nothing_is_written(project: Project) -> None:
    answer = project("mcp", "config", "--for", "cursor")

    assert (0, ["-m", "metier", "mcp", "--beside", "cursor"]) == (
        answer.code,
        entry(answer.out)["args"],
    )
    assert "this belongs in ~/.cursor/mcp.json" in answer.err
    assert [] == list(project.home.path.iterdir())


def test_writing_keeps_what_was_there_and_the_same_again_changes_nothing(project: Project) -> None:
    file = project.home.path / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text('model = "best" # mine\n')

    written = project("mcp", "config", "--for", "codex", "--write", "--yes")
    again = project("mcp", "config", "--for", "codex", "--write")

    assert (0, 0, "~/.codex/config.toml has it already\n") == (written.code, again.code, again.out)
    assert "what it was is in ~/.codex/config.toml.metier-backup" in written.out
    assert file.read_text().startswith('model = "best" # mine\n')
    assert ["-m", "metier", "mcp", "--beside", "codex"] == tomllib.loads(file.read_text())[
        "mcp_servers"
    ]["metier"]["args"]


def test_what_was_written_starts_this_metier(project: Project) -> None:
    project("mcp", "config", "--for", "claude-code", "--write", "--yes")
    made = entry((project.home.path / ".claude.json").read_text())

    answer = python(
        project.home.env,
        "-c",
        "import os, sys; os.execv(sys.argv[1], sys.argv[1:])",
        made["command"],
        *made["args"],
        "--help",
    )

    assert ("stdio", 0) == (made["type"], answer.code)
    assert answer.out.startswith("Usage: metier mcp"), SOURCE


def test_without_a_terminal_only_yes_will_do_and_a_look_needs_none(project: Project) -> None:
    refused = project("mcp", "config", "--for", "cursor", "--write")
    as_json = project("mcp", "config", "--for", "cursor", "--write", "--json")
    looked = project("mcp", "config", "--for", "cursor", "--write", "--dry-run")

    assert (2, 2, 0) == (refused.code, as_json.code, looked.code)
    assert "--yes" in error_of(refused)[1]
    assert looked.out.endswith("this would be put into ~/.cursor/mcp.json\n")
    assert [] == list(project.home.path.iterdir())


def test_the_file_of_a_project_and_roots_and_agents_of_ones_own(project: Project) -> None:
    answer = project(
        "mcp",
        "config",
        "--for",
        "vscode",
        "--project",
        "--write",
        "--yes",
        "--root",
        "skills",
        "--agent",
        "codex",
        "--json",
    )

    found = json.loads((project.folder / ".vscode" / "mcp.json").read_text())["servers"]["metier"]
    assert (f"{project.folder}/.vscode/mcp.json", True) == (
        document(answer)["file"],
        document(answer)["written"],
    )
    words = ["mcp", "--agent", "codex", "--beside", "github-copilot"]
    assert [*words, "--root", f"{project.folder}/skills"] == found["args"][2:]


def test_a_client_that_cannot_run_programs_is_not_given_skills_with_scripts_unless_metier_runs_them(
    project: Project,
) -> None:
    words = ("mcp", "config", "--for", "claude-desktop")

    without, asked = project(*words), project("mcp", "config", "--for", "cursor", "--no-scripts")
    config = Path(project.home.env["METIER_HOME"]).parent / "own.toml"
    config.write_text("[mcp]\nrun = true\n")
    project.home.env["METIER_CONFIG"] = str(config)
    with_runs = project(*words)

    assert [True, True, False] == [
        "--no-scripts" in entry(answer.out)["args"] for answer in (without, asked, with_runs)
    ]


def test_over_http_the_token_is_written_and_never_printed(project: Project) -> None:
    words = ("mcp", "config", "--for", "cursor", "--http", "127.0.0.1:7331")
    looked = project(*words)
    kept = Path(project.home.env["METIER_HOME"]) / "mcp" / "token"
    made_by_a_look = kept.exists()

    written, as_json = project(*words, "--write", "--yes"), project(*words, "--write", "--json")

    token = kept.read_text().strip()
    made = entry((project.home.path / ".cursor" / "mcp.json").read_text())
    assert (False, "Bearer TOKEN") == (
        made_by_a_look,
        entry(looked.out)["headers"]["Authorization"],
    )
    assert {
        "url": "http://127.0.0.1:7331/mcp",
        "headers": {"Authorization": f"Bearer {token}"},
    } == made
    assert (0, False) == (as_json.code, document(as_json)["changed"])
    assert [] == [
        text for answer in (looked, written, as_json) for text in answer[1:] if token in text
    ]


def test_a_file_that_cannot_be_read_is_left_and_the_way_out_is_named(project: Project) -> None:
    file = project.home.path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{broken")

    answer = project("mcp", "config", "--for", "cursor", "--write", "--yes", "--json")

    assert (2, "client-file", "{broken") == (answer.code, answer.json["code"], file.read_text())


WRONG: dict[str, tuple[str, str]] = {
    "config": ("say which client", "claude-code"),
    "config --for curser": ("unknown client 'curser'", "did you mean cursor?"),
    "config --for cluade": (
        "unknown client 'cluade'",
        "did you mean claude-code or claude-desktop?",
    ),
    "config --for cursor --dry-run": ("--dry-run is for --write", ""),
    "config --for cursor --http 0 --write --yes": ("a client has to know the port", "7331"),
    "config --for cursor --http my-secret@host": ("--http needs HOST:PORT", "127.0.0.1"),
    "config --for windsurf --project": ("Windsurf has no file in a project", "--project"),
    "config --for claude-desktop --http 7331": ("Claude Desktop takes no address", "--http"),
    "config --for cursor --allow-host x": ("--allow-host is for a server", ""),
    "config more": ("unexpected word", ""),
    "confg": ("unknown command 'metier mcp confg'", "metier mcp config"),
    "serve": ("unknown command of metier mcp", "config"),
    "my-secret": ("unknown command of metier mcp", "config"),
    "--write": ("--write is for metier mcp config", ""),
    "--token-file x": ("--token-file and --allow-host are for --http", "--http"),
    "--http nowhere": ("--http needs HOST:PORT", "127.0.0.1"),
    "--http 127.0.0.1:0 --token-file missing": ("cannot read the token in", ""),
    "--token my-secret": ("metier mcp has no such option", "metier mcp --help"),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_meant_is_an_error_that_repeats_no_secret(
    words: str, project: Project
) -> None:
    answer = project("mcp", *words.split())

    said, told = error_of(answer)
    assert (2, "") == (answer.code, answer.out)
    assert WRONG[words][0] in said
    assert WRONG[words][1] in told
    assert "my-secret" not in answer.err


def test_a_token_is_not_written_into_a_project(project: Project) -> None:
    answer = project(
        "mcp",
        "config",
        "--for",
        "cursor",
        "--project",
        "--http",
        "7331",
        "--write",
        "--yes",
        "--json",
    )

    assert (1, "shared-file") == (answer.code, answer.json["code"])
    assert not (project.folder / ".cursor").exists()


def test_without_the_package_it_says_what_to_install(project: Project, tmp_path: Path) -> None:
    hide = "import sys; sys.modules['mcp'] = None; from metier.cli.main import main; sys.exit(main(['mcp', '--json']))"

    answer = python(project.home.env, "-c", hide, cwd=tmp_path)

    assert (2, "mcp-missing", "pip install 'metier[mcp]'") == (
        answer.code,
        answer.json["code"],
        answer.json["hint"],
    )
