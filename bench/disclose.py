"""Measure the catalogue for a model against simply joining the names of the same skills, and print
every figure as a ratio.

python bench/disclose.py [--size 10000] [--judged 1000] [--budget 2000] [--repeat 15] [--json FILE]

Everything runs in one process on one open library, round after round in turn, after one unmeasured
round. Deltas are counted and not timed: bytes of what changed after the description of one skill
was edited, in a hundred bytes of the text that was told before in the same budget, in two budgets
in which that description is told. What promises nothing is printed below the figures.

What judging first costs is measured on skills that were all judged before, in a new process for
each question, against the same with judging switched off. The exit code is 1 unless every promise
is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trees
from figures import Figure, Sample, Target, Times, exact, figures_table, ratio, times_table

import metier
from metier.disclose.prompt import PromptOptions, disclose, order_for_prompt
from metier.settings.model import PROMPT_ORDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.disclose.prompt import Disclosure
    from metier.library import Library
    from metier.model import Card

PLENTY = 10_000_000
"""Tokens in which everything fits."""
JOIN = "joining the names"
TASK = "convert the columns of a table and render a chart of them"
AT_MOST = Target("at most", 20)
ONE_PERCENT = Target("under", 1, unit="%")
JUDGED = Target("at most", 1.2)
SHARES, WHOLE = "names and shares of descriptions", "everything fits"


def subjects(library: Library, budget: int) -> dict[str, Callable[[], object]]:
    """Name everything that is timed."""
    before = library.catalogue(budget)
    return {
        JOIN: lambda: "\n".join(card.name for card in library.skills()),
        f"catalogue, {budget:,} tokens": lambda: library.catalogue(budget),
        "the same in Markdown": lambda: library.catalogue(budget, format="markdown"),
        "the same in JSON": lambda: library.catalogue(budget, format="json"),
        "the same after an earlier one": lambda: library.catalogue(budget, previous=before),
        "the same for a task": lambda: library.catalogue(budget, task=TASK),
        SHARES: lambda: library.catalogue(shared_budget(library.skills())),
        WHOLE: lambda: library.catalogue(PLENTY),
    }


# --- what judging first costs

OFF = """
import metier.trust.judge
metier.trust.judge.judge_listed = lambda context, *_, **__: context.catalogue.contents().cards
"""
"""Has nothing looked at before a model is told: what is known of each skill is taken as it is."""
SERVER_OFF = """
import metier.mcp.catalogue
metier.mcp.catalogue.ServedCatalogue._judge_new = lambda _self: None
"""
COMMAND = "from metier.cli.main import main; main([*{words!r}, '--root', {root!r}])"
SERVER = """
import metier
from metier.mcp.catalogue import ServedCatalogue
from metier.mcp.tools import SkillTools
with metier.open(roots=[{root!r}]) as library:
    served = ServedCatalogue(library, "stdio")
    SkillTools(served).call("search_skills", {{"query": {task!r}}}, None)
    served.settle()
