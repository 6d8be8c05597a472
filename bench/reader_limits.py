"""Set the limits of the reader of passages: from what on it minds, from what on it is sure and makes
*caution* by itself, and which passages the first look lets it read.

    python bench/reader_limits.py --pool pool.jsonl --written PAIRS... --weights weights/src/metier_weights

Honest skills that taught it nothing say where the two limits lie: so many of them, and no more, have
a passage above. The first look lets through what would be minded, all but a few.
"""

from __future__ import annotations

import argparse
import json
import random
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import reader_data

from metier.find.io.embedding_model import LoadedReader

MINDED, SURE = 0.02, 0.005
"""Of honest skills, with a passage above the limit, and above that of which the model is sure."""
LOST = 0.02
"""Of passages that would be minded, that the first look may pass over."""
MOST = 1500
"""Honest skills that are read."""
PLANTED = 400
"""Written passages that are read beside them, for the first look."""
_READERS: dict[str, LoadedReader] = {}


def _read(task: tuple[str, list[str]]) -> list[tuple[float, float]]:
    folder, texts = task
    if folder not in _READERS:
        _READERS[folder] = LoadedReader(folder)
    reader = _READERS[folder]
    looks = reader.look_at(texts)[1] if texts else []
    return [(float(looks[at]), value) for at, value in reader.read(texts, -1e9)] if texts else []


def honest_texts(pool: Path, chance: random.Random) -> list[list[str]]:
    """Give the passages of honest skills that taught nothing."""
    with pool.open(encoding="utf-8") as file:
        lines = (line for number, line in enumerate(file) if not reader_data.is_apart(number))
        rows = [row for row in map(json.loads, lines) if reader_data.calibrates(row["id"])]
    chance.shuffle(rows)
    return [
        [
            one[2]
            for one in reader_data.windows_of("SKILL.md", reader_data.document(row, row["body"]))
        ]
        for row in rows[:MOST]
    ]


def planted_texts(written: list[Path], chance: random.Random) -> list[list[str]]:
    """Give written passages that plant a behaviour, each by itself."""
    pairs = [
        reader_data.filled(pair, chance)
        for path in written
        for pair in reader_data.read_pairs(path)
        if pair.bad and pair.form in reader_data.PROSE_FORMS
    ]
    return [[pair.bad] for pair in chance.sample(pairs, min(len(pairs), PLANTED))]


def main() -> None:
    """Read, and write the limits."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--written", type=Path, nargs="+", required=True)
    parser.add_argument("--weights", type=Path, required=True)
    given = parser.parse_args()
    chance = random.Random(1)  # noqa: S311 - a shuffle, not a secret
    honest = honest_texts(given.pool, chance)
    planted = planted_texts(given.written, chance)
    folder = str(given.weights)
    with ProcessPoolExecutor() as several:
        read = list(several.map(_read, [(folder, texts) for texts in honest], chunksize=8))
        bad = list(several.map(_read, [(folder, texts) for texts in planted], chunksize=8))
    worst = np.array([max((value for _look, value in one), default=-99.0) for one in read])
    limit, sure = (float(np.quantile(worst, 1 - share)) for share in (MINDED, SURE))
    minded = [look for one in (*read, *bad) for look, value in one if value >= limit]
    look = float(np.quantile(minded, LOST))
    file = given.weights / "reader.json"
    about = json.loads(file.read_text(encoding="utf-8"))
    about |= {"limit": round(limit, 4), "sure": round(sure, 4), "look": round(look, 2)}
    file.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    count = np.mean([sum(one_look >= look for one_look, _value in one) for one in read])
    print(f"{len(honest)} honest skills: limit {limit:.3f}, sure {sure:.3f}, look {look:.2f}")
    print(f"passages read of a skill: {count:.2f} at the mean")


if __name__ == "__main__":
    main()
