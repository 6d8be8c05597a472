"""Measure how fast the scanner is: by rules alone and with the model, beside a peer on the same
files in the same run, and on one core beside all of them. What its verdicts are worth is measured by
`bench/verdicts.py`.

    python bench/scan.py CORPUS [--peer PYTHON | --cores-only] [--model]

CORPUS is a folder with `labels.csv`, or with `--cores-only` any folder of many skills: then nothing
is measured but one core against all of them. `--peer` names a Python that has cisco-ai-skill-scanner
installed; without it one is made under bench/.peers. Cores are measured by rules alone, or with
`--model` with the model as well.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from statistics import mean, median, quantiles
from typing import TYPE_CHECKING, Any

import corpus
import reader_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpus import Row

BENCH = Path(__file__).resolve().parent
PEER = "cisco-ai-skill-scanner==2.3.2"
CORE_ROUNDS = 5


def is_a(row: Row) -> bool:
    """Tell whether a skill is malicious, visibly and attributably."""
    return row.malicious and row.grade == "A"


def is_ab(row: Row) -> bool:
    """Tell whether a skill is malicious by a label that is not weak."""
    return row.malicious and row.grade in "AB"


def is_honest(row: Row) -> bool:
    """Tell whether a skill is benign by a label that is not weak."""
    return not row.malicious and row.grade != "C"


def is_kept(row: Row) -> bool:
    """Tell whether a skill is of a source that nothing is learnt from."""
    return row.source in reader_data.KEPT_SOURCES


def answers(
    subjects: Sequence[Sequence[str]], folders: Sequence[str]
) -> list[list[dict[str, Any]]]:
    """Let each driver scan every folder in a process of its own, taking turns: a slow spell touches
    all alike.
    """
    children = [
        subprocess.Popen(
            [python, str(BENCH / "drivers" / driver), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        for python, driver, *options in subjects
    ]
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
    subprocess.run(
        argv,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return time.perf_counter() - began


def speed(labelled: Sequence[Row], base: Path, peer: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Time both scanners on the same files, ours by rules alone and with the model, and a whole
    process of each on one small skill.
    """
    folders = [str(base / row.path) for row in labelled]
    mine = (sys.executable, "scan_metier.py")
    rules, model, theirs = answers([mine, (*mine, "--model"), (peer, "scan_cisco.py")], folders)
    a, b, c = ([one["seconds"] for one in found] for found in (rules, model, theirs))
    last = [quantiles(times, n=20)[-1] for times in (a, b, c)]
    small = min(
        folders,
        key=lambda folder: sum(
            file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()
        ),
    )
    command = [str(Path(peer).parent / "skill-scanner"), "scan", small]
    other = min(timed(command) for _ in range(3))
    lines = [
        "| figure | metier | peer | ratio | aim |",
        "|---|---|---|---|---|",
        _line("mean a skill, rules alone", mean(a), mean(c), "at most 6 ms, at least 8 x"),
        _line("95th percentile, rules alone", last[0], last[2], "at least 6 x"),
        _line("mean a skill, with the model", mean(b), mean(c), "at most 40 ms"),
        _line("95th percentile, with the model", last[1], last[2], "none"),
        _line("whole process, rules alone", whole_process(small, "off"), other, "at least 10 x"),
        _line("whole process, with the model", whole_process(small, "auto"), other, "none"),
    ]
    peaks = [found[-1]["peak"] / 1024 for found in (rules, model, theirs)]
    lines += [
        f"| peak memory, {how} | {peak:.0f} MB | {peaks[2]:.0f} MB | | {aim} |"
        for how, peak, aim in (
            ("rules alone", peaks[0], "under 150 MB"),
            ("with the model", peaks[1], "none"),
        )
    ]
    return lines, theirs


