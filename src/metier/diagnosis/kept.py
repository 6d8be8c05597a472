"""What `doctor` says of all that metier keeps and hears: secrets, changes, counts, and the index that is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import pipeline
from metier.discover import disk
from metier.errors import MetierError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.app import Library
    from metier.model import Card
    from metier.ports import SecretStore
    from metier.secrets.db import KeyringStore


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


def searching(library: Library, cards: Iterable[Card]) -> Searching:
    """Look at the index, and at what sees meaning."""
    folder, (model, reason) = _index_folder(library), _model(library)
    known, embedded, trouble = _indexed(library, folder, model, {card.path for card in cards})
    size = sum(piece.size for piece in disk.pieces_in(folder)) if folder else 0
    return Searching(folder, known, size, not reason, model, reason, embedded, trouble)


def _index_folder(library: Library) -> str | None:
    """Give the folder in which `find` keeps the index of these roots; it need not be there."""
    if library.engine is not None or not library.data:
        return None
    return f"{library.data}/route/{pipeline.name_of([(root.location, root.scope) for root in library.roots()])}"


def _indexed(library: Library, folder: str | None, model: str, here: set[str]) -> tuple[int, int, str]:
    """Count the skills in an index, and those of them that have vectors of a model; or say what is wrong with it."""
    engine = library.engine
    if folder is not None:
        from metier.route.disk import folder_engine

        engine = folder_engine(folder, library.home)
    try:
        known = here & engine.known().keys() if engine else set[str]()
        return len(known), len(known.difference(engine.without_vectors(model))) if engine and model else 0, ""
    except Exception as error:  # noqa: BLE001 - an engine may be anybody's, and what is wrong with it is what is asked
        return 0, 0, str(error)


def _model(library: Library) -> tuple[str, str]:
    """Give the name of what sees meaning, or why nothing does."""
    from metier.route.embed.disk import Onnx, available

    if library.settings.route.vectors == "off":
        return "", 'route.vectors is "off"'
    try:
        missing = "" if library.embedder else available()
        return ("", missing) if missing else ((library.embedder or Onnx()).name, "")
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's
        return "", str(error)
