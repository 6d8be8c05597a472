"""The nouns of scanning: a rule as data, and a hit of one in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from metier.model import Harm


READ = "Read the code around it, and use the skill only if its task needs this"
REMOVE = "Do not use the skill, and report it to where it came from"
"""Hints that rules of several languages give."""


class Rule(NamedTuple):
    """One thing that content may do. The tables in `rules/` hold them; the analyzers name them by id."""

    id: str
    severity: Harm
    category: str
    title: str
    """What was found, as a sentence without a full stop."""
    why: str
    hint: str


class Hit(NamedTuple):
    """One place where a rule matched. Offsets count characters of the text that the analyzer was given."""

    rule: str
    start: int
    end: int
    evidence: str = ""
    """What to show when the text between the offsets does not say it by itself (a decoded payload, a joined string)."""
