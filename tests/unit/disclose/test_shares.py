"""How room is shared out between descriptions, and which names fit."""

from __future__ import annotations

import pytest

from metier.disclose.formats import fitting, shares


@pytest.mark.parametrize(
    ("costs", "first", "room", "expected"),
    [
        ([5, 5, 5], 0, 100, [5, 5, 5]),  # everything fits
        ([5, 5, 5], 0, 9, [3, 3, 3]),
        ([5, 5, 5], 0, 11, [4, 4, 3]),  # the first ones get what is left over
        ([1, 9, 2], 0, 8, [1, 5, 2]),  # what the short ones leave goes to the long one
        ([0, 4, 0], 0, 3, [0, 3, 0]),
        ([3, 3], 10, 26, [3, 3]),
        ([3, 3], 10, 21, [3, 0]),  # the second cannot begin any more, the first goes on
        ([[2, 2, 2], 3], 0, 7, [2, 3]),
        ([[4], 3], 0, 3, [0, 3]),  # a character that does not fit holds up nobody else
        ([5, 5], 0, 0, [0, 0]),
        ([], 7, 10, []),
    ],
)
def test_everybody_gets_a_turn_until_the_room_is_used(
    costs: list[int | list[int]], first: int, room: int, expected: list[int]
) -> None:
    assert expected == shares(costs, first, room)[0]


def test_the_room_is_used_to_the_last_byte_where_characters_are_one_byte() -> None:
    assert ([999, 3, 998], 0) == shares([1_000_000, 3, [1] * 1_000], 0, 2_000)


def test_a_later_shorter_one_fits_after_an_earlier_longer_one_did_not() -> None:
    prices = [4, 9, 3, 2]

    taken, left = fitting(prices, lambda at: prices[at], 8, range(4), [""] * 4, {})

    assert ([0, 2], 1) == (taken, left)


def test_the_first_of_each_owner_pays_the_fee() -> None:
    prices, fees = [2, 2, 2], {"a": 3, "b": 9}

    taken, left = fitting(prices, lambda at: prices[at], 10, range(3), ["a", "a", "b"], fees)

    assert ([0, 1], 3, {"b": 9}) == (taken, left, fees)


def test_a_price_is_asked_only_where_the_least_would_fit() -> None:
    asked: list[int] = []

    def price(at: int) -> int:
        asked.append(at)
        return 5

    fitting([1, 99, 5], price, 6, range(3), [""] * 3, {})

    assert [0] == asked
