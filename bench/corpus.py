"""The labelled corpus: what is in it, and what the scanner sees in each skill. It is read as data and never copied.

A corpus is a folder with `labels.csv` (id, source, label, category, path, cluster, campaign, grade) and the skills it names.
"""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.examine import examine
from metier.scan.passages import Passages, passages
from metier.scan.tree import Piece, Tree
from metier.scan.weigh import PROSE, features

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_BYTES = 1 << 20


class Row(NamedTuple):
    """One labelled skill."""

    id: str
    source: str
    malicious: bool
    category: str
    path: str
    cluster: str
    campaign: str
    grade: str


class Fold(NamedTuple):
    """One source left out: what is tested, and what may be learnt from."""

    source: str
    test: list[int]
    train: list[int]


def rows(corpus: Path) -> list[Row]:
    """Read the labels."""
    with (corpus / "labels.csv").open(newline="") as file:
        return [
            Row(row["id"], row["source"], row["label"] == "malicious", row["category"], row["path"], row["cluster"],
                row["campaign"], row["grade"])
            for row in csv.DictReader(file)
        ]  # fmt: skip


def tree_of(folder: Path) -> Tree:
    """Read a skill's files as bytes."""
    return Tree(folder.name, tuple(_pieces(folder)))


def _pieces(folder: Path) -> Iterator[Piece]:
    for base, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(base, name)
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink():
                yield Piece(relative, b"", 0, link=str(path.readlink()))
                continue
            stat = path.stat()
            with path.open("rb") as file:
                yield Piece(relative, file.read(MOST_BYTES), stat.st_size, bool(stat.st_mode & 0o111))


class Evidence(NamedTuple):
    """What was seen in one skill, before anything is weighed."""

    features: frozenset[str]
    passages: tuple[Passages, ...]
    guards: bool
    seconds: float


def evidence(corpus: Path, row: Row) -> Evidence:
    """Examine one skill."""
    started = time.perf_counter()
    examined = examine(tree_of(corpus / row.path))
    found = frozenset(features(examined.seen))
    spent = time.perf_counter() - started
    pairs = zip(examined.sheets, examined.sentences, strict=True)
    read = tuple(passages(sheet.text.plain, cut) for sheet, cut in pairs if sheet.kind in PROSE)
    return Evidence(found, read, examined.guards, spent)


def folds(labelled: Sequence[Row]) -> list[Fold]:
    """Leave out each source in turn, and with it every near-duplicate and every campaign that it shares with others."""
    found: list[Fold] = []
    for source in sorted({row.source for row in labelled}):
        test = [at for at, row in enumerate(labelled) if row.source == source]
        clusters = {labelled[at].cluster for at in test}
        campaigns = {labelled[at].campaign for at in test if labelled[at].campaign}
        train = [
            at for at, row in enumerate(labelled)
            if row.source != source and row.cluster not in clusters and not (row.malicious and row.campaign in campaigns)
        ]  # fmt: skip
        found.append(Fold(source, test, train))
    return found
