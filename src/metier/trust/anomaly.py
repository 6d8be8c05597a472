"""Does a skill fail too often? A look at its last outcomes (ZE-26). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    Alarm = Literal["warning", "critical"]

WINDOW = 10
"""How many of the last outcomes count."""
ENOUGH = 3
"""How many there must be before they mean anything."""
WARN_PERCENT = 50
CRITICAL_PERCENT = 80


class Anomaly(NamedTuple):
    """Too many of the last runs failed or were refused."""

    alarm: Alarm
    failures: int
    events: int
    message: str


def anomaly_in(outcomes: Sequence[str]) -> Anomaly | None:
    """Judge outcomes, oldest first: `success` is one; `error`, `blocked` and any other word is a failure."""
    last = outcomes[-WINDOW:]
    failures = sum(outcome != "success" for outcome in last)
    percent = failures * 100
    if len(last) < ENOUGH or percent < WARN_PERCENT * len(last):
        return None
    alarm: Alarm = "critical" if percent >= CRITICAL_PERCENT * len(last) else "warning"
    return Anomaly(alarm, failures, len(last), f"{failures} of the last {len(last)} runs failed or were refused")
