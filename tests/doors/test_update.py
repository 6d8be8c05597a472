"""`metier update`: the plan, the question, what is merged, and what is held and why."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, on_screen
from doors.upstream import LINES, text_of

from metier.cli.terminal import cells

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream

NEWER = text_of("pdf", LINES.replace("Line 18 ", "Newer line 18 "))
CLASHING = text_of("pdf", LINES.replace("Line 3 ", "Their line 3 "))


def test_with_nothing_newer_there_is_nothing_to_do(installed: Project) -> None:
    assert (0, "nothing to do\n", "") == installed("update", "--yes")
    assert (0, "nothing to do\n", "") == installed("update", "--check")


def test_a_newer_version_is_planned_and_applied(installed: Project, upstream: Upstream) -> None:
    commit = upstream.commit({"skills/pdf/SKILL.md": NEWER})

    answer = installed("update", "--yes")

    assert (0, "") == (answer.code, answer.err)
    assert answer.out.startswith("1 to update\n")
    assert "update  pdf    safe     no local edits\n" in answer.out
    assert "  pdf/SKILL.md | 2 +-\n" in answer.out
    assert commit[:10] in answer.out
    assert "updated pdf: .agents/skills/pdf\n" in answer.out
    assert NEWER == installed.file("pdf").read_text()


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_check_says_that_something_waits_and_changes_nothing(
    more: list[str], installed: Project, upstream: Upstream
) -> None:
    upstream.commit({"skills/pdf/SKILL.md": NEWER})
    lock = (installed.folder / "metier.lock").read_bytes()

    answer = installed("update", "--check", *more)

    assert (1, "") == (answer.code, answer.err)
    assert (text_of("pdf"), lock) == (
        installed.file("pdf").read_text(),
        (installed.folder / "metier.lock").read_bytes(),
    )
    if more:
        assert (["pdf"], []) == (
            [one["name"] for one in answer.json["plan"]["update"]],
            answer.json["installed"],
        )
    else:
        assert "update  pdf " in answer.out


def test_without_a_terminal_it_needs_yes(installed: Project, upstream: Upstream) -> None:
    upstream.commit({"skills/pdf/SKILL.md": NEWER})

    text, document = installed("update"), installed("update", "--json")

    assert (2, True) == (text.code, "no terminal" in error_of(text)[0])
    assert (2, "usage") == (document.code, document.json["code"])
    assert text_of("pdf") == installed.file("pdf").read_text()


def test_edits_are_merged(installed: Project, upstream: Upstream) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")
    upstream.commit({"skills/pdf/SKILL.md": NEWER})

    answer = installed("update", "pdf", "--yes")

    assert 0 == answer.code
    assert "merged with your edits" in answer.out
    assert "merged pdf: .agents/skills/pdf\n" in answer.out
    assert NEWER.replace("Line 3 ", "My line 3 ") == installed.file("pdf").read_text()


def test_a_conflict_is_held_with_its_three_sides_and_the_next_step(
    installed: Project, upstream: Upstream
) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")
    edited = installed.file("pdf").read_text()
    upstream.commit({"skills/pdf/SKILL.md": CLASHING})

    check = installed("update", "--check")
    text, document = installed("update", "--yes"), installed("update", "--yes", "--json")

    assert check.out.endswith("\nnext: metier update pdf, then: metier merge pdf\n")
    assert (1, 1) == (text.code, document.code)
    assert text.out.startswith("1 held\n")
    assert "held   pdf    -        SKILL.md: both changed the same or adjoining lines\n" in text.out
    assert text.out.endswith("\nnext: metier merge pdf\n")
    assert "conflict in pdf: SKILL.md (base " in text.out
    [conflict] = document.json["plan"]["conflicts"]
    assert {"path", "base", "ours", "theirs"} <= set(conflict)
    assert (text_of("pdf"), edited, CLASHING) == (
        conflict["base"],
        conflict["ours"],
        conflict["theirs"],
    )
    assert ["pdf"] == [one["name"] for one in document.json["held"]]
    assert edited == installed.file("pdf").read_text()


def test_a_name_that_is_not_installed_is_not_found(installed: Project) -> None:
    answer = installed("update", "nobody", "--yes")

    assert (1, True) == (answer.code, "nobody" in error_of(answer)[0])


def test_diff_shows_the_change_upstream_and_not_your_edits(
    installed: Project, upstream: Upstream
) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")
    upstream.commit({"skills/pdf/SKILL.md": NEWER, "skills/pdf/new.md": "New.\n"})

    plain, text = installed("update", "--check"), installed("update", "--check", "--diff")
    document = installed("update", "--check", "--diff", "--json")

    assert "@@" not in plain.out
    assert (
        """\
  pdf/SKILL.md     | 2 +-
  pdf/new.md (new) | 1 +
  2 files changed upstream, 2 lines added, 1 line removed
"""
        in plain.out
    )
    assert "--- a/pdf/SKILL.md\n+++ b/pdf/SKILL.md\n@@ " in text.out
    assert "\n-Line 18 of the instructions.\n+Newer line 18 of the instructions.\n" in text.out
    assert "My line 3" not in text.out
    [step] = document.json["plan"]["update"]
    assert [("SKILL.md", "changed", 1, 1), ("new.md", "new", 1, 0)] == [
        tuple(one.values()) for one in step["changes"]
    ]
    assert step["diff"] in text.out


def test_the_diff_of_a_held_update_is_shown_too(installed: Project, upstream: Upstream) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")
    upstream.commit({"skills/pdf/SKILL.md": CLASHING})

    answer = installed("update", "--yes", "--diff")

    assert 1 == answer.code
    assert "\n-Line 3 of the instructions.\n+Their line 3 of the instructions.\n" in answer.out


def test_a_diff_is_coloured_where_colour_is_wanted(installed: Project, upstream: Upstream) -> None:
    upstream.commit({"skills/pdf/SKILL.md": NEWER})

    answer = installed("update", "--check", "--diff", "--color", "always")

    assert "\x1b[32m+Newer line 18 of the instructions.\x1b[0m\n" in answer.out
    assert " | 2 \x1b[32m+\x1b[0m\x1b[31m-\x1b[0m\n" in answer.out


@pytest.mark.parametrize("columns", [60, 80])
def test_a_plan_fits_the_terminal(columns: int, installed: Project, upstream: Upstream) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")
    deep = "references/" + "a-rather-long-folder/" * 4 + "notes.md"
    upstream.commit({"skills/pdf/SKILL.md": CLASHING, f"skills/pdf/{deep}": "New.\n" * 200})

    screen = on_screen(
        installed.home.env, "update", "--check", columns=columns, cwd=installed.folder
    )

    assert 1 == screen.code
    assert [] == [line for line in screen.lines if cells(line) > columns]
    assert any(line.endswith("+") for line in screen.lines)


def test_a_base_that_the_store_has_lost_costs_only_the_diffstat(
    installed: Project, upstream: Upstream
) -> None:
    upstream.commit({"skills/pdf/SKILL.md": NEWER})
    shutil.rmtree(Path(installed.home.env["METIER_HOME"]) / "store")

    answer = installed("update", "--yes")

    assert (0, True) == (answer.code, "updated pdf: .agents/skills/pdf\n" in answer.out)
    assert "  pdf/SKILL.md | 2 +-\n" in answer.out  # the working copy is that very version
