"""Measure the scanner on a labelled corpus, leaving out one source at a time, beside a peer on the same files in the same run.

    python bench/scan.py CORPUS [--peer PYTHON] [--json FILE]

CORPUS is a folder with `labels.csv`. `--peer` names a Python that has cisco-ai-skill-scanner installed; without it one is made
under bench/.peers. Every score of the first part comes from a model that has seen nothing of that skill's source, campaign or
near-duplicates; thresholds are taken from the same scores. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from statistics import mean, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

import corpus
import learn
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpus import Row

BENCH = Path(__file__).resolve().parent
PEER = "cisco-ai-skill-scanner==2.3.2"
RATES = (0.01, 0.02, 0.05, 0.10)


class Scored(NamedTuple):
    """Every skill with its score, and where the two thresholds lie."""

    labelled: list[Row]
    scores: Any
    dangerous: float
    caution: float

    def share(self, which: Callable[[Row], bool], least: float) -> float:
        """Give the share of some skills that score at least so much."""
        chosen = [score for row, score in zip(self.labelled, self.scores, strict=True) if which(row)]
        return float(np.mean(np.array(chosen) >= least)) if chosen else float("nan")


def is_a(row: Row) -> bool:
    """Tell whether a skill is malicious, visibly and attributably."""
    return row.malicious and row.grade == "A"


def is_ab(row: Row) -> bool:
    """Tell whether a skill is malicious by a label that is not weak."""
    return row.malicious and row.grade in "AB"


def is_honest(row: Row) -> bool:
    """Tell whether a skill is benign by a label that is not weak."""
    return not row.malicious and row.grade != "C"


def curve(scored: Scored) -> list[str]:
    """Give the recall at each rate of false alarms."""
    honest = [score for row, score in zip(scored.labelled, scored.scores, strict=True) if is_honest(row)]
    lines = ["| false alarms | recall A | recall A+B |", "|---|---|---|"]
    for rate in RATES:
        least = float(np.nextafter(np.quantile(honest, 1 - rate), np.inf))
        lines.append(f"| {rate:.0%} | {scored.share(is_a, least):.1%} | {scored.share(is_ab, least):.1%} |")
    return lines


def states(scored: Scored) -> list[str]:
    """Give what the three levels hold."""
    low, high = scored.caution, scored.dangerous
    called = [row for row, score in zip(scored.labelled, scored.scores, strict=True) if score >= high and row.grade != "C"]
    held = scored.share(is_honest, low) - scored.share(is_honest, high)
    both = twins(scored)
    return [
        "| figure | value | aim |", "|---|---|---|",
        f"| dangerous: recall A | {scored.share(is_a, high):.1%} | at least 70% |",
        f"| dangerous: recall A+B | {scored.share(is_ab, high):.1%} | at least 45% |",
        f"| dangerous: false alarms | {scored.share(is_honest, high):.1%} | at most 5% |",
        f"| of what is called dangerous, is | {mean(row.malicious for row in called):.1%} | at least 90% |",
        f"| safe hides of A | {1 - scored.share(is_a, low):.1%} | at most 25% |",
        f"| caution holds of the benign | {held:.1%} | at most 20% |",
        f"| injected against clean twin: flips ({both[2]} pairs) | {both[0]:.1%} | at least 30% |",
        f"| injected against clean twin: both flagged | {both[1]:.1%} | at most 3% |",
    ]  # fmt: skip


def twins(scored: Scored) -> tuple[float, float, int]:
    """Compare injected skills with the clean ones they were made from: flips, both flagged, pairs."""
    groups: dict[str, list[int]] = collections.defaultdict(list)
    for at, row in enumerate(scored.labelled):
        groups[row.cluster].append(at)
    flags = scored.scores >= scored.dangerous
    pairs = [
        (flags[bad], flags[good])
        for group in groups.values()
        for bad in group
        if scored.labelled[bad].malicious
        for good in [at for at in group if not scored.labelled[at].malicious][:1]
    ]
    flips = mean(bool(bad and not good) for bad, good in pairs)
    return flips, mean(bool(bad and good) for bad, good in pairs), len(pairs)


def by_source(scored: Scored) -> list[str]:
    """Give recall and false alarms of every source."""
    lines = ["| source | label | grade | skills | dangerous | caution or worse |", "|---|---|---|---|---|---|"]
    groups = sorted({(not row.malicious, row.source, row.grade) for row in scored.labelled})
    for honest, source, grade in groups:
        def one(row: Row, key: tuple[bool, str, str] = (honest, source, grade)) -> bool:
            return (not row.malicious, row.source, row.grade) == key

        count = sum(map(one, scored.labelled))
        label = "benign" if honest else "malicious"
        high, low = scored.share(one, scored.dangerous), scored.share(one, scored.caution)
        lines.append(f"| {source} | {label} | {grade} | {count} | {high:.1%} | {low:.1%} |")
    return lines


def by_category(scored: Scored) -> list[str]:
    """Give the recall of every category with at least ten skills."""
    counts = collections.Counter(row.category for row in scored.labelled if is_ab(row))
    lines = ["| category | skills | dangerous |", "|---|---|---|"]
    for category, count in counts.most_common():
        if count >= 10:
            found = scored.share(lambda row, category=category: is_ab(row) and row.category == category, scored.dangerous)  # type: ignore[misc]
            lines.append(f"| {category[:60]} | {count} | {found:.1%} |")
    return lines


def answers(subjects: Sequence[tuple[str, str]], folders: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Let each driver scan every folder in a process of its own, taking turns: a slow spell touches all alike."""
    children = [
        subprocess.Popen([python, str(BENCH / "drivers" / driver)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, bufsize=1)
        for python, driver in subjects
    ]  # fmt: skip
    found: list[list[dict[str, Any]]] = [[] for _child in children]
    for folder in folders:
        for child, lines in zip(children, found, strict=True):
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(folder + "\n")
            child.stdin.flush()
            while not (line := child.stdout.readline()).startswith("{"):
                if not line:
                    raise SystemExit(f"a driver stopped at {folder}")
            lines.append(json.loads(line))
    for child in children:
        child.communicate()
    return found


def peer_python() -> str:
    """Install the peer into an environment of its own."""
    place = BENCH / ".peers" / "cisco-ai-skill-scanner"
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], check=True)
    return str(python)


