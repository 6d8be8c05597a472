"""Fetches skills from a source into quarantine, by what somebody named or by a pin in the lock.

A source is opened, and its skills are picked, checked and written where no agent looks. A pin says
how its source is opened again.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from metier.discover.io import disk
from metier.discover.io.second_process import in_main_thread
from metier.errors import IntegrityError, MetierError, RefusedError, SourceError, StoreError
from metier.standard.digest import tree_digest
from metier.supply.deploy import working_of
from metier.supply.io.quarantine import Quarantine
from metier.supply.model import Pin, PinnedFile, Refusal
from metier.supply.places import hands_of, home_of
from metier.supply.safe_names import check_items
from metier.supply.sources import pick, source_name
from metier.trust.model import level_of_source, rank
from metier.trust.source_rules import judge_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from metier.context import Context
    from metier.model import Digest, Texts
    from metier.ports import Fetcher, Tree
    from metier.standard.digest import TreeFile
    from metier.store.io.tree_store import Store
    from metier.supply.io.quarantine import Progress
    from metier.supply.judge import JudgedSkill
    from metier.supply.model import InstallTarget, Item, Origin, Request, SourceSkill
    from metier.supply.places import InstallPlace
    from metier.supply.sources.pick import SourceContents


MAX_OTHER_SOURCES = 32
"""How many further repositories a marketplace may lead to in one go."""
MAX_HEAD_BYTES = 1 << 20
"""How much of a SKILL.md or a manifest is read to find out what a source offers."""


class OpenedSource(NamedTuple):
    """A source that was opened, and the skills in it."""

    request: Request
    tree: Tree
    pickings: SourceContents
    told: Origin
    """What trust may go by: the origin, unless its repository does not stand behind these bytes."""

    @property
    def origin(self) -> Origin:
        """Where its bytes are from."""
        return self.tree.origin


class FetchedSkill(NamedTuple):
    """A skill in quarantine."""

    picked: SourceSkill
    origin: Origin
    told: Origin
    """What trust may go by."""
    folder: str
    files: tuple[TreeFile, ...]
    digest: Digest
    loose: Texts = ()
    """Where each of its files lies, if it was not laid out as a folder."""

    @property
    def size(self) -> int:
        """All its bytes."""
        return sum(file.size for file in self.files)

    @property
    def document(self) -> str:
        """Where its SKILL.md lies, if its files lie loose."""
        paths = [file.path for file in self.files]
        return self.loose[paths.index("SKILL.md")] if self.loose else ""


def request_for(context: Context, said: str, ref: str = "") -> Request:
    """Take apart what somebody wrote."""
    found = source_name.parse(
        said,
        cwd=context.cwd,
        home=context.home,
        ref=ref,
        kind_of=disk.kind_of,
        taps=context.settings.supply.taps,
    )
    if found.kind == "hub":
        from metier.supply.hubs import settle_place  # few use one

        return settle_place(context, found)
    return found


def typed_request(context: Context, said: str, ref: str = "") -> Request:
    """Take apart what somebody typed just now, who may have meant a path that isn't there."""
    source_name.refuse_missing_path(said, context.cwd, disk.kind_of)
    return request_for(context, said, ref)


def fetcher_for(context: Context, request: Request) -> Fetcher:
    """Give who opens sources of this kind. One that a policy does not allow is not asked at all:
    neither for its skills, nor for its tags, nor for what is new.
    """
    if request.kind != "bundled":
        check_allowed(context, request)
    own = context.fetchers.get(request.kind)
    if own is not None:
        return own
    limits = context.settings.supply
    staging = f"{home_of(context)}/staging"
    is_folder = request.location.startswith("/") and disk.kind_of(request.location) == disk.FOLDER
    if request.kind in {"git", "marketplace"} and not is_folder:
        from metier.supply.io.git import GitFetcher

        cache = f"{home_of(context)}/cache/git"
        return GitFetcher(cache, limits, context.env, progress=_progress_here(context))
    if request.kind in {"folder", "bundled", "marketplace"}:
        from metier.supply.io.folder import FolderFetcher

        return FolderFetcher(limits)
    if request.kind == "archive" and "://" not in request.location:
        from metier.supply.io.archive import ArchiveFetcher

        return ArchiveFetcher(limits)
    if request.kind == "mcp":
        from metier.supply.io.mcp_source import McpFetcher
        from metier.supply.servers import opener_for

        return McpFetcher(limits, opener_for(context, request))
    if request.kind == "hub":
        return _hub_fetcher(context, request, staging)
    if request.kind == "oci":
        from metier.supply.io.oci import OciFetcher

        return OciFetcher(
            limits,
            staging,
            hands_of(context),
            env=context.env,
            home=context.home or "",
            progress=_progress_here(context),
        )
    from metier.supply.io import web

    return web.web_fetcher(
        request.kind,
        limits,
        staging,
        hands_of(context),
        hosts=source_name.hosts_of(request),
        env=context.env,
        progress=_progress_here(context),
    )


