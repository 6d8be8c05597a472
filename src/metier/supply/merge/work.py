"""How much comparing may cost, counted in steps and not in seconds: the same input gives the same answer on any machine."""

from __future__ import annotations

STEPS = 12_000_000
"""What one merge may cost, all its files together: a few seconds."""


class Work:
    """What is left to spend. Who finds nothing left gives the plain answer: correct, but not the smallest."""

    __slots__ = ("left",)

    def __init__(self, left: int = STEPS) -> None:
        """Begin with so many steps."""
        self.left = left

    def spend(self, steps: int) -> bool:
        """Take steps off; tell whether there were any left."""
        self.left -= steps
        return self.left > 0
