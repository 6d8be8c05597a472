"""A list to pick from: what fits, where one is, what is ticked, and how it looks."""

from __future__ import annotations

import pytest
from wcwidth import wcswidth

from metier.cli.pick import MAX_ROWS_SHOWN, PickList, PickRow

ROWS = [PickRow("forms", "Fill in PDF forms."), PickRow("notes", "Write notes."), PickRow("表格")]


def drawn(listed: PickList, columns: int = 80, lines: int = 24) -> list[str]:
    """Give the lines of a list as people see them."""
    return "".join(text for _style, text in listed.draw(columns, lines)).split("\n")


@pytest.mark.parametrize(
    ("typed", "fit"),
    [("", [0, 1, 2]), ("NOTES", [1]), ("pdf f", [0]), ("f pdf", [0]), ("格", [2]), ("x", [])],
)
def test_a_row_fits_that_has_every_word_typed(typed: str, fit: list[int]) -> None:
    listed = PickList("Which?", ROWS)

    listed.take(typed)

    assert fit == listed.fitting()


def test_a_name_comes_before_what_is_only_about_it() -> None:
    about = [
        PickRow("office", "Reads a pdf."),
        PickRow("my-pdf"),
        PickRow("pdf-forms"),
        PickRow("pdf"),
    ]
    listed = PickList("Which?", about)

    listed.take("PDF")

    assert [3, 2, 1, 0] == listed.fitting()


def test_keys_that_mean_nothing_here_narrow_nothing() -> None:
    listed = PickList("Which?", ROWS)

    listed.take("\x1bOP")
    listed.take("\x00no\ntes")

    assert "notes" == listed.typed


def test_one_stays_in_the_list() -> None:
    listed = PickList("Which?", ROWS)

    listed.move(-1)
    first = listed.answer()
    listed.move(99)

    assert ([0], [2]) == (first, listed.answer())


def test_where_nothing_fits_there_is_no_answer() -> None:
    listed = PickList("Which?", ROWS)

    listed.take("x")
    listed.move(1)

    assert listed.answer() is None


def test_ticks_stay_while_the_list_is_narrowed() -> None:
    listed = PickList("Which?", ROWS, many=True)
    listed.tick_here()
    listed.take("notes")
    listed.tick_all()
    for _letter in "notes":
        listed.erase()

    both = listed.answer()
    listed.tick_all()
    every = listed.answer()
    listed.tick_all()

    assert ([0, 1], [0, 1, 2], None) == (both, every, listed.answer())
    assert "nothing is selected yet" in drawn(listed)[-1]


def test_a_letter_picks_at_once() -> None:
    listed = PickList("What now?", [PickRow("accept", key="a"), PickRow("skip", key="s")], at=1)

    assert ([0], [0], []) == (listed.take("a"), listed.take("A"), listed.take("x"))
    assert [1] == listed.answer()


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_every_line_fits(columns: int) -> None:
    rows = [
        PickRow("a-long-name" * 9, "表格整理" * 40),
        PickRow("👩\u200d👩\u200d👧" * 40, "x\x1b[2J" * 40),
    ]

    lines = drawn(PickList("Which of all these skills? " * 5, rows, many=True), columns)

    assert [] == [line for line in lines if wcswidth(line) >= columns]
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize(("lines", "shown"), [(100, MAX_ROWS_SHOWN), (12, 6), (5, 3)])
def test_a_list_is_no_taller_than_the_screen_and_follows_where_one_is(
    lines: int, shown: int
) -> None:
    listed = PickList("Which?", [PickRow(f"skill-{number:02}") for number in range(40)])
    listed.move(20)

    text = drawn(listed, lines=lines)

    assert shown == sum("skill-" in line for line in text)
    assert "> skill-20" in text
    assert f"  … and {40 - shown} more" in text
