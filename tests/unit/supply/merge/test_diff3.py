"""Merging one file: what a reader sees."""

from __future__ import annotations

import pytest

from metier.supply.merge.diff3 import Hunk, MergedText, merge3
from metier.supply.merge.line_diff import (
    MAX_TEXT_BYTES,
    MAX_TEXT_LINES,
    is_text,
    number_lines,
    split_lines,
)

BASE = b"".join(b"%d\n" % at for at in range(1, 10))


def edited(**lines: bytes) -> bytes:
    whole = split_lines(BASE)
    for name, line in lines.items():
        whole[int(name[1:]) - 1] = line
    return b"".join(whole)


def test_changes_in_different_places_come_together() -> None:
    assert MergedText(edited(_2=b"two\n", _8=b"eight\n")) == merge3(
        BASE, edited(_2=b"two\n"), edited(_8=b"eight\n")
    )


def test_a_conflict_shows_both_sides_and_says_where() -> None:
    merged = merge3(BASE, edited(_5=b"mine\n"), edited(_5=b"yours\n"))

    assert (Hunk(5, b"mine\n", b"yours\n"),) == merged.conflicts
    assert b"4\n<<<<<<< ours\nmine\n=======\nyours\n>>>>>>> theirs\n6\n" in merged.data


def test_the_base_can_be_shown_too() -> None:
    merged = merge3(
        BASE, edited(_5=b"mine\n"), edited(_5=b"yours\n"), ("a", "b", "c"), style="diff3"
    )

    assert b"<<<<<<< a\nmine\n||||||| b\n5\n=======\nyours\n>>>>>>> c\n" in merged.data


@pytest.mark.parametrize(("side", "expected"), [("ours", b"mine\n"), ("theirs", b"yours\n")])
def test_a_favoured_side_settles_only_what_conflicts(side: str, expected: bytes) -> None:
    merged = merge3(BASE, edited(_5=b"mine\n"), edited(_5=b"yours\n", _9=b"nine\n"), favour=side)  # type: ignore[arg-type]

    assert MergedText(edited(_5=expected, _9=b"nine\n")) == merged


def test_markers_end_as_the_lines_around_them_do() -> None:
    base, ours, theirs = (
        text.replace(b"\n", b"\r\n") for text in (BASE, edited(_5=b"mine\n"), edited(_5=b"yours\n"))
    )

    assert (
        b"<<<<<<< ours\r\nmine\r\n=======\r\nyours\r\n>>>>>>> theirs\r\n"
        in merge3(base, ours, theirs).data
    )


def test_a_label_that_is_no_text_harms_nothing() -> None:
    assert b"<<<<<<< \xff\n" in merge3(b"a\n", b"b\n", b"c\n", ("\udcff", "", "")).data


def test_what_is_too_large_or_has_a_nul_is_not_merged_by_lines() -> None:
    assert (True, True) == (is_text(b""), is_text(b"caf\xe9\n"))
    assert (False, False, False) == (
        is_text(b"a\0"),
        is_text(b"\n" * MAX_TEXT_LINES),
        is_text(b"a" * (MAX_TEXT_BYTES + 1)),
    )


def test_lines_end_with_a_line_feed_and_with_nothing_else() -> None:
    assert [b"a\r\n", b"\x0bb\x0c\x1c\xc2\x85\n", b"c\rd"] == split_lines(
        b"a\r\n\x0bb\x0c\x1c\xc2\x85\nc\rd"
    )
    assert [[0, 1, 0], [1, 2]] == number_lines([b"a", b"b", b"a"], [b"b", b"c"])


@pytest.mark.parametrize("kind", ["nothing in common", "turned round", "two lines over and over"])
def test_two_files_of_100_000_lines_are_merged_whatever_they_hold(kind: str) -> None:
    count = 100_000
    base = [b"%d\n" % at for at in range(count)]
    ours = {
        "nothing in common": [b"a%d\n" % at for at in range(count)],
        "turned round": base[::-1],
        "two lines over and over": [b"a\n", b"b\n"] * (count // 2),
    }[kind]
    theirs = {
        "nothing in common": [b"b%d\n" % at for at in range(count)],
        "turned round": base[count // 2 :] + base[: count // 2],
        "two lines over and over": [b"b\n", b"a\n", b"a\n"] * (count // 3),
    }[kind]

    merged = merge3(b"".join(base), b"".join(ours), b"".join(theirs))

    assert len(merged.conflicts) > 0
