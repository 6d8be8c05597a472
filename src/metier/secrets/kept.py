"""Which names are kept on this machine, for a listing that wants to know what is missing. No value leaves here."""

from __future__ import annotations

from metier.errors import MetierError
from metier.light import TYPE_CHECKING
from metier.secrets import disk
from metier.secrets.names import names_in

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = (disk.VALUES, disk.NAMES)


def names_below(data: str) -> Mapping[str, bool]:
    """Name what the file and the keyring keep, each with whether it has a value; a store that is refused keeps nothing."""
    found: dict[str, bool] = dict.fromkeys(_listed(data), True)
    try:
        found |= names_in(disk.read(data, disk.VALUES))
    except MetierError:
        pass  # whoever uses the store is told
    return found


def _listed(data: str) -> list[str]:
    try:
        text = disk.read(data, disk.NAMES)
    except MetierError:
        return []
    if not text:
        return []
    from metier.secrets.db import listed

    return listed(text)
