"""The names that people try first: aliases, and small commands around a skill, a source and a project."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from doors.command import environment, error_of, run
from doors.upstream import Upstream

from metier.cli.table import ALIASES

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_is_the_command_it_means(alias: str, name: str, home: Home) -> None:
    assert run(home.env, name, "--help").out == run(home.env, alias, "--help").out


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("isntall", "x"), "metier install"),
        (("lsit",), "metier list"),
        (("udpate",), "metier update"),
        (("trust", "aprove", "x"), "did you mean 'metier trust approve'?"),
        (("--hlep",), "--help"),
        (("audit", "tial"), "'metier audit tail'"),
        (("list", "--jsno"), "--json"),
        (("list", "--agent", "cluade-code"), "claude-code"),
        (("list", "--agent", "claud"), "claude-code"),
        (("list", "--group", "agnet"), "agent"),
        (("mcp", "confg"), "'metier mcp config'"),
        (("mcp", "config", "--for", "claud"), "claude-code"),
        (("secrets", "unst", "KEY"), "'metier secrets unset'"),
        (("completion", "bsh"), "bash"),
        (("hlep",), "'metier help'"),
        (("tap", "ad"), "'metier tap add'"),
    ],
)
def test_a_slip_of_the_finger_gets_the_nearest_name(
    words: tuple[str, ...], near: str, home: Home
) -> None:
    answer = run(home.env, *words)

    assert 2 == answer.code
    assert near in error_of(answer)[1]


@pytest.mark.parametrize("words", [("xylophone",), ("-x",), ("trust", "xylophone")])
def test_what_is_near_nothing_gets_no_guess(words: tuple[str, ...], home: Home) -> None:
    assert "did you mean" not in error_of(run(home.env, *words))[1]


@pytest.mark.parametrize("command", ["scan", "check"])
def test_without_a_path_all_skills_are_looked_at(
    command: str, home: Home, skill: Writer, tmp_path: Path
) -> None:
    nothing = run(home.env, command, cwd=tmp_path)
    skill("home/.agents/skills/pdf")
    skill("home/.claude/skills/mail")

    answer = run(home.env, command, "--json", cwd=tmp_path)

    assert (1, "there are no skills here") == (nothing.code, error_of(nothing)[0])
    found = {row["path"].rpartition("/")[2] for row in answer.json["skills"]}
    assert (0, {"pdf", "mail"}) == (answer.code, found)


def test_what_needs_attention_in_several_folders_is_looked_at_by_one_command(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    skill("home/.agents/skills/pdf")
    one = run(home.env, "list", cwd=tmp_path).out
    skill("home/.claude/skills/mail")
    two = run(home.env, "list", cwd=tmp_path).out

    assert "Now: metier scan home/.agents/skills\n" in one
    assert "Now: metier scan\n" in two


@pytest.mark.parametrize("words", [("list",), ("list", "--agent", "all")])
def test_the_skills_of_a_folder_are_listed_by_name(
    words: tuple[str, ...], home: Home, skill: Writer, tmp_path: Path
) -> None:
    (tmp_path / "home/.codex").mkdir()
    for folder, name in (("a", "zebra"), ("b", "Mail"), ("c", "apple")):
        text = f"---\nname: {name}\ndescription: Does it.\n---\n\nDo it.\n"
        skill(f"home/.agents/skills/{folder}", text=text)

    lines = run(home.env, *words, cwd=tmp_path).out.splitlines()

    assert ["apple", "Mail", "zebra"] == [line.split()[0] for line in lines[1:4]]


def test_without_a_terminal_the_hint_names_the_options_that_the_command_has(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    skill("source/pdf")

    add = error_of(run(home.env, "add", "source", "--all", cwd=tmp_path))
    init = error_of(run(home.env, "init", cwd=tmp_path))

    assert "to see what would happen: add --dry-run. To go ahead: add --yes" == add[1]
    assert "to go ahead, add --yes" == init[1]


def test_a_setting_that_is_mistyped_shows_the_nearest_word(home: Home) -> None:
    answer = run(home.env, "config", "set", "run.network", "nevr")

    assert "did you mean never?" in error_of(answer)[0]


@pytest.mark.parametrize("verb", ["get", "set"])
def test_config_without_a_key_shows_an_example_that_works(verb: str, home: Home) -> None:
    hint = error_of(run(home.env, "config", verb))[1]

    example = hint.partition("metier ")[2].partition(" (all")[0]
    assert example.startswith(f"config {verb} ")
    assert 0 == run(home.env, *example.split()).code


def test_version_is_a_command_too(home: Home) -> None:
    assert run(home.env, "--version").out == run(home.env, "version").out


def test_path_prints_the_whole_path_for_a_script(home: Home, skill: Writer) -> None:
    folder = skill("home/.agents/skills/pdf")

    assert f"{folder}\n" == run(home.env, "path", "pdf").out
    assert f"{folder}/SKILL.md\n" == run(home.env, "path", "pdf", "--file").out
    assert str(folder) == run(home.env, "path", "pdf", "--json").json["path"]
    assert 1 == run(home.env, "path", "nothing").code


def test_open_starts_the_desktops_program(home: Home, skill: Writer, tmp_path: Path) -> None:
    folder = skill("home/.agents/skills/pdf")
    opener = tmp_path / "bin/xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    opener.chmod(0o755)

    answer = run({**home.env, "PATH": f"{opener.parent}:/usr/bin:/bin"}, "open", "pdf")

    assert 0 == answer.code, answer.err
    assert f"{folder}\n" == (tmp_path / "opened").read_text()


def test_edit_needs_a_terminal_and_says_where_the_file_is(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/pdf")

    answer = run(home.env, "edit", "pdf")

    assert 2 == answer.code
    assert "~/.agents/skills/pdf/SKILL.md" in error_of(answer)[1]


def test_agents_are_listed_with_what_each_sees(home: Home, skill: Writer, tmp_path: Path) -> None:
    skill("home/.claude/skills/mine")

    answer = run(home.env, "agents", "--json", cwd=tmp_path)
    text = run(home.env, "agents", cwd=tmp_path)

    seen = {row["id"]: row["skills"] for row in answer.json["agents"]}
    assert 1 == seen["claude-code"]
    assert "claude-code" in text.out


def test_status_says_in_a_few_lines_where_you_stand(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    skill("home/.claude/skills/mine")
    skill("project/.agents/skills/theirs")

    told = run(home.env, "status", cwd=tmp_path / "project").out
    document = run(home.env, "status", "--json", cwd=tmp_path / "project").json

    assert len(told.splitlines()) < 15
    assert "not trusted" in told
    assert "claude-code (1 skill)" in told
    assert "1 skill is waiting" in told
    assert "metier trust project ." in told
    assert (False, [], 0) == tuple(document[k] for k in ("trusted", "installed", "candidates"))
    assert 2 == document["skills"]["total"]
    assert "trust" == document["attention"][0]["about"]


def test_status_answers_with_a_damaged_lock_and_says_so(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    (project / "metier.lock").write_text("{")

    told = run(home.env, "status", cwd=project)

    assert 0 == told.code
    assert "installed  unknown" in told.out
    assert "can't read the lock" in told.out


def test_config_shows_sets_and_unsets_and_keeps_comments(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "metier.toml"
    file.write_text("# mine\nhide_unready = true # because\n")
    env = {**home.env, "METIER_CONFIG": str(file)}

    listed = run(env, "config", "--json").json["settings"]
    done = run(env, "config", "set", "scan.model", "off")
    got = run(env, "config", "get", "scan.model")
    gone = run(env, "config", "unset", "scan.model")

    assert {"hide_unready": True} == listed
    assert (0, "off\n", 0) == (done.code, got.out, gone.code)
    assert "# mine\nhide_unready = true # because\n" in file.read_text()
    assert "auto\n" == run(env, "config", "get", "scan.model").out
    assert listed == run(env, "config", "--json").json["settings"]


def test_config_can_list_every_setting(home: Home) -> None:
    run(home.env, "config", "set", "limits.depth", "5")

    found = run(home.env, "config", "list", "--all", "--json").json["settings"]
    far = error_of(run(home.env, "config", "set", "xylophone", "1"))

    assert (5, "auto") == (found["limits.depth"], found["scan.model"])
    assert "see all settings: metier config list --all" == far[1]


@pytest.mark.parametrize(
    "words", [("hide_unraedy", "true"), ("hide_unready", "perhaps"), ("scan.model", "17")]
)
def test_config_refuses_what_a_file_may_not_say(
    words: tuple[str, str], home: Home, tmp_path: Path
) -> None:
    file = tmp_path / "metier.toml"
    file.write_text("hide_unready = true\n")
    env = {**home.env, "METIER_CONFIG": str(file)}

    answer = run(env, "config", "set", *words)

    assert 2 == answer.code
    assert "Traceback" not in answer.err
    assert "hide_unready = true\n" == file.read_text()


def test_info_shows_what_a_source_offers_and_installs_nothing(
    home: Home, tmp_path: Path, upstream: Upstream
) -> None:
    project = tmp_path / "project"
    project.mkdir()

    answer = run(home.env, "info", upstream.url, cwd=project)

    assert 0 == answer.code, answer.err
    assert "pdf" in answer.out
    assert "safe" in answer.out
    assert [] == list(project.iterdir())


def test_init_gets_a_project_ready_and_can_be_said_twice(home: Home, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)

    unasked = run(home.env, "init", cwd=project)
    made = run(home.env, "init", "--yes", "--json", cwd=project)
    again = run(home.env, "init", "--yes", "--json", cwd=project)

    assert (2, 0, 0) == (unasked.code, made.code, again.code), made.err
    assert (project / ".agents/skills").is_dir()
    assert (2, 0) == (len(made.json["done"]), len(again.json["done"]))


COMPLETED = {
    ("li",): {"list"},
    ("inst",): {"install"},
    ("trust", "ap"): {"approve"},
    ("trust", "approve", ""): {"pdf", "tool"},
    ("show", "p"): {"pdf"},
    ("list", "--agent", "claude-c"): {"claude-code"},
    ("list", "--agent", "al"): {"all"},
    ("list", "--scope", "u"): {"user"},
    ("list", "--gro"): {"--group"},
    ("mcp", "config", "--for", "curs"): {"cursor"},
    ("waive", "SC60"): {"SC600"},
    ("config", "s"): {"set"},
    ("config", "get", "scan.mo"): {"scan.model"},
    ("remove", "pdf", "to"): {"tool"},
    ("completion", "z"): {"zsh"},
}


@pytest.mark.parametrize("words", COMPLETED)
def test_completion_knows_what_may_stand_here(
    words: tuple[str, ...], home: Home, skill: Writer, tmp_path: Path
) -> None:
    skill("home/.agents/skills/pdf")
    skill("home/.agents/skills/tool")

    answer = run(home.env, "__complete", *words, cwd=tmp_path)

    assert 0 == answer.code
    assert COMPLETED[words] <= set(answer.out.split())
    assert all(word.startswith(words[-1]) for word in answer.out.split())


@pytest.mark.parametrize(
    "words",
    [
        ("scan", ""),
        ("run", "pdf", ""),
        ("history", "pdf", ""),
        ("show", "pdf", ""),
        ("secrets", "set", ""),
        ("new", ""),
        ("config", "set", "scan.model", ""),
    ],
)
def test_completion_leaves_to_the_shell_what_is_no_name_of_a_skill(
    words: tuple[str, ...], home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")

    assert "" == run(home.env, "__complete", *words).out


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("metier show ", ["quite-a-name"]),
        ("metier list --group f", ["folder"]),
        ("metier scan inc", ["incoming/"]),
    ],
)
def test_a_real_fish_completes_a_skill_a_choice_and_else_a_path(
    typed: str, offered: list[str], home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/quite-a-name")
    (home.path / "incoming").mkdir()
    (home.path / "folder-of-no-choice").mkdir()
    script = run(home.env, "completion", "fish").out
    env = {**environment(home.env), "PATH": f"{_starter(home)}:/usr/bin:/bin"}

    done = subprocess.run(
        ["fish", "--no-config", "-c", f"{script}\ncomplete -C '{typed}'"],
        env=env,
        cwd=home.path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert offered == [line.partition("\t")[0] for line in done.stdout.splitlines()]


def _starter(home: Home) -> Path:
    """Put a command that starts metier into a folder for programs, and give that."""
    folder = home.path / "bin"
    folder.mkdir()
    starter = folder / "metier"
    starter.write_text(f'#!/bin/sh\nexec {sys.executable} -m metier "$@"\n')
    starter.chmod(0o755)
    return folder


def test_a_real_bash_completes_a_skill(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/quite-a-name")
    bin_folder = _starter(home)
    script = run(home.env, "completion", "bash").out
    asked = 'COMP_WORDS=(metier show qui); COMP_CWORD=2; _metier; echo "${COMPREPLY[@]}"'
    env = {**environment(home.env), "PATH": f"{bin_folder}:/usr/bin:/bin"}

    done = subprocess.run(
        ["/bin/bash", "-c", f"{script}\n{asked}"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "quite-a-name\n" == done.stdout, done.stderr


def test_a_skill_that_no_agent_reads_says_how_to_point_metier_at_it(
    home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")
    skill("work/theirs/their-skill")
    work = home.path.parent / "work"

    asked = {
        words: error_of(run(home.env, *words, cwd=work))
        for words in (
            ("show", "theirs/their-skill"),
            ("why", "theirs/their-skill"),
            ("trust", "show", "theirs/their-skill"),
            ("waive", "SC230", "theirs/their-skill", "--reason", "x"),
        )
    }
    shown = run(home.env, "show", "theirs/their-skill", "--root", "./theirs/their-skill", cwd=work)
    elsewhere = error_of(run(home.env, "show", "their-skill", cwd=work))
    swapped = error_of(run(home.env, "show", "pfd", cwd=work))

    for _message, hint in asked.values():
        assert "--root ./theirs/their-skill" in hint
        assert "metier add ./theirs/their-skill" in hint
    assert 0 == shown.code
    assert ("--root FOLDER" in elsewhere[1], "pdf" in elsewhere[1]) == (True, False)
    assert "did you mean pdf?" == swapped[1]


def test_a_setting_that_nobody_set_has_its_default_and_a_table_all_its_values(home: Home) -> None:
    unset = run(home.env, "config", "get", "route.background", "--json").json
    run(home.env, "config", "set", "route.background", "false")
    now = run(home.env, "config", "get", "route.background", "--json").json

    run(home.env, "config", "set", "limits.depth", "5")
    table = run(home.env, "config", "get", "limits")
    same = run(home.env, "config", "get", "limits", "--json").json
    slip = error_of(run(home.env, "config", "get", "limit"))

    assert ["limits.depth", "5", "limits.folders"] == table.out.split()[:3]
    assert (5, False, "\n") == (same["value"]["depth"], same["default"], table.out[-1])
    assert "did you mean limits?" in slip[1]
    assert {"key": "route.background", "value": True, "default": True} == unset
    assert {"key": "route.background", "value": False, "default": False} == now
