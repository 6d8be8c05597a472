"""Checks a search request, and puts the skills that answer it in order.

Candidates are weighed, copies become one, the best are read, and then what the user wants to count
is added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import UsageError, closest
from metier.find import score, texts, triggers
from metier.find.model import AllowedPaths, search_state
from metier.find.passages import readings, task_words
from metier.find.refresh import vector_of
from metier.find.score import UserWeights
from metier.find.texts import docs_of
from metier.find.triggers import custom_phrases
from metier.find.words import exact_tag
from metier.model import SCOPES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from metier.context import Context
    from metier.find.model import CurrentIndex, IndexQuery
    from metier.find.passages import Reading
    from metier.find.score import Scored
    from metier.model import Card, Texts


MAX_HITS = 100
"""Hits of one answer."""
MAX_TASK_CHARS = 8_000
MAX_TASK_END_CHARS = 2_000
"""Characters of a task that count. Of a longer one the beginning and these last ones: what was
pasted stands in between."""
DEFAULT_STATES = ("visible", "shadowed")
FINDABLE_STATES = ("visible", "shadowed", "ask")
"""States in which a skill can be suggested at all."""
MAX_CACHED_SETS = 8
"""Sets of skills among which was searched that are remembered."""

_LINK = re.compile(r"""https?://([^\s/?#<>"'()]+)[/?#][!#-&*-;=?-~]*""", re.IGNORECASE)
"""A link: its host, and what comes after it as far as that is ASCII and no bracket or quote."""


class SearchRequest(NamedTuple):
    """What is asked of a search."""

    limit: int = 10
    scope: str | None = None
    category: str | None = None
    states: Iterable[str] = ()
    tags: Iterable[str] = ()
    unfinished: bool = False
    without: frozenset[str] = frozenset()
    """Paths that may not be answered."""
    judged: bool = True
    """Whether only what was judged is answered: always, but for a person's own eyes."""


def task_of(task: object) -> str:
    """Give what counts of a task."""
    if not isinstance(task, str):
        raise UsageError(
            f"a task is a text, and no {type(task).__name__}",
            hint="say in words what is to be done",
        )
    if not task.strip():
        raise UsageError(
            "there is no task to find a skill for",
            hint="say what is to be done, such as 'fill in a PDF form'",
        )
    return (
        task
        if len(task) <= MAX_TASK_CHARS
        else f"{task[: MAX_TASK_CHARS - MAX_TASK_END_CHARS]}\n{task[-MAX_TASK_END_CHARS:]}"
    )


def without_paths(task: str) -> str:
    """Leave of each link only its host: letters and digits that name a page are no words, and are
    like some by chance.
    """
    return _LINK.sub(r"\1 ", task) if "://" in task else task


def check_request(request: SearchRequest) -> SearchRequest:
    """Give a request in which everything is of its kind: one text stands for a list of one."""
    if not _is_number(request.limit) or not 0 < request.limit <= MAX_HITS:
        raise UsageError(
            f"{str(request.limit)[:40]} hits cannot be asked for",
            hint=f"give a whole number from 1 to {MAX_HITS}",
        )
    states = _texts("states", request.states)
    tags = _texts("tags", request.tags)
    for state in states:
        if state not in FINDABLE_STATES:
            hint = (
                f"{_meant(state, FINDABLE_STATES)}it can be {', '.join(FINDABLE_STATES)}; "
                f"blocked and hidden skills are never suggested"
            )
            raise UsageError(f"skills in the state '{state[:40]}' are never suggested", hint=hint)
    if request.category is not None:
        _texts("category", [request.category])
    if request.scope is not None and request.scope not in SCOPES:
        shown = str(request.scope)
        raise UsageError(
            f"there is no scope '{shown[:40]}'",
            hint=f"{_meant(shown, SCOPES)}it can be {', '.join(SCOPES)}",
        )
    return request._replace(states=states, tags=tags, unfinished=bool(request.unfinished))