def timed(argv: Sequence[str]) -> float:
    """Time one whole process; its exit code may say that something was found."""
    began = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began


def speed(labelled: Sequence[Row], base: Path, peer: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Time both scanners on the same files, and a whole process of each on one small skill."""
    folders = [str(base / row.path) for row in labelled]
    ours, theirs = answers([(sys.executable, "scan_metier.py"), (peer, "scan_cisco.py")], folders)
    a, b = [one["seconds"] for one in ours], [one["seconds"] for one in theirs]
    small = min(folders, key=lambda folder: sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()))
    command = str(Path(peer).parent / "skill-scanner")
    with tempfile.TemporaryDirectory() as home:
        mine = [sys.executable, "-m", "metier", "scan", "--json", small]
        with_home = ["env", f"METIER_HOME={home}", *mine]
        one, other = min(timed(with_home) for _ in range(5)), min(timed([command, "scan", small]) for _ in range(3))
    lines = [
        "| figure | metier | peer | ratio | aim |", "|---|---|---|---|---|",
        _line("mean a skill", mean(a), mean(b), "at least 5"),
        _line("95th percentile", quantiles(a, n=20)[-1], quantiles(b, n=20)[-1], "at least 5"),
        _line("whole process, one small skill", one, other, "at least 10"),
        f"| peak memory over the corpus | {ours[-1]['peak'] / 1024:.0f} MB | {theirs[-1]['peak'] / 1024:.0f} MB | | under 150 MB |",
    ]  # fmt: skip
    return lines, theirs


def _line(what: str, ours: float, theirs: float, aim: str) -> str:
    return f"| {what} | {ours * 1000:.1f} ms | {theirs * 1000:.1f} ms | {theirs / ours:.1f} | {aim} |"


def peer_quality(labelled: Sequence[Row], theirs: Sequence[dict[str, Any]]) -> list[str]:
    """Give the peer's figures at its own verdict of unsafe."""
    unsafe = {id(row): not one["safe"] for row, one in zip(labelled, theirs, strict=True)}
    shares = [mean(unsafe[id(row)] for row in labelled if which(row)) for which in (is_a, is_ab, is_honest)]
    return ["| peer at its own verdict | recall A | recall A+B | false alarms |", "|---|---|---|---|",
            f"| {PEER} | {shares[0]:.1%} | {shares[1]:.1%} | {shares[2]:.1%} |"]  # fmt: skip


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--peer", help="a Python that has cisco-ai-skill-scanner")
    parser.add_argument("--no-peer", action="store_true")
    given = parser.parse_args()
    labelled = corpus.rows(given.corpus)
    found = [corpus.evidence(given.corpus, row) for row in labelled]
    weighed = learn.left_out(found, labelled, learn.windows_of(found))
    scored = Scored(labelled, weighed, *learn.thresholds(weighed, labelled))
    for part in (states, curve, by_source, by_category):
        print("\n".join(part(scored)), end="\n\n", flush=True)
    if not given.no_peer:
        lines, theirs = speed(labelled, given.corpus, given.peer or peer_python())
        print("\n".join([*peer_quality(labelled, theirs), "", *lines]))


if __name__ == "__main__":
    main()
