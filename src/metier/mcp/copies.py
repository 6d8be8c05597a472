"""Copies a skill's files as they were at one moment, with their hashes, for serving them over MCP.

Everything of a copy was read in one pass, and its digest is that of the bytes read: what was judged
under that digest is what is served. A link inside a skill is served as the file it means; one that
leads elsewhere is no file of the skill.

The frontmatter is given as the JSON that any reader of YAML would make of it. Everywhere else
metier keeps scalars as they are written, but who verifies a skill that came over MCP compares the
frontmatter field by field with what a reader of YAML gives, so here a number is a number (YAML 1.2,
the core schema). What two readers would read differently, a repeated key, an alias, a tag,
something that had to be repaired, is not given at all.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.discover import skill_files
from metier.discover.io import disk
from metier.mcp.uris import MAIN_FILE
from metier.standard import full_yaml
from metier.standard.digest import TreeFile, tree_digest
from metier.standard.frontmatter import split

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.model import Card, Digest, JsonObject, Texts


MAX_FILES = 512
MAX_BYTES = 16 * 1024 * 1024
"""The largest skill that every host of the extension takes."""
MAX_FOLDERS = 4 * MAX_FILES
"""So many folders one may have, links to folders counted as what they mean."""
MAX_LINK_HOPS = 40
"""How many links lead on to others at most, as the kernel has it."""
MAX_HELD_BYTES = 64 * 1024 * 1024
"""How many bytes of skills are held at most, the least used of them going first."""


def drop_oldest(kept: OrderedDict[Any, Any], most: int) -> None:
    """Drop what has been kept the longest, until no more is kept than may be."""
    while len(kept) > most:
        kept.popitem(last=False)


class CopiedFile(NamedTuple):
    """One file of a copy: its path inside the skill, its size, its hash in hex, and where it lies
    on the disk.
    """

    path: str
    size: int
    sha256: str
    place: str


class SkillCopy(NamedTuple):
    """All files of a skill under one digest. There are no bytes when it is larger than what is
    served as files.
    """

    digest: Digest | None = None
    files: tuple[CopiedFile, ...] = ()
    data: Mapping[str, bytes] = {}
    fault: str = ""
    """Why it is not served as files."""
    folders: Texts = ()
    """The folders below the skill's own, empty ones too."""

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return sum(map(len, self.data.values()))


def copy_skill(card: Card) -> SkillCopy:
    """Read a skill, whole or not at all."""
    folder, only = (card.path, "") if card.kind == "skill-md" else _link_target(card.path)
    grown = disk.look_at_tree(folder, only, MAX_FILES * 4)
    size = sum(piece.size for piece in grown.pieces if not piece.link)
    if len(grown.pieces) > MAX_FILES or size > MAX_BYTES:
        return SkillCopy(
            fault=f"it has {len(grown.pieces):,} files and {size:,} bytes; the most are {MAX_FILES} and "
            f"{MAX_BYTES:,}",
        )
    if grown.faults:
        return SkillCopy(fault="it cannot be read whole")
    hashed: list[TreeFile] = []
    data: dict[str, bytes] = {}
    aims: dict[str, bytes] = {}
    for piece in grown.pieces:
        place = f"{folder}/{piece.path}"
        if piece.link:
            aim = disk.target_of(place)
            if aim is None:
                return SkillCopy(fault="it changed while it was read")
            hashed.append(TreeFile(piece.path, len(aim), hashlib.sha256(aim).digest(), "link"))
            aims[piece.path] = aim
            continue
        got = disk.read_whole(place, lambda _head: MAX_BYTES)
        if got.fault or got.size != len(got.data):
            return SkillCopy(fault="it cannot be read whole")
        hashed.append(TreeFile(piece.path, got.size, got.sha256, got.executable))
        data[piece.path] = got.data
    digest = tree_digest(hashed) if hashed else None
    below = set() if only else {path.rstrip("/") for path in grown.folders if path}
    below |= _follow(data, frozenset(below), aims)
    if len(below) > MAX_FOLDERS:
        return SkillCopy(fault=f"it has more than {MAX_FOLDERS:,} folders with what its links mean")
    return _with_served_paths(card, folder, digest, data)._replace(folders=tuple(sorted(below)))


def _link_target(path: str) -> tuple[str, str]:
    folder, _, file = disk.real(path).rpartition("/")
    return folder or "/", file


def _follow(data: dict[str, bytes], folders: frozenset[str], aims: dict[str, bytes]) -> set[str]:
    """Put what links mean where the links lie; give the folders that come with that. A link around
    in a circle means nothing.
    """
    ends = {path: _end_of(path, aims) for path in aims}
    data |= {path: data[end] for path, end in ends.items() if end in data}
    there = dict(data)
    found = set[str]()
    links = {
        path: end
        for path, end in ends.items()
        if end in folders and not f"{path}/".startswith(f"{end}/")
    }
    waiting: list[tuple[str, str, Texts]] = [(path, end, (end,)) for path, end in links.items()]
    while (
        waiting and len(data) <= MAX_FILES and len(found) <= MAX_FOLDERS
    ):  # beyond that nothing is served anyway
        path, end, passed = waiting.pop()
        found |= {path, *_below(folders, end, path)}
        data |= {moved: there[one] for moved, one in _below(there, end, path).items()}
        inner = {moved: links[link] for moved, link in _below(links, end, path).items()}
        waiting += [
            (moved, aim, (*passed, aim))
            for moved, aim in inner.items()
            if not any(f"{before}/".startswith(f"{aim}/") for before in passed)
        ]
    return found


