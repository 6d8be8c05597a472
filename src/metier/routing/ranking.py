"""Candidates → skills in their order: weighed, copies made one, the best read, and then what the user wants to count besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.phrases import custom_phrases
from metier.route import fusion, triggers
from metier.route.fields import exact
from metier.route.second import readings, sought
from metier.routing import texts
from metier.routing.apart import docs_of
from metier.routing.meaning import vector_of
from metier.routing.state import routed
from metier.routing.weights import Weights
from metier.routing.wish import without_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.app import Library
    from metier.model import Card
    from metier.route.fusion import Scored
    from metier.route.second import Reading
    from metier.routing.state import Current
    from metier.wanted import Asked

KEPT = 120
"""Names that stay after their candidates were weighed: more than an answer ever has."""
READ = 24
"""The best candidates, whose passages are read: with more, an answer takes longer and is hardly better."""
COPIES = 3
"""Of a name, how many copies that differ may be read."""
ROUNDS = 4
"""How often twice as many candidates are asked for, because too many were copies of one another."""


class Ranked(NamedTuple):
    """A skill in its place."""

    card: Card
    scored: Scored
    heading: str
    """Of the passage that fits best."""


class _Evidence(NamedTuple):
    """What speaks for a candidate: an engine's signals, the longest trigger phrase in the task, and whether it has a vector."""

    signals: Mapping[str, float]
    phrase: str
    seen: bool = True


def ranked(library: Library, now: Current, asked: Asked, wanted: int = 0) -> list[Ranked]:
    """Weigh the candidates, read the best, and put them in a total order: score, then name, then path (decision 23).

    Each name comes once, by its best copy. At least so many are looked for as are wanted.
    """
    pool = _Pool(library, now, asked)
    tiers = pool.tiers(wanted)
    task, docs = sought(pool.asked.text, unfinished=asked.unfinished), docs_of(library, now, pool.foremost)
    seen = dict(zip(docs, readings(task, list(docs.values())), strict=True))
    read = []
    for path, doc in docs.items():
        features = pool.features(path, seen[path])
        if asked.unfinished or not (task.terms and doc.whole and pool.is_empty(path, features)):
            read.append((path, fusion.scored(features, vectors=pool.means, read=True), pool.first[path].score))
    unread = [[(path, pool.first[path]) for path in tier if path not in docs] for tier in tiers]
    return _weighed(pool, fusion.on_one_scale(fusion.joined(read, *unread)), seen)


