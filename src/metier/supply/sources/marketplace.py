"""Reads marketplaces and plugin manifests: which plugins a source lists, where their skills lie in
it, and which lie elsewhere.
"""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, UsageError
from metier.model import MANIFEST_BYTES, MANIFESTS
from metier.standard.names import one_line
from metier.standard.plugin_manifest import PluginManifest, read_manifest
from metier.supply.sources import source_name
from metier.supply.sources.addresses import COMMIT_HASH, check_path, check_ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.model import Texts
    from metier.supply.model import Item, JsonObject, Request

    ReadFiles = Callable[[Sequence[Item]], Mapping[str, bytes]]


MAX_MANIFESTS = 2_000
FIXED_FORMAT = "agent-plugins"
"""The format that leaves no choice where skills lie."""
LISTED_FORMAT = "marketplace"
"""The format of a plugin that an entry of a list stands in for."""


class SourcePlugin(NamedTuple):
    """One plugin: the folders of this source that its skills lie in, or the sources that hold
    them.
    """

    name: str
    skills: Texts = ()
    elsewhere: tuple[Request, ...] = ()
    description: str = ""
    version: str = ""
    problems: Texts = ()
    folder: str = ""
    """Where it lies in its source; of one that lies elsewhere, where it does there."""
    format: str = LISTED_FORMAT
    """Whose manifest speaks for it; nothing where its own cannot be read."""
    strict: bool = True
    """Whether a manifest of its own counts, beside the entry of a list."""
    alone: bool = False
    """Whether it names no place for skills and has none: then it is one skill at most."""


class BrokenManifest(NamedTuple):
    """A list or a manifest that says nothing."""

    path: str
    code: str
    why: str


def plugin_at(
    items: Sequence[Item], read: ReadFiles, folder: str, *, strict: bool = True
) -> tuple[SourcePlugin, tuple[BrokenManifest, ...]]:
    """Read the plugin in one folder of a source; without a manifest, or where none counts, only the
    usual place speaks for it.
    """
    wanted = {join_path(folder, where) for where in MANIFESTS} if strict else set()
    manifests, broken = manifests_in(
        {item.path: item for item in items if item.path in wanted}, read
    )
    places = folders_of(items)
    if folder in manifests:
        return plugin_of_manifest(folder, manifests[folder], places), broken
    found, alone = usual_folders(folder, places)
    return SourcePlugin(
        "", found, folder=folder, format="" if broken else LISTED_FORMAT, strict=strict, alone=alone
    ), broken


def plugin_of_manifest(folder: str, manifest: PluginManifest, folders: set[str]) -> SourcePlugin:
    """Give the plugin that its own manifest speaks for."""
    places = tuple(join_path(folder, place) for place in manifest.skills)
    alone = False
    if not places:
        places, alone = usual_folders(folder, folders, manifest.format)
    return SourcePlugin(
        name=manifest.name,
        skills=places,
        description=manifest.description,
        version=manifest.version,
        problems=manifest.problems,
        folder=folder,
        format=manifest.format,
        alone=alone,
    )


def manifests_in(
    files: Mapping[str, Item], read: ReadFiles
) -> tuple[dict[str, PluginManifest], tuple[BrokenManifest, ...]]:
    """Give the plugins' folders with their manifests, and what says nothing; the first that can be
    read counts (CX-30).
    """
    wanted: dict[str, list[tuple[int, Item]]] = {}
    for path, item in files.items():
        order = _manifest_kind(path)
        if order is not None:
            folder = plugin_folder(path)
            if MANIFESTS[order] != MANIFESTS[-1] or not folder.endswith(
                (".codex-plugin", ".claude-plugin", ".cursor-plugin")
            ):
                wanted.setdefault(folder, []).append((order, item))
    found = {}
    broken = []
    for folder, choices in list(wanted.items())[:MAX_MANIFESTS]:
        for order, item in sorted(choices, key=lambda choice: choice[0]):
            manifest = _manifest(item, MANIFESTS[order], folder, read)
            if isinstance(manifest, PluginManifest):
                found[folder] = manifest
                break
            if manifest is not None:
                broken.append(manifest)
    return found, tuple(broken)


