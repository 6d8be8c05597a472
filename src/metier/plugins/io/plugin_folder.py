"""A folder on this machine, as far as plugins need it: only what its lists and manifests name is
read, and no link is followed.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.walk import EXCLUDED
from metier.errors import MetierError, RefusedError, SourceError
from metier.model import MANIFEST_BYTES, MANIFESTS
from metier.standard.plugin_manifest import SCHEMA, PluginManifest, read_manifest
from metier.supply.io.folder import FolderTree
from metier.supply.model import Item
from metier.supply.safe_names import MAX_PATH_DEPTH, printable
from metier.supply.sources.marketplace import (
    MARKETS,
    MAX_MARKETPLACE_BYTES,
    is_plain,
    join_path,
    named_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.settings.model import SupplySettings
    from metier.supply.sources.marketplace import MarketplaceEntry

MAX_SEARCH_DEPTH = 4
"""How deep below a folder that names none its plugins may lie; agents keep them by marketplace,
name and version."""
MAX_SEARCH_FOLDERS = 20_000
VERSION_DEPTH = 2
"""How many slashes the path of one version of a plugin has in an agent's cache."""
MAX_FILES_FACTOR = 10
"""How many times `supply.files` all plugins of one folder may have together: the setting is about
one plugin."""


class Unlisted(NamedTuple):
    """A part of a folder that could not be listed."""

    path: str
    error: MetierError


class PluginFolder(FolderTree):
    """A folder of which only the parts that plugins need are listed."""

    def __init__(self, folder: str, limits: SupplySettings, named: str) -> None:
        """Hold the folder; nothing of it is listed yet."""
        super().__init__(folder, "", limits, named)
        self.seen: dict[str, Item] = {}
        self.faults: list[Unlisted] = []
        self._left = limits.files * MAX_FILES_FACTOR

    def items(self) -> Sequence[Item]:
        """Give what was listed, sorted by path."""
        return sorted(self.seen.values())

    def look(self, path: str) -> Item | None:
        """Look at one entry; what lies behind a link counts as one."""
        item = self._looked(path)
        if item is not None:
            self.seen[path] = item
        return item

    def _looked(self, path: str) -> Item | None:
        try:
            found = os.lstat(f"{self.folder}/{path}")
        except (OSError, ValueError):
            return None
        if stat.S_ISLNK(found.st_mode) or not self._has_no_link(path.rpartition("/")[0]):
            return Item(path, 0, "link")
        if stat.S_ISDIR(found.st_mode):
            return None
        return Item(path, found.st_size, "file" if stat.S_ISREG(found.st_mode) else "other")

    def is_folder(self, path: str) -> bool:
        """Tell whether a folder is there, with no link on the way."""
        return os.path.isdir(f"{self.folder}/{path}") and self._has_no_link(path)

    def _has_no_link(self, path: str) -> bool:
        return not any(os.path.islink(f"{self.folder}/{parent}") for parent in _parents(path))

    def bytes_of(self, item: Item, most: int) -> bytes | None:
        """Read a small file; nothing when it cannot be read."""
        if not is_plain(item) or item.size > most:
            return None
        try:
            return b"".join(piece for _item, pieces in self.contents([item]) for piece in pieces)[
                : most + 1
            ]
        except MetierError:
            return None

    def take(self, part: str) -> None:
        """List a part whole; one that cannot be is a fault of that part alone."""
        found: list[Item] = []
        try:
            found += self._below(part)
        except (SourceError, RefusedError) as error:
            self.faults.append(Unlisted(part, error))
            return
        self._left -= len(found)
        self.seen.update((item.path, item) for item in found)

    def _below(self, part: str) -> Iterator[Item]:
        waiting = [part]
        count = 0
        most = min(self.limits.files, self._left)
        while waiting:
            path = waiting.pop()
            if path.count("/") - part.count("/") > MAX_PATH_DEPTH:
                raise RefusedError(
                    f"'{printable(path)}' lies too deep",
                    hint=f"at most {MAX_PATH_DEPTH} folders are read",
                    code="too-deep",
                )
            for item, is_folder in self._listed(path):
                count += 1
                if count > most:
                    raise RefusedError(
                        f"'{printable(part)}' has more than {most:,} entries",
                        hint="see supply.files",
                        code="too-many",
                    )
                if is_folder:
                    waiting.append(item.path)
                else:
                    yield item


def open_plugin_folder(
    folder: str, below: str, limits: SupplySettings, named: str, *, deep: bool
) -> PluginFolder:
    """Open a folder and list what the plugins in it need; `deep` looks for manifests where neither
    a list nor the top has one.
    """
    tree = PluginFolder(os.path.realpath(folder), limits, named)
    try:
        parts = dict.fromkeys(_parts(tree, below, deep=deep))
        for part in parts:
            if not any(above in parts for above in ("", *_parents(part)) if above != part):
                tree.take(part)
    except BaseException:
        tree.close()
        raise
    return tree


