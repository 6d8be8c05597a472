"""A reader of passages that minds words it was told of; `tests/unit/scan/test_passages.py` has the real one beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class WordReader:
    """Minds each passage as much as the worst of its words."""

    name = "words"

    def __init__(self, minds: Mapping[str, float]) -> None:
        """Take the words, and how much each is minded."""
        self.minds = minds
        self.given: list[str] = []

    def read(self, texts: Sequence[str]) -> list[tuple[int, float]]:
        """Read everything."""
        self.given += texts
        return [
            (at, max((value for word, value in self.minds.items() if word in text), default=-9.0))
            for at, text in enumerate(texts)
        ]
