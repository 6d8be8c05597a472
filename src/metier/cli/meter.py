"""A meter for work that takes longer than a second: one line on a terminal's standard error, gone when it is done."""

from __future__ import annotations

import time

from metier.cli import output

PATIENCE = 1.0
STEP = 0.1
IDLE = 3.0
"""Work says more often than this how far it has come."""


class Meter:
    """Says how far work has come, once it has taken long enough for a person to wonder."""

    def __init__(self) -> None:
        """Begin to count the time."""
        self.begun = self.last = self.heard = time.monotonic()
        self.shown = False

    def __call__(self, what: str, count: int) -> None:
        """Show a count, not more often than an eye can follow."""
        now = time.monotonic()
        if now - self.heard > IDLE:
            self.begun = now  # nothing was done meanwhile: somebody was typing
        self.heard = now
        if now - self.begun < PATIENCE or now - self.last < STEP:
            return
        self.last, self.shown = now, True
        output.remark(f"\r\x1b[Kreading: {count:,} {what} ...")

    def clear(self) -> None:
        """Take the line away; what is shown instead may be read for a moment before it comes again."""
        self.begun = time.monotonic()
        if self.shown:
            output.remark("\r\x1b[K")
            self.shown = False
