"""Sources on the web: a single SKILL.md, an archive, a site's well-known index, a registry. Each
becomes one tree in quarantine.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import SourceError, UsageError
from metier.supply.io.archive import ArchiveFile, ArchiveTree, check_wanted
from metier.supply.io.folder import FolderTree
from metier.supply.io.http import MAX_PAGE_BYTES, HttpClient
from metier.supply.io.quarantine import Quarantine, unusable_error
from metier.supply.model import Item, Origin
from metier.supply.safe_names import check_items, printable
from metier.supply.sources import registries
from metier.supply.sources.addresses import join_url, parse_url, url_below
from metier.supply.sources.source_name import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from metier.ports import DiskCalls, Fetcher, Tree
    from metier.settings.model import SupplySettings
    from metier.supply.io.http import HttpReply
    from metier.supply.io.quarantine import Progress
    from metier.supply.model import Contents, Request
    from metier.supply.sources.addresses import Url
    from metier.supply.sources.registries import IndexedSkill

DOCUMENT = "SKILL.md"
MAX_INDEX_BYTES = 8 * 1024 * 1024
_PAGE = (b"<!doctype html", b"<html")


class WebTools(NamedTuple):
    """What every fetcher of the web works with: limits, a place to put things, and a client for
    each opening.
    """

    limits: SupplySettings
    staging: str
    hands: DiskCalls
    client: Callable[[], HttpClient]

    @contextmanager
    def opening(self) -> Iterator[Quarantine]:
        """Give a desk that outlives the block when all goes well: then the tree that lies on it
        clears it.
        """
        with ExitStack() as undo:
            try:
                yield undo.enter_context(Quarantine(self.staging, None, self.hands))
            except OSError as error:
                raise unusable_error(self.staging, error) from error
            undo.pop_all()


def web_fetcher(
    kind: str,
    limits: SupplySettings,
    staging: str,
    hands: DiskCalls,
    *,
    hosts: Iterable[str] = (),
    env: Mapping[str, str] = MappingProxyType({}),
    progress: Progress = lambda _what, _count, _total: None,
) -> Fetcher:
    """Give who opens sources of a kind on the web; `hosts` are those that the user named, `env` may
    name a proxy.
    """
    named = tuple(hosts)

    def client() -> HttpClient:
        made = HttpClient(limits, named=named, env=env)
        made.progress = progress
        return made

    tools = WebTools(limits, staging, hands, client)
    if kind not in _FETCHERS:
        raise UsageError(
            f"nothing of the kind '{kind}' is fetched from the web",
            hint="write https://… or owner/repo",
        )
    return _FETCHERS[kind](tools)


class _WebFetcher(NamedTuple):
    """Opens sources of one kind on the web."""

    tools: WebTools

    @property
    def limits(self) -> SupplySettings:
        """How much may be fetched."""
        return self.tools.limits

    def newest(self, request: Request) -> str:
        """Say nothing: only the whole download can tell."""
        del request
        return ""

    def _download(
        self, client: HttpClient, url: str, desk: Quarantine, about: Callable[[str], Origin]
    ) -> Tree:
        """Download an archive; `about` says where it is from, given its sha256."""
        path = desk.fresh()
        origin = about(client.save(url, path, self.tools.hands).sha256)
        return JoinedTree(origin, [("", _archive(path, origin, self.limits))], desk, self.limits)


class FileFetcher(_WebFetcher):
    """Opens the address of one SKILL.md: a skill of a single file."""

    def open(self, request: Request) -> Tree:
        """Fetch the document; what it resolves to is the sha256 of its bytes."""
        data = self._document(request)
        digest = check_wanted(request, hashlib.sha256(data).hexdigest())
        with self.tools.opening() as desk:
            folder = desk.fresh()
            self.tools.hands.make(folder)
            self.tools.hands.write(f"{folder}/{DOCUMENT}", [data])
            origin = Origin("file", canonical(request), request.ref, digest)
            part = FolderTree(folder, "", self.limits, "")
            return JoinedTree(origin, [("", part)], desk, self.limits)

    def newest(self, request: Request) -> str:
        """Give the sha256 of the document as it is now."""
        return hashlib.sha256(self._document(request)).hexdigest()

    def _document(self, request: Request) -> bytes:
        most = min(self.limits.file_bytes, MAX_PAGE_BYTES)
        data = self.tools.client().get(request.location, most=most).body
        if data[:64].lstrip().lower().startswith(_PAGE):
            raise SourceError(
                f"{printable(request.location)} is a web page, not a skill",
                hint="give the address of the file itself",
                code="malformed",
            )
        return data


class RemoteArchiveFetcher(_WebFetcher):
    """Opens the address of an archive."""

    def open(self, request: Request) -> Tree:
        """Download it into quarantine; what it resolves to is the sha256 of its bytes."""

        def origin(digest: str) -> Origin:
            return Origin("archive", canonical(request), request.ref, check_wanted(request, digest))

        with self.tools.opening() as desk:
            return self._download(self.tools.client(), request.location, desk, origin)


class WellKnownFetcher(_WebFetcher):
    """Opens a site by its well-known index: version 0.2.0 with digests, or the older one."""

    def open(self, request: Request) -> Tree:
        """Download what the index offers, or the one skill that the request's path names, each
        below its own name.
        """
        client = self.tools.client()
        index, offers = read_index(client, request.location, self.limits)
        name = request.path.strip("/").partition("/")[0]
        chosen = [offer for offer in offers if not name or offer.name == name]
        if not chosen:
            what = f" '{printable(name)}'" if name else ""
            raise SourceError(
                f"{printable(request.location)} offers no skill{what}",
                hint="its index lists what there is",
                code="no-skill",
            )
        parts = []
        left = self.limits.download_bytes
        with self.tools.opening() as desk, ExitStack() as undo:
            for offer in chosen:
                tree, size = self._fetched(client, index, offer, desk, left)
                undo.callback(tree.close)
                parts.append((offer.name, tree))
                left -= size
            digest = _promised(offers) or _commit_of(parts)
            origin = Origin("well-known", canonical(request), request.ref, digest)
            joint = JoinedTree(origin, parts, desk, self.limits)
            undo.pop_all()
            return joint

    def newest(self, request: Request) -> str:
        """Give the digest of what the index promises; the older index promises nothing."""
        return _promised(read_index(self.tools.client(), request.location, self.limits)[1])

    def _fetched(
        self, client: HttpClient, index: Url, offer: IndexedSkill, desk: Quarantine, left: int
    ) -> tuple[Tree, int]:
        """Fetch one skill, held to its digest before anything of it is looked at; give it with its
        size.
        """
        limits = self.limits
        hands = self.tools.hands
        path = desk.fresh()
        if offer.kind == "archive":
            saved = client.save(str(join_url(index, offer.url)), path, hands, most=left)
            registries.check_digest(offer, saved.sha256)
            return _archive(path, Origin("well-known", str(index)), limits), saved.size
        hands.make(path)
        total = 0
        if offer.kind == "skill-md":
            files = {DOCUMENT: join_url(index, offer.url)}
        else:
            place = join_url(index, offer.name)
            files = {file: url_below(place, *file.split("/")) for file in offer.files}
        made = {""}
        for file, url in files.items():
            desk.make_folders(path, file.rpartition("/")[0], made)
            most = min(left - total, limits.file_bytes)
            saved = client.save(str(url), f"{path}/{file}", hands, most=most)
            registries.check_digest(offer, saved.sha256)
            total += saved.size
        return FolderTree(path, "", limits, ""), total


class ClawHubFetcher(_WebFetcher):
    """Opens a skill of a ClawHub registry, at a version or at the latest."""

    def open(self, request: Request) -> Tree:
        """Download the archive of a version; what it resolves to is that version."""
        client = self.tools.client()
        api, known = self._known(client, request, request.ref)
        origin = Origin("clawhub", canonical(request), request.ref, known.version)
        with self.tools.opening() as desk:
            url = registries.download_url(api, known)
            return self._download(client, url, desk, lambda _digest: origin)

    def newest(self, request: Request) -> str:
        """Give the latest version."""
        return self._known(self.tools.client(), request, "")[1].version

    def _known(
        self, client: HttpClient, request: Request, version: str
    ) -> tuple[Url, registries.RegistrySkill]:
        """Ask the registry for a skill."""
        place = registries.registry_address(request.location)
        api = registry_api(client, place.registry)
        reply = client.get(registries.skill_url(api, place))
        return api, registries.read_skill(reply.body, place, version)


_FETCHERS: dict[str, Callable[[WebTools], Fetcher]] = {
    "file": FileFetcher,
    "archive": RemoteArchiveFetcher,
    "well-known": WellKnownFetcher,
    "clawhub": ClawHubFetcher,
}


# --- what several of them need


def read_index(
    client: HttpClient, location: str, limits: SupplySettings
) -> tuple[Url, tuple[IndexedSkill, ...]]:
    """Find a site's index, the newer one first; give where it was found in the end, and what it
    offers.
    """
    site = parse_url(location)
    base = site.path.rstrip("/")
    for path in (registries.NEW_INDEX_PATH, registries.OLD_INDEX_PATH):
        reply = _get_if_there(client, site._replace(target=base + path))
        if reply is not None:
            return parse_url(reply.url), registries.read_offers(reply.body, path, limits)
    raise SourceError(
        f"{printable(location)} has no well-known index of skills",
        code="not-found",
        hint="name a repository, an archive or a SKILL.md; a repository's address ends with .git",
    )


def registry_api(client: HttpClient, registry: Url) -> Url:
    """Find where the interface of a registry is; one that does not say has it at its own place."""
    reply = _get_if_there(client, registry._replace(target=registries.DISCOVERY_PATH))
    return registries.api_of(registry, reply.body if reply is not None else None)


def _get_if_there(client: HttpClient, url: Url) -> HttpReply | None:
    try:
        return client.get(str(url), most=MAX_INDEX_BYTES)
    except SourceError as error:
        if error.code != "not-found":
            raise
        return None


def _archive(path: str, origin: Origin, limits: SupplySettings) -> ArchiveTree:
    return ArchiveTree(ArchiveFile(path, limits), origin, limits)


def _promised(offers: Sequence[IndexedSkill]) -> str:
    """Give the digest of all that an index promises; the older one promises nothing."""
    return "" if any(offer.kind == "files" for offer in offers) else registries.index_digest(offers)


def _commit_of(parts: Sequence[tuple[str, Tree]]) -> str:
    """Give one digest for files that nobody promised anything about."""
    whole = hashlib.sha256()
    for name, tree in parts:
        for item, chunks in tree.contents(tree.items()):
            whole.update(f"{name}/{item.path}\n{item.size}\n".encode())
            for chunk in chunks:
                whole.update(chunk)
    return whole.hexdigest()


class JoinedTree:
    """Several trees as one, each below its own name; with them goes the desk that they lie on."""

    def __init__(
        self,
        origin: Origin,
        parts: Sequence[tuple[str, Tree]],
        desk: Quarantine,
        limits: SupplySettings,
    ) -> None:
        """Check every path where its own tree has it: behind a name, an absolute one would look
        harmless.
        """
        self.origin, self.parts, self.desk = origin, tuple(parts), desk
        self._items: list[Item] = []
        self._inner: dict[str, tuple[int, Item]] = {}
        try:
            for at, (name, tree) in enumerate(self.parts):
                for item in check_items(tree.items(), limits):
                    key = f"{at}:{len(self._inner)}"
                    self._inner[key] = at, item
                    self._items.append(
                        Item(
                            f"{name}/{item.path}" if name else item.path, item.size, item.mode, key
                        )
                    )
            check_items(self._items, limits)
        except BaseException:
            self.close()
            raise

    def items(self) -> Sequence[Item]:
        """List every file."""
        return self._items

    def contents(self, items: Sequence[Item]) -> Contents:
        """Give their bytes; those of one tree that come together are asked for together."""
        start = 0
        while start < len(items):
            at = self._inner[items[start].key][0]
            end = start + 1
            while end < len(items) and self._inner[items[end].key][0] == at:
                end += 1
            run = items[start:end]
            inner = self.parts[at][1].contents([self._inner[item.key][1] for item in run])
            for item, (_inner, chunks) in zip(run, inner, strict=True):
                yield item, chunks
            start = end

    def close(self) -> None:
        """Close them all, and clear the desk."""
        for _name, tree in self.parts:
            tree.close()
        self.desk.__exit__()
