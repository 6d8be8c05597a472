"""The tour: real commands on real folders, offline, and not a trace of it afterwards."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from doors.command import PATIENCE, Answer, environment, run

import metier
from metier.cli import main
from metier.cli.commands import tour
from metier.discover.io import packages
from metier.errors import NotFoundError

if TYPE_CHECKING:
    from conftest import Home, Writer

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "examples" / "skills"
TOUR = [sys.executable, "-m", "metier", "tour"]


class Ground:
    """A home, a temporary folder and a working folder, and how they looked before."""

    def __init__(self, home: Home, folder: Path) -> None:
        self.temporary, self.cwd = folder / "tmp", folder / "work"
        self.temporary.mkdir()
        self.cwd.mkdir()
        self.env = {**home.env, "TMPDIR": str(self.temporary)}
        self.folders = (home.path, self.temporary, self.cwd, Path(home.env["METIER_HOME"]))
        self.before = self.now()

    def now(self) -> dict[str, tuple[int, int]]:
        """Give the size and time of everything there is below them."""
        paths = [path for folder in self.folders for path in folder.rglob("*")]
        return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths}

    def tour(self, *words: str, **env: str) -> Answer:
        return run({**self.env, **env}, "tour", *words, cwd=self.cwd)


@pytest.fixture
def ground(home: Home, tmp_path: Path) -> Ground:
    return Ground(home, tmp_path)


def story(document: dict[str, Any], title: str) -> Any:
    return next(step["answer"] for step in document["examples"] if step["title"] == title)


def test_the_tour_tells_the_story_of_every_example(ground: Ground) -> None:
    answer = ground.tour()

    assert (0, "") == (answer.code, answer.err)
    for expected in (
        "project is now trusted: ",
        "project/.agents/skills/meeting-minutes/SKILL.md:3:14: SK021",
        "dangerous",
        "installed their-skill",
        "merged with your edits",
        "hint: ",
        "shadowed by project/.agents/skills/release-notes: project comes before user",
        "release-notes: Claude Code uses ~/.claude/skills/release-notes",
        "brand-kit:palette",
        "1  csv-report ",
        " of 7 skills, ",
    ):
        assert expected in answer.out
    assert "error:" not in answer.out


def test_every_example_skill_is_shown(ground: Ground) -> None:
    names = {path.parent.name for path in EXAMPLES.rglob("SKILL.md")} - {"palette"} | {
        "word-count",
        "brand-kit:palette",
    }

    listed = story(ground.tour("--json").json, "Everything there is")["skills"]

    assert names == {skill["name"] for skill in listed}


def test_the_tour_ends_with_the_next_command_to_type(ground: Ground, skill: Writer) -> None:
    first = ground.tour().out.splitlines()[-1]
    skill("home/.agents/skills/pdf")
    second = ground.tour().out.splitlines()[-1]

    assert "Next: metier new my-first-skill" == first
    assert "Next: metier list --all" == second


def test_the_tour_begins_with_what_this_machine_has_and_what_is_wrong_with_it(
    ground: Ground, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")
    skill(
        "home/.agents/skills/notes",
        text="---\nname: notes\ndescription: Two things: this and that.\n---\nDo it.\n",
    )
    skill("work/.agents/skills/torn", text="---\nname: torn\nno closing fence\n")

    out = ground.tour().out

    machine = out.partition("Bundled examples")[0]
    assert "Skills: 3 in 2 folders; 1 project, 2 user; 1 invalid, 2 visible." in machine
    assert "~/.agents/skills/notes/SKILL.md:3:14: SK021" in machine
    assert ".agents/skills/torn/SKILL.md:1:1: SK011" in machine


def test_what_is_yours_comes_with_the_commands_that_are_worth_trying(
    ground: Ground, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")
    skill("home/.claude/skills/pdf")
    skill("work/.agents/skills/waits")
    skill("home/.agents/skills/torn", text="---\nname: torn\nno closing fence\n")

    yours = ground.tour().out.partition("Bundled examples")[0]

    tried = [
        line.split("  ")[1] for line in yours.partition("Try on them:\n")[2].splitlines() if line
    ]
    assert ["metier list", "metier prompt", "metier why pdf", "metier trust project ."] == tried[:4]
    assert ["metier check ~/.agents/skills/torn"] == tried[4:]


def test_the_tour_names_the_agents_that_are_installed(ground: Ground, skill: Writer) -> None:
    skill("home/.claude/skills/pdf")

    agents = ground.tour("--json").json["machine"]["agents"]

    assert ("claude-code", 1) in {(agent["id"], agent["skills"]) for agent in agents}


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_the_tour_leaves_nothing_behind(
    words: tuple[str, ...], ground: Ground, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")
    before = ground.now()

    answer = ground.tour(*words)

    assert 0 == answer.code
    assert before == ground.now()
    assert [] == list(ground.temporary.iterdir())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_tour_leaves_nothing_behind(number: int, code: int, ground: Ground) -> None:
    # The pipe is smaller than what the tour has to say, so it stands still half-way until somebody reads.
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    env = environment({**ground.env, "PYTHONUNBUFFERED": "1"})
    process = subprocess.Popen(
        TOUR, env=env, cwd=ground.cwd, stdout=writing, stderr=subprocess.DEVNULL
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as output, process:
        staged = _waited_for(ground.temporary)

        process.send_signal(number)
        output.read()
        ended = process.wait(PATIENCE)

    assert staged
    assert code == ended
    assert [] == list(ground.temporary.iterdir())
    assert ground.before == ground.now()


def _waited_for(folder: Path) -> bool:
    """Wait until the stage is built."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if list(folder.glob("*/project/.git")):
            return True
        time.sleep(0.01)
    return False