def _below(paths: Iterable[str], folder: str, place: str) -> dict[str, str]:
    """Give the paths below a folder, by where they lie when the folder is seen at another place."""
    start = f"{folder}/"
    return {f"{place}/{path[len(start) :]}": path for path in paths if path.startswith(start)}


def _end_of(path: str, aims: dict[str, bytes]) -> str:
    """Give the path inside a skill to which a link leads at last, through others; nothing where
    that is elsewhere.
    """
    for _hop in range(MAX_LINK_HOPS):
        inner = next((one for one in _above(path) if one in aims), "")
        if not inner:
            return path
        aim = posixpath.join(
            posixpath.dirname(inner), aims[inner].decode("utf-8", "surrogateescape")
        )
        path = posixpath.normpath(posixpath.join(aim, path[len(inner) + 1 :]))
        if path.startswith(("/", "..")):
            return ""
    return ""


def _above(path: str) -> list[str]:
    """Give every folder on the way to a path, the outermost first, and the path itself."""
    parts = path.split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _with_served_paths(
    card: Card, folder: str, digest: Digest | None, data: dict[str, bytes]
) -> SkillCopy:
    """Give the files the paths under which they are served: a skill's own file is always
    `SKILL.md`.
    """
    main = (
        skill_files.main_file(card).rpartition("/")[2]
        if card.kind == "skill-md"
        else next(iter(data), "")
    )
    served = {MAIN_FILE if path == main else path: path for path in sorted(data)}
    if len(served) > MAX_FILES or sum(len(data[path]) for path in served.values()) > MAX_BYTES:
        return SkillCopy(
            fault=f"it has more than {MAX_FILES} files or {MAX_BYTES:,} bytes with what its links mean",
        )
    files = tuple(
        CopiedFile(
            name, len(data[path]), hashlib.sha256(data[path]).hexdigest(), f"{folder}/{path}"
        )
        for name, path in sorted(served.items())
    )
    return SkillCopy(digest, files, {name: data[path] for name, path in served.items()})


class SkillCopies:
    """The copies that are held in memory, by digest. Any thread may ask."""

    def __init__(self, room: int = MAX_HELD_BYTES) -> None:
        """Begin with none."""
        self.room = room
        self._held: OrderedDict[str, SkillCopy] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def keep(self, copy: SkillCopy) -> None:
        """Hold a copy for as long as there is room for it."""
        if copy.digest is None or not copy.data or copy.size > self.room:
            return
        with self._lock:
            if copy.digest not in self._held:
                self._size += copy.size
            self._held[copy.digest] = copy
            self._held.move_to_end(copy.digest)
            while self._size > self.room:
                self._size -= self._held.popitem(last=False)[1].size

    def get(self, digest: str) -> SkillCopy | None:
        """Give a copy that is still held."""
        with self._lock:
            found = self._held.get(digest)
            if found is not None:
                self._held.move_to_end(digest)
            return found


# --- frontmatter as JSON

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_WHOLE = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_JSON = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS = 300
"""A number with more is a text to anybody."""


def frontmatter_json(data: bytes) -> JsonObject | None:
    """Give the frontmatter of a skill's own file; none when it cannot be told verbatim, or lacks a
    name or a description.
    """
    part = split(data, complete=True)
    if part.outcome != "found":
        return None
    try:
        text = data[part.start : part.end].decode()
    except UnicodeDecodeError:
        return None
    loaded = full_yaml.load(text)  # bounded: after it, nothing below is too deep or too much
    if loaded.error is not None or loaded.faults or not isinstance(loaded.value, dict):
        return None
    import yaml

    try:
        found = _value(yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except ValueError:  # a number that no JSON can say, or a key that means two things
        return None
    named = all(isinstance(found.get(key), str) and found[key] for key in ("name", "description"))
    return found if named else None


def _value(node: Any) -> Any:
    """Give what a node of a document says. What is too deep, an alias or a key of its own kind was
    refused before.
    """
    if isinstance(node.value, str):
        return node.value if node.style else _typed(node.value)
    if node.id == "sequence":
        return [_value(item) for item in node.value]
    if any(key.value == "<<" and not key.style for key, _item in node.value):
        raise ValueError("<<")  # to some readers a key, to others the order to merge
    return {key.value: _value(item) for key, item in node.value}


def _typed(text: str) -> Any:
    """Give the value of a scalar that has no quotes."""
    if text in _NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) <= _MAX_DIGITS and _WHOLE.fullmatch(text):
        return int(text, 8 if text.startswith("0o") else 16 if text.startswith("0x") else 10)
    if len(text) <= _MAX_DIGITS and _REAL.fullmatch(text):
        value = float(text)
        if value in {float("inf"), float("-inf")}:
            raise ValueError(text)
        return value
    if _NO_JSON.fullmatch(text):
        raise ValueError(text)
    return text
