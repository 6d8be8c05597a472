"""Skills that could be mistaken for one another."""

from __future__ import annotations

from math import nan

import pytest

from metier.find.model import Confusable
from metier.find.service import measured_pairs, rivals

CARDS = [
    ("/a", "pdf-forms", "Fills in PDF forms."),
    ("/b", "pdf-filler", "Fills in the forms of a PDF."),
    ("/c", "weather", "Tells the weather of tomorrow."),
]


def test_cards_that_say_nearly_the_same_name_each_other() -> None:
    assert {"/a": ("pdf-filler",), "/b": ("pdf-forms",), "/c": ()} == rivals(CARDS)


def test_two_copies_of_a_name_are_no_confusion() -> None:
    copies = [("/a", "pdf", "Fills in forms."), ("/b", "pdf", "Fills in forms.")]

    assert {"/a": (), "/b": ()} == rivals(copies)
    assert [] == measured_pairs([("/a", "/b", 1.0)], {"/a": "pdf", "/b": "pdf"})


@pytest.mark.parametrize("text", ["", "the of and", "\ud800\0", "🙂🙂"])
def test_a_card_without_words_is_like_no_other(text: str) -> None:
    assert {"/a": (), "/b": ()} == rivals(
        [("/a", text + "a", text), ("/b", "pdf", "Fills in forms.")]
    )


def test_a_pair_is_named_once_with_its_highest_similarity() -> None:
    names = {"/a": "one", "/b": "two", "/c": "three"}
    pairs = [
        ("/b", "/a", 0.9),
        ("/a", "/b", 0.8),
        ("/a", "/a", 1.0),
        ("/c", "/b", 1.0001),
    ]

    found = measured_pairs(pairs, names)

    assert [
        Confusable("two", "three", "/b", "/c", 1.0),
        Confusable("one", "two", "/a", "/b", 0.9),
    ] == found


def test_pairs_are_in_one_order() -> None:
    pairs = [("/b", "/z", 0.5), ("/a", "/z", 0.5), ("/c", "/z", 0.9)]
    names = {"/a": "x", "/b": "x", "/c": "x", "/z": "y"}

    assert ["/c", "/a", "/b"] == [one.first_path for one in measured_pairs(pairs, names)]


def test_meaning_decides_where_it_is_known_and_words_where_it_is_not() -> None:
    likeness = [[1.0, nan, 0.9], [nan, 1.0, 0.2], [0.9, 0.2, 1.0]]

    assert {"/a": ("pdf-filler", "weather"), "/b": ("pdf-forms",), "/c": ("pdf-forms",)} == rivals(
        CARDS, likeness
    )


def test_words_do_not_overrule_meaning() -> None:
    likeness = [[1.0, 0.3, 0.1], [0.3, 1.0, 0.1], [0.1, 0.1, 1.0]]

    assert {"/a": (), "/b": (), "/c": ()} == rivals(CARDS, likeness)
