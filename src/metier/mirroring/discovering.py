"""Which plugins there are to be had: found without asking anybody and without waiting, and what cannot be used told as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover import disk
from metier.discover.agents import AGENTS
from metier.discover.scopes import Place, roots_for
from metier.errors import AmbiguousError, MetierError, NotFoundError, UsageError
from metier.mirroring import offering, sourcing
from metier.mirroring.known import disk as known
from metier.mirrors import Fault, Offer
from metier.standard.names import nearest
from metier.supplies import Request
from metier.supply import sources
from metier.supply.naming import checked_ref
from metier.supply.paths import folded, shown
from metier.supplying import fetching

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.app import Library
    from metier.mirroring.sourcing import Opened

MOST_FOLDERS = 5_000
"""How many folders of an agent are looked at."""
MOST_OFFERS = 50_000
MOST_FAULTS = 1_000
MOST_SHOWN = 100
PROJECT = "the project"
"""What names a plugin that lies in the project."""


def discovered(library: Library) -> tuple[tuple[Offer, ...], tuple[Fault, ...]]:
    """Give every plugin that can be found without fetching anything, sorted by id, and what cannot be used.

    Looked at are the agents' folders, the configuration's sources and taps, and the project's own top, in this order: of two
    places that have a plugin of one id, the first counts. A project comes last, since nobody need trust it: it never stands in
    for what its user has from elsewhere.
    """
    found = _Found(library)
    found.look()
    return tuple(sorted(found.offers.values(), key=lambda offer: offer.plugin_id)), tuple(found.faults)[:MOST_FAULTS]


def resolve(library: Library, said: str, *, name: str = "", ref: str = "") -> Offer:
    """Give the plugin that somebody means: by an id that is known here, or by a source, which may be fetched."""
    if not name and _may_be_an_id(said):
        offer = _by_id(library, said)
        if offer is not None:
            return _at(library, offer, ref) if ref else offer
    try:
        request = fetching.request_for(library, said, ref)
    except UsageError as error:
        if error.code != "unknown-source":
            raise
        raise _unknown(said, "'metier plugin list' shows those that are known; a folder or a repository will do too") from error
    with sourcing.opened(library, request, told_by=said) as source:
        return _only(source, said, name)


# --- finding


class _Found:
    """What was found so far."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.offers: dict[str, Offer] = {}
        self.faults: dict[Fault, None] = {}
        self.renames: dict[str, str] = {}
        self.seen: set[tuple[str, ...]] = set()

    def look(self) -> None:
        """Look everywhere, in the order that counts."""
        library, supply = self.library, self.library.settings
        self.agents()
        for said in supply.plugins.sources:
            self.said(said, "plugins.sources in the configuration", must=True)
        for tap in supply.supply.taps:
            self.said(sources.tap_source(tap), "supply.taps in the configuration", must=False)
        self.source(Request("marketplace", disk.real(library.project)), PROJECT)

    def agents(self) -> None:
        """Look into the folders where agents keep marketplaces and plugins."""
        for markets, told_by in _agents_folders(self.library, "markets"):
            for folder in known.folders_below(markets, MOST_FOLDERS):
                self.source(Request("marketplace", folder), told_by)
        for cache, told_by in _agents_folders(self.library, "plugins"):
            for folder in self.kept(cache):
                self.source(Request("folder", folder), told_by, market=folder.removeprefix(f"{cache}/").partition("/")[0])

    def kept(self, cache: str) -> Iterator[str]:
        """Give the folders below an agent's cache that hold one plugin, in one version or several."""
        if disk.kind_of(cache) != disk.FOLDER:
            return
        try:
            folders, faults = known.plugins_below(cache, self.library.settings.supply, MOST_FOLDERS)
        except MetierError as error:
            self.fault(Fault(cache, error.code, error.message))
            return
        self.faults.update(dict.fromkeys(Fault(f"{cache}/{one.path}", one.error.code, one.error.message) for one in faults))
        yield from folders

    def said(self, said: str, told_by: str, *, must: bool) -> None:
        """Look at a source that the configuration names; `must` tells where it has no plugin."""
        library = self.library
        try:
            # Not from the working folder: a project must not be taken for what the user named.
            request = sources.parse(said, cwd=library.home or "/", home=library.home, kind_of=disk.kind_of,
                                    taps=library.settings.supply.taps)  # fmt: skip
        except MetierError as error:
            self.fault(Fault(shown(said), error.code, error.message))
            return
        self.source(request, told_by, must=must)

    def source(self, request: Request, told_by: str, *, must: bool = False, market: str = "") -> None:
        """Look at one source, once."""
        key = (sources.canonical(sourcing.plain(request)), request.ref, request.path)
        if key in self.seen:
            return
        self.seen.add(key)
        try:
            with sourcing.opened(self.library, request, fetch=False, told_by=told_by) as source:
                self.faults.update(dict.fromkeys(source.faults))
                offers = source.plugins()
                for old, new in source.renames.items():
                    self.renames.setdefault(_renamed(offers, old), _renamed(offers, new))
                if must and not offers and not source.faults:
                    self.fault(Fault(request.location, "not-found", "there is no plugin there"))
        except MetierError as error:
            self.fault(Fault(request.location, error.code, ": ".join(filter(None, (error.message, error.hint)))))
            return
        for offer in offers:
            self.offer(offer, market)

    def offer(self, offer: Offer, market: str) -> None:
        """Keep a plugin, unless there is one of its id; a copy that an agent made of what it lists is no plugin of its own."""
        listed = self.offers.get(folded(f"{offer.name}@{market}")) if market else None
        if listed is not None:
            self.offers[folded(listed.plugin_id)] = listed._replace(skills=listed.skills or offer.skills)
            return
        before = self.offers.get(folded(offer.plugin_id))
        if before is not None:
            places = f"{before.source.location} and {offer.source.location}"
            told = f"'{offer.plugin_id}' is in two places: {places}; the first counts"
            self.fault(Fault(offer.source.location, "duplicate", told))
        elif len(self.offers) < MOST_OFFERS:
            self.offers[folded(offer.plugin_id)] = offer
        else:
            self.fault(Fault(offer.source.location, "too-many", f"only the first {MOST_OFFERS:,} plugins were looked at"))

    def called(self, key: str) -> list[Offer]:
        """Give the plugins that have a name, or had it, in whatever marketplace."""
        named = [offer for offer in self.offers.values() if folded(offer.name) == key]
        had = [self.offers[new] for old, new in self.renames.items() if old.partition("@")[0] == key and new in self.offers]
        return list(dict.fromkeys((*named, *had)))

    def fault(self, fault: Fault) -> None:
        """Note something that cannot be used."""
        self.faults[fault] = None


