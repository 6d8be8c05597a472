"""What differs between two trees, as people read it: a unified diff, in which nothing a stranger wrote can act on a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.standard.unseen import UNSEEN
from metier.supply.merge.changes import changes
from metier.supply.merge.lines import cut, is_text, number
from metier.supply.merge.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from metier.standard.digest import TreeFile
    from metier.supply.merge.changes import Change

    Read = Callable[[str], bytes]

AROUND = 3
"""How many lines are shown around a change."""
MOST_LINE = 2_000
"""How many characters of a line are shown."""
_ACTING = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{UNSEEN}]")


def unified(old: Mapping[str, TreeFile], new: Mapping[str, TreeFile], read_old: Read, read_new: Read,
            names: tuple[str, str] = ("a", "b")) -> str:  # fmt: skip
    """Give what has to change in the old tree to make the new one; nothing when they are the same."""
    work = Work()
    pieces: list[str] = []
    for path in sorted(old.keys() | new.keys()):
        before, after = old.get(path), new.get(path)
        if before is None or after is None or (before.sha256, before.mode) != (after.sha256, after.mode):
            pieces += _file(path, before, after, (read_old, read_new), names, work)
    return "".join(f"{line}\n" for line in pieces)


def harmless(text: str) -> str:
    """Show what a terminal would act on, and what no reader sees, as escapes."""
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def _file(path: str, before: TreeFile | None, after: TreeFile | None, reads: tuple[Read, Read], names: tuple[str, str],
          work: Work) -> Iterator[str]:  # fmt: skip
    shown = harmless(path.replace("\n", "\\n").replace("\t", "\\t"))
    same = before is not None and after is not None and before.sha256 == after.sha256
    one, other = (read(path) if file is not None and not same else b"" for read, file in zip(reads, (before, after), strict=True))
    if before is not None and after is not None and before.mode != after.mode:
        yield f"mode of {shown}: {_kind(before)} -> {_kind(after)}"
    if same:
        return
    if not is_text(one) or not is_text(other):
        yield f"binary files {names[0]}/{shown} and {names[1]}/{shown} differ: {len(one):,} and {len(other):,} bytes"
        return
    yield f"--- {f'{names[0]}/{shown}' if before is not None else '/dev/null'}"
    yield f"+++ {f'{names[1]}/{shown}' if after is not None else '/dev/null'}"
    yield from _hunks(cut(one), cut(other), work)


def _kind(file: TreeFile) -> str:
    return "link" if file.mode == "link" else "executable" if file.mode else "plain"


def _hunks(one: list[bytes], other: list[bytes], work: Work) -> Iterator[str]:
    before, after = number(one, other)
    for group in _groups(changes(before, after, work)):
        first, last = group[0], group[-1]
        lead = min(AROUND, first.at1)
        trail = min(AROUND, len(one) - last.at1 - last.count1)
        from1, to1 = first.at1 - lead, last.at1 + last.count1 + trail
        from2, to2 = first.at2 - lead, last.at2 + last.count2 + trail
        yield f"@@ -{_span(from1, to1)} +{_span(from2, to2)} @@"
        at = from1
        for change in group:
            yield from _lines(" ", one[at : change.at1])
            yield from _lines("-", one[change.at1 : change.at1 + change.count1])
            yield from _lines("+", other[change.at2 : change.at2 + change.count2])
            at = change.at1 + change.count1
        yield from _lines(" ", one[at:to1])


def _groups(found: Sequence[Change]) -> Iterator[list[Change]]:
    """Put changes together whose surroundings touch."""
    group: list[Change] = []
    for change in found:
        if group and change.at1 - group[-1].at1 - group[-1].count1 > 2 * AROUND:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _span(start: int, stop: int) -> str:
    count = stop - start
    return f"{start + (count > 0)}" + (f",{count}" if count != 1 else "")


def _lines(sign: str, lines: Sequence[bytes]) -> Iterator[str]:
    for line in lines:
        text = line.removesuffix(b"\n").decode("utf-8", "backslashreplace")
        rest = f"... {len(text) - MOST_LINE:,} more characters" if len(text) > MOST_LINE else ""
        yield sign + harmless(text[:MOST_LINE]) + rest
        if not line.endswith(b"\n"):
            yield "\\ No newline at end of file"
