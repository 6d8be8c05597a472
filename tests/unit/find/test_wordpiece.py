"""Texts become the numbers that the uncased BERT models were trained on: the table holds what their own tokeniser gives."""

from __future__ import annotations

import os

import pytest

from metier.find.io.embedding_model import VOCABULARY_FILE, WEIGHTS_FOLDER
from metier.find.wordpiece import MAX_TEXT_CHARS, MAX_WORD_CHARS, WordPieces

SMALL = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nable\na\n##a\n,\n[\n]\nmask\ncafe\n"
UNKNOWN, FIRST, LAST = 1, 2, 3


@pytest.fixture(scope="module")
def shipped() -> WordPieces:
    with open(os.path.join(WEIGHTS_FOLDER, VOCABULARY_FILE), encoding="utf-8") as file:
        return WordPieces(file.read())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", [7592, 1010, 2088, 999]),
        (
            "getHTTPResponse() in C++",
            [2131, 11039, 25856, 6072, 26029, 3366, 1006, 1007, 1999, 1039, 1009, 1009],
        ),
        ("naïve café ÅNGSTRÖM", [15743, 7668, 17076, 15687]),
        ("東京タワー", [1879, 1755, 1709, 30262, 30265]),
        ("한국어", [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008]),
        ("tab\tnew\nline\r\x0bjoined\x00\u200bwords", [21628, 2047, 2240, 2587, 22104]),
        ("Σίσυφος", [1173, 18199, 29733, 29735, 29736, 15297]),
        ("İstanbul", [9960]),
        ("don't—stop…", [2123, 1005, 1056, 1517, 2644, 1529]),
        ("🦜🔗 langchain", [100, 11374, 24925, 2078]),
        ("$5.00 ^_^ `code`", [1002, 1019, 1012, 4002, 1034, 1035, 1034, 1036, 3642, 1036]),
        ("\u2028x\xa0y\ufffdz", [1060, 1061, 2480]),
        ("\ufb01ne ½ №", [1984, 2638, 1092, 1578]),
        ("unaffable", [14477, 20961, 3468]),
        ("a" * (MAX_WORD_CHARS + 1), [100]),
        ("", []),
        ("   ", []),
    ],
)
def test_a_text_has_the_numbers_that_the_model_was_trained_with(
    shipped: WordPieces, text: str, expected: list[int]
) -> None:
    assert [101, *expected, 102] == shipped.encode(text, 512)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unaffable", [5, 6, 7]),
        ("able unable", [8, 5, 7]),
        ("aa,a", [9, 10, 11, 9]),
        ("affable", [UNKNOWN]),
        ("a" * MAX_WORD_CHARS, [9, *[10] * (MAX_WORD_CHARS - 1)]),
        ("a" * (MAX_WORD_CHARS + 1), [UNKNOWN]),
        ("CAFÉ", [15]),
    ],
)
def test_a_word_is_cut_into_its_longest_pieces_and_one_with_a_rest_is_unknown(
    text: str, expected: list[int]
) -> None:
    assert [FIRST, *expected, LAST] == WordPieces(SMALL).encode(text, 512)


def test_what_looks_like_an_order_to_the_model_is_text() -> None:
    found = WordPieces(SMALL).encode("[MASK]", 512)

    assert [FIRST, 12, 14, 13, LAST] == found


@pytest.mark.parametrize("limit", [2, 3, 10, 512])
def test_a_long_text_is_cut_and_still_has_both_ends(limit: int) -> None:
    found = WordPieces(SMALL).encode("unaffable " * 200, limit)

    assert limit == len(found)
    assert (FIRST, LAST) == (found[0], found[-1])


def test_no_more_of_a_text_is_looked_at_than_fits_into_any_model() -> None:
    vocabulary = WordPieces(SMALL)

    found = vocabulary.encode(" " * MAX_TEXT_CHARS + "able", 512)

    assert [FIRST, LAST] == found


def test_a_word_has_the_same_numbers_the_second_time() -> None:
    vocabulary = WordPieces(SMALL)

    assert vocabulary.encode("unaffable", 512) == vocabulary.encode("unaffable", 512)


@pytest.mark.parametrize("text", ["", "a\nb\n", "[CLS]\n[SEP]\n"])
def test_a_text_that_is_no_vocabulary_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the vocabulary"):
        WordPieces(text)
