"""Drafts that are kept in memory: a review queue for one test."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.author.model import Draft


class KeptDrafts:
    """Keeps every draft that it is given, and numbers them."""

    def __init__(self) -> None:
        """Begin with none."""
        self.kept: list[Draft] = []

    def submit(self, draft: Draft) -> str:
        """Keep a draft; give its id."""
        self.kept.append(draft)
        return f"draft-{len(self.kept)}"
