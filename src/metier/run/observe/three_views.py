"""Sets beside each other what a skill declares, what its text shows, and what it did. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.scan.report import abilities_of
from metier.standard.document import read_document
from metier.trust.capabilities import capabilities

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Finding, Texts
    from metier.run.observe.model import Seen
    from metier.run.observe.plan import ReadSkill

DEEDS = {
    "connect": "contacted",
    "listen": "opened a port:",
    "read": "read",
    "write": "wrote",
    "remove": "removed",
    "mode": "changed the mode of",
    "exec": "ran",
    "refused": "was refused:",
}
"""The kinds of events that are told, in this order, and the word for each."""
MAX_TOLD = 4
"""Of one kind; the rest is counted."""


class ThreeViews(NamedTuple):
    """What a skill says of itself, what a scan sees in it, and what it did when it was run."""

    declared: Texts
    seen: Texts
    done: Texts


def compare_views(
    skill: ReadSkill, findings: Iterable[Finding], events: Iterable[Seen]
) -> ThreeViews:
    """Gather the three."""
    document = read_document(skill.files.get(skill.main, b""), folder=skill.name)
    declared = capabilities(document.fields if document else {}, (), ())
    return ThreeViews(tuple(sorted(declared)), abilities_of(findings), tuple(_deeds(events)))


def _deeds(events: Iterable[Seen]) -> list[str]:
    by_kind: dict[str, dict[str, None]] = {}
    for one in events:
        what = one.what.split(" ", 1)[0] if one.kind == "exec" else one.what
        by_kind.setdefault(one.kind, {})[what] = None
    found = []
    for kind, word in DEEDS.items():
        whats = list(by_kind.get(kind, ()))
        if whats:
            more = len(whats) - MAX_TOLD
            rest = f" and {more:,} more" if more > 0 else ""
            found.append(f"{word} {', '.join(whats[:MAX_TOLD])}{rest}")
    return found
