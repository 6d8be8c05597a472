"""Somebody who is told of changes and keeps them, so that a test can wait for the one it caused."""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.model import Change

PATIENCE = 60
"""Seconds after which a test counts as hanging; nothing is measured by it."""


class Listener:
    """Keeps every change it is told of."""

    def __init__(self) -> None:
        """Begin with none."""
        self.told: queue.Queue[Change] = queue.Queue()
        self.before: list[Change] = []

    def __call__(self, change: Change) -> None:
        """Be told."""
        self.told.put(change)

    def until(self, fits: Callable[[Change], bool]) -> Change:
        """Wait for a change that fits; those before it are kept aside. A slow writer may be heard of twice."""
        while True:
            change = self.told.get(timeout=PATIENCE)
            if fits(change):
                return change
            self.before.append(change)

    def added(self, path: object) -> Change:
        """Wait until a skill came."""
        return self.until(lambda change: str(path) in change.added)

    def changed(self, path: object) -> Change:
        """Wait until a skill changed."""
        return self.until(lambda change: str(path) in change.changed)

    def removed(self, path: object) -> Change:
        """Wait until a skill went."""
        return self.until(lambda change: str(path) in change.removed)
