"""The list of skills: every way to narrow it, and every order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from unit.web.pages import PageReader

import metier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home, Writer

OX = """---
name: ox
description: Drives an ox. Use it in a field.
category: farm
---

Drive it.
"""


@pytest.fixture
def pages(home: Home, skill: Writer) -> Iterator[PageReader]:
    """Give the page of a home with skills that differ in everything that narrows the list."""
    skill("home/.claude/skills/ink", description="Writes letters with a brush. Use it for letters.")
    skill("home/.codex/skills/ox", text=OX)
    skill("home/.gemini/skills/half", text="no front matter")
    skill("home/work/.agents/skills/house", description="Keeps a style. Use it for texts.")
    work = home.path / "work"
    (work / ".git").mkdir()
    with PageReader(metier.open(env=home.env, cwd=work)) as found:
        yield found


def names(text: str) -> list[str]:
    return re.findall(r'class="skill" href="[^"]+">([^<]+)<', text)


@pytest.mark.parametrize(
    ("title", "key", "value", "kept"),
    [
        ("State", "state", "ask", ["house"]),
        ("Verdict", "verdict", "unscanned", ["half", "house"]),
        ("Agent", "agent", "codex", ["ox"]),
        ("Scope", "scope", "project", ["house"]),
        ("Source", "source", "this project", ["house"]),
        ("Readiness", "readiness", "broken", ["half"]),
        ("Category", "category", "farm", ["ox"]),
    ],
)
def test_each_facet_is_offered_with_its_count_and_narrows_the_list(
    pages: PageReader, title: str, key: str, value: str, kept: list[str]
) -> None:
    pages.library.judge_some(100)
    pages.site.tell("skills")
    whole = pages.read("/skills")

    assert f"<legend>{title}</legend>" in whole
    assert f'name="{key}" value="{value}"> {value} <small>{len(kept)}</small>' in whole
    assert kept == names(pages.read(f"/skills?{urlencode({key: value})}"))


def test_choices_count_together_and_an_order_sorts_what_is_left(pages: PageReader) -> None:
    both = pages.read("/skills?agent=codex&agent=claude-code&sort=tokens")
    tokens = [int(one) for one in re.findall(r'<td class="num">(\d+)', both)]

    assert {"ink", "ox"} == set(names(both))
    assert sorted(tokens, reverse=True) == tokens
    assert [] == names(pages.read("/skills?agent=codex&scope=project"))


def test_a_single_skill_is_counted_as_one(home: Home, skill: Writer) -> None:
    skill("home/.claude/skills/ink", description="Writes letters with a brush. Use it for letters.")
    with PageReader(metier.open(env=home.env, cwd=home.path)) as pages:
        assert "1 of 1 skill<" in pages.read("/skills")
        assert "1 of 1 skill," in pages.read("/agents")
