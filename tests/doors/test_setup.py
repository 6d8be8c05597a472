"""`metier setup` as a person and a script meet it: what is asked, what is kept, and which exit code follows."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, Answer, environment, error_of, run

if TYPE_CHECKING:
    from conftest import Home, Writer

VALUE = "planted-c0de"
TEXT = """---
name: weather
description: X.
required_environment_variables:
  - name: STORM_KEY
    prompt: "Key of the \\e[31mservice"
    help: https://weather.example/keys
  - WIND_KEY
  - OPENAI_API_KEY
---
Do it.
"""
READY = TEXT.replace("  - OPENAI_API_KEY\n", "")
FIELDS = ["name", "readiness", "missing", "asks", "stored", "skipped", "refused", "setup_help"]


def fed(home: Home, given: str, *words: str) -> Answer:
    """Run a command with a text on its standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "metier", *words],
        env=environment(home.env),
        cwd=home.path,
        input=given.encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def closed(home: Home, what: str, *words: str) -> Answer:
    """Run a command with a stream that is closed, or turned elsewhere."""
    command = ["/bin/sh", "-c", f'exec "$@" {what}', "sh", sys.executable, "-m", "metier", *words]
    done = subprocess.run(
        command,
        env=environment(home.env),
        cwd=home.path,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, home: Home, *words: str) -> None:
        """Start it."""
        self.outside, inside = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "metier", *words],
            cwd=home.path,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env=environment(home.env),
            start_new_session=True,
        )
        os.close(inside)
        self.seen = b""

    def until(self, end: str) -> None:
        """Read until the command waits for an answer."""
        while not self.seen.endswith(end.encode()):
            self.seen += os.read(self.outside, 1024)

    def end(self) -> int:
        """Read to the end."""
        try:
            while more := os.read(self.outside, 1024):
                self.seen += more
        except OSError:  # what Linux says when the other side is gone
            pass
        os.close(self.outside)
        return self.process.wait(timeout=PATIENCE)