def _manifest_kind(path: str) -> int | None:
    """Tell which manifest a path is, by its number; nothing for any other file."""
    return next(
        (order for order, where in enumerate(MANIFESTS) if f"/{path}".endswith(f"/{where}")), None
    )


def _manifest(
    item: Item, where: str, folder: str, read: ReadFiles
) -> PluginManifest | BrokenManifest | None:
    if is_plain(item):
        data = read([item]).get(item.path) if item.size < MANIFEST_BYTES else None
        if data is not None:
            manifest = read_manifest(data, where, folder.rpartition("/")[2])
            if manifest is None or isinstance(manifest, PluginManifest):
                return manifest
            why = manifest.message.removeprefix("plugin manifest ignored: ")
            return BrokenManifest(item.path, "malformed", why)
        why = f"it is larger than {MANIFEST_BYTES // 1024} KiB or cannot be read"
        broken = BrokenManifest(item.path, "too-large", why)
    else:
        broken = broken_entry(item)
    # A bare plugin.json may be anybody's, and nothing tells whose a link is.
    return None if where == MANIFESTS[-1] else broken


def is_plain(item: Item | None) -> bool:
    """Tell whether an entry is there and can be read."""
    return item is not None and item.mode in {"file", "exec"}


def broken_entry(item: Item) -> BrokenManifest:
    """Say why an entry that is no file says nothing."""
    if item.mode == "link":
        return BrokenManifest(item.path, "unsafe-link", "it is a link, which is not followed")
    return BrokenManifest(item.path, "unsafe-entry", "it is not a plain file")


def plugin_folder(path: str) -> str:
    """Give the plugin's folder that a manifest speaks for."""
    kind = _manifest_kind(path)
    assert kind is not None
    return path[: -len(MANIFESTS[kind])].rstrip("/")


def join_path(*parts: str) -> str:
    """Give a path of several parts inside a source; nothing for its top."""
    path = posixpath.normpath("/".join(part for part in parts if part)) if any(parts) else ""
    return "" if path == "." else path


def usual_folders(folder: str, folders: set[str], form: str = LISTED_FORMAT) -> tuple[Texts, bool]:
    """Give where a plugin that declares nothing has its skills: in the usual place, or else, if it
    may, it is one itself.
    """
    place = join_path(folder, "skills")
    if place in folders:
        return (place,), False
    return ((), False) if form == FIXED_FORMAT else ((folder,), True)


def folders_of(items: Iterable[Item]) -> set[str]:
    """Give every folder that holds something, however deep."""
    found = set()
    for item in items:
        folder = item.path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


MARKETS = (
    ".agents/plugins/marketplace.json",
    ".claude-plugin/marketplace.json",
    ".cursor-plugin/marketplace.json",
)
"""Where a marketplace's list may lie, in the order they are tried."""
MAX_MARKETPLACE_BYTES = 1024 * 1024
MAX_PLUGINS = 2_000
MAX_PLUGIN_SKILLS = 1_000
"""How many skills one plugin may list."""


class MarketplaceEntry(NamedTuple):
    """An entry of a list, for a plugin in the same source."""

    choices: Texts
    """The folders that it may mean, the first that is there counts."""
    skills: Texts
    strict: bool


