"""What differs between two trees, as people read it: a unified diff, in which nothing a stranger
wrote can act on a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.standard.characters import escape_for_terminal
from metier.supply.merge.line_diff import (
    WorkBudget,
    is_text,
    line_changes,
    number_lines,
    split_lines,
)
from metier.supply.model import FileChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from metier.standard.digest import TreeFile
    from metier.supply.merge.line_diff import LineChange
    from metier.supply.model import ChangeKind

    Read = Callable[[str], bytes]

CONTEXT_LINES = 3
"""How many lines are shown around a change."""
MAX_LINE_CHARS = 2_000
"""How many characters of a line are shown."""


def unified(
    old: Mapping[str, TreeFile],
    new: Mapping[str, TreeFile],
    read_old: Read,
    read_new: Read,
    names: tuple[str, str] = ("a", "b"),
) -> str:
    """Give what has to change in the old tree to make the new one; nothing when they are the
    same.
    """
    work = WorkBudget()
    lines = []
    for path, before, after in _differing(old, new):
        shown = escape_for_terminal(path.replace("\n", "\\n").replace("\t", "\\t"))
        if before is not None and after is not None:
            if before.mode != after.mode:
                lines.append(f"mode of {shown}: {_kind(before)} -> {_kind(after)}")
            if before.sha256 == after.sha256:
                continue
        one = read_old(path) if before is not None else b""
        other = read_new(path) if after is not None else b""
        if not is_text(one) or not is_text(other):
            lines.append(
                f"binary files {names[0]}/{shown} and {names[1]}/{shown} differ: {len(one):,} and "
                f"{len(other):,} bytes"
            )
            continue
        lines.append(f"--- {names[0]}/{shown}" if before is not None else "--- /dev/null")
        lines.append(f"+++ {names[1]}/{shown}" if after is not None else "+++ /dev/null")
        lines += _hunks(split_lines(one), split_lines(other), work)
    return "".join(f"{line}\n" for line in lines)


def count_changes(
    old: Mapping[str, TreeFile], new: Mapping[str, TreeFile], read_old: Read, read_new: Read
) -> tuple[FileChange, ...]:
    """Count the lines that have to change in each file of the old tree to make the new one."""
    work = WorkBudget()
    found = []
    for path, before, after in _differing(old, new):
        if before is not None and after is not None and before.sha256 == after.sha256:
            found.append(FileChange(path, "mode"))
            continue
        one = read_old(path) if before is not None else b""
        other = read_new(path) if after is not None else b""
        if not is_text(one) or not is_text(other):
            found.append(FileChange(path, "binary"))
            continue
        numbers1, numbers2 = number_lines(split_lines(one), split_lines(other))
        changes = line_changes(numbers1, numbers2, work)
        added = sum(change.count2 for change in changes)
        removed = sum(change.count1 for change in changes)
        kind: ChangeKind = "new" if before is None else "gone" if after is None else "changed"
        found.append(FileChange(path, kind, added, removed))
    return tuple(found)


def _differing(
    old: Mapping[str, TreeFile], new: Mapping[str, TreeFile]
) -> Iterator[tuple[str, TreeFile | None, TreeFile | None]]:
    """Give the files that are not the same in both trees, by path."""
    for path in sorted(old.keys() | new.keys()):
        before = old.get(path)
        after = new.get(path)
        if (
            before is None
            or after is None
            or (before.sha256, before.mode) != (after.sha256, after.mode)
        ):
            yield path, before, after


def _kind(file: TreeFile) -> str:
    return "link" if file.mode == "link" else "executable" if file.mode else "plain"


def _hunks(one: list[bytes], other: list[bytes], work: WorkBudget) -> Iterator[str]:
    before, after = number_lines(one, other)
    group: list[LineChange] = []
    for change in (*line_changes(before, after, work), None):
        if group and (
            # Changes whose surroundings touch are shown together.
            change is None or change.at1 - group[-1].at1 - group[-1].count1 > 2 * CONTEXT_LINES
        ):
            yield from _hunk(one, other, group)
            group = []
        if change is not None:
            group.append(change)


def _hunk(one: list[bytes], other: list[bytes], group: list[LineChange]) -> Iterator[str]:
    first = group[0]
    last = group[-1]
    lead = min(CONTEXT_LINES, first.at1)
    trail = min(CONTEXT_LINES, len(one) - last.at1 - last.count1)
    at = first.at1 - lead
    end = last.at1 + last.count1 + trail
    span2 = _span(first.at2 - lead, last.at2 + last.count2 + trail)
    yield f"@@ -{_span(at, end)} +{span2} @@"
    for change in group:
        yield from _lines(" ", one[at : change.at1])
        at = change.at1 + change.count1
        yield from _lines("-", one[change.at1 : at])
        yield from _lines("+", other[change.at2 : change.at2 + change.count2])
    yield from _lines(" ", one[at:end])


def _span(start: int, stop: int) -> str:
    count = stop - start
    return f"{start + (count > 0)}" + (f",{count}" if count != 1 else "")


def _lines(sign: str, lines: Sequence[bytes]) -> Iterator[str]:
    for line in lines:
        text = line.removesuffix(b"\n").decode("utf-8", "backslashreplace")
        shown = escape_for_terminal(text[:MAX_LINE_CHARS])
        more = len(text) - MAX_LINE_CHARS
        yield sign + shown + (f"... {more:,} more characters" if more > 0 else "")
        if not line.endswith(b"\n"):
            yield "\\ No newline at end of file"
