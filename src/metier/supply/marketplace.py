"""Marketplaces and plugin manifests: which plugins a source lists, where their skills lie in it, and which lie elsewhere."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import MetierError, UsageError
from metier.model import MANIFEST_BYTES, MANIFESTS
from metier.standard.names import one_line
from metier.standard.plugin import Manifest, read_manifest
from metier.supply import sources
from metier.supply.naming import HASH, checked_path, checked_ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.supplies import Item, Request

    Read = Callable[[Sequence[Item]], Mapping[str, bytes]]

MARKETS = (".agents/plugins/marketplace.json", ".claude-plugin/marketplace.json", ".cursor-plugin/marketplace.json")
"""Where a marketplace's list may lie, in the order they are tried."""
MAX_BYTES = 1024 * 1024
MAX_PLUGINS = 2_000
MAX_MANIFESTS = 2_000
MAX_SKILLS = 1_000
"""How many skills one plugin may list."""


class Plugin(NamedTuple):
    """One plugin: the folders of this source that its skills lie in, or the sources that hold them."""

    name: str
    skills: tuple[str, ...] = ()
    elsewhere: tuple[Request, ...] = ()
    description: str = ""
    version: str = ""
    problems: tuple[str, ...] = ()


class Market(NamedTuple):
    """A list of plugins, or the plugins whose manifests lie in a source."""

    name: str
    plugins: tuple[Plugin, ...]
    renames: Mapping[str, str]
    """Old names of plugins, with the new."""
    notes: tuple[str, ...] = ()

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
    files = {item.path: item for item in items if item.path.endswith(".json") and item.mode in {"file", "exec"}}
    for where in MARKETS:
        item = files.get(at + where)
        if item is None:
            continue
        fields, problem = _object(read([item]).get(item.path))
        if not problem and not isinstance(fields.get("plugins"), list):
            problem = "it has no list of plugins"
        if not problem:
            return _Listing(fields, below, items, files, read).market()
        return Market("", (), {}, (f"{at}{where} ignored: {problem}",))
    plugins = _plugins(files, read, _folders(items))
    return Market(plugins[0].name, plugins, {}) if plugins else None


# --- a marketplace's own list


class _Listing:
    """One marketplace.json, read against the source it lies in."""

    def __init__(self, fields: dict[str, Any], below: str, items: Sequence[Item], files: Mapping[str, Item], read: Read) -> None:
        self.fields, self.below, self.files = fields, below, files
        self.folders = _folders(items)
        metadata = fields.get("metadata")
        root = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
        self.root = _inside(root) or ""
        self.manifests = _manifests(files, read)

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
        return Market(_text(self.fields.get("name")), tuple(plugins), known, tuple(notes))

    def plugin(self, entry: dict[str, Any]) -> Plugin:
        """Read one entry; whatever is wrong with it is its own problem."""
        plugin = Plugin(_text(entry.get("name")) or "?", (), (), _text(entry.get("description")), _text(entry.get("version")))
        source = entry.get("source", "./")
        path = source if isinstance(source, str) else source.get("path") if isinstance(source, dict) else None
        if isinstance(source, str) and "://" in source:
            source = {"source": "url", "url": source}
        if isinstance(source, str) or (isinstance(source, dict) and source.get("source") == "local"):
            return self.local(plugin, path, entry)
        if not isinstance(source, dict):
            return plugin._replace(problems=("its source is neither a path nor an object",))
        return _remote(plugin, source, entry)

    def local(self, plugin: Plugin, path: object, entry: dict[str, Any]) -> Plugin:
        """Find a plugin that lies in this source."""
        inside = _inside(path)
        if inside is None:
            return plugin._replace(problems=("its source leaves the marketplace",))
        choices = [_joined(self.below, self.root, inside), _joined(self.below, inside)]
        folder = next((choice for choice in choices if not choice or choice in self.folders), None)
        if folder is None:
            return plugin._replace(problems=(f"there is no folder {inside}",))
        manifest = self.manifests.get(folder) if entry.get("strict") is not False else None
        places, problems = _places(entry, manifest)
        if manifest is not None:
            said = plugin.description or manifest.description
            plugin = plugin._replace(description=said, version=plugin.version or manifest.version)
        return plugin._replace(skills=self.existing(folder, places), problems=problems)

    def existing(self, folder: str, places: tuple[str, ...]) -> tuple[str, ...]:
        """Give the folders that a plugin's skills lie in: the declared ones, else the usual place, else its own folder."""
        if places:
            return tuple(dict.fromkeys(_joined(folder, place) for place in places))
        return _usual(folder, self.folders)


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
        paths = tuple(dict.fromkeys(checked_path(_joined(request.path, place)) for place in places)) or (request.path,)
    except MetierError as error:
        return plugin._replace(problems=(f"its source is refused: {error.message}",))
    return plugin._replace(elsewhere=tuple(request._replace(path=path) for path in paths), problems=problems)


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


# --- plugin manifests


def _plugins(files: Mapping[str, Item], read: Read, folders: set[str]) -> tuple[Plugin, ...]:
    found = []
    for folder, manifest in sorted(_manifests(files, read).items()):
        places = tuple(_joined(folder, place) for place in manifest.skills) or _usual(folder, folders)
        found.append(Plugin(manifest.name, places, (), manifest.description, manifest.version))
    return tuple(found)


def _manifests(files: Mapping[str, Item], read: Read) -> dict[str, Manifest]:
    """Give the plugins' folders with their manifests; the first that can be read counts (CX-30)."""
    wanted: dict[str, list[tuple[int, str, Item]]] = {}
    for path, item in files.items():
        for order, where in enumerate(MANIFESTS):
            if path == where or path.endswith("/" + where):
                folder = path[: -len(where)].rstrip("/")
                if not (where == MANIFESTS[-1] and folder.endswith((".codex-plugin", ".claude-plugin", ".cursor-plugin"))):
                    wanted.setdefault(folder, []).append((order, where, item))
                break
    found = {}
    for folder, choices in list(wanted.items())[:MAX_MANIFESTS]:
        for _order, where, item in sorted(choices, key=lambda choice: choice[0]):
            data = read([item]).get(item.path) if item.size < MANIFEST_BYTES else None
            manifest = read_manifest(data, where, folder.rpartition("/")[2]) if data is not None else None
            if isinstance(manifest, Manifest):
                found[folder] = manifest
                break
    return found


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


def _joined(*parts: str) -> str:
    joined = posixpath.normpath("/".join(part for part in parts if part)) if any(parts) else ""
    return "" if joined == "." else joined


def _usual(folder: str, folders: set[str]) -> tuple[str, ...]:
    """Give where a plugin that declares nothing has its skills: in the usual place, or else it is one itself."""
    usual = _joined(folder, "skills")
    return (usual,) if usual in folders else (folder,)


def _folders(items: Iterable[Item]) -> set[str]:
    """Give every folder that holds something, however deep."""
    found: set[str] = set()
    for item in items:
        folder = item.path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


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
