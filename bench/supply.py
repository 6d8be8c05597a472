"""Measure getting skills in, beside `git clone` and a copy of the same tree, and count what crashes
and crowds lose.

    python bench/supply.py [--size 1000] [--rounds 5] [--no-speed] [--no-memory] [--no-safety] [--scratch DIR] [--quick] [--json F]

The skills are generated, in a git repository on this disk. Every timed subject is a whole process
and starts with a disk that has nothing left to write. The exit code is 1 unless every aim is met;
`--quick` takes few skills and one round, and judges nothing.
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
from typing import TYPE_CHECKING, Any, NamedTuple

import library
import supply_data
import supply_safety
from figures import Figure, Sample, Target, Times, exact, figures_table, ratio, table, times_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from supply_data import Upstream
    from supply_safety import Counted

BENCH = Path(__file__).resolve().parent
FLOOR, ADD, AGAIN, UPDATE, SYNC, FETCH = (
    "git clone + cp -r",
    "add",
    "add to a second project",
    "update, 10 changed",
    "sync, warm store",
    "sync, warm repository",
)
CHANGED = 10
NEEDED = 50
"""Skills that one skill needs, where it is counted how often their source is opened."""
SIZES = (100, 1_000, 4_000)
CROWD_SECONDS = 60.0
FLAT = Target("at most", 1.5)


class Worked(NamedTuple):
    """One process, from start to exit."""

    code: int
    output: str
    sample: Sample


def process(words: Sequence[str], cwd: Path, env: dict[str, str]) -> Worked:
    """Time a whole process and those it starts."""
    os.sync()
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(
        words,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, after = time.perf_counter() - began, os.times()
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return Worked(done.returncode, done.stdout + done.stderr, Sample(seconds, cpu))


class Bench:
    """Everything below one scratch folder."""

    def __init__(self, scratch: Path) -> None:
        """Begin in an empty folder."""
        self.scratch, self.count = scratch, 0
        self.problems: list[str] = []

    def fresh(self, what: str) -> Path:
        """Make a folder that nobody has used."""
        self.count += 1
        folder = self.scratch / f"{what}-{self.count}"
        folder.mkdir()
        return folder

    def put_away(self, *folders: Path) -> None:
        """Take folders out of the way; they are deleted when everything is measured. A file system
        without a journal (ext4) makes new files many times slower for minutes after a large
        deletion, and whoever is timed next would pay for it.
        """
        for folder in folders:
            folder.rename(self.fresh("attic") / folder.name)

    def project(self) -> Path:
        """Make an empty project."""
        folder = self.fresh("project")
        (folder / ".git").mkdir()
        return folder

    def env(self, home: Path) -> dict[str, str]:
        """Give the environment of somebody with an empty home, or with a METIER_HOME that is
        known. Compiled modules are kept, as an installation has them.
        """
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        return {
            **kept,
            **supply_data.ENV,
            "HOME": str(self.scratch),
            "METIER_HOME": str(home),
        }

    def metier(self, project: Path, home: Path, *words: str) -> Sample:
        """Run one command."""
        done = process([sys.executable, "-m", "metier", *words], project, self.env(home))
        if done.code:
            self.problems.append(f"metier {' '.join(words)}: {done.code}: {done.output[-500:]}")
        return done.sample

    def counted(self, project: Path, upstream: Upstream) -> None:
        """See that all skills are in their place."""
        found = sum(1 for _skill in (project / ".agents" / "skills").iterdir())
        if found != upstream.skills:
            self.problems.append(f"{found} of {upstream.skills} skills are in {project.name}")

    def floor(self, upstream: Upstream) -> Sample:
        """Clone the repository, and copy the tree to where skills lie."""
        folder = self.fresh("floor")
        script = 'git clone -q "$1" clone && mkdir .agents && cp -r clone/skills .agents/skills'
        done = process(["sh", "-c", script, "sh", upstream.url], folder, self.env(folder))
        self.put_away(folder)
        return done.sample

    def round(self, upstream: Upstream, times: Times) -> None:
        """Time each subject once."""
        size, home, project, second = (
            upstream.skills,
            self.fresh("home"),
            self.project(),
            self.project(),
        )
        everything = ("add", f"git+{upstream.url}", "--all", "--yes")

        def took(subject: str, sample: Sample) -> None:
            times.setdefault((size, subject), []).append(sample)

        upstream.publish(upstream.first)
        took(FLOOR, self.floor(upstream))
        took(ADD, self.metier(project, home, *everything))
        self.counted(project, upstream)
        took(AGAIN, self.metier(second, home, *everything))
        upstream.publish(upstream.second)
        took(UPDATE, self.metier(project, home, "update", "--yes"))
        self.put_away(project / ".agents")
        took(SYNC, self.metier(project, home, "sync"))
        self.counted(project, upstream)
        self.put_away(project / ".agents", home / "store")  # the copy of the repository is left
        took(FETCH, self.metier(project, home, "sync"))
        self.counted(project, upstream)
        self.put_away(home, project, second)

    def child(self, upstream: Upstream, home: Path, *skills: str) -> dict[str, Any]:
        """Add everything, or one skill, in a process that times its stages and knows its memory."""
        project = self.project()
        words = [
            sys.executable,
            str(BENCH / "supply_child.py"),
            f"git+{upstream.url}",
            str(project),
            *skills,
        ]
        done = process(words, project, self.env(home))
        self.put_away(project)
        if done.code:
            raise SystemExit(f"supply_child.py: {done.output[-2000:]}")
        told: dict[str, Any] = json.loads(done.output.splitlines()[-1])
        return told


def stages(bench: Bench, upstream: Upstream, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Split an `add` into its stages: with verdicts to find out, and with verdicts that are
    known.
    """
    found: dict[str, list[dict[str, Any]]] = {"new": [], "known": []}
    for _round in range(rounds):
        home = bench.fresh("home")
        for each in found.values():
            each.append(bench.child(upstream, home))
        bench.put_away(home)
    return found


