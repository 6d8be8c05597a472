"""Which skills of a place a mirrored plugin owns: those are neither installed over, nor locked, nor changed by anything here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.supplies import Refusal
from metier.supply.files.disk import small
from metier.supply.paths import folded
from metier.supplying import places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.app import Library
    from metier.mirrors import Mirror
    from metier.supplying.places import Place

MIRROR_BYTES = 256 * 1024 * 1024
FOLDER = "plugins"
"""Below METIER_HOME: one file for each place, called as this machine's notes on its lock are."""
PLUGIN = "plugin:"
"""What the owner of a skill begins with where it is a plugin."""


def mirror_at(path: str) -> Mirror | None:
    """Read what is mirrored in a place; nothing where nothing ever was. What cannot be read is an error: it may own all."""
    data = small(path, MIRROR_BYTES)
    if data is None:
        return None
    from metier.plugins.state import read_mirror  # most places have no plugin

    return read_mirror(data, path)


def owners(library: Library, place: Place) -> dict[str, str]:
    """Give the plugin of each skill that one owns here, by the skill's name without what some systems do not tell apart."""
    mirror = mirror_at(f"{places.home_of(library)}/{FOLDER}/{place.state.rpartition('/')[2]}")
    skills = mirror.skills if mirror is not None else ()
    return {folded(one.name): one.owner.removeprefix(PLUGIN) for one in skills if one.owner.startswith(PLUGIN)}


def owned(owned_here: Mapping[str, str], name: str) -> Refusal | None:
    """Give why a name is not for anybody but its plugin; nothing where no plugin has it."""
    plugin = owned_here.get(folded(name))
    return Refusal(name, _words(name, plugin)) if plugin is not None else None


def sure(library: Library, place: Place, names: Iterable[str]) -> None:
    """Refuse to touch what belongs to a plugin."""
    names = tuple(names)
    found = owners(library, place) if names else {}
    for name in names:
        plugin = found.get(folded(name))
        if plugin is not None:
            message, hint = _words(name, plugin)
            raise RefusedError(message, hint=hint, code="owned")


def _words(name: str, plugin: str) -> tuple[str, str]:
    return f"'{name}' belongs to the plugin {plugin}", f"'metier plugin adopt {plugin} {name}' makes it yours"