class Marketplace(NamedTuple):
    """A list of plugins, or the plugins whose manifests lie in a source."""

    name: str
    plugins: tuple[SourcePlugin, ...]
    renames: Mapping[str, str]
    """Old names of plugins, with the new."""
    notes: Texts = ()
    listed: bool = False
    """Whether there is a list; else each plugin speaks for itself."""
    where: str = ""
    """The file with the list."""
    own: SourcePlugin | None = None
    """What lies at the top with a manifest of its own, and is not on the list."""
    broken: tuple[BrokenManifest, ...] = ()

    @property
    def problems(self) -> Texts:
        """What is wrong with the list and with each plugin of it."""
        return (
            *self.notes,
            *(
                f"plugin {plugin.name}: {problem}"
                for plugin in self.plugins
                for problem in plugin.problems
            ),
        )

    @property
    def elsewhere(self) -> tuple[Request, ...]:
        """The other sources that it leads to, each once."""
        return _led_to(self.plugins)

    def owners(self) -> dict[str, str]:
        """Give the folders that belong to plugins; of two that claim one, the first has it."""
        found: dict[str, str] = {}
        for plugin in self.plugins:
            for place in plugin.skills:
                found.setdefault(place, plugin.name)
        return found

    def leading_to(self, names: Iterable[str]) -> tuple[Request, ...]:
        """Give the other sources that could hold skills of these names: `plugin:skill` needs that
        plugin's alone.
        """
        plugins = {
            self.renames.get(head, head) if colon else ""
            for head, colon, _ in (name.partition(":") for name in names)
        }
        if not plugins or "" in plugins:
            return self.elsewhere
        return _led_to(plugin for plugin in self.plugins if plugin.name in plugins)


def _led_to(plugins: Iterable[SourcePlugin]) -> tuple[Request, ...]:
    return tuple(dict.fromkeys(request for plugin in plugins for request in plugin.elsewhere))


def marketplace_in(items: Sequence[Item], read: ReadFiles, below: str = "") -> Marketplace | None:
    """Read the marketplace of a source, or else the manifests of plugins in it; None when it has
    neither.
    """
    at = f"{below}/" if below else ""
    files = {item.path: item for item in items if item.path.endswith(".json")}
    lists = [files[at + where] for where in MARKETS if at + where in files]
    strange = tuple(broken_entry(item) for item in lists if not is_plain(item))
    item = next((item for item in lists if is_plain(item)), None)
    if item is None:
        manifests, broken = manifests_in(files, read)
        places = folders_of(items)
        plugins = tuple(
            plugin_of_manifest(folder, manifest, places)
            for folder, manifest in sorted(manifests.items())
        )
        if not (plugins or strange or broken):
            return None
        name = plugins[0].name if plugins else ""
        return Marketplace(name, plugins, {}, broken=(*strange, *broken))
    fields, problem = _list(read([item]).get(item.path))
    if problem:
        market = Marketplace(
            "",
            (),
            {},
            (f"{item.path} ignored: {problem}",),
            listed=True,
            broken=(BrokenManifest(item.path, "malformed", problem),),
        )
    else:
        market = _Listing(fields, below, items, files, read).market()
    return market._replace(where=item.path, broken=(*strange, *market.broken))


def named_in(data: bytes, below: str) -> tuple[MarketplaceEntry, ...]:
    """Give the folders of this source that a list leads to: what there is to look at before it can
    be read.
    """
    fields, problem = _list(data)
    found = []
    for entry in fields["plugins"][:MAX_PLUGINS] if not problem else ():
        path = _inside(_local(entry)) if isinstance(entry, dict) else None
        if path is not None:
            choices = _choices(below, _root_of(fields), path)
            strict = entry.get("strict") is not False
            found.append(MarketplaceEntry(choices, _places(entry, None)[0], strict))
    return tuple(found)


# --- a marketplace's own list