def _hub_fetcher(context: Context, request: Request, staging: str) -> Fetcher:
    from metier.supply import hubs
    from metier.supply.io.hub import HubFetcher
    from metier.supply.sources.hub_names import place_of

    base = place_of(request.location).base
    client = hubs.client_for(context, base)
    return HubFetcher(
        limits=context.settings.supply,
        staging=staging,
        hands=hands_of(context),
        client=client,
        key=partial(hubs.meet, context, base),
        known_head=partial(hubs.known_head, context, base),
        keep_head=partial(hubs.keep_head, context, base),
    )


def _progress_here(context: Context) -> Progress:
    """Give who is told how far a fetch has come; of several at once in threads of their own nobody
    is.
    """
    if in_main_thread():
        return context.progress
    return lambda _what, _count, _total: None


@contextmanager
def open_source(context: Context, request: Request) -> Iterator[OpenedSource]:
    """Open a source and look for skills in it."""
    tree = fetcher_for(context, request).open(request)
    try:
        items = tree.items()
        if request.kind in {"archive", "well-known", "clawhub", "oci", "hub"}:
            items = check_items(
                items, context.settings.supply
            )  # one hostile entry tells of them all
        pickings = pick.skills_in(
            items,
            partial(_heads, tree),
            request.path,
            fallback=_fallback_name(request),
            market=request.kind == "marketplace",
        )
        yield OpenedSource(request, tree, pickings, _trusted_origin(context, tree))
        context.warnings += [
            text for text in getattr(tree, "problems", ()) if text not in context.warnings
        ]
    finally:
        tree.close()


class SourcePool:
    """Keeps sources open, so that each is opened once however many skills come from it."""

    def __init__(self, context: Context) -> None:
        """Begin with none."""
        self.context = context
        self.opened = 0
        self._stack = ExitStack()
        self._sources: dict[Request, OpenedSource] = {}
        self._tags: dict[Request, tuple[str, ...]] = {}

    def __enter__(self) -> SourcePool:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close them all."""
        self._stack.close()

    def open(self, request: Request) -> OpenedSource:
        """Give an opened source."""
        key = request._replace(said="")
        if key not in self._sources:
            self.opened += 1
            self._sources[key] = self._stack.enter_context(open_source(self.context, request))
        return self._sources[key]

    def holding(self, origin: Origin) -> OpenedSource | None:
        """Give the opened source that something came from; nothing where it is not open."""
        return next((one for one in self._sources.values() if one.origin == origin), None)

    def tags(self, request: Request) -> tuple[str, ...]:
        """Give the tags of a source; none where it has no such thing."""
        key = request._replace(said="", path="", ref="")
        if key not in self._tags:
            fetcher = fetcher_for(self.context, request)
            found = getattr(fetcher, "tags", None)
            self._tags[key] = tuple(found(key)) if found is not None else ()
        return self._tags[key]


def check_allowed(context: Context, request: Request) -> None:
    """Refuse a source that a policy does not allow, whatever is in it. Who may publish what is
    decided about each skill, when its bytes are here.
    """
    policy = context.trust_policy
    if not policy.source_rules and not policy.damage:
        return
    source = source_name.canonical(request)
    rules = [one._replace(signed=(), publishers=()) for one in policy.source_rules]
    ruling = judge_source(rules, source, ref=request.ref)
    if not ruling.refused and not policy.damage:
        return
    reasons = [policy.damage] if policy.damage else [one.told for one in ruling.because]
    raise RefusedError(
        f"{source} can't be used: {'; '.join(reasons).replace(f'{source} is', 'it is')}",
        code="policy-damaged" if policy.damage else "policy",
        hint="ask whoever writes the policy"
        + ("" if policy.damage else ". See: metier policy show"),
    ).with_details(reasons=reasons)


def _fallback_name(request: Request) -> str:
    """Give the name of a skill at a source's own top, where its document has none."""
    location = request.location.rstrip("/")
    if request.kind == "file":
        location = location.removesuffix("/SKILL.md")
    name = location.rpartition("/")[2].removesuffix(".git")
    for ending in source_name.ARCHIVE_ENDINGS:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def _trusted_origin(context: Context, tree: Tree) -> Origin:
    """Give the origin that trust may go by.

    A forge serves the commits of every fork under the name of the repository that was forked: a
    trusted one vouches only for what its own branches and tags lead to.
    """
    policy = context.trust_policy
    earned = level_of_source(tree.origin.source, policy.trusted_sources)
    named = rank(earned) < rank("community") or any(
        one.allow is not None or one.publishers for one in policy.source_rules
    )
    vouched = getattr(tree, "vouched", None)
    if vouched is None or not named or vouched():
        return tree.origin
    return source_name.unvouched(tree.origin)


