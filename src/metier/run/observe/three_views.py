"""Sets beside each other what a skill declares, what its text shows, and what it did. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.run.observe.model import is_forced
from metier.scan.report import abilities_of
from metier.standard.document import read_document
from metier.trust.capabilities import CHOSEN_BY_MODEL, capabilities

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
MAX_NAMED = 12
"""Hosts, and variables, that are taken from a text."""
NOTHING = {
    "declared": "nothing: it asks for no tool, variable or program, and names no host",
    "seen": "nothing that stands out",
    "done": "nothing worth a note",
}
"""What is said in the place of an empty list."""
TITLES = {"declared": "declared", "seen": "in its text", "done": "did"}
_HOST = re.compile(
    r"https?://([\w-]+(?:\.[\w-]+)+)"
    r"|(?<![\w./@-])((?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|cloud))(?![\w-])",
    re.IGNORECASE,
)
_PLAIN_FOLDER = re.compile(r"~/(?:[^./][^/]*|\.local/share/packages)/")
_VARIABLE = re.compile(
    r"(?<![\w.-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:TOKEN|KEY|SECRET|PASSWORD|URL|ID)\b"
)
"""A variable as instructions name it: what people call those that they are asked for."""


class ThreeViews(NamedTuple):
    """What a skill says of itself, what a scan sees in it, and what it did when it was run."""

    declared: Texts
    seen: Texts
    done: Texts


def compare_views(
    skill: ReadSkill, findings: Iterable[Finding], events: Iterable[Seen]
) -> ThreeViews:
    """Gather the three."""
    text = skill.files.get(skill.main, b"")
    document = read_document(text, folder=skill.name)
    declared = capabilities(document.fields if document else {}, (), ()) - {CHOSEN_BY_MODEL}
    named = dict.fromkeys([*sorted(declared), *_named(text.decode("utf-8", "replace"))])
    return ThreeViews(tuple(named), abilities_of(findings), tuple(_deeds(events)))


def told_views(declared: Texts, seen: Texts, done: Texts) -> list[tuple[str, str]]:
    """Give the three as rows for people: what each is called, and what it holds."""
    rows = (("declared", declared), ("seen", seen), ("done", done))
    return [(TITLES[key], "; ".join(words) or NOTHING[key]) for key, words in rows]


def _named(text: str) -> list[str]:
    """Give the variables and the hosts that the instructions name."""
    variables = dict.fromkeys(_VARIABLE.findall(text))
    hosts = dict.fromkeys((one[0] or one[1]).lower() for one in _HOST.findall(text))
    return [
        *(f"variable {one}" for one in list(variables)[:MAX_NAMED]),
        *(f"host {one}" for one in list(hosts)[:MAX_NAMED]),
    ]


def _deeds(events: Iterable[Seen]) -> list[str]:
    by_kind: dict[str, dict[str, None]] = {}
    for one in events:
        if one.kind == "read" and _PLAIN_FOLDER.fullmatch(one.what):
            continue  # whoever starts Python lists a few folders
        if is_forced(one.where):
            continue  # that was our doing
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
