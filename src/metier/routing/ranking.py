"""Candidates → skills in their order: weighed, the best of them read, and then what the user wants to count beside the task."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.route import fusion, triggers
from metier.route.fields import exact
from metier.route.second import readings, sought
from metier.route.weighing import Standing, weighed
from metier.routing import texts
from metier.routing.upkeep import docs_of, table_of, vector_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.app import Library
    from metier.model import Card, Trust
    from metier.route.fusion import Scored
    from metier.route.second import Reading
    from metier.routing.upkeep import Routed
    from metier.wanted import Asked

KEPT = 120
"""Candidates that stay after they were weighed: more than an answer ever has, for some are copies of others."""
READ = 16
"""The best candidates, whose passages are read: with twice as many an answer takes a third longer and is no better."""


class Ranked(NamedTuple):
    """A skill in its place."""

    card: Card
    scored: Scored
    heading: str
    """Of the passage that fits best."""


def ranked(library: Library, state: Routed, asked: Asked) -> list[Ranked]:
    """Weigh the candidates, read the best of them, and put them in a total order: score, then name, then path (decision 23)."""
    asked = asked._replace(vector=vector_of(library, state, asked.text))
    means, evidence = asked.vector is not None, _evidence(library, state, asked)
    first = {path: fusion.scored(fusion.features(*one), vectors=means, read=False) for path, one in evidence.items()
             if fusion.fits(*one)}  # fmt: skip
    order = sorted(first, key=lambda path: (-first[path].score, state.places.cards[path].name, path))[:KEPT]
    task, docs = sought(asked.text, unfinished=asked.unfinished), docs_of(state, order[:READ])
    seen = dict(zip(docs, readings(task, list(docs.values())), strict=True))
    read = []
    for path, doc in docs.items():
        features = fusion.features(*evidence[path], seen[path])
        if asked.unfinished or not (task.terms and doc.whole and fusion.is_empty(features)):
            read.append((path, fusion.scored(features, vectors=means, read=True), first[path].score))
    joined = fusion.joined(read, [(path, first[path]) for path in order if path not in docs])
    return _weighed(library, state, fusion.on_one_scale(joined), seen)


def _evidence(library: Library, state: Routed, asked: Asked) -> dict[str, tuple[Mapping[str, float], str]]:
    """Give what speaks for each candidate: the engine's signals, and the longest trigger phrase that stands in the task."""
    assert state.engine is not None
    # An engine may be anybody's: what it gives back is held against what it was given.
    signals = {one.path: one.signals for one in state.engine.query(asked) if _may_be(state, asked, one.path)}
    spoken = _spoken(library, state, asked)
    return {path: (signals.get(path, {}), spoken.get(path, "")) for path in (*signals, *spoken)}


def _may_be(state: Routed, asked: Asked, path: str) -> bool:
    return path in state.places and (asked.among is None or path in asked.among) and path not in asked.without


def _spoken(library: Library, state: Routed, asked: Asked) -> dict[str, str]:
    """Give the longest trigger phrase in the task of each skill that may be answered and has one."""
    table = table_of(library, state)
    found = {one.path: one.phrase for one in triggers.matches(table, asked.text) if _may_be(state, asked, one.path)}
    if not asked.tags:
        return found
    return {path: phrase for path, phrase in found.items() if _is_tagged(library, state, path, asked.tags)}


def _is_tagged(library: Library, state: Routed, path: str, tags: Iterable[str]) -> bool:
    text = texts.text_of(state.places[path], library.ports.clock_ns())
    return text is not None and {exact(tag) for tag in tags} <= {exact(tag) for tag in text.tags}


def _weighed(library: Library, state: Routed, found: Mapping[str, Scored], seen: Mapping[str, Reading]) -> list[Ranked]:
    """Add what the user wants to count beside the task."""
    routing, precedence = library.settings.route, library.settings.precedence
    stats = _stats(library)
    placed = []
    for path, one in found.items():
        card = state.places.cards[path]
        shares = weighed(card, routing, precedence, Standing(_level(library, card), stats.get(card.name, (0, 0))[1] / 100))
        if shares:
            why = {**one.why, **shares}
            one = fusion.Scored(fusion.total(why), why)  # noqa: PLW2901
        placed.append(Ranked(card, one, seen[path].heading if path in seen else ""))
    return sorted(placed, key=_place)


def _place(one: Ranked) -> tuple[float, str, str]:
    return -one.scored.score, one.card.name, one.card.path


def _stats(library: Library) -> Mapping[str, tuple[int, int]]:
    if not library.settings.route.usage:
        return {}
    from metier.counting import stats_of

    return stats_of(library)


def _level(library: Library, card: Card) -> Trust:
    """Give how far a skill is trusted, where that counts: it needs the verdict on each, and those are kept."""
    if not library.settings.route.trust:
        return "community"
    from metier.errors import MetierError
    from metier.vetting.cases import case_of

    try:
        return case_of(library, card).decision.level
    except (MetierError, OSError):  # gone since it was listed
        return "community"


def once(found: Iterable[Ranked]) -> list[Ranked]:
    """Keep of each name the best copy, and of equally good ones the one that the name means."""
    best: dict[tuple[str, str], Ranked] = {}
    for one in found:
        key = one.card.plugin, one.card.name
        kept = best.get(key)
        if kept is None or _copy(one) < _copy(kept):
            best[key] = one
    return sorted(best.values(), key=_place)


def _copy(one: Ranked) -> tuple[float, bool, str]:
    return -one.scored.score, one.card.state == "shadowed", one.card.path
