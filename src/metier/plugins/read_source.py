"""Opens a source of plugins, and reads which plugins it offers and what each of them ships.

Each plugin has an id, its own skills, and what is wrong with it. A source is opened once, and
looked at while it is open.
"""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import MetierError, RefusedError, SourceError
from metier.plugins.model import PluginFault, PluginOffer
from metier.standard.plugin_manifest import NAME
from metier.supply import fetch as fetching
from metier.supply.fetch import OpenedSource
from metier.supply.model import Item, Request, SourceSkill
from metier.supply.places import home_of
from metier.supply.safe_names import fold_name, printable, safe_name
from metier.supply.sources import pick, source_name
from metier.supply.sources.marketplace import FIXED_FORMAT, plugin_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.plugins.io.plugin_folder import Unlisted
    from metier.ports import Tree
    from metier.supply.sources.marketplace import Marketplace, SourcePlugin


MAX_NAME_CHARACTERS = 128
MAX_TEXT_CHARACTERS = 1024
MAX_CLAIMED_SKILLS = 100_000
"""How many skills the plugins of one source may have together, those counted twice that two of them
claim."""
_VERSION = re.compile(r"v?\d{1,9}(?:\.[0-9A-Za-z.+-]{0,64})?\Z|[0-9a-f]{7,64}\Z|unknown\Z")
"""What agents call the folder of one version of a plugin."""


class OfferedPlugin(NamedTuple):
    """One plugin on offer in a source."""

    offer: PluginOffer
    plugin: SourcePlugin
    skills: tuple[SourceSkill, ...]


def source_label(request: Request, path: str = "") -> str:
    """Write a place in a source for people."""
    if not path:
        return request.location
    return f"{request.location.rstrip('/')}{'/' if request.location.startswith('/') else ':'}{printable(path)}"


def offered_plugins(
    market: Marketplace, skills: Sequence[SourceSkill], request: Request, told_by: str
) -> tuple[list[OfferedPlugin], list[PluginFault]]:
    """Give the plugins of a source, in its order, and what cannot be used."""
    at_market = source_label(request, market.where)
    faults = [
        PluginFault(source_label(request, one.path), one.code, one.why) for one in market.broken
    ]
    if market.plugins:
        faults += [PluginFault(at_market, "malformed", note) for note in market.notes]
    wrong = _wrong_name(market.name, market.name) if market.listed and market.plugins else None
    if wrong is not None:
        told = f"the marketplace's name: {wrong.message}"
        return [], [*faults, PluginFault(at_market, wrong.code, told)]
    named = [*market.plugins, *([market.own] if market.own is not None else [])]
    found: dict[str, OfferedPlugin] = {}
    claimed = ClaimedFolders(named, skills)
    left = MAX_CLAIMED_SKILLS
    for plugin in _latest(named, listed=market.listed):
        where = source_label(request, market.where or plugin.folder)
        title = printable(plugin.name)
        faults += [
            PluginFault(where, "malformed", f"plugin {title}: {problem}")
            for problem in plugin.problems
        ]
        left -= claimed.count(plugin)
        if left < 0:
            told = (
                f"plugin {title}: the plugins there claim more than {MAX_CLAIMED_SKILLS:,} skills "
                f"together"
            )
            faults.append(PluginFault(where, "too-many", told))
            break
        offered = _offered_plugin(market, plugin, claimed.share(plugin), request, told_by)
        if isinstance(offered, PluginFault):
            faults.append(offered)
        elif offered is not None:
            before = found.setdefault(fold_name(offered.offer.name), offered)
            if before is offered:
                faults += named_skills(offered.skills, request)[1]
            else:
                faults.append(_twice(request, before.plugin, plugin))
    return list(found.values()), faults


def _offered_plugin(
    market: Marketplace,
    plugin: SourcePlugin,
    skills: list[SourceSkill],
    request: Request,
    told_by: str,
) -> OfferedPlugin | PluginFault | None:
    where = source_label(request, market.where or plugin.folder)
    wrong = _wrong_name(plugin.name, plugin.format)
    if wrong is not None:
        return PluginFault.of(where, wrong)
    if not plugin.format or (
        plugin.problems
        and not plugin.skills
        and not plugin.elsewhere
        and plugin.format != FIXED_FORMAT
    ):
        return None  # what is wrong has been told
    in_list = market.listed and plugin is not market.own
    ident = f"{plugin.name}@{market.name}" if in_list else plugin.name
    names = tuple(skill.name for skill in named_skills(skills, request)[0])
    offer = PluginOffer(
        plugin_id=ident,
        name=plugin.name,
        version=readable(plugin.version, MAX_NAME_CHARACTERS),
        description=readable(plugin.description, MAX_TEXT_CHARACTERS),
        format=plugin.format,
        source=request,
        skills=names,
        told_by=told_by,
    )
    return OfferedPlugin(offer, plugin, tuple(skills))


