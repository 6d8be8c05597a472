"""What the tests of supply's commands share: a repository upstream, and a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.command import Answer
from doors.upstream import Project, Upstream, text_of
from fakes.steward import FakeSteward

from metier.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Home


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    """Give a repository with one skill, `pdf`."""
    made = Upstream(tmp_path / "upstream")
    made.commit(
        {"skills/pdf/SKILL.md": text_of("pdf"), "skills/pdf/scripts/fill.sh": "echo filled\n"}
    )
    return made


@pytest.fixture
def project(home: Home, tmp_path: Path) -> Project:
    """Give a project in which nothing is installed."""
    return Project(home, tmp_path / "project")


@pytest.fixture
def installed(project: Project, upstream: Upstream) -> Project:
    """Give a project in which `pdf` of the repository is installed."""
    answer = project("add", upstream.url, "--yes")
    assert 0 == answer.code, answer
    return project


@pytest.fixture
def steward(monkeypatch: pytest.MonkeyPatch) -> FakeSteward:
    """Give the library that commands in this process open: it answers about plugins and review as it is told."""
    made = FakeSteward()
    monkeypatch.setattr(main, "library", lambda _values: made)
    return made


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Give commands in this process."""

    def given(*words: str) -> Answer:
        code = main.main(list(words))
        return Answer(code, *capsys.readouterr())

    return given
