"""`metier outdated`: a table for people, a list for scripts, and nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doors.upstream import text_of

if TYPE_CHECKING:
    from doors.upstream import Project, Upstream


def test_what_is_newer_upstream_is_in_the_table(installed: Project, upstream: Upstream) -> None:
    before = upstream.head()
    after = upstream.commit({"skills/pdf/SKILL.md": text_of("pdf", "New.\n")})
    left = installed.left()

    answer = installed("outdated")

    head, row = answer.out.splitlines()
    assert (0, "") == (answer.code, answer.err)
    assert ["NAME", "SOURCE", "HAVE", "NEWEST", "STATE"] == head.split()
    assert ["pdf", upstream.source, before[:10], after[:10]] == row.split()[:4]
    assert left == installed.left()


def test_the_document_lists_the_same(installed: Project, upstream: Upstream) -> None:
    answer = installed("outdated", "--json")

    assert (0, [("pdf", upstream.head())]) == (
        answer.code,
        [(one["name"], one["newest"]) for one in answer.json["skills"]],
    )


def test_where_nothing_is_installed_it_says_how_to_begin(project: Project) -> None:
    answer = project("outdated")

    assert (0, True) == (answer.code, "metier add SOURCE" in answer.out)


def test_a_newer_commit_that_left_the_skill_alone_is_not_called_current(
    installed: Project, upstream: Upstream
) -> None:
    upstream.commit({"README.md": "New.\n"})

    answer = installed("outdated")

    assert answer.out.endswith("newer, with the same files\n")


def test_why_a_source_cannot_be_had_stands_below_the_table_whole(
    installed: Project, upstream: Upstream
) -> None:
    upstream.folder.rename(upstream.folder.with_name("moved"))

    answer = installed("outdated")

    table, _gap, why = answer.out.partition("\n\n")
    assert table.endswith("unavailable")
    assert why.startswith("pdf: ")