def _heads(tree: Tree, items: Sequence[Item]) -> Mapping[str, bytes]:
    """Read the beginnings of small files. Where a server has many skills, one that is not what was
    promised is left out, and takes no other along.
    """
    small = [
        item for item in items if item.mode in {"file", "exec"} and item.size <= MAX_HEAD_BYTES
    ]
    if not getattr(tree, "has_many", False):
        return {item.path: b"".join(chunks) for item, chunks in tree.contents(small)}
    found: dict[str, bytes] = {}
    for item in small:
        try:
            found |= {one.path: b"".join(chunks) for one, chunks in tree.contents([item])}
        except IntegrityError as error:
            getattr(tree, "problems", []).append(error.message)
    return found


@contextmanager
def open_quarantine(context: Context) -> Iterator[Quarantine]:
    """Give a private folder for what nobody has judged yet; it is gone afterwards, whatever
    happens.
    """
    with Quarantine(f"{home_of(context)}/staging", context.home, hands_of(context)) as made:
        yield made


def lay_out(
    context: Context,
    on: Quarantine,
    source: OpenedSource,
    picked: SourceSkill,
    *,
    loose: bool = False,
) -> FetchedSkill | Refusal:
    """Write a skill into quarantine, hashing it on the way; what is wrong with it is a refusal of
    this one alone. Where nobody looks at its folder, its files may lie `loose`.
    """
    limits = context.settings.supply
    folder = ""
    places: Texts = ()
    try:
        items = check_items(picked.items, limits)
        told = (source.tree, items, picked.path, limits, context.progress)
        if loose:
            places, files = on.lay_loose(*told)
        else:
            folder, files = on.lay(*told)
    except (SourceError, StoreError):
        # the source broke off, or this machine cannot write: there is no point in going on with the
        # next
        raise
    except MetierError as error:
        return Refusal.of(picked.name, error)
    digest = tree_digest(files)
    envelopes = getattr(source.tree, "envelopes", None)
    if envelopes is not None:
        from metier.trust.sign import keep_verified  # few sources carry signatures

        keep_verified(context, picked.name, digest, envelopes)
    return FetchedSkill(
        picked=picked,
        origin=source.origin,
        told=source.told,
        folder=folder,
        files=files,
        digest=digest,
        loose=places,
    )


def check_unmoved(context: Context, origins: Iterable[Origin]) -> None:
    """Fail when a tag means something else by now than what somebody said yes to."""
    for origin in dict.fromkeys(origins):
        if origin.kind != "oci":
            continue  # other sources say nothing without being fetched again
        request = source_name.request_of(origin.kind, origin.source, origin.ref, "")
        newest = fetcher_for(context, request).newest(request)
        if newest != origin.commit:
            raise StoreError(
                f"the tag of {origin.source} moved in the meantime. Nothing was installed",
                code="changed",
                hint="look at what it has now, and try again",
            )


def keep_fetched(store: Store, laid: FetchedSkill) -> None:
    """Take a skill from quarantine into the store, and note where it is from."""
    origin = laid.told
    if laid.loose:
        store.take_loose(laid.loose, laid.files)
    else:
        store.take(laid.folder, laid.files)
    store.note(laid.digest, origin.source, origin.ref, origin.commit)


