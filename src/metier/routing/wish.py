"""What is asked of a search: checked, whoever asks, and turned into the skills that may be answered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from metier.closest import closest
from metier.errors import UsageError
from metier.model import SCOPES
from metier.routing.state import Allowed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from metier.app import Library
    from metier.model import Card
    from metier.routing.state import Current

MOST = 100
"""Hits of one answer."""
LONGEST, LAST = 8_000, 2_000
"""Characters of a task that count. Of a longer one the beginning and these last ones: what was pasted stands in between."""
SUGGESTED = ("visible", "shadowed")
STATES = ("visible", "shadowed", "ask")
"""States in which a skill can be suggested at all."""
SETS = 8
"""Sets of skills among which was searched that are remembered."""

_LINK = re.compile(r"""https?://([^\s/?#<>"'()]+)[/?#][!#-&*-;=?-~]*""", re.IGNORECASE)
"""A link: its host, and what comes after it as far as that is ASCII and no bracket or quote."""


class Wish(NamedTuple):
    """What is asked of a search."""

    limit: int = 10
    scope: str | None = None
    category: str | None = None
    states: Iterable[str] = ()
    tags: Iterable[str] = ()
    unfinished: bool = False


def task_of(task: object) -> str:
    """Give what counts of a task."""
    if not isinstance(task, str):
        raise UsageError(f"a task is a text, and no {type(task).__name__}", hint="say in words what is to be done")
    if not task.strip():
        raise UsageError("there is no task to find a skill for", hint="say what is to be done, such as 'fill in a PDF form'")
    return task if len(task) <= LONGEST else f"{task[: LONGEST - LAST]}\n{task[-LAST:]}"


def without_paths(task: str) -> str:
    """Leave of each link only its host: letters and digits that name a page are no words, and are like some by chance."""
    return _LINK.sub(r"\1 ", task) if "://" in task else task


def checked(wish: Wish) -> Wish:
    """Give a wish in which everything is of its kind: one text stands for a list of one."""
    if not _is_number(wish.limit) or not 0 < wish.limit <= MOST:
        raise UsageError(f"{str(wish.limit)[:40]} hits cannot be asked for", hint=f"give a whole number from 1 to {MOST}")
    states, tags = _texts("states", wish.states), _texts("tags", wish.tags)
    for state in states:
        if state not in STATES:
            hint = f"{_meant(state, STATES)}it can be {', '.join(STATES)}; blocked and hidden skills are never suggested"
            raise UsageError(f"skills in the state '{state[:40]}' are never suggested", hint=hint)
    if wish.category is not None:
        _texts("category", [wish.category])
    if wish.scope is not None and wish.scope not in SCOPES:
        shown = str(wish.scope)
        raise UsageError(f"there is no scope '{shown[:40]}'", hint=f"{_meant(shown, SCOPES)}it can be {', '.join(SCOPES)}")
    return wish._replace(states=states, tags=tags, unfinished=bool(wish.unfinished))


def _is_number(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _texts(what: str, given: object) -> tuple[str, ...]:
    """Give texts as they are, one as a tuple of one."""
    found = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    for one in found:
        if not isinstance(one, str):
            raise UsageError(f"{what}: {str(one)[:40]} is no text", hint=f"give {what} as text, or as a list of texts")
    return found


def _meant(given: str, known: Sequence[str]) -> str:
    near = closest(given[:40], known)
    return f"did you mean '{near}'? " if near else ""


# --- what may be answered


def allowed_of(library: Library, now: Current, wish: Wish) -> Allowed:
    """Say which paths may be answered; in the very same words for the same wish, for an engine may remember them."""
    key = (wish.scope, wish.category, tuple(sorted(set(wish.states))))
    with library.alone:
        found = now.allowed.get(key)
        if found is None:
            found = now.allowed[key] = _chosen(now.found.cards, wish, twice=len(now.found.cards) > len(now.cards))
            while len(now.allowed) > SETS:
                now.allowed.popitem(last=False)
    return found


def offered(cards: Sequence[Card], wish: Wish) -> Iterator[Card]:
    """Give the cards that may be answered."""
    states = tuple(wish.states) or SUGGESTED
    behind = _behind(cards)
    for card in cards:
        fits = wish.scope in {None, card.scope} and wish.category in {None, card.category}
        if fits and card.state in states and _is_offered(card, behind):
            yield card


def _behind(cards: Iterable[Card]) -> set[str]:
    """Give the paths of copies whose name means a skill that is not simply visible."""
    return {path for card in cards if card.state != "visible" for path in card.shadows}


def _chosen(cards: Sequence[Card], wish: Wish, *, twice: bool) -> Allowed:
    """Choose among cards; where most of them may be answered, and none lies twice in one place, only the others are named."""
    states, rest = tuple(wish.states) or SUGGESTED, [card for card in cards if card.state != "visible"]
    if wish.scope is None and wish.category is None and "visible" in states and not twice and len(rest) * 2 < len(cards):
        behind = _behind(rest)
        out = frozenset(card.path for card in rest if card.state not in states or not _is_offered(card, behind))
        return Allowed(without=out)
    return Allowed(frozenset(card.path for card in offered(cards, wish)))


def _is_offered(card: Card, behind: Collection[str]) -> bool:
    """Tell what may be suggested at all.

    A shadowed copy is no back door: where the copy that a name means is kept from models, or the copy would be itself, it is
    left out as well.
    """
    return card.state in STATES and not (card.state == "shadowed" and (card.held or card.path in behind))
