"""`metier rollback`: back to a revision, and back again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.command import error_of
from doors.upstream import text_of

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream

NEW = text_of("pdf", "New.\n")


@pytest.fixture
def updated(installed: Project, upstream: Upstream) -> Project:
    upstream.commit({"skills/pdf/SKILL.md": NEW})
    assert 0 == installed("update", "--yes").code
    return installed


def test_the_revision_before_comes_back_and_can_be_undone(updated: Project) -> None:
    back = updated("rollback", "pdf")
    there = updated.file("pdf").read_text()
    again = updated("rollback", "pdf", "2", "--json")

    assert (0, "", 0) == (back.code, back.err, again.code)
    assert ": .agents/skills/pdf\n" in back.out
    assert "pdf is at revision " in back.out
    assert "undo it with: metier rollback pdf" in back.out
    assert (text_of("pdf"), NEW) == (there, updated.file("pdf").read_text())
    assert ["pdf"] == [one["name"] for one in again.json["installed"]]


@pytest.mark.parametrize("revision", ["x", "-1", "1.5", "9" * 30, "²"])
def test_a_revision_is_a_number(revision: str, updated: Project) -> None:
    answer = updated("rollback", "pdf", "--", revision)

    assert (2, True) == (answer.code, "is no revision" in error_of(answer)[0])


def test_a_revision_that_is_not_kept_is_not_found(updated: Project) -> None:
    answer = updated("rollback", "pdf", "99")

    assert (1, True) == (answer.code, "99" in error_of(answer)[0])
    assert NEW == updated.file("pdf").read_text()