def test_a_reader_who_leaves_early_ends_the_tour_without_a_trace(ground: Ground) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        answer = run({**ground.env, "PYTHONUNBUFFERED": "1"}, "tour", cwd=ground.cwd, stdout=closed)

    assert (141, "") == (answer.code, answer.err)
    assert [] == list(ground.temporary.iterdir())


def test_the_tour_needs_no_network(capsys: pytest.CaptureFixture[str]) -> None:
    # Sockets are off in every test: a connection would raise here.
    code = main.main(["tour"])

    assert 0 == code
    assert "Bundled examples" in capsys.readouterr().out


def test_a_piped_tour_is_plain_text(ground: Ground) -> None:
    assert "\x1b" not in ground.tour(TERM="xterm-256color").out


@pytest.mark.parametrize(
    ("surroundings", "coloured"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
    ],
)
def test_on_a_terminal_the_tour_is_coloured_where_the_terminal_can(
    surroundings: dict[str, str], coloured: bool, ground: Ground
) -> None:
    shown = _on_a_terminal({**ground.env, **surroundings}, ground.cwd)

    assert coloured == ("\x1b[" in shown)
    assert "Next: " in shown.replace("\x1b[0m", "")


def test_no_temporary_path_is_ever_shown(ground: Ground) -> None:
    shown = [
        _on_a_terminal({**ground.env, "TERM": "dumb"}, ground.cwd),
        ground.tour().out,
        ground.tour("--json").out,
    ]

    assert [False] * 3 == ["metier-" in text.replace("metier-home", "") for text in shown]
    assert "shadowed by /" not in shown[0]


@pytest.mark.parametrize(
    ("typed", "words", "waits", "last"),
    [
        ("\n" * len(tour.TOUR_STEPS), (), len(tour.TOUR_STEPS), "What its script would be allowed"),
        ("\n\nq", (), 3, "Everything there is"),
        ("", ("--yes",), 0, "What its script would be allowed"),
    ],
)
def test_on_a_terminal_the_tour_waits_between_two_steps(
    typed: str, words: tuple[str, ...], waits: int, last: str, ground: Ground
) -> None:
    env = {**ground.env, "TERM": "dumb"}

    shown = _on_a_terminal(env, ground.cwd, *words, typed=typed)

    titles = [step.title for step in tour.TOUR_STEPS if f"\n{step.title}\r\n" in shown]
    assert (waits, last) == (shown.count("-- Enter: step "), titles[-1])
    assert "Next: metier new my-first-skill" in shown


