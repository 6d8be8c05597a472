"""Measure how well and how fast `metier find` finds the skill that fits a task, beside others on
the same skills and queries.

    python bench/route.py [--pool FILE] [--sizes 1000,10000,80000] [--quick] [--no-peers] [--json FILE]

FILE is an archive, or a folder, with `pool.jsonl` (id, name, description, body) and
`queries-dev.jsonl` (id, set, query, gold). Nothing is learnt here: the weights are those of
`find/score.py`, and `route_learn.py` says by cross-validation what they are worth. The vectors of
the pool are made once and kept under bench/.trees. The exit code is 1 unless every aim is met;
`--quick` takes 500 skills and one round, and judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import library
import route_data
import route_peers
import route_quality
import route_speed
import trees
from figures import Figure, Target, exact, figures_table
from route_vectors import Kept, of_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from route_data import Data
    from route_quality import Found
    from route_speed import Sized

BENCH = Path(__file__).resolve().parent
POOL = BENCH.parent.parent / "shared/data/routing-dev.tar.xz"
QUICK = 500
AIMS = {"Hit@1": 0.60, "MRR@10": 0.70, "recall@10": 0.90}
SECOND = {
    route_speed.WORDS: "second stage, words alone",
    route_speed.EVERYTHING: "second stage: `m.find`",
}
"""What the answers of `m.find` are called beside the stages before it."""
LARGEST_FOR_ALL = "tantivy"
"""The peer that is asked at every size; the others only on the pool as it is."""


def found_by(data: Data, embedder: Kept, pool: Sized) -> Found:
    """Give what every way of ranking found, ours in the order in which they build on each other,
    and then the peers.
    """
    asked = embedder.queries([query.text for query in data.queries])
    ours = route_quality.ranked(data, of_each(embedder, data.skills), asked)
    answered = {
        name: answer.names
        for name, answer in pool.answers.items()
        if name not in route_speed.ALONE.values()
    }
    return {**ours, **{SECOND.get(name, name): names for name, names in answered.items()}}


def quality_figures(found: Found, data: Data) -> list[Figure]:
    """Hold the answers of `m.find` against the aims."""
    each = route_quality.scores(found[SECOND[route_speed.EVERYTHING]], data.queries)
    figures = []
    for at, (what, least) in enumerate(AIMS.items()):
        one, figure = (
            route_quality.interval(each[:, at]),
            exact(what, float(each[:, at].mean()), Target("at least", least, "")),
        )
        figures.append(figure._replace(low=one.low, high=one.high))
    return figures


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--pool", type=Path, default=POOL, help="an archive or a folder with a pool and its queries"
    )
    parser.add_argument(
        "--sizes",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[1_000, 10_000, 80_000],
    )
    parser.add_argument(
        "--quick", action="store_true", help="500 skills, one round, nothing judged"
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument(
        "--scratch", type=Path, help="where libraries are laid out; a temporary folder unless named"
    )
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    found = parser.parse_args()
    if not found.pool.exists():
        parser.error(f"there is no pool at {found.pool}: name one with --pool")
    return found


def measured(chosen: argparse.Namespace, data: Data, scratch: Path) -> tuple[Found, list[Sized]]:
    """Measure the pool as it is, with every peer, and then libraries of the sizes asked for."""
    embedder = Kept(trees.DEFAULT_TREES)
    bench = route_speed.Bench(scratch, data.skills, embedder, say)
    rounds = 1 if chosen.quick else route_speed.ROUNDS
    pool = bench.sized(
        len(data.skills), data.queries, list(route_peers.TABLE) if chosen.peers else [], rounds
    )
    say("quality")
    found = found_by(data, embedder, pool)
    some = [LARGEST_FOR_ALL] if chosen.peers else []
    sizes = [] if chosen.quick else sorted(set(chosen.sizes) - {len(data.skills)})
    return found, [pool, *(bench.sized(size, data.queries, some, rounds) for size in sizes)]


def say(text: str) -> None:
    """Tell what is going on."""
    print(f"… {text}", file=sys.stderr, flush=True)


def report(data: Data, found: Found, sizes: Sequence[Sized]) -> str:
    """Put all tables together."""
    return "\n\n".join(
        [
            f"{len(data.skills):,} skills, {len(data.queries)} queries",
            route_quality.quality_table(found, data.queries),
            route_quality.difficulty_table(found, data),
            route_speed.sizes_table(sorted(sizes)),
            route_speed.times_table(sorted(sizes)),
        ]
    )


def content(
    answer: Sequence[Figure], found: Found, data: Data, sizes: Sequence[Sized]
) -> dict[str, Any]:
    """Give everything measured, for a file."""
    return {
        "figures": [{**figure._asdict(), "target": str(figure.target)} for figure in answer],
        "quality": {
            way: route_quality.scores(names, data.queries).mean(axis=0).tolist()
            for way, names in found.items()
        },
        "sizes": [
            one._asdict()
            | {
                "built": one.built._asdict(),
                "answers": {
                    name: {"ready": each.seconds, "times": each.times, "peak": each.peak}
                    for name, each in one.answers.items()
                },
            }
            for one in sizes
        ],
    }


def main() -> int:
    """Measure, then print the tables and the figures; 1 unless every aim is met."""
    chosen, before = options(), library.machine()
    with tempfile.TemporaryDirectory(prefix="metier-bench-", dir=chosen.scratch) as scratch:
        data = route_data.read(chosen.pool, Path(scratch))
        data = route_data.few(data, QUICK) if chosen.quick else data
        found, sizes = measured(chosen, data, Path(scratch))
    answer = [] if chosen.quick else [*quality_figures(found, data), *route_speed.figures(sizes)]
    print(
        " · ".join(f"{key} {value}" for key, value in before.items())
        + f" → {round(os.getloadavg()[0], 2)}"
    )
    print(report(data, found, sizes))
    if answer:
        print(f"\n{figures_table(answer)}")
    if chosen.json:
        file = json.dumps(
            {"machine": before, **content(answer, found, data, sizes)}, indent=2, ensure_ascii=False
        )
        chosen.json.write_text(file + "\n", encoding="utf-8")
    return 0 if all(figure.verdict == "met" for figure in answer) else 1


if __name__ == "__main__":
    sys.exit(main())
