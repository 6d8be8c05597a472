"""What an update amounts to, by digests alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Literal

    Kind = Literal["unchanged", "already_applied", "fast_forward", "three_way"]


def classify(base: str, local: str, upstream: str) -> Kind:
    """Say how a working copy stands to what its source has now, in the order of BE-13."""
    if upstream == base:
        return "unchanged"
    if local == upstream:
        return "already_applied"
    return "fast_forward" if local == base else "three_way"
