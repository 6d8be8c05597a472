"""What the searches of a library share, and what each of them goes by from its beginning to its end."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.app import Library
    from metier.model import Card
    from metier.pipeline import Catalogue, Glance
    from metier.ports import Embedder, Engine
    from metier.route.second import Doc
    from metier.route.triggers import Table
    from metier.wanted import Indexed

FAIR_SHARE = 20
"""One in so many skills may lack vectors for meaning to count: with more, those that have some would go before the others."""


class Allowed(NamedTuple):
    """Which skills may be answered, said as an engine is told of it: these alone, or all but these."""

    among: frozenset[str] | None = None
    without: frozenset[str] = frozenset()


class Meaning(NamedTuple):
    """What is known of the vectors in an index."""

    embedder: Embedder
    lacking: frozenset[str]
    """Paths of skills that have none of this embedder."""
    tried: int
    """How many at most would have been made when that was last looked at."""
    looked_ns: int


class Current(NamedTuple):
    """An index and the listing that it was held against. It never changes: whoever searches meanwhile ends as he began."""

    engine: Engine
    glanced: Glance
    found: Catalogue
    cards: Mapping[str, Card]
    """Each by its path."""
    done: Indexed
    allowed: OrderedDict[object, Allowed]
    """The sets of skills among which was searched lately. Only who holds the library's lock changes it."""
    meaning: Meaning | None = None
    """Nothing before anybody wanted to know, and where there is no embedder."""

    @property
    def sees(self) -> bool:
        """Whether meaning counts."""
        return self.meaning is not None and len(self.meaning.lacking) * FAIR_SHARE <= len(self.cards)


class Kept(NamedTuple):
    """A skill taken apart, under the stamp that its file had then, and the token of the listing in which it was seen to be so."""

    stamp: bytes
    doc: Doc
    seen: bytes
    size: int


class Routed:
    """What one library's searches share. Whoever changes it holds the library's lock, or puts one value in place of another."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.engine: Engine | None = None
        self.name = ""
        self.latest: Current | None = None
        self.docs: OrderedDict[str, Kept] = OrderedDict()
        self.docs_size = 0
        self.own_embedder: tuple[Embedder | None, str] | None = None
        """The model that comes with metier, or why it cannot run."""
        self.phrases: tuple[object, object, Table] | None = None
        """All trigger phrases, with the listing and the user's own phrases that they are made of."""


def routed(library: Library) -> Routed:
    """Give what the searches of a library share."""
    if library.routed is None:
        with library.alone:
            if library.routed is None:
                library.routed = Routed()
    assert isinstance(library.routed, Routed)
    return library.routed


def warn(library: Library, warning: str) -> None:
    """Add a warning, once."""
    if warning not in library.warnings:
        library.warnings.append(warning)
