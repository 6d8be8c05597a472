"""An embedder without a model: every word is a direction that its hash chooses, so texts that share words lie close together."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from metier.find.words import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.find.model import Floats

WIDTH = 64


class HashedEmbedder:
    """Adds up the directions of a text's words; a text without words has no direction at all."""

    def __init__(self, name: str = "hashed-1") -> None:
        """Call the model by a name: another name is another model, with other directions."""
        self.name = name

    def queries(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each thing that somebody asks for."""
        return np.array([self._vector(text) for text in texts], np.float32).reshape(-1, WIDTH)

    def passages(self, texts: Sequence[str]) -> Floats:
        """Give a vector of unit length for each piece of a skill."""
        return self.queries(texts)

    def _vector(self, text: str) -> Floats:
        total = np.zeros(WIDTH)
        for word in words(text):
            noise = blake2b(f"{self.name}\0{word}".encode(), digest_size=WIDTH).digest()
            total += np.frombuffer(noise, np.uint8).astype(np.float64) - 127.5
        length = float(np.sqrt((total * total).sum()))
        return total / length if length else total
