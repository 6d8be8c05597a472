"""Compares two files line by line, and gives the same runs of changed lines as git does.

Lines are compared as small numbers. The search is Myers' O(ND) from both ends at once, in linear
space. Its shortcuts are those of git, in the same places and with the same numbers, because two
tools that merge the same three files are expected to agree: a good run found late is taken as it
is, and after so many rounds the furthest point reached is. Runs then slide to where people expect
them: a run may slide while the line it leaves equals the one it takes in.

How much comparing may cost is counted in steps and not in seconds: the same input gives the same
answer on any machine.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


MAX_MERGE_STEPS = 12_000_000
"""What one merge may cost, all its files together: a few seconds."""


class WorkBudget:
    """What is left to spend. Who finds nothing left gives the plain answer: correct, but not the
    smallest.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_MERGE_STEPS) -> None:
        """Begin with so many steps."""
        self.left = left

    def spend(self, steps: int) -> bool:
        """Take steps off; tell whether there were any left."""
        self.left -= steps
        return self.left > 0


# --- files as lines, lines as numbers

MAX_TEXT_LINES = 200_000
MAX_TEXT_BYTES = 16 * 1024 * 1024
"""What is larger than either is not compared line by line: it is merged as a binary file is."""


def is_text(data: bytes) -> bool:
    """Tell whether a file can be merged line by line: it holds no NUL, and is of a size that a
    person might edit.
    """
    return len(data) <= MAX_TEXT_BYTES and b"\0" not in data and data.count(b"\n") < MAX_TEXT_LINES


def split_lines(data: bytes) -> list[bytes]:
    """Cut after each line feed and nowhere else; each line keeps its ending, and the last may have
    none.
    """
    pieces = data.split(b"\n")
    last = pieces.pop()
    lines = [piece + b"\n" for piece in pieces]
    return [*lines, last] if last else lines


def number_lines(*files: list[bytes]) -> list[list[int]]:
    """Give each file as a list of numbers, the same number for the same line."""
    known: dict[bytes, int] = {}
    return [[known.setdefault(line, len(known)) for line in lines] for lines in files]


# --- splitting

GOOD_RUN_LINES = 20
"""How many equal lines in a row make a run that is worth a shortcut."""
LATE_ROUNDS = 256
"""After so many rounds, a good run is taken without asking whether there is a shorter path."""
WORTH_FACTOR = 4
"""How much further than the number of rounds a point must have come to be worth it."""


class Box(NamedTuple):
    """A part of both sequences: from, and up to but without."""

    from1: int
    to1: int
    from2: int
    to2: int


class SplitPoint(NamedTuple):
    """A point in a box, and whether the part before it, and the one after it, are to be searched
    without shortcuts.
    """

    at1: int
    at2: int
    exact_before: bool = True
    exact_after: bool = True