def other_sources(
    context: Context, source: OpenedSource, names: Sequence[str]
) -> Iterator[Request]:
    """Give the further sources that a marketplace leads to, those that could hold the skills of
    these names; not too many.
    """
    market = source.pickings.market
    for count, request in enumerate(market.leading_to(names) if market is not None else ()):
        if count == MAX_OTHER_SOURCES:
            context.warnings.append(
                f"{source.origin.source} leads to more than {MAX_OTHER_SOURCES} sources; the rest "
                f"is left out"
            )
            return
        yield request


# --- from a pin to its source

_ON_DISK = frozenset({"folder", "archive", "bundled"})
WHOLE_SOURCE_KINDS = frozenset({"git", "folder", "archive", "bundled", "marketplace", "mcp"})
"""Sources of these kinds are opened whole, once for all their skills; others give one skill at a
time."""
TOO_MUCH = frozenset({"too-many", "too-large"})
"""What a whole source may be while each of its skills is not."""


def source_in_lock(place: InstallPlace, source: str) -> str:
    """Give a source as the lock calls it: what lies inside a project is named from there, so that
    the lock serves others.
    """
    if place.scope != "project" or not source.startswith("/"):
        return source
    real = disk.real(source)  # the project may have been reached through a link
    return f"./{real[len(place.base) + 1 :]}" if f"{real}/".startswith(f"{place.base}/") else source


def request_of_pin(place: InstallPlace, pin: Pin, *, fixed: bool) -> Request:
    """Give the request that a pin stands for: as it was asked for, or `fixed` at what that was
    resolved to.
    """
    source = (
        f"{place.base}/{pin.source[2:]}"
        if pin.source.startswith("./") and pin.kind in _ON_DISK
        else pin.source
    )
    fixed = fixed and pin.kind != "mcp"  # a server gives what it has now, and nothing older
    return source_name.request_of(
        pin.kind, source, (pin.commit or pin.ref) if fixed else pin.ref, pin.path
    )


def requests_of(
    place: InstallPlace, pins: Iterable[Pin], *, fixed: bool = False
) -> list[tuple[Request, list[Pin]]]:
    """Give what there is to open, each with the skills that come from there."""
    found: dict[Request, list[Pin]] = {}
    for pin in pins:
        request = request_of_pin(place, pin, fixed=fixed)
        found.setdefault(
            request._replace(path="") if request.kind in WHOLE_SOURCE_KINDS else request, []
        ).append(pin)
    return list(found.items())


def is_its_own_source(place: InstallPlace, pin: Pin) -> bool:
    """Tell whether a skill was adopted as it lies there: nobody else has its bytes."""
    if pin.kind != "folder":
        return False
    folder = f"{request_of_pin(place, pin, fixed=False).location}/{pin.path}".rstrip("/")
    return folder == working_of(place, pin)


def found_in(source: OpenedSource, pin: Pin) -> SourceSkill | None:
    """Find the skill of a pin in its source: where it was, or, if it moved, the only one that still
    has its name.
    """
    here = next((one for one in source.pickings.skills if one.path == pin.path), None)
    if here is not None:
        return here
    named = [one for one in source.pickings.skills if one.name == pin.name]
    return named[0] if len(named) == 1 else None


Judged: TypeAlias = "Callable[[Pin], bool]"
"""Tells of a pin whether the verdict on what its source gave is known already."""


def restore(
    context: Context,
    place: InstallPlace,
    desk: Quarantine,
    pin: Pin,
    judged: Judged = lambda _pin: False,
) -> FetchedSkill | Refusal:
    """Fetch the very tree that a pin's base names, into quarantine; other bytes are not what was
    locked.
    """
    with open_source(context, request_of_pin(place, pin, fixed=True)) as source:
        laid = _laid_as_locked(context, desk, source, pin, judged)
    if laid is None:
        where = pin.path or "its top"
        return Refusal(pin.name, (f"not-found: {pin.source} no longer has it at {where}",))
    return laid


