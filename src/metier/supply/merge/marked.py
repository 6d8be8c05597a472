"""Takes a file with conflict markers apart into the regions that two sides do not agree on, puts
what somebody chose in their place, and shows four versions of a file side by side. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.supply.merge.diff3 import MARKER_CHARS
from metier.supply.merge.line_diff import WorkBudget, line_changes, number_lines, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal

    from metier.supply.merge.line_diff import LineChange

    SettledAs = Literal["ours", "theirs", "both", "text"]

CONTEXT_LINES = 3
"""How many lines are shown around a change."""


class MarkedRegion(NamedTuple):
    """A run of lines that both sides changed, each in its own way."""

    ours: str
    theirs: str
    ending: str
    """How its lines end."""
    raw: str
    """As it stands in the file, with its markers."""


class RegionChoice(NamedTuple):
    """What is to stand in the place of a region."""

    how: SettledAs
    text: str = ""
    """With `text`: just this."""


def split_marked(text: str, labels: tuple[str, str, str]) -> tuple[str | MarkedRegion, ...]:
    """Give the plain parts and the regions of a text in their order; nothing where there are none,
    or where the markers could be read in two ways.
    """
    starts, middle, ends = (
        "<" * MARKER_CHARS + f" {labels[0]}",
        "=" * MARKER_CHARS,
        ">" * MARKER_CHARS + f" {labels[2]}",
    )
    found: list[str | MarkedRegion] = []
    plain: list[str] = []
    inside: list[str] | None = None
    for line in _lines(text):
        mark = line.rstrip("\r\n")
        if mark == starts:
            if inside is not None:
                return ()
            found += ["".join(plain)] if plain else []
            plain, inside = [], [line]
        elif inside is not None:
            inside.append(line)
            if mark == ends:
                region = _region(inside, middle)
                if region is None:
                    return ()
                found.append(region)
                inside = None
        elif mark == ends:
            return ()
        else:
            plain.append(line)
    if inside is not None or not any(isinstance(one, MarkedRegion) for one in found):
        return ()
    return (*found, "".join(plain)) if plain else tuple(found)


def _lines(text: str) -> list[str]:
    """Cut after each line feed and nowhere else."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else ())]


def _region(lines: Sequence[str], middle: str) -> MarkedRegion | None:
    at = [number for number, line in enumerate(lines) if line.rstrip("\r\n") == middle]
    if len(at) != 1:
        return None
    return MarkedRegion(
        "".join(lines[1 : at[0]]),
        "".join(lines[at[0] + 1 : -1]),
        "\r\n" if lines[0].endswith("\r\n") else "\n",
        "".join(lines),
    )


def join_marked(pieces: Iterable[str | MarkedRegion], chosen: Mapping[int, RegionChoice]) -> str:
    """Put a text together again with what was chosen for its regions, which are counted from 0;
    those that nobody chose about stay as they are.
    """
    parts = []
    number = 0
    for piece in pieces:
        if isinstance(piece, str):
            parts.append(piece)
            continue
        choice = chosen.get(number)
        parts.append(piece.raw if choice is None else _chosen(piece, choice))
        number += 1
    return "".join(parts)


def _chosen(region: MarkedRegion, choice: RegionChoice) -> str:
    if choice.how == "text":
        text = choice.text.replace("\r\n", "\n")
        text += "\n" if text and not text.endswith("\n") else ""
        return text.replace("\n", region.ending)
    return {
        "ours": region.ours,
        "theirs": region.theirs,
        "both": region.ours + region.theirs,
    }[choice.how]


# --- side by side


class SideLine(NamedTuple):
    """One line of one version."""

    number: int
    text: bytes
    changed: bool
    """Whether the base has it otherwise, or not at all."""


def align(
    base: bytes, others: Sequence[bytes], context: int = CONTEXT_LINES
) -> list[tuple[tuple[SideLine, ...], ...]]:
    """Give each stretch that any of the others changed, with the lines around it: the base's lines,
    and those that stand for them in each other version.
    """
    files = [split_lines(data) for data in (base, *others)]
    numbers = number_lines(*files)
    work = WorkBudget()
    changes = [line_changes(numbers[0], other, work) for other in numbers[1:]]
    found = []
    for start, end in _stretches(changes, len(files[0]), context):
        touched = [
            any(one.at1 <= at < one.at1 + one.count1 for side in changes for one in side)
            for at in range(start, end)
        ]
        rows = [
            tuple(SideLine(at + 1, files[0][at], touched[at - start]) for at in range(start, end))
        ]
        rows += [
            _part(lines, side, start, end) for lines, side in zip(files[1:], changes, strict=True)
        ]
        found.append(tuple(rows))
    return found


def _stretches(
    changes: Sequence[Sequence[LineChange]], count: int, context: int
) -> list[tuple[int, int]]:
    """Give the runs of the base's lines that are shown: none begins or ends within a change."""
    spans = sorted(
        (max(0, one.at1 - context), min(count, one.at1 + one.count1 + context))
        for side in changes
        for one in side
    )
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _part(
    lines: Sequence[bytes], changes: Sequence[LineChange], start: int, end: int
) -> tuple[SideLine, ...]:
    """Give the lines of a version that stand for a run of the base's."""
    first = start + sum(one.count2 - one.count1 for one in changes if one.at1 < start)
    inside = [one for one in changes if start <= one.at1 <= end]
    last = first + end - start + sum(one.count2 - one.count1 for one in inside)
    new = {at for one in inside for at in range(one.at2, one.at2 + one.count2)}
    return tuple(SideLine(at + 1, lines[at], at in new) for at in range(first, last))
