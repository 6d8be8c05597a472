r"""Measure observation: what it catches, what it wrongly minds, and what it costs.

    python bench/observe.py skills FOLDER [--only attack|honest] [--json FILE]
    python bench/observe.py corpus --corpus CORPUS --makers MAKERS [--count N] [--json FILE]
    python bench/observe.py cost
    python bench/observe.py memory

`skills` observes every skill below FOLDER/attack and FOLDER/honest (tests/observed has such a
folder). `corpus` does so for labelled skills and for makers' skills that have anything to run, and
says what observation adds to the scan. `cost` compares a script that opens 1,000 files with the
same script under `metier run`, and times a skill with three scripts. `memory` observes 10 and 100
skills in one go, each in a process of its own, and says how much memory that process needed at
most. Nothing here runs outside the sandbox.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import metier

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.library import Library

LEVELS = ("dangerous", "caution", "safe")
ROUNDS = 5
OPENS = """\
import os
for number in range(1000):
    with open(f"/tmp/{number % 10}", "a+"):
        pass
"""


BATCHES = (10, 100)
SENDER = """\
import pathlib, urllib.request
for number in range(20):
    pathlib.Path(f"/tmp/{number}").write_text("x" * 10_000)
urllib.request.urlopen("http://files.example.org/in", b"line of a report\\n" * 8_000).read()
"""
"""Leaves a record that is worth remembering: 20 files, and 136 kB that are sent."""


class Row(NamedTuple):
    """What was said of one skill."""

    name: str
    label: str
    scan: str
    observed: str
    together: str
    rules: tuple[str, ...]
    tried: int
    seconds: float
    reason: str


def main() -> int:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    skills = commands.add_parser("skills")
    skills.add_argument("folder", type=Path)
    skills.add_argument("--only", choices=("attack", "honest"))
    corpus = commands.add_parser("corpus")
    corpus.add_argument("--corpus", type=Path, required=True)
    corpus.add_argument("--makers", type=Path, required=True)
    corpus.add_argument("--count", type=int, default=60)
    commands.add_parser("cost")
    commands.add_parser("memory")
    batch = commands.add_parser("batch", help="what `memory` starts")
    batch.add_argument("size", type=int)
    for each in (skills, corpus):
        each.add_argument("--json", type=Path)
        each.add_argument("--time", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="metier-bench-") as home, metier.open(home=home) as m:
        if asked.command == "cost":
            return measure_cost(m, Path(home))
        if asked.command == "memory":
            return measure_memory()
        if asked.command == "batch":
            return observe_batch(m, Path(home), asked.size)
        chosen = (
            [
                (label, path)
                for label in ("attack", "honest")
                if asked.only in {None, label}
                for path in sorted((asked.folder / label).iterdir())
            ]
            if asked.command == "skills"
            else list(_corpus(asked.corpus, asked.makers, asked.count))
        )
        rows = list(_observe(m, chosen, asked.time))
    _print(rows)
    if asked.json:
        asked.json.write_text(json.dumps([row._asdict() for row in rows], indent=1))
    return 0


def _observe(m: Library, chosen: Sequence[tuple[str, Path]], seconds: int) -> Iterable[Row]:
    for number, (label, path) in enumerate(chosen, 1):
        scanned = m.scan(str(path), judge=False)[0]
        (done,) = m.observe_skills(str(path), seconds=seconds)[:1]
        both = min(scanned.plain, done.level, key=LEVELS.index)
        reason = done.findings[0].evidence if done.findings else ""
        row = Row(
            name=path.name,
            label=label,
            scan=scanned.plain,
            observed=done.level,
            together=both,
            rules=tuple(dict.fromkeys(one.rule for one in done.findings)),
            tried=len(done.tried),
            seconds=done.seconds,
            reason=reason,
        )
        wrong = row.observed != ("dangerous" if label == "attack" else "safe")
        mark = "!" if wrong else " "
        print(
            f"{number:4}/{len(chosen)} {mark} {label:9} {row.observed:9} scan {row.scan:9} {row.seconds:5.1f} s "
            f"{row.name[:40]:40} {' '.join(row.rules)} {reason[:90] if wrong else ''}",
            flush=True,
        )
        yield row


def _print(rows: Sequence[Row]) -> None:
    for label in dict.fromkeys(row.label for row in rows):
        some = [row for row in rows if row.label == label]
        acting = [row for row in some if row.tried]
        print(f"\n{label}: {len(some)} skills, {len(acting)} with anything to run")
        for title, said in (
            ("observation", collections.Counter(row.observed for row in acting)),
            ("scan", collections.Counter(row.scan for row in acting)),
            ("together", collections.Counter(row.together for row in acting)),
        ):
            shares = ", ".join(
                f"{level} {said[level]} ({said[level] / max(len(acting), 1):.1%})"
                for level in LEVELS
            )
            print(f"  {title:12} {shares}")
        times = sorted(row.seconds for row in acting) or [0.0]
        print(
            f"  seconds      median {statistics.median(times):.2f}, p95 {times[int(len(times) * 0.95) - 1]:.2f}"
        )


def _corpus(base: Path, makers: Path, count: int) -> Iterable[tuple[str, Path]]:
    """Give labelled skills with scripts, evenly over the sources, and makers' skills."""
    groups: dict[tuple[str, str], list[Path]] = collections.defaultdict(list)
    with (base / "labels.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            path = base / row["path"]
            if row["grade"] == "A" and path.is_dir() and _can_act(path):
                groups[row["label"], row["source"]].append(path)
    for label in ("malicious", "benign"):
        lists = [paths for (said, _source), paths in sorted(groups.items()) if said == label]
        some = [
            paths[at]
            for at in range(max(map(len, lists), default=0))
            for paths in lists
            if at < len(paths)
        ]
        yield from ((label, path) for path in some[:count])
    found = [path.parent for path in sorted(makers.rglob("SKILL.md")) if _has_scripts(path.parent)]
    yield from (("maker", path) for path in found[:count])


def _has_scripts(folder: Path) -> bool:
    return any(path.suffix in {".py", ".sh", ".js", ".mjs", ".bash"} for path in folder.rglob("*"))


def _can_act(folder: Path) -> bool:
    """Tell whether a skill has a script, or a block of commands."""
    fences = ("```bash", "```sh", "```shell")
    texts = (path.read_text("utf-8", "replace") for path in folder.glob("SKILL.md"))
    return _has_scripts(folder) or any(fence in text for text in texts for fence in fences)


def measure_cost(m: Library, home: Path) -> int:
    """Compare a script under observation with the same script under `metier run`."""
    skill = home / "skills" / "opener"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        "---\nname: opener\ndescription: Opens files. Use for tests.\n---\n\n# Opener\n"
    )
    (skill / "scripts/a.py").write_text(OPENS)
    with metier.open(roots=[str(home / "skills")], home=str(home / "own")) as own:
        run, watched = [], []
        for _round in range(ROUNDS):
            began = time.perf_counter()
            own.run("opener", "scripts/a.py", consent=True)
            run.append(time.perf_counter() - began)
            began = time.perf_counter()
            own.observe_skills(str(skill), script="scripts/a.py")
            watched.append(time.perf_counter() - began)
        for name in "bc":
            (skill / f"scripts/{name}.py").write_text(OPENS)
        began = time.perf_counter()
        own.observe_skills(str(skill))
        three = time.perf_counter() - began
    ratio = statistics.median(watched) / statistics.median(run)
    print(
        f"a script that opens 1,000 files: {ratio:.2f} x metier run ({statistics.median(watched):.3f} s)"
    )
    print(f"a skill with three scripts: {three:.2f} s")
    del m
    return 0


def measure_memory() -> int:
    """Say what a process needs that observes few skills, and one that observes many."""
    for size in BATCHES:
        words = [sys.executable, __file__, "batch", str(size)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        print(f"{size} skills: {done.stdout.strip()}", flush=True)
    return 0


def observe_batch(m: Library, home: Path, size: int) -> int:
    """Observe some skills in one go, and print the most memory that this process had."""
    for number in range(size):
        skill = home / "skills" / f"sender-{number}"
        (skill / "scripts").mkdir(parents=True)
        (skill / "SKILL.md").write_text(
            f"---\nname: sender-{number}\ndescription: Sends a report. Use for tests.\n---\n\n# Sender\n"
        )
        (skill / "scripts/send.py").write_text(SENDER)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    found = m.observe_skills(str(home / "skills"))
    seconds = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kept = sum(len(one.events) for one in found)
    print(
        f"{most / 1024:.1f} MiB at most ({before / 1024:.1f} before), {seconds / size:.2f} s for each, "
        f"{kept:,} events"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
