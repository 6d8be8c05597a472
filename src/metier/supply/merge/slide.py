"""Moves runs of changed lines to where people expect them: a run may slide while the line it leaves equals the one it takes in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.supply.merge.work import Work


class _Groups:
    """One file's changed lines as runs, with a finger on one. A run may be empty: there is one before every line that stayed."""

    __slots__ = ("changed", "end", "lines", "start")

    def __init__(self, lines: Sequence[int], changed: bytearray) -> None:
        self.lines, self.changed = lines, changed
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
        """Move the run one line down, and swallow a run it then touches; false when it cannot move."""
        if self.end == len(self.lines) or self.lines[self.start] != self.lines[self.end]:
            return False
        self.changed[self.start], self.changed[self.end] = 0, 1
        self.start += 1
        self.end += 1
        self._grow_down()
        return True

    def slide_up(self) -> bool:
        """Move the run one line up, and swallow a run it then touches; false when it cannot move."""
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


def slide(lines: Sequence[int], changed: bytearray, others: Sequence[int], other_changed: bytearray, work: Work) -> None:
    """Slide each run of a file down as far as it goes, then back up to the last place where the other file has a run too."""
    here, there = _Groups(lines, changed), _Groups(others, other_changed)
    while True:
        if not here.empty:
            _settle(here, there, work)
        if not here.forth():
            return
        there.forth()


def _settle(here: _Groups, there: _Groups, work: Work) -> None:
    size, movable, meets = -1, False, False
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
