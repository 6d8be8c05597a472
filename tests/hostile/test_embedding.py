"""No text, however made, stops what makes and searches vectors, fills the memory, or speaks to the model."""

from __future__ import annotations

import os

import numpy as np
import pytest

from metier.find import wordpiece
from metier.find.index.vectors import Matrix, pack, shortlist
from metier.find.io.embedding_model import (
    VOCABULARY_FILE,
    WEIGHTS_FOLDER,
    OnnxEmbedder,
    why_unavailable,
)
from metier.find.refresh import (
    DESCRIPTION_CHARACTERS,
    LEAD_CHARACTERS,
    NAME_CHARACTERS,
    text_to_embed,
)

MEGABYTE = 1 << 20
LIMIT = 192
TEXTS = {
    "nothing": "",
    "NUL": "\0" * MEGABYTE,
    "lone surrogates": "\ud800\udfff" * 5000,
    "one word": "a" * MEGABYTE,
    "one word of pieces": "ing" * MEGABYTE,
    "no spaces": "東" * MEGABYTE,
    "accents": "e" + "\u0301" * MEGABYTE,
    "line separators": "\u2028\u2029\x85\x0b\x0c" * 10000,
    "empty lines": "\n" * MEGABYTE,
    "headings": "# \n" * MEGABYTE,
    "hashes": "#" * MEGABYTE,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈" * 10000,
    "the model's own marks": "[PAD] [CLS] [SEP] [MASK] [UNK] " * 1000,
    "right to left": "\u202e\u05e9\u05dc\u05d5\u05dd\u202c" * 1000,
    "every plane": "".join(map(chr, range(0x20, 0x110000, 0x101))),
    "expanding": "\ufdfa" * MEGABYTE,
}
hostile = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


@pytest.fixture(scope="module")
def vocabulary() -> wordpiece.WordPieces:
    with open(os.path.join(WEIGHTS_FOLDER, VOCABULARY_FILE), encoding="utf-8") as file:
        return wordpiece.WordPieces(file.read())


@hostile
def test_any_text_has_numbers_that_the_model_knows(
    vocabulary: wordpiece.WordPieces, text: str
) -> None:
    found = vocabulary.encode(text, LIMIT)

    assert (101, 102) == (found[0], found[-1])
    assert 2 <= len(found) <= LIMIT
    assert all(99 < number < 30522 for number in found)
    assert not {101, 102, 103} & {*found[1:-1]}


@hostile
def test_what_is_embedded_of_any_skill_is_short(text: str) -> None:
    assert NAME_CHARACTERS + DESCRIPTION_CHARACTERS + LEAD_CHARACTERS + 3 >= len(
        text_to_embed(text, text, text)
    )


@pytest.mark.skipif(bool(why_unavailable()), reason=f"needs onnxruntime: {why_unavailable()}")
def test_any_text_has_a_vector() -> None:
    found = OnnxEmbedder().passages(list(TEXTS.values()))

    assert np.isfinite(found).all()
    assert pytest.approx([1] * len(TEXTS), abs=1e-4) == np.linalg.norm(found, axis=1).tolist()


def test_texts_of_nothing_but_rare_words_and_characters_do_not_fill_the_memory() -> None:
    vocabulary = wordpiece.WordPieces("[CLS]\n[SEP]\n[UNK]")

    for start in range(0, 2 * wordpiece.MAX_CACHED_WORDS, 500):
        vocabulary.encode(" ".join(f"{number:x}" for number in range(start, start + 500)), 512)
        vocabulary.encode("".join(map(chr, range(0x10000 + start, 0x10000 + start + 500))), 512)
    vocabulary.encode("a" * wordpiece.MAX_TEXT_CHARS, 512)

    assert wordpiece.MAX_CACHED_WORDS == len(vocabulary._words)  # noqa: SLF001 - what is kept is not shown to anybody
    assert wordpiece.MAX_CACHED_CHARS == len(wordpiece._PLAIN)  # noqa: SLF001 - the same
    assert wordpiece.MAX_WORD_CHARS >= max(map(len, vocabulary._words))  # noqa: SLF001 - the same


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, 3.0e38, 1.0e-40])
def test_numbers_that_are_no_vector_spoil_nothing(value: float) -> None:
    odd = np.full(8, value, np.float32)
    plain = np.eye(1, 8, dtype=np.float32)[0]
    matrix = Matrix(pack([odd, plain]))

    for asked in (odd, plain):
        (numbers,) = shortlist([(matrix, None)], asked, 2)
        cosines = matrix.near(asked, numbers)

        assert [0, 1] == numbers.tolist()
        assert np.isfinite(cosines).all()
        assert max(cosines) <= 1.001
