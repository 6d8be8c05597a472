"""A skill's files as they were at one moment: which there are, with their hashes, and for a while their bytes.

Everything of a copy was read in one pass, and its digest is that of the bytes read: what was judged under that digest is what is
served. A link inside a skill is served as the file it means; one that leads elsewhere is no file of the skill.
"""

from __future__ import annotations

import hashlib
import posixpath
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from metier import skillfile
from metier.discover import disk
from metier.mcp.uris import MAIN
from metier.standard.digest import TreeFile, tree_digest

if TYPE_CHECKING:
    from metier.model import Card, Digest

FILES, BYTES = 512, 16 * 1024 * 1024
"""The largest skill that every host of the extension takes."""
FOLDERS = 4 * FILES
"""So many folders one may have, links to folders counted as what they mean."""
HOPS = 40
"""How many links lead on to others at most, as the kernel has it."""
ROOM = 64 * 1024 * 1024
"""How many bytes of skills are held at most, the least used of them going first."""


class Listed(NamedTuple):
    """One file of a copy: its path inside the skill, its size, its hash in hex, and where it lies on the disk."""

    path: str
    size: int
    sha256: str
    place: str


class Copy(NamedTuple):
    """All files of a skill under one digest. There are no bytes when it is larger than what is served as files."""

    digest: Digest | None
    files: tuple[Listed, ...]
    data: dict[str, bytes]
    fault: str = ""
    """Why it is not served as files."""
    folders: tuple[str, ...] = ()
    """The folders below the skill's own, empty ones too."""

    @property
    def size(self) -> int:
        """How many bytes it holds."""
        return sum(map(len, self.data.values()))


def copy_of(card: Card) -> Copy:
    """Read a skill, whole or not at all."""
    folder, only = (card.path, "") if card.kind == "skill-md" else _behind(card.path)
    grown = disk.grown(folder, only, FILES * 4)
    size = sum(piece.size for piece in grown.pieces if not piece.link)
    if len(grown.pieces) > FILES or size > BYTES:
        return Copy(None, (), {}, f"it has {len(grown.pieces):,} files and {size:,} bytes; the most are {FILES} and {BYTES:,}")
    if grown.faults:
        return Copy(None, (), {}, "it cannot be read whole")
    hashed: list[TreeFile] = []
    data: dict[str, bytes] = {}
    aims: dict[str, bytes] = {}
    for piece in grown.pieces:
        place = f"{folder}/{piece.path}"
        if piece.link:
            aim = disk.target_of(place)
            if aim is None:
                return Copy(None, (), {}, "it changed while it was read")
            hashed.append(TreeFile(piece.path, len(aim), hashlib.sha256(aim).digest(), "link"))
            aims[piece.path] = aim
            continue
        got = disk.read_whole(place, lambda _head: BYTES)
        if got.fault or got.size != len(got.data):
            return Copy(None, (), {}, "it cannot be read whole")
        hashed.append(TreeFile(piece.path, got.size, got.sha256, got.executable))
        data[piece.path] = got.data
    digest, below = tree_digest(hashed) if hashed else None, set() if only else {path.rstrip("/") for path in grown.folders if path}
    below |= _follow(data, frozenset(below), aims)
    if len(below) > FOLDERS:
        return Copy(None, (), {}, f"it has more than {FOLDERS:,} folders with what its links mean")
    return _named(card, folder, digest, data)._replace(folders=tuple(sorted(below)))


def _behind(path: str) -> tuple[str, str]:
    folder, _, file = disk.real(path).rpartition("/")
    return folder or "/", file


def _follow(data: dict[str, bytes], folders: frozenset[str], aims: dict[str, bytes]) -> set[str]:
    """Put what links mean where the links lie; give the folders that come with that. A link around in a circle means nothing."""
    ends = {path: _end_of(path, aims) for path in aims}
    data |= {path: data[end] for path, end in ends.items() if end in data}
    there, found = dict(data), set[str]()
    links = {path: end for path, end in ends.items() if end in folders and not f"{path}/".startswith(f"{end}/")}
    waiting: list[tuple[str, str, tuple[str, ...]]] = [(path, end, (end,)) for path, end in links.items()]
    while waiting and len(data) <= FILES and len(found) <= FOLDERS:  # beyond that nothing is served anyway
        path, end, passed = waiting.pop()
        found |= {path, *(f"{path}{one[len(end) :]}" for one in folders if one.startswith(f"{end}/"))}
        data |= {f"{path}{one[len(end) :]}": kept for one, kept in there.items() if one.startswith(f"{end}/")}
        inner = {link: aim for link, aim in links.items() if link.startswith(f"{end}/")}
        waiting += [(f"{path}{link[len(end) :]}", aim, (*passed, aim)) for link, aim in inner.items()
                    if not any(f"{before}/".startswith(f"{aim}/") for before in passed)]  # fmt: skip
    return found


def _end_of(path: str, aims: dict[str, bytes]) -> str:
    """Give the path inside a skill to which a link leads at last, through others; nothing where that is elsewhere."""
    for _hop in range(HOPS):
        inner = next((one for one in _above(path) if one in aims), "")
        if not inner:
            return path
        aim = posixpath.join(posixpath.dirname(inner), aims[inner].decode("utf-8", "surrogateescape"))
        path = posixpath.normpath(posixpath.join(aim, path[len(inner) + 1 :]))
        if path.startswith(("/", "..")):
            return ""
    return ""


def _above(path: str) -> list[str]:
    """Give every folder on the way to a path, the outermost first, and the path itself."""
    parts = path.split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _named(card: Card, folder: str, digest: Digest | None, data: dict[str, bytes]) -> Copy:
    """Give the files the paths under which they are served: a skill's own file is always `SKILL.md`."""
    main = skillfile.main_file(card).rpartition("/")[2] if card.kind == "skill-md" else next(iter(data), "")
    served = {MAIN if path == main else path: path for path in sorted(data)}
    if len(served) > FILES or sum(len(data[path]) for path in served.values()) > BYTES:
        return Copy(None, (), {}, f"it has more than {FILES} files or {BYTES:,} bytes with what its links mean")
    files = tuple(
        Listed(name, len(data[path]), hashlib.sha256(data[path]).hexdigest(), f"{folder}/{path}")
        for name, path in sorted(served.items())
    )
    return Copy(digest, files, {name: data[path] for name, path in served.items()})


class Copies:
    """The copies that are held in memory, by digest. Any thread may ask."""

    def __init__(self, room: int = ROOM) -> None:
        """Begin with none."""
        self.room = room
        self._held: OrderedDict[str, Copy] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def keep(self, copy: Copy) -> None:
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

    def get(self, digest: str) -> Copy | None:
        """Give a copy that is still held."""
        with self._lock:
            found = self._held.get(digest)
            if found is not None:
                self._held.move_to_end(digest)
            return found