def _is_number(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


def _texts(what: str, given: object) -> Texts:
    """Give texts as they are, one as a tuple of one."""
    found = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    for one in found:
        if not isinstance(one, str):
            raise UsageError(
                f"{what}: {str(one)[:40]} is no text",
                hint=f"give {what} as text, or as a list of texts",
            )
    return found


def _meant(given: str, known: Sequence[str]) -> str:
    near = closest(given[:40], known)
    return f"did you mean '{near}'? " if near else ""


# --- what may be answered


def allowed_of(context: Context, now: CurrentIndex, request: SearchRequest) -> AllowedPaths:
    """Say which paths may be answered; in the very same words for the same request, for an engine may
    remember them.
    """
    key = (
        request.scope,
        request.category,
        tuple(sorted(set(request.states))),
        request.without,
        request.judged,
    )
    with context.lock:
        found = now.allowed.get(key)
        if found is None:
            found = now.allowed[key] = _choose(
                now.found.cards, request, twice=len(now.found.cards) > len(now.cards)
            )
            while len(now.allowed) > MAX_CACHED_SETS:
                now.allowed.popitem(last=False)
    return found


def offered(cards: Sequence[Card], request: SearchRequest) -> Iterator[Card]:
    """Give the cards that may be answered.

    A shadowed copy is no back door: where the copy that a name means is kept from models, or the
    copy would be itself, it is left out as well.
    """
    states = set(request.states or DEFAULT_STATES).intersection(FINDABLE_STATES)
    behind = {path for card in cards if card.state != "visible" for path in card.shadows}
    for card in cards:
        fits = request.scope in {None, card.scope} and request.category in {None, card.category}
        hidden = card.state == "shadowed" and (card.held or card.path in behind)
        known = (card.verdict or not request.judged) and card.path not in request.without
        if fits and card.state in states and not hidden and known:
            yield card


def _choose(cards: Sequence[Card], request: SearchRequest, *, twice: bool) -> AllowedPaths:
    """Choose among cards; where most of them may be answered, and none lies twice in one place,
    only the others are named.
    """
    rest = [card for card in cards if card.state != "visible" or not card.verdict]
    if (
        request.scope is None
        and request.category is None
        and "visible" in (request.states or DEFAULT_STATES)
        and not twice
        and len(rest) * 2 < len(cards)
    ):
        kept = {card.path for card in offered(rest, request)}
        out = frozenset(card.path for card in rest if card.path not in kept)
        return AllowedPaths(without=out | request.without)
    return AllowedPaths(frozenset(card.path for card in offered(cards, request)))


MAX_NAMES = 120
"""Names that stay after their candidates were weighed: more than an answer ever has."""
MAX_READ = 24
"""The best candidates, whose passages are read: with more, an answer takes longer and is hardly
better."""
MAX_COPIES = 3
"""Of a name, how many copies that differ may be read."""
MAX_ROUNDS = 4
"""How often twice as many candidates are asked for, because too many were copies of one another."""


class Ranked(NamedTuple):
    """A skill in its place."""

    card: Card
    scored: Scored
    heading: str
    """Of the passage that fits best."""
    weak: bool = False
    """Whether it hardly fits, though it may be the best there is."""


def rank(context: Context, now: CurrentIndex, asked: IndexQuery, wanted: int = 0) -> list[Ranked]:
    """Weigh the candidates, read the best, and put them in a total order: score, then name, then
    path (MT-23).

    Each name comes once, by its best copy. At least so many are looked for as are wanted.
    """
    pool = _Pool(context, now, asked)
    tiers = pool.tiers(wanted)
    task = task_words(pool.asked.text, unfinished=asked.unfinished)
    docs = docs_of(context, now, pool.foremost)
    seen = dict(zip(docs, readings(task, list(docs.values())), strict=True))
    read = []
    for path, doc in docs.items():
        features = pool.features(path, seen[path])
        if asked.unfinished or not (task.terms and doc.whole and pool.is_empty(path, features)):
            scored = score.scored(features, vectors=pool.means, read=True)
            read.append((path, scored, pool.first[path].score))
    unread = [[(path, pool.first[path]) for path in tier if path not in docs] for tier in tiers]
    found = score.on_one_scale(score.joined(read, *unread))

    def is_weak(path: str) -> bool:
        features = pool.features(path, seen.get(path))
        return not asked.unfinished and score.is_weak(features, len(task.terms), vectors=pool.means)

    return _best_copies(
        Ranked(
            now.cards[path],
            score.with_shares(one, pool.weights.shares(now.cards[path])),
            seen[path].heading if path in seen else "",
            is_weak(path),
        )
        for path, one in found.items()
    )


class _Pool:
    """The candidates of one question, each with its first score."""

    def __init__(self, context: Context, now: CurrentIndex, asked: IndexQuery) -> None:
        self.now, self.weights = now, UserWeights(context)
        self.spoken = _triggers_in_task(context, now, asked)  # a phrase may be part of a link
        text = without_paths(asked.text)
        self.asked = asked._replace(text=text, vector=vector_of(context, now, text))
        self.means = self.asked.vector is not None
        self.lacking = now.meaning.lacking if now.meaning else frozenset[str]()
        self.lent: float | None = None
        self.foremost: list[str] = []
        """Whose passages are to be read."""
        self.signals: dict[str, Mapping[str, float]] = {}
        """What an engine says of each candidate."""
        self.first: dict[str, Scored] = {}
        self.copies: dict[tuple[str, str], list[str]] = {}

    def tiers(self, wanted: int) -> list[list[str]]:
        """Give the best copy of each name, in their order; what only a wider question found comes
        behind all others.

        So a shorter answer is the beginning of a longer one: which skills are read does not depend
        on how many are wanted.
        """
        limit = self.asked.limit
        order, more = self._ordered(limit)
        tiers = [order]
        self.foremost = self._first_of(order)
        for _round in range(MAX_ROUNDS):
            if not more or sum(map(len, tiers)) >= max(wanted, MAX_READ):
                break
            limit *= 2
            order, more = self._ordered(limit)
            if len(tiers[0]) < MAX_READ:
                tiers = [order]
                self.foremost = self._first_of(order)
            else:
                known = {self._name(path) for tier in tiers for path in tier}
                tiers.append([path for path in order if self._name(path) not in known])
        return tiers

    def _ordered(self, limit: int) -> tuple[list[str], bool]:
        """Ask for candidates and weigh those that are new; tell too whether there may be more of
        them.
        """
        found = self.now.engine.query(self.asked._replace(limit=limit))
        # An engine may be anybody's: what it gives back is held against what it was given.
        signals = {
            one.path: one.signals for one in found if _may_be(self.now, self.asked, one.path)
        }
        if self.lent is None:
            self.lent = self._mean(signals) if self.means else 0.0
        for path in {**signals, **self.spoken}:
            if path not in self.signals:
                self.signals[path] = signals.get(path, {})
                if score.fits(self.signals[path], self.spoken.get(path, "")):
                    features = self.features(path)
                    self.first[path] = score.scored(features, vectors=self.means, read=False)
        self.copies = self._copies()
        order = self._in_order(copies[0] for copies in self.copies.values())
        return order[:MAX_NAMES], len(found) >= limit

    def _first_of(self, order: Iterable[str]) -> list[str]:
        """Give the best of some names and of their other copies: which of these is the best, their
        passages tell.
        """
        return self._in_order(path for one in order for path in self.copies[self._name(one)])[
            :MAX_READ
        ]

    def _in_order(self, paths: Iterable[str]) -> list[str]:
        return sorted(
            paths, key=lambda path: (-self.first[path].score, self.now.cards[path].name, path)
        )

    def _mean(self, signals: Mapping[str, Mapping[str, float]]) -> float:
        """Give how near those are to the task on average that were found by their words, and have
        vectors.
        """
        near = [
            one.get("vector", 0.0)
            for path, one in signals.items()
            if path not in self.lacking
            and any(one.get(name, 0.0) > 0 for name in score.WORD_SIGNALS)
        ]
        return sum(near) / len(near) if near else 0.0

    def features(self, path: str, seen: Reading | None = None) -> dict[str, float]:
        """Give the features of a candidate. One that has no vector yet is taken to be as near as
        the others are on average.
        """
        found = score.features(self.signals[path], self.spoken.get(path, ""), seen)
        if self.lent and path in self.lacking:
            found["vector"] = self.lent
        return found

    def is_empty(self, path: str, features: Mapping[str, float]) -> bool:
        """Tell whether nothing that says anything speaks for a candidate; what it was lent is no
        evidence.
        """
        return score.is_empty({**features, "vector": 0.0} if path in self.lacking else features)

    def _copies(self) -> dict[tuple[str, str], list[str]]:
        """Give of each name its best copies; of those for which just as much is to be said, only
        the one that the name means.
        """
        best = max((one.score for one in self.first.values()), default=0.0)
        named: dict[tuple[str, str], list[str]] = {}
        for path in self.first:
            named.setdefault(self._name(path), []).append(path)
        for name, copies in named.items():
            if len(copies) > 1:
                copies.sort(key=lambda path: self._place_of_copy(path, best))
                # of those that are alike, the first stays
                unlike = {self.first[path].score: path for path in reversed(copies)}
                named[name] = [path for path in copies if path in unlike.values()][:MAX_COPIES]
        return named

    def _place_of_copy(self, path: str, best: float) -> tuple[float, bool, str]:
        """Give what copies are sorted by: their scores on the scale on which the user's weights are
        added to them.
        """
        card = self.now.cards[path]
        score = self.first[path].score
        shares = sum(self.weights.shares(card).values())
        return -(score / best if best > 0 else score) - shares, card.state == "shadowed", path

    def _name(self, path: str) -> tuple[str, str]:
        card = self.now.cards[path]
        return card.plugin, card.name


def _may_be(now: CurrentIndex, asked: IndexQuery, path: str) -> bool:
    return (
        path in now.cards
        and (asked.among is None or path in asked.among)
        and path not in asked.without
    )


def make_trigger_table(context: Context, now: CurrentIndex) -> triggers.TriggerTable:
    """Give the trigger phrases of all skills, the user's own in the place of declared ones
    (CO-8).
    """
    state = search_state(context)
    custom = custom_phrases(context)
    kept = state.phrases
    if kept is None or kept[0] is not now.cards or kept[1] != custom:
        phrased = triggers.with_custom_phrases(now.cards.values(), now.engine.triggers(), custom)
        kept = state.phrases = now.cards, custom, triggers.build_table(phrased)
    return kept[2]


def _triggers_in_task(context: Context, now: CurrentIndex, asked: IndexQuery) -> dict[str, str]:
    """Give the longest trigger phrase in the task of each skill that may be answered and has
    one.
    """
    return {
        one.path: one.phrase
        for one in triggers.matches(make_trigger_table(context, now), asked.text)
        if _may_be(now, asked, one.path) and _is_tagged(context, now.cards[one.path], asked.tags)
    }


def _is_tagged(context: Context, card: Card, tags: Collection[str]) -> bool:
    if not tags:
        return True
    text = texts.text_of(card, context.ports.clock_ns())
    return text is not None and set(map(exact_tag, tags)) <= set(map(exact_tag, text.tags))


def _best_copies(found: Iterable[Ranked]) -> list[Ranked]:
    """Keep of each name the best copy, and of equally good ones the one that the name means."""
    best: dict[tuple[str, str], Ranked] = {}
    for one in sorted(
        found, key=lambda one: (-one.scored.score, one.card.state == "shadowed", one.card.path)
    ):
        best.setdefault((one.card.plugin, one.card.name), one)
    return sorted(best.values(), key=lambda one: (-one.scored.score, one.card.name, one.card.path))
