"""Where to cut two sequences in two, so that each half can be compared by itself: a path that changes little goes through there.

The search is Myers' O(ND) from both ends at once, in linear space. Its shortcuts are those of git, in the same places and with the
same numbers, because two tools that merge the same three files are expected to agree: a good run found late is taken as it is, and
after so many rounds the furthest point reached is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.supply.merge.work import Work

RUN = 20
"""How many equal lines in a row make a run that is worth a shortcut."""
LATE = 256
"""After so many rounds, a good run is taken without asking whether there is a shorter path."""
WORTH = 4
"""How much further than the number of rounds a point must have come to be worth it."""
_FAR = 1 << 62


class Box(NamedTuple):
    """A part of both sequences: from, and up to but without."""

    from1: int
    to1: int
    from2: int
    to2: int


class Split(NamedTuple):
    """A point in a box, and whether the part before it, and the one after it, are to be searched without shortcuts."""

    at1: int
    at2: int
    exact_before: bool = True
    exact_after: bool = True


class _Front:
    """How far one end has come on each diagonal; only those from `low` to `high` have been reached."""

    __slots__ = ("filler", "high", "low", "middle", "reach", "zero")

    def __init__(self, size: int, zero: int, filler: int) -> None:
        self.reach = [0] * size
        self.zero = zero
        self.filler = filler
        self.low = self.high = self.middle = 0

    def begin(self, diagonal: int, at: int) -> None:
        self.low = self.high = self.middle = diagonal
        self.reach[self.zero + diagonal] = at

    def widen(self, least: int, most: int) -> None:
        """Take in one more diagonal on each side, or one less where the box ends."""
        if self.low > least:
            self.low -= 1
            self.reach[self.zero + self.low - 1] = self.filler
        else:
            self.low += 1
        if self.high < most:
            self.high += 1
            self.reach[self.zero + self.high + 1] = self.filler
        else:
            self.high -= 1


class Splitter:
    """Splits boxes of two sequences of numbers."""

    def __init__(self, one: Sequence[int], other: Sequence[int], work: Work) -> None:
        """Take the sequences, and what the search may cost."""
        self._one, self._other, self._work = one, other, work
        size, zero = len(one) + len(other) + 3, len(other) + 1
        self._ahead, self._back = _Front(size, zero, -1), _Front(size, zero, _FAR)
        self._patience = max(LATE, rough_root(size))

    def split(self, box: Box, *, exact: bool) -> Split | None:
        """Find where to cut a box that neither begins nor ends with a common line; nothing when there is no work left."""
        least, most = box.from1 - box.to2, box.to1 - box.from2
        ahead, back = self._ahead, self._back
        ahead.begin(box.from1 - box.from2, box.from1)
        back.begin(box.to1 - box.to2, box.to1)
        odd = bool((ahead.middle - back.middle) & 1)
        rounds = 0
        while self._work.left > 0:
            rounds += 1
            ahead.widen(least, most)
            met, run = self._forwards(box, meets=odd)
            if met is None:
                back.widen(least, most)
                met, backrun = self._backwards(box, meets=not odd)
                run = max(run, backrun)
            if met is None and not exact:
                met = self._shortcut(box, rounds, run=run > RUN)
            if met is not None:
                return met
        return None

    def _forwards(self, box: Box, *, meets: bool) -> tuple[Split | None, int]:
        """Go one change further from the beginning on every diagonal; give where the ends met, and the longest run."""
        one, other, (_, to1, _, to2) = self._one, self._other, box
        reach, zero, back = self._ahead.reach, self._ahead.zero, self._back
        longest = spent = 0
        met = None
        for diagonal in range(self._ahead.high, self._ahead.low - 1, -2):
            place = zero + diagonal
            before, after = reach[place - 1], reach[place + 1]
            start = at1 = before + 1 if before >= after else after
            at2 = at1 - diagonal
            while at1 < to1 and at2 < to2 and one[at1] == other[at2]:
                at1 += 1
                at2 += 1
            reach[place] = at1
            spent += 1 + at1 - start
            longest = max(longest, at1 - start)
            if meets and back.low <= diagonal <= back.high and back.reach[place] <= at1:
                met = Split(at1, at2)
                break
        self._work.spend(spent)
        return met, longest

    def _backwards(self, box: Box, *, meets: bool) -> tuple[Split | None, int]:
        """Do the same from the end."""
        one, other, (from1, _, from2, _) = self._one, self._other, box
        reach, zero, ahead = self._back.reach, self._back.zero, self._ahead
        longest = spent = 0
        met = None
        for diagonal in range(self._back.high, self._back.low - 1, -2):
            place = zero + diagonal
            before, after = reach[place - 1], reach[place + 1]
            start = at1 = before if before < after else after - 1
            at2 = at1 - diagonal
            while at1 > from1 and at2 > from2 and one[at1 - 1] == other[at2 - 1]:
                at1 -= 1
                at2 -= 1
            reach[place] = at1
            spent += 1 + start - at1
            longest = max(longest, start - at1)
            if meets and ahead.low <= diagonal <= ahead.high and at1 <= ahead.reach[place]:
                met = Split(at1, at2)
                break
        self._work.spend(spent)
        return met, longest

    def _shortcut(self, box: Box, rounds: int, *, run: bool) -> Split | None:
        met = None
        if run and rounds > LATE:
            met = self._good_ahead(box, WORTH * rounds) or self._good_back(box, WORTH * rounds)
        return self._furthest(box) if met is None and rounds >= self._patience else met

    def _good_ahead(self, box: Box, worth: int) -> Split | None:
        """Find the point furthest from the beginning that ends a good run and has come far for what it cost."""
        front, best, found = self._ahead, worth, None
        for diagonal in range(front.high, front.low - 1, -2):
            at1 = front.reach[front.zero + diagonal]
            at2 = at1 - diagonal
            value = (at1 - box.from1) + (at2 - box.from2) - abs(diagonal - front.middle)
            inside = box.from1 + RUN <= at1 < box.to1 and box.from2 + RUN <= at2 < box.to2
            if value > best and inside and self._one[at1 - RUN : at1] == self._other[at2 - RUN : at2]:
                best, found = value, Split(at1, at2, exact_after=False)
        return found

    def _good_back(self, box: Box, worth: int) -> Split | None:
        front, best, found = self._back, worth, None
        for diagonal in range(front.high, front.low - 1, -2):
            at1 = front.reach[front.zero + diagonal]
            at2 = at1 - diagonal
            value = (box.to1 - at1) + (box.to2 - at2) - abs(diagonal - front.middle)
            inside = box.from1 < at1 <= box.to1 - RUN and box.from2 < at2 <= box.to2 - RUN
            if value > best and inside and self._one[at1 : at1 + RUN] == self._other[at2 : at2 + RUN]:
                best, found = value, Split(at1, at2, exact_before=False)
        return found

    def _furthest(self, box: Box) -> Split:
        """Give the point that came furthest from its end, of either."""
        first, first1 = -1, -1
        for diagonal in range(self._ahead.high, self._ahead.low - 1, -2):
            at1 = min(self._ahead.reach[self._ahead.zero + diagonal], box.to1, box.to2 + diagonal)
            if 2 * at1 - diagonal > first:
                first, first1 = 2 * at1 - diagonal, at1
        last = last1 = _FAR
        for diagonal in range(self._back.high, self._back.low - 1, -2):
            at1 = max(self._back.reach[self._back.zero + diagonal], box.from1, box.from2 + diagonal)
            if 2 * at1 - diagonal < last:
                last, last1 = 2 * at1 - diagonal, at1
        if box.to1 + box.to2 - last < first - box.from1 - box.from2:
            return Split(first1, first - first1, exact_after=False)
        return Split(last1, last - last1, exact_before=False)


def rough_root(number: int) -> int:
    """Give a power of two near the square root, never below it."""
    return 1 << ((number.bit_length() + 1) // 2)
