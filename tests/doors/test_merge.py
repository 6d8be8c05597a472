"""`metier merge`: what is held is shown with where to edit it, and settled in one of four ways."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of
from doors.upstream import LINES, text_of

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream

MINE, THEIRS = (
    text_of("pdf", LINES.replace("Line 3 ", "My line 3 ")),
    text_of("pdf", LINES.replace("Line 3 ", "Their line 3 ")),
)


@pytest.fixture
def held(installed: Project, upstream: Upstream) -> Project:
    """Give a project with an update that conflicts."""
    installed.file("pdf").write_text(MINE)
    upstream.commit({"skills/pdf/SKILL.md": THEIRS})
    assert 1 == installed("update", "--yes").code
    return installed


def test_a_held_update_is_shown_with_its_conflicts_its_desk_and_every_way_on(held: Project) -> None:
    text, document = held("merge", "pdf"), held("merge", "pdf", "--json")

    desk = Path(document.json["desk"])
    assert (1, 1, "") == (text.code, document.code, text.err)
    assert text.out.startswith("held pdf\n")
    assert "conflict in pdf: SKILL.md (base " in text.out
    assert f"it is laid out in {desk}\n" in text.out
    assert all(
        f"metier merge pdf {way}" in text.out
        for way in ("--continue", "--ours", "--theirs", "--abort")
    )
    assert ["SKILL.md"] == [one["path"] for one in document.json["conflicts"]]
    assert "My line 3 " in (desk / "SKILL.md").read_text()
    assert "Their line 3 " in (desk / "SKILL.md").read_text()
    assert held.file("pdf").read_text() == MINE


@pytest.mark.parametrize(("way", "text"), [("--ours", MINE), ("--theirs", THEIRS)])
def test_a_side_settles_it(way: str, text: str, held: Project) -> None:
    answer = held("merge", "pdf", way)

    assert (0, "merged pdf: .agents/skills/pdf\n", "") == answer
    assert text == held.file("pdf").read_text()
    assert (0, "nothing to do\n") == held("update", "--yes")[:2]


def test_markers_that_still_stand_are_named_and_an_edited_desk_is_applied(held: Project) -> None:
    desk = Path(held("merge", "pdf", "--json").json["desk"])

    early = held("merge", "pdf", "--continue")
    (desk / "SKILL.md").write_text(MINE.replace("My line 3 ", "Our line 3 "))
    done = held("merge", "pdf", "--continue")

    said, hint = error_of(early)
    assert (1, True, True) == (early.code, "SKILL.md:" in said, "--continue" in hint)
    assert (0, MINE.replace("My line 3 ", "Our line 3 ")) == (
        done.code,
        held.file("pdf").read_text(),
    )
    assert not desk.exists()


def test_a_dropped_update_leaves_everything_as_it_was(held: Project) -> None:
    answer = held("merge", "pdf", "--abort")

    assert (0, MINE) == (answer.code, held.file("pdf").read_text())
    assert "metier merge pdf takes it after all" in answer.out
    assert 1 == held("merge", "pdf").code


def test_two_ways_contradict_each_other(held: Project) -> None:
    answer = held("merge", "pdf", "--ours", "--abort")

    assert (2, "--ours and --abort contradict each other") == (answer.code, error_of(answer)[0])


def test_where_nothing_waits_it_says_so(installed: Project) -> None:
    answer = installed("merge", "pdf")

    assert (1, "no update of 'pdf' is waiting") == (answer.code, error_of(answer)[0])
