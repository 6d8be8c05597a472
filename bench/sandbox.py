"""Measure what the sandbox costs beyond bubblewrap: `true` through it, beside a bare `bwrap` with
the very same arguments.

    python bench/sandbox.py [--repeat 100] [--quick] [--json FILE]

Both run in turn in one process. The bare one is started by `subprocess` with all that it is handed
made ready before, and nobody sets limits, watches or reads anything. Whole processes are stated
beside it: `metier run` of a script that is as short, and `bwrap` and the shell alone. The exit code
is 1 unless the aim is met; `--quick` judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import library
import measure
from figures import Figure, Sample, Target, Times, figures_table, ratio, times_table
from peers import Broken, Command

from metier.run.io.bubblewrap import Bubblewrap, BubblewrapProcess
from metier.run.io.descriptors import Descriptors
from metier.run.io.machine import survey_machine
from metier.run.model import Cage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BARE, OURS, RUN, PYTHON = "bare bwrap", "the sandbox", "metier run, process", "python -c pass"
AIM = Target("at most", 1.5)
BLOCK = 10
"""So many runs of one kind make one sample; single ones are too short to be compared round by
round."""
CAGE = Cage(("/usr/bin/true",), environment=(("PATH", "/usr/bin:/bin"),))
SKILL = (
    "---\nname: nothing\ndescription: Does nothing, for a measurement.\n---\n\n# "
    "nothing\n\nRun `scripts/nothing.sh`.\n"
)


def sandboxed() -> float:
    """Run `true` in the sandbox, as a library call; give the seconds."""
    box = Bubblewrap()
    began = time.perf_counter()
    ended = box.run(CAGE, lambda _stream, _data: None)
    seconds = time.perf_counter() - began
    if ended.code:
        message = f"the sandbox ended with {ended}"
        raise Broken(message)
    return seconds


def bare() -> float:
    """Run `true` in a bwrap that is told the same and let go at once; give the seconds."""
    with Descriptors() as ends:
        process = BubblewrapProcess(CAGE, ends, survey_machine(), sockets=True)
        os.write(process.release, b".")
        stdin, stdout, stderr = process.streams
        began = time.perf_counter()
        child = subprocess.Popen(
            process.command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            pass_fds=process.inherited,
            env={},
            cwd="/",
        )
        child.wait()
        seconds = time.perf_counter() - began
    if child.returncode:
        message = f"a bare bwrap ended with {child.returncode}"
        raise Broken(message)
    return seconds


def processes(scratch: Path) -> Mapping[str, Callable[[], float]]:
    """Give the whole processes that are stated beside: a skill's own script that does nothing, and
    what cannot be saved.
    """
    skill = scratch / ".agents/skills/nothing"
    (skill / "scripts").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL, encoding="utf-8")
    script = skill / "scripts/nothing.sh"
    script.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    script.chmod(0o755)
    (scratch / "metier.toml").touch()
    env = measure.environment(str(scratch))
    ours = Command(
        [sys.executable, "-m", "metier", "run", "--yes", "nothing", "scripts/nothing.sh"],
        env,
        str(scratch),
    )
    python = Command([sys.executable, "-c", "pass"], env, str(scratch))
    time.sleep(3)  # what is younger is read again on purpose
    return {
        RUN: lambda: measure.process(ours).seconds,
        PYTHON: lambda: measure.process(python).seconds,
    }


def measured(subjects: Mapping[str, Callable[[], float]], rounds: int, block: int) -> Times:
    """Run all in turn, after one round that is not measured; a sample is the median of a few
    runs.
    """
    times: Times = {(1, name): [] for name in subjects}
    for number in range(rounds + 1):
        each: dict[str, list[float]] = {name: [] for name in subjects}
        for _ in range(block):
            for name, run in subjects.items():
                each[name].append(run())
        for name, seconds in each.items():
            if number:
                times[1, name].append(Sample(median(seconds), 0.0))
    return times


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--repeat", type=int, default=100, help=f"runs of each, in samples of {BLOCK} (100)"
    )
    parser.add_argument("--quick", action="store_true", help="few runs, nothing judged")
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    found = parser.parse_args()
    if found.quick:
        found.repeat = 2 * BLOCK
    return found


def main() -> int:
    """Measure, then print the times and the figures; 1 unless the aim is met."""
    chosen, before = options(), library.machine()
    rounds = max(chosen.repeat // BLOCK, 1)
    try:
        times = measured({BARE: bare, OURS: sandboxed}, rounds, BLOCK)
        with tempfile.TemporaryDirectory(prefix="metier-bench-") as scratch:
            times |= measured(processes(Path(scratch)), min(rounds, 5), 3)
    except Broken as problem:
        print(f"problem: {problem}")
        return 1
    figures = [ratio(f"`true` in {OURS} / {BARE}", times[1, OURS], times[1, BARE], AIM)]
    rest = ratio(f"{RUN} / {BARE}", times[1, RUN], times[1, BARE], Target("at most", float("inf")))
    print(
        " · ".join(f"{key} {value}" for key, value in before.items())
        + f" → {round(os.getloadavg()[0], 2)}"
    )
    print(
        f"user {os.geteuid()} · {survey_machine().bwrap} "
        f"{'.'.join(map(str, survey_machine().version))}\n"
    )
    print(
        f"{times_table(times)}\n\n{figures_table(figures)}\n\nwithout a promise:\n{rest.what}: "
        f"{rest.value:.1f}"
    )
    if chosen.json:
        _write(chosen.json, before, times, figures)
    return 0 if chosen.quick or all(figure.verdict == "met" for figure in figures) else 1


def _write(file: Path, before: dict[str, Any], times: Times, figures: Sequence[Figure]) -> None:
    content = {
        "machine": before,
        "times": {
            what: [sample.seconds for sample in samples] for (_size, what), samples in times.items()
        },
        "figures": [{**figure._asdict(), "target": str(figure.target)} for figure in figures],
    }
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