"""


def questions(root: str) -> dict[str, tuple[str, str]]:
    """Give each question as a program, with what switches judging off in it."""
    words = {"prompt": ["prompt"], "find": ["find", TASK]}
    asked = {name: (COMMAND.format(words=one, root=root), OFF) for name, one in words.items()}
    return {**asked, "MCP search": (SERVER.format(root=root, task=TASK), OFF + SERVER_OFF)}


def judged_times(root: str, home: str, size: int, repeat: int) -> Times:
    """Time each question in new processes, with judging and without, in turn, after one unmeasured
    round has judged everything.
    """
    times: Times = {}
    for number in range(repeat + 1):
        for name, (program, off) in questions(root).items():
            for how, code in ((name, program), (f"{name}, judging off", off + program)):
                sample = _run(code, home)
                if number:
                    times.setdefault((size, how), []).append(sample)
    return times


def _run(code: str, home: str) -> Sample:
    env = {**os.environ, "METIER_HOME": home, "METIER_BACKGROUND": "off"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)
    took = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Sample(took, spent)


def judged_figures(times: Times, size: int) -> list[Figure]:
    """Say what judging first costs where everything was judged before, in seconds of processor:
    what else the machine does would hide it.
    """

    def spent(name: str) -> list[Sample]:
        return [Sample(one.cpu, one.cpu) for one in times[size, name]]

    return [
        ratio(
            f"{name}, {size:,} judged / judging off, processor",
            spent(name),
            spent(f"{name}, judging off"),
            JUDGED,
        )
        for name in questions("")
    ]


def shared_budget(cards: list[Card]) -> int:
    """Give a budget in which all names fit, and half of the descriptions."""
    return (
        sum(len(card.name) + len(card.path) + 70 + len(card.description) // 2 for card in cards)
        // 4
    )


def timed(run: Callable[[], object]) -> Sample:
    """Run something once."""
    cpu, began = time.process_time(), time.perf_counter()
    run()
    return Sample(time.perf_counter() - began, time.process_time() - cpu)


def measured(library: Library, size: int, budget: int, repeat: int) -> Times:
    """Time all subjects in turn, so that a slow spell of the machine touches them alike."""
    found = subjects(library, budget)
    times: Times = {(size, name): [] for name in found}
    for number in range(repeat + 1):
        for name, run in found.items():
            sample = timed(run)
            if number:
                times[size, name].append(sample)
    return times


def deltas(cards: list[Card]) -> dict[str, float | None]:
    """Edit a description that is told; give the bytes of each delta in a hundred bytes of the text
    told before.

    An empty delta measures nothing: the edit was no news there.
    """
    found: dict[str, float | None] = {}
    for what, budget in ((SHARES, shared_budget(cards)), (WHOLE, PLENTY)):
        delta, text = edited(cards, budget)
        found[what] = 100 * delta / text if delta else None
    return found


def edited(cards: list[Card], budget: int) -> tuple[int, int]:
    """Put words before the description of a skill that is in the text: the bytes of the delta, and
    of the text before.
    """
    before = _told(cards, budget)
    card = _listed(cards, before)
    changed = card._replace(description=f"Another purpose altogether. {card.description}")
    return len(_told(_with(cards, changed), budget, before).delta.encode()), len(
        before.text.encode()
    )


def unpromised(cards: list[Card], budget: int) -> str:
    """Say what changes cost where names alone are told."""
    delta, text = edited(cards, budget)
    told = (
        f"a listed skill's description edited, {budget:,} tokens: a delta of {delta:,} bytes, "
        f"with a text of {text:,}"
    )
    return f"{told}\n{renamed(cards, budget)}"


def renamed(cards: list[Card], budget: int) -> str:
    """Rename a skill that is in the text: what the delta costs of that text, and how much of the
    text stays.
    """
    before = _told(cards, budget)
    after = _told(
        _with(cards, _listed(cards, before)._replace(name="another-name-altogether")),
        budget,
        before,
    )
    size = len(before.text.encode())
    same = (one == other for one, other in zip(before.text, after.text, strict=False))
    kept = len(before.text[: sum(takewhile(bool, same))].encode())
    delta = len(after.delta.encode())
    return (
        f"a listed skill renamed, {budget:,} tokens: a delta of {delta:,} bytes; of the text's "
        f"{size:,}, {kept:,} stay"
    )


def _listed(cards: list[Card], told: Disclosure) -> Card:
    """Give the skill in the middle of a text."""
    path = told.rows[len(told.rows) // 2][1]
    return next(card for card in cards if card.path == path)


def _with(cards: list[Card], changed: Card) -> list[Card]:
    return [changed if card.path == changed.path else card for card in cards]


def _told(cards: list[Card], budget: int, previous: Disclosure | None = None) -> Disclosure:
    return disclose(order_for_prompt(cards, PROMPT_ORDER), PromptOptions(budget), previous)


def figures(times: Times, size: int, changed: dict[str, float | None]) -> list[Figure]:
    """Return every figure that has a promise."""
    name = next(name for _size, name in times if name != JOIN)
    timed = ratio(f"{name} / {JOIN}", times[size, name], times[size, JOIN], AT_MOST)
    counted = [
        exact(f"delta after one edit / text, {what}", value, ONE_PERCENT)
        for what, value in changed.items()
    ]
    return [timed, *counted]


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument(
        "--judged", type=int, default=1_000, help="skills that were judged before (1000)"
    )
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--repeat", type=int, default=15, help="rounds (15)")
    parser.add_argument(
        "--trees", type=Path, default=trees.DEFAULT_TREES, help="where generated libraries are kept"
    )
    parser.add_argument("--json", type=Path, help="also write everything measured to this file")
    return parser.parse_args()


def main() -> int:
    """Measure, then print the times and the figures; 1 unless every promise is kept."""
    chosen = options()
    tree = trees.make(chosen.size, chosen.trees)
    with (
        tempfile.TemporaryDirectory(prefix="metier-bench-") as home,
        metier.open(roots=[str(tree.root)], home=home) as library,
    ):
        times = measured(library, chosen.size, chosen.budget, chosen.repeat)
        cards = [card for card in library.skills() if card.state == "visible"]
    few = trees.make(chosen.judged, chosen.trees)
    with tempfile.TemporaryDirectory(prefix="metier-bench-") as home:
        known = judged_times(str(few.root), home, chosen.judged, chosen.repeat)
    answer = figures(times, chosen.size, deltas(cards)) + judged_figures(known, chosen.judged)
    times |= known
    print(
        f"{times_table(times)}\n\n{figures_table(answer)}\n\nwithout a "
        f"promise:\n{unpromised(cards, chosen.budget)}"
    )
    if chosen.json:
        content: dict[str, Any] = {
            "figures": [{**figure._asdict(), "target": str(figure.target)} for figure in answer]
        }
        chosen.json.write_text(
            json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    return 0 if all(figure.verdict == "met" for figure in answer) else 1


if __name__ == "__main__":
    sys.exit(main())
