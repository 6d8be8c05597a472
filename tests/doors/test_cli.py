"""The command line, command by command: help, JSON, exit codes, errors with hints, pipes, signals, colour."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from doors.command import PATIENCE, Answer, environment, error_of, run

from metier.cli.table import SUMMARIES

if TYPE_CHECKING:
    from conftest import Home, Writer

NAMES = list(SUMMARIES)


class Place(NamedTuple):
    """A home and a root with a few skills in every state."""

    env: dict[str, str]
    root: str
    base: Path

    def __call__(self, *words: str, **wishes: object) -> Answer:
        """Run a command on the root."""
        return run(self.env, *words, "--root", self.root, cwd=self.base, **wishes)


@pytest.fixture
def place(tmp_path: Path, home: Home, skill: Writer) -> Place:
    pdf = skill("root/office/pdf", description="Fill in forms.")
    (pdf / "references").mkdir()
    (pdf / "references" / "forms.md").write_text("# Forms\n")
    (pdf / "assets").mkdir()
    (pdf / "assets" / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    skill("root/spare/pdf", description="The spare copy.")
    skill("root/broken", text="---\nname: broken\n\tdescription: x\n---\n")
    (tmp_path / "root" / "tool.py").write_text(
        "SKILL_NAME = 'tool'\nSKILL_DESCRIPTION = 'A tool.'\ndef run(task): ...\n"
    )
    env = {**home.env, "METIER_CONFIG": str(tmp_path / "metier.toml")}
    (tmp_path / "metier.toml").touch()
    return Place(env, str(tmp_path / "root"), tmp_path)


# --- help


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_has_help_with_examples(name: str, flag: str, home: Home) -> None:
    answer = run(home.env, name, flag)

    assert (0, "") == (answer.code, answer.err)
    assert answer.out.startswith(f"Usage: metier {name}")
    assert f"metier {name}" in answer.out.partition("Examples:\n")[2]
    assert all(
        option in answer.out for option in ("--json", "--root DIR", "--agent NAME", "-C DIR")
    )


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_lists_every_command(words: tuple[str, ...], home: Home) -> None:
    answer = run(home.env, *words)

    listed = answer.out.partition("Look around:\n")[2].partition("Options:\n")[0]
    assert (0, "") == (answer.code, answer.err)
    assert sorted(NAMES) == sorted(
        line.split()[0] for line in listed.splitlines() if line[:2] == "  " and line[2] != " "
    )


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_may_be_asked_for_by_name(name: str, home: Home) -> None:
    assert run(home.env, name, "--help") == run(home.env, "help", name)


def test_help_for_an_unknown_command_is_an_error(home: Home) -> None:
    answer = run(home.env, "help", "lsit")

    assert 2 == answer.code
    assert "metier list" in error_of(answer)[1]


def test_the_version_is_one_line(home: Home) -> None:
    answer = run(home.env, "--version")

    assert (0, "") == (answer.code, answer.err)
    assert answer.out.startswith("metier ")
    assert 1 == answer.out.count("\n")


# --- JSON


JSON_COMMANDS = {
    "list": {"skills", "errors", "truncated"},
    "list --all": {"skills", "errors", "truncated"},
    "list --digests": {"skills", "errors", "truncated"},
    "list --scope external": {"skills", "errors", "truncated"},
    "list --category office": {"skills", "errors", "truncated"},
    "categories": {"categories"},
    "show pdf": {"name", "description", "content", "linked_files", "tags", "related_skills", "readiness", "missing", "setup_help", "tokens",
                 "path", "digest"},
    "show pdf --file references/forms.md": {"name", "file", "content"},
    "show pdf --file assets/logo.png": {"is_binary", "size", "mime", "sha256"},
    "check root/office/pdf": {"checked", "skills"},
    "why pdf": {"name", "chosen", "candidates", "requires", "required_by"},
    "tree": {"skills"},
    "tree pdf": {"name", "requires", "required_by", "related"},
    "lock sbom": {"bomFormat", "specVersion", "components", "dependencies"},
    "update": {"plan", "installed", "refused", "held", "notes"},
    "outdated": {"skills"},
    "sync": {"ok", "changed", "drift"},
    "gc": {"trees", "blobs", "bytes"},
    "tap list": {"taps"},
    "tap add owner/skills": {"taps"},
    "plugin list": {"plugins", "errors"},
    "plugin sync": {"plugins", "changed", "opened", "superseded", "unreachable"},
    "review list": {"candidates"},
    "run tool task --dry-run": {"name", "script", "allowed", "asks", "reasons", "mounts", "network", "limits", "not_granted", "words"},
    "mcp config --for cursor": {"client", "file", "snippet", "changed", "written", "backup", "notes"},
    "mcp config --for codex --write --yes": {"client", "file", "snippet", "changed", "written", "backup", "notes"},
    "new fresh": {"name", "path"},
    "disable tool": {"name", "path", "state"},
    "enable tool": {"name", "path", "state"},
}  # fmt: skip


@pytest.mark.parametrize("words", JSON_COMMANDS)
def test_json_is_one_document_on_stdout_and_nothing_else(words: str, place: Place) -> None:
    answer = place(*words.split(), "--json")

    assert (0, "") == (answer.code, answer.err)
    assert JSON_COMMANDS[words] <= set(answer.json)
    assert answer.out.endswith("\n")


@pytest.mark.parametrize("name", sorted({"tour", "doctor", "completion"}))
def test_the_other_commands_take_json_too(name: str, place: Place) -> None:
    answer = place(name, *(["bash"] if name == "completion" else []), "--json")

    assert 0 == answer.code, answer.err
    assert isinstance(answer.json, dict)


@pytest.mark.parametrize("flag_at", [0, 1, 2])
def test_options_may_stand_before_or_after_the_name(flag_at: int, place: Place) -> None:
    words = ["show", "pdf"]
    words.insert(max(1, flag_at), "--json")

    assert "pdf" == place(*words).json["name"]


def test_a_row_of_a_list_has_every_field_of_the_contract(place: Place) -> None:
    rows = place("list", "--all", "--json").json["skills"]

    fields = {
        "name",
        "description",
        "scope",
        "category",
        "kind",
        "path",
        "digest",
        "state",
        "readiness",
        "tokens",
        "shadows",
        "diagnostics",
    }
    assert all(fields <= set(row) for row in rows)
    assert {"visible", "shadowed", "invalid"} == {row["state"] for row in rows}
    assert all(
        {"code", "severity", "message", "line", "column", "hint"} <= set(note)
        for row in rows
        for note in row["diagnostics"]
    )


def test_a_broken_skill_is_in_errors_of_a_plain_list(place: Place) -> None:
    answer = place("list", "--json")

    assert [f"{place.root}/broken"] == [row["path"] for row in answer.json["errors"]]
    assert {"path", "code", "message"} <= set(answer.json["errors"][0])


def test_digests_are_null_until_they_are_asked_for(place: Place) -> None:
    without, wanted = (
        place("list", "--json").json["skills"],
        place("list", "--digests", "--json").json["skills"],
    )

    assert {None} == {row["digest"] for row in without}
    assert all(row["digest"].startswith("sha256:") for row in wanted)
    assert wanted[0]["digest"] == place("show", "pdf", "--json").json["digest"]


# --- exit codes and errors


WRONG: dict[str, tuple[int, str, str]] = {
    "lsit": (2, "unknown command 'metier lsit'", "metier list"),
    "--bogus": (2, "metier has no option --bogus", "metier --help"),
    "xyzzy": (2, "unknown command 'metier xyzzy'", "metier --help"),
    "list --jsn": (2, "metier list has no option --jsn", "--json"),
    "list --al": (2, "metier list has no option --al", "--all"),
    "list -x": (2, "metier list has no option -x", "metier list --help"),
    "list extra": (2, "unexpected 'extra'", "metier list --help"),
    "list --scope nowhere": (2, "--scope cannot be 'nowhere'", "project, user"),
    "list --scope": (2, "option --scope needs a value", "--scope S"),
    "list --all=yes": (2, "option --all takes no value", "--all"),
    "list --agent codx": (2, "no agent named 'codx'", "codex"),
    "show": (2, "metier show needs NAME", "metier show --help"),
    "show pdf ocr": (2, "unexpected 'ocr'", "metier show --help"),
    "show pfd": (1, "no skill named 'pfd'", "pdf"),
    "show pdf --file missing.md": (1, "'pdf' has no file 'missing.md'", "references/forms.md"),
    "show pdf --file ../x": (1, "Path traversal", "inside the skill"),
    "why pfd": (1, "no skill named 'pfd'", "pdf"),
    "check nowhere": (1, "there is nothing at nowhere", "folder"),
    "add": (2, "metier add needs SOURCE", "metier add --help"),
    "add nowhere/": (2, "'nowhere/' is not a source", "owner/repo"),
    "remove": (2, "metier remove needs NAME...", "metier remove --help"),
    "remove pdf --yes": (1, "'pdf' is not in ", "metier disable pdf"),
    "update pfd --yes": (1, "pfd", ""),
    "diff pdf": (1, "'pdf' is not in the lock", "metier adopt"),
    "merge pdf --ours --theirs": (2, "--ours and --theirs contradict each other", "leave one"),
    "rollback pdf x": (2, "'x' is no revision", "metier history"),
    "rollback pdf 1 2": (2, "unexpected '2'", "metier rollback --help"),
    "gc --revisions many": (2, "--revisions cannot be 'many'", "whole number"),
    "new": (2, "metier new needs NAME", "metier new --help"),
    "new Not_Good": (2, "'Not_Good' is not a valid skill name", "not-good"),
    "enable pfd": (1, "no skill named 'pfd'", "pdf"),
    "disable pfd": (1, "no skill named 'pfd'", "pdf"),
    "completion": (2, "metier completion needs SHELL", "metier completion --help"),
    "completion tcsh": (2, "there is no completion for 'tcsh'", "bash, zsh, fish, powershell"),
}


@pytest.mark.parametrize("words", WRONG)
def test_an_error_says_what_and_what_next(words: str, place: Place) -> None:
    code, what, hint = WRONG[words]

    answer = run(
        place.env,
        *words.split(),
        *(
            ["--root", place.root]
            if not words.startswith(("-", "lsit", "xyz")) and words != "list --scope"
            else []
        ),
        cwd=place.base,
    )

    assert (code, "") == (answer.code, answer.out)
    said, told = error_of(answer)
    assert what in said
    assert hint in told


@pytest.mark.parametrize(
    "words", [words for words in WRONG if words not in {"list --scope", "list --jsn"}]
)
def test_an_error_is_json_when_json_was_asked_for(words: str, place: Place) -> None:
    code, what, hint = WRONG[words]

    answer = run(place.env, *words.split(), "--json", "--root", place.root, cwd=place.base)

    assert (code, "") == (answer.code, answer.err)
    assert {"code", "message", "hint"} <= set(answer.json)
    assert what in answer.json["message"]
    assert hint in answer.json["hint"]


def test_a_skill_that_is_not_found_gives_at_most_twenty_near_names(
    place: Place, skill: Writer
) -> None:  # HE-9
    for number in range(40):
        skill(f"root/office/near-{number}")

    hint = place("show", "near", "--json").json["hint"]

    assert 20 == hint.count("near-")


def test_check_answers_yes_and_no_by_its_exit_code(place: Place) -> None:
    good, bad = place("check", "root/office/pdf"), place("check", "root")
    strict = place("check", "--strict", "root/tool.py")

    assert (0, "") == (good.code, good.err)
    assert "1 skill checked, all passed" in good.out
    assert (1, "") == (bad.code, bad.err)
    assert "/broken/SKILL.md:3:" in bad.out
    assert "hint: " in bad.out
    assert strict.code in {0, 1}


def test_a_folder_without_a_skill_fails_a_check(place: Place) -> None:
    (place.base / "empty").mkdir()

    answer = place("check", "empty", "--json")

    assert (1, ["SK001"]) == (
        answer.code,
        [note["code"] for note in answer.json["skills"][0]["diagnostics"]],
    )


def test_a_root_that_is_missing_is_a_no_and_the_others_are_listed(place: Place) -> None:
    answer = place("list", "--json", "--root", str(place.base / "missing"))
    text = place("list", "--root", str(place.base / "missing"))

    assert 1 == answer.code == text.code
    assert {"pdf", "tool"} == {row["name"] for row in answer.json["skills"]}
    assert (str(place.base / "missing"), "WK009") in [
        (row["path"], row["code"]) for row in answer.json["errors"]
    ]
    assert "WK009" in text.out + text.err


def test_where_a_root_is_missing_no_skill_is_to_be_made(place: Place) -> None:
    env = {**place.env, "HOME": str(place.base / "nobody")}

    answer = run(env, "list", "--root", str(place.base / "missing"), cwd=place.base)

    assert "metier new NAME" not in answer.out
    assert "This root does not exist" in answer.out + answer.err


def test_a_setting_that_cannot_be_is_named_without_a_line_that_nobody_wrote(place: Place) -> None:
    unknown = error_of(place("config", "set", "foo", "bar"))
    wrong = error_of(place("config", "set", "supply.fast_forward", "yes"))

    see = "see all settings: metier config list --all"
    assert ("unknown key 'foo'", see) == unknown
    assert ("'supply.fast_forward' must be true or false", see) == wrong


def test_a_file_after_a_name_is_told_the_option_for_files(place: Place) -> None:
    what, hint = error_of(place("show", "pdf", "nosuchfile"))

    assert "unexpected 'nosuchfile'" == what
    assert hint.startswith("a file of it is named with --file")


# --- where to look


def test_root_may_be_repeated_and_the_first_is_the_strongest(place: Place, skill: Writer) -> None:
    skill("second/pdf", description="The second root's.")
    second = str(place.base / "second")

    ours_first = run(place.env, "list", "--json", "--root", place.root, "--root", second)
    theirs_first = run(place.env, "list", "--json", f"--root={second}", "--root", place.root)

    assert "Fill in forms." in [row["description"] for row in ours_first.json["skills"]]
    assert "The second root's." in [row["description"] for row in theirs_first.json["skills"]]


def test_a_root_is_taken_from_the_folder_that_c_names(place: Place) -> None:
    answer = run(place.env, "list", "--json", "-C", str(place.base), "--root", "root", cwd="/")

    assert (0, {place.root}) == (answer.code, {row["root"] for row in answer.json["skills"]})


def test_c_works_as_if_started_there(place: Place, skill: Writer) -> None:
    skill("project/.agents/skills/local")
    (place.base / "project" / ".git").mkdir()
    (place.base / "project" / "src").mkdir()

    there = run(place.env, "list", "--json", cwd=place.base / "project" / "src")
    from_afar = run(place.env, "list", "--json", "-C", str(place.base / "project" / "src"), cwd="/")
    relative = run(place.env, "list", "--json", "-C", "project/src", cwd=place.base)

    assert ["local"] == [row["name"] for row in there.json["skills"]]
    assert there == from_afar == relative


@pytest.mark.parametrize("folder", ["missing", "root/tool.py"])
def test_c_must_name_a_folder(folder: str, place: Place) -> None:
    answer = run(place.env, "list", "-C", folder, cwd=place.base)

    assert answer.code in {1, 2}
    assert folder in error_of(answer)[0]


def test_check_takes_paths_from_the_folder_that_c_names(place: Place) -> None:
    answer = run(place.env, "check", "office/pdf", "--json", "-C", place.root, cwd="/")

    assert [f"{place.root}/office/pdf"] == [row["path"] for row in answer.json["skills"]]


def test_what_follows_two_dashes_is_a_name(place: Place, skill: Writer) -> None:
    skill("root/office/--json")

    answer = place("show", "--", "--json")

    assert 2 == answer.code or answer.out.startswith("--json")
    assert "Traceback" not in answer.err


# --- commands


def test_list_shows_the_cost_and_what_it_leaves_out(place: Place) -> None:
    answer = place("list")

    assert (0, "") == (answer.code, answer.err)
    assert ["NAME", "SCOPE", "STATE", "TOKENS", "DESCRIPTION"] == answer.out.splitlines()[0].split()
    assert "2 skills" in answer.out
    assert "2 not shown (1 invalid, 1 shadowed): metier list --all" in answer.out
    assert "/broken/SKILL.md:3:" in answer.out


def test_list_all_gives_the_reason_of_each(place: Place) -> None:
    answer = place("list", "--all")

    assert "shadowed by " in answer.out
    assert "SK020 at SKILL.md:" in answer.out


def test_why_explains_every_copy(place: Place) -> None:
    answer = place("why", "pdf")
    found = place("why", "pdf", "--json").json

    assert "pdf: metier uses root/office/pdf" in answer.out
    assert (f"{place.root}/office/pdf", ["visible", "shadowed"]) == (
        found["chosen"],
        [one["state"] for one in found["candidates"]],
    )
    assert all(one["reasons"] for one in found["candidates"])


def test_show_takes_a_path_a_scope_and_a_name(place: Place) -> None:
    shown = [
        place("show", name, "--json").json["path"]
        for name in (
            "pdf",
            "external:pdf",
            f"{place.root}/spare/pdf",
            "root/spare/pdf",
            "spare/pdf",
        )
    ]

    assert [f"{place.root}/office/pdf"] * 2 + [f"{place.root}/spare/pdf"] * 3 == shown


def test_show_gives_the_body_and_the_names_of_files(place: Place) -> None:
    answer = place("show", "pdf")

    assert (0, "") == (answer.code, answer.err)
    assert "Do the one thing." in answer.out
    assert "references/forms.md" in answer.out


def test_show_gives_a_file_as_it_is_and_a_binary_one_by_its_facts(place: Place) -> None:
    assert "# Forms\n" == place("show", "pdf", "--file", "references/forms.md").out
    assert place("show", "pdf", "--file", "assets/logo.png").out.startswith(
        "[binary file: assets/logo.png, 10 bytes, image/png, sha256 "
    )


def test_categories_counts_what_is_visible(place: Place) -> None:
    found = place("categories", "--json").json["categories"]

    assert [("", 1), ("office", 1)] == [(one["name"], one["count"]) for one in found]
    assert "(none)" in place("categories").out


def test_a_placeholder_does_not_pass_a_strict_check(place: Place) -> None:
    made = run(place.env, "new", "release-notes", "--dir", "made", cwd=place.base)
    plain = run(place.env, "check", "made", cwd=place.base)
    strict = run(place.env, "check", "--strict", "made", cwd=place.base)

    assert (0, 0, 1) == (made.code, plain.code, strict.code)
    assert "SKILL.md:3:14: SK044 The description is still a placeholder.\n" in strict.out


def test_a_new_skill_passes_a_strict_check_once_it_is_described(place: Place) -> None:
    plain = run(
        place.env,
        "new",
        "release-notes",
        "--dir",
        "made",
        "--description",
        "Describe what changed. Use it for release notes.",
        cwd=place.base,
    )
    described = run(
        place.env,
        "new",
        "tricky",
        "--dir",
        "made",
        "--description",
        'Say "hi": it\'s 100% [new] #1 \\ \u00fc',
        "--json",
        cwd=place.base,
    )
    checked = run(place.env, "check", "--strict", "made", "--json", cwd=place.base)

    assert (0, 0) == (plain.code, described.code)
    assert (0, 2, [[], []]) == (
        checked.code,
        checked.json["checked"],
        [one["diagnostics"] for one in checked.json["skills"]],
    )
    shown = run(place.env, "show", "tricky", "--json", "--root", "made", cwd=place.base)
    assert 'Say "hi": it\'s 100% [new] #1 \\ \u00fc' == shown.json["description"]


def test_a_new_skill_never_replaces_one(place: Place) -> None:
    again = run(place.env, "new", "pdf", "--dir", "root/office", cwd=place.base)

    assert 1 == again.code
    assert "already exists" in error_of(again)[0]
    assert "Fill in forms." in (place.base / "root" / "office" / "pdf" / "SKILL.md").read_text()


def test_a_new_skill_goes_to_the_project(place: Place) -> None:
    (place.base / "project" / ".git").mkdir(parents=True)
    (place.base / "project" / "src").mkdir()

    answer = run(place.env, "new", "local", "--json", cwd=place.base / "project" / "src")

    assert f"{place.base}/project/.agents/skills/local" == answer.json["path"]


@pytest.mark.parametrize(
    ("agent", "inside", "outside"),
    [
        ("claude-code", ".claude/skills", ".claude/skills"),
        ("codex", ".agents/skills", ".agents/skills"),
        ("windsurf", ".windsurf/skills", ".codeium/windsurf/skills"),
        ("openclaw", "skills", ".agents/skills"),
    ],
)
def test_a_new_skill_for_an_agent_goes_where_that_agent_looks(
    place: Place, agent: str, inside: str, outside: str
) -> None:
    home = Path(place.env["HOME"])
    (place.base / "project" / ".git").mkdir(parents=True)
    (place.base / "project" / "src").mkdir()
    (place.base / "nowhere").mkdir()
    words = ("--agent", agent, "--json")

    here = run(place.env, "new", "local", *words, cwd=place.base / "project" / "src")
    away = run(place.env, "new", "own", *words, cwd=place.base / "nowhere")
    seen = run(place.env, "list", *words, cwd=place.base / "project" / "src")

    assert f"{place.base}/project/{inside}/local" == here.json["path"]
    assert f"{home}/{outside}/own" == away.json["path"]
    assert {"local", "own"} <= {skill["name"] for skill in seen.json["skills"]}


def test_a_new_skill_for_an_agent_that_reads_only_a_project_goes_there(place: Place) -> None:
    (place.base / "nowhere").mkdir()

    made = run(place.env, "new", "own", "--agent", "coder", "--json", cwd=place.base / "nowhere")

    assert f"{place.base}/nowhere/.agents/skills/own" == made.json["path"]


def test_what_openskills_installs_for_all_agents_is_listed(place: Place) -> None:
    home = Path(place.env["HOME"])
    project = place.base / "project"
    (project / ".git").mkdir(parents=True)
    for folder, name in ((project, "theirs"), (home, "mine")):
        target = folder / ".agent/skills" / name
        target.mkdir(parents=True)
        (target / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: It is {name}.\n---\nDo.\n"
        )

    for agent in ((), ("--agent", "universal")):
        found = run(place.env, "list", "--all", "--json", *agent, cwd=project).json["skills"]
        assert {("theirs", "project"), ("mine", "user")} <= {
            (skill["name"], skill["scope"]) for skill in found
        }


def test_disable_hides_enable_shows_and_the_rest_of_the_file_stays(place: Place) -> None:  # CX-38
    config = place.base / "metier.toml"
    config.write_text(
        "# mine\nhide_unready = true  # keep\n\n[[skills.config]]\nname = 'other'\nenabled = false\n"
    )

    hidden = place("disable", "tool", "--json").json
    refused = place("show", "tool")
    shown = place("enable", "tool", "--json").json

    assert ("hidden", "visible") == (hidden["state"], shown["state"])
    assert 1 == refused.code
    assert "metier enable tool" in error_of(refused)[1]
    text = config.read_text()
    assert "# mine\nhide_unready = true  # keep\n" in text
    rules = tomllib.loads(text)["skills"]["config"]
    assert [{"name": "other", "enabled": False}] == rules


def test_enable_after_disable_leaves_the_file_as_it_was(place: Place) -> None:
    config = place.base / "metier.toml"
    config.write_text("# mine\nhide_unready = true\n")

    place("disable", "tool")
    shown = place("enable", "tool")

    assert "# mine\nhide_unready = true\n" == config.read_text().rstrip("\n") + "\n"
    assert (
        "\nthe old rule is no longer in metier.toml; undo it with: metier disable tool" in shown.out
    )


def test_enable_by_place_undoes_a_disable_by_name_where_there_is_one_copy(place: Place) -> None:
    place("disable", "tool")
    place("enable", "external:tool")

    assert "skills" not in (place.base / "metier.toml").read_text()


def test_a_rule_that_shows_a_folder_which_is_gone_is_dropped_by_the_next_change(
    place: Place,
) -> None:
    config = place.base / "metier.toml"
    config.write_text("[[skills.config]]\npath = '/nowhere/pdf'\nenabled = true\n")

    place("disable", "tool")

    rules = tomllib.loads(config.read_text())["skills"]["config"]
    assert [{"name": "tool", "enabled": False}] == rules


def test_enabling_what_is_enabled_writes_nothing_and_says_so(place: Place) -> None:
    config = place.base / "metier.toml"

    text, document = place("enable", "tool"), place("enable", "tool", "--json").json

    assert (0, "") == (text.code, text.err)
    assert text.out.startswith("tool is enabled already (visible): ")
    assert text.out.endswith("\nnothing was written\n")
    assert (False, "visible") == (document["changed"], document["state"])
    assert not config.exists() or "skills" not in config.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "skills = {config = [{name = 'other', enabled = false}]}\n",
        "[skills]\nconfig = [{name = 'other', enabled = false}]\n",
        "[skills]\ndisabled = ['x']\n",
        "[skills]\nconfig = []\n",
        "[limits]\ndepth = 3",
        "skills.disabled = ['x']\n",
    ],
)
def test_a_rule_is_added_however_the_file_is_written(text: str, place: Place) -> None:
    (place.base / "metier.toml").write_text(text)

    answer = place("disable", "tool", "--json")

    assert (0, "") == (answer.code, answer.err)
    assert "hidden" == answer.json["state"]
    before, after = tomllib.loads(text), tomllib.loads((place.base / "metier.toml").read_text())
    assert {"name": "tool", "enabled": False} == after["skills"]["config"][-1]
    assert before.get("skills", {}).get("disabled") == after["skills"].get("disabled")
    assert [*before.get("skills", {}).get("config", [])] == after["skills"]["config"][:-1]


def test_a_linked_configuration_file_stays_a_link(place: Place) -> None:
    (place.base / "dotfiles").mkdir()
    real = place.base / "dotfiles" / "metier.toml"
    real.touch()
    (place.base / "metier.toml").unlink()
    (place.base / "metier.toml").symlink_to(real)

    place("disable", "tool")

    assert (place.base / "metier.toml").is_symlink()
    assert 'name = "tool"' in real.read_text()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_is_valid_for_its_shell(shell: str, home: Home) -> None:
    answer = run(home.env, "completion", shell)

    assert (0, "") == (answer.code, answer.err)
    assert "metier __complete" in answer.out
    if shell != "powershell" and (program := shutil.which(shell)):
        done = subprocess.run(
            [program, "-n"],
            input=answer.out.encode(),
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (0, b"") == (done.returncode, done.stderr)


# --- terminals, pipes, signals


def on_a_terminal(env: dict[str, str], *words: str) -> str:
    """Run a command with a terminal for its output; give all it printed there."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "metier", *words],
        env=environment(env),
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    except OSError:  # a terminal ends with an error, not with an empty read
        pass
    finally:
        os.close(ours)
        process.wait(timeout=PATIENCE)
    return b"".join(parts).decode()


