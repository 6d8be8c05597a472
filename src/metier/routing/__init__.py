"""From a task to hits: the index is brought up to date, candidates are weighed, the best are read, copies become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.collector import CollectorOff
from metier.errors import StoreError
from metier.route import confusing
from metier.routing.confused import confusable
from metier.routing.ranking import Ranked, ranked, table_of
from metier.routing.upkeep import current, forget
from metier.routing.wish import LAST, LONGEST, MOST, Wish, allowed_of, checked, offered, task_of
from metier.wanted import Asked, Hit, Indexed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.route.triggers import Table
    from metier.routing.state import Current
    from metier.wanted import Floats

__all__ = [
    "LAST", "LONGEST", "MOST", "POOL", "About", "Router", "Wish", "about", "confusable", "find", "index", "phrases", "scores",
    "table",
]  # fmt: skip

POOL = 120
"""Candidates that are asked of an engine, however few hits are wanted: so a shorter answer is the beginning of a longer one."""
WHILE_WAITING = 64
"""Skills whose vectors are made while a model waits for an answer."""


class About(NamedTuple):
    """What a search went over."""

    skills: int
    """Names that could have been answered. Tags are not looked at here: only the index knows them all."""
    vectors: bool
    """Whether meaning counted as well as words."""


def find(library: Library, task: str, wish: Wish) -> list[Hit]:
    """Give the skills that fit a task, the best first."""
    text, wish = task_of(task), checked(wish)
    now = current(library)
    allowed = allowed_of(library, now, wish)
    asked = Asked(text, POOL, allowed.among, tuple(wish.tags), None, wish.unfinished, allowed.without)
    found = _answered(library, now, asked, wish.limit)[: wish.limit]
    cards = [(one.card.path, one.card.name, one.card.description) for one in found]
    near = confusing.rivals(cards, _likeness(now, [path for path, _name, _description in cards]))
    return [_hit(one, near[one.card.path]) for one in found]


def index(library: Library) -> Indexed:
    """Bring the index up to date, vectors too."""
    return current(library, whole=True).done


def about(library: Library, wish: Wish | None = None) -> About:
    """Say what such a search goes over."""
    now = current(library)
    names = {(card.plugin, card.name) for card in offered(now.found.cards, checked(wish or Wish()))}
    return About(len(names), now.sees)


# --- triggers


def phrases(library: Library) -> Mapping[str, tuple[str, ...]]:
    """Give the trigger phrases that skills declare, by path."""
    return current(library, vectors=False).engine.triggers()


def table(library: Library) -> Table:
    """Give the trigger phrases of all skills, whatever their state, ready to be looked for in a task; it is made once."""
    return table_of(library, current(library, vectors=False))


def scores(library: Library, task: str, paths: Iterable[str]) -> dict[str, float]:
    """Give the score that each of some skills has for a task, held against one another; those that do not fit have none.

    Words alone count, whatever else is known: who only wants to know which of two goes first waits for no model.
    """
    now = current(library, vectors=False)._replace(meaning=None)
    asked = Asked(task_of(task), POOL, frozenset(path for path in paths if path in now.cards))
    return {one.card.path: one.scored.score for one in _answered(library, now, asked)} if asked.among else {}


class Router:
    """Ranks cards as `find` does."""

    def __init__(self, library: Library) -> None:
        """Rank the cards of this library."""
        self.library = library

    def rank(self, task: str, cards: Sequence[Card]) -> Sequence[Card]:
        """Give the cards that fit a task, best first; skills that are in no index are compared by the words of their cards."""
        if not task.strip() or not cards:
            return []
        now = current(self.library, most=WHILE_WAITING)
        known = [card for card in cards if card.path in now.cards]
        if not known:
            from metier.disclose.choice import Words

            return Words().rank(task, cards)
        found = _answered(self.library, now, Asked(task_of(task), POOL, frozenset(card.path for card in known)))
        places = {(one.card.plugin, one.card.name): at for at, one in enumerate(found)}
        best = {one.card.path for one in found}
        wanted = [card for card in known if (card.plugin, card.name) in places]
        return sorted(wanted, key=lambda card: (places[card.plugin, card.name], card.path not in best))


def _answered(library: Library, now: Current, asked: Asked, wanted: int = 0) -> list[Ranked]:
    """Ask; an index that turns out to be damaged is made anew, and asked once more."""
    with CollectorOff():  # an answer makes thousands of values that are soon gone, and beside them lies the whole library
        try:
            return ranked(library, now, asked, wanted)
        except StoreError:
            forget(library, now)
            return ranked(library, current(library), asked, wanted)


def _likeness(now: Current, paths: Sequence[str]) -> Floats | None:
    """Give how alike skills are in meaning, where that is known of any."""
    if now.meaning is None:
        return None
    try:
        return now.engine.likeness(paths)
    except StoreError:  # words are still there
        return None


def _hit(one: Ranked, near: tuple[str, ...]) -> Hit:
    card = one.card
    return Hit(card.name, card.path, one.scored.score, one.scored.why, card.description, card.scope, card.category, card.state,
               card.readiness, one.heading, near)  # fmt: skip
