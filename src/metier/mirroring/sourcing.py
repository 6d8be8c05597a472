"""What plugins a source has, and what one of them ships: opened once, and looked at while it is open."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import MetierError, RefusedError, SourceError
from metier.mirroring import offering
from metier.mirrors import Fault, Offer
from metier.supplies import Item, Picked, Request
from metier.supply import pick
from metier.supply.manifests import plugin_at
from metier.supplying import fetching
from metier.supplying.fetching import Source
from metier.supplying.places import home_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from metier.app import Library
    from metier.mirroring.known.disk import Unlisted
    from metier.mirroring.offering import Stand
    from metier.ports import Tree
    from metier.supply.manifests import Plugin

MOST_RENAMES = 16
SYMLINK = "Skill tree contains a symlink: {}"
"""What is said of a skill with a link in it (BE-10)."""
LINK = "it is a link, which is not followed"


class Shipped(NamedTuple):
    """What a plugin ships now. Its skills can be laid on a desk as long as the source is open."""

    offer: Offer
    commit: str
    """What the source that holds it stands at; nothing for a folder."""
    skills: tuple[tuple[Source, Picked], ...]
    faults: tuple[Fault, ...] = ()
    """What is wrong with skills of it."""
    withheld: tuple[str, ...] = ()
    """The names of skills that are there and cannot be used: they are not what was removed."""


class Opened:
    """An opened source of plugins, and those that it leads to; all are closed with it."""

    def __init__(self, library: Library, source: Source, closing: ExitStack, told_by: str = "") -> None:
        """Read what there is; nothing of another source is opened yet."""
        self.library, self.source, self._closing = library, source, closing
        self.request, self._others = source.request, dict[Request, Source]()
        self._links = dict[Request, list[str]]()
        market = source.pickings.market
        self.renames: Mapping[str, str] = market.renames if market is not None else {}
        found, faults = offering.stands(market, source.pickings.skills, self.request, told_by) if market else ([], [])
        self._stands: dict[str, Stand] = {stand.offer.name: stand for stand in found}
        self._faults = dict.fromkeys(faults)
        unlisted: Sequence[Unlisted] = getattr(source.tree, "faults", ())
        self._note([Fault(offering.spot(self.request, one.path), one.error.code, one.error.message) for one in unlisted])

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What could not be used, so far as it was looked at."""
        return tuple(self._faults)

    def _note(self, faults: Sequence[Fault]) -> None:
        self._faults.update(dict.fromkeys(faults))

    def plugins(self) -> tuple[Offer, ...]:
        """Give the plugins on offer, in the source's order."""
        return tuple(stand.offer for stand in self._stands.values())

    def renamed(self, name: str) -> str:
        """Follow a plugin to the name it has now."""
        for _step in range(MOST_RENAMES):
            if name in self._stands or name not in self.renames:
                return name
            name = self.renames[name]
        return name

    def shipped(self, name: str) -> Shipped | None:
        """Give what a plugin ships, fetching it where the source keeps it elsewhere; nothing when its manifest is gone."""
        stand = self._stands.get(self.renamed(name))
        if stand is None:
            return None
        if stand.plugin.elsewhere:
            return self._elsewhere(stand)
        return self._shipped(stand.offer, self.source, stand.plugin, stand.skills)

    def _shipped(self, offer: Offer, source: Source, plugin: Plugin, skills: Sequence[Picked]) -> Shipped:
        kept, faults = offering.usable(skills, source.request)
        links = offering.linked(plugin, self._links_of(source))
        faults += [Fault(offering.spot(source.request, path), "unsafe-link", LINK) for path in links]
        self._note(faults)
        names = {skill.name: None for skill in kept}
        withheld = dict.fromkeys((*(one.name for one in skills), *(path.rpartition("/")[2] for path in links)))
        return Shipped(offer._replace(skills=tuple(names)), source.origin.commit, tuple((source, skill) for skill in kept),
                       tuple(faults), tuple(name for name in withheld if name not in names))  # fmt: skip

    def _links_of(self, source: Source) -> list[str]:
        """Give all links of a source, which is listed once for all its plugins."""
        if source.request not in self._links:
            self._links[source.request] = [item.path for item in source.tree.items() if item.mode == "link"]
        return self._links[source.request]

    def _elsewhere(self, stand: Stand) -> Shipped | None:
        entry = stand.plugin
        base = entry.elsewhere[0]._replace(path=entry.folder)
        source = self._other(base)
        items = source.tree.items()
        there, broken = plugin_at(items, partial(_heads, source.tree), entry.folder, strict=entry.strict)
        self._note([Fault(offering.spot(base, one.path), one.code, one.why) for one in broken])
        if not there.format or not any(f"{item.path}/".startswith(f"{entry.folder}/" if entry.folder else "") for item in items):
            return None
        paths = tuple(request.path for request in entry.elsewhere)
        if paths != (entry.folder,):  # the entry says itself which skills it means
            there = there._replace(skills=paths, alone=False)
        offer = stand.offer._replace(
            version=stand.offer.version or offering.readable(there.version, offering.MOST_NAME),
            description=stand.offer.description or offering.readable(there.description, offering.MOST_TEXT), format=there.format,
        )  # fmt: skip
        return self._shipped(offer, source, there, offering.Claimed([there], source.pickings.skills).share(there))

    def _other(self, request: Request) -> Source:
        """Open a source that this one leads to, once."""
        if request not in self._others:
            if len(self._others) == fetching.MOST_ELSEWHERE:
                what = f"{self.request.location} leads to more than {fetching.MOST_ELSEWHERE} sources"
                raise RefusedError(what, code="too-many", hint="name the plugin's own repository")
            self._others[request] = self._closing.enter_context(fetching.opened(self.library, request))
        return self._others[request]


