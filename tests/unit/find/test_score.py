"""Signals become one score, and every share of it is accounted for."""

from __future__ import annotations

import pytest

from metier.find import score
from metier.find.passages import Reading
from metier.find.score import (
    ALWAYS_SHOWN,
    ENGINE_SIGNALS,
    PASSAGE_FEATURES,
    WEIGHTS,
    WHY_PARTS,
    Scored,
    features,
    fits,
    is_empty,
    joined,
    on_one_scale,
    scored,
)

SIGNALS = {
    "name": 2.0,
    "description": 3.0,
    "tags": 1.0,
    "headings": 1.0,
    "body": 4.0,
    "coverage": 0.5,
    "vector": 0.4,
    "asked": 2.0,
}
SEEN = Reading(0.5, 0.25, 0.5, 1.0, 0.5, "Forms")


def of(score: float) -> Scored:
    """Give a score that is all due to words."""
    return Scored(score, {**dict.fromkeys(ALWAYS_SHOWN, 0.0), "lexical": score})


def test_every_feature_that_weighs_something_has_a_word_in_why() -> None:
    weighed = {name for table in WEIGHTS.values() for name in table}

    assert set() == weighed - set(WHY_PARTS)
    assert set(WHY_PARTS) <= {*ENGINE_SIGNALS, *PASSAGE_FEATURES, "trigger"}
    assert set(WHY_PARTS.values()) == set(ALWAYS_SHOWN)


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("read", [False, True])
def test_the_shares_add_up_to_the_score(vectors: bool, read: bool) -> None:
    one = scored(features(SIGNALS, "fill in", SEEN if read else None), vectors=vectors, read=read)

    assert set(ALWAYS_SHOWN) == set(one.why)
    assert sum(one.why.values()) == pytest.approx(one.score)


def test_without_vectors_cosines_count_for_nothing() -> None:
    blind = scored(features(SIGNALS), vectors=False, read=False)
    seeing = scored(features(SIGNALS), vectors=True, read=False)

    assert 0.0 == blind.why["vector"]
    assert 0.0 < seeing.why["vector"]


def test_what_a_field_says_is_measured_by_how_much_is_asked() -> None:
    once, twice = (
        features({"body": 3.0, "coverage": 0.5, "asked": 4.0}),
        features({"body": 6.0, "coverage": 0.5, "asked": 8.0}),
    )

    assert (0.75, 0.5) == (once["body"], once["coverage"])
    assert once == twice


def test_a_signal_that_an_engine_does_not_give_is_nothing() -> None:
    assert dict.fromkeys((*ENGINE_SIGNALS, "trigger"), 0.0) == features({})


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [("", 0.0), ("c", 1 / 24), ("fill in a form", 8 / 24), ("x" * 24, 1.0), ("x" * 200, 1.0)],
)
def test_a_trigger_counts_by_the_length_of_what_it_says(phrase: str, expected: float) -> None:
    assert expected == pytest.approx(features({}, phrase)["trigger"])


@pytest.mark.parametrize(
    ("signals", "phrase", "expected"),
    [
        ({}, "", False),
        ({"coverage": 0.0, "vector": 0.1}, "", False),
        ({"vector": score.MIN_COSINE}, "", True),
        ({"tags": 0.1}, "", True),
        ({}, "c++", True),
        ({}, "can you please help me", False),
    ],
)
def test_the_nearest_by_meaning_is_no_answer_when_it_is_far(
    signals: dict[str, float], phrase: str, expected: bool
) -> None:
    assert expected == fits(signals, phrase)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"body": 3.0, "coverage": 0.4}, True),
        ({"description": 3.0, "coverage": 0.4, "vector": 0.1}, True),
        ({"body": 3.0, "coverage": 0.6}, False),
        ({"body": 3.0, "coverage": 0.4, "vector": 0.3}, False),
        ({"name": 0.1}, False),
        ({"tags": 0.1}, False),
        ({"trigger": 0.1}, False),
        ({"share": 0.1}, False),
        ({"named": 0.1}, False),
    ],
)
def test_words_that_stand_in_every_request_are_no_answer(
    found: dict[str, float], expected: bool
) -> None:
    assert expected == is_empty({**features({}, "", Reading()), **found})


def test_what_was_not_read_stays_behind_what_was() -> None:
    read = [("a", of(12.0), 10.0), ("b", of(9.0), 9.0)]
    unread = [("c", of(8.9)), ("d", of(8.0)), ("e", of(1.0))]

    found = joined(read, unread)

    assert ["a", "b", "c", "d", "e"] == sorted(found, key=lambda path: (-found[path].score, path))
    assert all(sum(one.why.values()) == pytest.approx(one.score) for one in found.values())


def test_of_equal_skills_those_that_were_read_come_first_whatever_the_last_digits_say() -> None:
    thirds = Scored(1.1, {**dict.fromkeys(ALWAYS_SHOWN, 0.0), "lexical": 0.1 + 0.7, "name": 0.3})

    found = joined([("b", of(2.2), 1.1)], [("a", thirds)])

    assert found["b"].score > found["a"].score == pytest.approx(2.2, abs=1e-5)


def test_reading_that_lowers_a_score_lowers_what_was_not_read() -> None:
    found = joined([("a", of(5.0), 10.0)], [("b", of(9.0)), ("c", of(8.0))])

    assert {"a": 5.0, "b": 4.0, "c": 3.0} == {
        path: pytest.approx(one.score, abs=1e-5) for path, one in found.items()
    }


def test_what_only_a_wider_question_found_stays_behind_all_others() -> None:
    found = joined(
        [("a", of(9.0), 9.0)], [("b", of(5.0)), ("c", of(4.0))], [("d", of(8.0)), ("e", of(1.0))]
    )

    assert ["a", "b", "c", "d", "e"] == sorted(found, key=lambda path: (-found[path].score, path))
    assert {"a": of(3.0), "b": of(4.0)}.keys() == joined(
        [], [("a", of(3.0))], [("b", of(4.0))]
    ).keys()


def test_where_nothing_could_be_read_the_scores_stay() -> None:
    assert {"a": of(3.0), "b": of(2.0)} == joined([], [("a", of(3.0)), ("b", of(2.0))])


def test_the_best_score_is_one_and_the_others_keep_their_distance() -> None:
    found = on_one_scale({"a": of(8.0), "b": of(2.0)})

    assert {"a": 1.0, "b": 0.25} == {path: one.score for path, one in found.items()}
    assert {"a": 1.0, "b": 0.25} == {path: one.why["lexical"] for path, one in found.items()}


@pytest.mark.parametrize("scores", [{}, {"a": 0.0}, {"a": -1.0, "b": -2.0}])
def test_scores_that_are_not_above_nothing_stay(scores: dict[str, float]) -> None:
    given = {path: of(score) for path, score in scores.items()}

    assert given == on_one_scale(given)
