"""Skills taken apart, for the second stage: the latest of them stay, as far as there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.route.second import LONGEST_BODY, doc
from metier.routing import texts
from metier.routing.state import Kept, routed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.app import Library
    from metier.model import Card
    from metier.route.second import Doc
    from metier.routing.state import Current, Routed

_WORD_BYTES, _PASSAGE_BYTES, _DOC_BYTES = 8, 200, 800
"""Of a word, which many skills share; of what is kept of a passage besides; and of a skill."""


def docs_of(library: Library, now: Current, paths: Iterable[str]) -> dict[str, Doc]:
    """Give skills as they are on the disk; what cannot be read any more is left out."""
    state = routed(library)
    found: dict[str, Kept] = {}
    for path in paths:
        kept = _known(now, now.cards[path], state.docs.get(path)) or _read(now, now.cards[path])
        if kept is not None:
            found[path] = kept
    with library.alone:
        _keep(state, found, library.room)
    return {path: kept.doc for path, kept in found.items()}


def _known(now: Current, card: Card, kept: Kept | None) -> Kept | None:
    """Give what is kept of a skill, if it is still so; within one listing that is looked at once."""
    if kept is None or kept.seen == now.glanced.token:
        return kept
    return kept._replace(seen=now.glanced.token) if texts.is_still(card, kept.stamp) else None


def _read(now: Current, card: Card) -> Kept | None:
    opening = texts.opening_of(card, LONGEST_BODY)
    if opening is None:
        return None
    stamp, body = opening
    made = doc(card.name, card.description, body)
    words = len(made.card) + sum(len(passage.words) for passage in made.passages)
    size = _DOC_BYTES + _PASSAGE_BYTES * len(made.passages) + _WORD_BYTES * words
    return Kept(stamp, made, now.glanced.token, size)


def _keep(state: Routed, found: dict[str, Kept], room: int) -> None:
    for path, kept in found.items():
        before = state.docs.pop(path, None)
        state.docs[path] = kept
        state.docs_size += kept.size - (before.size if before else 0)
    while state.docs_size > room:
        _path, kept = state.docs.popitem(last=False)
        state.docs_size -= kept.size
