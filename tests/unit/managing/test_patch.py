"""Replacing a quoted passage: exact, then blank for blank; one place or a refusal that helps."""

from __future__ import annotations

import pytest

from metier.managing.patch import patched

TEXT = "# Steps\n\n1. Read  the file.\n2. Write it.\n\n    def run():\n        return 1\n\nWrite it.\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Read  the file.", "Look.", TEXT.replace("Read  the file.", "Look.")),
        ("1. Read the file.", "1. Look.", TEXT.replace("1. Read  the file.", "1. Look.")),
        ("  1. Read the file.\n2.   Write it.", "1. All.", TEXT.replace("1. Read  the file.\n2. Write it.", "1. All.")),
        ("def run():\n    return 1", "def run():\n    return 2", TEXT.replace("return 1", "return 2")),
        ("\n\n1. Read the file.\n\n", "", TEXT.replace("1. Read  the file.\n", "")),
        ("            def run():\n                return 1", "            def go():\n                return 1", TEXT.replace("run", "go")),
    ],
)
def test_a_passage_is_replaced_where_it_stands(old: str, new: str, expected: str) -> None:
    assert (expected, 1, "") == patched(TEXT, old, new)[:3]


def test_line_ends_stay_what_they_are() -> None:
    assert "a\r\nx\r\ny\r\nc\r\n" == patched("a\r\nb  b\r\nc\r\n", " b b", "x\ny").text


def test_several_places_are_refused_with_their_number_and_all_replaced_on_request() -> None:
    several = patched(TEXT, "Write it.", "Go.")

    assert (TEXT, "the text to replace is in the file 2 times", True) == (several.text, several.fault, several.several)
    assert (TEXT.replace("Write it.", "Go."), 2) == patched(TEXT, "Write it.", "Go.", replace_all=True)[:2]


def test_several_loose_places_are_refused_as_well() -> None:
    text = "a  b\nx\na   b\n"

    assert "2 times" in patched(text, "a b", "c").fault
    assert "c\nx\nc\n" == patched(text, "a b", "c", replace_all=True).text


def test_places_that_overlap_are_not_one() -> None:
    assert "2 times" in patched("aaa", "aa", "b").fault


def test_nothing_like_it_is_refused_with_the_nearest_line() -> None:
    missed = patched(TEXT, "1. Read the files.", "x")

    assert ("the text to replace is not in the file", 3, "1. Read  the file.") == (missed.fault, missed.line, missed.nearest)


@pytest.mark.parametrize(("old", "new", "fault"), [("", "x", "blank"), (" \n", "x", "blank"), ("# Steps", "# Steps", "nothing")])
def test_a_patch_that_says_nothing_is_refused(old: str, new: str, fault: str) -> None:
    assert fault in patched(TEXT, old, new).fault


def test_a_long_line_is_quoted_in_part() -> None:
    assert 120 == len(patched("word " * 1000, "word wort", "x").nearest)