class _Pool:
    """The candidates of one question, each with its first score."""

    def __init__(self, library: Library, now: Current, asked: Asked) -> None:
        self.now, self.weights = now, Weights(library)
        self.spoken = _spoken(library, now, asked)  # a phrase may be part of a link
        text = without_paths(asked.text)
        self.asked = asked._replace(text=text, vector=vector_of(library, now, text))
        self.means = self.asked.vector is not None
        self.lent: float | None = None
        self.foremost: list[str] = []
        """Whose passages are to be read."""
        self.evidence: dict[str, _Evidence] = {}
        self.first: dict[str, Scored] = {}
        self.copies: dict[tuple[str, str], list[str]] = {}

    def tiers(self, wanted: int) -> list[list[str]]:
        """Give the best copy of each name, in their order; what only a wider question found comes behind all others.

        So a shorter answer is the beginning of a longer one: which skills are read does not depend on how many are wanted.
        """
        limit = self.asked.limit
        order, more = self._ordered(limit)
        tiers, self.foremost = [order], self._first_of(order)
        for _round in range(ROUNDS):
            if not more or sum(map(len, tiers)) >= max(wanted, READ):
                break
            limit *= 2
            order, more = self._ordered(limit)
            if len(tiers[0]) < READ:
                tiers, self.foremost = [order], self._first_of(order)
            else:
                known = {self._name(path) for tier in tiers for path in tier}
                tiers.append([path for path in order if self._name(path) not in known])
        return tiers

    def _ordered(self, limit: int) -> tuple[list[str], bool]:
        """Ask for candidates and weigh those that are new; tell too whether there may be more of them."""
        found = self.now.engine.query(self.asked._replace(limit=limit))
        # An engine may be anybody's: what it gives back is held against what it was given.
        signals = {one.path: one.signals for one in found if _may_be(self.now, self.asked, one.path)}
        if self.lent is None:
            self.lent = self._mean(signals) if self.means else 0.0
        for path in {**signals, **self.spoken}:
            if path not in self.evidence:
                one = self._evidence(path, signals.get(path, {}))
                self.evidence[path] = one
                if fusion.fits(one.signals, one.phrase):
                    plain = one.seen and not one.phrase
                    self.first[path] = (fusion.unread(one.signals, vectors=self.means) if plain
                                        else fusion.scored(self.features(path), vectors=self.means, read=False))  # fmt: skip
        self.copies = self._copies()
        return self._in_order(copies[0] for copies in self.copies.values())[:KEPT], len(found) >= limit

    def _first_of(self, order: Iterable[str]) -> list[str]:
        """Give the best of some names and of their other copies: which of these is the best, their passages tell."""
        return self._in_order(path for one in order for path in self.copies[self._name(one)])[:READ]

    def _in_order(self, paths: Iterable[str]) -> list[str]:
        return sorted(paths, key=lambda path: (-self.first[path].score, self.now.cards[path].name, path))

    def _evidence(self, path: str, signals: Mapping[str, float]) -> _Evidence:
        known = self.now.meaning
        return _Evidence(signals, self.spoken.get(path, ""), known is None or path not in known.lacking)

    def _mean(self, signals: Mapping[str, Mapping[str, float]]) -> float:
        """Give how near those are to the task on average that were found by their words, and have vectors."""
        lacking = self.now.meaning.lacking if self.now.meaning else frozenset()
        near = [one.get("vector", 0.0) for path, one in signals.items()
                if path not in lacking and any(one.get(name, 0.0) > 0 for name in fusion.WORDY)]  # fmt: skip
        return sum(near) / len(near) if near else 0.0

    def features(self, path: str, seen: Reading | None = None) -> dict[str, float]:
        """Give the features of a candidate. One that has no vector yet is taken to be as near as the others are on average."""
        one = self.evidence[path]
        found = fusion.features(one.signals, one.phrase, seen)
        return found if one.seen or not self.lent else {**found, "vector": self.lent}

    def is_empty(self, path: str, features: Mapping[str, float]) -> bool:
        """Tell whether nothing that says anything speaks for a candidate; what it was lent is no evidence."""
        return fusion.is_empty(features if self.evidence[path].seen else {**features, "vector": 0.0})

    def _copies(self) -> dict[tuple[str, str], list[str]]:
        """Give of each name its best copies; of those for which just as much is to be said, only the one that the name means."""
        best = max((one.score for one in self.first.values()), default=0.0)
        named: dict[tuple[str, str], list[str]] = {}
        for path in self.first:
            named.setdefault(self._name(path), []).append(path)
        for name, copies in named.items():
            if len(copies) > 1:
                copies.sort(key=lambda path: self._place_of_copy(path, best))
                unlike = {self.first[path].score: path for path in reversed(copies)}  # of those that are alike, the first stays
                named[name] = [path for path in copies if unlike[self.first[path].score] == path][:COPIES]
        return named

    def _place_of_copy(self, path: str, best: float) -> tuple[float, bool, str]:
        """Give what copies are sorted by: their scores on the scale on which the user's weights are added to them."""
        card, score = self.now.cards[path], self.first[path].score
        shares = sum(self.weights.shares(card).values())
        return -(score / best if best > 0 else score) - shares, card.state == "shadowed", path

    def _name(self, path: str) -> tuple[str, str]:
        card = self.now.cards[path]
        return card.plugin, card.name


def _may_be(now: Current, asked: Asked, path: str) -> bool:
    return path in now.cards and (asked.among is None or path in asked.among) and path not in asked.without


def table_of(library: Library, now: Current) -> triggers.Table:
    """Give the trigger phrases of all skills, the user's own in the place of declared ones (CO-8)."""
    state, custom = routed(library), custom_phrases(library)
    kept = state.phrases
    if kept is None or kept[0] is not now.cards or kept[1] != custom:
        phrased = triggers.combined(now.cards.values(), now.engine.triggers(), custom)
        kept = state.phrases = now.cards, custom, triggers.table(phrased)
    return kept[2]


def _spoken(library: Library, now: Current, asked: Asked) -> dict[str, str]:
    """Give the longest trigger phrase in the task of each skill that may be answered and has one."""
    found = {one.path: one.phrase for one in triggers.matches(table_of(library, now), asked.text)
             if _may_be(now, asked, one.path)}  # fmt: skip
    if not asked.tags:
        return found
    return {path: phrase for path, phrase in found.items() if _is_tagged(library, now.cards[path], asked.tags)}


def _is_tagged(library: Library, card: Card, tags: Iterable[str]) -> bool:
    text = texts.text_of(card, library.ports.clock_ns())
    return text is not None and {exact(tag) for tag in tags} <= {exact(tag) for tag in text.tags}


def _weighed(pool: _Pool, found: Mapping[str, Scored], seen: Mapping[str, Reading]) -> list[Ranked]:
    """Add what the user wants to count beside the task."""
    placed = []
    for path, one in found.items():
        card = pool.now.cards[path]
        shares = pool.weights.shares(card)
        if shares:
            why = {**one.why, **shares}
            one = fusion.Scored(fusion.total(why), why)  # noqa: PLW2901
        placed.append(Ranked(card, one, seen[path].heading if path in seen else ""))
    return _once(placed)


def _once(found: Iterable[Ranked]) -> list[Ranked]:
    """Keep of each name the best copy, and of equally good ones the one that the name means."""
    best: dict[tuple[str, str], Ranked] = {}
    for one in sorted(found, key=lambda one: (-one.scored.score, one.card.state == "shadowed", one.card.path)):
        best.setdefault((one.card.plugin, one.card.name), one)
    return sorted(best.values(), key=lambda one: (-one.scored.score, one.card.name, one.card.path))
