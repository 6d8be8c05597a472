"""Tags in a model's words: found, and never left (CO-20)."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from metier.run import dispatch

FOUND = [
    ("It is [SKILL:weather:in Rome] now.", [("weather", "in Rome", "")]),
    ("[skill: weather : a[0] ]", [("weather", "a[0]", "")]),
    ("[SKILL:a:x] and [SKILL:b:y]", [("a", "x", ""), ("b", "y", "")]),
    ("[SKILL:a:x:y]", [("a", "x:y", "")]),
    ("[SKILL:a:two\nlines]", [("a", "two\nlines", "")]),
    ("[SKI\u200bLL:a:x]", [("a", "x", "")]),
    ("nothing", []),
    ("[SKILLS:a:x]", []),
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_tags_are_found(text: str, expected: list[tuple[str, str, str]]) -> None:  # CO-20
    found = dispatch.find_tags(text)

    assert expected == [(tag.name, tag.query, tag.fault) for tag in found.tags]


FAULTY = [
    "[SKILL:a:never ends",
    "[SKILL:a:x[SKILL:b:y]]",
    "[SKILL:a]",
    "[SKILL::x]",
    "[SKILL:" + "n" * 101 + ":x]",
    "[SKILL:a:" + "x" * 2_001 + "]",
    "[SKILL:a:" + "x" * 100_000,
]


@pytest.mark.parametrize("text", FAULTY)
def test_what_is_no_call_is_found_all_the_same_with_the_reason(text: str) -> None:  # CO-20
    found = dispatch.find_tags(f"before {text} after")

    assert [True] == [bool(tag.fault) for tag in found.tags]


def test_only_so_many_tags_of_one_text_are_calls() -> None:  # CO-20
    found = dispatch.find_tags("[SKILL:a:x]" * 10)

    assert [False] * 8 + [True] * 2 == [bool(tag.fault) for tag in found.tags]


def test_answers_take_the_places_of_tags() -> None:
    found = dispatch.find_tags("It is [SKILL:weather:now], and [SKILL:time:now].")

    assert "It is warm, and late." == dispatch.answer_tags(found, ["warm", "late"])


LEFT = [
    "[SKI[SKILL:a:x]LL:b:y]",
    "[SKILL:a:x",
    "[[SKILL:a:x]SKILL:b:y]",
    "[SK" * 3 + "[SKILL:a:x]" + "ILL:a:x]" * 3,
    "[SKI\u200b[SKILL:a:]LL:b]",
]


@pytest.mark.parametrize("text", LEFT)
def test_no_tag_is_left_nor_comes_about_when_another_is_taken_out(text: str) -> None:  # CO-20
    found = dispatch.find_tags(text)

    shown = dispatch.answer_tags(found, ["" for _tag in found.tags])

    assert () == dispatch.find_tags(shown).tags


def test_an_answer_that_holds_a_tag_brings_none_in() -> None:  # CO-20
    found = dispatch.find_tags("[SKILL:a:x]")

    shown = dispatch.answer_tags(found, ["see [SKILL:b:y] there"])

    assert "see  there" == shown


@given(
    st.lists(
        st.sampled_from(["[SKILL:", "[", "]", "SKILL", ":", "a", "\n", "\u200b", " "]), max_size=40
    ).map("".join)
)
def test_no_text_keeps_a_tag(text: str) -> None:
    found = dispatch.find_tags(text)

    shown = dispatch.answer_tags(found, ["[SKILL:" for _tag in found.tags])

    assert () == dispatch.find_tags(shown).tags


def test_a_text_that_opens_tag_after_tag_and_closes_none_is_read_once() -> None:
    text = "[SKILL:a:b\n" * 20_000

    found = dispatch.find_tags(text)

    assert (20_000, {"it has no end"}) == (len(found.tags), {tag.fault for tag in found.tags})
