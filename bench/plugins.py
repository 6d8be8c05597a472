"""Measure `plugin sync` with nothing new beside the bare pass over stats of the same files.

    python bench/plugins.py [--plugins 1000] [--rounds 5] [--scratch DIR] [--profile] [--quick] [--json FILE]

A marketplace of generated plugins with ten skills each lies in a local folder; all of them are
mirrored into a project. The floor lists and stats everything in that folder and in the working
copies, and does nothing else. Each measured process is new. The exit code is 1 unless every aim is
met; `--quick` takes few plugins and one round, and judges nothing.
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
from typing import Any

import library
import plugins_data
from figures import Figure, Sample, Target, Times, figures_table, ratio, table, times_table
from supply_data import ENV

BENCH = Path(__file__).resolve().parent
FLOOR, PROCESS = "floor: scan, stat", "metier plugin sync, process"
FRESH, WARM = "sync, library just opened", "sync again, same library"
FIRST, ONE, NEXT = "first sync after enabling", "sync, one skill changed", "sync after that"
AIM = Target("at most", 3)
AGAIN = 2
"""How often a library that is open syncs again."""
SETTLE_SECONDS = 3.0
"""Files younger than this are read again on purpose."""


class Bench:
    """A marketplace, a project that mirrors all of it, and a METIER_HOME."""

    def __init__(self, scratch: Path, plugins: int) -> None:
        """Make the folders and the marketplace."""
        self.home, self.project = scratch / "home", scratch / "project"
        (self.project / ".git").mkdir(parents=True)
        self.market = plugins_data.made(scratch / "market", plugins)
        self.env = {**os.environ, **ENV, "HOME": str(scratch), "METIER_HOME": str(self.home)}
        self.times: Times = {}
        self.peaks: dict[str, list[int]] = {}
        self.problems: list[str] = []

    def child(self, *words: object) -> dict[str, Any]:
        """Do something in a new process, and read what it tells."""
        command = [sys.executable, str(BENCH / "plugins_child.py"), *map(str, words)]
        done = subprocess.run(
            command, env=self.env, cwd=self.project, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"plugins_child.py {words[0]}: {done.stderr[-2000:]}")
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told

    def took(self, subject: str, seconds: float, cpu: float, peak: int = 0) -> None:
        """Keep one measured run."""
        self.times.setdefault((self.market.skills, subject), []).append(Sample(seconds, cpu))
        self.peaks.setdefault(subject, []).append(peak)

    def build(self) -> dict[str, Any]:
        """Mirror everything, and let the files grow old enough to be trusted."""
        built = self.child("build", self.market.folder, self.project)
        if (built["plugins"], built["skills"]) != (self.market.plugins, self.market.skills):
            self.problems.append(
                f"mirrored are {built['plugins']} plugins with {built['skills']} skills"
            )
        self.settle()
        return built

    def settle(self) -> None:
        """Wait until the last files that were written are old."""
        os.sync()
        time.sleep(SETTLE_SECONDS)

    def floor(self) -> None:
        """Time the bare pass."""
        told = self.child("floor", self.market.folder, self.project / ".agents" / "skills")
        self.took(FLOOR, told["seconds"], told["cpu"], told["peak"])

    def sync(self, first: str, again: str = "", opened: int = 0) -> None:
        """Time a sync in a new process, and where it has a name, another in the same library."""
        told = self.child("sync", self.project, AGAIN if again else 0)
        self.took(first, told["seconds"][0], told["cpu"][0], told["peak"])
        if again:
            self.took(again, median(told["seconds"][1:]), median(told["cpu"][1:]), told["peak"])
        if (
            told["skills"] != self.market.skills
            or told["opened"][0] != opened
            or any(told["opened"][1:])
            or told["told"]
        ):
            self.problems.append(
                f"{first}: {told['skills']} skills, {told['opened']} candidates, {told['told']}"
            )

    def process(self) -> None:
        """Time the whole command."""
        words = [sys.executable, "-m", "metier", "plugin", "sync", "--json"]
        before, began = os.times(), time.perf_counter()
        done = subprocess.run(
            words, env=self.env, cwd=self.project, capture_output=True, check=False
        )
        seconds, after = time.perf_counter() - began, os.times()
        if done.returncode:
            self.problems.append(
                f"metier plugin sync: {done.returncode}: "
                f"{done.stderr[-500:].decode(errors='replace')}"
            )
        used = (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        self.took(PROCESS, seconds, used)

    def round(self) -> None:
        """Time each subject once."""
        self.floor()
        self.sync(FRESH, WARM)
        self.process()

    def change(self) -> None:
        """Change one skill upstream, and time what that costs, now and the next time."""
        self.market.change(self.market.skills // 2)
        self.settle()
        self.sync(ONE, opened=1)
        self.sync(NEXT)

    def figures(self) -> list[Figure]:
        """Hold each subject against the floor."""
        size = self.market.skills
        floor = self.times.get((size, FLOOR))
        return [
            ratio(f"{subject} / {FLOOR}", self.times.get((size, subject)), floor, AIM)
            for subject in (FRESH, WARM, PROCESS)
        ]

    def memory(self) -> str:
        """Lay out the most memory that each kind of process held."""
        rows = [
            (subject, f"{max(peaks) / 1e6:.0f}")
            for subject, peaks in self.peaks.items()
            if any(peaks)
        ]
        return table([("process", "peak memory, MB"), *rows])


def profile_table(rows: list[list[Any]]) -> str:
    """Lay out where the time goes, with the profiler's own cost in it."""
    heading = ("function", "calls", "own s", "with all it calls s")
    return table(
        [
            heading,
            *(
                (str(name), f"{calls:,}", f"{own:.3f}", f"{total:.3f}")
                for name, calls, own, total in rows
            ),
        ]
    )