def readable(text: str, most: int) -> str:
    """Give a stranger's text as it can be shown and written down anywhere."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:most])


def _wrong_name(name: str, form: str) -> MetierError | None:
    """Say what keeps a name from being part of an id that people type and files are called by."""
    try:
        safe_name(name)
    except MetierError as error:
        return error
    if "@" in name or len(name) > MAX_NAME_CHARACTERS:
        return RefusedError(
            f"'{printable(name)}' cannot be the name of a plugin",
            hint="it is short, and has no @",
            code="unsafe-path",
        )
    if form == FIXED_FORMAT and not NAME.match(name):
        return RefusedError(
            f"'{printable(name)}' is no name of an Agent Plugin",
            hint="a-z, 0-9, . and -",
            code="malformed",
        )
    return None


def _twice(request: Request, first: SourcePlugin, other: SourcePlugin) -> PluginFault:
    places = f"{printable(first.folder) or 'the top'} and {printable(other.folder) or 'the top'}"
    return PluginFault(
        source_label(request, other.folder),
        "duplicate",
        f"'{printable(other.name)}' is there twice: {places}; the first counts",
    )


def _latest(named: list[SourcePlugin], *, listed: bool) -> list[SourcePlugin]:
    """Of several versions of one plugin side by side, as agents keep them, leave the highest."""
    if listed:
        return named
    best: dict[tuple[str, str], tuple[int, SourcePlugin]] = {}
    for number, plugin in enumerate(named):
        above, _, folder = plugin.folder.rpartition("/")
        key = (plugin.name, above if _VERSION.match(folder) else f"{plugin.folder}/")
        before = best.get(key)
        if before is None or _by_numbers(plugin.folder) > _by_numbers(before[1].folder):
            best[key] = number, plugin
    return [plugin for _number, plugin in sorted(best.values(), key=lambda one: one[0])]


def _by_numbers(path: str) -> list[tuple[int, str]]:
    """Compare paths so that 1.10 comes after 1.9."""
    words = path.rpartition("/")[2].removeprefix("v").split(".")
    return [
        (int(word), "") if word.isdecimal() and len(word) < 10 else (-1, word) for word in words
    ]


# --- which skills are whose


class ClaimedFolders:
    """The skills of a source by the folders that plugins claim: each belongs to all that claim the
    folder closest around it.
    """

    def __init__(self, plugins: Iterable[SourcePlugin], skills: Iterable[SourceSkill]) -> None:
        """Sort the skills; none is given to a plugin before somebody asks, since thousands may
        claim the same.
        """
        places = {place for plugin in plugins for place in plugin.skills}
        self._held: dict[str, list[tuple[int, SourceSkill]]] = {}
        for number, skill in enumerate(skills):
            at = skill.path
            while at and at not in places:
                at = at.rpartition("/")[0]
            self._held.setdefault(at, []).append((number, skill))

    def count(self, plugin: SourcePlugin) -> int:
        """Say how many skills a plugin claims."""
        return sum(len(self._held.get(place, ())) for place in plugin.skills)

    def share(self, plugin: SourcePlugin) -> list[SourceSkill]:
        """Give the skills of a plugin, in the source's order."""
        held = (
            (place, *one)
            for place in dict.fromkeys(plugin.skills)
            for one in self._held.get(place, ())
        )
        found = {
            number: skill
            for place, number, skill in held
            if not plugin.alone or skill.path == place
        }
        return [skill for _number, skill in sorted(found.items())]


def named_skills(
    skills: Sequence[SourceSkill], request: Request
) -> tuple[list[SourceSkill], list[PluginFault]]:
    """Leave out skills whose names cannot be those of folders, and all that share one."""
    kept: dict[str, list[SourceSkill]] = {}
    faults = []
    for skill in skills:
        try:
            kept.setdefault(fold_name(safe_name(skill.name)), []).append(skill)
        except MetierError as error:
            faults.append(
                PluginFault(
                    source_label(request, skill.path),
                    error.code,
                    f"skill {printable(skill.name)}: {error.message}",
                )
            )
    for same in kept.values():
        if len(same) > 1:
            where = ", ".join(printable(one.path) or "the top" for one in same[:5])
            told = (
                f"skill {printable(same[0].name)}: the plugin has {len(same)} of this name: {where}"
            )
            faults.append(PluginFault(source_label(request, same[1].path), "collision", told))
    return [same[0] for same in kept.values() if len(same) == 1], faults


