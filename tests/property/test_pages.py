"""For any text: its pages together are the text, and a cursor holds for this text and for no other."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, strategies as st

from metier.disclose.pages import page
from metier.errors import IntegrityError

TEXTS = st.text(st.characters() | st.sampled_from("a\n\r\0\u20ac\U0001f600"), max_size=200)


def pages_of(text: str, size: int) -> list[str]:
    found, cursor = [], ""
    while True:
        one = page(text, cursor, size)
        found.append(one.content)
        cursor = one.cursor
        if not cursor:
            return found


@given(TEXTS, st.integers(min_value=1, max_value=50))
def test_the_pages_joined_are_the_text(text: str, size: int) -> None:
    found = pages_of(text, size)

    assert text == "".join(found)
    assert all(len(one.encode("utf-8", "surrogatepass")) <= max(size, 4) for one in found)
    assert all(found) or not text


@given(TEXTS, TEXTS, st.integers(min_value=4, max_value=20))
def test_a_cursor_is_stale_for_any_other_text(text: str, other: str, size: int) -> None:
    cursor = page(text, size=size).cursor
    assume(cursor and text != other)

    with pytest.raises(IntegrityError) as error:
        page(other, cursor, size)

    assert "cursor is stale; restart from the first page" == error.value.message
