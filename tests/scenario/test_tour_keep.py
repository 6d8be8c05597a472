"""The demo that the tour leaves behind: the commands of the README and of the tutorial work in it, to the letter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, environment, error_of, run
from doors.upstream import Upstream, text_of

import metier
from metier.cli.commands import tour

if TYPE_CHECKING:
    from conftest import Home

REPOSITORY = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOG = "calls.txt"
PRELUDE = f"""
metier() {{ "$PYTHON" -m metier "$@"; echo "$? $*" >> "$CALLS/{LOG}"; }}
"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Give the folder that the tour leaves behind."""
    made = tmp_path / "demo"
    tour.keep_demo(str(made), tour.find_examples(str(Path(metier.__file__).parent)))
    return made


def blocks(page: str, title: str = "") -> list[tuple[str, str]]:
    """Give the fenced blocks of a page, or of one of its sections, with their languages."""
    text = (REPOSITORY / page).read_text()
    if title:
        text = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return FENCE.findall(text)


def follow(home: Home, folder: Path, script: str) -> list[tuple[int, str]]:
    """Run a shell's lines as a person pastes them; give the calls of metier with their exit codes."""
    calls = folder.parent / LOG
    calls.unlink(missing_ok=True)
    env = environment({**home.env, "PYTHON": sys.executable, "CALLS": str(folder.parent)})
    done = subprocess.run(
        ["bash", "-c", PRELUDE + script],
        env=env,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=4 * PATIENCE,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return [
        (int(code), words)
        for code, _space, words in (line.partition(" ") for line in calls.read_text().splitlines())
    ]


def said_yes(script: str) -> str:
    """Say yes beforehand to what a person is asked."""
    return re.sub(r"^metier add (?!.*--yes)", "metier add --yes ", script, flags=re.MULTILINE)


def test_the_five_commands_of_the_readme_work_in_the_demo(
    home: Home, demo: Path, tmp_path: Path
) -> None:
    upstream = Upstream(tmp_path / "anthropics")  # what the network would have
    upstream.commit({"skills/pdf/SKILL.md": text_of("pdf")})
    _language, script = blocks("README.md", "Five commands")[0]

    calls = follow(home, demo, said_yes(script).replace("anthropics/skills", upstream.url))

    assert ["list", "why", "scan", "add", "update"] == [words.split()[0] for _code, words in calls]
    assert {"list": 0, "scan": 0, "add": 0, "update": 0} == {
        words.split()[0]: code for code, words in calls if not words.startswith("why")
    }
    assert (demo / ".agents/skills/pdf/SKILL.md").is_file()


def test_what_the_readme_shows_is_what_the_demo_says(home: Home, demo: Path) -> None:
    shown = next(text for language, text in blocks("README.md") if language == "console")
    command, _newline, expected = shown.removeprefix("$ metier ").partition("\n")

    answer = run(home.env, *command.split(), cwd=demo)

    assert answer.out.startswith(expected)


def tutorial() -> str:
    """Give the tutorial as one script, with what it asks the reader to do by hand."""
    parts = []
    edit = "sed -i 's/^description: .*/{}/' .agents/skills/release-notes/SKILL.md"
    quoted = 'description: "Release notes: what is new, in plain words. Use it for releases."'
    for language, text in blocks("docs/tutorial.md"):
        if language == "yaml":
            parts.append(edit.format(text.strip()))
        elif language == "sh":
            parts += [edit.format(quoted)] * ("--strict" in text)
            parts.append(said_yes(text))
    return "\n".join(parts)


def test_the_tutorial_can_be_followed_to_the_letter_in_the_demo(home: Home, demo: Path) -> None:
    calls = follow(home, demo, tutorial())

    assert [
        (1, "check .agents/skills/release-notes"),
        (1, "scan incoming"),
        (1, "add incoming --skill table-tidy --yes"),
    ] == [(code, words) for code, words in calls if code]
    assert not (demo / "demo").exists()
    assert not (home.path / ".agents/skills/release-notes").exists()


def test_the_demo_is_a_project_of_its_own(home: Home, demo: Path) -> None:
    listed = run(home.env, "list", "--all", "--json", cwd=demo).json["skills"]

    assert {"csv-report", "pdf", "release-notes", "meeting-minutes"} <= {
        one["name"] for one in listed
    }
    assert "table-tidy" not in {one["name"] for one in listed}
    assert (demo / ".git").is_dir()


def test_a_machine_without_git_gets_the_same_files_and_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    tour.keep_demo(str(tmp_path / "demo"), tour.find_examples(str(Path(metier.__file__).parent)))

    assert (tmp_path / "demo/.git").is_dir()
    assert (tmp_path / "demo/team-skills/skills/release-post/SKILL.md").is_file()
    assert not (tmp_path / "demo/team-skills/.git").exists()


@pytest.mark.parametrize("full", ["file", "folder"])
def test_a_folder_that_holds_something_is_left_alone(full: str, home: Home, tmp_path: Path) -> None:
    place = tmp_path / "place"
    if full == "folder":
        place.mkdir()
        (place / "mine.txt").write_text("mine")
    else:
        place.write_text("mine")

    answer = run(home.env, "tour", "--keep", "place", cwd=tmp_path)

    assert 2 == answer.code
    assert "is not an empty folder" in error_of(answer)[0]
    assert (
        ["mine.txt"] == [path.name for path in place.iterdir()]
        if full == "folder"
        else place.is_file()
    )


def test_an_empty_folder_is_filled_and_named_at_the_end(home: Home, tmp_path: Path) -> None:
    (tmp_path / "work/demo").mkdir(parents=True)

    told = run(home.env, "tour", "--keep", "demo", "-C", "work", cwd=tmp_path)
    (tmp_path / "other").mkdir()
    document = run(home.env, "tour", "--keep", "other", "--json", cwd=tmp_path).json

    assert told.out.endswith("Next: cd demo && metier list\n")
    assert "Only the demo is left behind." in told.out
    assert (tmp_path / "work/demo/their-skill/SKILL.md").is_file()
    assert os.path.realpath(tmp_path / "other") == os.path.realpath(document["kept"])
