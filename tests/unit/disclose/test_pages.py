"""Pages of a long text: where they end, what a cursor promises, and which cursors are refused (CX-59)."""

from __future__ import annotations

import pytest

from metier.disclose.pages import PAGE_BYTES, STALE_CURSOR, Page, cursor_at, fingerprint, page
from metier.errors import IntegrityError, UsageError


def test_a_short_text_is_one_page_without_a_cursor() -> None:
    assert Page("Hello.\n", "", 0, 7, 2) == page("Hello.\n")
    assert Page("", "", 0, 0, 0) == page("")


def test_a_long_text_goes_on_where_the_cursor_says() -> None:
    text = "x" * (PAGE_BYTES + 10)

    first = page(text)
    second = page(text, first.cursor)

    assert (PAGE_BYTES, f"{fingerprint(text.encode()):016x}:{PAGE_BYTES}") == (
        len(first.content),
        first.cursor,
    )
    assert ("x" * 10, "", PAGE_BYTES, len(text)) == (
        second.content,
        second.cursor,
        second.offset,
        second.total,
    )


def test_a_page_ends_after_a_line_where_it_can() -> None:
    assert "aaaa\nbbbb\n" == page("aaaa\nbbbb\ncccc\n", size=12).content
    assert "aaaaaaaaaaaa" == page("aaaaaaaaaaaaaaaaa\n", size=12).content


def test_no_page_ends_inside_a_character() -> None:
    text = "a\U0001f600\u20ac\u00e9" * 5

    shown, cursor = [], ""
    while True:
        one = page(text, cursor, size=4)
        shown.append(one.content)
        cursor = one.cursor
        if not cursor:
            break

    assert text == "".join(shown)
    assert all(0 < len(part.encode()) <= 4 for part in shown)


def test_any_other_content_makes_a_cursor_stale() -> None:
    cursor = page("a" * 20, size=8).cursor

    with pytest.raises(IntegrityError) as error:
        page("b" + "a" * 19, cursor, size=8)

    assert ("cursor is stale; restart from the first page", "stale-cursor") == (
        error.value.message,
        error.value.code,
    )
    assert STALE_CURSOR == error.value.message


GOOD = fingerprint("é".encode() * 10)


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        ":",
        "0:0",
        "0" * 16,
        "0" * 16 + ":",
        "0" * 16 + ":-1",
        "0" * 16 + ":1x",
        "0" * 16 + ":01",
        "A" * 16 + ":0",
        " " + "0" * 16 + ":0",
        "0" * 16 + ":0\n",
        "0" * 16 + ":" + "9" * 40,
        "\u0660" * 16 + ":0",
        "x" * 1_000_000,
        cursor_at(GOOD, 1),
        cursor_at(GOOD, 20),
        cursor_at(GOOD, 21),
    ],
)
def test_a_malformed_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(UsageError) as error:
        page("é" * 10, cursor)

    assert len(error.value.message) < 100


def test_tokens_are_counted_by_whoever_is_asked_to() -> None:
    assert 3 == page("abc", count=len).tokens
