"""The nouns of finding a skill for a task: what is indexed, what is asked, what answers. Most commands load none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from metier.model import Readiness, Scope, State

    Floats: TypeAlias = Any
    """A matrix of numpy, one vector to a row; numpy itself is loaded only where something is searched."""


class Text(NamedTuple):
    """A skill as an engine is told of it: all that it may be found by."""

    path: str
    stamp: bytes
    """What tells that the skill is still the one that was read."""
    name: str
    description: str
    tags: tuple[str, ...]
    triggers: tuple[str, ...]
    body: str


class Asked(NamedTuple):
    """What is asked of an engine."""

    text: str
    limit: int = 100
    """How many candidates are wanted."""
    among: frozenset[str] | None = None
    """Paths that may be answered; all of them when nothing is said. Asking again with the very same set costs less."""
    tags: tuple[str, ...] = ()
    """Tags of which a skill must have every one."""
    vector: Floats | None = None
    """The task as an embedder sees it; without one only words count."""
    unfinished: bool = False
    """Whether the last word may go on: somebody is still typing."""
    without: frozenset[str] = frozenset()
    """Paths that may not be answered."""


class Candidate(NamedTuple):
    """A skill that may fit, and what speaks for it."""

    path: str
    signals: dict[str, float]
    """Not yet weighed: what `name`, `description`, `tags`, `headings` and `body` say, `coverage` (the share of what is asked for
    that the skill has), `asked` (how much the words weigh that some skill has), `vector` (how alike skill and task are)."""


class Hit(NamedTuple):
    """A skill that fits a task."""

    name: str
    path: str
    score: float
    why: dict[str, float]
    """What made it rank: how much of the score is due to words, meaning, a trigger, its name, and each weight that is on."""
    description: str
    scope: Scope
    category: str
    state: State
    readiness: Readiness
    passage: str
    """The heading of the passage that fits best, or nothing."""
    confusable: tuple[str, ...]
    """Names of other hits that answer nearly the same tasks (ZE-34)."""


class Confusable(NamedTuple):
    """Two skills that answer the same tasks."""

    first: str
    second: str
    first_path: str
    second_path: str
    similarity: float


class Confusion(NamedTuple):
    """What a look for confusable skills found."""

    pairs: tuple[Confusable, ...]
    unseen: tuple[str, ...]
    """Paths of skills that have no vectors, and were compared by their words alone."""


class Indexed(NamedTuple):
    """What bringing the index up to date did."""

    skills: int
    """Skills in the index."""
    read: int
    """Skills that were read because they are new or have changed."""
    gone: int
    embedded: int
    """Skills whose vectors were made."""
    waiting: int
    """Skills that still have none, though an embedder is there."""
