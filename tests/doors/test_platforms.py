"""What the doors say where metier is not at home: on macOS and, as far as it can be simulated, on Windows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, Answer, environment, error_of

from metier.errors import SandboxError
from metier.library import open_library
from metier.run.model import NoSandbox

if TYPE_CHECKING:
    from conftest import Home, Writer

WINDOWS = Path(__file__).parent.parent / "fakes/windows.py"
NOT_ON_WINDOWS = ("metier can't install or change skills on Windows yet", "run metier inside WSL")


class Machine:
    """A machine with Windows on it, and one skill of the user's with a script."""

    def __init__(self, home: Home, skill: Writer) -> None:
        self.env = {**environment(home.env), "USERNAME": "ada", "APPDATA": f"{home.path}/AppData"}
        self.folder = home.path
        self.pdf = skill(home.path / ".agents/skills/pdf")
        (self.pdf / "scripts").mkdir()
        (self.pdf / "scripts/fill.sh").write_text("echo filled\n")

    def __call__(self, *words: str) -> Answer:
        done = subprocess.run(
            [sys.executable, str(WINDOWS), *words],
            env=self.env,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            text=True,
        )
        return Answer(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def windows(home: Home, skill: Writer) -> Machine:
    return Machine(home, skill)


# --- Windows


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("list",), "pdf"),
        (("show", "pdf"), "Do the one thing."),
        (("why", "pdf"), "the only copy"),
        (("check", ".agents/skills/pdf"), "1 skill checked"),
        (("scan", ".agents/skills/pdf"), "1 safe"),
        (("prompt",), "pdf"),
        (("find", "thing"), "pdf"),
    ],
)
def test_on_windows_skills_are_read(
    windows: Machine, words: tuple[str, ...], expected: str
) -> None:
    answer = windows(*words)

    assert (0, True) == (answer.code, expected in answer.out), answer


@pytest.mark.parametrize(
    "words", [("add", "elsewhere/csv", "--yes"), ("sync",), ("update", "--yes"), ("gc",)]
)
def test_on_windows_a_change_is_refused_in_plain_words(
    windows: Machine, skill: Writer, words: tuple[str, ...]
) -> None:
    skill(windows.folder / "elsewhere/csv")

    answer = windows(*words)

    assert (1, NOT_ON_WINDOWS) == (answer.code, error_of(answer))
    assert not (windows.folder / ".agents/skills/csv").exists()


def test_on_windows_doctor_names_neither_bubblewrap_nor_permissions(windows: Machine) -> None:
    answer = windows("doctor")

    assert 0 == answer.code, answer
    assert "running scripts needs Linux, and this is Windows; run it inside WSL" in answer.out
    assert "bubblewrap" not in answer.out
    assert "sandbox lacks something" not in answer.out
    assert "ermission" not in answer.out


def test_on_windows_a_rule_of_the_user_s_is_written(windows: Machine) -> None:
    answer = windows("disable", "pdf")

    assert 0 == answer.code, answer
    assert "pdf" not in windows("list").out


def test_on_windows_run_says_that_it_needs_linux(windows: Machine) -> None:
    answer = windows("run", "pdf", "--yes")

    assert "running scripts needs Linux, and this is Windows" == error_of(answer)[0]


# --- macOS


@pytest.mark.parametrize(
    ("platform", "name"), [("darwin", "macOS"), ("win32", "Windows"), ("freebsd14", "freebsd14")]
)
def test_without_linux_nothing_is_planned_or_run(
    home: Home, skill: Writer, tmp_path: Path, platform: str, name: str
) -> None:
    skill(home.path / ".agents/skills/pdf")

    with open_library(env=home.env, cwd=tmp_path) as m:
        m.context.platform = platform
        with pytest.raises(SandboxError) as planned:
            m.preview_run("pdf")
        with pytest.raises(SandboxError) as run:
            m.run("pdf", consent=True)
        layers = m.sandbox_layers()

    assert f"running scripts needs Linux, and this is {name}" == planned.value.message
    assert ("no-sandbox", planned.value.message) == (run.value.code, run.value.message)
    assert [("Linux", False, True)] == [(one.name, one.active, one.needed) for one in layers]


def test_a_host_s_own_sandbox_is_used_on_every_system(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    skill(home.path / ".agents/skills/pdf")

    with open_library(env=home.env, cwd=tmp_path) as m:
        m.context.platform = "darwin"
        m.context.sandbox = own = NoSandbox("darwin")

        m.context.check_runs_here()

        assert own is m.context.open_sandbox()
