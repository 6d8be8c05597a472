"""What `doctor` says of all that metier keeps and hears: secrets, changes, counts, and the index that is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import MetierError
from metier.route import choosing
from metier.supply.files.disk import small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.app import Library
    from metier.model import Card
    from metier.ports import Engine, SecretStore
    from metier.route.engine import Embedded
    from metier.secrets.db import KeyringStore


DAMAGED = "damaged, or of another version; the next 'metier find' makes it anew"
"""What is said of an index that is there and tells nothing."""


class SecretFacts(NamedTuple):
    """Where secrets are kept, and how many; never which, and never a value."""

    file: str | None
    """The one that only its owner may read; nothing when there is no place for it."""
    in_file: int
    safe: bool
    """Whether nobody else could read or change it. A file that is not there is safe."""
    trouble: str
    in_keyring: int
    keyring: str
    no_keyring: str
    """The backend that would keep them, or why there is none."""


class Watching(NamedTuple):
    """How a program that watches would hear of changes here: by `notices` of the system, or by `polling` and why."""

    mode: str
    reason: str


class Counting(NamedTuple):
    """Whether uses are counted, and where."""

    on: bool
    file: str | None
    trouble: str
    spoilt: tuple[str, ...]
    """Files that could not be read and were set aside. Nothing needs them any more."""


class Mirroring(NamedTuple):
    """The plugins that are mirrored on this machine, in all its projects, and what waits for a person about them."""

    plugins: int
    paused: int
    missing: int
    waiting: int
    trouble: tuple[str, ...]
    """What is noted about them and cannot be read."""


class Searching(NamedTuple):
    """What `find` would go over here. The index is looked at as it is, and never made for this."""

    folder: str | None
    """Where the index lies; nothing when a host keeps it, or it lasts as long as a library."""
    skills: int
    """Those of the skills here that are in it, as it was when somebody last asked."""
    bytes: int
    vectors: bool
    """Whether meaning counts as well as words."""
    model: str
    reason: str
    """What sees meaning, or why nothing does."""
    embedded: int
    """Those of the skills in it that have vectors."""
    trouble: str
    host: bool
    """Whether a host keeps the index."""
    unwritable: str
    """Why the index cannot be kept, so that every search begins anew."""


def secrets(library: Library) -> SecretFacts:
    """Look at both places for secrets, without a value."""
    from metier.secrets import db, disk as files

    data, home = library.data, library.home
    file = f"{data}/{files.FOLDER}/{files.VALUES}" if data else None
    ring = db.KeyringStore(data, home)
    (in_file, trouble), (in_ring, other) = _held(files.FileStore(data, home)), _held(ring)
    return SecretFacts(file, in_file, not (trouble or other), trouble or other, in_ring, *_keyring(ring))


def _held(store: SecretStore) -> tuple[int, str]:
    """Count the names in a store, or say why it is refused."""
    try:
        return len(store.names()), ""
    except MetierError as error:
        return 0, f"{error.message}; {error.hint}"


def _keyring(ring: KeyringStore) -> tuple[str, str]:
    try:
        ring.ready()
    except MetierError as error:
        return "", error.message
    import keyring

    return str(keyring.get_keyring().name), ""


def watching(library: Library) -> Watching:
    """Begin to listen and stop at once: nothing else tells whether it would work."""
    from metier.discover.watch import Ear, Wanted

    reasons = [""]
    wanted = Wanted(tuple(root.location for root in library.roots()))
    ear = Ear(lambda: wanted, lambda _paths: None, failed=lambda why: reasons.insert(0, why), env=library.env)
    mode = ear.mode
    ear.close()
    return Watching(mode, reasons[0])


def counting(library: Library) -> Counting:
    """Look at the file of counts."""
    from metier.usage import db

    found = db.read(library.data) if library.data else db.Counts()
    file = f"{library.data}/{db.FILE}" if library.data else None
    return Counting(library.settings.usage and file is not None, file, found.trouble, found.spoilt)


def mirroring(library: Library) -> Mirroring:
    """Count what is mirrored; nothing is asked of any source."""
    folder, found, trouble = f"{library.data}/plugins", [], []
    names = disk.list_folder(folder).files if library.data and disk.is_there(folder) else ()
    for path in (f"{folder}/{name}" for name in names if name.endswith(".json")):
        from metier.plugins.state import MOST_BYTES, read_mirror  # most machines have no plugin

        try:
            found.append(read_mirror(small(path, MOST_BYTES), path))
        except MetierError as error:
            trouble.append(error.message)
    on = [plugin for mirror in found for plugin in mirror.plugins if plugin.enabled]
    waiting = sum(one.status in {"open", "accepted"} for mirror in found for one in mirror.candidates)
    return Mirroring(len(on), sum(one.status == "paused" for one in on), sum(one.status == "missing" for one in on), waiting,
                     tuple(trouble))  # fmt: skip


def searching(library: Library, cards: Iterable[Card], writable: Callable[[str], bool]) -> Searching:
    """Look at the index, and at what sees meaning."""
    folder, (model, reason) = _index_folder(library), _model(library)
    size = sum(piece.size for piece in disk.pieces_in(folder)) if folder else 0
    known, embedded, trouble = _indexed(library, folder, model, {card.path for card in cards})
    host, unwritable = library.engine is not None, _unwritable(folder, writable) if folder else ""
    return Searching(folder, known, size, not reason, model, reason, embedded, trouble, host, unwritable)


def nearest(path: str) -> str:
    """Give the nearest ancestor that exists: the one that decides whether a folder can be made."""
    while disk.kind_of(path) is None and path not in {"", "/"}:
        path = path.rpartition("/")[0]
    return path or "/"


def _unwritable(folder: str, writable: Callable[[str], bool]) -> str:
    """Say why a folder cannot be made or written to; nothing when it can."""
    place = nearest(folder)
    if disk.kind_of(place) != disk.FOLDER:
        return f"{place} is not a folder"
    return "" if writable(place) else f"{place} cannot be written to"


def _index_folder(library: Library) -> str | None:
    """Give the folder in which `find` keeps the index of these roots; it need not be there."""
    return None if library.engine is not None else choosing.index_folder(library.data, library.roots())


def _indexed(library: Library, folder: str | None, model: str, here: set[str]) -> tuple[int, int, str]:
    """Count the skills in an index, and those of them that have vectors of a model; or say what is wrong with it."""
    from metier.route.disk import folder_engine

    own = folder_engine(folder, library.home) if folder else None
    engine: Engine | None = own or library.engine
    if engine is None:
        return 0, 0, ""
    try:
        everything = engine.known().keys()
        known = here & everything
        embedded = len(known.difference(engine.without_vectors(model))) if model else 0
        return len(known), embedded, DAMAGED if own and not everything and _is_damaged(own) else ""
    except Exception as error:  # noqa: BLE001 - an engine may be anybody's, and what is wrong with it is what is asked
        return 0, 0, str(error)


def _is_damaged(engine: Embedded) -> bool:
    """Tell an index of which nothing can be read from one that is not there, and from one that holds nothing."""
    from metier.route.manifest import read
    from metier.route.postings import DamagedError

    if engine.place.version() is None:
        return False
    try:
        return bool(read(engine.place.manifest()).parts)
    except DamagedError:
        return True


def _model(library: Library) -> tuple[str, str]:
    """Give the name of what sees meaning, or why nothing does."""
    found, reason = choosing.embedder_for(library.settings.route.vectors, library.embedder)
    try:
        return "" if found is None else found.name, reason
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's
        return "", str(error)
