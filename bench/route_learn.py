"""Learns how much each signal weighs in `metier find`, and says by cross-validation what that is
worth. Needs scipy.

    python bench/route_learn.py [--pool ../shared/data/routing-dev.tar.xz] [--asked bench/asked.jsonl]

For each state of knowledge (words alone or with vectors, before and after passages were read) the
weights of `find/score.py` are fitted: a skill's score is a weighted sum, and the right skill's
share of the softmax over all candidates is made as large as it can be, with no weight below zero.
Every query of the benchmark counts once, and each message of the writers that no vector was trained
on a fifth of that. The figures are of queries whose skill was in none of the queries that the
weights were fitted on: five folds over skills, three times. What is shipped is the fit on all of
them, rounded.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import route_data
from embed import HELD_OUT
from route_vectors import Kept, of_each
from scipy.optimize import minimize

from metier.find import passages, score
from metier.find.index.engine import memory_engine
from metier.find.model import IndexQuery
from metier.find.rank import MAX_READ
from metier.find.service import CANDIDATE_POOL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from route_data import Data, Query

TOP, FOLDS, ROUNDS = 10, 5, 3
RIDGE = 0.01
BESIDE = 0.2
"""What a message of `asked.jsonl` counts beside a query of the benchmark."""
EACH = 3
"""Of how many such messages one is used."""
UNSEEN = 1e9
STATES = {
    "words": (False, False),
    "words, passages read": (False, True),
    "fusion": (True, False),
    "second stage": (True, True),
}


class Sheet(NamedTuple):
    """Candidates of every query: their features, their names, and which are right; what is no
    candidate is masked out.
    """

    values: Any
    names: list[list[str]]
    right: Any
    there: Any


def main() -> int:
    """Fit and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).resolve().parent
    parser.add_argument(
        "--pool", type=Path, default=here.parent.parent / "shared/data/routing-dev.tar.xz"
    )
    parser.add_argument("--asked", type=Path, default=here / "asked.jsonl")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = route_data.read(options.pool, Path(scratch))
    queries = [*data.queries, *_beside(options.asked, data)]
    embedder = Kept(here / ".trees")
    engine = memory_engine()
    engine.build(route_data.texts(data.skills))
    engine.add_vectors(
        "pool",
        [
            (skill.id, rows)
            for skill, rows in zip(data.skills, of_each(embedder, data.skills), strict=True)
        ],
    )
    meant = embedder.queries([query.text for query in queries])
    own = np.array([query.set != "asked" for query in queries])
    for what, (vectors, read) in STATES.items():
        columns = list(score.WEIGHTS[vectors, read])
        sheet = _sheet(
            engine, data, queries, meant if vectors else [None] * len(queries), (vectors, read)
        )
        held = cross_validated(sheet, queries, own)
        weights = fitted(sheet, np.ones(len(queries), bool), own)
        shipped = np.array([score.WEIGHTS[vectors, read][name] for name in columns])
        print(f"\n{what}\n  cross-validated  {_said(held)}")
        print(f"  as shipped       {_said(figures(sheet.values @ shipped, sheet, queries, own))}")
        shares = zip(columns, weights / weights.sum(), strict=True)
        print("  fitted           " + ", ".join(f"{name} {share:.3f}" for name, share in shares))
    return 0


def _beside(file: Path, data: Data) -> list[Query]:
    """Give the messages for skills that no vector was trained on."""
    names = {skill.id: skill.name for skill in data.skills}
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = [
        route_data.Query(row["id"], "asked", row[kind], (names[row["id"]],))
        for row in rows
        if row["writer"] in HELD_OUT and row["id"] in names
        for kind in ("a", "b")
    ]
    return found[::EACH]