def linked(plugin: SourcePlugin, links: Iterable[str]) -> list[str]:
    """Give the links where a skill, or the folder of all skills, would be: nothing behind one is a
    skill.
    """
    places = set(plugin.skills)
    return [path for path in links if path in places or path.rpartition("/")[0] in places]


MAX_RENAMES = 16
SYMLINK_MESSAGE = "Skill tree contains a symlink: {}"
"""What is said of a skill with a link in it (BE-10)."""
LINK_MESSAGE = "it is a link, which is not followed"


class ShippedPlugin(NamedTuple):
    """What a plugin ships now. Its skills can be laid on a desk as long as the source is open."""

    offer: PluginOffer
    commit: str
    """What the source that holds it stands at; nothing for a folder."""
    skills: tuple[tuple[OpenedSource, SourceSkill], ...]
    faults: tuple[PluginFault, ...] = ()
    """What is wrong with skills of it."""
    withheld: Texts = ()
    """The names of skills that are there and cannot be used: they are not what was removed."""


class PluginSource:
    """An opened source of plugins, and those that it leads to; all are closed with it."""

    def __init__(
        self, context: Context, source: OpenedSource, closing: ExitStack, told_by: str = ""
    ) -> None:
        """Read what there is; nothing of another source is opened yet."""
        self.context = context
        self.source = source
        self._closing = closing
        self.request, self._others = source.request, dict[Request, OpenedSource]()
        self._links = dict[Request, list[str]]()
        market = source.pickings.market
        self.renames: Mapping[str, str] = market.renames if market is not None else {}
        found, faults = (
            offered_plugins(market, source.pickings.skills, self.request, told_by)
            if market
            else ([], [])
        )
        self._offered: dict[str, OfferedPlugin] = {one.offer.name: one for one in found}
        self._faults = dict.fromkeys(faults)
        unlisted: Sequence[Unlisted] = getattr(source.tree, "faults", ())
        self._note(
            [PluginFault.of(source_label(self.request, one.path), one.error) for one in unlisted]
        )

    @property
    def faults(self) -> tuple[PluginFault, ...]:
        """What could not be used, so far as it was looked at."""
        return tuple(self._faults)

    def _note(self, faults: Sequence[PluginFault]) -> None:
        self._faults.update(dict.fromkeys(faults))

    def plugins(self) -> tuple[PluginOffer, ...]:
        """Give the plugins on offer, in the source's order."""
        return tuple(one.offer for one in self._offered.values())

    def renamed(self, name: str) -> str:
        """Follow a plugin to the name it has now."""
        for _step in range(MAX_RENAMES):
            if name in self._offered or name not in self.renames:
                return name
            name = self.renames[name]
        return name

    def shipped(self, name: str) -> ShippedPlugin | None:
        """Give what a plugin ships, fetching it where the source keeps it elsewhere; nothing when
        its manifest is gone.
        """
        offered = self._offered.get(self.renamed(name))
        if offered is None:
            return None
        if offered.plugin.elsewhere:
            return self._elsewhere(offered)
        return self._shipped(offered.offer, self.source, offered.plugin, offered.skills)

    def _shipped(
        self,
        offer: PluginOffer,
        source: OpenedSource,
        plugin: SourcePlugin,
        skills: Sequence[SourceSkill],
    ) -> ShippedPlugin:
        kept, faults = named_skills(skills, source.request)
        links = linked(plugin, self._links_of(source))
        faults += [
            PluginFault(source_label(source.request, path), "unsafe-link", LINK_MESSAGE)
            for path in links
        ]
        self._note(faults)
        names = {skill.name: None for skill in kept}
        withheld = dict.fromkeys(
            (*(one.name for one in skills), *(path.rpartition("/")[2] for path in links))
        )
        return ShippedPlugin(
            offer._replace(skills=tuple(names)),
            source.origin.commit,
            tuple((source, skill) for skill in kept),
            tuple(faults),
            tuple(name for name in withheld if name not in names),
        )

    def _links_of(self, source: OpenedSource) -> list[str]:
        """Give all links of a source, which is listed once for all its plugins."""
        if source.request not in self._links:
            self._links[source.request] = [
                item.path for item in source.tree.items() if item.mode == "link"
            ]
        return self._links[source.request]

    def _elsewhere(self, offered: OfferedPlugin) -> ShippedPlugin | None:
        entry = offered.plugin
        base = entry.elsewhere[0]._replace(path=entry.folder)
        source = self._other(base)
        items = source.tree.items()
        there, broken = plugin_at(
            items, partial(_heads, source.tree), entry.folder, strict=entry.strict
        )
        self._note([PluginFault(source_label(base, one.path), one.code, one.why) for one in broken])
        if not there.format or not any(
            f"{item.path}/".startswith(f"{entry.folder}/" if entry.folder else "") for item in items
        ):
            return None
        paths = tuple(request.path for request in entry.elsewhere)
        if paths != (entry.folder,):  # the entry says itself which skills it means
            there = there._replace(skills=paths, alone=False)
        offer = offered.offer._replace(
            version=offered.offer.version or readable(there.version, MAX_NAME_CHARACTERS),
            description=offered.offer.description
            or readable(there.description, MAX_TEXT_CHARACTERS),
            format=there.format,
        )
        return self._shipped(
            offer, source, there, ClaimedFolders([there], source.pickings.skills).share(there)
        )

    def _other(self, request: Request) -> OpenedSource:
        """Open a source that this one leads to, once."""
        if request not in self._others:
            if len(self._others) == fetching.MAX_OTHER_SOURCES:
                what = (
                    f"{self.request.location} leads to more than {fetching.MAX_OTHER_SOURCES} "
                    f"sources"
                )
                raise RefusedError(what, code="too-many", hint="name the plugin's own repository")
            self._others[request] = self._closing.enter_context(
                fetching.open_source(self.context, request)
            )
        return self._others[request]