@contextmanager
def opened(library: Library, request: Request, *, fetch: bool = True, told_by: str = "") -> Iterator[Opened]:
    """Open a source of plugins. Without `fetch`, only what is on this machine is looked at, and nothing is locked."""
    with ExitStack() as closing:
        source = closing.enter_context(_source(library, request, fetch=fetch))
        yield Opened(library, source, closing, told_by)


def is_local(request: Request) -> bool:
    """Tell whether a source is a folder of this machine, which is read where it lies and has no versions."""
    return request.kind in {"folder", "bundled", "marketplace"} and request.location.startswith("/")


def newest(library: Library, request: Request) -> str:
    """Give what a source would resolve to now; nothing for a folder. A repository is only asked for its refs."""
    asked = plain(request)
    return fetching.fetcher_for(library, asked).newest(asked)


def links_in(picked: Picked) -> tuple[str, ...]:
    """Give the links in a skill's tree, to files and to folders alike, as paths inside it (BE-10)."""
    at = len(picked.path) + 1 if picked.path else 0
    return tuple(sorted(item.path[at:] for item in picked.items if item.mode == "link"))


def plain(request: Request) -> Request:
    """Give a marketplace as the repository or the folder that it is."""
    if request.kind != "marketplace":
        return request
    return request._replace(kind="folder" if is_local(request) else "git")


@contextmanager
def _source(library: Library, request: Request, *, fetch: bool) -> Iterator[Source]:
    asked = plain(request)
    if asked.kind in {"folder", "bundled"} and asked.kind not in library.fetchers:
        from metier.mirroring.known import disk as known

        if disk.kind_of(request.location) != disk.FOLDER:
            raise SourceError(f"there is no folder {request.location}", hint="check the path", code="not-found")
        deep = request.kind != "marketplace"  # a marketplace is what its top says, and nothing that happens to lie in it
        tree: Tree = known.known(request.location, request.path, library.settings.supply, request.location, deep=deep)
    elif fetch or (asked.kind == "archive" and asked.location.startswith("/")):
        with fetching.opened(library, asked) as source:
            yield source._replace(request=request)
        return
    elif asked.kind == "git":
        from metier.mirroring.known import proc

        tree = proc.kept(f"{home_of(library)}/cache/git", asked, library.settings.supply, library.env)
    else:
        raise SourceError(f"{request.location} was never fetched", code="not-fetched", hint="enable one of its plugins to fetch it")
    try:
        pickings = pick.skills_in(tree.items(), partial(_heads, tree), request.path, fallback=_fallback(request))
        yield Source(request, tree, pickings, tree.origin)
    finally:
        tree.close()


def _fallback(request: Request) -> str:
    return request.location.rstrip("/").rpartition("/")[2].removesuffix(".git")


def _heads(tree: Tree, items: Sequence[Item]) -> Mapping[str, bytes]:
    """Read small files; one that cannot be read is left out, whatever it turned into meanwhile."""
    found: dict[str, bytes] = {}
    for item in items:
        if item.mode in {"file", "exec"} and item.size <= fetching.READ_BYTES:
            try:
                found |= {one.path: b"".join(pieces) for one, pieces in tree.contents([item])}
            except MetierError:
                continue
    return found