def _sheet(
    engine: Any,
    data: Data,
    queries: Sequence[Query],
    meant: Sequence[Any],
    state: tuple[bool, bool],
) -> Sheet:
    """Give the features of all candidates; where passages are read, of the best alone."""
    skills = {skill.id: skill for skill in data.skills}
    docs: dict[str, passages.Doc] = {}
    columns, rows, names = list(score.WEIGHTS[state]), [], []
    for query, vector in zip(queries, meant, strict=True):
        found = [
            (one.path, one.signals)
            for one in engine.query(IndexQuery(query.text, CANDIDATE_POOL, vector=vector))
        ]
        seen: list[passages.Reading | None] = [None] * len(found)
        if state[1]:
            found.sort(
                key=lambda one: (
                    -score.scored(score.features(one[1]), vectors=state[0], read=False).score
                )
            )
            found = found[:MAX_READ]
            for path, _signals in found:
                skill = skills[path]
                docs[path] = docs.get(path) or passages.doc(
                    skill.name, skill.description, skill.body
                )
            seen = list(
                passages.readings(
                    passages.task_words(query.text), [docs[path] for path, _signals in found]
                )
            )
        features = [
            score.features(signals, "", read)
            for (_path, signals), read in zip(found, seen, strict=True)
        ]
        rows.append([[one[name] for name in columns] for one in features])
        names.append([skills[path].name for path, _signals in found])
    width = max(map(len, names))
    values, there = np.zeros((len(rows), width, len(columns))), np.zeros((len(rows), width), bool)
    right = np.zeros((len(rows), width))
    for at, (row, some, query) in enumerate(zip(rows, names, queries, strict=True)):
        values[at, : len(row)], there[at, : len(row)] = row, True
        right[at, : len(row)] = [name in query.gold for name in some]
    return Sheet(values, names, right, there)


def fitted(sheet: Sheet, chosen: Any, own: Any) -> Any:
    """Fit the weights on some queries."""
    usable = chosen & (sheet.right.sum(1) > 0)
    values, there, right = sheet.values[usable], sheet.there[usable], sheet.right[usable]
    right = right / right.sum(1, keepdims=True)
    counts = np.where(own[usable], 1.0, BESIDE)
    counts = counts / counts.sum()
    spread = values[there].std(0) + 1e-9
    values, masked = values / spread, np.where(there, 0.0, -UNSEEN)

    def loss(weights: Any) -> tuple[float, Any]:
        scores = values @ weights + masked
        scores -= scores.max(1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(1, keepdims=True)
        gradient = (
            np.einsum("qn,qnf->f", counts[:, None] * (shares - right), values) + 2 * RIDGE * weights
        )
        return -(counts[:, None] * right * np.log(shares + 1e-12)).sum() + RIDGE * (
            weights**2
        ).sum(), gradient

    width = values.shape[-1]
    return (
        minimize(loss, np.zeros(width), jac=True, method="L-BFGS-B", bounds=[(0, None)] * width).x
        / spread
    )


def cross_validated(sheet: Sheet, queries: Sequence[Query], own: Any) -> Any:
    """Give the figures of the benchmark's queries, each scored with weights that were fitted
    without its skill.
    """
    skills = sorted({query.gold[0] for query, is_own in zip(queries, own, strict=True) if is_own})
    found = []
    for seed in range(ROUNDS):
        drawn = np.random.default_rng(seed).permutation(skills)
        fold = {str(name): at % FOLDS for at, name in enumerate(drawn)}
        folds = np.array(
            [
                fold.get(query.gold[0], -1) if is_own else -1
                for query, is_own in zip(queries, own, strict=True)
            ]
        )
        scores = np.zeros(sheet.there.shape)
        for at in range(FOLDS):
            scores[folds == at] = (sheet.values @ fitted(sheet, folds != at, own))[folds == at]
        found.append(figures(scores, sheet, queries, own))
    return np.mean(found, 0)


def figures(scores: Any, sheet: Sheet, queries: Sequence[Query], own: Any) -> Any:
    """Give Hit@1, MRR@10 and recall@10 of the benchmark's queries, by distinct names."""
    found = []
    for at in np.flatnonzero(own).tolist():
        names = sheet.names[at]
        order = sorted(range(len(names)), key=lambda one: (-scores[at, one], names[one]))
        seen = list(dict.fromkeys(names[one] for one in order))[:TOP]
        place = next((rank for rank, name in enumerate(seen) if name in queries[at].gold), None)
        found.append((place == 0, 0.0 if place is None else 1 / (place + 1), place is not None))
    return np.mean(found, 0)


def _said(values: Any) -> str:
    return "Hit@1 {:.3f}  MRR@10 {:.3f}  recall@10 {:.3f}".format(*values)


if __name__ == "__main__":
    sys.exit(main())
