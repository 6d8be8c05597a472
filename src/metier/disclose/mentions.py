"""Mentions in a message, `$name` and `[$name](path)`, and the skills they select: Codex's rules to the letter (CX-43 to CX-45).

Work is linear in the length of the text: every character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

NOT_MENTIONS = frozenset({"path", "home", "user", "shell", "pwd", "tmpdir", "temp", "tmp", "lang", "term", "xdg_config_home"})
"""Variables that people write with a dollar sign, in any case (CX-43)."""
_NAME = r"[A-Za-z0-9_:\-]+"
_FOUND = re.compile(rf"\[\$({_NAME})\][ \t\n\f\r]*\(|\$({_NAME})")
_KINDS = {"app://": "app", "mcp://": "mcp", "plugin://": "plugin", "skill://": "skill"}
_NO_SKILL = frozenset({"app", "mcp", "plugin"})


class Mentions(NamedTuple):
    """What a text mentions, in the order of the text, each once."""

    names: tuple[str, ...]
    """By a plain `$name`."""
    links: tuple[tuple[str, str], ...]
    """By name and path."""


class Mentionable(NamedTuple):
    """A skill as far as mentioning it goes, in the order of the catalogue."""

    name: str
    file: str
    """The path of its own file."""
    rank: int
    """0: free to use. 1 and above: it asks, or is held back. Below 0: disabled, and no mention means it."""


class Selected(NamedTuple):
    """Which skills a message selects, and what selects none although it looks as if it should."""

    chosen: tuple[int, ...]
    """Places in the list of skills: selections by hand, then linked paths, then plain names."""
    ambiguous: tuple[str, ...] = ()
    unmatched: tuple[tuple[str, str], ...] = ()
    """Name and path of selections by hand and of links to a skill's file that no enabled skill has."""


def kind_of(path: str) -> str:
    """Tell what a linked path is about: an app, an MCP server, a plugin, a skill, or something else (CX-44)."""
    for prefix, kind in _KINDS.items():
        if path.startswith(prefix):
            return kind
    return "skill" if re.split(r"[/\\]", path[-64:])[-1].lower() == "skill.md" else "other"


def path_key(path: str) -> str:
    r"""Give the form in which paths are compared: without `skill://` and with `\` as `/`, letter by letter otherwise (CX-44)."""
    return path.removeprefix("skill://").replace("\\", "/")


def find(text: str) -> Mentions:
    """Find every mention of a text."""
    names: dict[str, None] = {}
    links: dict[tuple[str, str], None] = {}
    last = text.rfind(")")  # beyond it no link ends, and none is looked for
    at = 0
    while found := _FOUND.search(text, at):
        at = found.end()
        if found[2] is not None:
            names.setdefault(found[2])
            continue
        end = text.find(")", at) if at <= last else -1
        path = text[at:end].strip() if end >= 0 else ""
        if path:
            links.setdefault((found[1], path))
            at = end + 1
        else:
            at = found.start() + 1  # the bracket is only a bracket, and the name in it a plain one
    plain = tuple(name for name in names if name.lower() not in NOT_MENTIONS)
    return Mentions(plain, tuple(link for link in links if link[0].lower() not in NOT_MENTIONS))


def select(
    mentions: Mentions, selections: Sequence[tuple[str, str]], skills: Sequence[Mentionable], connectors: Iterable[str] = ()
) -> Selected:  # fmt: skip
    """Choose the skills that a message names; `selections` are names and paths that a person picked from a list.

    A selection by hand blocks the plain name, even one that matches nothing (CX-45): whoever picked one copy did not mean
    another. So does a connector of that name, since nobody can tell which of the two is meant.
    """
    enabled = {path_key(skill.file): at for at, skill in reversed(list(enumerate(skills))) if skill.rank >= 0}
    chosen: dict[int, None] = {}
    unmatched: list[tuple[str, str]] = []
    for name, path in selections:
        place = enabled.get(path_key(path))
        if place is None:
            unmatched.append((name, path))
        else:
            chosen.setdefault(place)
    linked: set[int] = set()
    for name, path in mentions.links:
        place = enabled.get(path_key(path)) if kind_of(path) not in _NO_SKILL else None
        if place is not None:
            linked.add(place)
        elif kind_of(path) == "skill":
            unmatched.append((name, path))
    chosen.update(dict.fromkeys(sorted(linked)))
    seen = {skills[at].name for at in chosen}
    wanted = set(mentions.names) - {name for name, _path in selections} - seen
    plain, ambiguous = _by_name(wanted, skills, {connector.lower() for connector in connectors})
    return Selected((*chosen, *(at for at in plain if at not in chosen)), ambiguous, tuple(unmatched))


def _by_name(names: Collection[str], skills: Sequence[Mentionable], connectors: set[str]) -> tuple[list[int], tuple[str, ...]]:
    """Give the places of the skills that alone have one of the names, and the names that several have.

    Copies count, shadowed ones too; but what still asks, or is held back, makes no free skill's name ambiguous: an
    unknown project could take every name away by that.
    """
    rivals: dict[str, list[int]] = {}
    for at, skill in enumerate(skills):
        if skill.rank >= 0 and skill.name in names and skill.name.lower() not in connectors:
            rivals.setdefault(skill.name, []).append(at)
    places: list[int] = []
    ambiguous: list[str] = []
    for name, found in rivals.items():
        best = min(skills[at].rank for at in found)
        best_of = [at for at in found if skills[at].rank == best]
        if len(best_of) == 1:
            places += best_of
        else:
            ambiguous.append(name)
    return sorted(places), tuple(ambiguous)
