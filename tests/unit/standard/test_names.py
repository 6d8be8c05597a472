"""Names: slugs, lookup, the standard's rules, and guesses."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from metier.standard.names import lookup_key, name_faults, near_names, nearest, one_line, slug


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PDF Processing", "pdf-processing"),  # HE-26: lower case, gaps become hyphens
        ("my_skill  name", "my-skill-name"),  # HE-26: underscores too, runs collapse
        ("c++ & c#", "c-c"),  # HE-26: everything else is dropped
        ("--edge--", "edge"),  # HE-26: hyphens are trimmed
        ("a\tb\nc", "a-b-c"),
        ("!!!", ""),
        ("", ""),
        ("日本語 Tool", "日本語-tool"),  # letters of other scripts stay
        ("\uff26\uff55\uff4c\uff4c\u3000\uff37\uff49\uff44\uff54\uff48", "full-width"),
        ("Straße", "strasse"),
    ],
)
def test_a_slug_keeps_letters_digits_and_single_hyphens(name: str, expected: str) -> None:
    assert expected == slug(name)


def test_one_line_collapses_all_whitespace() -> None:  # CX-9
    assert "a b c d" == one_line("  a\n\tb \r\n c\u00a0d ")


def test_one_line_replaces_what_cannot_be_printed() -> None:
    assert "é?b" == one_line("é\ud800b")


@pytest.mark.parametrize(
    "name", ["My_Skill", "my skill", "MY-SKILL", " my\n skill ", "\uff4d\uff59\uff3fskill"]
)
def test_spellings_of_one_name_share_a_lookup_key(name: str) -> None:  # HE-26, MT-7
    assert "my-skill" == lookup_key(name)


@given(st.text(max_size=30))
def test_slug_and_lookup_key_never_raise_and_can_be_written(name: str) -> None:
    for form in (slug(name), lookup_key(name)):
        assert form == form.encode("utf-8").decode("utf-8")


@pytest.mark.parametrize(
    ("name", "folder", "codes"),
    [
        ("pdf", "pdf", []),
        ("pdf-2-text", "pdf-2-text", []),
        ("pdf", "", []),
        ("", "x", []),
        ("a" * 64, "", []),  # CX-2
        ("é" * 64, "", []),  # CX-2: characters, not bytes
        ("a" * 65, "", ["SK032"]),
        ("PDF", "", ["SK033"]),
        ("my skill", "", ["SK033"]),
        ("plugin:skill", "", ["SK033"]),
        ("a_b.c", "", ["SK033"]),
        ("größe", "größe", []),
        ("技能", "技能", []),
        ("Größe", "", ["SK033"]),
        ("cafe\u0301", "caf\u00e9", []),  # equal once both are NFKC
        ("-a", "", ["SK034"]),
        ("a-", "", ["SK034"]),
        ("a--b", "", ["SK034"]),
        ("--", "", ["SK034"]),
        ("a", "b", ["SK035"]),  # ZE, MT-7
        ("-A " * 30, "x", ["SK032", "SK033", "SK034", "SK035"]),
    ],
)
def test_each_broken_rule_is_named_once(name: str, folder: str, codes: list[str]) -> None:
    faults = name_faults(name, folder)

    assert codes == [code for code, _, _ in faults]


def test_a_name_fault_says_what_and_what_next() -> None:
    faults = name_faults("My Skill\x1b[31m", "")

    assert [
        (
            "SK033",
            "name may hold only lowercase letters, digits and hyphens, not 'M', ' ', 'S', '\\x1b', '['",
            "write it as 'my-skill31m'",
        )
    ] == list(faults)


def test_a_long_name_is_not_repeated_in_full() -> None:
    faults = name_faults("a" * 10_000, "b" * 10_000)

    assert all(len(message) < 300 for _, message, _ in faults)


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("PDF_Processing", "pdf-processing"),
        ("pdf-proc", "pdf-processing"),
        ("processing", "pdf-processing"),
        ("pdf-procesing", "pdf-processing"),
        ("pfd-processing", "pdf-processing"),
        ("wether", "weather"),
    ],
)
def test_the_most_similar_name_comes_first(name: str, best: str) -> None:  # HE-9
    known = ["pdf-processing", "weather", "git-commit", "docx", "release-notes"]

    assert best == nearest(name, known)[0]


def test_similar_names_are_ordered_by_kind_of_likeness_then_name() -> None:
    known = ["x-git", "git", "git-b", "git-a", "gut", "unrelated"]

    assert ["git", "git-a", "git-b", "x-git", "gut"] == nearest("Git", known)


def test_only_near_names_are_suggested_to_a_person() -> None:
    known = ["pdf", "pdf-forms", "csv-report", "release-notes", "api-changelog"]

    suggested = {
        typed: near_names(typed, known)
        for typed in ("pfd", "pdfs", "release-note", "reelase-notes", "report", "their-skill", "x")
    }

    assert {
        "pfd": ["pdf"],
        "pdfs": ["pdf"],
        "release-note": ["release-notes"],
        "reelase-notes": ["release-notes"],
        "report": ["csv-report"],
        "their-skill": [],
        "x": [],
    } == suggested


def test_the_first_names_are_given_when_nothing_is_similar() -> None:  # HE-9
    known = [f"skill-{number:03}" for number in range(50)]

    assert known[:20] == nearest("zzzz", reversed(known))


@pytest.mark.parametrize("name", ["", "x" * 100_000, "日本語"])
def test_any_name_at_all_gets_an_answer(name: str) -> None:
    assert ["a", "b"] == nearest(name, ["b", "a", "b"])


def test_no_known_names_give_no_guess() -> None:
    assert [] == nearest("a", [])


def test_at_most_the_limit_is_given_from_a_large_library() -> None:
    known = [f"skill-number-{number}" for number in range(100_000)]

    assert ["skill-number-4217"] == nearest("skil-number-4217", known, limit=1)
    assert 20 == len(nearest("skill", known))


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=8))
def test_the_order_of_known_names_does_not_matter(name: str, known: list[str]) -> None:
    assert nearest(name, known) == nearest(name, known[::-1])
