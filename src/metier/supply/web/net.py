"""Sources on the web: a single SKILL.md, an archive, a site's well-known index, a registry. Each becomes one tree in quarantine."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from metier.errors import SourceError, UsageError
from metier.supplies import Item, Origin
from metier.supply import clawhub, wellknown
from metier.supply.archive.disk import ArchiveFile, ArchiveTree, wanted
from metier.supply.folder.disk import FolderTree
from metier.supply.net import MOST_PAGE, Client
from metier.supply.paths import checked, shown
from metier.supply.quarantine.disk import Desk, unusable
from metier.supply.sources import canonical
from metier.supply.urls import below, joined, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from metier.ports import Fetcher, Hands, Tree
    from metier.settings.tables import Supply
    from metier.supplies import Request
    from metier.supply.urls import Url
    from metier.supply.wellknown import Offer

DOCUMENT = "SKILL.md"
MOST_INDEX = 8 * 1024 * 1024
_PAGE = (b"<!doctype html", b"<html")


class Tools:
    """What every fetcher of the web works with: limits, a place to put things, and a client for each opening."""

    def __init__(self, limits: Supply, staging: str, hands: Hands, client: Callable[[], Client]) -> None:
        """Keep them together."""
        self.limits, self.staging, self.hands, self.client = limits, staging, hands, client

    @contextmanager
    def opening(self) -> Iterator[Desk]:
        """Give a desk that outlives the block when all goes well: then the tree that lies on it clears it."""
        with ExitStack() as undo:
            try:
                yield undo.enter_context(Desk(self.staging, None, self.hands))
            except OSError as error:
                raise unusable(self.staging, error) from error
            undo.pop_all()


def fetcher_for(kind: str, limits: Supply, staging: str, hands: Hands, *, hosts: Iterable[str] = ()) -> Fetcher:
    """Give who opens sources of a kind on the web; `hosts` are those that the user named."""
    named = tuple(hosts)
    tools = Tools(limits, staging, hands, lambda: Client(limits, named=named))
    if kind not in _FETCHERS:
        raise UsageError(f"nothing of the kind '{kind}' is fetched from the web", hint="write https://… or owner/repo")
    return _FETCHERS[kind](tools)


class FileFetcher:
    """Opens the address of one SKILL.md: a skill of a single file."""

    def __init__(self, tools: Tools) -> None:
        """Fetch with these."""
        self.tools = tools

    def open(self, request: Request) -> Tree:
        """Fetch the document; what it resolves to is the sha256 of its bytes."""
        data = _document(self.tools.client(), request.location, self.tools.limits)
        digest = wanted(request, hashlib.sha256(data).hexdigest())
        with self.tools.opening() as desk:
            folder = desk.fresh()
            self.tools.hands.make(folder)
            self.tools.hands.write(f"{folder}/{DOCUMENT}", [data])
            origin = Origin("file", canonical(request), request.ref, digest)
            return JoinedTree(origin, [("", FolderTree(folder, "", self.tools.limits, ""))], desk, self.tools.limits)

    def newest(self, request: Request) -> str:
        """Give the sha256 of the document as it is now."""
        return hashlib.sha256(_document(self.tools.client(), request.location, self.tools.limits)).hexdigest()


class RemoteArchiveFetcher:
    """Opens the address of an archive."""

    def __init__(self, tools: Tools) -> None:
        """Fetch with these."""
        self.tools = tools

    def open(self, request: Request) -> Tree:
        """Download it into quarantine; what it resolves to is the sha256 of its bytes."""
        with self.tools.opening() as desk:
            path, digest = _downloaded(self.tools, self.tools.client(), request.location, desk)
            origin = Origin("archive", canonical(request), request.ref, wanted(request, digest))
            return JoinedTree(origin, [("", _archive(path, origin, self.tools.limits))], desk, self.tools.limits)

    def newest(self, request: Request) -> str:
        """Say nothing: only the whole download can tell."""
        del request
        return ""


class WellKnownFetcher:
    """Opens a site by its well-known index: version 0.2.0 with digests, or the older one."""

    def __init__(self, tools: Tools) -> None:
        """Fetch with these."""
        self.tools = tools

    def open(self, request: Request) -> Tree:
        """Download what the index offers, or the one skill that the request's path names, each below its own name."""
        client, limits = self.tools.client(), self.tools.limits
        index, offers = read_index(client, request.location, limits)
        chosen = _chosen(offers, request)
        parts, left = list[tuple[str, "Tree"]](), limits.download_bytes
        with self.tools.opening() as desk, ExitStack() as undo:
            for offer in chosen:
                tree, size = self._fetched(client, index, offer, desk, left)
                undo.callback(tree.close)
                parts.append((offer.name, tree))
                left -= size
            origin = Origin("well-known", canonical(request), request.ref, _promised(offers) or _commit_of(parts))
            joint = JoinedTree(origin, parts, desk, limits)
            undo.pop_all()
            return joint

    def newest(self, request: Request) -> str:
        """Give the digest of what the index promises; the older index promises nothing."""
        return _promised(read_index(self.tools.client(), request.location, self.tools.limits)[1])

    def _fetched(self, client: Client, index: Url, offer: Offer, desk: Desk, left: int) -> tuple[Tree, int]:
        """Fetch one skill, held to its digest before anything of it is looked at; give it with its size."""
        limits, origin = self.tools.limits, Origin("well-known", str(index))
        if offer.kind == "archive":
            saved = client.save(str(joined(index, offer.url)), path := desk.fresh(), self.tools.hands, most=left)
            wellknown.check_digest(offer, saved.sha256)
            return _archive(path, origin, limits), saved.size
        folder, total = desk.fresh(), 0
        self.tools.hands.make(folder)
        if offer.kind == "skill-md":
            url, most = str(joined(index, offer.url)), min(left, limits.file_bytes)
            saved = client.save(url, f"{folder}/{DOCUMENT}", self.tools.hands, most=most)
            wellknown.check_digest(offer, saved.sha256)
            return FolderTree(folder, "", limits, ""), saved.size
        place, made = joined(index, offer.name), {""}
        for file in offer.files:
            self._make_folders(folder, file.rpartition("/")[0], made)
            url, most = str(below(place, *file.split("/"))), min(left - total, limits.file_bytes)
            total += client.save(url, f"{folder}/{file}", self.tools.hands, most=most).size
        return FolderTree(folder, "", limits, ""), total

    def _make_folders(self, folder: str, path: str, made: set[str]) -> None:
        if path not in made:
            self._make_folders(folder, path.rpartition("/")[0], made)
            self.tools.hands.make(f"{folder}/{path}")
            made.add(path)


