"""`search_skills`: the skills that fit a task, of those that may be used. The same question is answered once per snapshot."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from metier.collector import CollectorOff
from metier.disclose.schemas import USUAL_HITS
from metier.errors import StoreError
from metier.routing import POOL, WHILE_WAITING
from metier.routing.ranking import ranked
from metier.routing.upkeep import current, forget
from metier.routing.wish import task_of
from metier.standard.names import encodable, one_line
from metier.trust.boundary import escaped
from metier.wanted import Asked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.mcp.stock import Snapshot, Stock
    from metier.model import Card

REMEMBERED, HELD_SECONDS = 512, 300
"""How many answers are remembered, and for how long: as long as a decision holds."""
DESCRIPTION = 300
"""How many characters of a description an answer has: enough to choose by."""
PASSED_OVER = 30
"""How many of the best may turn out not to be usable before the search ends."""


class Search:
    """Searches for one stock."""

    def __init__(self, stock: Stock) -> None:
        """Begin with nothing remembered."""
        self.stock = stock
        self._known: OrderedDict[tuple[int, str, int], tuple[float, dict[str, Any]]] = OrderedDict()

    def known(self, snapshot: Snapshot, query: str, limit: int = USUAL_HITS) -> dict[str, Any] | None:
        """Give an answer that was given before, and still holds."""
        until, found = self._known.get((snapshot.generation, query, limit), (0.0, None))
        return found if until > time.monotonic() else None

    def answer(self, query: str, limit: int = USUAL_HITS) -> dict[str, Any]:
        """Give the best that may be used."""
        snapshot = self.stock.now()
        hits: list[dict[str, Any]] = []
        passed, until = 0, time.monotonic() + HELD_SECONDS
        for card in self._ranked(snapshot, query, limit):
            if len(hits) >= limit or passed > PASSED_OVER:
                break
            standing = self.stock.standing(card) if card.path in snapshot.visible else None
            until = min(until, standing.until) if standing is not None else until
            if standing is not None and standing.refusal is None:
                hits.append(row(card))
            else:
                passed += 1
        found = {"query": encodable(escaped(query)), "hits": hits, "count": len(hits)}
        self._known[snapshot.generation, query, limit] = until, found
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return found

    def warm(self) -> None:
        """Have the index ready before somebody asks."""
        self.stock.now()
        if self.stock.library.ranker is None:
            current(self.stock.library, most=WHILE_WAITING)

    def _ranked(self, snapshot: Snapshot, query: str, limit: int) -> Iterable[Card]:
        library = self.stock.library
        if not query.strip() or not snapshot.visible:
            return []
        if library.ranker is not None:
            # A ranker may be anybody's: what it gives back is held against what it was given.
            given = [card for card in library.ranker.rank(query, list(snapshot.visible.values())) if card.path in snapshot.visible]
            return {card.path: card for card in given}.values()
        asked = Asked(task_of(query), POOL, snapshot.among)
        with CollectorOff():
            now = current(library, most=WHILE_WAITING)
            try:
                found = ranked(library, now, asked, limit)
            except StoreError:  # a damaged index is made anew, and asked once more
                forget(library, now)
                found = ranked(library, current(library, most=WHILE_WAITING), asked, limit)
        return [one.card for one in found]


def row(card: Card) -> dict[str, Any]:
    """Give what an answer says of a skill."""
    text = one_line(escaped(card.description))
    text = text if len(text) <= DESCRIPTION else text[: DESCRIPTION - 1] + "…"
    told = {"name": escaped(card.name), "description": text}
    if card.readiness != "available":
        told["readiness"] = card.readiness
    return {key: encodable(value) for key, value in told.items()}