@contextmanager
def open_source(
    context: Context, request: Request, *, fetch: bool = True, told_by: str = ""
) -> Iterator[PluginSource]:
    """Open a source of plugins. Without `fetch`, only what is on this machine is looked at, and
    nothing is locked.
    """
    with ExitStack() as closing:
        source = closing.enter_context(_source(context, request, fetch=fetch))
        yield PluginSource(context, source, closing, told_by)


def is_local(request: Request) -> bool:
    """Tell whether a source is a folder of this machine, which is read where it lies and has no
    versions.
    """
    return request.kind in {"folder", "bundled", "marketplace"} and request.location.startswith("/")


def newest_commit(context: Context, request: Request) -> str:
    """Give what a source would resolve to now; nothing for a folder. A repository is only asked for
    its refs.
    """
    asked = as_repository(request)
    return fetching.fetcher_for(context, asked).newest(asked)


def links_in(picked: SourceSkill) -> Texts:
    """Give the links in a skill's tree, to files and to folders alike, as paths inside it
    (BE-10).
    """
    at = len(picked.path) + 1 if picked.path else 0
    return tuple(sorted(item.path[at:] for item in picked.items if item.mode == "link"))


def as_repository(request: Request) -> Request:
    """Give a marketplace as the repository or the folder that it is."""
    if request.kind != "marketplace":
        return request
    return request._replace(kind="folder" if is_local(request) else "git")


@contextmanager
def _source(context: Context, request: Request, *, fetch: bool) -> Iterator[OpenedSource]:
    asked = as_repository(request)
    if asked.kind in {"folder", "bundled", "archive"}:  # a record's word is checked as a lock's is
        source_name.request_of(asked.kind, asked.location, "", "")
    if asked.kind in {"folder", "bundled"} and asked.kind not in context.fetchers:
        from metier.plugins.io import plugin_folder

        if disk.kind_of(request.location) != disk.FOLDER:
            raise SourceError(
                f"there is no folder {request.location}", hint="check the path", code="not-found"
            )
        deep = (
            request.kind != "marketplace"
        )  # a marketplace is what its top says, and nothing that happens to lie in it
        tree: Tree = plugin_folder.open_plugin_folder(
            request.location, request.path, context.settings.supply, request.location, deep=deep
        )
    elif fetch or (asked.kind == "archive" and asked.location.startswith("/")):
        with fetching.open_source(context, asked) as source:
            yield source._replace(request=request)
        return
    elif asked.kind == "git":
        from metier.plugins.io import cached_clone

        tree = cached_clone.open_cached_clone(
            f"{home_of(context)}/cache/git", asked, context.settings.supply, context.env
        )
    else:
        raise SourceError(
            f"{request.location} was never fetched",
            code="not-fetched",
            hint="enable one of its plugins to fetch it",
        )
    try:
        pickings = pick.skills_in(
            tree.items(),
            partial(_heads, tree),
            request.path,
            fallback=request.location.rstrip("/").rpartition("/")[2].removesuffix(".git"),
        )
        yield OpenedSource(request, tree, pickings, tree.origin)
    finally:
        tree.close()


def _heads(tree: Tree, items: Sequence[Item]) -> Mapping[str, bytes]:
    """Read small files; one that cannot be read is left out, whatever it turned into meanwhile."""
    found: dict[str, bytes] = {}
    for item in items:
        if item.mode in {"file", "exec"} and item.size <= fetching.MAX_HEAD_BYTES:
            try:
                found |= {one.path: b"".join(pieces) for one, pieces in tree.contents([item])}
            except MetierError:
                continue
    return found
