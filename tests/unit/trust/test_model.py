"""The seven levels, and which of them a source earns."""

from __future__ import annotations

import pytest

from metier.model import Trust
from metier.trust.model import (
    LEVELS,
    SHIPPED_SOURCE,
    folded,
    least,
    level_of_source,
    rank,
    repository,
)


def test_the_levels_go_from_builtin_to_blocked() -> None:  # ZE-19, with the contract's seven
    assert (
        "builtin",
        "own",
        "trusted",
        "verified",
        "community",
        "quarantined",
        "blocked",
    ) == LEVELS
    assert [0, 1, 2, 3, 4, 5, 6] == [rank(level) for level in LEVELS]


@pytest.mark.parametrize("one", LEVELS)
@pytest.mark.parametrize("other", LEVELS)
def test_the_least_of_two_levels_is_the_one_further_down(one: Trust, other: Trust) -> None:  # ZE-19
    found = least(one, other)

    assert LEVELS[max(LEVELS.index(one), LEVELS.index(other))] == found


def test_a_word_that_is_no_level_counts_as_blocked() -> None:
    found = least("builtin", "superb")  # type: ignore[arg-type]

    assert "blocked" == found
    assert rank("blocked") == rank("superb")  # type: ignore[arg-type]


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
    (SHIPPED_SOURCE, "builtin"),
    (f"{SHIPPED_SOURCE}/x", "community"),
    (f" {SHIPPED_SOURCE}", "community"),
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
def test_a_source_earns_its_level_by_exact_repository_or_a_path_below_it(
    source: str, expected: str
) -> None:  # HE-36
    assert expected == level_of_source(source)


@pytest.mark.parametrize(
    "source", ["builtin/pdf/.bundled", ".bundled", "pdf/.bundled", "metier/builtin"]
)
def test_a_marker_or_a_name_earns_nothing(source: str) -> None:  # ZE-8, ZE-11, easily missed 9
    assert "community" == level_of_source(source)


def test_a_configured_repository_may_lie_on_another_host() -> None:
    ours = ["https://git.example.org/team/skills", "", "owner"]

    found = [
        level_of_source(f"https://git.example.org/team/{name}", ours)
        for name in ("skills", "skills/pdf", "other", "skills.git")
    ]

    assert ["trusted", "trusted", "community", "trusted"] == found
    assert "community" == level_of_source("owner/repo", ours)
    assert "community" == level_of_source("", ours)


def test_a_repository_is_brought_into_one_form() -> None:
    assert "owner/name/path" == repository("https://github.com/owner/name/path/")
    assert "owner/name" == repository("owner/name.git/")
    assert "owner/name" == repository("owner/name//")
    assert "" == repository("owner")


@pytest.mark.parametrize(
    "name",
    [
        "pdf-tools",
        "PDF-Tools",
        "pdf_tools",
        "pdf tools",
        "pdf--tools",
        "-pdf-tools_",
        "\u0440df-tools",  # Cyrillic er
        "\u03c1df-t\u03bf\u03bfls",  # Greek rho and omicron
        "\u0420DF-TOOLS",  # Cyrillic capital Er
        "\uff50\uff44\uff46-\uff54\uff4f\uff4f\uff4c\uff53",  # full width
        "\U0001d429df-tools",  # mathematical bold
        "p\u200bdf-tools\u200d\ufeff",  # no width
        "pdf\u00ad-tools",  # soft hyphen
        "pdf\u2011tools",
        "pdf\u2013tools",
        "pdf\u2212tools",
        "pdf\u00a0tools",
        "p\u0323df-tools",  # a dot below
        "pdf-t\u1ecdols",
        "\u3164pdf-tools",  # a letter that is shown as nothing
        "\u202epdf-tools",
    ],
)
def test_names_that_look_alike_are_folded_into_one(name: str) -> None:
    assert "pdf-tools" == folded(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pdf-tools", "pdftools"),
        ("pdf", "pdfs"),
        ("v1.2", "v1-2"),
        ("\u0928\u093f", "\u0928\u0941"),  # marks of other scripts are letters to their readers
        ("\u30b3\u30d4\u30fc", "\u30b3\u30d4"),
        ("\u0438", "\u0439"),
        ("\u200b", "\u200d"),  # nothing is left of either
        ("", "-"),
    ],
)
def test_names_that_a_reader_tells_apart_stay_apart(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@pytest.mark.parametrize(
    ("capital", "ours"),
    [
        ("\u0412", "b"),
        ("\u041d", "h"),
        ("\u0397", "h"),
        ("\u039d", "n"),
        ("\u0396", "z"),
        ("\u0405", "s"),
    ],
)
def test_capitals_count_as_what_they_look_like(capital: str, ours: str) -> None:
    assert ours == folded(capital)
