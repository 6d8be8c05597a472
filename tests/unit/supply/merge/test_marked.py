"""Files with markers: taken apart into regions, put together again as somebody chose, and shown side by side."""

from __future__ import annotations

import pytest

from metier.supply.merge.diff3 import merge3
from metier.supply.merge.marked import (
    MarkedRegion,
    RegionChoice,
    align,
    join_marked,
    split_marked,
)

LABELS = ("yours", "base", "theirs")
BASE = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
OURS = BASE.replace("two", "TWO")
THEIRS = BASE.replace("two", "zwei").replace("seven", "sieben")


def merged(ours: str = OURS, theirs: str = THEIRS, base: str = BASE) -> str:
    found = merge3(base.encode(), ours.encode(), theirs.encode(), LABELS)
    return found.data.decode()


def test_a_marked_text_is_its_plain_parts_and_its_regions() -> None:
    first, region, last = split_marked(merged(), LABELS)

    assert isinstance(region, MarkedRegion)
    assert ("one\n", "TWO\n", "zwei\n", "\n") == (first, *region[:3])
    assert "three\nfour\nfive\nsix\nsieben\n" == last


def test_a_text_without_choices_comes_back_as_it_was() -> None:
    assert merged() == join_marked(split_marked(merged(), LABELS), {})


@pytest.mark.parametrize(
    ("choice", "line"),
    [
        (RegionChoice("ours"), "TWO\n"),
        (RegionChoice("theirs"), "zwei\n"),
        (RegionChoice("both"), "TWO\nzwei\n"),
        (RegionChoice("text", "deux\r\ndos"), "deux\ndos\n"),
        (RegionChoice("text"), ""),
    ],
)
def test_what_was_chosen_stands_in_the_place_of_a_region(choice: RegionChoice, line: str) -> None:
    expected = BASE.replace("two\n", line).replace("seven", "sieben")

    assert expected == join_marked(split_marked(merged(), LABELS), {0: choice})


def test_line_ends_of_windows_stay() -> None:
    base, ours, theirs = (text.replace("\n", "\r\n") for text in (BASE, OURS, THEIRS))

    text = join_marked(
        split_marked(merged(ours, theirs, base), LABELS), {0: RegionChoice("text", "deux")}
    )

    assert base.replace("two", "deux").replace("seven", "sieben") == text


@pytest.mark.parametrize(
    "text",
    [
        BASE,
        "",
        "<<<<<<< yours\na\n=======\nb\n=======\nc\n>>>>>>> theirs\n",
        "<<<<<<< yours\na\n<<<<<<< yours\n=======\nc\n>>>>>>> theirs\n",
        "<<<<<<< yours\na\n=======\nb\n",
        "a\n>>>>>>> theirs\n",
        "<<<<<<< yours\na\n>>>>>>> theirs\n",
    ],
)
def test_a_text_that_can_be_read_in_two_ways_or_has_no_region_is_not_taken_apart(text: str) -> None:
    assert () == split_marked(text, LABELS)


def test_versions_are_shown_side_by_side_where_any_of_them_differs() -> None:
    rows = align(BASE.encode(), [OURS.encode(), THEIRS.encode()], context=1)

    shown = [[[line.text.decode().strip() for line in side] for side in row] for row in rows]
    changed = [[[line.number for line in side if line.changed] for side in row] for row in rows]
    assert [
        [["one", "two", "three"], ["one", "TWO", "three"], ["one", "zwei", "three"]],
        [["six", "seven"], ["six", "seven"], ["six", "sieben"]],
    ] == shown
    assert [[[2], [2], [2]], [[7], [], [7]]] == changed


def test_lines_that_came_and_went_keep_the_sides_in_step() -> None:
    ours = BASE.replace("one\n", "one\nnew\nnewer\n")
    theirs = BASE.replace("six\n", "")

    rows = align(BASE.encode(), [ours.encode(), theirs.encode()], context=1)

    assert [[b"one\n", b"two\n"], [b"five\n", b"six\n", b"seven\n"]] == [
        [line.text for line in row[0]] for row in rows
    ]
    assert [b"one\n", b"new\n", b"newer\n", b"two\n"] == [line.text for line in rows[0][1]]
    assert [(7, b"five\n"), (8, b"six\n"), (9, b"seven\n")] == [line[:2] for line in rows[1][1]]
    assert [(5, b"five\n"), (6, b"seven\n")] == [line[:2] for line in rows[1][2]]
    assert [] == align(b"", [b"", b""])
