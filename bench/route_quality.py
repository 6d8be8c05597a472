"""How well skills are found: four figures for each way of ranking, through metier's own engine and
fusion; nothing is timed.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import route_data
from figures import table

from metier.find import score
from metier.find.index.engine import memory_engine
from metier.find.model import IndexQuery
from metier.find.service import CANDIDATE_POOL
from metier.find.words import STOP_WORDS, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from route_data import Data, Query, Skill

    from metier.ports import Engine

TOP = 10
DRAWS = 2_000
SEED = 1
FIGURES = ("Hit@1", "MRR@10", "recall@10", "nDCG@10")
WORDS, MEANING = (False, False), (True, False)
"""Which of the fusion's tables weighs: without vectors, and with them, before the passages are
read."""
PLAIN = {"name": 1.0, "description": 1.0, "body": 1.0}
VECTORS = {"vector": 1.0}

Found = dict[str, list[list[str]]]
"""A way of ranking → for each query the distinct names it gives, the best first."""


class Interval(NamedTuple):
    """A mean over queries, and between what it lies nine times of ten when others are drawn like
    them.
    """

    value: float
    low: float
    high: float


# --- ways of ranking


def ranked(data: Data, vectors: Sequence[Any], asked: Sequence[Any]) -> Found:
    """Rank the pool for every query in all ways that need no folder: words of more and more fields,
    vectors, and both.
    """
    names = {skill.id: skill.name for skill in data.skills}
    named, described, whole = (memory_engine() for _ in range(3))
    named.build(route_data.texts(data.skills, description=False, body=False))
    described.build(route_data.texts(data.skills, body=False))
    whole.build(route_data.texts(data.skills))
    whole.add_vectors(
        "pool", [(skill.id, rows) for skill, rows in zip(data.skills, vectors, strict=True)]
    )
    texts, nothing = [query.text for query in data.queries], [""] * len(data.queries)

    def all_by(
        engine: Engine,
        said: list[str],
        meant: Sequence[Any],
        state: tuple[bool, bool],
        weights: dict[str, float] | None,
    ) -> list[list[str]]:
        with weighing(state, weights):
            return [
                _distinct(engine, IndexQuery(text, CANDIDATE_POOL, vector=vector), names, state)
                for text, vector in zip(said, meant, strict=True)
            ]

    none = [None] * len(texts)
    return {
        "names only": all_by(named, texts, none, WORDS, PLAIN),
        "name + description": all_by(described, texts, none, WORDS, PLAIN),
        "BM25 with body, one field each": all_by(whole, texts, none, WORDS, PLAIN),
        "vectors alone": all_by(whole, nothing, asked, MEANING, VECTORS),
        "fusion, words alone": all_by(whole, texts, none, WORDS, None),
        "fusion": all_by(whole, texts, asked, MEANING, None),
    }


@contextmanager
def weighing(state: tuple[bool, bool], weights: dict[str, float] | None) -> Iterator[None]:
    """Let the fusion weigh with another table; with its own where none is given."""
    own = score.WEIGHTS[state]
    score.WEIGHTS[state] = own if weights is None else weights
    try:
        yield
    finally:
        score.WEIGHTS[state] = own


def _distinct(
    engine: Engine, asked: IndexQuery, names: Mapping[str, str], state: tuple[bool, bool]
) -> list[str]:
    scores = [
        (
            -score.scored(score.features(one.signals), vectors=state[0], read=state[1]).score,
            names[one.path],
            one.path,
        )
        for one in engine.query(asked)
    ]
    return list(dict.fromkeys(name for _score, name, _path in sorted(scores)))[:TOP]


# --- figures


def scores(found: Sequence[Sequence[str]], queries: Sequence[Query]) -> Any:
    """Give the four figures of each query as a row."""
    pairs = zip(found, queries, strict=True)
    return np.array(
        [_score(list(dict.fromkeys(names))[:TOP], set(query.gold)) for names, query in pairs]
    )


def _score(names: Sequence[str], gold: set[str]) -> tuple[float, float, float, float]:
    places = [at for at, name in enumerate(names) if name in gold]
    if not places:
        return 0.0, 0.0, 0.0, 0.0
    gain, best = (
        sum(_discount(at) for at in places),
        sum(_discount(at) for at in range(min(len(gold), TOP))),
    )
    return float(places[0] == 0), 1 / (places[0] + 1), 1.0, gain / best


def _discount(place: int) -> float:
    return float(1 / np.log2(place + 2))


def interval(values: Any) -> Interval:
    """Draw queries again and again, and see how far their mean moves."""
    drawn = np.random.default_rng(SEED).integers(0, len(values), (DRAWS, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.05, 0.95])
    return Interval(float(values.mean()), float(low), float(high))


def quality_table(found: Found, queries: Sequence[Query]) -> str:
    """Give every way of ranking with its figures; the range beside the first three is where nine of
    ten such samples lie.
    """
    rows: list[tuple[str, ...]] = [("found by", *FIGURES)]
    for way, names in found.items():
        each = scores(names, queries)
        cells = [_said(interval(each[:, at])) for at in range(3)]
        rows.append((way, *cells, f"{each[:, 3].mean():.3f}"))
    return table(rows)


def _said(one: Interval) -> str:
    return f"{one.value:.3f} ({one.low:.2f} … {one.high:.2f})"


# --- difficulty


def difficulties(data: Data) -> dict[str, Callable[[int], bool]]:
    """Part the queries by where they come from, and in three by how many of their words the card of
    the right skill has.
    """
    shares = [_shared(query, data.skills) for query in data.queries]
    order = sorted(range(len(shares)), key=lambda at: (shares[at], at))
    third = {at: place * 3 // len(order) for place, at in enumerate(order)}
    kinds = ("few words shared", "some", "most")
    found: dict[str, Callable[[int], bool]] = {}
    for one in sorted({query.set for query in data.queries}):
        found[f"set {one}"] = lambda at, one=one: data.queries[at].set == one  # type: ignore[misc]
    for number, kind in enumerate(kinds):
        found[kind] = lambda at, number=number: third[at] == number  # type: ignore[misc]
    return found


def _shared(query: Query, skills: Sequence[Skill]) -> float:
    asked = {word for word in words(query.text) if word not in STOP_WORDS}
    cards = [
        words(f"{skill.name}\n{skill.description}") for skill in skills if skill.name in query.gold
    ]
    return max((len(asked.intersection(card)) / max(len(asked), 1) for card in cards), default=0.0)


def difficulty_table(found: Found, data: Data) -> str:
    """Give the figures of every way of ranking for each part of the queries."""
    parts = {
        kind: [at for at in range(len(data.queries)) if belongs(at)]
        for kind, belongs in difficulties(data).items()
    }
    rows: list[tuple[str, ...]] = [
        (" / ".join(FIGURES), *(f"{kind} ({len(chosen)})" for kind, chosen in parts.items()))
    ]
    for way, names in found.items():
        each = scores(names, data.queries)
        rows.append((way, *(_means(each[chosen]) for chosen in parts.values())))
    return table(rows)


def _means(each: Any) -> str:
    return " / ".join(f"{mean:.2f}".lstrip("0") for mean in each.mean(axis=0))
