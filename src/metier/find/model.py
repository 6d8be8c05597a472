"""Defines the data types of finding a skill for a task: what is indexed, what is asked, what
answers, and what one library's searches share.

Most commands load none of them.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from metier.model import Readiness, Scope, State, Texts

    Preparation = Literal["ready", "preparing", "off"]
    """Whether vectors are there (or never will be), are being made, or wait for `index`."""
    Floats: TypeAlias = Any
    """A matrix of numpy, one vector to a row; numpy itself is loaded only where something is
    searched."""
    from collections.abc import Mapping

    from metier.context import Context
    from metier.find.passages import Doc
    from metier.find.triggers import TriggerTable
    from metier.model import Card
    from metier.pipeline import Catalogue, Look
    from metier.ports import Embedder, Engine


class SkillText(NamedTuple):
    """A skill as an engine is told of it: all that it may be found by."""

    path: str
    stamp: bytes
    """What tells that the skill is still the one that was read."""
    name: str
    description: str
    tags: Texts
    triggers: Texts
    body: str


class IndexQuery(NamedTuple):
    """What is asked of an engine."""

    text: str
    limit: int = 100
    """How many candidates are wanted."""
    among: frozenset[str] | None = None
    """Paths that may be answered; all of them when nothing is said. Asking again with the very same
    set costs less."""
    tags: Texts = ()
    """Tags of which a skill must have every one."""
    vector: Floats | None = None
    """The task as an embedder sees it; without one only words count."""
    unfinished: bool = False
    """Whether the last word may go on: somebody is still typing."""
    without: frozenset[str] = frozenset()
    """Paths that may not be answered."""


class IndexCandidate(NamedTuple):
    """A skill that may fit, and what speaks for it."""

    path: str
    signals: dict[str, float]
    """Not yet weighed: what `name`, `description`, `tags`, `headings` and `body` say, `coverage`
    (the share of what is asked for that the skill has), `asked` (how much the words weigh that some
    skill has), `vector` (how alike skill and task are)."""


class Hit(NamedTuple):
    """A skill that fits a task."""

    name: str
    path: str
    score: float
    why: dict[str, float]
    """What made it rank: how much of the score is due to words, meaning, a trigger, its name, and
    each weight that is on."""
    description: str
    scope: Scope
    category: str
    state: State
    readiness: Readiness
    passage: str
    """The heading of the passage that fits best, or nothing."""
    confusable: Texts
    """Names of other hits that answer nearly the same tasks (ZE-34)."""
    weak: bool = False
    """Whether it hardly fits: an absolute measure, while `score` only compares with the best hit."""


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
    unseen: Texts
    """Paths of skills that have no vectors, and were compared by their words alone."""


class MapPair(NamedTuple):
    """Two skills on a map that are nearly the same, by their numbers."""

    one: int
    other: int
    cosine: float


class SkillMap(NamedTuple):
    """Skills on a plane, alike ones together."""

    by: str
    """What was compared: `meaning`, or `words` where there are no vectors."""
    paths: Texts
    places: tuple[tuple[int, int], ...]
    """Of each its place, from 0 to 1,000 either way."""
    pairs: tuple[MapPair, ...]
    """Those that are nearly the same, the closest first."""
    more: int
    """Pairs that are not listed."""
    groups: tuple[tuple[int, ...], ...]
    """Those that belong together through such pairs, the largest group first."""
    missing: int
    """Skills that are not on the map: without a vector, not readable, or too many."""
    whole: bool
    """Whether there was time to compare all."""
    key: str
    """What it was made of."""


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


MAX_UNVECTORED_SHARE = 20
"""One in so many skills may lack vectors for meaning to count: with more, those that have some
would go before the others."""


class AllowedPaths(NamedTuple):
    """Which skills may be answered, said as an engine is told of it: these alone, or all but
    these.
    """

    among: frozenset[str] | None = None
    without: frozenset[str] = frozenset()


class VectorState(NamedTuple):
    """What is known of the vectors in an index."""

    embedder: Embedder
    lacking: frozenset[str]
    """Paths of skills that have none of this embedder."""
    tried: int
    """How many at most would have been made when that was last looked at."""
    looked_ns: int


class CurrentIndex(NamedTuple):
    """An index and the listing that it was held against. It never changes: whoever searches
    meanwhile ends as he began.
    """

    engine: Engine
    glanced: Look
    found: Catalogue
    cards: Mapping[str, Card]
    """Each by its path."""
    done: Indexed
    allowed: OrderedDict[object, AllowedPaths]
    """The sets of skills among which was searched lately. Only who holds the library's lock changes
    it."""
    meaning: VectorState | None = None
    """Nothing before anybody wanted to know, and where there is no embedder."""

    @property
    def has_vectors(self) -> bool:
        """Whether meaning counts."""
        return self.meaning is not None and len(self.meaning.lacking) * MAX_UNVECTORED_SHARE <= len(
            self.cards
        )


class CachedDoc(NamedTuple):
    """A skill taken apart, under the stamp that its file had then, and the token of the listing in
    which it was seen to be so.
    """

    stamp: bytes
    doc: Doc
    seen: bytes
    size: int


class SearchState:
    """What one library's searches share. Whoever changes it holds the library's lock, or puts one
    value in place of another.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self.engine: Engine | None = None
        self.name = ""
        self.latest: CurrentIndex | None = None
        self.docs: OrderedDict[str, CachedDoc] = OrderedDict()
        self.docs_bytes = 0
        self.own_embedder: tuple[Embedder | None, str] | None = None
        """The model that comes with metier, or why it cannot run."""
        self.asked_for = ""
        """The vectors that this process has had made in the background."""
        self.phrases: tuple[object, object, TriggerTable] | None = None
        """All trigger phrases, with the listing and the user's own phrases that they are made
        of."""


def search_state(context: Context) -> SearchState:
    """Give what the searches of a library share."""
    if context.search_state is None:
        with context.lock:
            if context.search_state is None:
                context.search_state = SearchState()
    return context.search_state


def warn_once(context: Context, warning: str) -> None:
    """Add a warning, once."""
    if warning not in context.warnings:
        context.warnings.append(warning)
