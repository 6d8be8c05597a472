"""Shapes: which concepts, how near to one another, and in which order."""

from __future__ import annotations

import pytest

from metier.scan.languages.prose import (
    ProseShape,
    ShapeStep,
    by_first,
    compile_shape,
    matches,
)
from metier.scan.languages.sentences import GlossPlaces, Sentence
from metier.scan.rules.prose import PHRASES, RULES, SHAPES, STEMS, WORDS
from metier.scan.tongues import GlossPlace

KNOWN = {*WORDS, *STEMS, *PHRASES}


def sentence(*words: str) -> Sentence:
    """Make a sentence in which each word is its own concept, ten characters apart; `-` is a word that means nothing."""
    held = [((word,), at, at) for at, word in enumerate(words) if word != "-"]
    places = GlossPlaces([GlossPlace(10 * at, 10 * at + 5, 1) for at in range(len(words))])
    return Sentence(held, frozenset(words) - {"-"}, places, 0, len(words))


def met(shape: str, *words: str) -> bool:
    return bool(matches(sentence(*words), by_first([compile_shape("SC1", shape)])))


def test_a_shape_is_read_into_its_parts() -> None:
    expected = ProseShape(
        "SC1",
        "ask",
        (ShapeStep("give", 4, either=False), ShapeStep("secret", 9, either=True)),
        ("negate",),
    )

    assert expected == compile_shape("SC1", "ask <4 give ~9 secret !negate")


@pytest.mark.parametrize(
    ("shape", "words", "expected"),
    [
        ("a", ["a"], True),
        ("a", ["b"], False),
        ("a <1 b", ["a", "b"], True),
        ("a <1 b", ["a", "-", "b"], False),
        ("a <2 b", ["a", "-", "b"], True),
        ("a <2 b", ["b", "a"], False),
        ("a ~2 b", ["b", "-", "a"], True),
        ("a ~2 b", ["b", "-", "-", "a"], False),
        ("a <2 b <2 c", ["a", "b", "c"], True),
        ("a <2 b <2 c", ["a", "c", "b"], False),
        ("a <2 b <2 c", ["a", "-", "b", "-", "c"], True),
        ("a <1 b", ["a", "-", "a", "b"], True),
        ("a ~3 a", ["a"], False),
        ("a <2 b !no", ["no", "a", "b"], False),
        ("a <2 b !no", ["no", "-", "-", "a", "b"], False),
        ("a <2 b !no", ["no", "-", "-", "-", "a", "b"], True),
        ("a <2 b !no", ["a", "no", "b"], True),
    ],
)
def test_parts_must_be_near_and_in_order(shape: str, words: list[str], expected: bool) -> None:
    assert expected == met(shape, *words)


def test_a_match_spans_all_its_parts() -> None:
    found = matches(
        sentence("-", "b", "a", "-", "c"), by_first([compile_shape("SC1", "a ~2 b <5 c")])
    )

    assert [("SC1", 10, 45)] == found


def test_a_rule_is_told_once_in_a_sentence_however_many_of_its_shapes_are_met() -> None:
    shapes = by_first(
        [compile_shape("SC1", "a"), compile_shape("SC1", "a <1 b"), compile_shape("SC2", "b")]
    )

    assert ["SC1", "SC2"] == sorted(
        rule for rule, _start, _end in matches(sentence("a", "b", "a"), shapes)
    )


def test_every_shape_of_the_table_speaks_of_known_concepts_and_known_rules() -> None:
    compiled = [
        compile_shape(rule, text) for rule, row in SHAPES.items() for text in row.split(", ")
    ]

    assert set(SHAPES) <= {rule.id for rule in RULES}
    assert (
        set()
        == {
            name
            for one in compiled
            for name in (one.first, *(step.concept for step in one.steps), *one.unless)
        }
        - KNOWN
    )
