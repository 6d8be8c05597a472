"""From what a person types to the skills it can mean."""

from __future__ import annotations

import posixpath
import re

from metier.errors import AmbiguousError, NotFoundError
from metier.fast import TYPE_CHECKING
from metier.model import SCOPES, Card
from metier.standard.names import did_you_mean, lookup_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Canonical = Callable[[str], str]
    """Gives the canonical form of a path."""

MAX_SUGGESTIONS = 20
_NAMESPACE = re.compile(r"[A-Za-z0-9_-]+")
_PATH_SIGN = re.compile(r"[/\\]|\.(?:md|py)\Z")
_OUT = frozenset({"invalid", "ask", "quarantined", "blocked"})


def matches(query: str, cards: Sequence[Card], cwd: str, real: Canonical) -> list[Card]:
    """List the skills a query can mean, strongest first: by path, `scope:name`, `plugin:name`,
    name, its normal form, and a flat skill by its file (HE-2).
    """
    by_path = _by_path(query, cards, cwd, real)
    if by_path:
        return by_path
    first, colon, name = query.partition(":")
    if colon:
        # What a scope or a plugin vouches for comes before a skill that merely calls itself so.
        qualified = (
            [card for card in cards if card.scope == first and card.name == name]
            if first in SCOPES
            else []
        )
        qualified = qualified or [
            card for card in cards if card.plugin == first and card.name == query
        ]
        if qualified:
            return qualified
    exact = [card for card in cards if card.name == query]
    if exact:
        return exact
    key = lookup_key(query)
    loose = [card for card in cards if lookup_key(card.name) == key]
    bare = loose or [
        card for card in cards if card.plugin and card.name.rpartition(":")[2] == query
    ]
    if bare or "/" in query:
        return bare
    if colon and _NAMESPACE.fullmatch(first):
        return _by_path(f"{first}/{name}", cards, cwd, real)  # HE-15: a category, not a plugin
    file = f"/{query.removesuffix('.md')}.md"
    flat = [card for card in cards if card.kind == "flat-md" and card.path.endswith(file)]
    return flat or [card for card in cards if is_folder_of(query, card)]


def is_folder_of(query: str, card: Card) -> bool:
    """Tell whether a query is the name of the folder that a skill lies in."""
    return card.kind == "skill-md" and card.path.rpartition("/")[2] == query


def same_places(cards: Sequence[Card], others: Sequence[Card], real: Canonical) -> list[Card]:
    """Give those of the cards that lie where the others lie, whatever each side calls them."""
    if not others:
        return []
    places = {real(card.path) for card in others}
    ends = {place.rpartition("/")[2] for place in (*places, *(card.path for card in others))}
    return [
        card for card in cards if card.path.rpartition("/")[2] in ends and real(card.path) in places
    ]


def is_copy_named(query: str, card: Card) -> bool:
    """Tell whether a query that means a skill means this very copy: by its path, or as `scope:name`
    (MT-1).
    """
    named = lookup_key(query) == lookup_key(card.name)
    return query == card.path or not (named or (":" not in query and not _PATH_SIGN.search(query)))


def choose(
    query: str,
    cards: Sequence[Card],
    cwd: str,
    real: Canonical,
    *,
    refuse: bool,
    strongest: bool = False,
) -> Card:
    """Give the one skill a query means; a plain name with several copies is an error when the
    policy refuses, or where several are offered and none of them counts as the `strongest`.
    """
    found = matches(query, cards, cwd, real)
    if not found:
        raise not_found(query, cards)
    live = sorted(found, key=_usefulness)
    plain = found[0].name == query or lookup_key(found[0].name) == lookup_key(query)
    plain = plain or is_folder_of(query, found[0])
    # A copy that nobody trusts makes no name ambiguous either.
    rivals = (
        [card for card in found if card.state not in _OUT]
        if refuse
        else [card for card in live if card.state == "visible"]
    )
    if plain and len(rivals) > 1 and (refuse or not strongest):
        listed = "\n".join(f"  {card.scope}:{card.name}  {card.path}" for card in rivals)
        hint = "use its path, scope:name or plugin:name"
        raise AmbiguousError(f"'{query}' matches {len(rivals)} skills:\n{listed}", hint=hint)
    return live[0]


def _usefulness(card: Card) -> int:
    """Rank what a name can mean: what is visible, what may still be named, what is held back, what
    cannot be read.
    """
    if card.state == "hidden" and card.held in _NAMEABLE:
        return _NAMEABLE[card.held]
    return _RANKS.get(card.state, 7)


_NAMEABLE = {"model": 1, "offer": 2}
_RANKS = {"visible": 0, "shadowed": 1, "ask": 3, "hidden": 4, "quarantined": 5, "blocked": 6}
"""What nobody has said yes to comes after every copy that is free to use: it shall not take a name
from one of those."""


def not_found(query: str, cards: Sequence[Card]) -> NotFoundError:
    """Say that there is no such skill, with the names that are near (HE-9) or where to look."""
    meant = did_you_mean(query, {card.name for card in cards}, MAX_SUGGESTIONS).rstrip()
    if not cards:
        hint = "no skills found. See where metier looks: metier doctor"
    else:
        hint = meant or (
            "see all names: metier list --all. For a skill in a folder that no agent reads, add "
            "--root FOLDER"
        )
    return NotFoundError(f"no skill named '{query}'", hint=hint)


def unread(query: str, path: str) -> NotFoundError:
    """Say that what was named is a skill on disk, at `path`, where nothing has told metier to
    look.
    """
    from shlex import quote

    word = quote(path)
    return NotFoundError(
        f"no skill named '{query}' is in a folder that metier reads, but {path} is one",
        hint=f"to use it where it is, add --root {word}. To install it: metier add {word}",
    )


def _by_path(query: str, cards: Sequence[Card], cwd: str, real: Canonical) -> list[Card]:
    if not _PATH_SIGN.search(query) or "\0" in query:  # nothing on disk has that in its path
        return []
    path = query.removesuffix("/SKILL.md").rstrip("/")
    absolute = posixpath.normpath(posixpath.join(cwd, path))
    found = [card for card in cards if card.path == absolute]
    if found:
        return found
    target = real(absolute)
    base = posixpath.basename(absolute)
    found = [
        card
        for card in cards
        if card.path == target or (card.path.endswith("/" + base) and real(card.path) == target)
    ]
    if found or path.startswith(("/", ".")):
        return found
    # HE-2: a path below a root, such as mlops/axolotl.
    return [
        card for card in cards if card.path in {f"{card.root}/{path}", f"{card.root}/{path}.md"}
    ]
