"""What the tests share: a home that is not yours, a writer of skills, and reasons for what cannot run here."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from fakes.plugs import Plugs

os.environ["METIER_SCAN_MODEL"] = "off"
"""Rules alone judge in the tests, here and in processes that they start, unless a test is about the
model: one that reads every skill would take most of the time."""

os.environ["METIER_BACKGROUND"] = "off"
"""No search of a test leaves a process behind, unless the test is about it."""

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"

DESCRIPTION = "Does one thing. Use it for that thing."

PROGRAMS = {
    "bubblewrap": ("bwrap",),
    "node": ("node",),
    "python3": ("/usr/bin/python3",),
    "chromium": ("chromium", "chromium-browser"),
    "postgresql": ("postgres", "pg_ctl", "pg_ctlcluster"),
    "docker_registry": ("docker-registry",),
}
"""What some tests need beside Python. The continuous run installs them all and fails on 'needs …' in a skip."""

# The same examples on every run and no limit by the clock: a busy machine must not fail a test.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


class Home(NamedTuple):
    """A home folder made for one test, and the whole environment of a process that lives in it."""

    path: Path
    env: dict[str, str]


class Writer(Protocol):
    """Writes one skill and gives its folder."""

    def __call__(
        self,
        path: str | Path,
        name: str | None = None,
        text: str | None = None,
        description: str = DESCRIPTION,
    ) -> Path:
        """Write `path/SKILL.md`, below the test's own folder; `text` replaces the whole file."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Give an empty home; pass `env=home.env` to `metier.open`, or to a process."""
    folder = tmp_path / "home"
    folder.mkdir()
    env = {
        "HOME": str(folder),
        "METIER_HOME": str(tmp_path / "metier-home"),
        "METIER_SCAN_MODEL": "off",
        "METIER_BACKGROUND": "off",
        "PATH": os.environ.get("PATH", os.defpath),
    }
    return Home(folder, env)


@pytest.fixture(autouse=True)
def _rules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rules alone judge where a test makes an environment of its own, too."""
    monkeypatch.setattr("metier.discover.io.packages.has_model_runtime", bool)


@pytest.fixture
def skill(tmp_path: Path) -> Writer:
    """Give a writer of skills: `skill("skills/pdf")`, `skill("skills/pdf", text=…)`."""

    def write(
        path: str | Path,
        name: str | None = None,
        text: str | None = None,
        description: str = DESCRIPTION,
    ) -> Path:
        folder = tmp_path / path
        folder.mkdir(parents=True, exist_ok=True)
        if text is None:
            text = f"---\nname: {name or folder.name}\ndescription: {description}\n---\n\nDo the one thing.\n"
        (folder / "SKILL.md").write_bytes(text.encode())
        return folder

    return write


@pytest.fixture
def plugs(tmp_path: Path) -> Plugs:
    """Give a machine with a plugin that nobody has enabled."""
    from fakes.plugs import Plugs  # few tests need all that it loads

    return Plugs(tmp_path)


@pytest.fixture
def enabled(plugs: Plugs) -> Plugs:
    """Give a machine with a plugin that is enabled."""
    plugs.enable()
    return plugs


@pytest.fixture(scope="session")
def data() -> Path:
    """Give the folder of real skills that lies beside the project, where there is one."""
    if not DATA.is_dir():
        pytest.skip("needs the shared data beside the project")
    return DATA


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heard() -> None:
    """Have SIGHUP and SIGINT mean what they mean on a terminal, wherever the tests run.

    nohup has the first ignored, and a shell has the second ignored by what it starts in the background. What ignores a
    signal hands that on to every process it starts, and metier honours it there. A handler goes no further than this
    process, which outlives its terminal still.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda _number, _frame: None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _nobody_s_configuration(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Keep a test that forgot `env=` away from the real home, index and configuration."""
    nowhere = tmp_path_factory.getbasetemp() / "nobody"
    nowhere.mkdir(exist_ok=True)
    for name in (
        "METIER_CONFIG",
        "METIER_AGENT",
        "CODEX_HOME",
        "CLAUDE_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(nowhere))
    monkeypatch.setenv("METIER_HOME", str(nowhere / "metier-home"))


def pytest_configure(config: pytest.Config) -> None:
    """Make one marker for each program that a test may need."""
    for name in PROGRAMS:
        config.addinivalue_line("markers", f"{name}: this test needs {name} on the machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs an absent program, always with the same words; open loopback where a test says so."""
    absent = {
        name
        for name, commands in PROGRAMS.items()
        if not any(_found(command) for command in commands)
    }
    for item in items:
        for name in PROGRAMS:
            if name in absent and item.get_closest_marker(name):
                item.add_marker(pytest.mark.skip(reason=f"needs {name.replace('_', '-')}"))
        if item.get_closest_marker("loopback"):
            item.add_marker(pytest.mark.allow_hosts(["127.0.0.1", "::1"]))


def _found(command: str) -> bool:
    """Look on the path, and where Debian keeps the programs of PostgreSQL."""
    return shutil.which(command) is not None or any(
        Path("/usr/lib/postgresql").glob(f"*/bin/{command}")
    )