def say(text: str) -> None:
    """Tell what is going on."""
    print(f"… {text}", file=sys.stderr, flush=True)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--plugins", type=int, default=1_000, help="plugins with ten skills each (1,000)"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--profile", action="store_true", help="also say which functions take the time"
    )
    parser.add_argument(
        "--quick", action="store_true", help="few plugins, one round, nothing judged"
    )
    parser.add_argument(
        "--scratch", type=Path, help="where everything is made; a temporary folder unless named"
    )
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    found = parser.parse_args()
    if found.quick:
        found.plugins, found.rounds = 20, 1
    return found


def main() -> int:
    """Measure, then print the tables and the figures; 1 unless every aim is met."""
    chosen, before = options(), library.machine()
    with tempfile.TemporaryDirectory(prefix="metier-bench-", dir=chosen.scratch) as scratch:
        say("a marketplace")
        bench = Bench(Path(scratch), chosen.plugins)
        say("mirroring it")
        built = bench.build()
        bench.sync(FIRST)
        for number in range(chosen.rounds):
            say(f"round {number + 1}")
            bench.round()
        profiled = bench.child("profile", bench.project)["rows"] if chosen.profile else []
        bench.change()
    answer = bench.figures()
    print(
        " · ".join(f"{key} {value}" for key, value in before.items())
        + f" → {round(os.getloadavg()[0], 2)}"
    )
    print(
        f"{built['plugins']:,} plugins · {built['skills']:,} skills · what is noted about them: "
        f"{built['bytes'] / 1e6:.1f} MB"
    )
    parts = [
        times_table(bench.times),
        bench.memory(),
        *([profile_table(profiled)] if profiled else []),
        *bench.problems,
    ]
    print("\n\n".join([*parts, figures_table(answer)]))
    if chosen.json:
        times = {
            what: [sample.seconds for sample in samples]
            for (_size, what), samples in bench.times.items()
        }
        figures = [{**figure._asdict(), "target": str(figure.target)} for figure in answer]
        content = {
            "machine": before,
            "built": built,
            "times": times,
            "peaks": bench.peaks,
            "profile": profiled,
            "figures": figures,
        }
        chosen.json.write_text(
            json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    return (
        0
        if chosen.quick
        or (not bench.problems and all(figure.verdict == "met" for figure in answer))
        else 1
    )


if __name__ == "__main__":
    sys.exit(main())