class _Front:
    """How far one end has come on each diagonal; only those from `low` to `high` have been
    reached.

    The end that comes from `behind` sees the sequences and the box reversed, so that both ends go
    forwards by the same rules.
    """

    __slots__ = ("behind", "box", "high", "low", "middle", "one", "other", "reach", "zero")

    def __init__(self, one: Sequence[int], other: Sequence[int], *, behind: bool) -> None:
        self.behind = behind
        self.one, self.other = (one[::-1], other[::-1]) if behind else (one, other)
        self.reach = [0] * (len(one) + len(other) + 3)
        self.zero = len(other) + 1
        self.low = self.high = self.middle = 0
        self.box = Box(0, 0, 0, 0)

    def begin(self, box: Box) -> None:
        if self.behind:
            end1 = len(self.one)
            end2 = len(self.other)
            box = Box(end1 - box.to1, end1 - box.from1, end2 - box.to2, end2 - box.from2)
        self.box = box
        self.low = self.high = self.middle = box.from1 - box.from2
        self.reach[self.zero + self.middle] = box.from1

    def widen(self) -> None:
        """Take in one more diagonal on each side, or one less where the box ends."""
        if self.low > self.box.from1 - self.box.to2:
            self.low -= 1
            self.reach[self.zero + self.low - 1] = -1
        else:
            self.low += 1
        if self.high < self.box.to1 - self.box.from2:
            self.high += 1
            self.reach[self.zero + self.high + 1] = -1
        else:
            self.high -= 1

    def advance(
        self, facing: _Front, work: WorkBudget, *, meets: bool
    ) -> tuple[SplitPoint | None, int]:
        """Go one change further on every diagonal; give where the ends met, and the longest run."""
        one, other, (_, to1, _, to2) = self.one, self.other, self.box
        reach = self.reach
        zero = self.zero
        end1 = len(one)
        shift = len(one) - len(other)
        longest = spent = 0
        met = None
        for diagonal in self._diagonals():
            place = zero + diagonal
            before = reach[place - 1]
            after = reach[place + 1]
            start = at1 = before + 1 if before >= after else after
            at2 = at1 - diagonal
            while at1 < to1 and at2 < to2 and one[at1] == other[at2]:
                at1 += 1
                at2 += 1
            reach[place] = at1
            spent += 1 + at1 - start
            longest = max(longest, at1 - start)
            opposite = shift - diagonal
            if (
                meets
                and facing.low <= opposite <= facing.high
                and facing.reach[zero + opposite] + at1 >= end1
            ):
                met = self._point(at1, at2)
                break
        work.spend(spent)
        return met, longest

    def good_point(self, worth: int) -> SplitPoint | None:
        """Find the point furthest from this end that ends a good run and has come far for what it
        cost.
        """
        (from1, to1, from2, to2), best, found = self.box, worth, None
        for diagonal in self._diagonals():
            at1 = self.reach[self.zero + diagonal]
            at2 = at1 - diagonal
            value = (at1 - from1) + (at2 - from2) - abs(diagonal - self.middle)
            if (
                value > best
                and from1 + GOOD_RUN_LINES <= at1 < to1
                and from2 + GOOD_RUN_LINES <= at2 < to2
                and self.one[at1 - GOOD_RUN_LINES : at1] == self.other[at2 - GOOD_RUN_LINES : at2]
            ):
                best = value
                found = self._point(at1, at2, exact=False)
        return found

    def furthest_point(self) -> tuple[int, SplitPoint]:
        """Give how far this end has come at most, and where."""
        (from1, to1, from2, to2), best, best1 = self.box, -1, -1
        for diagonal in self._diagonals():
            at1 = min(self.reach[self.zero + diagonal], to1, to2 + diagonal)
            if 2 * at1 - diagonal > best:
                best = 2 * at1 - diagonal
                best1 = at1
        return best - from1 - from2, self._point(best1, best - best1, exact=False)

    def _diagonals(self) -> range:
        if self.behind:
            return range(self.low, self.high + 1, 2)
        return range(self.high, self.low - 1, -2)

    def _point(self, at1: int, at2: int, *, exact: bool = True) -> SplitPoint:
        """Give a point as the sequences are; `exact` is about what lies ahead of this end."""
        if self.behind:
            return SplitPoint(len(self.one) - at1, len(self.other) - at2, exact_before=exact)
        return SplitPoint(at1, at2, exact_after=exact)


class Splitter:
    """Splits boxes of two sequences of numbers."""

    def __init__(self, one: Sequence[int], other: Sequence[int], work: WorkBudget) -> None:
        """Take the sequences, and what the search may cost."""
        self._work = work
        self._ahead, self._back = (_Front(one, other, behind=behind) for behind in (False, True))
        self._patience = max(LATE_ROUNDS, rough_root(len(one) + len(other) + 3))

    def split(self, box: Box, *, exact: bool) -> SplitPoint | None:
        """Find where to cut a box that neither begins nor ends with a common line; nothing when
        there is no work left.
        """
        ahead = self._ahead
        back = self._back
        ahead.begin(box)
        back.begin(box)
        odd = bool(sum(box) & 1)
        rounds = 0
        while self._work.left > 0:
            rounds += 1
            longest = 0
            for front, facing, meets in ((ahead, back, odd), (back, ahead, not odd)):
                front.widen()
                met, run = front.advance(facing, self._work, meets=meets)
                if met is not None:
                    return met
                longest = max(longest, run)
            if not exact:
                met = self._shortcut(rounds, run=longest > GOOD_RUN_LINES)
                if met is not None:
                    return met
        return None

    def _shortcut(self, rounds: int, *, run: bool) -> SplitPoint | None:
        ahead = self._ahead
        back = self._back
        worth = WORTH_FACTOR * rounds
        if run and rounds > LATE_ROUNDS:
            found = ahead.good_point(worth) or back.good_point(worth)
            if found is not None:
                return found
        if rounds < self._patience:
            return None
        first = ahead.furthest_point()
        last = back.furthest_point()
        return first[1] if last[0] < first[0] else last[1]


