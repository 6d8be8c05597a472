"""An embedder that knows a few groups of words that mean the same: each group is one direction, and nothing else has any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.find.words import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.find.model import Floats

GROUPS = (
    ("pdf", "document", "paper"),
    ("mail", "letter", "post"),
    ("picture", "image", "photo"),
    ("weather", "rain", "sun"),
)


class GroupEmbedder:
    """Counts the words of each group. `embedded` says how many passages it was ever given; with `broken` it fails."""

    name = "groups-1"

    def __init__(self, *, broken: bool = False) -> None:
        """Begin with the groups."""
        self.groups = [set(words(" ".join(group))) for group in GROUPS]
        self.broken = broken
        self.embedded = 0

    def queries(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each task."""
        if self.broken:
            raise RuntimeError("the model is gone")
        return [self._vector(text) for text in texts]

    def passages(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each piece."""
        self.embedded += len(texts)
        return self.queries(texts)

    def _vector(self, text: str) -> list[float]:
        counts = [float(sum(word in group for word in words(text))) for group in self.groups]
        length = sum(count * count for count in counts) ** 0.5
        return [count / length for count in counts] if length else counts
