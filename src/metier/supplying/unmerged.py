"""What is left to settle on the desk of a merge: markers that still stand, and files that nobody has chosen from yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.supply.merge.diff3 import MARK
from metier.supply.merge.lines import cut, is_text
from metier.supply.merge.trees import merge_trees
from metier.supplying.combining import LABELS, asides

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.supplying.combining import Three
    from metier.supplying.versions import Version

_OURS, _THEIRS = b"<" * MARK + f" {LABELS[0]}".encode(), b">" * MARK + f" {LABELS[2]}".encode()
_MIDDLE = b"=" * MARK


def unmerged(desk: Version, three: Three) -> list[tuple[str, int]]:
    """Give each place that is not settled: the file and the line of the marker, or no line for a file still to be chosen."""
    base, ours, theirs = (version.files for version in three)
    tree = merge_trees(base, ours, theirs, lambda side, path: three.of(side).read(path), labels=LABELS)
    left = [(name, 0) for name, _taken in asides(tree, three) if name in desk.files]
    conflicts = {one.path for one in tree.conflicts}
    known = {file.sha256 for side in (three.ours, three.theirs) for file in side.files.values()}
    for path, file in desk.files.items():
        if file.sha256 not in known and file.mode != "link":
            markers = {_OURS, _THEIRS, _MIDDLE} if path in conflicts else {_OURS, _THEIRS}
            left += [(path, line) for line in _lines(desk, path, markers - _own(three, path))]
    return sorted(left)


def _lines(version: Version, path: str, wanted: set[bytes]) -> Iterator[int]:
    data = version.read(path)
    for number, line in enumerate(cut(data) if is_text(data) else (), 1):
        if line.rstrip(b"\r\n") in wanted:
            yield number


def _own(three: Three, path: str) -> set[bytes]:
    """Give what a file of either side has in it that only looks like a marker: a text about merging, a heading underlined."""
    sides = [side.read(path) for side in (three.ours, three.theirs) if path in side.files]
    return {line.rstrip(b"\r\n") for data in sides if is_text(data) for line in cut(data)}
