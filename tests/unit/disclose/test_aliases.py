"""Which folders get a short name."""

from __future__ import annotations

import pytest
from fakes.cards import ROOT, card

from metier.disclose.formats import MARKDOWN, alias_roots, alias_table, aliased_path
from metier.disclose.prompt import PromptOptions, disclose

CACHE = "/home/someone/.codex/plugins/cache"


def test_a_skill_belongs_to_the_longest_root_that_holds_it() -> None:
    cards = [card("a", root="/x"), card("b", root="/x", path="/x/y/b"), card("c", root="/x/y")]

    assert ["/x", "/x/y", "/x/y"] == alias_roots(cards)


def test_a_plugin_with_several_skills_has_its_own_root_and_one_with_a_single_skill_shares_its_marketplaces() -> (
    None
):
    cards = [
        card("kit:a", root=CACHE, path=f"{CACHE}/shop/kit/1/skills/a", plugin="kit"),
        card("kit:b", root=CACHE, path=f"{CACHE}/shop/kit/1/skills/b", plugin="kit"),
        card("lone:c", root=CACHE, path=f"{CACHE}/shop/lone/1/skills/c", plugin="lone"),
    ]

    assert [f"{CACHE}/shop/kit/1/skills", f"{CACHE}/shop/kit/1/skills", CACHE] == alias_roots(cards)


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        ([ROOT], ()),  # one skill saves less than the row costs
        ([ROOT] * 3, (("r0", ROOT),)),
        (["/a"] * 100, ()),  # nothing to save
        (
            ["/tmp/once", ROOT, ROOT, "/srv/other/skills", "/srv/other/skills"],
            (("r0", ROOT), ("r1", "/srv/other/skills")),
        ),
    ],
)
def test_a_root_gets_an_alias_when_it_saves_more_than_it_costs(
    owners: list[str], expected: tuple[tuple[str, str], ...]
) -> None:
    assert expected == alias_table(MARKDOWN, owners)


@pytest.mark.parametrize(
    ("path", "owner", "expected"),
    [
        ("/root/a/SKILL.md", "/root", "r0/a/SKILL.md"),
        ("/rooted/a", "/root", "/rooted/a"),
        ("/other/a", "/other", "/other/a"),
    ],
)
def test_only_what_lies_below_a_root_is_written_through_its_alias(
    path: str, owner: str, expected: str
) -> None:
    assert expected == aliased_path(path, owner, {"/root": "r0"})


def test_aliases_are_not_used_where_nothing_is_cut() -> None:
    cards = [card(f"skill-{at}") for at in range(20)]

    told = disclose(cards, PromptOptions(10_000))

    assert {} == told.aliases
    assert f"{ROOT}/skill-3/SKILL.md" in told.text


def test_aliases_let_more_skills_in() -> None:
    cards = [card(f"skill-{at:02}") for at in range(40)]

    told = disclose(cards, PromptOptions(400, "markdown"))

    assert {"r0": ROOT} == told.aliases
    assert f"r0 = {ROOT}\n- skill-00: " in told.text
    assert "(file: r0/skill-01/SKILL.md)" in told.text
    assert "alias" in told.instructions


def test_a_table_that_does_not_pay_is_not_used() -> None:
    cards = [
        card(f"skill-{at}", "x" * 500, root=f"/quite/a/long/way/to/root/{at}") for at in range(5)
    ]

    told = disclose(cards, PromptOptions(200, "markdown"))

    assert {} == told.aliases
    assert 5 == told.shortened
