"""What changed between two files: the runs of lines that differ. The answer is the one git gives, to the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supply.merge.slide import slide
from metier.supply.merge.split import Box, Splitter, rough_root
from metier.supply.merge.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMON = 1024
"""A line that the other file has so often, or as often as the root of its length, says little about where things went."""
AROUND = 100
"""How far around such a line its neighbours are looked at."""
LOST = 4
"""It is left out when, for each such line there, more than so many minus one have no match at all."""


class Change(NamedTuple):
    """A run of lines of one file that took the place of a run of lines of another."""

    at1: int
    count1: int
    at2: int
    count2: int


def changes(one: Sequence[int], other: Sequence[int], work: Work | None = None) -> list[Change]:
    """Compare two files whose lines are numbers, the same number for the same line."""
    work = Work() if work is None else work
    changed1, changed2 = bytearray(len(one)), bytearray(len(other))
    box = _shrunk(one, other, Box(0, len(one), 0, len(other)))
    kept1 = _matchable(one, _counted(other), range(box.from1, box.to1), changed1)
    kept2 = _matchable(other, _counted(one), range(box.from2, box.to2), changed2)
    _compare([one[at] for at in kept1], [other[at] for at in kept2], _Marks(kept1, changed1, kept2, changed2), work)
    slide(one, changed1, other, changed2, work)
    slide(other, changed2, one, changed1, work)
    return _script(changed1, changed2)


class _Marks(NamedTuple):
    """Where each line that is compared stands in its file, and which lines of the file are changed."""

    kept1: list[int]
    changed1: bytearray
    kept2: list[int]
    changed2: bytearray

    def mark(self, box: Box) -> None:
        for at in self.kept1[box.from1 : box.to1]:
            self.changed1[at] = 1
        for at in self.kept2[box.from2 : box.to2]:
            self.changed2[at] = 1


def _compare(one: list[int], other: list[int], marks: _Marks, work: Work) -> None:
    """Mark what changed, part by part; what there is no work left for is marked whole."""
    splitter = Splitter(one, other, work)
    boxes = [(Box(0, len(one), 0, len(other)), False)]
    while boxes:
        box, exact = boxes.pop()
        box = _shrunk(one, other, box)
        cut = None
        if box.from1 < box.to1 and box.from2 < box.to2:
            cut = splitter.split(box, exact=exact)
        if cut is None:
            marks.mark(box)
            continue
        boxes.append((Box(cut.at1, box.to1, cut.at2, box.to2), cut.exact_after))
        boxes.append((Box(box.from1, cut.at1, box.from2, cut.at2), cut.exact_before))


def _shrunk(one: Sequence[int], other: Sequence[int], box: Box) -> Box:
    """Leave out the lines that a box begins and ends with on both sides."""
    from1, to1, from2, to2 = box
    while from1 < to1 and from2 < to2 and one[from1] == other[from2]:
        from1 += 1
        from2 += 1
    while from1 < to1 and from2 < to2 and one[to1 - 1] == other[to2 - 1]:
        to1 -= 1
        to2 -= 1
    return Box(from1, to1, from2, to2)


def _counted(lines: Sequence[int]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for line in lines:
        counts[line] = counts.get(line, 0) + 1
    return counts


def _matchable(lines: Sequence[int], counts: dict[int, int], part: range, changed: bytearray) -> list[int]:
    """Give the lines of a part that can be matched at all; those that cannot are marked as changed at once."""
    limit = min(rough_root(len(lines)), COMMON)
    # 0: the other file has no such line. 1: it has some. 2: it has very many.
    kinds = bytes(0 if (count := counts.get(lines[at], 0)) == 0 else 2 if count >= limit else 1 for at in part)
    kept = []
    for at, kind in zip(part, kinds, strict=True):
        if kind == 1 or (kind == 2 and not _lost(kinds, at - part.start)):
            kept.append(at)
        else:
            changed[at] = 1
    return kept


def _lost(kinds: bytes, at: int) -> bool:
    """Tell whether a line that is everywhere stands among lines that are nowhere."""
    nowhere, everywhere = _run(kinds[max(0, at - AROUND) : at][::-1])
    if not nowhere:
        return False
    nowhere_after, everywhere_after = _run(kinds[at + 1 : at + 1 + AROUND])
    if not nowhere_after:
        return False
    many = 2 + everywhere + everywhere_after
    return many * LOST < many + nowhere + nowhere_after


def _run(kinds: bytes) -> tuple[int, int]:
    stop = kinds.find(1)
    run = kinds if stop < 0 else kinds[:stop]
    return run.count(0), run.count(2)


def _script(changed1: bytearray, changed2: bytearray) -> list[Change]:
    found: list[Change] = []
    at1 = at2 = 0
    while True:
        next1, next2 = changed1.find(1, at1), changed2.find(1, at2)
        if next1 < 0 and next2 < 0:
            return found
        # Lines that stayed are as many in one as in the other, so the nearer run says how many to pass over.
        same = min(next1 - at1 if next1 >= 0 else len(changed1), next2 - at2 if next2 >= 0 else len(changed2))
        at1, at2 = at1 + same, at2 + same
        end1, end2 = _end(changed1, at1), _end(changed2, at2)
        found.append(Change(at1, end1 - at1, at2, end2 - at2))
        at1, at2 = end1, end2


def _end(changed: bytearray, at: int) -> int:
    stop = changed.find(0, at)
    return len(changed) if stop < 0 else stop
