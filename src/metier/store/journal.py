"""What a change is, which places it may touch, and how it is written down before anything moves
(pure).

A state word says what lies at a place: nothing, `sha256:…` for a folder, `link:…` for a link,
`file:…` for a small file.
"""

from __future__ import annotations

import hashlib
import json
from posixpath import dirname
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError, StoreError
from metier.store.record_fields import encodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PREFIX = ".metier-"
"""How a folder begins in which a change is staged: no agent looks into it, and nothing else is ever
swept."""
MAX_MADE_FOLDERS = 10_000


class Switch(NamedTuple):
    """A folder or link that takes the place of another, or of nothing, or goes."""

    path: str
    below: str
    """The folder that it must stay inside."""
    before: str
    after: str


class Replace(NamedTuple):
    """A small file, such as the lock: what it must still be, and what it becomes."""

    path: str
    below: str
    before: bytes | None
    after: bytes | None


class StoreChange(NamedTuple):
    """Everything that happens together, or not at all."""

    switches: tuple[Switch, ...] = ()
    files: tuple[Replace, ...] = ()


class SavedEdits(NamedTuple):
    """Edits that were found at the last moment, and where in the store they are; no digest where
    they are left at the path.
    """

    path: str
    digest: str


class MadeFolder(NamedTuple):
    """A folder that a change makes, and the folder that it must stay inside."""

    path: str
    below: str


class JournalMove(NamedTuple):
    """One place of a change, with the slot where the new waits and the old is set aside."""

    path: str
    below: str
    before: str
    after: str
    slot: str

    @property
    def new(self) -> str:
        """Where the new waits."""
        return self.slot + ".new"

    @property
    def old(self) -> str:
        """Where the old is set aside."""
        return self.slot + ".old"


class Journal(NamedTuple):
    """A change under way. Without moves nothing is committed, or all is done: what is left is to
    sweep.
    """

    stages: tuple[MadeFolder, ...] = ()
    made: tuple[MadeFolder, ...] = ()
    """Folders that go again where they are empty, the outermost first."""
    moves: tuple[JournalMove, ...] = ()
    back: bool = False
    """Whether it is being undone."""


def file_word(data: bytes | None) -> str:
    """Give the state word of a small file."""
    return "" if data is None else f"file:{hashlib.sha256(data).hexdigest()}"


def is_tree(word: str) -> bool:
    """Tell whether a state word is that of a folder."""
    return word.startswith("sha256:")


def check_places(moves: Iterable[tuple[str, str]]) -> None:
    """Refuse a place that is not strictly inside the folder it belongs to, or inside another one
    (HE-42).
    """
    paths = []
    for path, below in moves:
        check_inside(path, below)
        paths.append(path)
    whole = set(paths)
    if len(whole) != len(paths) or any(not whole.isdisjoint(parents(path, "/")) for path in paths):
        raise RefusedError(
            "a change names the same place twice, or one inside another", code="collision"
        )


def check_inside(path: str, below: str) -> None:
    """Refuse a path unless it is a plain one, strictly below a folder."""
    rest = path[len(below) + 1 :] if path.startswith(f"{below}/") else ""
    parts = f"{below}/{rest}".split("/")[1:]
    if not below.startswith("/") or not _is_name(path) or not {"", ".", ".."}.isdisjoint(parts):
        raise RefusedError(
            f"{path[:300]!r} does not lie inside {below[:300]!r}",
            hint="nothing was changed; the lock names a place that is not its own",
            code="outside",
        )


def check_aim(word: str) -> None:
    """Refuse a link that no system can make."""
    if word.startswith("link:") and (word == "link:" or not _is_name(word)):
        raise RefusedError(f"{word[5:300]!r} is nothing that a link can say", code="unsafe-link")


def parents(path: str, below: str) -> list[str]:
    """List the folders strictly between a folder and what lies in it, the outermost first."""
    found = []
    end = len(path)
    while (end := path.rfind("/", 0, end)) > len(below):
        found.append(path[:end])
    return found[::-1]


class GuardedPath(str):
    """A path that is reached from the folder `below` through folders alone. Whatever changes the
    disk there holds each of them open on the way, where the system can: a link that somebody puts
    in the place of one after the check leads nowhere.
    """

    __slots__ = ("below",)
    below: str

    @classmethod
    def of(cls, path: str, below: str) -> GuardedPath:
        """Guard a path that lies below a folder."""
        made = cls(path)
        made.below = below
        return made


def stage_of(path: str, below: str, token: str, *, beside: bool) -> MadeFolder:
    """Say where something is staged: out of the folder that agents look into, or, where it must be,
    hidden in it.
    """
    parent = dirname(path)
    above = dirname(parent)
    chosen = above if not beside and len(above) >= len(below) else parent
    return MadeFolder(f"{chosen}/{PREFIX}{token}", below)


def write(journal: Journal) -> bytes:
    """Write a journal down."""
    return json.dumps({"format": 1, **journal._asdict()}).encode()


def read(data: bytes) -> Journal | None:
    """Read a journal; nothing when it is not one that metier wrote, and `StoreError` when a newer
    one did.
    """
    try:
        found = json.loads(data)
        if type(found["format"]) is int and found["format"] > 1:
            raise StoreError(
                "a newer metier was broken off here",
                hint="let that one finish: metier sync",
                code="unsettled",
            )
        stages, made = (
            tuple(MadeFolder(*_words(row, 2)) for row in found[name]) for name in ("stages", "made")
        )
        moves = tuple(JournalMove(*_words(row, 5)) for row in found["moves"])
        staged = [*(place.path for place in stages), *(dirname(move.slot) for move in moves)]
        if found["format"] != 1 or not all(
            path.rpartition("/")[2].startswith(PREFIX) for path in staged
        ):
            return None
        for place in (*stages, *made):
            check_inside(place.path, place.below)
        check_places((move.path, move.below) for move in moves)
        return Journal(stages, made, moves, bool(found["back"]))
    except (ValueError, TypeError, KeyError, RecursionError, RefusedError):
        return None


def read_folders(data: bytes) -> list[str]:
    """Read the list of folders that metier made; none when it cannot be read."""
    try:
        return [path for path in json.loads(data)["folders"] if isinstance(path, str)]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


def write_folders(folders: Sequence[str]) -> bytes:
    """Write the list of folders that metier made."""
    return (
        json.dumps({"folders": list(dict.fromkeys(folders))[-MAX_MADE_FOLDERS:]}, indent=1).encode()
        + b"\n"
    )


def read_saved(data: bytes | None) -> tuple[SavedEdits, ...]:
    """Read which edits were saved; none when it cannot be read."""
    try:
        return (
            tuple(SavedEdits(*_words(row, 2)) for row in json.loads(data)["saved"]) if data else ()
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()


def write_saved(saved: Iterable[SavedEdits]) -> bytes:
    """Write down which edits were saved, each once."""
    return json.dumps({"saved": list(dict.fromkeys(saved))}, indent=1).encode() + b"\n"


def _words(row: Sequence[object], count: int) -> list[str]:
    words = [word for word in row if isinstance(word, str)]
    if len(words) != count or len(row) != count:
        raise TypeError(row)
    return words


def _is_name(word: str) -> bool:
    return "\0" not in word and encodes(word, "surrogateescape")
