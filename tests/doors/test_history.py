"""`metier history`: the revisions of a skill, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doors.command import error_of
from doors.upstream import text_of

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream


def test_every_state_that_a_skill_was_in_is_listed(installed: Project, upstream: Upstream) -> None:
    upstream.commit({"skills/pdf/SKILL.md": text_of("pdf", "New.\n")})
    installed("update", "--yes")

    text, document = installed("history", "pdf"), installed("history", "pdf", "--json")

    head, newest, oldest, *_rest = text.out.splitlines()
    assert (0, "") == (text.code, text.err)
    assert ["REV", "WHEN", "WHAT", "COMMIT", "DIGEST"] == head.split()
    assert (["2", "update"], ["1", "add"]) == tuple(
        [line.split()[0], line.split()[3]] for line in (newest, oldest)
    )
    assert ["update", "add"] == [one["what"] for one in document.json["revisions"]]


def test_a_skill_that_is_not_installed_is_not_found(installed: Project) -> None:
    answer = installed("history", "nobody")

    assert (1, True) == (answer.code, "nobody" in error_of(answer)[0])
