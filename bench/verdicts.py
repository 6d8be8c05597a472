r"""Measure verdicts on material that took no part in making them.

    python bench/verdicts.py --pool pool.jsonl --corpus CORPUS --makers MAKERS \
        --written PAIRS... [--rules] [--json FILE]

Skills of makers by name; the part of the pool, the sources of the labelled corpus and the writers
that are kept apart (`bench/reader_data.py` names them); each written passage inside an honest skill
of the pool, and its twin in the same place; injected skills of the corpus beside the clean ones that
they were made from, with a note of which taught the model. Makers are kept apart only where MAKERS
holds others than those that rules and weights were made with. `--rules` measures without the model.
Shares come with their 95% interval (Wilson).
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import random
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import corpus
import reader_data

from metier.find.io.embedding_model import OnnxReader
from metier.scan.engine import scan
from metier.scan.model import ScanEntry, ScanTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

FENCES = {"shell": "bash", "python": "python", "js": "javascript", "powershell": "powershell"}
RATES = (0.01, 0.02, 0.04, 0.05, 0.10)
KEPT_PARTS = 2
"""One in so many skills of the pool's kept part is measured."""
MIN_ROW = 8
"""Skills of a kind below which no row is worth printing."""
_READER = OnnxReader()


class Task(NamedTuple):
    """A skill to judge: a folder, or the text of its SKILL.md."""

    part: str
    group: str
    ident: str
    folder: str = ""
    text: str = ""


class Judged(NamedTuple):
    """What was said of it."""

    part: str
    group: str
    ident: str
    level: str
    score: int


def judge(task: Task, *, rules: bool) -> Judged:
    """Judge one skill."""
    if task.folder:
        tree = corpus.tree_of(Path(task.folder))
    else:
        data = task.text.encode("utf-8", "replace")
        tree = ScanTree(task.ident, (ScanEntry("SKILL.md", data, len(data)),))
    found = scan(tree, reader=None if rules else _READER)
    return Judged(task.part, task.group, task.ident, found.level, found.score)


def _makers(folder: Path) -> Iterator[Task]:
    for maker in sorted(folder.iterdir()):
        for found in sorted(maker.rglob("SKILL.md")):
            yield Task("makers", maker.name, str(found.parent), folder=str(found.parent))


