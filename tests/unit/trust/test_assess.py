"""A skill that fails too often is reported."""

from __future__ import annotations

import pytest

from metier.trust.assess import anomaly_in

S, E, B = "success", "error", "blocked"


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], None),
        ([E, E], None),  # fewer than three events
        ([E, E, E], "critical"),
        ([S, E, E], "warning"),
        ([S, S, E], None),
        ([S, E, S, E], "warning"),  # exactly half
        ([S, E, B, E, B], "critical"),  # exactly four fifths
        ([S, S, E, B, E], "warning"),
        ([S, E, B, E], "warning"),
        ([S, "odd", "odd"], "warning"),  # a word that nobody knows is a failure
        ([E] * 10 + [S] * 10, None),  # only the last ten count
        ([S] * 10 + [E] * 10, "critical"),
        ([S] * 10 + [E] * 5, "warning"),
        ([S] * 10 + [E] * 4, None),
        ([S] * 10 + [E] * 8, "critical"),
        ([S] * 10 + [E] * 7, "warning"),
    ],
)
def test_half_of_the_last_ten_warns_and_four_fifths_is_critical(
    outcomes: list[str], expected: str | None
) -> None:  # ZE-26
    found = anomaly_in(outcomes)

    assert expected == (found.alarm if found else None)


def test_an_anomaly_says_how_many_of_how_many() -> None:  # ZE-26
    found = anomaly_in([S] * 20 + [E, B, S, E, E, E])

    assert found is not None
    assert (5, 10, "5 of the last 10 runs failed or were refused") == (
        found.failures,
        found.events,
        found.message,
    )
