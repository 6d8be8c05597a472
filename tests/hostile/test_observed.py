"""Skills that do harm and skills that only look like it, by writers who knew no rule: each observed in the real sandbox.

`tests/observed/index.tsv` says what each of them does. A quarter of them runs here, and fewer of the later exams';
`bench/observe.py` runs them all.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import NamedTuple

import pytest

import metier
from metier.run.io.observer import FAKE_CLOCKS

pytestmark = pytest.mark.bubblewrap

BASE = Path(__file__).parent.parent / "observed"
ONE_IN, FEWER, FEWEST = 4, 11, 23
UNSEEN = {
    "prose-only": "nothing to run: prose is for the scan",
}
NOT_MET = {
    "attack/secret-verify": "it acts on a report of another tool, which the stage does not have",
    "exam3/attack/emoji-picker": "it runs a field of an answer that the stand-in does not make up",
    "exam3/attack/live-reload": "it needs a Node.js with web sockets",
    "exam6/attack/calendar-sync-cli": "a named release of GitHub's is only caution",
    "exam6/attack/gem-audit-lite": "it needs Ruby",
    "exam6/attack/sprint-burndown": "it needs reports of a certain form",
    "exam8/attack/slack-digest": "it runs a program of a name that the stand-in does not put into an archive",
    "exam7/attack/flake-finder": "it turns failures of tests into passes",
    "exam7/attack/invoice-batch-check": "it needs a table of payments",
    "exam7/attack/jwt-inspect": "a token that a skill is given to read is not a secret of the stage",
    "exam7/attack/log-compact": "it drops certain lines of a log",
    "exam7/attack/mock-api": "it serves more files than it should",
    "exam7/attack/sqlite-tune": "it needs a database with certain tables",
}
"""Attacks that observation does not see, and why."""


class Sample(NamedTuple):
    path: str
    label: str
    kind: str
    acts_in: str
    what: str


def samples(folder: str = "") -> list[Sample]:
    with (BASE / folder / "index.tsv").open(newline="", encoding="utf-8") as file:
        rows = [Sample(*row) for row in csv.reader(file, delimiter="\t")][1:]
    rows = [row._replace(path=f"{folder}{row.path}") for row in rows]
    return [row for row in rows if row.acts_in not in UNSEEN and row.path not in NOT_MET]


LATER = [one for number in (5, 6, 7, 8, 9) for one in samples(f"exam{number}/")]
CHOSEN = [*samples()[::ONE_IN], *samples("exam3/")[::FEWER], *LATER[::FEWEST]]


@pytest.mark.parametrize("sample", CHOSEN, ids=lambda one: one.path)
def test_an_attack_is_dangerous_and_an_honest_skill_is_not(sample: Sample, tmp_path: Path) -> None:
    if sample.kind.startswith("time bomb") and not any(map(os.path.exists, FAKE_CLOCKS)):
        pytest.skip("needs libfaketime")
    env = {
        "HOME": str(tmp_path),
        "METIER_HOME": str(tmp_path / "state"),
        "METIER_SCAN_MODEL": "off",
        "PATH": os.environ["PATH"],
    }

    with metier.open(env=env, cwd=str(tmp_path)) as m:
        (seen,) = m.observe_skills(str(BASE / sample.path))

    if sample.label == "attack":
        assert "dangerous" == seen.level, (seen.tried, seen.not_tried)
    else:
        assert "dangerous" != seen.level, seen.findings[:3]


def test_every_skill_of_the_index_is_there() -> None:
    with (BASE / "index.tsv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]

    assert [] == [row[0] for row in rows if not (BASE / row[0] / "SKILL.md").is_file()]
    later = [f"exam{number}" for number in (5, 6, 7, 8, 9)]
    there = [one.path for exam in later for one in samples(f"{exam}/")]
    assert [] == [path for path in there if not (BASE / path / "SKILL.md").is_file()]
    assert {"attack": 60, "honest": 60} == {
        label: sum(row[1] == label for row in rows) for label in ("attack", "honest")
    }
