"""Finds and lists the plugins that are mirrored here or could be (BE-2), without fetching anything
or waiting for anybody.

What cannot be used is listed with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover.agents import AGENTS
from metier.discover.io import disk
from metier.discover.scopes import Surroundings, roots_for
from metier.errors import AmbiguousError, MetierError, NotFoundError, UsageError
from metier.plugins import mirror_store, read_source
from metier.plugins.io import plugin_folder
from metier.plugins.model import (
    PluginFault,
    PluginList,
    PluginOffer,
    PluginResult,
    PluginRow,
    PluginSkillRow,
)
from metier.standard.names import near_names
from metier.supply import fetch
from metier.supply.model import Request
from metier.supply.safe_names import fold_name, printable
from metier.supply.sources import source_name
from metier.supply.sources.addresses import check_ref

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.plugins.mirror_store import MirroredPlace
    from metier.plugins.model import PluginRecord
    from metier.plugins.read_source import PluginSource


MAX_AGENT_FOLDERS = 5_000
"""How many folders of an agent are looked at."""
MAX_OFFERS = 50_000
MAX_FAULTS = 1_000
MAX_SHOWN_OFFERS = 100
PROJECT_NAME = "the project"
"""What names a plugin that lies in the project."""


def discover_plugins(context: Context) -> tuple[tuple[PluginOffer, ...], tuple[PluginFault, ...]]:
    """Give every plugin that can be found without fetching anything, sorted by id, and what cannot
    be used.

    Looked at are the agents' folders, the configuration's sources and taps, and the project's own
    top, in this order: of two places that have a plugin of one id, the first counts. A project
    comes last, since nobody need trust it: it never stands in for what its user has from elsewhere.
    """
    found = _FoundPlugins(context)
    offers = sorted(found.offers.values(), key=lambda offer: offer.plugin_id)
    return tuple(offers), tuple(found.faults)[:MAX_FAULTS]


def resolve_plugin(context: Context, said: str, *, name: str = "", ref: str = "") -> PluginOffer:
    """Give the plugin that somebody means: by an id that is known here, or by a source, which may
    be fetched.
    """
    if not name and said and not {"/", ":"} & set(said) and said[0] not in ".~-":  # perhaps an id
        offer = _by_id(context, said)
        if offer is not None:
            return _at(context, offer, ref) if ref else offer
    try:
        request = fetch.request_for(context, said, ref)
    except UsageError as error:
        if error.code != "unknown-source":
            raise
        raise _unknown(
            said,
            "'metier plugin list' shows those that are known; a folder or a repository will do too",
        ) from error
    with read_source.open_source(context, request, told_by=said) as source:
        return _only(source, said, name)


# --- finding


class _FoundPlugins:
    """What was found, everywhere, in the order that counts."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.offers: dict[str, PluginOffer] = {}
        self.faults: dict[PluginFault, None] = {}
        self.renames: dict[str, str] = {}
        self.seen: set[Texts] = set()
        settings = context.settings
        self.agents()
        for said in settings.plugins.sources:
            self.said(said, "plugins.sources in the configuration", must=True)
        for tap in settings.supply.taps:
            self.said(source_name.tap_source(tap), "supply.taps in the configuration", must=False)
        self.source(Request("marketplace", disk.real(context.project)), PROJECT_NAME)

    def agents(self) -> None:
        """Look into the folders where agents keep marketplaces and plugins."""
        for markets, told_by in _agents_folders(self.context, "markets"):
            for folder in plugin_folder.folders_below(markets, MAX_AGENT_FOLDERS):
                self.source(Request("marketplace", folder), told_by)
        for cache, told_by in _agents_folders(self.context, "plugins"):
            for folder in self.kept(cache):
                self.source(
                    Request("folder", folder),
                    told_by,
                    market=folder.removeprefix(f"{cache}/").partition("/")[0],
                )

    def kept(self, cache: str) -> Iterator[str]:
        """Give the folders below an agent's cache that hold one plugin, in one version or
        several.
        """
        if disk.kind_of(cache) != disk.FOLDER:
            return
        try:
            folders, faults = plugin_folder.plugins_below(
                cache, self.context.settings.supply, MAX_AGENT_FOLDERS
            )
        except MetierError as error:
            self.fault(PluginFault.of(cache, error))
            return
        for one in faults:
            self.fault(PluginFault.of(f"{cache}/{one.path}", one.error))
        yield from folders

    def said(self, said: str, told_by: str, *, must: bool) -> None:
        """Look at a source that the configuration names; `must` tells where it has no plugin."""
        context = self.context
        try:
            # Not from the working folder: a project must not be taken for what the user named.
            request = source_name.parse(
                said,
                cwd=context.home or "/",
                home=context.home,
                kind_of=disk.kind_of,
                taps=context.settings.supply.taps,
            )
        except MetierError as error:
            self.fault(PluginFault.of(printable(said), error))
            return
        self.source(request, told_by, must=must)

    def source(
        self, request: Request, told_by: str, *, must: bool = False, market: str = ""
    ) -> None:
        """Look at one source, once."""
        key = (source_name.canonical(read_source.as_repository(request)), request.ref, request.path)
        if key in self.seen:
            return
        self.seen.add(key)
        try:
            with read_source.open_source(
                self.context, request, fetch=False, told_by=told_by
            ) as source:
                self.faults.update(dict.fromkeys(source.faults))
                offers = source.plugins()
                for old, new in source.renames.items():
                    self.renames.setdefault(_renamed(offers, old), _renamed(offers, new))
                if must and not offers and not source.faults:
                    self.fault(
                        PluginFault(request.location, "not-found", "there is no plugin there")
                    )
        except MetierError as error:
            told = ": ".join(filter(None, (error.message, error.hint)))
            self.fault(PluginFault(request.location, error.code, told))
            return
        for offer in offers:
            self.offer(offer, market)

    def offer(self, offer: PluginOffer, market: str) -> None:
        """Keep a plugin, unless there is one of its id; a copy that an agent made of what it lists
        is no plugin of its own.
        """
        listed = self.offers.get(fold_name(f"{offer.name}@{market}")) if market else None
        if listed is not None:
            self.offers[fold_name(listed.plugin_id)] = listed._replace(
                skills=listed.skills or offer.skills
            )
            return
        before = self.offers.get(fold_name(offer.plugin_id))
        if before is not None:
            places = f"{before.source.location} and {offer.source.location}"
            told = f"'{offer.plugin_id}' is in two places: {places}; the first counts"
            self.fault(PluginFault(offer.source.location, "duplicate", told))
        elif len(self.offers) < MAX_OFFERS:
            self.offers[fold_name(offer.plugin_id)] = offer
        else:
            told = f"only the first {MAX_OFFERS:,} plugins were looked at"
            self.fault(PluginFault(offer.source.location, "too-many", told))

    def called(self, key: str) -> list[PluginOffer]:
        """Give the plugins that have a name, or had it, in whatever marketplace."""
        named = [offer for offer in self.offers.values() if fold_name(offer.name) == key]
        had = [
            self.offers[new]
            for old, new in self.renames.items()
            if old.partition("@")[0] == key and new in self.offers
        ]
        return list(dict.fromkeys((*named, *had)))

    def fault(self, fault: PluginFault) -> None:
        """Note something that cannot be used."""
        self.faults[fault] = None


