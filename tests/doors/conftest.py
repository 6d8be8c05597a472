"""What the tests of supply's commands share: a repository upstream, and a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.upstream import Project, Upstream, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    """Give a repository with one skill, `pdf`."""
    made = Upstream(tmp_path / "upstream")
    made.commit({"skills/pdf/SKILL.md": text_of("pdf"), "skills/pdf/scripts/fill.sh": "echo filled\n"})
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
