"""From a source as somebody named it to skills lying in quarantine: opened, picked, checked and written where no agent looks."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import MetierError, SourceError, StoreError
from metier.standard.digest import tree_digest
from metier.supplies import Refusal
from metier.supply import pick, sources
from metier.supply.paths import checked
from metier.supply.quarantine.disk import Desk
from metier.supplying.places import hands_of, home_of
from metier.trust.levels import level_of_source, rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from metier.app import Library
    from metier.model import Digest
    from metier.ports import Fetcher, Tree
    from metier.standard.digest import TreeFile
    from metier.supplies import Item, Origin, Picked, Request
    from metier.supply.pick import Pickings

MOST_ELSEWHERE = 32
"""How many further repositories a marketplace may lead to in one go."""
READ_BYTES = 1 << 20
"""How much of a SKILL.md or a manifest is read to find out what a source offers."""


class Source(NamedTuple):
    """A source that was opened, and the skills in it."""

    request: Request
    tree: Tree
    pickings: Pickings
    told: Origin
    """What trust may go by: the origin, unless its repository does not stand behind these bytes."""

    @property
    def origin(self) -> Origin:
        """Where its bytes are from."""
        return self.tree.origin


class Laid(NamedTuple):
    """A skill in quarantine."""

    picked: Picked
    origin: Origin
    told: Origin
    """What trust may go by."""
    folder: str
    files: tuple[TreeFile, ...]
    digest: Digest

    @property
    def size(self) -> int:
        """All its bytes."""
        return sum(file.size for file in self.files)


def request_for(library: Library, said: str, ref: str = "") -> Request:
    """Take apart what somebody wrote."""
    return sources.parse(said, cwd=library.cwd, home=library.home, ref=ref, kind_of=disk.kind_of,
                         taps=library.settings.supply.taps)  # fmt: skip


def fetcher_for(library: Library, request: Request) -> Fetcher:
    """Give who opens sources of this kind."""
    own = library.fetchers.get(request.kind)
    if own is not None:
        return own
    limits, staging = library.settings.supply, f"{home_of(library)}/staging"
    if request.kind in {"git", "marketplace"} and not _is_folder(request):
        from metier.supply.git.proc import GitFetcher

        return GitFetcher(f"{home_of(library)}/cache/git", limits, library.env)
    if request.kind in {"folder", "bundled", "marketplace"}:
        from metier.supply.folder.disk import FolderFetcher

        return FolderFetcher(limits)
    if request.kind == "archive" and "://" not in request.location:
        from metier.supply.archive.disk import ArchiveFetcher

        return ArchiveFetcher(limits)
    from metier.supply.web import net

    return net.fetcher_for(request.kind, limits, staging, hands_of(library), hosts=sources.hosts_of(request))


def _is_folder(request: Request) -> bool:
    return request.location.startswith("/") and disk.kind_of(request.location) == disk.FOLDER


@contextmanager
def opened(library: Library, request: Request) -> Iterator[Source]:
    """Open a source and look for skills in it."""
    tree = fetcher_for(library, request).open(request)
    try:
        items = tree.items()
        if request.kind in {"archive", "well-known", "clawhub"}:
            items = checked(items, library.settings.supply)  # one hostile entry tells of them all
        name = request.location.rstrip("/").removesuffix("/SKILL.md") if request.kind == "file" else request.location.rstrip("/")
        fallback = name.rpartition("/")[2].removesuffix(".git")
        fallback = next((fallback[: -len(end)] for end in sources.ARCHIVES if fallback.lower().endswith(end)), fallback)
        is_market = request.kind == "marketplace"
        pickings = pick.skills_in(items, partial(_heads, tree), request.path, fallback=fallback, market=is_market)
        yield Source(request, tree, pickings, _told(library, tree))
        library.warnings += [text for text in getattr(tree, "problems", ()) if text not in library.warnings]
    finally:
        tree.close()


def _told(library: Library, tree: Tree) -> Origin:
    """Give the origin that trust may go by.

    A forge serves the commits of every fork under the name of the repository that was forked: a trusted one vouches only for what
    its own branches and tags lead to.
    """
    earned = level_of_source(tree.origin.source, library.trust_policy.trusted_sources)
    vouched = getattr(tree, "vouched", None)
    if vouched is None or rank(earned) >= rank("community") or vouched():
        return tree.origin
    return sources.unvouched(tree.origin)


def _heads(tree: Tree, items: Sequence[Item]) -> Mapping[str, bytes]:
    """Read the beginnings of small files."""
    found: dict[str, bytes] = {}
    for item, chunks in tree.contents([item for item in items if item.mode in {"file", "exec"} and item.size <= READ_BYTES]):
        found[item.path] = b"".join(chunks)
    return found


@contextmanager
def desk(library: Library) -> Iterator[Desk]:
    """Give a private folder for what nobody has judged yet; it is gone afterwards, whatever happens."""
    with Desk(f"{home_of(library)}/staging", library.home, hands_of(library)) as made:
        yield made


def lay(library: Library, on: Desk, source: Source, picked: Picked) -> Laid | Refusal:
    """Write a skill into quarantine, hashing it on the way; what is wrong with it is a refusal of this one alone."""
    limits = library.settings.supply
    try:
        items = checked(picked.items, limits)
        folder, files = on.lay(source.tree, items, picked.path, limits, library.progress)
    except (SourceError, StoreError):
        raise  # the source broke off, or this machine cannot write: there is no point in going on with the next
    except MetierError as error:
        return Refusal(picked.name, (f"{error.code}: {error.message}",))
    return Laid(picked, source.origin, source.told, folder, files, tree_digest(files))


def elsewhere(library: Library, source: Source, names: Sequence[str]) -> Iterator[Request]:
    """Give the further sources that a marketplace leads to, those that could hold the skills of these names; not too many."""
    market = source.pickings.market
    for count, request in enumerate(market.leading_to(names) if market is not None else ()):
        if count == MOST_ELSEWHERE:
            library.warnings.append(f"{source.origin.source} leads to more than {MOST_ELSEWHERE} sources; the rest is left out")
            return
        yield request