def rough_root(number: int) -> int:
    """Give a power of two near the square root, never below it."""
    return 1 << ((number.bit_length() + 1) // 2)


# --- sliding


class _Groups:
    """One file's changed lines as runs, with a finger on one. A run may be empty: there is one
    before every line that stayed.
    """

    __slots__ = ("changed", "end", "lines", "start")

    def __init__(self, lines: Sequence[int], changed: bytearray) -> None:
        self.lines = lines
        self.changed = changed
        self.start = self.end = 0
        self._grow_down()

    @property
    def empty(self) -> bool:
        return self.start == self.end

    def forth(self) -> bool:
        """Go to the next run; false at the last."""
        if self.end == len(self.lines):
            return False
        self.start = self.end = self.end + 1
        self._grow_down()
        return True

    def back(self) -> bool:
        """Go to the run before; false at the first."""
        if self.start == 0:
            return False
        self.start = self.end = self.start - 1
        self._grow_up()
        return True

    def slide_down(self) -> bool:
        """Move the run one line down, and swallow a run it then touches; false when it cannot
        move.
        """
        if self.end == len(self.lines) or self.lines[self.start] != self.lines[self.end]:
            return False
        self.changed[self.start], self.changed[self.end] = 0, 1
        self.start += 1
        self.end += 1
        self._grow_down()
        return True

    def slide_up(self) -> bool:
        """Move the run one line up, and swallow a run it then touches; false when it cannot
        move.
        """
        if self.start == 0 or self.lines[self.start - 1] != self.lines[self.end - 1]:
            return False
        self.start -= 1
        self.end -= 1
        self.changed[self.start], self.changed[self.end] = 1, 0
        self._grow_up()
        return True

    def _grow_down(self) -> None:
        stop = self.changed.find(0, self.end)
        self.end = len(self.lines) if stop < 0 else stop

    def _grow_up(self) -> None:
        self.start = self.changed.rfind(0, 0, self.start) + 1


def slide(
    lines: Sequence[int],
    changed: bytearray,
    others: Sequence[int],
    other_changed: bytearray,
    work: WorkBudget,
) -> None:
    """Slide each run of a file down as far as it goes, then back up to the last place where the
    other file has a run too.
    """
    here = _Groups(lines, changed)
    there = _Groups(others, other_changed)
    while True:
        if not here.empty:
            _settle(here, there, work)
        if not here.forth():
            return
        there.forth()


def _settle(here: _Groups, there: _Groups, work: WorkBudget) -> None:
    size = -1
    movable = False
    meets = False
    while size != here.end - here.start:
        size = here.end - here.start
        while work.left > 0 and here.slide_up():
            there.back()
            work.spend(1)
        highest = here.end
        meets = not there.empty
        while work.left > 0 and here.slide_down():
            there.forth()
            meets = meets or not there.empty
            work.spend(1)
        movable = here.end != highest
    while movable and meets and there.empty:
        here.slide_up()
        there.back()


# --- the changed lines

COMMON_LINE_COUNT = 1024
"""A line that the other file has so often, or as often as the root of its length, says little about
where things went."""
NEIGHBOUR_LINES = 100
"""How far around such a line its neighbours are looked at."""
LOST_FACTOR = 4
"""It is left out when, for each such line there, more than so many minus one have no match at
all."""


class LineChange(NamedTuple):
    """A run of lines of one file that took the place of a run of lines of another."""

    at1: int
    count1: int
    at2: int
    count2: int


def line_changes(
    one: Sequence[int], other: Sequence[int], work: WorkBudget | None = None
) -> list[LineChange]:
    """Compare two files whose lines are numbers, the same number for the same line."""
    work = WorkBudget() if work is None else work
    changed1 = bytearray(len(one))
    changed2 = bytearray(len(other))
    box = _shrunk(one, other, Box(0, len(one), 0, len(other)))
    kept1 = _matchable(one, Counter(other), range(box.from1, box.to1), changed1)
    kept2 = _matchable(other, Counter(one), range(box.from2, box.to2), changed2)
    for part in _differing([one[at] for at in kept1], [other[at] for at in kept2], work):
        for at in kept1[part.from1 : part.to1]:
            changed1[at] = 1
        for at in kept2[part.from2 : part.to2]:
            changed2[at] = 1
    slide(one, changed1, other, changed2, work)
    slide(other, changed2, one, changed1, work)
    return _script(changed1, changed2)


def _differing(one: list[int], other: list[int], work: WorkBudget) -> Iterator[Box]:
    """Give what changed, part by part; what there is no work left for is given whole."""
    splitter = Splitter(one, other, work)
    boxes = [(Box(0, len(one), 0, len(other)), False)]
    while boxes:
        box, exact = boxes.pop()
        box = _shrunk(one, other, box)
        cut = None
        if box.from1 < box.to1 and box.from2 < box.to2:
            cut = splitter.split(box, exact=exact)
        if cut is None:
            yield box
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


def _matchable(
    lines: Sequence[int], counts: Mapping[int, int], part: range, changed: bytearray
) -> list[int]:
    """Give the lines of a part that can be matched at all; those that cannot are marked as changed
    at once.
    """
    limit = min(rough_root(len(lines)), COMMON_LINE_COUNT)
    # 0: the other file has no such line. 1: it has some. 2: it has very many.
    kinds = bytes(
        0 if (count := counts.get(lines[at], 0)) == 0 else 2 if count >= limit else 1 for at in part
    )
    kept = []
    for at, kind in zip(part, kinds, strict=True):
        if kind == 1 or (kind == 2 and not _lost(kinds, at - part.start)):
            kept.append(at)
        else:
            changed[at] = 1
    return kept


def _lost(kinds: bytes, at: int) -> bool:
    """Tell whether a line that is everywhere stands among lines that are nowhere."""
    nowhere, everywhere = _run(kinds[max(0, at - NEIGHBOUR_LINES) : at][::-1])
    if not nowhere:
        return False
    nowhere_after, everywhere_after = _run(kinds[at + 1 : at + 1 + NEIGHBOUR_LINES])
    if not nowhere_after:
        return False
    many = 2 + everywhere + everywhere_after
    return many * LOST_FACTOR < many + nowhere + nowhere_after


def _run(kinds: bytes) -> tuple[int, int]:
    stop = kinds.find(1)
    run = kinds if stop < 0 else kinds[:stop]
    return run.count(0), run.count(2)


def _script(changed1: bytearray, changed2: bytearray) -> list[LineChange]:
    found: list[LineChange] = []
    at1 = at2 = 0
    while True:
        next1 = changed1.find(1, at1)
        next2 = changed2.find(1, at2)
        if next1 < 0 and next2 < 0:
            return found
        # Lines that stayed are as many in one as in the other, so the nearer run says how many to
        # pass over.
        same = min(
            next1 - at1 if next1 >= 0 else len(changed1),
            next2 - at2 if next2 >= 0 else len(changed2),
        )
        at1 = at1 + same
        at2 = at2 + same
        end1 = _end(changed1, at1)
        end2 = _end(changed2, at2)
        found.append(LineChange(at1, end1 - at1, at2, end2 - at2))
        at1 = end1
        at2 = end2


def _end(changed: bytearray, at: int) -> int:
    stop = changed.find(0, at)
    return len(changed) if stop < 0 else stop