def _renamed(offers: Sequence[PluginOffer], name: str) -> str:
    """Give the id that a name has in a marketplace."""
    market = next(
        (offer.plugin_id.partition("@")[2] for offer in offers if "@" in offer.plugin_id), ""
    )
    return fold_name(f"{name}@{market}")


def _agents_folders(context: Context, what: str) -> Iterator[tuple[str, str]]:
    """Give the folders of a column of the agents' table; none where the roots to look at were named
    by hand.
    """
    if context.given is not None:
        return
    place = Surroundings(context.home, context.cwd, context.project, context.env, context.platform)
    for agent in (context.agent,) if context.agent else AGENTS:
        columns: Texts = agent.markets if what == "markets" else agent.plugins
        row = agent._replace(folders=(), plugins=columns, extensions=())
        yield from (
            (root.location, root.told_by) for root in roots_for(row, place, context.settings).roots
        )


# --- what somebody means


def _by_id(context: Context, said: str) -> PluginOffer | None:
    found = _FoundPlugins(context)
    key = fold_name(said)
    for _step in range(read_source.MAX_RENAMES):
        exact = found.offers.get(key)
        plain = found.called(key)
        if exact is not None and (exact.told_by != PROJECT_NAME or len(plain) < 2):
            return exact
        if len(plain) > 1:
            raise _several(
                f"'{printable(said)}' may be several plugins", plain, "name it with its marketplace"
            )
        if plain:
            return plain[0]
        if key not in found.renames:
            return None
        key = found.renames[key]
    return None


