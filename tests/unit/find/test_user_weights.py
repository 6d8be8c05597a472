"""What counts beside the task, and by how much."""

from __future__ import annotations

import pytest
from fakes.cards import card

from metier.find.score import user_shares
from metier.model import SCOPES
from metier.settings.model import FindSettings

OFF = FindSettings(trust=0, readiness=0, usage=0, scope=0)


def test_a_weight_that_is_off_is_not_named() -> None:
    assert {} == user_shares(card("pdf"), OFF, SCOPES, "trusted", 1.0)


def test_by_default_only_readiness_counts() -> None:
    assert {"readiness": 0.0} == user_shares(card("pdf"), FindSettings(), SCOPES, "trusted", 1.0)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("builtin", 2.0),
        ("trusted", 2.0),
        ("verified", 1.0),
        ("community", 0.0),
        ("quarantined", 0.0),
    ],
)
def test_trust_speaks_for_a_skill(level: str, expected: float) -> None:
    assert {"trust": expected} == user_shares(
        card("pdf"),
        OFF._replace(trust=2.0),
        SCOPES,
        level,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("readiness", "expected"), [("available", 0.0), ("setup_needed", -0.2), ("unsupported", -0.4)]
)
def test_what_a_skill_lacks_speaks_against_it(readiness: str, expected: float) -> None:
    one = card("pdf")._replace(readiness=readiness)  # type: ignore[arg-type]

    assert {"readiness": pytest.approx(expected)} == user_shares(
        one, OFF._replace(readiness=0.4), SCOPES
    )


def test_runs_that_went_well_speak_for_a_skill() -> None:
    assert {"usage": pytest.approx(0.45)} == user_shares(
        card("pdf"), OFF._replace(usage=0.5), SCOPES, went_well=0.9
    )


@pytest.mark.parametrize(
    ("scope", "expected"), [("project", 1.0), ("user", 5 / 6), ("package", 0.0)]
)
def test_the_stronger_scope_goes_first(scope: str, expected: float) -> None:
    one = card("pdf", scope=scope)  # type: ignore[arg-type]

    assert {"scope": pytest.approx(expected)} == user_shares(one, OFF._replace(scope=1.0), SCOPES)