def restore_all(
    context: Context, place: InstallPlace, desk: Quarantine, pins: Iterable[Pin], judged: Judged
) -> Iterator[tuple[Pin, FetchedSkill | Refusal]]:
    """Fetch what many pins name, each source opened once; what goes wrong with one source or one
    skill is a refusal, and the others go on. What is `judged` need not be laid out as a folder.
    """
    sound = []
    for pin in pins:
        try:  # a lock may name a source that nobody can ask
            request_of_pin(place, pin, fixed=True)
            sound.append(pin)
        except MetierError as error:
            yield pin, Refusal.of(pin.name, error)
    for request, group in requests_of(place, sound, fixed=True):
        if len(group) == 1:  # a large source need not be read whole for that
            yield group[0], _restored(context, place, desk, group[0], judged)
            continue
        left = list(group)
        astray = []
        try:
            with open_source(context, request) as source:
                while left:
                    laid = _laid_or_refused(context, desk, source, left[0], judged)
                    pin = left.pop(0)
                    if laid is None:
                        astray.append(pin)
                    else:
                        yield pin, laid
        except MetierError as error:
            if error.code in TOO_MUCH:
                astray += left
            else:
                yield from ((pin, Refusal.of(pin.name, error)) for pin in left)
        for pin in astray:  # it may lie where a look at the whole source finds no skill
            yield pin, _restored(context, place, desk, pin, judged)


def _restored(
    context: Context, place: InstallPlace, desk: Quarantine, pin: Pin, judged: Judged
) -> FetchedSkill | Refusal:
    try:
        return restore(context, place, desk, pin, judged)
    except MetierError as error:
        return Refusal.of(pin.name, error)


def _laid_or_refused(
    context: Context, desk: Quarantine, source: OpenedSource, pin: Pin, judged: Judged
) -> FetchedSkill | Refusal | None:
    try:
        return _laid_as_locked(context, desk, source, pin, judged)
    except IntegrityError as error:
        return Refusal.of(pin.name, error)


def _laid_as_locked(
    context: Context, desk: Quarantine, source: OpenedSource, pin: Pin, judged: Judged
) -> FetchedSkill | Refusal | None:
    """Lay the skill of a pin in quarantine; nothing where the source does not have it."""
    picked = found_in(source, pin)
    if picked is None:
        return None
    document = f"{picked.path}/SKILL.md".removeprefix("/")
    loose = any(item.path == document for item in picked.items) and judged(pin)
    laid = lay_out(context, desk, source, picked, loose=loose)
    if not isinstance(laid, Refusal) and laid.digest not in {pin.base, pin.digest}:
        raise IntegrityError(
            f"{pin.source} gives other bytes for '{pin.name}' than the lock has: {laid.digest}",
            code="digest",
            hint="the source changed after it was locked. See what it has now: metier update",
        )
    return laid


def pin_as_fetched(
    place: InstallPlace,
    weighed: JudgedSkill,
    laid: FetchedSkill,
    targets: tuple[InstallTarget, ...],
) -> Pin:
    """Give the pin of a skill as its source gave it."""
    return pin_of(
        place,
        laid.origin,
        laid.picked.path,
        weighed,
        laid.digest,
        laid.digest,
        laid.files,
        targets,
    )


def pin_of(  # noqa: PLR0913, PLR0917 - a row of the lock
    place: InstallPlace,
    origin: Origin,
    path: str,
    weighed: JudgedSkill,
    digest: str,
    base: str,
    files: Iterable[TreeFile],
    targets: tuple[InstallTarget, ...],
) -> Pin:
    """Give the pin of a working copy whose source gave `base`."""
    return Pin(
        name=weighed.name,
        kind=origin.kind,
        source=source_in_lock(place, origin.source),
        path=path,
        ref=origin.ref,
        commit=origin.commit,
        digest=digest,
        base=base,
        files=pinned_files(files),
        verdict=weighed.judged,
        approval=digest if weighed.decision.install == "ask" else "",
        signature=weighed.signature.key if weighed.signature else "",
        targets=targets,
    )


def pinned_files(files: Iterable[TreeFile]) -> tuple[PinnedFile, ...]:
    """Give the files of a tree as the lock has them."""
    found = (
        PinnedFile(
            file.path, file.sha256.hex(), "l" if file.mode == "link" else "x" if file.mode else ""
        )
        for file in files
    )
    return tuple(sorted(found))