def test_colour_is_for_terminals_that_want_it(place: Place) -> None:
    words = ("list", "--all", "--root", place.root)

    assert "\x1b[" in on_a_terminal({**place.env, "TERM": "xterm"}, *words)
    assert "\x1b[" not in on_a_terminal({**place.env, "TERM": "xterm", "NO_COLOR": "1"}, *words)
    assert "\x1b[" not in on_a_terminal({**place.env, "TERM": "dumb"}, *words)
    assert "\x1b[" not in place("list", "--all").out


def test_json_is_never_coloured(place: Place) -> None:
    assert "\x1b[" not in on_a_terminal(
        {**place.env, "TERM": "xterm"}, "list", "--json", "--root", place.root
    )


PIPED = (
    "list --json",
    "list",
    "show pdf",
    "--help",
    "list --help",
    "show missing",
    "show missing --json",
    "completion bash",
    "categories",
    "why pdf",
    "check root",
    "--version",
)


@pytest.mark.parametrize("words", PIPED)
def test_a_reader_that_goes_away_leaves_no_traceback(
    words: str, place: Place, skill: Writer
) -> None:
    for number in range(30):
        skill(f"root/office/more-{number}", description="x" * 1_000)
    (place.base / "root" / "office" / "pdf" / "SKILL.md").write_text(
        "---\nname: pdf\ndescription: Big.\n---\n" + "x" * 200_000
    )
    reader, writer = os.pipe()
    os.close(reader)
    rest = [] if words.startswith("--") else ["--root", place.root]

    process = subprocess.Popen(
        [sys.executable, "-m", "metier", *words.split(), *rest],
        cwd=place.base,
        env=environment(place.env),
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    _out, err = process.communicate(timeout=PATIENCE)

    assert b"Traceback" not in err
    assert b"Exception ignored" not in err
    assert process.returncode in {0, 1, 141}


def test_a_full_disk_under_the_output_is_an_error_with_a_code(place: Place) -> None:
    for words in (("list", "--json"), ("list",), ("--help",), ("show", "missing", "--json")):
        with open("/dev/full", "wb") as full:
            answer = run(
                place.env,
                *words,
                *([] if words[0].startswith("--") else ["--root", place.root]),
                stdout=full,
            )
        assert "Traceback" not in answer.err, words
        assert "Exception ignored" not in answer.err, words
        assert 0 != answer.code


def test_control_c_ends_a_command_quietly_with_130(place: Place) -> None:
    (place.base / "root" / "office" / "pdf" / "SKILL.md").write_text(
        "---\nname: pdf\ndescription: Big.\n---\n" + "x" * 5_000_000
    )
    # What is too large to be judged whole is not shown before somebody has answered for it.
    accept = ("--accept-dangerous", "--reason", "It is all one letter.", "--yes")
    assert 0 == run(place.env, "trust", "approve", "pdf", *accept, "--root", place.root).code
    process = subprocess.Popen(
        [sys.executable, "-m", "metier", "show", "pdf", "--root", place.root],
        env=environment(place.env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.read(1)  # it has begun to write, and waits because nobody reads on

    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=PATIENCE)

    assert 130 == process.returncode
    assert b"Traceback" not in err


def test_something_unexpected_is_an_error_with_code_2(place: Place) -> None:
    # A module that breaks stands for a fault in metier itself.
    (place.base / "broken").mkdir()
    (place.base / "broken" / "sitecustomize.py").write_text(
        "import metier.library\nmetier.library.open_library = None\n"
    )
    env = environment(place.env)

    answer = run(
        {**place.env, "PYTHONPATH": f"{place.base}/broken{os.pathsep}{env['PYTHONPATH']}"},
        "list",
        "--json",
        "--root",
        place.root,
    )

    assert 2 == answer.code


def test_output_survives_a_terminal_that_knows_only_ascii(place: Place, skill: Writer) -> None:
    skill("root/office/caf\u00e9", description="\u00fcber \U0001f600")

    for words in (("list",), ("list", "--json"), ("show", "caf\u00e9"), ("why", "caf\u00e9")):
        answer = run({**place.env, "PYTHONIOENCODING": "ascii"}, *words, "--root", place.root)
        assert "Traceback" not in answer.err, answer.err
        assert 0 == answer.code


# --- the two that look at the machine


@pytest.mark.parametrize("words", [("doctor",), ("doctor", "--agents"), ("tour",)])
def test_doctor_and_tour_run_on_an_empty_machine_and_leave_nothing_behind(
    words: tuple[str, ...], tmp_path: Path, home: Home
) -> None:
    before = sorted(path for path in tmp_path.rglob("*") if "metier-home" not in str(path))
    (tmp_path / "temporary").mkdir()

    answer = run({**home.env, "TMPDIR": str(tmp_path / "temporary")}, *words, cwd=home.path)

    assert 0 == answer.code, answer.err
    assert answer.out
    assert "Traceback" not in answer.out + answer.err
    assert [] == list((tmp_path / "temporary").iterdir())
    (tmp_path / "temporary").rmdir()
    assert before == sorted(path for path in tmp_path.rglob("*") if "metier-home" not in str(path))


def test_doctor_tells_what_is_wrong_instead_of_failing(tmp_path: Path, home: Home) -> None:
    (tmp_path / "metier.toml").write_text("skils = 1\n")

    answer = run(
        {**home.env, "METIER_CONFIG": str(tmp_path / "metier.toml")}, "doctor", cwd=home.path
    )

    assert answer.code in {1, 2}
    assert "skils" in answer.out + answer.err
    assert "Traceback" not in answer.err


def test_json_of_doctor_names_the_folders_it_looks_in(place: Place) -> None:
    answer = run(place.env, "doctor", "--json", cwd=place.base)

    assert place.env["METIER_HOME"] in json.dumps(answer.json)


def test_the_options_of_every_command_may_stand_before_it(place: Place) -> None:
    answer = run(place.env, "--json", "--root", place.root, "-C", str(place.base), "list")

    assert 0 == answer.code
    assert answer.json["skills"]
