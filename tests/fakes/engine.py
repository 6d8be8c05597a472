"""An engine that keeps its index in dictionaries and counts common words: small enough to be seen through, and a real one."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from metier.find.model import IndexCandidate
from metier.find.words import exact_tag, titles, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.find.model import Floats, IndexQuery, SkillText


class DictEngine:
    """Gives each field of a skill the number of the task's words that it has, and compares vectors one by one.

    It remembers what it was told: `read` holds the paths of every text that was ever put in, `asked` every question.
    """

    def __init__(self) -> None:
        """Begin with no skill."""
        self.texts: dict[str, SkillText] = {}
        self.vectors: dict[str, tuple[str, Any]] = {}
        self.read: list[str] = []
        self.asked: list[IndexQuery] = []
        self.neighbours_of: list[str] = []
        self.state = ""

    def sealed(self) -> str:
        """Give the state that was noted."""
        return self.state

    def seal(self, state: str) -> None:
        """Note a state."""
        self.state = state

    def known(self) -> Mapping[str, bytes]:
        """Give the stamps of all skills."""
        return {path: text.stamp for path, text in self.texts.items()}

    def triggers(self) -> Mapping[str, tuple[str, ...]]:
        """Give the phrases of skills that have some."""
        return {path: text.triggers for path, text in self.texts.items() if text.triggers}

    def build(self, texts: Iterable[SkillText]) -> None:
        """Begin anew."""
        self.texts.clear()
        self.vectors.clear()
        self.update(texts, ())

    def update(self, texts: Iterable[SkillText], gone: Iterable[str]) -> None:
        """Put skills in and take others out."""
        self.state = ""
        for path in gone:
            self.texts.pop(path, None)
            self.vectors.pop(path, None)
        for text in texts:
            self.texts[text.path] = text
            self.vectors.pop(text.path, None)
            self.read.append(text.path)

    def without_vectors(self, model: str) -> Sequence[str]:
        """Give the paths of those that have none of this model."""
        return [path for path in self.texts if self.vectors.get(path, ("",))[0] != model]

    def add_vectors(self, model: str, vectors: Iterable[tuple[str, Floats]]) -> None:
        """Keep vectors."""
        for path, rows in vectors:
            self.vectors[path] = model, rows

    def query(self, asked: IndexQuery) -> Sequence[IndexCandidate]:
        """Give the skills that share a word with the task or mean something like it, those with the most first."""
        self.asked.append(asked)
        wanted = set(words(asked.text))
        tags = {exact_tag(tag) for tag in asked.tags}
        found = []
        for path, text in self.texts.items():
            if (
                (asked.among is None or path in asked.among)
                and path not in asked.without
                and tags <= {exact_tag(tag) for tag in text.tags}
            ):
                signals = _signals(wanted, text) | self._cosines(path, asked)
                if any(signals.values()):
                    found.append(IndexCandidate(path, signals))
        return sorted(found, key=lambda one: (-sum(one.signals.values()), one.path))[: asked.limit]

    def likeness(self, paths: Sequence[str]) -> Floats:
        """Compare each two skills."""
        return [[self._cosine(one, other) for other in paths] for one in paths]

    def vectors_of(self, paths: Sequence[str]) -> Floats:
        """Give the vectors that were kept."""
        width = max((len(rows[0]) for _model, rows in self.vectors.values()), default=0)
        return [
            list(self.vectors[path][1][0]) if path in self.vectors else [nan] * width
            for path in paths
        ]

    def neighbours(
        self, path: str, limit: int, among: frozenset[str]
    ) -> Sequence[tuple[str, float]]:
        """Compare a skill with all others."""
        self.neighbours_of.append(path)
        found = [
            (other, self._cosine(path, other))
            for other in among
            if other != path and other in self.vectors
        ]
        return (
            sorted(found, key=lambda one: (-one[1], one[0]))[:limit] if path in self.vectors else []
        )

    def _cosine(self, one: str, other: str) -> float:
        if one not in self.vectors or other not in self.vectors:
            return nan
        return float(
            sum(
                a * b
                for a, b in zip(self.vectors[one][1][0], self.vectors[other][1][0], strict=True)
            )
        )

    def _cosines(self, path: str, asked: IndexQuery) -> dict[str, float]:
        if asked.vector is None or path not in self.vectors:
            return {}
        return {
            "vector": float(
                sum(a * b for a, b in zip(self.vectors[path][1][0], asked.vector, strict=True))
            )
        }


def _signals(wanted: set[str], text: SkillText) -> dict[str, float]:
    fields = {
        "name": text.name,
        "description": text.description,
        "tags": " ".join(text.tags),
        "headings": "\n".join(titles(text.body)),
        "body": text.body,
    }
    held = {name: wanted & set(words(value)) for name, value in fields.items()}
    either = set().union(*held.values())
    return {
        **{name: float(len(some)) for name, some in held.items()},
        "coverage": len(either) / max(len(wanted), 1),
    }