class ClawHubFetcher:
    """Opens a skill of a ClawHub registry, at a version or at the latest."""

    def __init__(self, tools: Tools) -> None:
        """Fetch with these."""
        self.tools = tools

    def open(self, request: Request) -> Tree:
        """Download the archive of a version; what it resolves to is that version."""
        client = self.tools.client()
        place = clawhub.place_of(request.location)
        api = registry_api(client, place.registry)
        known = clawhub.known(client.get(clawhub.skill_url(api, place)).body, place, request.ref)
        with self.tools.opening() as desk:
            path, _digest = _downloaded(self.tools, client, clawhub.download_url(api, known), desk)
            origin = Origin("clawhub", canonical(request), request.ref, known.version)
            return JoinedTree(origin, [("", _archive(path, origin, self.tools.limits))], desk, self.tools.limits)

    def newest(self, request: Request) -> str:
        """Give the latest version."""
        client, place = self.tools.client(), clawhub.place_of(request.location)
        api = registry_api(client, place.registry)
        return clawhub.known(client.get(clawhub.skill_url(api, place)).body, place, "").version


_FETCHERS: dict[str, Callable[[Tools], Fetcher]] = {
    "file": FileFetcher, "archive": RemoteArchiveFetcher, "well-known": WellKnownFetcher, "clawhub": ClawHubFetcher,
}  # fmt: skip


