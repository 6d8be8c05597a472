"""Merges two versions of a file that came from a third, line by line, with markers where both
changed the same lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.supply.merge.line_diff import (
    LineChange,
    WorkBudget,
    line_changes,
    number_lines,
    split_lines,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    Favour = Literal["", "ours", "theirs"]
    Style = Literal["merge", "diff3"]


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


def regions(
    ours: list[LineChange], theirs: list[LineChange], numbers: Sequence[Sequence[int]]
) -> list[Region]:
    """Put the changes of both sides in one order; `numbers` are the lines of base, ours and
    theirs.
    """
    found: list[Region] = []
    mine = yours = 0
    while mine < len(ours) and yours < len(theirs):
        one = ours[mine]
        other = theirs[yours]
        end1 = one.at1 + one.count1
        end2 = other.at1 + other.count1
        if end1 < other.at1:
            _append(found, _of_one(1, one, other.at2 - other.at1))
        elif end2 < one.at1:
            _append(found, _of_one(2, other, one.at2 - one.at1))
        elif not _same(one, other, numbers):
            _append(found, _of_both(one, other))
        # Of two that touch, the one that ends first is done with; one that comes wholly before the
        # other always does.
        mine = mine + (end1 <= end2)
        yours = yours + (end2 <= end1)
    rest2 = len(numbers[2]) - len(numbers[0])
    rest1 = len(numbers[1]) - len(numbers[0])
    for one in ours[mine:]:
        _append(found, _of_one(1, one, rest2))
    for other in theirs[yours:]:
        _append(found, _of_one(2, other, rest1))
    return found


def _of_one(side: int, one: LineChange, shift: int) -> Region:
    """Give the region that one side alone changed; `shift` is how far the other side's lines stand
    from the base's.
    """
    changed = (one.at2, one.count2)
    other = (one.at1 + shift, one.count1)
    sides = (*changed, *other) if side == 1 else (*other, *changed)
    return Region(side, one.at1, one.count1, *sides)


def _of_both(one: LineChange, other: LineChange) -> Region:
    """Give the region from where the first begins to where the last ends; lines around a change are
    as many on its other side.
    """
    start = min(one.at1, other.at1)
    end = max(one.at1 + one.count1, other.at1 + other.count1)
    at1 = one.at2 - (one.at1 - start)
    at2 = other.at2 - (other.at1 - start)
    to1 = one.at2 + one.count2 + end - (one.at1 + one.count1)
    to2 = other.at2 + other.count2 + end - (other.at1 + other.count1)
    return Region(
        side=0, at0=start, count0=end - start, at1=at1, count1=to1 - at1, at2=at2, count2=to2 - at2
    )


def _same(one: LineChange, other: LineChange, numbers: Sequence[Sequence[int]]) -> bool:
    if (one.at1, one.count1) != (other.at1, other.count1):
        return False
    return _text(numbers[1], one) == _text(numbers[2], other)


def _text(lines: Sequence[int], change: LineChange) -> Sequence[int]:
    return lines[change.at2 : change.at2 + change.count2]


def _append(found: list[Region], new: Region) -> None:
    """Add a region, or widen the last where the new one touches it on either side; of two kinds, it
    becomes a conflict.
    """
    last = found[-1] if found else None
    if last is None or (new.at1 > last.at1 + last.count1 and new.at2 > last.at2 + last.count2):
        found.append(new)
        return
    found[-1] = last._replace(
        side=last.side if last.side == new.side else 0,
        count0=new.at0 + new.count0 - last.at0,
        count1=new.at1 + new.count1 - last.at1,
        count2=new.at2 + new.count2 - last.at2,
    )


MARKER_CHARS = 7
"""How many characters a marker is long."""
CLOSE_LINES = 3
"""Two conflicts with no more than so many lines between them are shown as one; so are two with no
letter or digit between them."""


class Hunk(NamedTuple):
    """One conflict: the line of the merged file that its first marker is on, and what each side has
    there.
    """

    line: int
    ours: bytes
    theirs: bytes


class MergedText(NamedTuple):
    """A merged file; where there are conflicts, with markers."""

    data: bytes
    conflicts: tuple[Hunk, ...] = ()


class _Files(NamedTuple):
    base: list[bytes]
    ours: list[bytes]
    theirs: list[bytes]


def merge3(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    labels: tuple[str, str, str] = ("ours", "base", "theirs"),
    *,
    style: Style = "merge",
    favour: Favour = "",
    work: WorkBudget | None = None,
) -> MergedText:
    """Merge two versions of a file that came from a third; `favour` settles what conflicts for one
    side and leaves no marker.
    """
    work = WorkBudget() if work is None else work
    files = _Files(split_lines(base), split_lines(ours), split_lines(theirs))
    numbers = number_lines(*files)
    mine = line_changes(numbers[0], numbers[1], work)
    yours = line_changes(numbers[0], numbers[2], work)
    if not mine or not yours:
        return MergedText(ours if mine else theirs)
    found = regions(mine, yours, numbers)
    if style == "merge":
        found = _joined(_narrowed(found, numbers, work), files.ours)
    return _laid_out(files, found, labels, style, favour)


def _narrowed(
    found: list[Region], numbers: Sequence[Sequence[int]], work: WorkBudget
) -> list[Region]:
    """Compare the two sides of each conflict, and keep as conflicts only where they differ."""
    narrow: list[Region] = []
    for one in found:
        if one.side or not one.count1 or not one.count2:
            narrow.append(one)
            continue
        ours = numbers[1][one.at1 : one.at1 + one.count1]
        theirs = numbers[2][one.at2 : one.at2 + one.count2]
        narrow += [
            one._replace(
                at1=one.at1 + change.at1,
                count1=change.count1,
                at2=one.at2 + change.at2,
                count2=change.count2,
            )
            for change in line_changes(ours, theirs, work)
        ]
    return narrow


def _joined(found: list[Region], ours: list[bytes]) -> list[Region]:
    """Show conflicts as one that are so close that a reader would have to look at both together."""
    joined: list[Region] = []
    for one in found:
        if joined and not one.side and not joined[-1].side:
            last = joined[-1]
            between = ours[last.at1 + last.count1 : one.at1]
            if len(between) <= CLOSE_LINES or not re.search(rb"[0-9A-Za-z]", b"".join(between)):
                joined[-1] = last._replace(
                    count1=one.at1 + one.count1 - last.at1, count2=one.at2 + one.count2 - last.at2
                )
                continue
        joined.append(one)
    return joined


def _laid_out(
    files: _Files, found: list[Region], labels: tuple[str, str, str], style: Style, favour: Favour
) -> MergedText:
    lines: list[bytes] = []
    hunks: list[Hunk] = []
    at = 0
    for one in found:
        lines += files.ours[at : one.at1]
        mine = files.ours[one.at1 : one.at1 + one.count1]
        yours = files.theirs[one.at2 : one.at2 + one.count2]
        side = one.side or ("", "ours", "theirs").index(favour)
        if side:
            lines += mine if side == 1 else yours
        else:
            # A piece without an ending can only be followed by more where a side was taken whole;
            # it shares its row with what follows.
            row = 1 + sum(line.endswith(b"\n") for line in lines)
            hunks.append(Hunk(row, b"".join(mine), b"".join(yours)))
            shared = files.base[one.at0 : one.at0 + one.count0]
            parts = [(b"<", labels[0], mine), (b"|", labels[1], shared), (b"=", "", yours)]
            if style != "diff3":
                del parts[1]
            ending = b"\r\n" if _is_crlf(files, one) else b"\n"
            for char, label, part in parts:
                lines += [_marker(char, label, ending), *_ended(part, ending)]
            lines.append(_marker(b">", labels[2], ending))
        at = one.at1 + one.count1
    lines += files.ours[at:]
    return MergedText(b"".join(lines), tuple(hunks))


def _marker(char: bytes, label: str, ending: bytes) -> bytes:
    return (
        char * MARKER_CHARS
        + (b" " + label.encode("utf-8", "surrogateescape") if label else b"")
        + ending
    )


def _ended(lines: list[bytes], ending: bytes) -> list[bytes]:
    """Give lines of which the last has an ending too."""
    if not lines or lines[-1].endswith(b"\n"):
        return lines
    return [*lines[:-1], lines[-1] + ending]


def _is_crlf(files: _Files, one: Region) -> bool:
    """Tell whether the markers end as on Windows: only where both sides do around the conflict, and
    the base at its beginning.
    """
    ours = _ends_crlf(files.ours, max(one.at1 - 1, 0))
    theirs = _ends_crlf(files.theirs, max(one.at2 - 1, 0))
    base = _ends_crlf(files.base, 0)
    return base is True and False not in {ours, theirs}


def _ends_crlf(lines: list[bytes], at: int) -> bool | None:
    """Tell how a line ends, or the one before it where it has no ending; `None` where neither can
    say.
    """
    if not lines:
        return None
    if lines[at].endswith(b"\n"):
        return lines[at].endswith(b"\r\n")
    return lines[at - 1].endswith(b"\r\n") if at else None
