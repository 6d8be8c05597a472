"""Measure listing a library of skills against floors and peers, and print every figure as a ratio
of one run.

python bench/library.py [--sizes 100,1000,10000,100000] [--repeat 5] [--no-peers] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import measure
import peers
import trees
from figures import Figure, Sample, Target, Times, exact, figures_table, missing, ratio, times_table

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL, NORMAL, LARGE = 1_000, 10_000, 100_000
WARM_UP_TREE = 100
SETTLE_SECONDS = (
    3.0  # a file younger than this is read again on purpose, so a warm run needs older ones
)
PEERS_UP_TO = NORMAL

COLD_FLOOR, WARM_FLOOR = "floor: scan, read, sha256", "floor: scan, stat"
COLD_CALL, WARM_CALL = "metier cold, library", "metier warm, library"
COLD_PROCESS, WARM_PROCESS = "metier cold, process", "metier warm, process"
PROMPT = "metier prompt, all judged, process"
PYTHON = "python -c pass"


class Subject(NamedTuple):
    """One thing that is timed at one size, in so many rounds."""

    size: int
    name: str
    run: Callable[[], Sample]
    rounds: int


class Counted(NamedTuple):
    """What is counted and not timed: reads after one change, and bytes resident by size and
    temperature.
    """

    reads: int | None
    bytes: dict[tuple[int, str], int]


class Bench:
    """One run: its trees, its scratch folder, what went wrong, and the times so far."""

    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        """Make the trees and wait until none of them is fresh."""
        self.options = options
        self.scratch = scratch
        self.problems: dict[str, str] = {}
        self.listed: dict[str, int] = {}
        say("making trees")
        self.small = trees.make(WARM_UP_TREE, options.trees)
        self.trees = {size: trees.make(size, options.trees) for size in options.sizes}
        newest = max(tree.made_at for tree in [self.small, *self.trees.values()])
        time.sleep(max(newest + SETTLE_SECONDS - time.time(), 0))

    def subjects(self) -> list[Subject]:
        """Return everything that will be timed, already tried once: a subject that fails is a
        problem, not a time.
        """
        found: list[Subject] = []
        for size, tree in self.trees.items():
            found += self._floors(size, tree)
            found += self._ours(size, tree) if self.options.metier else []
            found += (
                self._peers(size, tree)
                if self.options.peers and size <= self.options.peers_up_to
                else []
            )
        return found

    def _floors(self, size: int, tree: trees.Tree) -> list[Subject]:
        def run(what: str) -> Callable[[], Sample]:
            return lambda: self._called(what, tree, str(self.scratch))

        run("cold-floor")()  # fills the page cache
        return [
            Subject(size, COLD_FLOOR, run("cold-floor"), self.options.repeat),
            Subject(size, WARM_FLOOR, run("warm-floor"), self.options.repeat),
        ]

    def _ours(self, size: int, tree: trees.Tree) -> list[Subject]:
        home = measure.fresh_home(self.scratch)
        say(f"metier on {size:,} skills")
        try:
            for _ in range(2):  # unmeasured: the first fills the index, the second finds it settled
                self._called("library", tree, home)
                self._count(measure.count_listed(measure.listing(tree.root, home)), tree)
                if size == SMALL:
                    measure.process(measure.prompting(tree.root, home))  # judges all of them
        except peers.Broken as problem:
            self.problems[f"metier at {size:,}"] = str(problem)
            return []
        repeat = self.options.repeat
        return [
            Subject(
                size,
                COLD_CALL,
                lambda: self._cold(lambda fresh: self._called("library", tree, fresh)),
                repeat,
            ),
            Subject(size, WARM_CALL, lambda: self._called("library", tree, home, reads=0), repeat),
            Subject(
                size,
                COLD_PROCESS,
                lambda: self._cold(
                    lambda fresh: measure.process(measure.listing(tree.root, fresh))
                ),
                repeat,
            ),
            Subject(
                size,
                WARM_PROCESS,
                lambda: measure.process(measure.listing(tree.root, home)),
                repeat,
            ),
            *(
                [
                    Subject(size, PYTHON, lambda: measure.process(measure.nothing(home)), repeat),
                    Subject(
                        size,
                        PROMPT,
                        lambda: measure.process(measure.prompting(tree.root, home)),
                        repeat,
                    ),
                ]
                if size == SMALL
                else []
            ),
        ]

    def _peers(self, size: int, tree: trees.Tree) -> list[Subject]:
        found: list[Subject] = []
        for peer in peers.PEER_TABLE:
            if peer.name in self.problems:
                continue
            say(f"{peer.name} on {size:,} skills")
            try:
                peers.install(peer)
                self.listed[f"{peer.name} at {size:,}"] = peers.verify(peer, tree)
            except peers.Broken as problem:
                self.problems[peer.name] = str(problem)
                continue
            command = peers.command(peer, tree)
            found.append(
                Subject(
                    size,
                    peer.name,
                    lambda c=command: measure.process(c),  # type: ignore[misc]
                    self.options.peer_repeat,
                )
            )
        return found

    def _cold(self, run: Callable[[str], Sample]) -> Sample:
        fresh = measure.fresh_home(self.scratch)
        try:
            return run(fresh)
        finally:
            shutil.rmtree(fresh)

    def _called(
        self, what: str, tree: trees.Tree, home: str, *, reads: int | None = None
    ) -> Sample:
        report = measure.call(what, tree.root, self.small.root, home)
        self._count(report["count"], tree)
        if reads is not None and report.get("reads") not in {None, reads}:
            message = f"a warm call read {report['reads']} skills again"
            raise peers.Broken(message)
        return Sample(report["seconds"], report["cpu"])

    def _count(self, found: int, tree: trees.Tree) -> None:
        if found != tree.skills:
            message = f"listed {found} of {tree.skills}"
            raise peers.Broken(message)

    def time(self, subjects: list[Subject]) -> Times:
        """Time all subjects in turn, round after round, so that a slow spell of the machine touches
        them alike.
        """
        times: Times = {(subject.size, subject.name): [] for subject in subjects}
        for number in range(max((subject.rounds for subject in subjects), default=0)):
            say(f"round {number + 1}")
            for size, name, run, rounds in subjects:
                label = f"{name} at {size:,}"
                if number >= rounds or label in self.problems:
                    continue
                try:
                    times[size, name].append(run())
                except peers.Broken as problem:
                    self.problems[label] = str(problem)
        return times

    def count(self) -> Counted:
        """Take the figures that are counted: they come last, since one of them changes a skill."""
        found: dict[tuple[int, str], int] = {}
        reads: int | None = None
        for size, tree in self.trees.items() if self.options.metier else ():
            home = measure.fresh_home(self.scratch)
            try:
                for temperature in ("cold", "warm"):
                    report = measure.call("memory", tree.root, self.small.root, home)
                    found[size, f"{temperature}, held"] = report["resident"]
                    found[size, f"{temperature}, peak"] = report["peak"]
                if size == NORMAL:
                    reads = measure.call("reload", tree.root, self.small.root, home)["reads"]
            except peers.Broken as problem:
                self.problems[f"counting at {size:,}"] = str(problem)
        return Counted(reads, found)


def figures(times: Times, counted: Counted, problems: dict[str, str]) -> list[Figure]:
    """Return every figure, in the order in which they are promised."""
    at = {
        name: times.get((NORMAL, name)) for name in (COLD_CALL, WARM_CALL, COLD_FLOOR, WARM_FLOOR)
    }
    return [
        ratio(
            "cold list, library call / floor", at[COLD_CALL], at[COLD_FLOOR], Target("at most", 3)
        ),
        *_against_peers(times, problems, COLD_PROCESS, {"openskills": 1.5, peers.OURS: 4}, 15),
        *_against_peers(times, problems, WARM_PROCESS, {"openskills": 5, peers.OURS: 10}, 40),
        ratio(
            "warm list, library call / floor", at[WARM_CALL], at[WARM_FLOOR], Target("at most", 2)
        ),
        ratio(
            f"warm `list --json` of {SMALL:,} / `{PYTHON}`",
            times.get((SMALL, WARM_PROCESS)),
            times.get((SMALL, PYTHON)),
            Target("at most", 5),
        ),
        ratio(
            f"`prompt` of {SMALL:,} judged skills / warm `list --json`",
            times.get((SMALL, PROMPT)),
            times.get((SMALL, WARM_PROCESS)),
            Target("at most", 1.6),
        ),
        exact(
            "skills read again when one changed", counted.reads, Target("exactly", 1, unit="read")
        ),
        *(
            ratio(
                f"{LARGE:,} / {NORMAL:,}: {name}",
                times.get((LARGE, name)),
                times.get((NORMAL, name)),
                _LINEAR,
            )
            for name in (COLD_CALL, WARM_CALL, COLD_PROCESS, WARM_PROCESS)
        ),
        *_memory(counted),
    ]


_LINEAR = Target("at most", 11)


def _against_peers(
    times: Times, problems: dict[str, str], ours: str, named: dict[str, float], others: float
) -> list[Figure]:
    found: list[Figure] = []
    for peer in peers.PEER_TABLE:
        target = Target("at least", named.get(peer.name, others))
        what = f"{peer.name} / {ours}"
        if peer.name in problems:
            found.append(missing(what, target, problems[peer.name]))
        else:
            found.append(
                ratio(what, times.get((NORMAL, peer.name)), times.get((NORMAL, ours)), target)
            )
    return found


def _memory(counted: Counted) -> list[Figure]:
    target = Target("at most", 2.5, unit="kB")
    found: list[Figure] = []
    for temperature in ("warm, held", "warm, peak", "cold, held", "cold, peak"):
        small, large = (
            counted.bytes.get((SMALL, temperature)),
            counted.bytes.get((LARGE, temperature)),
        )
        each = None if small is None or large is None else (large - small) / (LARGE - SMALL) / 1000
        found.append(
            exact(f"kB resident per skill, {LARGE:,} over {SMALL:,}: {temperature}", each, target)
        )
    return found


def machine() -> dict[str, Any]:
    """Return what this run ran on; the load says whether anything else was running."""
    model = [
        line
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "cores": os.cpu_count(),
        "processor": model[0].partition(": ")[2] if model else platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "node": _node(),
        "load": round(os.getloadavg()[0], 2),
    }


def _node() -> str:
    try:
        return subprocess.run(
            ["node", "--version"], capture_output=True, text=True, check=False
        ).stdout.strip()
    except OSError:
        return "absent"


def say(text: str) -> None:
    """Tell a person at a terminal what is going on."""
    if sys.stderr.isatty():
        print(f"… {text}", file=sys.stderr)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", type=lambda text: [int(part) for part in text.split(",")], default=None
    )
    parser.add_argument("--repeat", type=int, default=5, help="rounds (5)")
    parser.add_argument(
        "--peer-repeat", type=int, default=3, help="rounds in which the peers take part (3)"
    )
    parser.add_argument(
        "--peers-up-to", type=int, default=PEERS_UP_TO, help="largest library given to the peers"
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument("--no-metier", dest="metier", action="store_false")
    parser.add_argument(
        "--trees", type=Path, default=trees.DEFAULT_TREES, help="where generated libraries are kept"
    )
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    found = parser.parse_args()
    found.sizes = sorted(found.sizes or [100, SMALL, NORMAL, LARGE])
    return found


def main() -> None:
    """Measure, then print the times, the figures and whatever did not work."""
    chosen = options()
    before = machine()
    with tempfile.TemporaryDirectory(prefix="metier-bench-") as scratch:
        bench = Bench(chosen, Path(scratch))
        times = bench.time(bench.subjects())
        counted = bench.count()
    answer = figures(times, counted, bench.problems)
    after = round(os.getloadavg()[0], 2)
    print(" · ".join(f"{key} {value}" for key, value in before.items()) + f" → {after}")
    print(
        "peers: " + " · ".join(f"{peer.name} {peer.version}".strip() for peer in peers.PEER_TABLE)
    )
    print(f"\n{times_table(times)}\n\n{figures_table(answer)}")
    for what, problem in bench.problems.items():
        print(f"\nproblem: {what}: {problem}")
    if chosen.json:
        _write(chosen.json, before, times, answer, counted, bench)


def _write(
    file: Path,
    before: dict[str, Any],
    times: Times,
    answer: list[Figure],
    counted: Counted,
    bench: Bench,
) -> None:
    content = {
        "machine": before,
        "peers": {
            peer.name: {"version": peer.version, "does": peer.does} for peer in peers.PEER_TABLE
        },
        "times": [
            {
                "skills": size,
                "what": name,
                "seconds": [s.seconds for s in samples],
                "cpu": [s.cpu for s in samples],
            }
            for (size, name), samples in times.items()
        ],
        "figures": [{**figure._asdict(), "target": str(figure.target)} for figure in answer],
        "bytes": {f"{size}, {kind}": value for (size, kind), value in counted.bytes.items()},
        "listed": bench.listed,
        "problems": bench.problems,
    }
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
