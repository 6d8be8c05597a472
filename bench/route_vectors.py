"""Vectors of a pool, kept between runs: embedding 13,000 texts takes some minutes on two cores.

They lie under bench/.trees, one file for each model, by the digest of the text they were made from.
Queries are never kept: their time is measured.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from metier.find.io.embedding_model import OnnxEmbedder
from metier.find.refresh import text_to_embed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from route_data import Skill

BATCH = 256
EACH_SECONDS = 60.0
"""After how long what was made so far is written down."""
NOISE = 0.2
"""How far the vector of a copy lies from that of its original: a cosine of 0.98."""
SEED = 1


class Kept:
    """The model that comes with metier, with a memory for the texts of skills."""

    def __init__(self, folder: Path) -> None:
        """Read what earlier runs made."""
        self.model = OnnxEmbedder()
        self.file = folder / f"vectors-{self.model.name}.npz"
        self.places: dict[bytes, int] = {}
        self.matrix: Any = np.zeros((0, self.model.width), np.float16)
        if self.file.exists():
            with np.load(self.file) as kept:
                self.matrix = kept["matrix"]
                self.places = {row.tobytes(): at for at, row in enumerate(kept["digests"])}

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.model.name

    def queries(self, given: Sequence[str]) -> Any:
        """Give the vectors of queries, made now."""
        return self.model.queries(given)

    def passages(self, given: Sequence[str]) -> Any:
        """Give the vectors of texts, made now where that was not done before."""
        digests = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in given]
        missing = {
            digest: text
            for digest, text in zip(digests, given, strict=True)
            if digest not in self.places
        }
        if missing:
            self._make(missing)
        return self.matrix[[self.places[digest] for digest in digests]].astype(np.float32)

    def _make(self, missing: dict[bytes, str]) -> None:
        rows, began, saved = list(missing.items()), time.monotonic(), time.monotonic()
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            made = self.model.passages([text for _digest, text in some]).astype(np.float16)
            self.places.update(
                {digest: len(self.matrix) + at for at, (digest, _text) in enumerate(some)}
            )
            self.matrix = np.concatenate([self.matrix, made])
            now = time.monotonic()
            if len(rows) > BATCH:
                left = (now - began) / (start + len(some)) * (len(rows) - start - len(some))
                far = f"\rvectors: {start + len(some):,} of {len(rows):,}, {left:,.0f} s to go "
                print(far, end="", file=sys.stderr, flush=True)
            if now - saved > EACH_SECONDS:
                self._save()
                saved = now
        print(file=sys.stderr)
        self._save()

    def _save(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        digests = np.frombuffer(b"".join(self.places), np.uint8).reshape(len(self.places), -1)
        part = self.file.with_suffix(f".{os.getpid()}.npz")
        np.savez(part, digests=digests, matrix=self.matrix)
        part.replace(self.file)


def of_each(embedder: Kept, skills: Sequence[Skill]) -> list[Any]:
    """Give the vector of each skill, as `m.index()` would make it: a matrix of one row."""
    rows = embedder.passages(
        [text_to_embed(skill.name, skill.description, skill.body) for skill in skills]
    )
    return [rows[at : at + 1] for at in range(len(skills))]


def of_copies(originals: Mapping[int, Any], skills: Sequence[Skill]) -> Iterator[tuple[Skill, Any]]:
    """Give each skill of a larger pool vectors near those of what it is a copy of; the first of
    each kind has the very same.
    """
    chance, seen = np.random.default_rng(SEED), set[int]()
    for skill in skills:
        rows = originals[skill.origin]
        if skill.origin in seen:
            noise = chance.standard_normal(rows.shape, np.float32)
            rows = rows + NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        seen.add(skill.origin)
        yield skill, rows
