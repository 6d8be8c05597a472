"""`plugin list`: the plugins that are mirrored here, and those that were only found (BE-2). Nothing is fetched or waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.mirroring import discovering, grounds
from metier.mirrors import Bound, Listed, Mirrored, Plugins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.app import Library
    from metier.mirroring.grounds import Ground
    from metier.mirrors import Offer, Plugin


def listed(library: Library, *, user: bool | None) -> Plugins:
    """List all plugins by id."""
    known = grounds.grounds(library, user) if library.data else ()
    offers, faults = discovering.discovered(library)
    by_id = {one.plugin_id: one for one in offers}
    rows = [_with_offer(row, by_id.get(row.plugin_id)) for ground in known for row in states(ground)]
    taken = {row.plugin_id for row in rows}
    rows += [discovered(offer) for offer in offers if offer.plugin_id not in taken]
    return Plugins(tuple(sorted(rows, key=lambda row: (row.plugin_id, row.scope))), faults)


def states(ground: Ground) -> list[Listed]:
    """Give the plugins of one place as they are written down."""
    return [state(ground, plugin) for plugin in ground.mirror.plugins]


def state(ground: Ground, plugin: Plugin) -> Listed:
    """Give one plugin as it is written down."""
    skills = {skill: Bound(status, accepted or None, observed or None, pending or None)
              for skill, _path, accepted, observed, _version, status, pending in plugin.skills}  # fmt: skip
    return Listed(plugin.plugin_id, plugin.enabled, plugin.status, plugin.installed_version or None, plugin.installed_version,
                  plugin.source.location, plugin.format, ground.place.scope, skills)  # fmt: skip


def result(ground: Ground, plugin_id: str, *, changed: bool, notes: Iterable[str] = ()) -> Mirrored:
    """Give what a verb about one plugin came to."""
    plugin = ground.mirror.plugin(plugin_id)
    return Mirrored((state(ground, plugin),) if plugin is not None else (), changed, notes=tuple(notes))


def discovered(offer: Offer) -> Listed:
    """Give a plugin that was only found."""
    skills = {name: Bound("discovered", None, None, None) for name in offer.skills}
    return Listed(offer.plugin_id, enabled=False, status="discovered", installed_version=None, version=offer.version,
                  source=offer.source.location, format=offer.format, scope="", skills=skills)  # fmt: skip


def _with_offer(row: Listed, offer: Offer | None) -> Listed:
    return row if offer is None or offer.source.location != row.source else row._replace(version=offer.version)
