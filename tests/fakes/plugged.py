"""A place in which a plugin is mirrored, as far as the notes on it say so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from metier.plugins.mirror_json import mirror_bytes
from metier.supply import places

if TYPE_CHECKING:
    from metier.library import Library
    from metier.plugins.model import Mirror


def mirrored(library: Library, mirror: Mirror, *, user: bool = False) -> Path:
    """Write down what is mirrored in this project, or for the user; give the file."""
    place = places.place_of(library.context, user=user)
    file = Path(places.home_of(library.context)) / "plugins" / Path(place.state).name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(mirror_bytes(mirror))
    return file
