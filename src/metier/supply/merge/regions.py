"""Where two sides changed the same file: the changes of both, in order, each of one side or, where they touch, of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.supply.merge.changes import Change


class Region(NamedTuple):
    """A run of lines of the base, and the runs that stand for it on either side."""

    side: int
    """1 where ours alone changed it, 2 where theirs did, 0 where both did: a conflict."""
    at0: int
    count0: int
    at1: int
    count1: int
    at2: int
    count2: int


def regions(ours: list[Change], theirs: list[Change], numbers: Sequence[Sequence[int]]) -> list[Region]:
    """Put the changes of both sides in one order; `numbers` are the lines of base, ours and theirs."""
    found: list[Region] = []
    mine = yours = 0
    while mine < len(ours) and yours < len(theirs):
        one, other = ours[mine], theirs[yours]
        end1, end2 = one.at1 + one.count1, other.at1 + other.count1
        if end1 < other.at1:
            _append(found, _of_ours(one, other.at2 - other.at1))
        elif end2 < one.at1:
            _append(found, _of_theirs(other, one.at2 - one.at1))
        elif not _same(one, other, numbers):
            _append(found, _of_both(one, other))
        # Of two that touch, the one that ends first is done with; one that comes wholly before the other always does.
        mine, yours = mine + (end1 <= end2), yours + (end2 <= end1)
    rest2, rest1 = len(numbers[2]) - len(numbers[0]), len(numbers[1]) - len(numbers[0])
    for one in ours[mine:]:
        _append(found, _of_ours(one, rest2))
    for other in theirs[yours:]:
        _append(found, _of_theirs(other, rest1))
    return found


def _of_ours(one: Change, shift: int) -> Region:
    return Region(1, one.at1, one.count1, one.at2, one.count2, one.at1 + shift, one.count1)


def _of_theirs(other: Change, shift: int) -> Region:
    return Region(2, other.at1, other.count1, other.at1 + shift, other.count1, other.at2, other.count2)


def _of_both(one: Change, other: Change) -> Region:
    """Give the region from where the first begins to where the last ends; lines around a change are as many on its other side."""
    start, end = min(one.at1, other.at1), max(one.at1 + one.count1, other.at1 + other.count1)
    at1, at2 = one.at2 - (one.at1 - start), other.at2 - (other.at1 - start)
    to1 = one.at2 + one.count2 + end - (one.at1 + one.count1)
    to2 = other.at2 + other.count2 + end - (other.at1 + other.count1)
    return Region(0, start, end - start, at1, to1 - at1, at2, to2 - at2)


def _same(one: Change, other: Change, numbers: Sequence[Sequence[int]]) -> bool:
    if (one.at1, one.count1, one.count2) != (other.at1, other.count1, other.count2):
        return False
    return numbers[1][one.at2 : one.at2 + one.count2] == numbers[2][other.at2 : other.at2 + other.count2]


def _append(found: list[Region], new: Region) -> None:
    """Add a region, or widen the last where the new one touches it on either side; of two kinds, it becomes a conflict."""
    last = found[-1] if found else None
    if last is None or (new.at1 > last.at1 + last.count1 and new.at2 > last.at2 + last.count2):
        found.append(new)
        return
    found[-1] = Region(
        last.side if last.side == new.side else 0,
        last.at0, new.at0 + new.count0 - last.at0,
        last.at1, new.at1 + new.count1 - last.at1,
        last.at2, new.at2 + new.count2 - last.at2,
    )  # fmt: skip
