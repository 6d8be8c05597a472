"""What a draft starts from and what it comes to, kept in the store: so that it can be rebased when the skill moves on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import MetierError

if TYPE_CHECKING:
    from metier.app import Library


def keep_trees(library: Library, path: str, tree: str) -> None:
    """Keep the skill as it is, where there is one, and the tree that was made of it.

    The draft is written by now and names both, so nobody frees them; it can do without them as long as the skill does not change.
    """
    from metier.supplying.places import store_of

    try:
        store = store_of(library)
        for folder in filter(None, (path, tree)):
            store.keep(folder)
    except MetierError as error:
        library.warnings.append(f"what the draft starts from could not be kept: {error.message}")