def test_without_a_terminal_it_only_reports(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/weather", text=TEXT)

    told = fed(home, f"{VALUE}\n", "setup", "weather")
    document = run(home.env, "setup", "weather", "--skip", "--json", cwd=home.path)

    assert (1, True) == (
        told.code,
        told.out.startswith(
            "weather needs setup\n  missing env: STORM_KEY, WIND_KEY, OPENAI_API_KEY\n"
        ),
    )
    assert "never given: OPENAI_API_KEY" in told.out
    assert "next: metier setup weather on a terminal" in told.out
    assert (1, FIELDS) == (document.code, list(document.json)[: len(FIELDS)])
    assert ([], ["STORM_KEY", "WIND_KEY"]) == (document.json["stored"], document.json["skipped"])
    assert ["OPENAI_API_KEY"] == [one["name"] for one in document.json["refused"]]
    assert "STORM_KEY: https://weather.example/keys" == document.json["setup_help"]
    assert "No secrets" in run(home.env, "secrets", "list", cwd=home.path).out


def test_lines_of_standard_input_answer_in_order(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/weather", text=READY)

    first = fed(home, f"{VALUE}\n\n", "setup", "weather", "--stdin", "--json")
    second = fed(home, f"{VALUE}-2\n", "setup", "weather", "--stdin", "--json")
    third = run(home.env, "setup", "weather", cwd=home.path)

    assert (1, ["STORM_KEY"], ["WIND_KEY"]) == (
        first.code,
        first.json["stored"],
        first.json["skipped"],
    )
    assert (0, ["WIND_KEY"], "available") == (
        second.code,
        second.json["stored"],
        second.json["readiness"],
    )
    assert (0, "weather is ready\n") == (third.code, third.out)
    assert all(VALUE not in one.out + one.err for one in (first, second, third))
    kept = (home.path.parent / "metier-home" / "secrets" / "values.env").read_text()
    assert f'STORM_KEY="{VALUE}"\nWIND_KEY="{VALUE}-2"\n' == kept


def test_a_line_that_will_not_do_is_not_shown_and_not_asked_for_again(
    home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/weather", text=READY)

    answer = fed(home, f"{VALUE}\0\n{VALUE}\n", "setup", "weather", "--stdin", "--json")

    assert (1, ["WIND_KEY"], ["STORM_KEY"]) == (
        answer.code,
        answer.json["stored"],
        answer.json["skipped"],
    )
    assert VALUE not in answer.out + answer.err


def test_on_a_terminal_it_asks_without_echo_and_enter_skips(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/weather", text=READY)
    terminal = Terminal(home, "setup", "weather")

    terminal.until("STORM_KEY (Enter skips): ")
    os.write(terminal.outside, b"  \n")
    terminal.until("it is empty\r\nSTORM_KEY (Enter skips): ")
    os.write(terminal.outside, f"{VALUE}\n".encode())
    terminal.until("WIND_KEY (Enter skips): ")
    os.write(terminal.outside, b"\n")
    code = terminal.end()

    assert 1 == code
    assert VALUE.encode() not in terminal.seen
    assert b"\x1b[31m" not in terminal.seen
    assert b"kept: STORM_KEY" in terminal.seen
    assert ["STORM_KEY"] == [
        one["name"]
        for one in run(home.env, "secrets", "list", "--json", cwd=home.path).json["secrets"]
    ]


def test_an_interruption_leaves_nothing_behind(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/weather", text=READY)
    terminal = Terminal(home, "setup", "weather")

    terminal.until("STORM_KEY (Enter skips): ")
    os.write(terminal.outside, f"{VALUE}\n".encode())
    terminal.until("WIND_KEY (Enter skips): ")
    terminal.process.send_signal(signal.SIGINT)
    code = terminal.end()

    assert 130 == code
    assert b"Traceback" not in terminal.seen
    assert "No secrets" in run(home.env, "secrets", "list", cwd=home.path).out


def test_a_blocked_skill_asks_for_nothing(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/weather", text=READY)
    run(home.env, "trust", "block", "weather", cwd=home.path)

    answer = fed(home, f"{VALUE}\n{VALUE}\n", "setup", "weather", "--stdin")

    assert 1 == answer.code
    assert "may not be loaded" in error_of(answer)[0]


@pytest.mark.parametrize(
    ("verb", "fields", "code", "told"),
    [
        ("block", "", "blocked", "blocked"),
        ("quarantine", "", "blocked", "quarantined"),
        ("", "platforms: [windows]\n", "unsupported", "windows"),
    ],
)
def test_a_skill_that_may_not_run_or_is_for_another_system_asks_for_nothing(
    verb: str, fields: str, code: str, told: str, home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/weather", text=READY.replace("required_", f"{fields}required_", 1))
    if verb:
        run(home.env, "trust", verb, "weather", cwd=home.path)

    answer = fed(home, f"{VALUE}\n{VALUE}\n", "setup", "weather", "--stdin", "--json")
    report = run(home.env, "setup", "weather", "--skip", cwd=home.path)

    assert (1, code, True) == (answer.code, answer.json["code"], told in answer.json["message"])
    assert "No secrets" in run(home.env, "secrets", "list", cwd=home.path).out
    assert "next:" not in report.out


def test_why_a_skill_is_not_for_this_system_is_printed(home: Home, skill: Writer) -> None:
    skill(
        "home/.agents/skills/gated",
        text="---\nname: gated\ndescription: X.\nplatforms: [windows]\n---\nDo it.\n",
    )
    skill(
        "home/.agents/skills/worded",
        text="---\nname: worded\ndescription: X.\ncompatibility: Windows only\n---\nDo it.\n",
    )

    gated, worded = (run(home.env, "setup", name, cwd=home.path) for name in ("gated", "worded"))

    assert (1, "gated can't be used here\n  gate: platforms = windows, and this is linux\n") == (
        gated.code,
        gated.out,
    )
    assert (
        1,
        "worded can't be used here\n  it says that it is for windows, and this is linux\n",
    ) == (
        worded.code,
        worded.out,
    )


def test_what_is_never_given_is_told_and_nothing_is_suggested(
    home: Home, skill: Writer
) -> None:  # HE-20
    skill(
        "home/.agents/skills/weather",
        text=TEXT.replace("  - WIND_KEY\n", "").replace("name: STORM_KEY", "name: GROQ_API_KEY"),
    )

    told = run(home.env, "setup", "weather", cwd=home.path)
    why = run(home.env, "why", "weather", cwd=home.path)

    assert (1, False) == (told.code, "next:" in told.out)
    assert "never given: GROQ_API_KEY; it belongs to the agent's model provider" in told.out
    assert (
        "env GROQ_API_KEY, which is never given (it belongs to the agent's model provider"
        in why.out
    )


def test_what_is_optional_is_asked_for_last_and_marked(home: Home, skill: Writer) -> None:
    skill(
        "home/.agents/skills/weather",
        text=READY.replace("  - WIND_KEY\n", "  - RAIN_KEY\n").replace(
            "name: STORM_KEY", "optional: true\n    name: STORM_KEY"
        ),
    )
    terminal = Terminal(home, "setup", "weather")

    terminal.until("RAIN_KEY (Enter skips): ")
    os.write(terminal.outside, f"{VALUE}\n".encode())
    terminal.until("STORM_KEY (Enter skips): ")
    os.write(terminal.outside, b"\n")
    code = terminal.end()

    assert 0 == code
    assert b"STORM_KEY (optional): Key of the" in terminal.seen
    assert b"weather \x1b[32mis ready" in terminal.seen
    assert b"missing" not in terminal.seen


def test_help_about_what_was_kept_is_not_printed_any_more(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/weather", text=READY)

    answer = fed(home, f"{VALUE}\n\n", "setup", "weather", "--stdin")

    assert (1, False) == (answer.code, "https://weather.example/keys" in answer.out)


@pytest.mark.parametrize(("words", "code"), [((), 1), (("--stdin",), 2), (("--skip",), 1)])
def test_without_any_standard_input_it_reports_or_says_so(
    words: tuple[str, ...], code: int, home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/weather", text=READY)

    answer = closed(home, "<&-", "setup", "weather", *words)

    assert (code, False, False) == (
        answer.code,
        "Traceback" in answer.err,
        "unexpected" in answer.err,
    )
    assert ("on a terminal" in answer.out) == (code == 1)


def test_without_any_standard_error_it_reports(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/weather", text=READY)

    answer = closed(home, "2>&-", "setup", "weather")

    assert (1, True) == (answer.code, "on a terminal" in answer.out)


def test_a_line_without_an_end_is_no_answer_and_nor_is_what_follows_it(
    home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/weather", text=READY)

    endless = closed(home, "< /dev/zero", "setup", "weather", "--stdin", "--json")
    long = fed(home, "x" * 70_000 + "\n", "setup", "weather", "--stdin", "--json")

    assert [(1, [])] * 2 == [(answer.code, answer.json["stored"]) for answer in (endless, long)]
    assert "xxxx" not in long.out + long.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("setup",), 2),
        (("setup", "absent"), 1),
        (("setup", "weather", "--stdin", "--skip"), 2),
        (("setup", "weather", "--store", "cloud"), 2),
    ],
)
def test_a_wrong_call_is_said_to_be_one(
    words: tuple[str, ...], code: int, home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/weather", text=READY)

    assert code == run(home.env, *words, cwd=home.path).code


def test_what_is_kept_for_the_session_ends_with_the_command_and_it_says_so(
    home: Home, skill: Writer
) -> None:
    skill("home/.agents/skills/weather", text=READY)

    answer = fed(home, f"{VALUE}\n{VALUE}\n", "setup", "weather", "--stdin", "--store", "session")

    assert (0, True) == (answer.code, "ends with this command" in answer.err)
    assert 1 == run(home.env, "setup", "weather", cwd=home.path).code