def _at(context: Context, offer: PluginOffer, ref: str) -> PluginOffer:
    """Give the same plugin as it is at another ref."""
    if read_source.is_local(offer.source):
        raise UsageError(
            f"{offer.plugin_id} lies in a folder, which has no refs",
            hint="leave out the ref, or name a repository",
        )
    with read_source.open_source(
        context, offer.source._replace(ref=check_ref(ref)), told_by=offer.told_by
    ) as source:
        return _only(source, offer.plugin_id, offer.name)


def _only(source: PluginSource, said: str, name: str) -> PluginOffer:
    offers = source.plugins()
    if name:
        now = source.renamed(name)
        offers = tuple(offer for offer in offers if now in {offer.name, offer.plugin_id})
        if not offers:
            near = near_names(now[:MAX_SHOWN_OFFERS], [offer.name for offer in source.plugins()])
            raise _unknown(
                name,
                f"did you mean {', '.join(near)}?"
                if near
                else f"{printable(said)} does not have it",
            )
    if not offers:
        told = "; ".join(f"{fault.path}: {fault.message}" for fault in source.faults[:3])
        raise _unknown(
            said,
            told
            or "a plugin is a folder with a plugin.json, as agents have it, or is listed by a "
            "marketplace",
        )
    if len(offers) > 1:
        raise _several(
            f"there are {len(offers)} plugins there",
            offers,
            "choose one by its name, with --plugin",
        )
    return offers[0]


def _unknown(said: str, hint: str) -> NotFoundError:
    return NotFoundError(f"there is no plugin '{printable(said)}'", hint=hint)  # BE-3


def _several(message: str, offers: Sequence[PluginOffer], hint: str) -> AmbiguousError:
    return AmbiguousError(
        message,
        code="choose",
        hint=f"{hint}: {', '.join(offer.plugin_id for offer in offers[:10])}",
    ).with_details(
        candidates=[
            {
                "plugin_id": offer.plugin_id,
                "source": read_source.source_label(offer.source),
                "description": offer.description,
            }
            for offer in offers[:MAX_SHOWN_OFFERS]
        ]
    )


def list_plugins(context: Context, *, user: bool | None) -> PluginList:
    """List all plugins by id."""
    known = mirror_store.mirrored_places(context, user) if context.data else ()
    offers, faults = discover_plugins(context)
    by_id = {one.plugin_id: one for one in offers}
    rows = []
    for here in known:
        for plugin in here.mirror.plugins:
            row = row_of(here, plugin)
            offer = by_id.get(plugin.plugin_id)
            if offer is not None and offer.source.location == row.source:
                row = row._replace(version=offer.version)
            rows.append(row)
    taken = {row.plugin_id for row in rows}
    rows += [row_of_offer(offer) for offer in offers if offer.plugin_id not in taken]
    return PluginList(tuple(sorted(rows, key=lambda row: (row.plugin_id, row.scope))), faults)


def row_of(here: MirroredPlace, plugin: PluginRecord) -> PluginRow:
    """Give one plugin as it is written down."""
    return PluginRow(
        plugin_id=plugin.plugin_id,
        enabled=plugin.enabled,
        status=plugin.status,
        installed_version=plugin.installed_version or None,
        version=plugin.installed_version,
        source=plugin.source.location,
        format=plugin.format,
        scope=here.place.scope,
        skills={
            one.skill: PluginSkillRow(
                one.status, one.accepted or None, one.observed or None, one.pending or None
            )
            for one in plugin.skills
        },
    )


def plugin_result(here: MirroredPlace, plugin_id: str, *, changed: bool) -> PluginResult:
    """Give what a verb about one plugin came to."""
    plugin = here.mirror.plugin(plugin_id)
    return PluginResult((row_of(here, plugin),) if plugin is not None else (), changed)


def row_of_offer(offer: PluginOffer) -> PluginRow:
    """Give a plugin that was only found."""
    return PluginRow(
        plugin_id=offer.plugin_id,
        enabled=False,
        status="discovered",
        installed_version=None,
        version=offer.version,
        source=offer.source.location,
        format=offer.format,
        scope="",
        skills={name: PluginSkillRow("discovered", None, None, None) for name in offer.skills},
    )
