"""Short names for the folders that skills lie in, where they make room (CX-54). Pure.

A skill belongs to the longest root that holds it. A plugin with several skills in one folder has that folder for a root;
one with a single skill shares the root of its marketplace. A root gets an alias only when all its skills together save more
than its row in the table costs.
"""

from __future__ import annotations

from metier.disclose.forms import row, size
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.disclose.forms import Form, Table
    from metier.model import Card

SEVERAL = 2


def homes(cards: Sequence[Card]) -> list[str]:
    """Give the root that each skill's place may be told from."""
    found = [card[13] for card in cards]
    roots = set(found)
    if {card[15] for card in cards} != {""}:
        found = _with_plugins(cards, found)
        roots = set(found)
    nested = len(roots) > 1 and any(_longest(parent_of(root), roots) for root in roots)
    if not nested:
        return found
    known: dict[str, str] = {}
    for at, card in enumerate(cards):
        parent = parent_of(card.path)
        if parent not in known:
            known[parent] = _longest(parent, roots)
        found[at] = known[parent] or found[at]
    return found


def parent_of(path: str) -> str:
    """Give the folder that a path lies in."""
    return path.rpartition("/")[0]


def _with_plugins(cards: Sequence[Card], roots: list[str]) -> list[str]:
    parents = [parent_of(card.path) if card.plugin else "" for card in cards]
    counts: dict[str, int] = {}
    for parent in parents:
        counts[parent] = counts.get(parent, 0) + 1
    return [parent if parent and counts[parent] >= SEVERAL else root for parent, root in zip(parents, roots, strict=True)]


def _longest(folder: str, roots: set[str]) -> str:
    """Give the nearest folder, from this one upwards, that is a root; nothing when none is."""
    while folder and folder not in roots:
        folder = parent_of(folder)
    return folder


def table(form: Form, owners: Sequence[str]) -> Table:
    """Give an alias to every root that is worth one, in the order in which skills first need them."""
    counts: dict[str, int] = {}
    for owner in owners:
        counts[owner] = counts.get(owner, 0) + 1
    rows: list[tuple[str, str]] = []
    for root, count in counts.items():
        alias = f"r{len(rows)}"
        if count >= SEVERAL and count * (len(root) - len(alias)) > size(row(form, alias, root)):
            rows.append((alias, root))
    return tuple(rows)


def place(path: str, owner: str, aliases: dict[str, str]) -> str:
    """Write a path through the alias of its root, if it has one."""
    alias = aliases.get(owner)
    return f"{alias}{path[len(owner) :]}" if alias and path.startswith(f"{owner}/") else path
