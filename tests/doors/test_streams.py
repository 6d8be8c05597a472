"""Streams that are closed, full or in a person's way: no command falls over them, and what cannot be written is said."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, Answer, environment

from metier.cli import main, output
from metier.cli.output import METER_DELAY_SECONDS as SHOWN_AFTER, Meter
from metier.cli.table import SUMMARIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home, Writer

UNWRITTEN = "error: cannot write the output: "
NAMED = {"show", "setup", "why", "diff", "history", "merge", "remove", "rollback"}
LYING = {"add", "adopt", "pack"}
WITH_A_VERB = {"plugin", "review"}


def run(home: Home, streams: str, *words: str) -> Answer:
    """Run a command with its streams closed, or turned elsewhere."""
    command = [
        "/bin/sh",
        "-c",
        f'exec "$@" {streams}',
        "sh",
        sys.executable,
        "-m",
        "metier",
        *words,
    ]
    done = subprocess.run(
        command,
        env=environment(home.env),
        cwd=home.path,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def words_of(name: str) -> list[str]:
    if name == "mcp":
        return [name, "config", "--for", "cursor"]  # alone it would wait for a client
    if name == "web":
        return [name, "--port", "70000"]  # alone it would serve until somebody stops it
    if name == "run":
        return [name, "pdf", "scripts/none.sh", "--dry-run"]
    if name in WITH_A_VERB:
        return [name, "list"]
    return (
        [name, "pdf"]
        if name in NAMED
        else [name, ".agents/skills/pdf"]
        if name in LYING
        else [name]
    )


@pytest.mark.parametrize(
    "streams", [">/dev/full", ">&-", "2>&-", "2>/dev/full", "<&- >&- 2>&-", "<&-"]
)
@pytest.mark.parametrize("name", [name for name in SUMMARIES if name != "tour"])
def test_no_command_falls_over_a_stream(name: str, streams: str, home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/pdf")

    answer = run(home, streams, *words_of(name))

    assert "Traceback" not in answer.err
    assert "unexpected" not in answer.err.partition("unexpected '")[0]
    assert answer.code in {0, 1, 2}


@pytest.mark.parametrize("more", [[], ["--json"]])
@pytest.mark.parametrize(
    ("streams", "reason"),
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
)
@pytest.mark.parametrize(
    "name", ["list", "show", "prompt", "usage", "doctor", "tools", "categories"]
)
def test_output_that_cannot_be_written_is_an_error(
    name: str, streams: str, reason: str, more: list[str], home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/pdf")

    answer = run(home, streams, *words_of(name), *more)

    assert 2 == answer.code
    assert answer.err.endswith(f"{UNWRITTEN}{reason}\n\nhint: make room, or write elsewhere\n")


def test_long_output_that_cannot_be_written_is_the_same_error(home: Home, skill: Writer) -> None:
    skill(
        "home/.agents/skills/pdf",
        text="---\nname: pdf\ndescription: Long.\n---\n" + "line\n" * 20_000,
    )

    answer = run(home, ">/dev/full", "show", "pdf")

    assert (2, True) == (answer.code, answer.err.startswith(UNWRITTEN))


def test_without_standard_error_the_answer_is_the_same(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/pdf")
    usual = run(home, "", "list", "--json")

    for streams in ("2>&-", "2>/dev/full"):
        assert (0, usual.out) == run(home, streams, "list", "--json")[:2]


# --- the meter


class Clock:
    """A clock that goes on when a test says so."""

    def __init__(self) -> None:
        """Begin somewhere."""
        self.now = 1000.0

    def __call__(self) -> float:
        """Tell the time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


@pytest.fixture
def meter(clock: Clock) -> Iterator[Meter]:
    """Give the meter of a command, and leave none behind."""
    assert clock.now
    output.METERS[:] = [Meter()]
    yield output.METERS[0]
    output.METERS.clear()


def worked(meter: Meter, clock: Clock, seconds: float) -> None:
    """Let work go on for some seconds, saying often how far it has come."""
    for step in range(int(seconds * 4)):
        clock.now += 0.25
        meter("folders", step)


def test_work_that_takes_long_is_shown_and_a_note_takes_it_away_first(
    meter: Meter, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    worked(meter, clock, SHOWN_AFTER - 0.5)
    early = capsys.readouterr().err
    worked(meter, clock, 1)
    output.note("warning: something")

    assert "" == early
    assert capsys.readouterr().err.endswith("folders ...\r\x1b[Kwarning: something\n")


def test_a_meter_does_not_flash_after_somebody_was_typing(
    meter: Meter, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    worked(meter, clock, 0.5)
    meter.clear()
    clock.now += 10
    meter.clear()

    meter("folders", 1)
    worked(meter, clock, 0.5)
    after_typing = capsys.readouterr().err
    worked(meter, clock, 1)

    assert ("", True) == (after_typing, "folders ..." in capsys.readouterr().err)


def test_slow_work_is_shown_however_seldom_it_says_how_far_it_has_come(
    meter: Meter, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    for step in (1, 2, 3):
        clock.now += 9
        meter("skills judged", step, 200)

    bar = "." * 24
    assert [
        f"scanning [{bar}] 1 of 200 skills",
        f"scanning [{bar}] 2 of 200 skills, 0.1/s, 30 min left",
        f"scanning [{bar}] 3 of 200 skills, 0.1/s, 30 min left",
    ] == capsys.readouterr().err.split("\r\x1b[K")[1:]


def test_what_is_fetched_is_told_in_megabytes_with_its_pace(
    meter: Meter, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    for count, total in ((0, 0), (3_000_000, 0), (6_000_000, 60_000_000)):
        clock.now += 2
        meter("fetched", count, total)

    assert [
        "fetching ...",
        "fetching: 3.0 MB, 1.5 MB/s ...",
        "fetching [##......................] 6.0 MB of 60.0 MB, 1.5 MB/s, 36 s left",
    ] == capsys.readouterr().err.split("\r\x1b[K")[1:]


def test_a_meter_never_takes_a_second_line(
    meter: Meter,
    clock: Clock,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output, "screen_columns", lambda _stream: 40)
    for count in (1, 2):
        clock.now += 2
        meter("skills compared", count, 20)

    assert all(len(line) < 40 for line in capsys.readouterr().err.split("\r\x1b[K"))


@pytest.mark.parametrize(
    ("words", "skills"),
    [
        (["prompt"], ["1 of 3 skills", "2 of 3 skills", "3 of 3 skills"]),
        (["find", "one thing"], ["1 of 3 skills", "2 of 3 skills", "3 of 3 skills"]),
        (["expand", "/one now"], ["1 of 1 skill"]),
        (["expand", "--commands"], ["1 of 3 skills", "2 of 3 skills", "3 of 3 skills"]),
    ],
)
def test_what_judges_first_says_how_far_it_has_come_and_of_how_much(
    home: Home,
    skill: Writer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    skills: list[str],
) -> None:
    for name in ("one", "two", "three"):
        skill(f"home/.agents/skills/{name}")
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home.path)
    monkeypatch.setattr(output, "METER_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(output, "METER_STEP_SECONDS", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    main.main(words)
    told = capsys.readouterr().err.split("\r\x1b[K")
    output.METERS.clear()

    judged = [line.partition("] ")[2].partition(",")[0] for line in told if "scanning" in line]
    assert skills == judged[: len(skills)]