def stages_table(found: dict[str, list[dict[str, Any]]]) -> str:
    """Lay the medians out."""
    names = list(
        dict.fromkeys(stage for each in found.values() for one in each for stage in one["stages"])
    )
    rows: list[tuple[str, ...]] = [("stage of `add`, s", "new skills", "verdicts known")]
    rows += [
        (
            name,
            *(
                f"{median(one['stages'].get(name, 0.0) for one in each):.2f}"
                for each in found.values()
            ),
        )
        for name in names
    ]
    rest = {
        which: median(one["seconds"] - sum(one["stages"].values()) for one in each)
        for which, each in found.items()
    }
    rows.append(("the rest", *(f"{seconds:.2f}" for seconds in rest.values())))
    rows.append(
        (
            "library call",
            *(f"{median(one['seconds'] for one in each):.2f}" for each in found.values()),
        )
    )
    return table(rows)


def memory(bench: Bench, sizes: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Give the most memory that an `add` of one skill and of all holds, by the size of the
    repository.
    """
    found = {}
    for size in sizes:
        say(f"memory, {size:,} skills")
        upstream = supply_data.made(bench.scratch / f"memory-{size}", size, 0)
        homes = bench.fresh("home"), bench.fresh("home")
        one, every = bench.child(upstream, homes[0], "skill-00001"), bench.child(upstream, homes[1])
        found[size] = one["peak"], every["peak"]
        bench.put_away(*homes, upstream.folder)
    return found


def speed_figures(times: Times, size: int) -> list[Figure]:
    """Hold each subject against the floor."""
    floor, target = times.get((size, FLOOR)), Target("at most", 3)
    return [
        ratio(f"{subject} / {FLOOR}", times.get((size, subject)), floor, target)
        for subject in (ADD, AGAIN, UPDATE, SYNC)
    ] + [ratio(f"{FETCH} / {FLOOR}", times.get((size, FETCH)), floor, Target("at most", 1.3))]


def memory_figures(peaks: dict[int, tuple[int, int]]) -> list[Figure]:
    """Say how much more memory a large repository takes than a small one."""
    first, *_between, last = sorted(peaks)
    one, every = (peaks[last][at] / peaks[first][at] for at in (0, 1))
    each = (peaks[last][1] - peaks[first][1]) / (last - first) / 1000
    return [
        exact(f"peak memory, one skill of {last:,} / of {first:,}", one, FLAT),
        exact(
            f"peak memory, all of {last:,} skills / of {first:,}",
            every,
            FLAT,
            f"{each:.0f} kB for each skill that is added",
        ),
    ]


def needing_figure(bench: Bench) -> Figure:
    """Count how often a source is opened for a skill that needs 50 others of it."""
    import metier
    from metier.supply.io.git import GitFetcher

    source, project, home = bench.fresh("needing"), bench.project(), bench.fresh("home")
    names = [f"needed-{number}" for number in range(NEEDED)]
    for name in ("top", *names):
        needs = f"depends-on: [{', '.join(names)}]\n" if name == "top" else ""
        (source / name).mkdir()
        (source / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Does {name}. Use it for {name}.\n{needs}---\n\nText.\n"
        )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "skills"]):
        subprocess.run(["git", *words], cwd=source, env=bench.env(home), check=True)
    opened = list[str]()
    plain = GitFetcher.open

    def counted(fetcher: GitFetcher, request: Any) -> Any:
        opened.append(request.location)
        return plain(fetcher, request)

    GitFetcher.open = counted  # type: ignore[assignment, method-assign]
    try:
        with metier.open(cwd=str(project), env=bench.env(home)) as m:
            done = m.add(f"git+file://{source}", skills=["top"], consent=lambda _plan: True)
    finally:
        GitFetcher.open = plain  # type: ignore[method-assign]
    if len(done.installed) != NEEDED + 1:
        bench.problems.append(f"{len(done.installed)} of {NEEDED + 1} skills came along")
    what = f"`add` of a skill that needs {NEEDED}: times its source is opened"
    return exact(what, len(opened), Target("exactly", 1, ""))


def safety_figures(found: dict[str, Counted]) -> list[Figure]:
    """Say how much was lost."""
    return [
        exact(f"{what}: {one.tried:,} tried, losses", len(one.wrong), Target("exactly", 0, ""))
        for what, one in found.items()
    ]


def say(text: str) -> None:
    """Tell what is going on."""
    print(f"… {text}", file=sys.stderr, flush=True)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--size", type=int, default=1_000, help="skills in the repository that is timed (1,000)"
    )
    parser.add_argument("--rounds", type=int, default=5)
    for part in ("speed", "memory", "safety"):
        parser.add_argument(f"--no-{part}", dest=part, action="store_false")
    parser.add_argument(
        "--quick", action="store_true", help="few skills, one round, nothing judged"
    )
    parser.add_argument(
        "--scratch", type=Path, help="where everything is made; a temporary folder unless named"
    )
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    found = parser.parse_args()
    if found.quick:
        found.size, found.rounds = 50, 1
    return found


def speed(bench: Bench, chosen: argparse.Namespace, parts: list[str]) -> tuple[Times, list[Figure]]:
    """Time everything, and say where the time of `add` goes."""
    times: Times = {}
    upstream = supply_data.made(bench.scratch / "upstream", chosen.size, CHANGED)
    for number in range(chosen.rounds):
        say(f"round {number + 1}")
        bench.round(upstream, times)
    upstream.publish(upstream.first)
    say("stages")
    parts += [times_table(times), stages_table(stages(bench, upstream, min(chosen.rounds, 3)))]
    return times, speed_figures(times, chosen.size)


def safety(chosen: argparse.Namespace, parts: list[str]) -> tuple[dict[str, Counted], list[Figure]]:
    """Count losses."""
    found: dict[str, Counted] = {}
    tasks: dict[str, Callable[[], Counted]] = {
        "steps on disk, broken off": lambda: supply_safety.crashes(say),
        "operations of 8 processes": lambda: supply_safety.many_processes(
            3.0 if chosen.quick else CROWD_SECONDS
        ),
        "merges, beside `git merge-file`": supply_safety.merges,
    }
    for what, task in tasks.items():
        say(what)
        found[what] = task()
        parts += [table(found[what].rows)] if found[what].rows else []
        parts += ["\n".join(found[what].wrong[:20])] if found[what].wrong else []
    return found, safety_figures(found)


def main() -> int:
    """Measure, then print the tables and the figures; 1 unless every aim is met."""
    chosen, before = options(), library.machine()
    parts, answer, content = list[str](), list[Figure](), dict[str, Any]()
    with tempfile.TemporaryDirectory(prefix="metier-bench-", dir=chosen.scratch) as scratch:
        bench = Bench(Path(scratch))
        if chosen.speed:
            times, found = speed(bench, chosen, parts)
            answer += [*found, needing_figure(bench)]
            content["times"] = {
                what: [sample.seconds for sample in samples]
                for (_size, what), samples in times.items()
            }
        if chosen.memory:
            peaks = memory(bench, SIZES[:2] if chosen.quick else SIZES)
            rows = [
                (f"{size:,}", *(f"{peak / 1e6:.0f}" for peak in each))
                for size, each in peaks.items()
            ]
            parts.append(table([("skills", "peak memory, `add` of one, MB", "of all"), *rows]))
            answer += memory_figures(peaks)
            content["peaks"] = peaks
        if chosen.safety:
            counted, found = safety(chosen, parts)
            answer += found
            content["safety"] = {what: one._asdict() for what, one in counted.items()}
    print(
        " · ".join(f"{key} {value}" for key, value in before.items())
        + f" → {round(os.getloadavg()[0], 2)}"
    )
    print("\n\n".join([*parts, *bench.problems, figures_table(answer)]))
    if chosen.json:
        content |= {
            "machine": before,
            "figures": [{**figure._asdict(), "target": str(figure.target)} for figure in answer],
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
