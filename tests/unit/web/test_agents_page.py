"""The matrix of skills and agents, and what one agent is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from unit.web.pages import PageReader

import metier
from metier.web.agents import ROWS_PER_PAGE, BudgetFacts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home, Writer


@pytest.fixture
def pages(home: Home, skill: Writer) -> Iterator[PageReader]:
    """Give the page of a home with three agents that see different skills."""
    skill("home/.claude/skills/ink", description="Writes with ink. Use it for letters.")
    skill("home/.codex/skills/ink", description="Writes with ink. Use it for letters.")
    skill("home/.agents/skills/ox", description="Drives an ox. Use it in a field.")
    skill("home/.gemini/skills/broken", text="no front matter")
    skill("home/.claude/skills/bold", description="<b>bold</b> & loud. Use it never.")
    with PageReader(metier.open(env=home.env, cwd=home.path)) as found:
        yield found


def test_the_matrix_says_who_sees_what_and_why_not(pages: PageReader) -> None:
    text = pages.read("/agents")

    assert 'href="/agents/claude-code">Claude Code</a>' in text
    assert 'href="/agents/codex">Codex</a>' in text
    assert "<small>sees 2</small>" in text
    assert '<span class="badge visible">visible</span>' in text
    assert '<span class="badge not-loaded">not loaded</span>' in text
    reason = "Claude Code doesn&#39;t look in its folder"
    assert f'<summary data-reason="{reason}">' in text  # on hover and focus
    assert f"<p>{reason}</p>" in text  # and for whoever opens it
    assert "<b>bold</b>" not in text


def test_words_and_differences_narrow_the_matrix(pages: PageReader) -> None:
    assert "2 of 5 skills" in pages.read("/agents?q=INK+letters")
    assert "No skill fits" in pages.read("/agents?q=nothing-like-it")
    assert "1 of 5 skills" in pages.read("/agents?q=drives&differs=1")
    assert "0 of 5 skills" in pages.read("/agents?q=broken&differs=1")
    assert 'name="differs" value="1" checked' in pages.read("/agents?differs=1")


def test_the_matrix_comes_in_parts(pages: PageReader, skill: Writer) -> None:
    for number in range(ROWS_PER_PAGE):
        skill(f"home/.claude/skills/many-{number:02}")
    pages.library.reload()
    pages.site.tell("skills")
    first, second = pages.read("/agents?q=many"), pages.read(f"/agents?at={ROWS_PER_PAGE}")

    assert 'rel="next"' not in first
    assert ROWS_PER_PAGE == first.count('class="skill"')
    assert 5 == second.count('class="skill"')
    assert 'rel="prev" href="/agents"' in second
    assert f'rel="next" href="/agents?at={ROWS_PER_PAGE}"' in pages.read("/agents")


def test_nonsense_in_an_address_is_passed_over(pages: PageReader) -> None:
    assert "5 of 5 skills" in pages.read("/agents?at=-3&differs=x&q=")
    assert 0 == pages.read("/agents?at=9999999").count('class="skill"')


def test_an_agent_is_shown_with_what_it_is_told_and_where_it_looks(pages: PageReader) -> None:
    text = pages.read("/agents/claude-code")

    assert "What Claude Code is told" in text
    assert "&lt;available_skills&gt;" in text
    assert "of 2,000 tokens used" in text
    assert '<meter min="0" max="2000"' in text
    assert "~/.claude/skills" in text
    assert "It sees every skill in its folders" in text
    assert "<b>bold</b>" not in text


def test_a_skill_that_an_agent_does_not_load_is_listed_with_the_reason(pages: PageReader) -> None:
    text = pages.read("/agents/gemini-cli")

    assert "Skills it does not see" in text
    assert ">broken</a>" in text
    assert "Gemini CLI does not load it" in text


def test_another_budget_cuts_and_leaves_out(pages: PageReader) -> None:
    text = pages.read("/agents/claude-code?budget=20&format=markdown")

    assert "of 20 tokens used" in text
    assert '<rect class="out"' in text or '<rect class="cut"' in text
    assert "<option selected>markdown</option>" in text


def test_a_budget_that_is_none_is_refused(pages: PageReader) -> None:
    answer = pages.get("/agents/claude-code?budget=lots")

    assert 400 == answer.status_code
    assert "no token budget" in answer.text


def test_an_unknown_agent_is_not_found_and_the_nearest_is_named(pages: PageReader) -> None:
    answer = pages.get("/agents/claud-code")

    assert 404 == answer.status_code
    assert "did you mean claude-code?" in answer.text


def test_another_name_of_an_agent_leads_to_its_page(pages: PageReader) -> None:
    assert "/agents/claude-code" == pages.get("/agents/claude").url.path


def test_an_agent_that_was_never_here_is_shown_all_the_same(pages: PageReader) -> None:
    assert "it has left no trace" in pages.read("/agents/windsurf")


def test_a_bar_is_divided_as_the_skills_are() -> None:
    facts = BudgetFacts(used=90, budget=100, instructions=5, whole=1, shortened=1, left_out=2)

    assert 10 == facts.left
    assert [(0.0, 25.0), (25.0, 25.0), (50.0, 50.0)] == [(x, wide) for *_, x, wide in facts.parts]
    assert 0 == BudgetFacts(3, 2, 0, 0, 0, 0).left
