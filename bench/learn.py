"""Learn what slight evidence weighs, and from what sum on it makes *caution*; write both into the
package.

    python bench/learn.py --pool pool.jsonl --corpus CORPUS --makers MAKERS     # writes src/metier/scan/learned.py

A rule weighs the more, the rarer it is among honest skills. No malicious label is used, so no weight
can fit a campaign. *Dangerous* is not learnt: it takes one grave finding. What is kept apart for
the measurement (`bench/reader_data.py` names it) teaches nothing here either.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import textwrap
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import corpus
import reader_data

from metier.scan.examine import examine
from metier.scan.model import ScanEntry, ScanTree
from metier.scan.ruleset import RULES
from metier.scan.weigh import features, is_reason, total_weight, weight

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LEARNED = Path(__file__).resolve().parent.parent / "src/metier/scan/learned.py"
ORIGINS = ("pool", "benign", "makers")
CAUTIONS = 0.04
"""Of honest skills without a grave finding, at *caution* by slight rules alone."""
DANGEROUS_BY_CAUTION = 3.0
"""The scale of the score: what is grave lies so many times higher than what is slight."""


class Honest(NamedTuple):
    """What was seen in an honest skill, and where it comes from."""

    origin: str
    features: frozenset[str]
    grave: bool


def _skills(pool: Path, labelled: Path, makers: Path) -> Iterator[tuple[str, str]]:
    """Name every honest skill that may teach: a line of the pool, or a folder with its files."""
    with pool.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            if not reader_data.is_apart(number):
                yield "pool", line
    with (labelled / "labels.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["label"] == "benign" and row["source"] not in reader_data.KEPT_SOURCES:
                yield "benign", str(labelled / row["path"])
    for found in sorted(makers.rglob("SKILL.md")):
        yield "makers", str(found.parent)


def _look(skill: tuple[str, str]) -> Honest:
    origin, text = skill
    if origin == "pool":
        row = json.loads(text)
        data = reader_data.document(row, row["body"]).encode("utf-8", "replace")
        tree = ScanTree(row["name"], (ScanEntry("SKILL.md", data, len(data)),))
    else:
        tree = corpus.tree_of(Path(text))
    seen = examine(tree).seen
    return Honest(origin, frozenset(features(seen)), any(map(is_reason, seen)))


def weights_of(found: Sequence[Honest]) -> dict[str, float]:
    """Weigh each kind of evidence by how rare it is among the honest skills that have it most:
    strangers' single files have less of everything than a maker's folder of references.
    """
    groups = [[one for one in found if one.origin == origin] for origin in ORIGINS]
    tallies = [
        (collections.Counter(name for one in group for name in one.features), len(group))
        for group in groups
    ]
    counts = collections.Counter(name for one in found for name in one.features)
    names = set(counts) | set(RULES) | {f"{rule}~" for rule in RULES}
    whole = len(found)
    rates = {
        name: max(
            (counts[name] + 0.7) / (whole + 1),
            *((tally[name] - 1) / size for tally, size in tallies if size),
        )
        for name in names
    }
    made = {name: round(weight(name, rates[name]), 3) for name in sorted(names)}
    told = {
        name: min(value, made.get(name.rstrip("~"), 0.0)) for name, value in made.items()
    }  # a quotation is never worse
    made |= {name: value for name, value in told.items() if name.endswith("~")}
    return {name: value for name, value in made.items() if value > 0 or name in counts}


def threshold(found: Sequence[Honest], weights: dict[str, float]) -> float:
    """Put the threshold where so many honest skills of each origin, and no more, lie above it."""
    limits = []
    for origin in ORIGINS:
        totals = sorted(
            (
                total_weight({name: weights.get(name, 0.0) for name in one.features})
                for one in found
                if one.origin == origin and not one.grave
            ),
            reverse=True,
        )
        limits += [totals[int(len(totals) * CAUTIONS)]] if totals else []
        print(f"{origin}: {limits[-1]:.3f}")
    return round(max(limits) + 0.001, 3)


def write(weights: dict[str, float], caution: float) -> None:
    """Write the weights as a module."""
    rules = textwrap.wrap(" ".join(f'"{name}":{value},' for name, value in weights.items()), 96)
    LEARNED.write_text(
        "\n".join(
            [
                '"""What was learnt from honest skills. Written by `python bench/learn.py`; do not',
                'edit by hand."""',
                "",
                "from __future__ import annotations",
                "",
                f"DANGEROUS = {round(caution * DANGEROUS_BY_CAUTION, 3)}",
                f"CAUTION = {caution}",
                "RULES = {",
                *(f"    {line}".replace('":', '": ') for line in rules),
                "}  # fmt: skip",
                "",
            ]
        )
    )


def main() -> None:
    """Learn, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("--pool", "--corpus", "--makers"):
        parser.add_argument(name, type=Path, required=True)
    given = parser.parse_args()
    skills = list(_skills(given.pool, given.corpus, given.makers))
    with ProcessPoolExecutor() as several:
        found = list(several.map(_look, skills, chunksize=32))
    weights = weights_of(found)
    caution = threshold(found, weights)
    write(weights, caution)
    grave = sum(one.grave for one in found)
    print(f"{len(found)} honest skills, {grave} with a grave finding; caution from {caution}")


if __name__ == "__main__":
    main()