def _on_a_terminal(env: dict[str, str], cwd: Path, *words: str, typed: str | None = None) -> str:
    """Run the tour on a terminal of 80 columns, and give what it shows."""
    outside, inside = pty.openpty()
    termios.tcsetwinsize(inside, (24, 80))
    stdin = subprocess.DEVNULL if typed is None else inside
    process = subprocess.Popen(
        [*TOUR, *words],
        env=environment(env),
        cwd=cwd,
        stdin=stdin,
        stdout=inside,
        stderr=inside,
    )
    os.close(inside)
    os.write(outside, (typed or "").encode())
    shown = b""
    with process:
        try:
            while block := os.read(outside, 65536):
                shown += block
        except OSError:  # this is how Linux says that the last writer is gone
            pass
    os.close(outside)
    return shown.decode()


def test_a_home_that_does_not_exist_is_not_made(ground: Ground, tmp_path: Path) -> None:
    answer = ground.tour(HOME=str(tmp_path / "gone"))

    assert 0 == answer.code
    assert "Bundled examples" in answer.out
    assert not (tmp_path / "gone").exists()


def test_a_faulty_configuration_is_told_and_the_examples_follow(
    ground: Ground, tmp_path: Path
) -> None:
    config = tmp_path / "metier.toml"
    config.write_text("skils = 1\n")

    answer = ground.tour(METIER_CONFIG=str(config))

    assert 0 == answer.code
    assert "unknown key 'skils'" in answer.out
    assert "1 skill checked, 1 failed" in answer.out
    assert "Next: metier doctor" == answer.out.splitlines()[-1]


def test_no_room_for_a_temporary_folder_is_a_clear_error(ground: Ground) -> None:
    answer = run(ground.env, "tour", cwd=ground.cwd, file_size=0)

    assert 2 == answer.code
    assert answer.err.startswith("error: cannot ")
    assert "TMPDIR" in answer.err
    assert [] == list(ground.temporary.iterdir())


def test_what_the_user_has_set_does_not_reach_the_stage(ground: Ground) -> None:
    theirs = {
        "MAILER_TOKEN": "of-the-user",
        "METIER_AGENT": "codex",
        "CLAUDE_CONFIG_DIR": "/nowhere",
    }

    document = ground.tour("--json", **theirs).json

    assert (
        "~/.claude/skills/release-notes"
        == story(document, "The same question for Claude Code")["chosen"]
    )


def test_the_document_holds_the_same_facts(ground: Ground) -> None:
    answer = ground.tour("--json")

    document = json.loads(answer.out)
    assert (0, "") == (answer.code, answer.err)
    assert ["machine", "examples", "next"] == list(document)
    assert [step.title for step in tour.TOUR_STEPS] == [
        told["title"] for told in document["examples"]
    ]
    assert [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0] == [told["exit"] for told in document["examples"]]
    assert (True, "project") == (
        document["examples"][0]["answer"]["trusted"],
        document["examples"][0]["answer"]["project"],
    )
    assert "project/.agents/skills/release-notes" == story(document, "A shadowed one")["chosen"]
    assert (
        "project/.agents/skills/csv-report"
        == story(document, "The one that fits")["hits"][0]["path"]
    )


def test_the_installed_package_is_asked_for_examples_before_the_repository(tmp_path: Path) -> None:
    package, beside = tmp_path / "site" / "metier", tmp_path / "examples" / "skills"
    beside.mkdir(parents=True)
    package.mkdir(parents=True)
    from_source = tour.find_examples(str(package))
    (package / "examples" / "skills").mkdir(parents=True)

    from_package = tour.find_examples(str(package))

    assert str(beside) == from_source
    assert str(package / "examples" / "skills") == from_package


def test_missing_examples_are_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="examples are not there"):
        tour.find_examples(str(tmp_path / "site" / "metier"))


def test_the_package_ships_the_examples_where_the_tour_looks() -> None:
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"][
        "targets"
    ]

    assert {"examples/skills": "metier/examples/skills"} == build["wheel"]["force-include"]
    assert "/examples" in build["sdist"]["include"]
    package = Path(metier.__file__).parent
    shipped = (
        package / "examples" / "skills"
    )  # in an installed metier; in a checkout the repository's own are found
    assert str(shipped if shipped.is_dir() else EXAMPLES) == tour.find_examples(str(package))


def test_an_installed_metier_does_not_offer_its_examples_as_skills(tmp_path: Path) -> None:
    files = [
        path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*") if path.is_file()
    ]
    record = tmp_path / "metier-0.1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("".join(f"metier/examples/skills/{file},sha256=x,1\n" for file in files))

    assert [] == packages.shipped_skills(str(tmp_path), packages.records(str(tmp_path)))
