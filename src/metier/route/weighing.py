"""What a user wants to count beside the task: trust, readiness, usage and scope, each as a share that `why` shows. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.model import Card, Scope, Trust
    from metier.settings import Routing

TRUST: dict[str, float] = {"builtin": 1.0, "trusted": 1.0, "verified": 0.5}
READINESS: dict[str, float] = {"setup_needed": -0.5, "unsupported": -1.0}
"""What a skill lacks is held against it; that it lacks nothing is no merit."""


class Standing(NamedTuple):
    """What is known of a skill beside its text."""

    level: Trust = "community"
    went_well: float = 0.0
    """The share of its runs that went well, for one that ran often enough."""


def weighed(card: Card, routing: Routing, precedence: Sequence[Scope], standing: Standing) -> dict[str, float]:
    """Give the share of each weight that is on; one that is off is not even named."""
    found: dict[str, float] = {}
    if routing.trust:
        found["trust"] = routing.trust * TRUST.get(standing.level, 0.0)
    if routing.readiness:
        found["readiness"] = routing.readiness * READINESS.get(card.readiness, 0.0)
    if routing.usage:
        found["usage"] = routing.usage * standing.went_well
    if routing.scope:
        found["scope"] = routing.scope * _strength(card.scope, precedence)
    return found


def _strength(scope: Scope, precedence: Sequence[Scope]) -> float:
    """Give 1 for the strongest scope, nothing for the weakest."""
    last = len(precedence) - 1
    return 1 - precedence.index(scope) / last if scope in precedence and last > 0 else 0.0
