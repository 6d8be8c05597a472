"""Defines the data types of scanning: a rule, a hit of one in a text, and the files of a skill as
the scanner is given them.

Files are values, already read; nothing is opened here.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from metier.model import Harm


READ_CODE_HINT = "Read the code around it, and use the skill only if its task needs this"
REMOVE_HINT = "Do not use the skill, and report it to where it came from"
"""Hints that rules of several languages give."""
MAX_HITS_PER_RULE = 20
"""Hits of one rule in one text that are told of: more say nothing more, and none crowds out another
rule."""


def word_set(text: str) -> frozenset[str]:
    """Give a set of names that a table lists as one reads them: in a row, apart by blanks."""
    return frozenset(text.split())


GRAVE_SEVERITIES = word_set("critical high")
NOT_BEHAVIOUR = ("SC6", "SC8")
"""Rules about what a file is, or how much of it could be read: a reason to look, never to call a
skill dangerous."""
QUOTED_NOTE = " (Shown as an example or a quotation.)"
"""How a finding ends that stands in an example or a quotation."""


class ScanRule(NamedTuple):
    """One thing that content may do. The tables in `rules/` define them; analyzers refer to them by
    id.
    """

    id: str
    severity: Harm
    category: str
    title: str
    """What was found, as a sentence without a full stop."""
    why: str
    hint: str


class RuleHit(NamedTuple):
    """A place where a rule matched. Offsets count characters of the text the analyzer got."""

    rule: str
    start: int
    end: int
    evidence: str = ""
    """What to show when the text between the offsets does not say it by itself (a decoded payload,
    a joined string)."""


def limit_hits(
    hits: Iterable[RuleHit],
    order: Callable[[RuleHit], tuple[Any, ...]] = lambda hit: (hit.start, hit.rule, hit.end),
    *,
    once: bool = True,
) -> list[RuleHit]:
    """Sort hits, and keep the first of each rule; with `once`, only one of those that begin at the
    same place.
    """
    ordered = sorted(hits, key=order)
    if not ordered:
        return []
    counts: Counter[str] = Counter()
    places = set()
    kept = []
    for hit in ordered:
        place = (hit.rule, hit.start)
        if counts[hit.rule] < MAX_HITS_PER_RULE and not (once and place in places):
            counts[hit.rule] += 1
            places.add(place)
            kept.append(hit)
    return kept


class ScanEntry(NamedTuple):
    """One entry of a tree. Paths are relative, with forward slashes."""

    path: str
    data: bytes = b""
    """What was read; shorter than `size` when the reader stopped at its limit."""
    size: int = 0
    executable: bool = False
    link: str = ""
    """Where a symbolic link points, as written; empty for anything else."""
    fault: str = ""
    """Why the entry could not be read; empty when it was."""
    sha256: bytes = b""
    """Of the whole file, also of what was not kept; empty where nobody hashed it."""

    @property
    def cut(self) -> bool:
        """Say whether only the beginning was read."""
        return not self.link and not self.fault and len(self.data) < self.size


class ScanTree(NamedTuple):
    """A skill's folder name and everything below it."""

    name: str
    pieces: tuple[ScanEntry, ...]
