"""From a task to hits: the index is brought up to date, candidates are weighed, the best are read, copies become one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.closest import closest
from metier.collector import CollectorOff
from metier.errors import StoreError, UsageError
from metier.route import confusing
from metier.routing.confused import confusable
from metier.routing.ranking import Ranked, once, ranked
from metier.routing.upkeep import Allowed, Routed, current, embedder_of
from metier.wanted import Asked, Hit, Indexed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.wanted import Floats

__all__ = ["About", "Router", "Wish", "about", "confusable", "find", "index", "phrases"]

POOL = 120
"""Candidates that are asked of an engine, however few hits are wanted: so a shorter answer is the beginning of a longer one."""
MOST = 100
"""Hits of one answer."""
LONGEST, LAST = 8_000, 2_000
"""Characters of a task that count. Of a longer one the beginning and these last ones: what was pasted stands in between."""
SUGGESTED = ("visible", "shadowed")
STATES = ("visible", "shadowed", "ask")
"""States in which a skill can be suggested at all."""
SETS = 8
"""Sets of skills among which was searched that are remembered."""


class Wish(NamedTuple):
    """What is asked of a search."""

    limit: int = 10
    scope: str | None = None
    category: str | None = None
    states: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    unfinished: bool = False


class About(NamedTuple):
    """What a search went over."""

    skills: int
    vectors: bool
    """Whether meaning counted as well as words."""


def find(library: Library, task: str, wish: Wish) -> list[Hit]:
    """Give the skills that fit a task, the best first."""
    text = _task(task)
    _check(wish)
    state = current(library)
    allowed = _allowed(state, wish)
    asked = Asked(text, POOL, allowed.among, wish.tags, None, wish.unfinished, allowed.without)
    found = once(_answered(library, state, asked))[: wish.limit]
    cards = [(one.card.path, one.card.name, one.card.description) for one in found]
    near = confusing.rivals(cards, _likeness(library, state, [path for path, _name, _description in cards]))
    return [_hit(one, near[one.card.path]) for one in found]


def index(library: Library) -> Indexed:
    """Bring the index up to date, vectors too."""
    return current(library, whole=True).done


def phrases(library: Library) -> Mapping[str, tuple[str, ...]]:
    """Give the trigger phrases that skills declare, by path."""
    engine = current(library).engine
    return engine.triggers() if engine is not None else {}


def about(library: Library) -> About:
    """Say what searches here go over."""
    state = current(library)
    return About(state.done.skills, embedder_of(library, state) is not None)


class Router:
    """Ranks cards as `find` does."""

    def __init__(self, library: Library) -> None:
        """Rank the cards of this library."""
        self.library = library

    def rank(self, task: str, cards: Sequence[Card]) -> Sequence[Card]:
        """Give the cards that fit a task, best first; skills that are in no index are compared by the words of their cards."""
        if not task.strip() or not cards:
            return []
        state = current(self.library)
        if not any(card.path in state.places for card in cards):
            from metier.disclose.choice import Words

            return Words().rank(task, cards)
        by_path = {card.path: card for card in cards if card.path in state.places}
        found = _answered(self.library, state, Asked(_task(task), POOL, frozenset(by_path)))
        return [by_path[one.card.path] for one in found]


def _answered(library: Library, state: Routed, asked: Asked) -> list[Ranked]:
    """Ask; an index that turns out to be damaged is made anew, and asked once more."""
    with CollectorOff():  # an answer makes thousands of values that are soon gone, and beside them lies the whole library
        try:
            return ranked(library, state, asked)
        except StoreError:
            state.compared = None
            return ranked(library, current(library), asked)


def _likeness(library: Library, state: Routed, paths: Sequence[str]) -> Floats | None:
    """Give how alike skills are in meaning, where meaning counts."""
    if state.engine is None or embedder_of(library, state) is None:
        return None
    try:
        return state.engine.likeness(paths)
    except StoreError:  # words are still there
        return None


# --- what is asked


def _task(task: str) -> str:
    """Give what counts of a task."""
    if not task.strip():
        raise UsageError("there is no task to find a skill for", hint="say what is to be done, such as 'fill in a PDF form'")
    return task if len(task) <= LONGEST else f"{task[: LONGEST - LAST]}\n{task[-LAST:]}"


def _check(wish: Wish) -> None:
    if not 0 < wish.limit <= MOST:
        raise UsageError(f"{str(wish.limit)[:40]} hits cannot be asked for", hint=f"give a whole number from 1 to {MOST}")
    for state in wish.states:
        if state not in STATES:
            near = closest(state, STATES)
            meant = f"did you mean '{near}'? " if near else ""
            hint = f"{meant}it can be {', '.join(STATES)}; blocked and hidden skills are never suggested"
            raise UsageError(f"skills in the state '{state[:40]}' are never suggested", hint=hint)


def _allowed(state: Routed, wish: Wish) -> Allowed:
    """Say which paths may be answered; in the very same words for the same wish, for an engine may remember them."""
    key = (wish.scope, wish.category, tuple(sorted(set(wish.states))))
    found = state.allowed.get(key)
    if found is None:
        cards = state.compared[1].cards if state.compared else []
        found = state.allowed[key] = _chosen(cards, wish, twice=len(cards) > len(state.places))
        while len(state.allowed) > SETS:
            state.allowed.popitem(last=False)
    return found


def _chosen(cards: Sequence[Card], wish: Wish, *, twice: bool) -> Allowed:
    """Choose among cards; where most of them may be answered, and none lies twice in one place, only the others are named."""
    states, rest = wish.states or SUGGESTED, [card for card in cards if card.state != "visible"]
    behind = {path for card in rest for path in card.shadows}
    if wish.scope is None and wish.category is None and "visible" in states and not twice and len(rest) * 2 < len(cards):
        out = frozenset(card.path for card in rest if card.state not in states or not _is_offered(card, behind))
        return Allowed(without=out)
    return Allowed(frozenset(card.path for card in cards if card.state in states and _is_offered(card, behind)
                             and wish.scope in {None, card.scope} and wish.category in {None, card.category}))  # fmt: skip


def _is_offered(card: Card, behind: Collection[str]) -> bool:
    """Tell what may be suggested at all.

    A shadowed copy is no back door: where the copy that a name means is kept from models, or the copy would be itself, it is
    left out as well.
    """
    return card.state in STATES and not (card.state == "shadowed" and (card.held or card.path in behind))


def _hit(one: Ranked, near: tuple[str, ...]) -> Hit:
    card = one.card
    return Hit(card.name, card.path, one.scored.score, one.scored.why, card.description, card.scope, card.category, card.state,
               card.readiness, one.heading, near)  # fmt: skip
