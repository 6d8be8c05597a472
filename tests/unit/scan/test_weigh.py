"""Evidence into a level: each piece counts once, what is shown counts less, and nothing takes weight away."""

from __future__ import annotations

from itertools import pairwise

import pytest

from metier.scan import learned
from metier.scan.examine import Examined, Sighting
from metier.scan.model import ScanRule
from metier.scan.ruleset import RULES
from metier.scan.weigh import (
    NEVER_SAFE_RULES,
    features,
    level_of,
    score_of,
    weigh,
    weight,
    weight_of,
)


def one(rule: str, place: str = "prose", start: int = 0, path: str = "SKILL.md") -> Sighting:
    return Sighting(rule, path, start, start + 1, "", place)


def only(*seen: Sighting) -> Examined:
    return Examined(seen, (), {})


def test_a_rule_counts_once_however_often_it_is_met() -> None:
    assert weigh(only(one("SC101"))) == weigh(
        only(*(one("SC101", start=at * 9_999) for at in range(50)))
    )


def test_what_is_shown_counts_less_than_what_is_told() -> None:
    assert {"SC101"} == features([one("SC101")])
    assert {"SC101~"} == features([one("SC101", "example")]) == features([one("SC101", "quote")])
    assert 0 < weight_of("SC101~") < weight_of("SC101")


@pytest.mark.parametrize("place", ["encoded", "hidden", "html-comment", "alt"])
def test_what_is_hidden_is_a_piece_of_evidence_by_itself(place: str) -> None:
    assert {"SC101", "hidden:injection"} == features([one("SC101", place)])


def test_two_categories_that_meet_are_a_piece_of_evidence() -> None:
    assert "near:credential+exfiltration" in features(
        [one("SC305", "script", 10), one("SC303", "script", 90)]
    )
    assert "near:credential+network." in features(
        [one("SC305", "script", 10), one("SC390", "script", 90)]
    )


@pytest.mark.parametrize(
    "other",
    [
        one("SC303", "script", 9_000),
        one("SC303", "script", 90, "other.py"),
        one("SC303", "tree", 90),
        one("SC303", "example", 90),
    ],
)
def test_categories_that_do_not_meet_are_none(other: Sighting) -> None:
    assert not [
        name for name in features([one("SC305", "script", 10), other]) if name.startswith("near:")
    ]


def test_no_weight_subtracts() -> None:
    assert [] == [name for name, value in learned.RULES.items() if value < 0]


def test_the_rarer_among_honest_skills_the_graver() -> None:
    weights = [weight("SC101", share) for share in (0.5, 0.05, 0.005, 0.0005)]

    assert 0 == weights[0]
    assert weights == sorted(weights)


def test_a_rule_that_nobody_measured_weighs_by_its_severity() -> None:
    table = {
        **RULES,
        **{
            f"X{name}": ScanRule(f"X{name}", name, "injection", "t", "w", "h")
            for name in ("critical", "high", "medium", "low", "info")
        },
    }

    weights = [
        weight_of(f"X{name}", table) for name in ("info", "low", "medium", "high", "critical")
    ]

    assert 0 == weights[0]
    assert all(before < after for before, after in pairwise(weights))
    assert "dangerous" == weigh(only(one("Xcritical")), table).level


def test_nothing_seen_is_safe_and_nought() -> None:
    assert ("safe", 0, None, frozenset()) == weigh(only())


@pytest.mark.parametrize("rule", sorted(NEVER_SAFE_RULES))
def test_what_could_not_be_read_is_never_safe(rule: str) -> None:
    weighed = weigh(only(one(rule, "tree")))

    assert "safe" != weighed.level
    assert weighed.score >= 30


def test_doubt_is_about_rules_that_there_are() -> None:
    assert NEVER_SAFE_RULES <= set(RULES)


@pytest.mark.parametrize(
    ("total", "level", "low", "high"),
    [
        (0.0, "safe", 0, 0),
        (learned.CAUTION - 0.001, "safe", 25, 29),
        (learned.CAUTION, "caution", 30, 30),
        (learned.DANGEROUS - 0.001, "caution", 60, 70),
        (learned.DANGEROUS, "dangerous", 70, 70),
        (1_000.0, "dangerous", 100, 100),
    ],
)
def test_the_score_tells_the_level(total: float, level: str, low: int, high: int) -> None:
    assert level == level_of(total)
    assert low <= score_of(total) <= high


def test_the_score_grows_with_the_weight() -> None:
    scores = [score_of(step / 20) for step in range(400)]

    assert scores == sorted(scores)
