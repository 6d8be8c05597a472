"""`metier update`: the plan, the question, what is merged, and what is held and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.command import error_of
from doors.upstream import LINES, text_of

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
    assert answer.out.startswith("update pdf ")
    assert commit[:10] in answer.out
    assert f"updated pdf: {installed.file('pdf').parent}\n" in answer.out
    assert NEWER == installed.file("pdf").read_text()


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_check_says_that_something_waits_and_changes_nothing(more: list[str], installed: Project, upstream: Upstream) -> None:
    upstream.commit({"skills/pdf/SKILL.md": NEWER})
    lock = (installed.folder / "metier.lock").read_bytes()

    answer = installed("update", "--check", *more)

    assert (1, "") == (answer.code, answer.err)
    assert (text_of("pdf"), lock) == (installed.file("pdf").read_text(), (installed.folder / "metier.lock").read_bytes())
    if more:
        assert (["pdf"], []) == ([one["name"] for one in answer.json["plan"]["update"]], answer.json["installed"])
    else:
        assert "update pdf " in answer.out


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
    assert f"merged pdf: {installed.file('pdf').parent}\n" in answer.out
    assert NEWER.replace("Line 3 ", "My line 3 ") == installed.file("pdf").read_text()


def test_a_conflict_is_held_with_its_three_sides_and_the_next_step(installed: Project, upstream: Upstream) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")
    edited = installed.file("pdf").read_text()
    upstream.commit({"skills/pdf/SKILL.md": CLASHING})

    text, document = installed("update", "--yes"), installed("update", "--yes", "--json")

    assert (1, 1) == (text.code, document.code)
    assert "held pdf\n" in text.out
    assert "next: metier merge pdf\n" in text.out
    assert "conflict in pdf: SKILL.md (base " in text.out
    [conflict] = document.json["plan"]["conflicts"]
    assert {"path", "base", "ours", "theirs"} <= set(conflict)
    assert (text_of("pdf"), edited, CLASHING) == (conflict["base"], conflict["ours"], conflict["theirs"])
    assert ["pdf"] == [one["name"] for one in document.json["held"]]
    assert edited == installed.file("pdf").read_text()


def test_a_name_that_is_not_installed_is_not_found(installed: Project) -> None:
    answer = installed("update", "nobody", "--yes")

    assert (1, True) == (answer.code, "nobody" in error_of(answer)[0])
