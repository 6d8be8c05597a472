"""Marketplaces and plugin manifests: which plugins a source lists, where their skills lie in it, and which lie elsewhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import MetierError, UsageError
from metier.standard.names import one_line
from metier.supply import sources
from metier.supply.manifests import Broken, Plugin, folders_of, holder, is_plain, joined, manifests_in, odd, own, usual
from metier.supply.naming import HASH, checked_path, checked_ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.standard.plugin import Manifest
    from metier.supplies import Item, Request

    Read = Callable[[Sequence[Item]], Mapping[str, bytes]]

MARKETS = (".agents/plugins/marketplace.json", ".claude-plugin/marketplace.json", ".cursor-plugin/marketplace.json")
"""Where a marketplace's list may lie, in the order they are tried."""
MAX_BYTES = 1024 * 1024
MAX_PLUGINS = 2_000
MAX_SKILLS = 1_000
"""How many skills one plugin may list."""


class Named(NamedTuple):
    """An entry of a list, for a plugin in the same source."""

    choices: tuple[str, ...]
    """The folders that it may mean, the first that is there counts."""
    skills: tuple[str, ...]
    strict: bool


class Market(NamedTuple):
    """A list of plugins, or the plugins whose manifests lie in a source."""

    name: str
    plugins: tuple[Plugin, ...]
    renames: Mapping[str, str]
    """Old names of plugins, with the new."""
    notes: tuple[str, ...] = ()
    listed: bool = False
    """Whether there is a list; else each plugin speaks for itself."""
    where: str = ""
    """The file with the list."""
    own: Plugin | None = None
    """What lies at the top with a manifest of its own, and is not on the list."""
    broken: tuple[Broken, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the list and with each plugin of it."""
        return (*self.notes, *(f"plugin {plugin.name}: {problem}" for plugin in self.plugins for problem in plugin.problems))

    @property
    def elsewhere(self) -> tuple[Request, ...]:
        """The other sources that it leads to, each once."""
        return tuple(dict.fromkeys(request for plugin in self.plugins for request in plugin.elsewhere))

    def owners(self) -> dict[str, str]:
        """Give the folders that belong to plugins; of two that claim one, the first has it."""
        found: dict[str, str] = {}
        for plugin in self.plugins:
            for place in plugin.skills:
                found.setdefault(place, plugin.name)
        return found

    def leading_to(self, names: Iterable[str]) -> tuple[Request, ...]:
        """Give the other sources that could hold skills of these names: `plugin:skill` needs that plugin's alone."""
        plugins = {self.renames.get(head, head) if colon else "" for head, colon, _ in (name.partition(":") for name in names)}
        if not plugins or "" in plugins:
            return self.elsewhere
        return tuple(dict.fromkeys(request for plugin in self.plugins if plugin.name in plugins for request in plugin.elsewhere))


def marketplace_in(items: Sequence[Item], read: Read, below: str = "") -> Market | None:
    """Read the marketplace of a source, or else the manifests of plugins in it; None when it has neither."""
    at = f"{below}/" if below else ""
    files = {item.path: item for item in items if item.path.endswith(".json")}
    unread = [files[at + where] for where in MARKETS if at + where in files]
    strange = tuple(odd(item) for item in unread if not is_plain(item))
    for where in MARKETS:
        item = files.get(at + where)
        if item is None or not is_plain(item):
            continue
        fields, problem = _list(read([item]).get(item.path))
        if not problem:
            market = _Listing(fields, below, items, files, read).market()
            return market._replace(where=at + where, broken=(*strange, *market.broken))
        fault = Broken(at + where, "malformed", problem)
        notes = (f"{at}{where} ignored: {problem}",)
        return Market("", (), {}, notes, listed=True, where=at + where, broken=(*strange, fault))
    manifests, broken = manifests_in(files, read)
    places, broken = folders_of(items), (*strange, *broken)
    plugins = tuple(own(folder, manifest, places) for folder, manifest in sorted(manifests.items()))
    return Market(plugins[0].name if plugins else "", plugins, {}, broken=broken) if plugins or broken else None


def named_in(data: bytes, below: str) -> tuple[Named, ...]:
    """Give the folders of this source that a list leads to: what there is to look at before it can be read."""
    fields, problem = _list(data)
    if problem:
        return ()
    root = _root_of(fields)
    entries = [entry for entry in fields["plugins"][:MAX_PLUGINS] if isinstance(entry, dict)]
    paths = [(_local(entry), entry) for entry in entries]
    inside = [(_inside(path), entry) for path, entry in paths if path is not None]
    return tuple(
        Named(_choices(below, root, path), _places(entry, None)[0], entry.get("strict") is not False)
        for path, entry in inside
        if path is not None
    )


# --- a marketplace's own list


class _Listing:
    """One marketplace.json, read against the source it lies in."""

    def __init__(self, fields: dict[str, Any], below: str, items: Sequence[Item], files: Mapping[str, Item], read: Read) -> None:
        self.fields, self.below, self.files = fields, below, files
        self.folders, self.root = folders_of(items), _root_of(fields)
        self.manifests, self.broken = manifests_in(files, read)

    def market(self) -> Market:
        """Read every plugin of the list."""
        entries = self.fields["plugins"]
        notes = [f"only the first {MAX_PLUGINS} plugins were read"] if len(entries) > MAX_PLUGINS else []
        plugins = [self.plugin(entry) for entry in entries[:MAX_PLUGINS] if isinstance(entry, dict)]
        if len(plugins) < len(entries[:MAX_PLUGINS]):
            notes.append("an entry that is no object was left out")
        renames = self.fields.get("renames")
        pairs = list(renames.items())[:MAX_PLUGINS] if isinstance(renames, dict) else []
        known = {_text(old): _text(new) for old, new in pairs if isinstance(new, str)}
        at = {plugin.folder for plugin in plugins if not plugin.elsewhere}
        top = self.manifests.get(self.below) if self.below not in at else None
        # What is wrong elsewhere in the source is nothing to this list.
        broken = tuple(one for one in self.broken if holder(one.path) in {self.below, *at})
        return Market(_text(self.fields.get("name")), tuple(plugins), known, tuple(notes), listed=True,
                      own=own(self.below, top, self.folders) if top else None, broken=broken)  # fmt: skip

    def plugin(self, entry: dict[str, Any]) -> Plugin:
        """Read one entry; whatever is wrong with it is its own problem."""
        plugin = Plugin(_text(entry.get("name")) or "?", (), (), _text(entry.get("description")), _text(entry.get("version")),
                        strict=entry.get("strict") is not False)  # fmt: skip
        path = _local(entry)
        if path is not None:
            return self.local(plugin, path, entry)
        source = entry.get("source")
        if isinstance(source, str):
            source = {"source": "url", "url": source}
        if not isinstance(source, dict):
            return plugin._replace(problems=("its source is neither a path nor an object",))
        return _remote(plugin, source, entry)

    def local(self, plugin: Plugin, path: object, entry: dict[str, Any]) -> Plugin:
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
        plugin = plugin._replace(folder=folder)
        if manifest is not None:
            said, version = plugin.description or manifest.description, plugin.version or manifest.version
            problems = (*problems, *manifest.problems)
            plugin = plugin._replace(description=said, version=version, format=manifest.format)
        elif plugin.strict and any(holder(one.path) == folder for one in self.broken):
            plugin = plugin._replace(format="")
        found = tuple(dict.fromkeys(joined(folder, place) for place in places))
        usually, alone = ((), False) if found else usual(folder, self.folders, plugin.format)
        return plugin._replace(skills=found or usually, problems=problems, alone=alone)


def _remote(plugin: Plugin, source: dict[str, Any], entry: dict[str, Any]) -> Plugin:
    """Turn a source object into requests: one for the whole, or one for each skill that the entry lists."""
    kind = str(source.get("source"))
    if kind == "npm":
        return plugin._replace(problems=("it comes from npm, which runs code on installing; metier does not use it",))
    where = source.get("repo") if kind == "github" else source.get("url")
    if kind not in {"github", "url", "git", "git-subdir"} or not isinstance(where, str):
        return plugin._replace(problems=("its source is of a kind that metier does not know",))
    try:
        request = _request(where, source)
        places, problems = _places(entry, None)
        paths = tuple(dict.fromkeys(checked_path(joined(request.path, place)) for place in places)) or (request.path,)
    except MetierError as error:
        return plugin._replace(problems=(f"its source is refused: {error.message}",))
    led = tuple(request._replace(path=path) for path in paths)
    return plugin._replace(elsewhere=led, problems=problems, folder=request.path)


def _request(where: str, source: dict[str, Any]) -> Request:
    text = f"git+{where}" if where.startswith(("https://", "http://")) else where
    # A marketplace may not lead to files of this machine: to it, there are none.
    request = sources.parse(text, cwd="/", home=None, kind_of=lambda _path: None)
    if request.kind != "git" or request.location.startswith("file:"):
        raise UsageError("it is not a repository on a server")
    sha, ref, path = source.get("sha"), source.get("ref"), source.get("path")
    wanted = sha if isinstance(sha, str) and HASH.match(sha) else ref if isinstance(ref, str) else ""
    inside = checked_path(path) if isinstance(path, str) else request.path
    return request._replace(ref=checked_ref(wanted) if wanted else request.ref, path=inside)


# --- small parts


def _places(entry: dict[str, Any], manifest: Manifest | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the folders that an entry or else a manifest declares, relative to the plugin, and what is wrong with the list."""
    declared = entry.get("skills")
    listed = [declared] if isinstance(declared, str) else declared if isinstance(declared, list) else []
    kept = [place for place in (_inside(one) for one in listed[:MAX_SKILLS]) if place is not None]
    problems = ("a skill it lists lies outside the plugin",) if len(kept) < len(listed[:MAX_SKILLS]) else ()
    if len(listed) > MAX_SKILLS:
        problems = (*problems, f"only its first {MAX_SKILLS} skills were read")
    if kept or listed:
        return tuple(kept), problems
    return (tuple("" if place == "." else place for place in manifest.skills) if manifest else ()), problems


def _inside(path: object) -> str | None:
    """Give a path below the place it is written in, without dots around it; None for one that leads out or is none."""
    if not isinstance(path, str):
        return None
    try:
        return checked_path(path)
    except MetierError:
        return None


def _local(entry: dict[str, Any]) -> str | None:
    """Give the path that an entry says its plugin has in this source, whatever it is worth; None for one that lies elsewhere."""
    source = entry.get("source", "./")
    if isinstance(source, dict) and source.get("source") == "local":
        path = source.get("path")
        return path if isinstance(path, str) else ".."
    return source if isinstance(source, str) and "://" not in source else None


def _choices(below: str, root: str, inside: str) -> tuple[str, ...]:
    return joined(below, root, inside), joined(below, inside)


def _root_of(fields: dict[str, Any]) -> str:
    metadata = fields.get("metadata")
    return _inside(metadata.get("pluginRoot") if isinstance(metadata, dict) else None) or ""


def _list(data: bytes | None) -> tuple[dict[str, Any], str]:
    fields, problem = _object(data)
    return fields, problem or ("" if isinstance(fields.get("plugins"), list) else "it has no list of plugins")


def _object(data: bytes | None) -> tuple[dict[str, Any], str]:
    if data is None or len(data) > MAX_BYTES:
        return {}, f"it is larger than {MAX_BYTES // 1024} KiB or cannot be read"
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError):
        return {}, "it is not JSON of a reasonable shape"
    return (value, "") if isinstance(value, dict) else ({}, "it is not a JSON object")


def _text(value: object) -> str:
    return one_line(value)[:1024] if isinstance(value, str) else ""


def owner_of(folder: str, owners: Mapping[str, str]) -> str:
    """Give the plugin that a skill's folder belongs to: the one that claims it most closely."""
    while folder and folder not in owners:
        folder = folder.rpartition("/")[0]
    return owners.get(folder, "")