def whole_process(folder: str, model: str) -> float:
    """Time `metier scan` of one skill, with a home that knows nothing of it."""
    best = float("inf")
    for _round in range(5):
        with tempfile.TemporaryDirectory() as home:
            settings = [f"METIER_HOME={home}", f"METIER_SCAN_MODEL={model}"]
            mine = [sys.executable, "-m", "metier", "scan", "--json", folder]
            best = min(best, timed(["env", *settings, *mine]))
    return best


def on_cores(folder: Path, model: str = "off") -> list[str]:
    """Time whole processes that scan one folder, with a new, empty home each: on one core and on all,
    taking turns. What they print must be the same. `model` is `auto` where it reads as well.
    """
    every = os.sched_getaffinity(0)
    kinds = {"one core": {min(every)}, f"all {len(every)} cores": every}
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    printed = set()
    for _round in range(CORE_ROUNDS):
        for kind, cores in kinds.items():
            with tempfile.TemporaryDirectory() as home:
                began = time.perf_counter()
                done = subprocess.run(
                    [sys.executable, "-m", "metier", "scan", "--json", str(folder)],
                    env={**os.environ, "METIER_HOME": home, "METIER_SCAN_MODEL": model},
                    stdout=subprocess.PIPE,
                    stdin=subprocess.DEVNULL,
                    preexec_fn=lambda cores=cores: os.sched_setaffinity(0, cores),  # type: ignore[misc]
                    check=False,
                )
                seconds[kind].append(time.perf_counter() - began)
                printed.add(done.stdout)
    if len(printed) != 1:
        raise SystemExit("one core and all of them do not say the same")
    one, both = seconds.values()
    ratios = sorted(a / b for a, b in zip(one, both, strict=True))[1:-1]
    count = json.loads(printed.pop())["scanned"]
    how = "rules alone" if model == "off" else "with the model"
    return [
        f"| {count:,} skills, whole process, {how} | median | best |",
        "|---|---|---|",
        *(
            f"| {kind} | {median(times):.2f} s | {min(times):.2f} s |"
            for kind, times in seconds.items()
        ),
        (
            f"| ratio (aim: at least 1.7 on two cores) | {median(one) / median(both):.2f} "
            f"({ratios[0]:.2f} to {ratios[-1]:.2f}) | {min(one) / min(both):.2f} |"
        ),
    ]


def _line(what: str, ours: float, theirs: float, aim: str) -> str:
    return (
        f"| {what} | {ours * 1000:.1f} ms | {theirs * 1000:.1f} ms | {theirs / ours:.1f} | {aim} |"
    )


def peer_quality(labelled: Sequence[Row], theirs: Sequence[dict[str, Any]]) -> list[str]:
    """Give the peer's figures at its own verdict of unsafe: over all sources, and over those that
    `bench/verdicts.py` measures ours on.
    """
    unsafe = [(row, not one["safe"]) for row, one in zip(labelled, theirs, strict=True)]
    lines = [
        "| peer at its own verdict | recall A | recall A+B | false alarms |",
        "|---|---|---|---|",
    ]
    kept = [one for one in unsafe if is_kept(one[0])]
    for title, part in (("all sources", unsafe), ("sources kept apart", kept)):
        found = [[flag for row, flag in part if which(row)] for which in (is_a, is_ab, is_honest)]
        cells = [f"{mean(flags):.1%}" if flags else "none" for flags in found]
        lines.append(f"| {PEER}, {title} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--peer", help="a Python that has cisco-ai-skill-scanner")
    parser.add_argument("--cores-only", action="store_true")
    parser.add_argument("--model", action="store_true", help="measure cores with the model too")
    given = parser.parse_args()
    models = ("off", "auto") if given.model else ("off",)
    if given.cores_only:
        print("\n\n".join("\n".join(on_cores(given.corpus, model)) for model in models))
        return
    labelled = corpus.rows(given.corpus)
    lines, theirs = speed(labelled, given.corpus, given.peer or peer_python())
    print("\n".join([*peer_quality(labelled, theirs), "", *lines]), end="\n\n", flush=True)
    print("\n\n".join("\n".join(on_cores(given.corpus, model)) for model in models))


if __name__ == "__main__":
    main()