def _renamed(offers: Sequence[Offer], name: str) -> str:
    """Give the id that a name has in a marketplace."""
    market = next((offer.plugin_id.partition("@")[2] for offer in offers if "@" in offer.plugin_id), "")
    return folded(f"{name}@{market}")


def _agents_folders(library: Library, what: str) -> Iterator[tuple[str, str]]:
    """Give the folders of a column of the agents' table; none where the roots to look at were named by hand."""
    if library.given is not None:
        return
    place = Place(library.home, library.cwd, library.project, library.env, library.platform)
    for agent in (library.agent,) if library.agent else AGENTS:
        columns: tuple[str, ...] = agent.markets if what == "markets" else agent.plugins
        row = agent._replace(folders=(), plugins=columns, external=False)
        yield from ((root.location, root.told_by) for root in roots_for(row, place, library.settings).roots)


# --- what somebody means


def _may_be_an_id(said: str) -> bool:
    return bool(said) and "/" not in said and ":" not in said and not said.startswith((".", "~", "-"))


def _by_id(library: Library, said: str) -> Offer | None:
    found = _Found(library)
    found.look()
    key = folded(said)
    for _step in range(sourcing.MOST_RENAMES):
        exact, plain = found.offers.get(key), found.called(key)
        if exact is not None and (exact.told_by != PROJECT or len(plain) < 2):
            return exact
        if len(plain) > 1:
            raise _several(f"'{shown(said)}' may be several plugins", plain, "name it with its marketplace")
        if plain:
            return plain[0]
        if key not in found.renames:
            return None
        key = found.renames[key]
    return None


def _at(library: Library, offer: Offer, ref: str) -> Offer:
    """Give the same plugin as it is at another ref."""
    if sourcing.is_local(offer.source):
        raise UsageError(f"{offer.plugin_id} lies in a folder, which has no refs", hint="leave out the ref, or name a repository")
    with sourcing.opened(library, offer.source._replace(ref=checked_ref(ref)), told_by=offer.told_by) as source:
        return _only(source, offer.plugin_id, offer.name)


def _only(source: Opened, said: str, name: str) -> Offer:
    offers = source.plugins()
    if name:
        now = source.renamed(name)
        offers = tuple(offer for offer in offers if now in {offer.name, offer.plugin_id})
        if not offers:
            near = nearest(now[:MOST_SHOWN], [offer.name for offer in source.plugins()], 3)
            raise _unknown(name, f"did you mean {', '.join(near)}?" if near else f"{shown(said)} does not have it")
    if not offers:
        told = "; ".join(f"{fault.path}: {fault.message}" for fault in source.faults[:3])
        raise _unknown(said, told or "a plugin is a folder with a plugin.json, as agents have it, or is listed by a marketplace")
    if len(offers) > 1:
        raise _several(f"there are {len(offers)} plugins there", offers, "choose one by its name, with --plugin")
    return offers[0]


def _unknown(said: str, hint: str) -> NotFoundError:
    return NotFoundError(f"Unknown plugin: {shown(said)}", hint=hint)  # BE-3


def _several(message: str, offers: Sequence[Offer], hint: str) -> AmbiguousError:
    error = AmbiguousError(message, code="choose", hint=f"{hint}: {', '.join(offer.plugin_id for offer in offers[:10])}")
    error.details["candidates"] = [
        {"plugin_id": offer.plugin_id, "source": offering.spot(offer.source), "description": offer.description}
        for offer in offers[:MOST_SHOWN]
    ]
    return error
