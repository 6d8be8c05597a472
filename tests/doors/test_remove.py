"""`metier remove`: exactly what was put in place, after a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from doors.command import error_of

if TYPE_CHECKING:
    from doors.upstream import Project


def test_what_was_installed_is_taken_back_and_nothing_else(installed: Project) -> None:
    (installed.folder / ".agents" / "skills" / "mine").mkdir()

    answer = installed("remove", "pdf", "--yes")

    assert (0, "") == (answer.code, answer.err)
    assert answer.out.startswith("1 to remove\n")
    assert "\nremove  pdf    -        from .agents/skills/pdf\n" in answer.out
    assert answer.out.endswith("removed pdf: .agents/skills/pdf\n")
    assert ["mine"] == [path.name for path in (installed.folder / ".agents" / "skills").iterdir()]


def test_without_a_terminal_it_needs_yes(installed: Project) -> None:
    before = installed.left()

    answer = installed("remove", "pdf")

    assert (2, True) == (answer.code, "no terminal" in error_of(answer)[0])
    assert before == installed.left()


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_dry_run_removes_nothing(more: list[str], installed: Project) -> None:
    before = installed.left()

    answer = installed("remove", "pdf", "--dry-run", *more)

    assert (0, before) == (answer.code, installed.left())
    assert (
        ["pdf"] == [one["name"] for one in answer.json["plan"]["remove"]]
        if more
        else answer.out.endswith("nothing was changed\n")
    )


def test_an_edited_skill_is_refused_without_force(installed: Project) -> None:
    installed.edit("pdf", "Line 3 ", "My line 3 ")

    plain = installed("remove", "pdf", "--yes")
    document = installed("remove", "pdf", "--yes", "--json")
    kept = installed.file("pdf").exists()
    forced = installed("remove", "pdf", "--yes", "--force")

    assert (1, 1, True, 0) == (plain.code, document.code, kept, forced.code)
    assert "refused  pdf    -        .agents/skills/pdf was edited" in plain.out
    assert ["pdf"] == [one["name"] for one in document.json["refused"]]
    assert not installed.file("pdf").exists()


def test_what_metier_did_not_install_is_not_removed(installed: Project) -> None:
    answer = installed("remove", "nobody", "--yes")

    assert (1, True) == (answer.code, "'nobody' is not in " in error_of(answer)[0])


def test_a_project_and_the_user_contradict_each_other(installed: Project) -> None:
    answer = installed("remove", "pdf", "--project", "--user", "--yes")

    assert (2, True) == (answer.code, "contradict" in error_of(answer)[0])
