"""The labelled corpus: what is in it, and the files of each skill. It is read as data and never
copied.

A corpus is a folder with `labels.csv` (id, source, label, category, path, cluster, campaign, grade)
and the skills it names.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.model import ScanEntry, ScanTree

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def rows(corpus: Path) -> list[Row]:
    """Read the labels."""
    with (corpus / "labels.csv").open(newline="") as file:
        return [
            Row(
                row["id"],
                row["source"],
                row["label"] == "malicious",
                row["category"],
                row["path"],
                row["cluster"],
                row["campaign"],
                row["grade"],
            )
            for row in csv.DictReader(file)
        ]


def tree_of(folder: Path) -> ScanTree:
    """Read a skill's files as bytes."""
    return ScanTree(folder.name, tuple(_pieces(folder)))


def _pieces(folder: Path) -> Iterator[ScanEntry]:
    for base, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = Path(base, name)
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink():
                yield ScanEntry(relative, b"", 0, link=str(path.readlink()))
                continue
            stat = path.stat()
            with path.open("rb") as file:
                yield ScanEntry(
                    relative, file.read(MOST_BYTES), stat.st_size, bool(stat.st_mode & 0o111)
                )
