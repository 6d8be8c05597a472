"""The map of skills: the picture's data and the tables beside it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from unit.web.pages import PageReader

import metier
from metier.web import graph

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Home, Writer


@pytest.fixture
def pages(home: Home, skill: Writer) -> Iterator[PageReader]:
    """Give the page of a home with two skills that say the same, two copies, and two others."""
    forms = "Fills in PDF forms and reads their fields. Use it for a PDF form."
    skill("home/.claude/skills/pdf-forms", description=forms)
    skill("home/.claude/skills/pdf-form", description=forms)
    for agent in (".claude", ".codex"):
        skill(f"home/{agent}/skills/<i>ink", name="ink", description="Writes letters with ink.")
    skill("home/.claude/skills/oxen", description="Drives oxen over a field in spring.")
    skill("home/.claude/skills/radio", description="Tunes a radio to a station at night.")
    with PageReader(metier.open(env=home.env, cwd=home.path)) as found:
        yield found


def test_the_tables_name_what_is_double(pages: PageReader) -> None:
    text = pages.read("/graph")

    assert "6 skills compared by shared words" in text
    assert "2 groups, the largest first" in text
    assert "2 pairs, the closest first" in text
    assert ">pdf-forms</a>" in text
    assert "<td>copies</td>" in text
    assert "<td>two names</td>" in text
    assert "<i>ink" not in text


def test_the_picture_has_a_point_for_each_skill_and_a_line_for_each_pair(
    pages: PageReader,
) -> None:
    pages.read("/graph")
    found = json.loads(pages.read("/graph.json"))

    names = [point[2] for point in found["points"]]
    assert ["ink", "ink", "oxen", "pdf-form", "pdf-forms", "radio"] == sorted(names)
    assert {("ink", "ink"), ("pdf-form", "pdf-forms")} == {
        tuple(sorted((names[one], names[other]))) for one, other in found["lines"]
    }
    assert all(0 <= point[0] <= 1_000 and 0 <= point[1] <= 1_000 for point in found["points"])
    assert all(pages.site.card_of(point[3]).name == point[2] for point in found["points"])


def test_the_picture_knows_verdicts_and_uses(pages: PageReader) -> None:
    while pages.library.judge_some():
        pass
    pages.library.view("oxen")
    pages.library.context.settle()
    found = json.loads(pages.read("/graph.json"))

    by_name = {point[2]: point for point in found["points"]}
    assert "safe" == found["verdicts"][by_name["radio"][4]]
    assert "never" == found["uses"][by_name["radio"][5]]


def test_uses_are_sorted_by_their_age() -> None:
    now = time.time()

    assert ["this week", "this month", "before", "never"] == [
        graph.USES[graph.age_of_use(now, last)]
        for last in (int(now - 60), int(now - 20 * 86_400), int(now - 90 * 86_400), 0)
    ]


def test_a_choice_of_colour_is_kept(pages: PageReader) -> None:
    assert '<option value="use" selected>' in pages.read("/graph?colour=use")
    assert '<option value="verdict" selected>' in pages.read("/graph?colour=<script>")


def test_of_very_many_points_those_that_are_double_are_drawn(
    pages: PageReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages.read("/graph")
    monkeypatch.setattr(graph, "MAX_POINTS", 5)

    found = graph.drawing(pages.site, pages.site.facts["map"].value)

    assert 5 == len(found["points"])
    assert 2 == len(found["lines"])


def test_a_skill_that_is_gone_is_in_no_table(pages: PageReader, tmp_path: Path) -> None:
    pages.read("/graph")
    known = pages.site.facts["map"].value
    (tmp_path / "home/.claude/skills/pdf-form/SKILL.md").unlink()
    pages.library.reload()

    found = graph.look(pages.site, known, 0, 0)

    assert [1] == [one.names for one in found.groups]
    assert [True] == [one.is_copy for one in found.pairs]
    assert 5 == len(graph.drawing(pages.site, known)["points"])


def test_nothing_to_compare_is_no_error(home: Home) -> None:
    with PageReader(metier.open(env=home.env, cwd=home.path)) as pages:
        assert "No two skills are nearly the same" in pages.read("/graph")
        assert [] == json.loads(pages.read("/graph.json"))["points"]
