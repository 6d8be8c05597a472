"""This machine, asked for what skills need: variables, commands, files and packages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metier.discover.io.machine import HostMachine
from metier.discover.io.packages import distributions, python_folders
from metier.secrets.io.file_store import FileStore


def machine(tmp_path: Path, **env: str) -> HostMachine:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return HostMachine(
        {"METIER_HOME": str(tmp_path / "state"), "PATH": str(tmp_path / "bin"), **env},
        str(home),
        str(tmp_path / "project"),
    )


def install(site: Path, *names: str) -> None:
    for name in names:
        (site / name).mkdir(parents=True)


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "METIER_HOME",
        "ZEPH_SECRET_OPENAI_API_KEY",
        "openai_api_key",
        "B-AD",
        "",
    ],
)
def test_the_host_s_own_credentials_are_there_for_nobody(
    name: str, tmp_path: Path
) -> None:  # HE-20
    assert not machine(tmp_path, **{name or "X": "set"}).has_env(name)


def test_a_variable_is_there_when_it_is_set_under_its_name_or_as_another_agent_keeps_it(
    tmp_path: Path,
) -> None:  # ZE-42
    host = machine(tmp_path, A_KEY="x", ZEPH_SECRET_B_KEY="x", EMPTY="")

    assert [True, True, False, False] == [
        host.has_env(name) for name in ("A_KEY", "B_KEY", "EMPTY", "C_KEY")
    ]


def test_what_is_kept_wins_over_the_environment_and_an_empty_value_is_none(
    tmp_path: Path,
) -> None:  # HE-19
    host = machine(tmp_path, A_KEY="x", B_KEY="x")
    store = FileStore(str(tmp_path / "state"), None)
    before = [host.has_env(name) for name in ("A_KEY", "C_KEY")]

    store.put("C_KEY", "y")
    file = tmp_path / "state" / "secrets" / "values.env"
    file.write_text(file.read_text() + "A_KEY=\n")
    after = [host.has_env(name) for name in ("A_KEY", "C_KEY")]
    host.given = lambda: {"A_KEY": "z", "B_KEY": " "}

    assert ([True, False], [False, True]) == (before, after)
    assert [True, False] == [host.has_env(name) for name in ("A_KEY", "B_KEY")]


def test_a_file_of_secrets_that_others_can_read_keeps_nothing(tmp_path: Path) -> None:
    FileStore(str(tmp_path / "state"), None).put("C_KEY", "y")
    (tmp_path / "state" / "secrets" / "values.env").chmod(0o644)

    assert not machine(tmp_path).has_env("C_KEY")


def test_a_file_counts_only_inside_home(tmp_path: Path) -> None:  # HE-21
    host = machine(tmp_path)
    home, outside = tmp_path / "home", tmp_path / "outside"
    (home / "token.json").write_text("{}")
    outside.write_text("{}")
    (home / "way-out").symlink_to(outside)
    (home / "way-up").symlink_to(tmp_path)
    (home / "way-in").symlink_to(home / "token.json")
    wanted = [
        "token.json",
        "~/token.json",
        "way-in",
        "way-out",
        "way-up/outside",
        "../outside",
        str(outside),
        "~root/x",
        "a/../token.json",
        "absent",
        "to\0ken",
        "\ud800",
        "",
    ]

    assert [True] * 3 + [False] * 10 == [host.has_file(path) for path in wanted]


@pytest.mark.parametrize(
    "path",
    [
        ".codex/auth.json",
        ".claude/.credentials.json",
        "way-in",
        ".local/share/metier/secrets/values.env",
    ],
)
def test_what_the_host_logs_in_with_is_no_skill_s_file(
    path: str, tmp_path: Path
) -> None:  # HE-20, HE-21
    host = machine(tmp_path)
    host.env = {"PATH": ""}
    for place in (
        ".codex/auth.json",
        ".claude/.credentials.json",
        ".local/share/metier/secrets/values.env",
        "Library/Application Support/metier/x",
    ):
        target = tmp_path / "home" / place
        target.parent.mkdir(parents=True)
        target.write_text("x")
    (tmp_path / "home" / "way-in").symlink_to(tmp_path / "home/.codex/auth.json")

    assert not host.has_file(path)


LOGIN = ".codex/auth.json"


@pytest.mark.parametrize(
    "path",
    [LOGIN, "./.codex//auth.json", "dotfiles/codex/auth.json", "dotfiles/here", "other-name.json"],
)
def test_a_login_behind_links_is_no_skill_s_file_by_any_name(
    path: str, tmp_path: Path
) -> None:  # HE-20, HE-21
    host, home = machine(tmp_path), tmp_path / "home"
    folder = home / "dotfiles" / "codex"
    folder.mkdir(parents=True)
    (folder / "auth.json").write_text("x")
    (folder / "notes.md").write_text("x")
    (home / ".codex").symlink_to("dotfiles/codex")
    (home / "dotfiles" / "here").symlink_to(folder / "auth.json")
    os.link(folder / "auth.json", home / "other-name.json")

    assert not host.has_file(path)
    assert host.has_file(".codex/notes.md")


def test_a_login_file_that_is_itself_a_link_is_held_back_where_it_lies(
    tmp_path: Path,
) -> None:  # HE-20, HE-21
    host, home = machine(tmp_path), tmp_path / "home"
    (home / ".codex").mkdir()
    (home / "vault.json").write_text("x")
    (home / LOGIN).symlink_to(home / "vault.json")

    assert [False, False] == [host.has_file(path) for path in (LOGIN, "vault.json")]


@pytest.mark.parametrize(
    ("path", "sign"),
    [
        (".aws/credentials", "CLAUDE_CODE_USE_BEDROCK"),
        (".config/gcloud/application_default_credentials.json", "CLAUDE_CODE_USE_VERTEX"),
        (".azure/azureProfile.json", "AZURE_OPENAI_ENDPOINT"),
    ],
)
def test_a_cloud_s_files_are_the_host_s_own_while_its_model_is_there(
    path: str, sign: str, tmp_path: Path
) -> None:  # HE-20
    target = tmp_path / "home" / path
    target.parent.mkdir(parents=True)
    target.write_text("x")

    assert [True, False] == [machine(tmp_path, **env).has_file(path) for env in ({}, {sign: "1"})]


@pytest.mark.parametrize(
    "name",
    ["audit.key", "trust.json", "state.db", "secrets/values.env", "keys/a.pub", "index/deep/x"],
)
def test_nothing_of_what_metier_keeps_is_a_skill_s_file(name: str, tmp_path: Path) -> None:
    home, own = tmp_path / "home", tmp_path / "home" / "state"
    (own / name).parent.mkdir(parents=True)
    (own / name).write_text("x")
    (home / "way-in").symlink_to(own / name)
    host = machine(tmp_path, METIER_HOME=str(own))

    assert [False, False] == [host.has_file(path) for path in (f"state/{name}", "way-in")]


def test_what_metier_keeps_behind_a_link_is_held_back_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "state").mkdir(parents=True)
    (home / "kept.db").write_text("x")
    (home / "state" / "state.db").symlink_to(home / "kept.db")

    assert not machine(tmp_path, METIER_HOME=str(home / "state")).has_file("kept.db")


def test_a_script_that_starts_a_python_is_passed_over(tmp_path: Path) -> None:
    base = tmp_path / "python"
    install(base / "lib/python3.11/site-packages", "requests-2.0.dist-info")
    for folder in (tmp_path / "shims", base / "bin"):
        folder.mkdir()
        (folder / "python3").write_text("#!/bin/sh\n")
        (folder / "python3").chmod(0o755)

    assert machine(tmp_path, PATH=f"{tmp_path}/shims{os.pathsep}{base}/bin").has_package("requests")


def test_packages_are_found_in_every_place_a_script_would_find_them(tmp_path: Path) -> None:
    venv, project, base = tmp_path / "venv", tmp_path / "project", tmp_path / "python"
    install(venv / "lib/python3.11/site-packages", "Foo_Bar-1.0.dist-info", "foo_bar")
    install(project / ".venv/lib/python3.12/site-packages", "PyYAML-6.0.dist-info")
    install(base / "lib/python3/dist-packages", "requests-2.0.egg-info")
    (base / "bin").mkdir()
    (base / "bin" / "python3").write_text("#!/bin/sh\n")
    (base / "bin" / "python3").chmod(0o755)
    host = machine(tmp_path, VIRTUAL_ENV=str(venv), PATH=str(base / "bin"))

    found = [
        host.has_package(name) for name in ("foo-bar", "pyyaml", "requests", "numpy", "foo_bar", "")
    ]

    assert [True, True, True, False, False, False] == found


def test_a_package_that_is_installed_later_is_seen(tmp_path: Path) -> None:
    site = tmp_path / "venv/lib/python3.11/site-packages"
    install(site, "one-1.0.dist-info")
    host = machine(tmp_path, VIRTUAL_ENV=str(tmp_path / "venv"))
    before = host.has_package("two")

    install(site, "two-1.0.dist-info")

    assert (False, True) == (before, host.has_package("two"))


def test_without_a_python_on_the_path_this_one_counts(tmp_path: Path) -> None:
    folders = python_folders({"PATH": str(tmp_path)}, None, "")

    assert any("pytest" in distributions(folder) for folder in folders)


def test_a_command_may_be_named_by_its_place(tmp_path: Path) -> None:
    tool, text = tmp_path / "tools" / "storm", tmp_path / "tools" / "text"
    tool.parent.mkdir()
    for file in (tool, text):
        file.write_text("#!/bin/sh\n")
    tool.chmod(0o755)

    assert [True, False, False, False] == [
        machine(tmp_path).has_command(name)
        for name in (str(tool), str(text), str(tool.parent), "tools/storm")
    ]


@pytest.mark.parametrize("name", ["", "a/b", "/nowhere/x", "/a\0b", "\0", "\ud800", "x" * 100_000])
def test_an_odd_command_is_not_there(name: str, tmp_path: Path) -> None:
    assert not machine(tmp_path, PATH=os.defpath).has_command(name)
