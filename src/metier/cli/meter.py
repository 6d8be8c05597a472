"""A meter for work that takes longer than a second: one line on a terminal's standard error, gone when it is done."""

from __future__ import annotations

import sys
import time

PATIENCE = 1.0
STEP = 0.1


class Meter:
    """Says how far work has come, once it has taken long enough for a person to wonder."""

    def __init__(self) -> None:
        """Begin to count the time."""
        self.begun = self.last = time.monotonic()
        self.shown = False

    def __call__(self, what: str, count: int) -> None:
        """Show a count, not more often than an eye can follow."""
        now = time.monotonic()
        if now - self.begun < PATIENCE or now - self.last < STEP:
            return
        self.last, self.shown = now, True
        sys.stderr.write(f"\r\x1b[Kreading: {count:,} {what} ...")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self.shown = False
