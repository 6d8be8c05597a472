"""The six levels, and which of them a source earns."""

from __future__ import annotations

import pytest

from metier.errors import UsageError
from metier.model import Trust
from metier.trust.levels import (
    LEVELS,
    SHIPPED,
    from_ordinal,
    least,
    level_named,
    level_of_record,
    level_of_source,
    rank,
    repository,
)


def test_the_levels_go_from_builtin_to_blocked() -> None:  # ZE-19, with the contract's six
    assert ("builtin", "trusted", "verified", "community", "quarantined", "blocked") == LEVELS
    assert [0, 1, 2, 3, 4, 5] == [rank(level) for level in LEVELS]


@pytest.mark.parametrize("one", LEVELS)
@pytest.mark.parametrize("other", LEVELS)
def test_the_least_of_two_levels_is_the_one_further_down(one: Trust, other: Trust) -> None:  # ZE-19
    found = least(one, other)

    assert LEVELS[max(LEVELS.index(one), LEVELS.index(other))] == found


def test_a_word_that_is_no_level_counts_as_blocked() -> None:
    found = least("builtin", "superb")  # type: ignore[arg-type]

    assert "blocked" == found
    assert rank("blocked") == rank("superb")  # type: ignore[arg-type]


@pytest.mark.parametrize(("number", "expected"), [*enumerate(LEVELS), (-1, "blocked"), (6, "blocked"), (10**9, "blocked")])
def test_an_ordinal_out_of_range_is_blocked(number: int, expected: str) -> None:  # ZE-19
    assert expected == from_ordinal(number)


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_is_read_as_people_write_it(level: str) -> None:
    assert level == level_named(f" {level.upper()} ")


@pytest.mark.parametrize("text", ["", "root", "trusted!", "trust"])
def test_an_unknown_level_is_an_error_that_lists_the_known_ones(text: str) -> None:  # ZE-19
    with pytest.raises(UsageError) as caught:
        level_named(text)

    assert f"'{text}' is not a trust level" == caught.value.message
    assert "the levels are builtin, trusted, verified, community, quarantined, blocked" == caught.value.hint


@pytest.mark.parametrize(("text", "expected"), [(None, "community"), ("verified", "verified"), ("Verified", "blocked"), ("", "blocked")])
def test_no_record_is_community_and_one_that_cannot_be_read_is_blocked(text: str | None, expected: str) -> None:  # ZE-20, decision 12
    assert expected == level_of_record(text)


SOURCES = [  # HE-36
    ("anthropics/skills", "trusted"),
    ("anthropics/skills/pdf", "trusted"),
    ("openai/skills", "trusted"),
    ("huggingface/skills", "trusted"),
    ("NVIDIA/skills", "trusted"),
    ("skills-sh/anthropics/skills/pdf", "trusted"),
    ("skills.sh/anthropics/skills", "trusted"),
    ("skils-sh/anthropics/skills", "trusted"),
    ("skils.sh/anthropics/skills", "trusted"),
    ("https://skills.sh/anthropics/skills/pdf", "trusted"),
    ("https://www.skills.sh/anthropics/skills/pdf", "trusted"),
    ("https://github.com/anthropics/skills", "trusted"),
    ("https://www.github.com/anthropics/skills", "trusted"),
    ("https://github.com/anthropics/skills.git", "trusted"),
    ("https://github.com/anthropics/skills/", "trusted"),
    ("https://github.com/anthropics/skills/tree/main/pdf", "trusted"),
    ("git@github.com:anthropics/skills.git", "trusted"),
    ("ssh://git@github.com/anthropics/skills.git", "trusted"),
    ("github.com/anthropics/skills", "trusted"),
    ("github:anthropics/skills", "trusted"),
    (" anthropics/skills ", "trusted"),
    (SHIPPED, "builtin"),
    (f"{SHIPPED}/x", "community"),
    (f" {SHIPPED}", "community"),
    ("official", "community"),
    ("builtin", "community"),
    ("", "community"),
    ("anthropics", "community"),
    ("anthropics/skills-evil", "community"),
    ("anthropics/skillsx/pdf", "community"),
    ("evil/anthropics/skills", "community"),
    ("anthropics/skills/../../evil/repo", "community"),
    ("anthropics/skills/./x", "community"),
    ("anthropics//skills", "community"),
    ("anthropics/skills//x", "community"),
    ("/anthropics/skills", "community"),
    ("//anthropics/skills", "community"),
    ("anthropics/skillsX", "community"),
    ("anthropics/skills/%2e%2e/evil", "community"),
    ("anthropics/skills\\..\\evil", "community"),
    ("anthropics/skills/x?ref=evil", "community"),
    ("anthropics/skills#evil", "community"),
    ("anthropics/skills@evil", "community"),
    ("anthropics/skills/x\u200by", "community"),
    ("anthropics/skills/pull/7/head", "community"),
    ("https://github.com/anthropics/skills/commit/abc", "community"),
    ("https://github.com.evil.example/anthropics/skills", "community"),
    ("https://github.com@evil.example/anthropics/skills", "community"),
    ("https://evil.example/anthropics/skills", "community"),
    ("https://anthropics/skills", "community"),
    ("http://github.com/anthropics/skills", "community"),
    ("file:///anthropics/skills", "community"),
    ("/home/me/anthropics/skills", "community"),
    ("Anthropics/Skills", "community"),
]


@pytest.mark.parametrize(("source", "expected"), SOURCES)
def test_a_source_earns_its_level_by_exact_repository_or_a_path_below_it(source: str, expected: str) -> None:  # HE-36
    assert expected == level_of_source(source)


@pytest.mark.parametrize("source", ["builtin/pdf/.bundled", ".bundled", "pdf/.bundled", "metier/builtin"])
def test_a_marker_or_a_name_earns_nothing(source: str) -> None:  # ZE-8, ZE-11, easily missed 9
    assert "community" == level_of_source(source)


def test_a_configured_repository_may_lie_on_another_host() -> None:
    ours = ["https://git.example.org/team/skills", "", "owner"]

    found = [level_of_source(f"https://git.example.org/team/{name}", ours) for name in ("skills", "skills/pdf", "other", "skills.git")]

    assert ["trusted", "trusted", "community", "trusted"] == found
    assert "community" == level_of_source("owner/repo", ours)
    assert "community" == level_of_source("", ours)


def test_a_repository_is_brought_into_one_form() -> None:
    assert "owner/name/path" == repository("https://github.com/owner/name/path/")
    assert "owner/name" == repository("owner/name.git/")
    assert "owner/name" == repository("owner/name//")
    assert "" == repository("owner")