class _Listing:
    """One marketplace.json, read against the source it lies in."""

    def __init__(
        self,
        fields: JsonObject,
        below: str,
        items: Sequence[Item],
        files: Mapping[str, Item],
        read: ReadFiles,
    ) -> None:
        self.fields = fields
        self.below = below
        self.files = files
        self.folders, self.root = folders_of(items), _root_of(fields)
        self.manifests, self.broken = manifests_in(files, read)

    def market(self) -> Marketplace:
        """Read every plugin of the list."""
        entries = self.fields["plugins"]
        listed = [entry for entry in entries[:MAX_PLUGINS] if isinstance(entry, dict)]
        notes = []
        if len(entries) > MAX_PLUGINS:
            notes.append(f"only the first {MAX_PLUGINS} plugins were read")
        if len(listed) < len(entries[:MAX_PLUGINS]):
            notes.append("an entry that is no object was left out")
        plugins = tuple(self.plugin(entry) for entry in listed)
        renames = self.fields.get("renames")
        pairs = list(renames.items())[:MAX_PLUGINS] if isinstance(renames, dict) else []
        at = {self.below, *(plugin.folder for plugin in plugins if not plugin.elsewhere)}
        own = all(plugin.folder != self.below or plugin.elsewhere for plugin in plugins)
        top = self.manifests.get(self.below) if own else None
        return Marketplace(
            name=_text(self.fields.get("name")),
            plugins=plugins,
            renames={_text(old): _text(new) for old, new in pairs if isinstance(new, str)},
            notes=tuple(notes),
            listed=True,
            own=plugin_of_manifest(self.below, top, self.folders) if top else None,
            # What is wrong elsewhere in the source is nothing to this list.
            broken=tuple(one for one in self.broken if plugin_folder(one.path) in at),
        )

    def plugin(self, entry: JsonObject) -> SourcePlugin:
        """Read one entry; whatever is wrong with it is its own problem."""
        plugin = SourcePlugin(
            _text(entry.get("name")) or "?",
            description=_text(entry.get("description")),
            version=_text(entry.get("version")),
            strict=entry.get("strict") is not False,
        )
        path = _local(entry)
        if path is not None:
            return self.local(plugin, path, entry)
        source = entry.get("source")
        if isinstance(source, str):
            source = {"source": "url", "url": source}
        if not isinstance(source, dict):
            return plugin._replace(problems=("its source is neither a path nor an object",))
        return _remote(plugin, source, entry)

    def local(self, plugin: SourcePlugin, path: str, entry: JsonObject) -> SourcePlugin:
        """Find a plugin that lies in this source."""
        inside = _inside(path)
        if inside is None:
            return plugin._replace(problems=("its source leaves the marketplace",))
        choices = _choices(self.below, self.root, inside)
        folder = next((choice for choice in choices if not choice or choice in self.folders), None)
        if folder is None:
            return plugin._replace(problems=(f"there is no folder {inside}",))
        manifest = self.manifests.get(folder) if plugin.strict else None
        places, problems = _places(entry, manifest)
        if manifest is not None:
            problems = (*problems, *manifest.problems)
            plugin = plugin._replace(
                description=plugin.description or manifest.description,
                version=plugin.version or manifest.version,
                format=manifest.format,
            )
        elif plugin.strict and any(plugin_folder(one.path) == folder for one in self.broken):
            plugin = plugin._replace(format="")
        found = tuple(dict.fromkeys(join_path(folder, place) for place in places))
        alone = False
        if not found:
            found, alone = usual_folders(folder, self.folders, plugin.format)
        return plugin._replace(folder=folder, skills=found, problems=problems, alone=alone)


def _remote(plugin: SourcePlugin, source: JsonObject, entry: JsonObject) -> SourcePlugin:
    """Turn a source object into requests: one for the whole, or one for each skill that the entry
    lists.
    """
    kind = str(source.get("source"))
    if kind == "npm":
        return plugin._replace(
            problems=("it comes from npm, which runs code on installing; metier does not use it",)
        )
    where = source.get("repo") if kind == "github" else source.get("url")
    if kind not in {"github", "url", "git", "git-subdir"} or not isinstance(where, str):
        return plugin._replace(problems=("its source is of a kind that metier does not know",))
    try:
        request = _request(where, source)
        places, problems = _places(entry, None)
        paths = tuple(
            dict.fromkeys(check_path(join_path(request.path, place)) for place in places)
        ) or (request.path,)
    except MetierError as error:
        return plugin._replace(problems=(f"its source is refused: {error.message}",))
    led = tuple(request._replace(path=path) for path in paths)
    return plugin._replace(elsewhere=led, problems=problems, folder=request.path)


