"""Replacing a quoted passage: exact, then blank for blank; one place or a refusal that helps."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest

from metier.author.patch import apply_patch

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.author.patch import Patched

TEXT = (
    "# Steps\n\n1. Read  the file.\n2. Write it.\n\n    def run():\n        return 1\n\nWrite it.\n"
)


def traced(work: Callable[[], Patched]) -> tuple[Patched, int]:
    """Give what a patch became, and the most memory that it took."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Read  the file.", "Look.", TEXT.replace("Read  the file.", "Look.")),
        ("1. Read the file.", "1. Look.", TEXT.replace("1. Read  the file.", "1. Look.")),
        (
            "  1. Read the file.\n2.   Write it.",
            "1. All.",
            TEXT.replace("1. Read  the file.\n2. Write it.", "1. All."),
        ),
        (
            "def run():\n    return 1",
            "def run():\n    return 2",
            TEXT.replace("return 1", "return 2"),
        ),
        ("\n\n1. Read the file.\n\n", "", TEXT.replace("1. Read  the file.\n", "")),
        (
            "            def run():\n                return 1",
            "            def go():\n                return 1",
            TEXT.replace("run", "go"),
        ),
    ],
)
def test_a_passage_is_replaced_where_it_stands(old: str, new: str, expected: str) -> None:
    assert (expected, 1, "") == apply_patch(TEXT, old, new)[:3]


def test_line_ends_stay_what_they_are() -> None:
    assert "a\r\nx\r\ny\r\nc\r\n" == apply_patch("a\r\nb  b\r\nc\r\n", " b b", "x\ny").text


def test_several_places_are_refused_with_their_number_and_all_replaced_on_request() -> None:
    several = apply_patch(TEXT, "Write it.", "Go.")

    assert (TEXT, "the text to replace is in the file 2 times", True) == (
        several.text,
        several.fault,
        several.several,
    )
    assert (TEXT.replace("Write it.", "Go."), 2) == apply_patch(
        TEXT, "Write it.", "Go.", replace_all=True
    )[:2]


def test_several_loose_places_are_refused_as_well() -> None:
    text = "a  b\nx\na   b\n"

    assert "2 times" in apply_patch(text, "a b", "c").fault
    assert "c\nx\nc\n" == apply_patch(text, "a b", "c", replace_all=True).text


def test_places_that_overlap_are_not_one() -> None:
    assert "2 times" in apply_patch("aaa", "aa", "b").fault


def test_loose_places_that_overlap_are_not_one_and_only_those_that_do_not_are_replaced() -> None:
    text = "a  b\na  b\na  b\n"

    once = apply_patch(text, " a b\n a b", "c")
    every = apply_patch(text, " a b\n a b", "c", replace_all=True)

    assert ("the text to replace is in the file 2 times", True, text) == (
        once.fault,
        once.several,
        once.text,
    )
    assert ("c\na  b\n", 1) == every[:2]


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("one\r\ntwo\r\n", "two", "two\nand a half", "one\r\ntwo\r\nand a half\r\n"),
        ("one\r\ntwo\r\n", "one\r\ntwo", "1\n2\r\n3", "1\r\n2\r\n3\r\n"),
        ("a\r\nb\r\nc\nd\n", "c\nd", "c\nc\nd", "a\r\nb\r\nc\nc\nd\n"),
        ("one\ntwo\n", "two", "2\n3", "one\n2\n3\n"),
        ("one", "one", "1\n2", "1\n2"),
    ],
)
def test_new_lines_end_as_those_around_them_do(
    text: str, old: str, new: str, expected: str
) -> None:
    assert expected == apply_patch(text, old, new).text


@pytest.mark.parametrize("old", ["a", " a"], ids=["to the letter", "loosely"])
@pytest.mark.parametrize("replace_all", [False, True])
def test_what_would_be_too_long_is_never_made(old: str, replace_all: bool) -> None:
    text, new = "a\n" * 20_000, "b" * 1_000_000

    refused, most = traced(lambda: apply_patch(text, old, new, replace_all=replace_all))

    assert (text, not replace_all) == (refused.text, refused.several)
    assert (0 if not replace_all else 20_000_020_000) <= refused.size
    assert most < 50 * 1024 * 1024


def test_the_indentation_that_new_lines_get_counts_too() -> None:
    text, new = " " * 500_000 + "a  b\n", "x\n" * 250_000

    refused, most = traced(lambda: apply_patch(text, "a b", new))

    assert refused.size > 1e11
    assert most < 100 * 1024 * 1024


def test_a_result_of_exactly_the_limit_is_made() -> None:
    assert "bbbb" == apply_patch("aa", "a", "bb", replace_all=True, limit=4).text
    assert 4 == apply_patch("aa", "a", "bb", replace_all=True, limit=3).size


def test_nothing_like_it_is_refused_with_the_nearest_line() -> None:
    missed = apply_patch(TEXT, "1. Read the files.", "x")

    assert ("the text to replace is not in the file", 3, "1. Read  the file.") == (
        missed.fault,
        missed.line,
        missed.nearest,
    )


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [("", "x", "blank"), (" \n", "x", "blank"), ("# Steps", "# Steps", "nothing")],
)
def test_a_patch_that_says_nothing_is_refused(old: str, new: str, fault: str) -> None:
    assert fault in apply_patch(TEXT, old, new).fault


def test_a_long_line_is_quoted_in_part() -> None:
    assert 120 == len(apply_patch("word " * 1000, "word wort", "x").nearest)
