"""From what a person types to the skills it can mean."""

from __future__ import annotations

import posixpath

from metier.errors import AmbiguousError, NotFoundError
from metier.light import TYPE_CHECKING
from metier.model import SCOPES, Card
from metier.standard.names import lookup_key, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_SUGGESTIONS = 20
_OUT = frozenset({"invalid", "ask", "quarantined", "blocked"})


def matches(query: str, cards: Sequence[Card], cwd: str, real: Callable[[str], str]) -> list[Card]:
    """List the skills a query can mean, strongest first: by path, `scope:name`, `plugin:name`, name, its normal form."""
    by_path = _by_path(query, cards, cwd, real)
    if by_path:
        return by_path
    first, colon, name = query.partition(":")
    if colon:
        # What a scope or a plugin vouches for comes before a skill that merely calls itself so.
        qualified = [card for card in cards if card.scope == first and card.name == name] if first in SCOPES else []
        qualified = qualified or [card for card in cards if card.plugin == first and card.name == query]
        if qualified:
            return qualified
    exact = [card for card in cards if card.name == query]
    if exact:
        return exact
    key = lookup_key(query)
    loose = [card for card in cards if lookup_key(card.name) == key]
    return loose or [card for card in cards if card.plugin and card.name.rpartition(":")[2] == query]


def choose(query: str, cards: Sequence[Card], cwd: str, real: Callable[[str], str], *, refuse: bool) -> Card:
    """Give the one skill a query means; a plain name with several copies is an error when the policy refuses."""
    found = matches(query, cards, cwd, real)
    if not found:
        raise not_found(query, cards)
    live = sorted(found, key=_usefulness)
    plain = found[0].name == query or lookup_key(found[0].name) == lookup_key(query)
    # A copy that nobody trusts makes no name ambiguous either.
    rivals = [card for card in found if card.state not in _OUT] if refuse else [card for card in live if card.state == "visible"]
    if plain and len(rivals) > 1:
        listed = "\n".join(f"  {card.scope}:{card.name}  {card.path}" for card in rivals)
        hint = "name it by its path, as scope:name or as plugin:name"
        raise AmbiguousError(f"'{query}' means {len(rivals)} skills:\n{listed}", hint=hint)
    return live[0]


def _usefulness(card: Card) -> int:
    """Rank what a name can mean: what is visible, what may still be named, what is held back, what cannot be read."""
    if card.state == "hidden" and card.held == "model":
        return 1
    return _RANKS.get(card.state, 6)


_RANKS = {"visible": 0, "shadowed": 1, "ask": 2, "hidden": 3, "quarantined": 4, "blocked": 5}
"""What nobody has said yes to comes after every copy that is free to use: it shall not take a name from one of those."""


def not_found(query: str, cards: Sequence[Card]) -> NotFoundError:
    """Say that there is no such skill, with the nearest names (HE-9)."""
    names = nearest(query, {card.name for card in cards}, MAX_SUGGESTIONS)
    hint = f"nearest names: {', '.join(names)}" if names else "no skills were found; 'metier doctor' shows where metier looks"
    return NotFoundError(f"there is no skill named '{query}'", hint=hint)


def _by_path(query: str, cards: Sequence[Card], cwd: str, real: Callable[[str], str]) -> list[Card]:
    if "/" not in query and "\\" not in query and not query.endswith((".md", ".py")):
        return []
    path = query.removesuffix("/SKILL.md").rstrip("/")
    absolute = posixpath.normpath(posixpath.join(cwd, path))
    found = [card for card in cards if card.path == absolute]
    if found:
        return found
    target = real(absolute)
    base = posixpath.basename(absolute)
    found = [card for card in cards if card.path == target or (card.path.endswith("/" + base) and real(card.path) == target)]
    if found or path.startswith(("/", ".")):
        return found
    # HE-2: a path below a root, such as mlops/axolotl.
    return [card for card in cards if card.path in {f"{card.root}/{path}", f"{card.root}/{path}.md"}]
