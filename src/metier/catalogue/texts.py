"""Texts made from all that was seen, such as the JSON of a listing: kept, and given again while nothing has changed."""

from __future__ import annotations

from metier.catalogue import snapshot
from metier.light import TYPE_CHECKING
from metier.resolve.facts import still_true

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.ports import Machine, Shelf
    from metier.resolve.facts import Facts


def remembered(
    shelf: Shelf, name: str, token: bytes, machine: Machine, make: Callable[[], tuple[str, Facts]],
    later: Callable[[Callable[[], None]], None],
) -> str:  # fmt: skip
    """Give a text under the token of what it was made from: as made before, when the machine still answers the same."""
    kept = snapshot.opened(shelf.load(name))
    if kept is not None and kept[0] == token and still_true(dict(kept[1][0]), machine):
        return str(kept[1][1])
    text, facts = make()
    later(lambda: shelf.save(name, snapshot.sealed((list(facts.items()), text), token)))
    return text