def _labelled(base: Path) -> Iterator[Task]:
    with (base / "labels.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["source"] in reader_data.KEPT_SOURCES and (base / row["path"]).exists():
                group = "|".join((row["label"], row["grade"], row["source"], row["category"]))
                yield Task("labelled", group, row["cluster"], folder=str(base / row["path"]))


def twins_of(labelled: Sequence[corpus.Row]) -> Iterator[tuple[corpus.Row, corpus.Row]]:
    """Give each injected skill with the clean one that it was made from: near-duplicates of which
    one is malicious and the other is not.
    """
    groups: dict[str, list[corpus.Row]] = collections.defaultdict(list)
    for row in labelled:
        groups[row.cluster].append(row)
    for group in groups.values():
        clean = next((row for row in group if not row.malicious), None)
        if clean is not None:
            yield from ((row, clean) for row in group if row.malicious)


def _twins(base: Path) -> Iterator[Task]:
    there = [row for row in corpus.rows(base) if (base / row.path).exists()]
    for number, (bad, good) in enumerate(twins_of(there)):
        group = f"{bad.source}|{good.source}"
        yield Task("twin-bad", group, str(number), folder=str(base / bad.path))
        yield Task("twin-good", group, str(number), folder=str(base / good.path))


def _pool(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        lines = (line for number, line in enumerate(file) if reader_data.is_apart(number))
        return [json.loads(line) for line in lines]


def _written(pairs: Iterable[reader_data.Pair], hosts: list[dict[str, str]]) -> Iterator[Task]:
    chance = random.Random(20)  # noqa: S311 - a shuffle, not a secret
    for number, pair in enumerate(pairs):
        row = chance.choice(hosts)
        whole = reader_data.document(row, row["body"])
        at = reader_data.place_in(row, pair.form, chance)
        now = reader_data.filled(pair, chance)
        group = f"{pair.writer}|{pair.lang}|{pair.form}|{pair.kind}"
        for name, passage in (("bad", now.bad), ("good", now.good)):
            if passage:
                text = reader_data.put_into(whole, _fenced(passage, pair.form), at)[0]
                yield Task(f"written-{name}", group, str(number), text=text)


def _fenced(passage: str, form: str) -> str:
    if "```" in passage or form in reader_data.PROSE_FORMS:
        return passage
    start = passage.lstrip()
    lang = FENCES.get(form, "")
    if not lang:
        lang = "json" if start.startswith(("{", "[", '"')) else "yaml"
        lang = "dockerfile" if start.startswith(("FROM ", "RUN ")) else lang
    return f"```{lang}\n{passage}\n```"


def share(found: Sequence[bool]) -> str:
    """Give a share with its interval."""
    count = len(found)
    if not count:
        return "none"
    part, z = sum(found) / count, 1.96
    middle = (part + z * z / (2 * count)) / (1 + z * z / count)
    reach = z * sqrt(part * (1 - part) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return f"{part:.1%} ({low:.1%} to {high:.1%}) of {count}"


def is_flagged(one: Judged) -> bool:
    """Tell whether somebody would look."""
    return one.level != "safe"


def is_dangerous(one: Judged) -> bool:
    """Tell whether it is called dangerous."""
    return one.level == "dangerous"


def levels(title: str, found: Sequence[Judged]) -> str:
    """Give a row of a table: dangerous, caution, or worse than safe."""
    caution = [one.level == "caution" for one in found]
    dangerous = [is_dangerous(one) for one in found]
    return f"| {title} | {share(dangerous)} | {share(caution)} |"


def by(found: Iterable[Judged], key: Callable[[Judged], str]) -> dict[str, list[Judged]]:
    """Group what was judged."""
    groups = collections.defaultdict(list)
    for one in found:
        groups[key(one)].append(one)
    return dict(sorted(groups.items()))


def tell_labelled(found: list[Judged]) -> Iterator[str]:
    """Tell recall by grade and behaviour, false alarms by source, and the curve of the score."""
    kinds = by(found, lambda one: "|".join(one.group.split("|")[:2]))
    yield "| labelled, sources kept apart | dangerous | caution |\n|---|---|---|"
    yield from (levels(kind.replace("|", " "), part) for kind, part in kinds.items())
    for source, part in by(found, lambda one: "|".join(one.group.split("|")[:3])).items():
        yield levels(source.replace("|", " "), part)
    yield "\n| false alarms (A) | recall A | recall A+B |\n|---|---|---|"
    honest = sorted((one.score for one in kinds.get("benign|A", [])), reverse=True)
    for rate in RATES if honest else ():
        least = honest[min(int(len(honest) * rate), len(honest) - 1)] + 1
        a = [one.score >= least for one in kinds.get("malicious|A", [])]
        ab = [*a, *(one.score >= least for one in kinds.get("malicious|B", []))]
        yield f"| {rate:.0%} (score {least}) | {share(a)} | {share(ab)} |"
    yield "\n| behaviour (A and B) | dangerous | caution |\n|---|---|---|"
    bad = [one for one in found if one.group.startswith(("malicious|A", "malicious|B"))]
    for category, part in by(bad, lambda one: one.group.split("|")[3]).items():
        if len(part) >= MIN_ROW:
            yield levels(category[:60], part)


def tell_written(bad: list[Judged], good: list[Judged]) -> Iterator[str]:
    """Tell how passages and their twins are told apart, by writer, language, form and kind."""
    twins = {one.ident: one for one in good}
    yield "\n| written | bad flagged | twin flagged | told apart | bad dangerous | twin dangerous |"
    yield "|---|---|---|---|---|---|"

    def row(title: str, part: list[Judged]) -> str:
        beside = [twins[one.ident] for one in part]
        apart = [
            is_flagged(one) and not is_flagged(twin) for one, twin in zip(part, beside, strict=True)
        ]
        cells = (
            share([is_flagged(one) for one in part]),
            share([is_flagged(one) for one in beside]),
            share(apart),
            share([is_dangerous(one) for one in part]),
            share([is_dangerous(one) for one in beside]),
        )
        return f"| {title} | {' | '.join(cells)} |"

    pairs = [one for one in bad if one.ident in twins]
    for number, name in enumerate(("writer", "language", "form", "kind")):
        for value, part in by(pairs, lambda one, at=number: one.group.split("|")[at]).items():  # type: ignore[misc]
            yield row(f"{name} {value}", part)
    prose = [one for one in pairs if one.group.split("|")[2] in reader_data.PROSE_FORMS]
    english = [one for one in pairs if one.group.split("|")[1] == "en"]
    yield row("prose", prose)
    yield row("code", [one for one in pairs if one not in prose])
    yield row("English", english)
    yield row("all", pairs)


def taught(group: str) -> str:
    """Say which of two twins' sources taught the model."""
    names = [source for source in dict.fromkeys(group.split("|")) if not _is_kept(source)]
    return f"{' and '.join(names)} taught the model" if names else "neither taught the model"


def _is_kept(source: str) -> bool:
    return source in reader_data.KEPT_SOURCES


def tell_twins(bad: list[Judged], good: list[Judged]) -> Iterator[str]:
    """Tell how injected skills fare beside their clean twins. A flip is an injected one that is
    flagged while its twin is not.
    """
    clean = {one.ident: one for one in good}
    yield "\n| injected beside its clean twin | flips | both flagged | flips, dangerous | both |"
    yield "|---|---|---|---|---|"

    def row(title: str, part: list[Judged]) -> str:
        cells = []
        for minded in (is_flagged, is_dangerous):
            found = [(minded(one), minded(clean[one.ident])) for one in part]
            cells += [share([a and not b for a, b in found]), share([a and b for a, b in found])]
        return f"| {title} | {' | '.join(cells)} |"

    for group, part in by(bad, lambda one: one.group).items():
        yield row(f"{group.replace('|', ' beside ')} ({taught(group)})", part)
    kept = [one for one in bad if _is_kept(one.group.split("|")[0])]
    both = [one for one in kept if _is_kept(one.group.split("|")[1])]
    yield row("all whose injected skill taught nothing", kept)
    yield row("all of which neither taught anything", both)
    yield row("all", bad)


def main() -> None:
    """Measure, and tell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("--pool", "--corpus", "--makers"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--written", type=Path, nargs="+", required=True)
    parser.add_argument("--rules", action="store_true", help="without the model")
    parser.add_argument("--json", type=Path)
    told = parser.parse_args()
    hosts = _pool(told.pool)
    pairs = [
        pair
        for path in told.written
        for pair in reader_data.read_pairs(path, kept=True)
        if pair.writer in reader_data.KEPT_WRITERS
    ]
    tasks = [*_makers(told.makers), *_labelled(told.corpus), *_written(pairs, hosts)]
    tasks += _twins(told.corpus)
    tasks += [
        Task("pool", "pool", row["id"], text=reader_data.document(row, row["body"]))
        for row in hosts[::KEPT_PARTS]
    ]
    with ProcessPoolExecutor() as several:
        found = list(several.map(partial(judge, rules=told.rules), tasks, chunksize=16))
    if told.json:
        told.json.write_text(json.dumps(found), encoding="utf-8")
    parts = by(found, lambda one: one.part)
    print("| honest | dangerous | caution |\n|---|---|---|")
    for maker, part in by(parts["makers"], lambda one: one.group).items():
        print(levels(maker, part))
    print(levels("all makers", parts["makers"]))
    print(levels("pool, part kept apart", parts["pool"]), "\n")
    for line in tell_labelled(parts["labelled"]):
        print(line)
    for line in tell_written(parts["written-bad"], parts["written-good"]):
        print(line)
    for line in tell_twins(parts.get("twin-bad", []), parts.get("twin-good", [])):
        print(line)


if __name__ == "__main__":
    main()
