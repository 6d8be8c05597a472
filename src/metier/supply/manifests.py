"""Plugins by their manifests: which folders of a source are plugins, where their skills lie, and which manifests say nothing."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from metier.model import MANIFEST_BYTES, MANIFESTS
from metier.standard.plugin import Manifest, read_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.supplies import Item, Request

    Read = Callable[[Sequence[Item]], Mapping[str, bytes]]

MAX_MANIFESTS = 2_000
FIXED = "agent-plugins"
"""The format that leaves no choice where skills lie."""
STANDS_IN = "marketplace"
"""The format of a plugin that an entry of a list stands in for."""


class Plugin(NamedTuple):
    """One plugin: the folders of this source that its skills lie in, or the sources that hold them."""

    name: str
    skills: tuple[str, ...] = ()
    elsewhere: tuple[Request, ...] = ()
    description: str = ""
    version: str = ""
    problems: tuple[str, ...] = ()
    folder: str = ""
    """Where it lies in its source; of one that lies elsewhere, where it does there."""
    format: str = STANDS_IN
    """Whose manifest speaks for it; nothing where its own cannot be read."""
    strict: bool = True
    """Whether a manifest of its own counts, beside the entry of a list."""
    alone: bool = False
    """Whether it names no place for skills and has none: then it is one skill at most."""


class Broken(NamedTuple):
    """A list or a manifest that says nothing."""

    path: str
    code: str
    why: str


def plugin_at(items: Sequence[Item], read: Read, folder: str, *, strict: bool = True) -> tuple[Plugin, tuple[Broken, ...]]:
    """Read the plugin in one folder of a source; without a manifest, or where none counts, only the usual place speaks for it."""
    wanted = {joined(folder, where) for where in MANIFESTS} if strict else set()
    manifests, broken = manifests_in({item.path: item for item in items if item.path in wanted}, read)
    places = folders_of(items)
    if folder in manifests:
        return own(folder, manifests[folder], places), broken
    found, alone = usual(folder, places)
    return Plugin("", found, folder=folder, format="" if broken else STANDS_IN, strict=strict, alone=alone), broken


def own(folder: str, manifest: Manifest, folders: set[str]) -> Plugin:
    """Give the plugin that its own manifest speaks for."""
    places = tuple(joined(folder, place) for place in manifest.skills)
    found, alone = ((), False) if places else usual(folder, folders, manifest.format)
    return Plugin(manifest.name, places or found, (), manifest.description, manifest.version, manifest.problems, folder,
                  manifest.format, alone=alone)  # fmt: skip


def manifests_in(files: Mapping[str, Item], read: Read) -> tuple[dict[str, Manifest], tuple[Broken, ...]]:
    """Give the plugins' folders with their manifests, and what says nothing; the first that can be read counts (CX-30)."""
    wanted: dict[str, list[tuple[int, str, Item]]] = {}
    for path, item in files.items():
        for order, where in enumerate(MANIFESTS):
            if path == where or path.endswith("/" + where):
                folder = path[: -len(where)].rstrip("/")
                if not (where == MANIFESTS[-1] and folder.endswith((".codex-plugin", ".claude-plugin", ".cursor-plugin"))):
                    wanted.setdefault(folder, []).append((order, where, item))
                break
    found, broken = {}, list[Broken]()
    for folder, choices in list(wanted.items())[:MAX_MANIFESTS]:
        for _order, where, item in sorted(choices, key=lambda choice: choice[0]):
            manifest = _manifest(item, where, folder, read)
            if isinstance(manifest, Manifest):
                found[folder] = manifest
                break
            broken += [manifest] if manifest is not None else []
    return found, tuple(broken)


def _manifest(item: Item, where: str, folder: str, read: Read) -> Manifest | Broken | None:
    if not is_plain(item):
        # A bare plugin.json may be anybody's, and nothing tells whose a link is.
        return None if where == MANIFESTS[-1] else odd(item)
    data = read([item]).get(item.path) if item.size < MANIFEST_BYTES else None
    if data is None:
        large = Broken(item.path, "too-large", f"it is larger than {MANIFEST_BYTES // 1024} KiB or cannot be read")
        return None if where == MANIFESTS[-1] else large
    manifest = read_manifest(data, where, folder.rpartition("/")[2])
    if manifest is None or isinstance(manifest, Manifest):
        return manifest
    return Broken(item.path, "malformed", manifest.message.removeprefix("plugin manifest ignored: "))


def is_plain(item: Item | None) -> bool:
    """Tell whether an entry is there and can be read."""
    return item is not None and item.mode in {"file", "exec"}


def odd(item: Item) -> Broken:
    """Say why an entry that is no file says nothing."""
    path = item.path
    if item.mode == "link":
        return Broken(path, "unsafe-link", "it is a link, which is not followed")
    return Broken(path, "unsafe-entry", "it is not a plain file")


def holder(path: str) -> str:
    """Give the plugin's folder that a manifest speaks for."""
    where = next(where for where in MANIFESTS if path == where or path.endswith("/" + where))
    return path[: -len(where)].rstrip("/")


def joined(*parts: str) -> str:
    """Give a path of several parts inside a source; nothing for its top."""
    path = posixpath.normpath("/".join(part for part in parts if part)) if any(parts) else ""
    return "" if path == "." else path


def usual(folder: str, folders: set[str], form: str = STANDS_IN) -> tuple[tuple[str, ...], bool]:
    """Give where a plugin that declares nothing has its skills: in the usual place, or else, if it may, it is one itself."""
    place = joined(folder, "skills")
    if place in folders:
        return (place,), False
    return ((), False) if form == FIXED else ((folder,), True)


def folders_of(items: Iterable[Item]) -> set[str]:
    """Give every folder that holds something, however deep."""
    found: set[str] = set()
    for item in items:
        folder = item.path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found
