"""Three versions of a file into one: what one side alone changed is taken; what both changed differently is marked as a conflict.

The result is that of `git merge-file`, byte for byte: the same conflicts, drawn as narrowly, and the same markers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supply.merge.changes import Change, changes
from metier.supply.merge.lines import cut, number
from metier.supply.merge.regions import Region, regions
from metier.supply.merge.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    Favour = Literal["", "ours", "theirs"]
    Style = Literal["merge", "diff3"]

MARK = 7
"""How many characters a marker is long."""
CLOSE = 3
"""Two conflicts with no more than so many lines between them are shown as one; so are two with no letter or digit between them."""


class Hunk(NamedTuple):
    """One conflict: the line of the merged file that its first marker is on, and what each side has there."""

    line: int
    ours: bytes
    theirs: bytes


class Merged(NamedTuple):
    """A merged file; where there are conflicts, with markers."""

    data: bytes
    conflicts: tuple[Hunk, ...] = ()


class _Files(NamedTuple):
    base: list[bytes]
    ours: list[bytes]
    theirs: list[bytes]


def merge3(
    base: bytes, ours: bytes, theirs: bytes, labels: tuple[str, str, str] = ("ours", "base", "theirs"), *,
    style: Style = "merge", favour: Favour = "", work: Work | None = None,
) -> Merged:  # fmt: skip
    """Merge two versions of a file that came from a third; `favour` settles what conflicts for one side and leaves no marker."""
    work = Work() if work is None else work
    files = _Files(cut(base), cut(ours), cut(theirs))
    numbers = number(*files)
    mine, yours = changes(numbers[0], numbers[1], work), changes(numbers[0], numbers[2], work)
    if not mine or not yours:
        return Merged(ours if mine else theirs)
    found = regions(mine, yours, numbers)
    if style == "merge":
        found = _joined(_narrowed(found, numbers, work), files.ours)
    return _laid_out(files, found, labels, style, favour)


def _narrowed(found: list[Region], numbers: Sequence[Sequence[int]], work: Work) -> list[Region]:
    """Compare the two sides of each conflict, and keep as conflicts only where they differ."""
    narrow: list[Region] = []
    for one in found:
        if one.side or not one.count1 or not one.count2:
            narrow.append(one)
            continue
        ours, theirs = numbers[1][one.at1 : one.at1 + one.count1], numbers[2][one.at2 : one.at2 + one.count2]
        narrow += [_within(one, change) for change in changes(ours, theirs, work)]
    return narrow


def _within(one: Region, change: Change) -> Region:
    return Region(0, one.at0, one.count0, one.at1 + change.at1, change.count1, one.at2 + change.at2, change.count2)


def _joined(found: list[Region], ours: list[bytes]) -> list[Region]:
    """Show conflicts as one that are so close that a reader would have to look at both together."""
    joined: list[Region] = []
    for one in found:
        if joined and not one.side and not joined[-1].side and _close(joined[-1], one, ours):
            last = joined[-1]
            joined[-1] = last._replace(count1=one.at1 + one.count1 - last.at1, count2=one.at2 + one.count2 - last.at2)
        else:
            joined.append(one)
    return joined


def _close(before: Region, after: Region, ours: list[bytes]) -> bool:
    between = ours[before.at1 + before.count1 : after.at1]
    return len(between) <= CLOSE or not any(char.isalnum() for line in between for char in map(chr, line) if char.isascii())


def _laid_out(files: _Files, found: list[Region], labels: tuple[str, str, str], style: Style, favour: Favour) -> Merged:
    lines: list[bytes] = []
    hunks: list[Hunk] = []
    at = 0
    for one in found:
        lines += files.ours[at : one.at1]
        mine, yours = files.ours[one.at1 : one.at1 + one.count1], files.theirs[one.at2 : one.at2 + one.count2]
        side = one.side or ("", "ours", "theirs").index(favour)
        if side:
            lines += mine if side == 1 else yours
        else:
            hunks.append(Hunk(_row(lines), b"".join(mine), b"".join(yours)))
            shared = files.base[one.at0 : one.at0 + one.count0] if style == "diff3" else None
            lines += _marked((mine, shared, yours), labels, b"\r\n" if _is_crlf(files, one) else b"\n")
        at = one.at1 + one.count1
    lines += files.ours[at:]
    return Merged(b"".join(lines), tuple(hunks))


def _row(lines: list[bytes]) -> int:
    # A piece without an ending can only be followed by more where a side was taken whole; it shares its row with what follows.
    return 1 + sum(line.endswith(b"\n") for line in lines)


def _marked(parts: tuple[list[bytes], list[bytes] | None, list[bytes]], labels: tuple[str, str, str], ending: bytes) -> list[bytes]:
    mine, shared, yours = parts
    marked = [_marker(b"<", labels[0], ending), *_ended(mine, ending)]
    if shared is not None:
        marked += [_marker(b"|", labels[1], ending), *_ended(shared, ending)]
    return [*marked, _marker(b"=", "", ending), *_ended(yours, ending), _marker(b">", labels[2], ending)]


def _marker(char: bytes, label: str, ending: bytes) -> bytes:
    return char * MARK + (b" " + label.encode("utf-8", "surrogateescape") if label else b"") + ending


def _ended(lines: list[bytes], ending: bytes) -> list[bytes]:
    """Give lines of which the last has an ending too."""
    if not lines or lines[-1].endswith(b"\n"):
        return lines
    return [*lines[:-1], lines[-1] + ending]


def _is_crlf(files: _Files, one: Region) -> bool:
    """Tell whether the markers end as on Windows: only where both sides do around the conflict, and the base at its beginning."""
    around = ((files.ours, max(one.at1 - 1, 0)), (files.theirs, max(one.at2 - 1, 0)), (files.base, 0))
    told = None
    for lines, at in around:
        told = _ends_crlf(lines, at)
        if told is False:
            return False
    return told is True


def _ends_crlf(lines: list[bytes], at: int) -> bool | None:
    """Tell how a line ends, or the one before it where it has no ending; `None` where neither can say."""
    if not lines:
        return None
    if lines[at].endswith(b"\n"):
        return lines[at].endswith(b"\r\n")
    return lines[at - 1].endswith(b"\r\n") if at else None
