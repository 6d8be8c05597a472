"""Measure `metier mcp` beside skillport's MCP server: the same library, the same questions, the
same client, in turn.

    python bench/serve.py [--size 10000] [--rounds 5] [--searches 150] [--loads 300] [--vectors off] [--quick] [--json FILE]

One client over stdio puts the same queries to `search_skills` and the same names to `load_skill` of
both servers, one request after the other, then with eight of them open at a time. No server is
asked the same twice, except where a table says so. What is timed is each request, to the last byte
of its answer. Both servers have made their index before. The exit code is 1 unless every aim is
met; `--quick` takes a small library and judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import library
import measure
import peers
import serve_asked
import stdio
import trees
from figures import Figure, Sample, Target, exact, figures_table, missing, ratio, table
from peers import Broken, Command
from serve_subjects import LIMIT, OURS, PEER, ours, peer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from serve_asked import Described, Query
    from serve_subjects import Subject, Tool

TOOLS: tuple[Tool, ...] = ("search_skills", "load_skill")
AHEAD = 8
FASTER, SHORTER = Target("at least", 5), Target("at most", 0.2)
SANE = {OURS: Target("at least", 95, unit="%"), PEER: Target("at least", 80, unit="%")}
"""How many answers must make sense. Of a sentence skillport takes punctuation for its query
language, and may find nothing."""
FITS, THERE, BODY = (
    "search_skills: something fits",
    "search_skills by name: it is there",
    "load_skill: the body is there",
)
STARTS = 3
FIRST = "something to begin with"
AGAIN = 5
"""One in so many requests is put a second time."""
SPARE = 1.15
"""So many times the names that are wanted are tried, since some of the generated texts look bad to
a scanner and are held back."""


class Asking(NamedTuple):
    """One way of asking: a tool, how many requests are open at a time, and whether they are put a
    second time.
    """

    tool: Tool
    ahead: int = 1
    again: bool = False

    def __str__(self) -> str:
        """Name it for a table."""
        return f"{self.tool}{', again' if self.again else ''}{f', {self.ahead} at a time' if self.ahead > 1 else ''}"


WAYS = (
    *(Asking(tool, again=again) for tool in TOOLS for again in (False, True)),
    *(Asking(tool, AHEAD) for tool in TOOLS),
)


class Batches(NamedTuple):
    """How much is asked: in so many batches so many queries and names each."""

    number: int
    searches: int
    loads: int


class Batch(NamedTuple):
    """What is asked at one go: queries, or names."""

    queries: list[Query]
    names: list[str]


class Round(NamedTuple):
    """What one round of one way of asking came to: seconds per request, and two quantiles of single
    requests.
    """

    each: float
    p50: float
    p99: float


class Bench:
    """The servers that run, and what was measured of them."""

    def __init__(
        self,
        subjects: Sequence[Subject],
        cards: Sequence[Described],
        queries: Sequence[Query],
        batches: Batches,
    ) -> None:
        """Take what is asked."""
        self.subjects, self.queries, self.batches = subjects, list(queries), batches
        self.words = serve_asked.words_of(cards)
        self.names: list[str] = []
        self.clients: dict[str, stdio.Client] = {}
        self.rounds: dict[tuple[str, Asking], list[Round]] = {}
        self.starts: dict[tuple[str, str], list[float]] = {}
        self.prepared: dict[str, float] = {}
        self.sane: dict[tuple[str, str], list[int]] = {}
        """How many answers make sense, and of how many."""
        self.memory: dict[str, int] = {}
        self.about: dict[str, str] = {}
        self.letters = 0

    def prepare(self, subject: Subject) -> None:
        """Let a server learn the library, outside of everything that is timed."""
        began = time.perf_counter()
        for command in subject.prepare:
            done = subprocess.run(
                command.argv, env=command.env, cwd=command.cwd, capture_output=True, check=False
            )
            if done.returncode not in {0, 1}:  # 1: there are skills that it warns of
                message = (
                    f"{command.argv[3:]} ended with {done.returncode}: "
                    f"{done.stderr[-300:].decode(errors='replace')}"
                )
                raise Broken(message)
        client = self.clients[subject.name] = stdio.Client(
            subject.command
        )  # a first start may index
        self._hello(client, subject)
        self.prepared[subject.name] = time.perf_counter() - began

    def _hello(self, client: stdio.Client, subject: Subject) -> tuple[float, float]:
        """Shake hands and put one query; give the seconds since the start after each."""
        about = client.initialise()
        hands = client.since_start()
        stdio.told(client.time([subject.request("search_skills", FIRST)]).answers[0])
        info = about.get("serverInfo", {})
        self.about[subject.name] = f"{info.get('name')} {info.get('version')}"
        return hands, client.since_start()

    def start(self, subject: Subject) -> None:
        """Start a server, and keep how long it took to its first answers."""
        if subject.name in self.clients:
            self.clients.pop(subject.name).end()
        client = self.clients[subject.name] = stdio.Client(subject.command)
        hands, first = self._hello(client, subject)
        self.starts.setdefault((subject.name, "initialised"), []).append(hands)
        self.starts.setdefault((subject.name, "first search answered"), []).append(first)

    def choose(self, names: Sequence[str]) -> None:
        """Keep the names that every server loads. They are asked of processes that are not
        measured.
        """
        held: set[str] = set()
        for subject in self.subjects:
            asked = [subject.request("load_skill", name) for name in names]
            for name, line in zip(
                names, self.clients[subject.name].time(asked).answers, strict=True
            ):
                if not _has_body(line, name):
                    held.add(name)
        self.names = [name for name in names if name not in held]
        if len(self.names) < self.batches.number * self.batches.loads:
            message = (
                f"only {len(self.names)} of {len(names)} names can be loaded from every server"
            )
            raise Broken(message)

    def batch(self, number: int, asking: Asking) -> Batch:
        """Give what is asked in one way in one round: in each something new, or a part of what is
        new in this one once more.
        """
        at = 2 * number + (asking.ahead > 1)
        size = self.batches.searches if asking.tool == "search_skills" else self.batches.loads
        chosen = slice(at * size, at * size + (max(size // AGAIN, 1) if asking.again else size))
        return (
            Batch(self.queries[chosen], [])
            if asking.tool == "search_skills"
            else Batch([], self.names[chosen])
        )

    def ask(self, subject: Subject, asking: Asking, batch: Batch, *, keep: bool = True) -> None:
        """Put all requests of one kind to one server."""
        requests = [
            subject.request(asking.tool, value)
            for value in (*(query.text for query in batch.queries), *batch.names)
        ]
        timing = self.clients[subject.name].time(requests, asking.ahead)
        each = sorted(timing.each)
        if keep:
            found = Round(timing.seconds / len(each), _quantile(each, 50), _quantile(each, 99))
            self.rounds.setdefault((subject.name, asking), []).append(found)
        self._judge(subject, batch, timing.answers)

    def _judge(self, subject: Subject, batch: Batch, answers: Sequence[bytes]) -> None:
        """Look at the answers, after the clock has stopped."""
        if batch.names:
            good = sum(
                _has_body(line, name) for line, name in zip(answers, batch.names, strict=True)
            )
            self._note(subject, BODY, good, len(answers))
            self.letters = int(median(len(line) for line in answers))
            return
        texts = [stdio.told(line) for line in answers]
        both = list(zip(batch.queries, texts, strict=True))
        self._note(
            subject,
            FITS,
            sum(serve_asked.fits(query, text, self.words) for query, text in both),
            len(both),
        )
        named = [query.name in text for query, text in both if query.kind == "name"]
        self._note(subject, THERE, sum(named), len(named))

    def _note(self, subject: Subject, what: str, good: int, of: int) -> None:
        seen = self.sane.setdefault((subject.name, what), [0, 0])
        seen[0], seen[1] = seen[0] + good, seen[1] + of

    def round(self, number: int, *, keep: bool = True) -> None:
        """Ask every server in every way, in another order each time."""
        turn = number % len(self.subjects)
        for asking in WAYS:
            for subject in (*self.subjects[turn:], *self.subjects[:turn]):
                self.ask(subject, asking, self.batch(number, asking), keep=keep)

    def end(self) -> None:
        """Note the memory that each server holds, and let all of them go."""
        for name, client in self.clients.items():
            self.memory[name] = client.memory()
            client.end()


def _has_body(line: bytes, name: str) -> bool:
    """Tell whether an answer is a skill: every generated body begins with its name as a heading."""
    answer = json.loads(line)
    if "result" not in answer or answer["result"].get("isError"):
        return False
    return f"# {name.replace('-', ' ')}" in stdio.told(line)


def _quantile(ordered: Sequence[float], percent: int) -> float:
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]


def floors(letters: int, count: int, scratch: Path) -> dict[str, Round]:
    """Time servers that do nothing: a loop that echoes, and one made with the SDK."""
    found: dict[str, Round] = {}
    for name, driver in (
        ("floor: client and pipes", "serve_echo"),
        ("floor: the SDK", "serve_sdk"),
    ):
        argv = [sys.executable, str(peers.BENCH / f"drivers/{driver}.py"), str(letters)]
        client = stdio.Client(Command(argv, measure.environment(str(scratch)), str(scratch)))
        client.initialise()
        request = ("tools/call", {"name": "load_skill", "arguments": {"name": "x"}})
        client.time([request] * (count // 10 + 1))
        timing = client.time([request] * count)
        client.end()
        each = sorted(timing.each)
        found[name] = Round(timing.seconds / count, _quantile(each, 50), _quantile(each, 99))
    return found


def figures(bench: Bench) -> list[Figure]:
    """Hold metier against the peer, and both against sense."""
    found: list[Figure] = []
    for tool in TOOLS:
        asking = Asking(tool)
        us, them = bench.rounds.get((OURS, asking)), bench.rounds.get((PEER, asking))
        rate, tail = f"{tool}: requests/s, {OURS} / {PEER}", f"{tool}: p99, {OURS} / {PEER}"
        if not us or not them:
            found += [missing(rate, FASTER, "no peer"), missing(tail, SHORTER, "no peer")]
            continue
        found.append(ratio(rate, _samples(them, "each"), _samples(us, "each"), FASTER))
        found.append(ratio(tail, _samples(us, "p99"), _samples(them, "p99"), SHORTER))
    found += [
        exact(f"{name}, {what}", _share(seen), SANE[name])
        for (name, what), seen in bench.sane.items()
        if what != THERE
    ]
    return found


def _share(seen: Sequence[int]) -> float:
    return 100 * seen[0] / max(seen[1], 1)


def _samples(rounds: Sequence[Round], field: Literal["each", "p99"]) -> list[Sample]:
    return [Sample(getattr(one, field), 0.0) for one in rounds]


def tables(bench: Bench, floor: Mapping[str, Round]) -> str:
    """Lay out everything that was measured."""
    rows = [("server", "asked", "requests/s", "p50 ms", "p99 ms", "worst round's p99", "rounds")]
    for (name, asking), rounds in sorted(
        bench.rounds.items(), key=lambda item: (item[0][1][1:], item[0][1].tool, item[0][0])
    ):
        middle = Round(*(median(values) for values in zip(*rounds, strict=True)))
        rows.append(
            (
                name,
                str(asking),
                *_cells(middle),
                f"{max(one.p99 for one in rounds) * 1e3:.1f}",
                str(len(rounds)),
            )
        )
    rows += [
        (name, f"{bench.letters:,} bytes", *_cells(one), "", "1") for name, one in floor.items()
    ]
    starts = [("server", "from its start", "min s", "median s", "starts")]
    for (name, what), each in bench.starts.items():
        starts.append((name, what, f"{min(each):.2f}", f"{median(each):.2f}", str(len(each))))
    facts = [("server", "which", "made ready in s", "resident at the end, MB")]
    for name, seconds in bench.prepared.items():
        facts.append(
            (name, bench.about[name], f"{seconds:.0f}", f"{bench.memory.get(name, 0) / 1e6:.0f}")
        )
    sane = [
        ("server", "of all answers", "%"),
        *((name, what, f"{_share(seen):.0f}") for (name, what), seen in bench.sane.items()),
    ]
    return "\n\n".join(table(part) for part in (facts, starts, sane, rows))


def _cells(one: Round) -> tuple[str, str, str]:
    return f"{1 / one.each:,.0f}", f"{one.p50 * 1e3:.2f}", f"{one.p99 * 1e3:.1f}"


def measured(chosen: argparse.Namespace, tree: trees.Tree, kept: Path) -> Bench:
    """Prepare the servers, start them, and ask them in turn."""
    rng = random.Random(chosen.seed)  # noqa: S311 - a choice of questions, no secrets
    cards = serve_asked.cards(tree.root)
    batches = Batches(2 * (chosen.rounds + 1), chosen.searches, chosen.loads)
    names = rng.sample(
        [card.name for card in cards], min(int(batches.number * chosen.loads * SPARE), len(cards))
    )
    found = [peer(tree, kept / PEER)] if chosen.peer else []
    found += (
        [ours(tree, kept / f"{OURS}-{chosen.vectors}", chosen.vectors)] if chosen.metier else []
    )
    bench = Bench(
        found, cards, serve_asked.queries(cards, batches.number * chosen.searches, rng), batches
    )
    try:
        for subject in found:
            say(f"{subject.name} learns {tree.skills:,} skills")
            bench.prepare(subject)
        say("choosing names")
        bench.choose(names)
        for _ in range(STARTS):
            for subject in found:
                bench.start(subject)
        for number in range(chosen.rounds + 1):
            say(f"round {number}" if number else "a round that is not measured")
            bench.round(number, keep=number > 0)
    finally:
        bench.end()
    return bench


def say(text: str) -> None:
    """Tell what is going on."""
    print(f"… {text}", file=sys.stderr, flush=True)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=10_000, help="skills (10,000)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--searches", type=int, default=150, help="queries in a round (150)")
    parser.add_argument("--loads", type=int, default=300, help="skills loaded in a round (300)")
    parser.add_argument(
        "--vectors",
        choices=("auto", "off"),
        default="auto",
        help="whether metier's search counts meaning (auto)",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-peer", dest="peer", action="store_false")
    parser.add_argument("--no-metier", dest="metier", action="store_false")
    parser.add_argument(
        "--trees",
        type=Path,
        default=trees.DEFAULT_TREES,
        help="where libraries and indexes are kept",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small library, one round, nothing judged"
    )
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    found = parser.parse_args()
    if found.quick:
        found.size, found.rounds, found.searches, found.loads = 100, 1, 20, 20
    return found


def main() -> int:
    """Measure, then print the tables and the figures; 1 unless every aim is met."""
    chosen, before = options(), library.machine()
    tree = trees.make(chosen.size, chosen.trees)
    kept = chosen.trees / f"served-{chosen.size}-{trees.VERSION}"
    with tempfile.TemporaryDirectory(prefix="metier-bench-") as scratch:
        try:
            bench = measured(chosen, tree, kept)
        except Broken as problem:
            print(f"problem: {problem}")
            return 1
        floor = floors(bench.letters, 10 * chosen.loads, Path(scratch))
    answer = figures(bench)
    print(
        " · ".join(f"{key} {value}" for key, value in before.items())
        + f" → {round(os.getloadavg()[0], 2)}"
    )
    asked = f"{2 * chosen.searches} queries for {LIMIT} skills and {2 * chosen.loads} names a round"
    print(f"{tree.skills:,} skills · {asked} · vectors {chosen.vectors}")
    print(f"\n{tables(bench, floor)}\n\n{figures_table(answer)}")
    if chosen.json:
        _write(chosen.json, before, bench, floor, answer)
    return 0 if chosen.quick or all(figure.verdict == "met" for figure in answer) else 1


def _write(
    file: Path,
    before: dict[str, Any],
    bench: Bench,
    floor: Mapping[str, Round],
    answer: Sequence[Figure],
) -> None:
    content = {
        "machine": before,
        "servers": bench.about,
        "rounds": {
            f"{name}: {asking}": [one._asdict() for one in rounds]
            for (name, asking), rounds in bench.rounds.items()
        },
        "starts": {f"{name}: {what}": each for (name, what), each in bench.starts.items()},
        "floors": {name: one._asdict() for name, one in floor.items()},
        "sane": {f"{name}: {what}": seen for (name, what), seen in bench.sane.items()},
        "memory": bench.memory,
        "figures": [{**figure._asdict(), "target": str(figure.target)} for figure in answer],
    }
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
