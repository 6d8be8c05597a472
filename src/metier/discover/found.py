"""What a walk leaves behind: the nouns between finding skills and remembering them."""

from __future__ import annotations

from metier.light import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from metier.model import Entry, Key, Problem

    Node = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...], str]
    Memo = tuple[Any, Any]
else:
    Node = Memo = tuple

# Node: a folder's listing reduced to what matters: folders, files, links, others, fault.
# Memo: the circumstances under which a file was read, and what came of it.

LEAF: Node = ((), ("SKILL.md",), (), (), "")
"""A skill's folder without folders below it: most of them."""


class Known(NamedTuple):
    """What an earlier walk of the same root learnt."""

    keys: dict[str, Key]
    """Of every folder listed and every file read, in the order they were met: neighbours lie next to each other."""
    nodes: dict[str, Node]
    memos: dict[str, Memo]


class Survey(NamedTuple):
    """All that one walk of one root found out."""

    entries: list[Entry]
    problems: list[Problem]
    truncated: list[Problem]
    categories: dict[str, str]
    known: Known
    reads: int
    """How many files were opened: what an index saves."""