# --- what several of them need


def read_index(client: Client, location: str, limits: Supply) -> tuple[Url, tuple[Offer, ...]]:
    """Find a site's index, the newer one first; give where it was found in the end, and what it offers."""
    site = parsed(location)
    base = site.path.rstrip("/")
    for path in (wellknown.NEW, wellknown.OLD):
        try:
            reply = client.get(str(site._replace(target=base + path)), most=MOST_INDEX)
        except SourceError as error:
            if error.code != "not-found":
                raise
            continue
        return parsed(reply.url), wellknown.offers(reply.body, path, limits)
    raise SourceError(f"{shown(location)} has no well-known index of skills", code="not-found",
                      hint="name a repository, an archive or a SKILL.md; a repository's address ends with .git")  # fmt: skip


def registry_api(client: Client, registry: Url) -> Url:
    """Find where the interface of a registry is; one that does not say has it at its own place."""
    try:
        data = client.get(str(registry._replace(target=clawhub.DISCOVERY)), most=MOST_INDEX).body
    except SourceError as error:
        if error.code != "not-found":
            raise
        data = None
    return clawhub.api_of(registry, data)


def _chosen(offers: Sequence[Offer], request: Request) -> list[Offer]:
    name = request.path.strip("/").partition("/")[0]
    found = [offer for offer in offers if not name or offer.name == name]
    if not found:
        what = f"{shown(request.location)} offers no skill" + (f" '{shown(name)}'" if name else "")
        raise SourceError(what, hint="its index lists what there is", code="no-skill")
    return found


def _document(client: Client, url: str, limits: Supply) -> bytes:
    data = client.get(url, most=min(limits.file_bytes, MOST_PAGE)).body
    if data[:64].lstrip().lower().startswith(_PAGE):
        raise SourceError(f"{shown(url)} is a page for people", hint="give the address of the file itself", code="malformed")
    return data


def _downloaded(tools: Tools, client: Client, url: str, desk: Desk) -> tuple[str, str]:
    path = desk.fresh()
    return path, client.save(url, path, tools.hands).sha256


def _archive(path: str, origin: Origin, limits: Supply) -> ArchiveTree:
    return ArchiveTree(ArchiveFile(path, limits), origin, limits)


def _promised(offers: Sequence[Offer]) -> str:
    """Give the digest of all that an index promises; the older one promises nothing."""
    return "" if any(offer.kind == "files" for offer in offers) else wellknown.commit_of(offers)


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

    def __init__(self, origin: Origin, parts: Sequence[tuple[str, Tree]], desk: Desk, limits: Supply) -> None:
        """Check every path where its own tree has it: behind a name, an absolute one would look harmless."""
        self.origin, self.parts, self.desk = origin, tuple(parts), desk
        self._items: list[Item] = []
        self._inner: dict[str, tuple[int, Item]] = {}
        try:
            for at, (name, tree) in enumerate(self.parts):
                for item in checked(tree.items(), limits):
                    key = f"{at}:{len(self._inner)}"
                    self._inner[key] = at, item
                    self._items.append(Item(f"{name}/{item.path}" if name else item.path, item.size, item.mode, key))
            checked(self._items, limits)
        except BaseException:
            self.close()
            raise

    def items(self) -> Sequence[Item]:
        """List every file."""
        return self._items

    def contents(self, items: Sequence[Item]) -> Iterator[tuple[Item, Iterator[bytes]]]:
        """Give their bytes; those of one tree that come together are asked for together."""
        start = 0
        while start < len(items):
            at, end = self._inner[items[start].key][0], start + 1
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
        self.desk.__exit__(None, None, None)