def _request(where: str, source: JsonObject) -> Request:
    text = f"git+{where}" if where.startswith(("https://", "http://")) else where
    # A marketplace may not lead to files of this machine: to it, there are none.
    request = source_name.parse(text, cwd="/", home=None, kind_of=lambda _path: None)
    if request.kind != "git" or request.location.startswith("file:"):
        raise UsageError("it is not a repository on a server")
    sha = source.get("sha")
    path = source.get("path")
    wanted = sha if isinstance(sha, str) and COMMIT_HASH.match(sha) else source.get("ref")
    if isinstance(path, str):
        request = request._replace(path=check_path(path))
    if isinstance(wanted, str) and wanted:
        request = request._replace(ref=check_ref(wanted))
    return request


# --- small parts


def _places(entry: JsonObject, manifest: PluginManifest | None) -> tuple[Texts, Texts]:
    """Give the folders that an entry or else a manifest declares, relative to the plugin, and what
    is wrong with the list.
    """
    declared = entry.get("skills")
    listed = [declared] if isinstance(declared, str) else declared
    if not isinstance(listed, list) or not listed:
        own = manifest.skills if manifest else ()
        return tuple("" if place == "." else place for place in own), ()
    inside = [_inside(one) for one in listed[:MAX_PLUGIN_SKILLS]]
    problems = []
    if None in inside:
        problems.append("a skill it lists lies outside the plugin")
    if len(listed) > MAX_PLUGIN_SKILLS:
        problems.append(f"only its first {MAX_PLUGIN_SKILLS} skills were read")
    return tuple(place for place in inside if place is not None), tuple(problems)


def _inside(path: object) -> str | None:
    """Give a path below the place it is written in, without dots around it; None for one that leads
    out or is none.
    """
    if not isinstance(path, str):
        return None
    try:
        return check_path(path)
    except MetierError:
        return None


def _local(entry: JsonObject) -> str | None:
    """Give the path that an entry says its plugin has in this source, whatever it is worth; None
    for one that lies elsewhere.
    """
    source = entry.get("source", "./")
    if isinstance(source, dict) and source.get("source") == "local":
        path = source.get("path")
        return path if isinstance(path, str) else ".."
    return source if isinstance(source, str) and "://" not in source else None


def _choices(below: str, root: str, inside: str) -> Texts:
    return join_path(below, root, inside), join_path(below, inside)


def _root_of(fields: JsonObject) -> str:
    metadata = fields.get("metadata")
    return _inside(metadata.get("pluginRoot") if isinstance(metadata, dict) else None) or ""


def _list(data: bytes | None) -> tuple[JsonObject, str]:
    """Read a list of plugins; give it, or what is wrong with it."""
    if data is None or len(data) > MAX_MARKETPLACE_BYTES:
        return {}, f"it is larger than {MAX_MARKETPLACE_BYTES // 1024} KiB or cannot be read"
    try:
        fields = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError):
        return {}, "it is not JSON of a reasonable shape"
    if not isinstance(fields, dict):
        return {}, "it is not a JSON object"
    return fields, "" if isinstance(fields.get("plugins"), list) else "it has no list of plugins"


def _text(value: object) -> str:
    return one_line(value)[:1024] if isinstance(value, str) else ""


def owner_of(folder: str, owners: Mapping[str, str]) -> str:
    """Give the plugin that a skill's folder belongs to: the one that claims it most closely."""
    while folder and folder not in owners:
        folder = folder.rpartition("/")[0]
    return owners.get(folder, "")