def _parts(tree: PluginFolder, below: str, *, deep: bool) -> Iterator[str]:
    """Give the folders to list, having looked at the lists and manifests that name them."""
    lists = [item for where in MARKETS if (item := tree.look(join_path(below, where))) is not None]
    yield from _of_plugin(tree, below, (), strict=True, needs_manifest=True)
    for item in lists:
        if is_plain(item):
            for entry in named_in(tree.bytes_of(item, MAX_MARKETPLACE_BYTES) or b"", below):
                yield from _of_entry(tree, entry, below)
            return
    if deep and not any(is_plain(tree.seen.get(join_path(below, where))) for where in MANIFESTS):
        yield from plugin_folders(tree, below)


def _of_entry(tree: PluginFolder, entry: MarketplaceEntry, below: str) -> Iterator[str]:
    folder = next((choice for choice in entry.choices if tree.is_folder(choice)), None)
    if folder == below:
        yield from _of_plugin(tree, folder, entry.skills, strict=entry.strict, needs_manifest=False)
    elif folder is not None:
        yield folder


def _of_plugin(
    tree: PluginFolder, folder: str, declared: Sequence[str], *, strict: bool, needs_manifest: bool
) -> Iterator[str]:
    """Give the places of the plugin at the top: all around it is somebody's project, and none of
    the plugin's.
    """
    manifest = _manifest_at(tree, folder)
    if manifest is None and needs_manifest:
        return
    places = declared or (manifest.skills if manifest is not None and strict else ())
    named = [join_path(folder, place) for place in places or ("skills",)]
    there = [place for place in named if tree.is_folder(place)]
    for place in named:
        if place and place not in there:
            tree.look(place)  # a link in its stead, which is told
    yield from there
    if not there and not places and tree.look(join_path(folder, "SKILL.md")) is not None:
        yield folder


def _manifest_at(tree: PluginFolder, folder: str) -> PluginManifest | None:
    for where in MANIFESTS:
        item = tree.look(join_path(folder, where))
        data = tree.bytes_of(item, MANIFEST_BYTES) if item is not None else None
        manifest = (
            read_manifest(data, where, folder.rpartition("/")[2]) if data is not None else None
        )
        if isinstance(manifest, PluginManifest):
            return manifest
    return None


def plugin_folders(tree: PluginFolder, below: str) -> Iterator[str]:
    """Look for folders with a manifest, no deeper than plugins lie, and not in one that has one."""
    waiting = deque([(below, 0)])
    count = 0
    while waiting:
        folder, depth = waiting.popleft()
        count += 1
        if count > MAX_SEARCH_FOLDERS:
            error = RefusedError(
                f"there are more than {MAX_SEARCH_FOLDERS:,} folders",
                hint="name the plugin's own",
                code="too-many",
            )
            tree.faults.append(Unlisted(below, error))
            return
        if depth and is_plugin(tree, folder):
            yield folder
        elif depth < MAX_SEARCH_DEPTH:
            names = _list_folders(f"{tree.folder}/{folder}")
            waiting.extend(
                (join_path(folder, name), depth + 1) for name in names if name not in EXCLUDED
            )


def plugins_below(
    folder: str, limits: SupplySettings, most: int
) -> tuple[list[str], list[Unlisted]]:
    """Give the folders below an agent's cache that hold one plugin each; the versions of one are a
    single folder.
    """
    tree = PluginFolder(os.path.realpath(folder), limits, folder)
    try:
        found = list(islice(plugin_folders(tree, ""), most))
    finally:
        tree.close()
    # By marketplace, name and version: the next version will lie beside this one.
    held = [path.rpartition("/")[0] if path.count("/") == VERSION_DEPTH else path for path in found]
    return [f"{folder}/{path}" for path in dict.fromkeys(held)], tree.faults


def is_plugin(tree: PluginFolder, folder: str) -> bool:
    """Tell whether a folder has a manifest; a bare `plugin.json` may be anybody's."""
    for where in MANIFESTS[:-1]:
        if tree.look(join_path(folder, where)) is not None:
            return True
    path = join_path(folder, MANIFESTS[-1])
    item = tree.look(path)
    ours = item is not None and SCHEMA.encode() in (tree.bytes_of(item, MANIFEST_BYTES) or b"")
    if item is not None and not ours:
        del tree.seen[path]
    return ours


def folders_below(folder: str, most: int) -> list[str]:
    """Give the folders in a folder, by name, links aside; none where there is no such folder."""
    return [f"{folder}/{name}" for name in _list_folders(folder, most)]


def _list_folders(folder: str, most: int | None = None) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    return [name for name in names[:most] if not name.startswith(".")]


def _parents(path: str) -> list[str]:
    """Give a path inside a folder and what is above it, the top aside."""
    found = []
    while path:
        found.append(path)
        path = path.rpartition("/")[0]
    return found
