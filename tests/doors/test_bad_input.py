"""What people get wrong, and what machines do to them: each has a clear message, the right exit code and no traceback."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from doors.command import Answer, error_of, python, run

import metier
from metier.errors import ConfigError, NotFoundError

if TYPE_CHECKING:
    from conftest import Home, Writer


class Place(NamedTuple):
    """A home, a project and one skill in each."""

    env: dict[str, str]
    root: Path
    base: Path

    def config(self, text: str | bytes) -> dict[str, str]:
        """Write the user's configuration and give the environment that names it."""
        path = self.base / "metier.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return {**self.env, "METIER_CONFIG": str(path)}


@pytest.fixture
def place(tmp_path: Path, home: Home, skill: Writer) -> Place:
    skill("project/.agents/skills/fine")
    skill("home/.agents/skills/mine")
    (tmp_path / "project" / ".git").mkdir()
    return Place(home.env, tmp_path / "project" / ".agents" / "skills", tmp_path)


def names(answer: Answer) -> list[str]:
    return sorted(row["name"] for row in answer.json["skills"])


# --- the configuration file


CONFIGS: dict[str, tuple[str | bytes, str, str]] = {
    "a typo": ("skils = 1\n", "unknown key 'skils' at {path}:1", "did you mean 'skills'?"),
    "a typo further down": ("# mine\n\nhide_unready = true\n[skils]\ndisabled = []\n", "unknown key 'skils' at {path}:4", "'skills'"),
    "a typo in a table": ("[limits]\ndepth = 3\nfolder = 3\n", "unknown key 'limits.folder' at {path}:3", "'limits.folders'"),
    "a typo in a rule": ("[[skills.config]]\nnmae = 'x'\n", "unknown key 'skills.config.nmae' at {path}:2", "name"),
    "a typo in skills": ("[skills]\ndisable = ['x']\n", "unknown key 'skills.disable' at {path}:2", "'skills.disabled'"),
    "nothing like a key": ("zzz = 1\n", "unknown key 'zzz' at {path}:1", "see all settings: metier config list --all"),
    "a wrong type": ("hide_unready = 'yes'\n", "'hide_unready' at {path}:1 must be true or false", "see all settings: metier config list --all"),
    "a wrong list": ("\nexternal_dirs = '~/x'\n", "'external_dirs' at {path}:2 must be a list of texts", "see all settings: metier config list --all"),
    "a wrong scope": ("precedence = ['usr']\n", "must be a list of scopes: project, user", "see all settings: metier config list --all"),
    "a wrong choice": ("on_collision = 'last'\n", "must be 'first' or 'refuse'", "see all settings: metier config list --all"),
    "a wrong number": ("[limits]\ndepth = 0\n", "'depth' at {path}:2 must be a whole number above zero", "see all settings: metier config list --all"),
    "a wrong table": ("limits = 3\n", "'limits' at {path}:1 must be a table", "see all settings: metier config list --all"),
    "a rule without a skill": ("[[skills.config]]\nenabled = false\n", "gives neither a path nor a name", "see all settings: metier config list --all"),
    "a rule with two": ("[[skills.config]]\npath = '/x'\nname = 'x'\n", "gives both a path and a name", "see all settings: metier config list --all"),
    "not TOML": ("this is not TOML\n", "{path} is not valid TOML: ", "line"),
    "not TOML further down": ("hide_unready = true\n[limits\n", "line 2", "line"),
    "not UTF-8": (b"\xff\xfe\n", "{path} is not valid TOML: ", "line"),
    "nested too deeply": ("a = " + "[" * 50_000, "{path} is not valid TOML", "line"),
    "a number too long": ("a = " + "9" * 5_000, "{path} is not valid TOML", "line"),
    "a key twice": ("hide_unready = true\nhide_unready = false\n", "{path} is not valid TOML: ", "line"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_a_mistake_in_the_configuration_is_named_with_its_line(name: str, place: Place) -> None:
    text, message, hint = CONFIGS[name]
    env = place.config(text)

    answer = run(env, "list", cwd=place.base / "project")

    assert (2, "") == (answer.code, answer.out)
    said, told = error_of(answer)
    assert message.format(path=env["METIER_CONFIG"]) in said
    assert hint in told


def test_a_mistake_in_the_configuration_is_json_when_json_was_asked_for(place: Place) -> None:
    answer = run(place.config("skils = 1\n"), "list", "--json", cwd=place.base / "project")

    assert (2, "") == (answer.code, answer.err)
    assert ("config", "unknown key 'skils'") == (
        answer.json["code"],
        answer.json["message"].partition(" at ")[0],
    )


def test_a_mistake_in_the_configuration_is_an_exception_for_a_program(place: Place) -> None:
    with pytest.raises(ConfigError, match="unknown key 'skils'"):
        metier.open(env=place.config("skils = 1\n"))


def test_a_byte_order_mark_in_the_configuration_is_no_mistake_of_its_own(place: Place) -> None:
    answer = run(
        place.config(b"\xef\xbb\xbfhide_unready = true\n"),
        "list",
        "--json",
        cwd=place.base / "project",
    )

    # Editors on Windows write one. Taken or refused, it must not be a riddle.
    assert answer.code == 0 or "byte-order mark" in str(answer.json)


def test_a_configuration_that_was_named_and_does_not_exist_yet_is_empty_until_something_is_set(
    place: Place,
) -> None:
    config = place.base / "new" / "missing.toml"
    env = {**place.env, "METIER_CONFIG": str(config)}
    before = run(env, "list", "--json", cwd=place.base / "project")
    name = before.json["skills"][0]["name"]

    there = config.exists()
    hidden = run(env, "disable", name, cwd=place.base / "project")
    after = run(env, "list", "--json", cwd=place.base / "project")

    assert (0, False, 0) == (before.code, there, hidden.code)
    assert name in config.read_text(encoding="utf-8")
    assert name not in [skill["name"] for skill in after.json["skills"]]


def test_a_configuration_that_is_a_link_to_nothing_is_an_error(place: Place) -> None:
    config = place.base / "link.toml"
    config.symlink_to(place.base / "gone.toml")

    answer = run({**place.env, "METIER_CONFIG": str(config)}, "list", cwd=place.base / "project")

    assert 2 == answer.code
    assert "METIER_CONFIG" in error_of(answer)[1]


@pytest.mark.parametrize("kind", ["folder", "pipe", "unreadable"])
def test_a_configuration_that_cannot_be_read_is_an_error_and_not_a_wait(
    kind: str, place: Place
) -> None:
    path = place.base / "odd.toml"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.touch(mode=0)

    answer = run(
        {**place.env, "METIER_CONFIG": str(path)},
        "list",
        cwd=place.base / "project",
        powerless=True,
    )

    assert 2 == answer.code
    assert str(path) in error_of(answer)[0]


def test_without_any_configuration_the_defaults_hold(place: Place) -> None:
    answer = run(place.env, "list", "--json", cwd=place.base / "project")

    assert (0, ["fine", "mine"], "") == (answer.code, names(answer), answer.err)


# --- the project's configuration


@pytest.mark.parametrize("text", [b"this is not TOML", b"\xff", b"a = " + b"[" * 50_000])
def test_a_project_s_broken_file_is_a_warning(text: bytes, place: Place) -> None:  # MT-17
    (place.base / "project" / ".metier").mkdir()
    (place.base / "project" / ".metier" / "metier.toml").write_bytes(text)

    answer = run(place.env, "list", "--json", cwd=place.base / "project")

    assert (0, ["fine", "mine"]) == (answer.code, names(answer))
    assert "Traceback" not in answer.err
    assert answer.err.startswith("warning: ")
    assert "metier.toml" in answer.err


def test_a_project_that_asks_for_more_is_told_so_and_gets_nothing(place: Place) -> None:
    (place.base / "project" / ".metier").mkdir()
    text = f"external_dirs = ['{place.base}/elsewhere']\nskils = 1\n[limits]\ndepth = 99\n[[skills.config]]\nname = 'mine'\nenabled = false\n"
    (place.base / "project" / ".metier" / "metier.toml").write_text(text)

    answer = run(place.env, "list", "--json", cwd=place.base / "project")

    assert (0, ["fine", "mine"]) == (answer.code, names(answer))
    ignored = [row["message"] for row in answer.json["errors"] if row["code"] == "WK012"]
    assert ["'external_dirs'", "'skills'", "'skils'", "limits above your own"] == sorted(
        text.removeprefix("Ignored: ").partition(";")[0] for text in ignored
    )


# --- roots


def test_a_root_that_is_a_file_is_said_to_be_one(place: Place) -> None:
    file = place.base / "a-file"
    file.touch()

    answer = run(place.env, "list", "--json", "--root", str(file), "--root", str(place.root))

    assert (1, ["fine"]) == (answer.code, names(answer))
    assert [(str(file), "WK002")] == [(row["path"], row["code"]) for row in answer.json["errors"]]


def test_a_root_that_is_missing_is_said_to_be_missing(place: Place) -> None:
    answer = run(
        place.env,
        "list",
        "--json",
        "--root",
        str(place.base / "missing"),
        "--root",
        str(place.root),
    )
    text = run(place.env, "list", "--root", str(place.base / "missing"))

    assert (1, ["fine"]) == (answer.code, names(answer))
    assert [(str(place.base / "missing"), "WK009")] == [
        (row["path"], row["code"]) for row in answer.json["errors"]
    ]
    assert "does not exist" in text.out + text.err


@pytest.mark.parametrize("mode", [0o000, 0o100, 0o400])
def test_a_root_that_cannot_be_read_is_said_to_be_unreadable(
    mode: int, place: Place, skill: Writer
) -> None:
    skill("locked/secret")
    (place.base / "locked").chmod(mode)

    answer = run(
        place.env,
        "list",
        "--json",
        "--root",
        str(place.base / "locked"),
        "--root",
        str(place.root),
        powerless=True,
    )
    (place.base / "locked").chmod(0o755)

    # Named by hand and not readable is a "no", like missing: the others are listed all the same.
    assert ["fine"] == names(answer)
    assert str(place.base / "locked") in " ".join(row["path"] for row in answer.json["errors"])
    assert {"WK001", "SK004"} & {row["code"] for row in answer.json["errors"]}
    assert 1 == answer.code


def test_a_folder_above_a_root_that_cannot_be_entered_is_no_riddle(
    place: Place, skill: Writer
) -> None:
    skill("locked/root/secret")
    (place.base / "locked").chmod(0)

    answer = run(
        place.env, "list", "--json", "--root", str(place.base / "locked" / "root"), powerless=True
    )
    (place.base / "locked").chmod(0o755)

    assert 1 == answer.code
    assert [str(place.base / "locked" / "root")] == [row["path"] for row in answer.json["errors"]]


def test_an_empty_root_is_a_mistake_and_not_the_working_folder(place: Place) -> None:
    answer = run(place.env, "list", "--root", "", cwd=place.root)

    # A script whose variable is empty must not list whatever lies where it happens to run.
    assert 2 == answer.code


def test_a_configured_folder_that_does_not_exist_is_said(place: Place) -> None:
    env = place.config("external_dirs = ['/does/not/exist', '${METIER_NOT_SET}/skills']\n")

    answer = run(env, "list", "--json", cwd=place.base / "project")

    assert ["fine", "mine"] == names(answer)
    assert {"WK009", "WK010"} == {row["code"] for row in answer.json["errors"]}


# --- home


def without_home(env: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name not in {"HOME", "METIER_HOME"}}


def test_without_home_the_account_s_own_is_used_or_the_project_s_skills_remain(
    place: Place,
) -> None:
    answer = run(
        without_home(place.env) | {"METIER_HOME": place.env["METIER_HOME"]},
        "list",
        "--json",
        cwd=place.base / "project",
    )

    assert 0 == answer.code
    assert "fine" in names(answer)


@pytest.mark.parametrize("folder", ["/nonexistent/home", "relative/home", ""])
def test_a_home_that_does_not_exist_costs_at_most_a_warning(folder: str, place: Place) -> None:
    env = {
        **without_home(place.env),
        "HOME": folder,
        **({} if folder else {"XDG_DATA_HOME": str(place.base / "data")}),
    }

    answer = run(env, "list", "--json", cwd=place.base / "project")

    assert 0 == answer.code
    assert "fine" in names(answer)
    assert "Traceback" not in answer.err
    assert len(answer.err.splitlines()) <= 1
    assert not Path("/nonexistent").exists()
    assert not (place.base / "project" / "relative").exists()


def test_a_program_s_own_environment_is_not_mixed_with_the_process_s(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place.base / "home"))

    with metier.open(
        env={"METIER_HOME": str(place.base / "data")}, cwd=place.base / "project"
    ) as library:
        found = [card.name for card in library.skills()]

    # `env` replaces the environment wholly: the home of this process is not the home of that one.
    assert ["fine"] == found


def test_a_read_only_metier_home_costs_a_warning(place: Place) -> None:
    locked = place.base / "locked"
    locked.mkdir(mode=0o500)

    answer = run(
        {**place.env, "METIER_HOME": str(locked)},
        "list",
        "--json",
        cwd=place.base / "project",
        powerless=True,
    )
    text = run(
        {**place.env, "METIER_HOME": str(locked)},
        "list",
        cwd=place.base / "project",
        powerless=True,
    )

    assert (0, ["fine", "mine"]) == (answer.code, names(answer))
    assert (
        [f"warning: cannot write the index in {locked}/index: Permission denied"]
        == answer.err.splitlines()
        == text.err.splitlines()
    )


@pytest.mark.parametrize(
    "words", ["show fine", "why fine", "categories", "check .", "list --digests"]
)
def test_a_read_only_metier_home_stops_no_command(words: str, place: Place) -> None:
    locked = place.base / "locked"
    locked.mkdir(mode=0o500)

    answer = run(
        {**place.env, "METIER_HOME": str(locked)},
        *words.split(),
        "--json",
        cwd=place.base / "project",
        powerless=True,
    )

    assert 0 == answer.code
    assert "Traceback" not in answer.err
    assert answer.json


def test_a_full_disk_costs_a_warning_and_the_answer_stands(place: Place) -> None:
    env = {**place.env, "METIER_HOME": str(place.base / "full")}

    answer = run(env, "list", "--json", cwd=place.base / "project", file_size=0)

    assert (0, ["fine", "mine"]) == (answer.code, names(answer))
    assert 1 == len(answer.err.splitlines())
    assert "cannot write the index" in answer.err
    assert [] == [path for path in (place.base / "full").rglob("*") if path.is_file()]


# --- writing where it cannot be written


def test_a_new_skill_on_a_full_disk_is_taken_back(place: Place) -> None:
    answer = run(place.env, "new", "fresh", "--dir", "made/here", cwd=place.base, file_size=10)

    assert 2 == answer.code
    assert "cannot write" in error_of(answer)[0]
    assert not (place.base / "made").exists()


def test_a_new_skill_in_a_locked_folder_is_an_error(place: Place) -> None:
    (place.base / "locked").mkdir(mode=0o500)

    answer = run(place.env, "new", "fresh", "--dir", "locked", cwd=place.base, powerless=True)

    assert 2 == answer.code
    assert "Permission denied" in error_of(answer)[0]


@pytest.mark.parametrize("wish", [{"file_size": 0}, {"powerless": True}])
def test_a_rule_that_cannot_be_written_leaves_the_file_as_it_was(
    wish: dict[str, int], place: Place
) -> None:
    (place.base / "etc").mkdir()
    config = place.base / "etc" / "metier.toml"
    config.write_text("hide_unready = true\n")
    (place.base / "etc").chmod(0o500)

    answer = run(
        {**place.env, "METIER_CONFIG": str(config)},
        "disable",
        "fine",
        cwd=place.base / "project",
        **wish,
    )
    (place.base / "etc").chmod(0o700)

    assert 2 == answer.code
    assert "cannot write" in error_of(answer)[0]
    assert "hide_unready = true\n" == config.read_text()
    assert [] == [name for name in os.listdir(config.parent) if name.endswith(".tmp")]


# --- what vanishes


def test_a_skill_deleted_between_listing_and_reading_is_said_to_be_gone(place: Place) -> None:
    with metier.open(roots=[str(place.root)], env=place.env) as library:
        library.skills()
        shutil.rmtree(place.root / "fine")

        with pytest.raises(NotFoundError) as caught:
            library.view("fine")

    assert f"{place.root}/fine/SKILL.md was deleted after it was listed" == caught.value.message
    assert (1, "list again to see what is there") == (caught.value.exit_code, caught.value.hint)


def test_a_working_folder_that_is_gone_is_said_to_be_gone(place: Place) -> None:
    code = "import os, sys, runpy; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); sys.argv[1:] = ['list']; runpy.run_module('metier', run_name='__main__')"

    answer = python(place.env, "-c", code, cwd=place.base)

    assert 1 == answer.code
    assert "working folder no longer exists" in error_of(answer)[0]


def test_a_working_folder_that_is_gone_does_not_matter_when_c_names_another(place: Place) -> None:
    code = "import os, sys, runpy; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); sys.argv[1:] = ['list', '--json', '-C', sys.argv[1]]; runpy.run_module('metier', run_name='__main__')"

    answer = python(place.env, "-c", code, str(place.base / "project"), cwd=place.base)

    assert (0, ["fine", "mine"]) == (answer.code, names(answer))
