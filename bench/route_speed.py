"""How fast skills are found and how much room that takes, in libraries of several sizes, beside
peers in the same run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

import floors
import measure
import route_data
import route_peers
import route_vectors
from figures import Figure, Target, exact, table, verdict
from peers import Broken

from metier.find.io.index_folder import folder_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from route_data import Query, Skill
    from route_peers import Answers

BENCH = Path(__file__).resolve().parent
SETTLE_SECONDS = 3.0
"""A file younger than this is read again on purpose."""
ROUNDS = 3
AIMED = 80_000
"""The size that the aims are for."""
WORDS, EVERYTHING = "`m.find`, words alone", "`m.find`, everything on"
ALONE = {WORDS: "engine's query, words", EVERYTHING: "engine's query, words and vector"}
CONFIGS = {
    WORDS: '[route]\nvectors = "off"\nreadiness = 0.0\n',
    EVERYTHING: "[route]\nreadiness = 0.0\n",
}
"""The visible weights are off, the one that is on by default too."""


STATES = ("words", "everything")
"""How an index is opened."""


class Setting(NamedTuple):
    """A way to ask: its configuration, and its own state, so that neither finds what the other
    left.
    """

    config: Path
    state: Path

    @property
    def kept(self) -> Path:
        """The folder of the index: there is one library here."""
        return next((self.state / "route").iterdir())


class Place(NamedTuple):
    """A library that is measured: its folder, its texts as one file, a home, and the ways to
    ask.
    """

    tree: Path
    pool: Path
    home: str
    ways: dict[str, Setting]

    def call(self, what: str, way: str) -> dict[str, Any]:
        """Do something with it in a fresh process."""
        return _child(what, self.tree, self.ways[way].state, self.ways[way].config, home=self.home)


class Built(NamedTuple):
    """What making an index took."""

    text: int
    lexical: int
    vectors: int
    whole: list[float]
    engine: list[float]
    floor: list[float]


class Sized(NamedTuple):
    """Everything that was measured at one size."""

    size: int
    built: Built
    opened: list[dict[str, float]]
    changed: dict[str, Any]
    answers: dict[str, Answers]


class Bench:
    """One run: where things lie, and the vectors of the pool."""

    def __init__(
        self,
        scratch: Path,
        skills: Sequence[Skill],
        embedder: route_vectors.Kept,
        say: Callable[[str], None],
    ) -> None:
        """Embed the pool, as far as that was not done before."""
        self.scratch, self.skills, self.embedder, self.say = scratch, skills, embedder, say
        say("vectors of the pool")
        self.vectors = dict(
            zip(
                (skill.origin for skill in skills),
                route_vectors.of_each(embedder, skills),
                strict=True,
            )
        )

    def sized(
        self, size: int, queries: Sequence[Query], peers: Sequence[str], rounds: int = ROUNDS
    ) -> Sized:
        """Measure everything at one size."""
        skills = (
            list(self.skills) if size == len(self.skills) else route_data.sized(self.skills, size)
        )
        self.say(f"{size:,} skills: laying them out")
        place = self._place(skills)
        try:
            self.say(f"{size:,} skills: index")
            built = self._built(place, skills, rounds)
            self.say(f"{size:,} skills: opening")
            opened = [
                _child("open", place.ways[EVERYTHING].kept, queries[0].text, home=place.home)
                for _ in range(rounds)
            ]
            self.say(f"{size:,} skills: queries")
            answers = self._answers(place, queries, peers, rounds)
            return Sized(size, built, opened, place.call("change", EVERYTHING), answers)
        finally:
            shutil.rmtree(place.tree.parent)

    def _place(self, skills: Sequence[Skill]) -> Place:
        folder = self.scratch / f"{len(skills)}"
        folder.mkdir()
        tree = route_data.lay_out(skills, Path(os.path.realpath(folder)) / "skills")
        pool = route_peers.write_pool(skills, folder / "pool.jsonl")
        ways = {
            name: Setting(folder / f"{number}.toml", folder / f"state-{number}")
            for number, name in enumerate(CONFIGS)
        }
        for name, way in ways.items():
            way.config.write_text(CONFIGS[name], encoding="utf-8")
        time.sleep(SETTLE_SECONDS)
        return Place(tree, pool, measure.fresh_home(folder), ways)

    def _built(self, place: Place, skills: Sequence[Skill], rounds: int) -> Built:
        """Make the index, several times where that is quick; then add the vectors, which are there
        already.
        """
        whole, engine, floor = [], [], []
        words, everything = (place.ways[name] for name in CONFIGS)
        for number in range(rounds if len(skills) < AIMED else 1):
            shutil.rmtree(words.state, ignore_errors=True)
            whole.append(place.call("index", WORDS)["seconds"])
            engine.append(
                _child("build", place.pool, place.tree.parent / f"alone-{number}", home=place.home)[
                    "seconds"
                ]
            )
            floor.append(_timed(lambda: floors.cold(str(place.tree))))
        shutil.copytree(words.state, everything.state)
        self._add_vectors(place, skills)
        for name in CONFIGS:  # once more, for it to find everything as it is
            place.call("index", name)
        lexical = _bytes(words.kept)
        return Built(
            sum(skill.size for skill in skills),
            lexical,
            _bytes(everything.kept) - lexical,
            whole,
            engine,
            floor,
        )

    def _add_vectors(self, place: Place, skills: Sequence[Skill]) -> None:
        rows = route_vectors.of_copies(self.vectors, skills)
        found = ((f"{place.tree}/{skill.id}", matrix) for skill, matrix in rows)
        folder_engine(str(place.ways[EVERYTHING].kept), None).add_vectors(self.embedder.name, found)

    def _answers(
        self, place: Place, queries: Sequence[Query], peers: Sequence[str], rounds: int
    ) -> dict[str, Answers]:
        commands: dict[str, list[str]] = {}
        for name, way in place.ways.items():
            commands[ALONE[name]] = route_peers.our_command(
                place.tree, way.state, way.config, "engine"
            )
            commands[name] = route_peers.our_command(place.tree, way.state, way.config, "find")
        for name in peers:
            try:
                commands[name] = route_peers.peer_command(
                    name, place.pool, place.tree, place.tree.parent
                )
            except Broken as problem:
                self.say(f"{name}: {problem}")
        return route_peers.answers(commands, queries, place.home, rounds)


def _child(what: str, *words: object, home: str) -> dict[str, Any]:
    argv = [sys.executable, str(BENCH / "route_child.py"), what, *map(str, words)]
    done = subprocess.run(
        argv, env=measure.environment(home), capture_output=True, text=True, check=False
    )
    if done.returncode:
        message = f"{what} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
        raise Broken(message)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _timed(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _bytes(folder: Path) -> int:
    return sum(entry.stat().st_size for entry in os.scandir(folder))


# --- tables


class Middle(NamedTuple):
    """The median of some rounds, and the best and the worst of them; in milliseconds."""

    value: float
    low: float
    high: float


def middle(rounds: Sequence[Sequence[float]], share: int = 50) -> Middle:
    """Give a percentile over the queries of each round, and of those the median."""
    each = [1000 * quantiles(one, n=100)[share - 1] for one in rounds]
    return Middle(median(each), min(each), max(each))


def sizes_table(found: Sequence[Sized]) -> str:
    """Give what each size costs to make, to keep and to open."""
    rows: list[tuple[str, ...]] = [("", *(f"{one.size:,} skills" for one in found))]

    def row(what: str, told: Callable[[Sized], str]) -> None:
        rows.append((what, *(told(one) for one in found)))

    row("text, MB", lambda one: f"{one.built.text / 1e6:.1f}")
    row("`m.index()` without vectors, s", lambda one: f"{median(one.built.whole):.2f}")
    row(
        "… / reading and hashing the files",
        lambda one: f"{median(one.built.whole) / median(one.built.floor):.1f}",
    )
    row("engine's build alone, s", lambda one: f"{median(one.built.engine):.2f}")
    row(
        "… / tantivy's",
        lambda one: (
            f"{median(one.built.engine) / one.answers['tantivy'].seconds:.2f}"
            if "tantivy" in one.answers
            else ""
        ),
    )
    row("lexical index, MB", lambda one: f"{one.built.lexical / 1e6:.2f}")
    row("… of the text", lambda one: f"{one.built.lexical / one.built.text:.1%}")
    row(
        "tantivy's index of the text",
        lambda one: (
            f"{one.answers['tantivy'].bytes / one.built.text:.1%}"
            if "tantivy" in one.answers
            else ""
        ),
    )
    row("vectors, MB", lambda one: f"{one.built.vectors / 1e6:.2f}")
    for what in STATES:
        row(
            f"index opened, {what}, ms",
            lambda one, what=what: f"{_opened(one, f'open, {what}'):.1f}",  # type: ignore[misc]
        )
        row("… and first query, ms", lambda one, what=what: f"{_opened(one, f'first, {what}'):.1f}")  # type: ignore[misc]
    row(
        "library opened and first `m.find`, s", lambda one: f"{one.answers[EVERYTHING].seconds:.2f}"
    )
    row(
        "one skill changed: read / embedded",
        lambda one: f"{one.changed['read']} / {one.changed['embedded']}",
    )
    row("… until the index has it, ms", lambda one: f"{1000 * one.changed['seconds']:.0f}")
    for name in (*ALONE.values(), *CONFIGS):
        row(
            f"peak memory, {name}, MB",
            lambda one, name=name: f"{one.answers[name].peak / 1024:.0f}",  # type: ignore[misc]
        )
    return table(rows)


def _opened(one: Sized, what: str) -> float:
    return 1000 * median(each[what] for each in one.opened)


def times_table(found: Sequence[Sized]) -> str:
    """Give the times of queries, of ours and of others in the same round."""
    rows: list[tuple[str, ...]] = [
        ("skills", "what", "p50 ms", "rounds", "p99 ms", f"/ {WORDS}", f"/ {EVERYTHING}")
    ]
    for one in found:
        ours = [middle(one.answers[name].times).value for name in CONFIGS]
        for name, answer in one.answers.items():
            half, late = middle(answer.times), middle(answer.times, 99)
            ratios = [f"{half.value / mine:.2f}" for mine in ours]
            spread = f"{half.low:.2f} … {half.high:.2f}"
            rows.append(
                (f"{one.size:,}", name, f"{half.value:.2f}", spread, f"{late.value:.1f}", *ratios)
            )
    return table(rows)


def figures(found: Sequence[Sized]) -> list[Figure]:
    """Give every aim at the size that it is for."""
    one = next((one for one in found if one.size == AIMED), None)
    if one is None:
        return []
    words, everything = one.answers[WORDS], one.answers[EVERYTHING]
    return [
        _figure(
            "engine's lexical query, p50",
            middle(one.answers[ALONE[WORDS]].times),
            Target("at most", 10, "ms"),
        ),
        _figure(
            "`m.find` with everything on, p50",
            middle(everything.times),
            Target("at most", 30, "ms"),
        ),
        exact("index opened", _opened(one, "open, words"), Target("under", 20, "ms")),
        exact(
            "index opened, and the first lexical query answered",
            _opened(one, "first, words"),
            Target("under", 20, "ms"),
        ),
        exact(
            "lexical index of the text",
            100 * one.built.lexical / one.built.text,
            Target("at most", 10, "%"),
        ),
        exact("peak memory, `m.find`, words alone", words.peak / 1024, Target("under", 300, "MB")),
        exact(
            "peak memory, `m.find`, everything on",
            everything.peak / 1024,
            Target("under", 300, "MB"),
        ),
        exact("skills read when one changed", one.changed["read"], Target("exactly", 1, "read")),
        exact(
            "skills embedded when one changed",
            one.changed["embedded"],
            Target("exactly", 1, "embedded"),
        ),
    ]


def _figure(what: str, timed: Middle, target: Target) -> Figure:
    """Judge a time by the median of its rounds; the spread is shown."""
    return Figure(
        what, timed.value, timed.low, timed.high, target, verdict(timed.value, timed.value, target)
    )
