"""What `doctor` says of all that metier keeps and hears: secrets, changes, counts, and the index
that is searched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import MetierError
from metier.find import refresh
from metier.supply.io.lock_file import read_small_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.context import Context
    from metier.find.index.engine import IndexEngine
    from metier.model import Card, Texts
    from metier.ports import Engine, SecretStore
    from metier.secrets.io.system_keyring import KeyringStore


DAMAGED_INDEX = "damaged, or of another version; the next metier find rebuilds it"
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


class WatchFacts(NamedTuple):
    """How a program that watches would hear of changes here: by `notices` of the system, or by
    `polling` and why.
    """

    mode: str
    reason: str


class UsageFacts(NamedTuple):
    """Whether uses are counted, and where."""

    on: bool
    file: str | None
    trouble: str
    spoilt: Texts
    """Files that could not be read and were set aside. Nothing needs them any more."""


class MirrorFacts(NamedTuple):
    """The plugins that are mirrored on this machine, in all its projects, and what waits for a
    person about them.
    """

    plugins: int
    paused: int
    missing: int
    waiting: int
    trouble: Texts
    """What is noted about them and cannot be read."""


class IndexFacts(NamedTuple):
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


class ReadingFacts(NamedTuple):
    """Whether a model reads the prose of skills when they are scanned, beside the rules."""

    model: str
    """Its name; nothing where verdicts are by rules alone."""
    reason: str
    """Why they are."""
    trouble: str
    """Why nothing can be scanned: a model that is to read, and cannot."""


def secret_facts(context: Context) -> SecretFacts:
    """Look at both places for secrets, without a value."""
    from metier.secrets.io import file_store, system_keyring

    data = context.data
    home = context.home
    file = f"{data}/{file_store.FOLDER}/{file_store.VALUES}" if data else None
    ring = system_keyring.KeyringStore(data, home)
    (in_file, trouble), (in_ring, other) = (
        _count_names(file_store.FileStore(data, home)),
        _count_names(ring),
    )
    return SecretFacts(
        file, in_file, not (trouble or other), trouble or other, in_ring, *_keyring(ring)
    )


def _count_names(store: SecretStore) -> tuple[int, str]:
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


def watch_facts(context: Context) -> WatchFacts:
    """Begin to listen and stop at once: nothing else tells whether it would work."""
    from metier.discover.io.notices import NoticeThread, WatchedFolders

    reasons = [""]
    wanted = WatchedFolders(tuple(root.location for root in context.catalogue.roots()))
    listener = NoticeThread(
        lambda: wanted,
        lambda _paths: None,
        failed=lambda why: reasons.insert(0, why),
        env=context.env,
    )
    mode = listener.mode
    listener.close()
    return WatchFacts(mode, reasons[0])


def usage_facts(context: Context) -> UsageFacts:
    """Look at the file of counts."""
    from metier.usage import io

    found = io.read_counts(context.data) if context.data else io.Counts()
    file = f"{context.data}/{io.FILE}" if context.data else None
    return UsageFacts(
        context.settings.usage and file is not None, file, found.trouble, found.spoilt
    )


class InstallFacts(NamedTuple):
    """What was installed from sources, as the locks of the project and of the user have it."""

    skills: Texts
    trouble: Texts
    """Why a lock cannot be read."""


def install_facts(context: Context) -> InstallFacts:
    """Read the locks; nothing is asked of any source."""
    from metier.supply.history import installed  # a listing does without

    try:
        return InstallFacts(tuple(one.name for one in installed(context, user=None)), ())
    except MetierError as error:
        return InstallFacts((), (error.message,))


def mirror_facts(context: Context) -> MirrorFacts:
    """Count what is mirrored; nothing is asked of any source."""
    folder = f"{context.data}/plugins"
    found = []
    trouble = []
    names = disk.list_folder(folder).files if context.data and disk.is_there(folder) else ()
    for path in (f"{folder}/{name}" for name in names if name.endswith(".json")):
        from metier.plugins.mirror_json import (
            MAX_MIRROR_BYTES,
            read_mirror,
        )  # most machines have no plugin

        try:
            found.append(read_mirror(read_small_file(path, MAX_MIRROR_BYTES), path))
        except MetierError as error:
            trouble.append(error.message)
    on = [plugin for mirror in found for plugin in mirror.plugins if plugin.enabled]
    waiting = sum(
        one.status in {"open", "accepted"} for mirror in found for one in mirror.candidates
    )
    return MirrorFacts(
        len(on),
        sum(one.status == "paused" for one in on),
        sum(one.status == "missing" for one in on),
        waiting,
        tuple(trouble),
    )


def index_facts(context: Context, cards: Iterable[Card]) -> IndexFacts:
    """Look at the index, and at what sees meaning."""
    folder = (
        refresh.folder_of_index(context.data, context.catalogue.roots())
        if context.engine is None
        else None
    )
    model, reason = _model(context)
    size = sum(piece.size for piece in disk.pieces_in(folder)) if folder else 0
    known, embedded, trouble = _count_indexed(context, folder, model, {card.path for card in cards})
    return IndexFacts(
        folder=folder,
        skills=known,
        bytes=size,
        vectors=not reason,
        model=model,
        reason=reason,
        embedded=embedded,
        trouble=trouble,
        host=context.engine is not None,
        unwritable=_unwritable(folder) if folder else "",
    )


def reading_facts(context: Context) -> ReadingFacts:
    """Say who judges, without loading a model."""
    from metier.find.io.embedding_model import (
        NO_RUNTIME,
        READER_FILES,
        WEIGHTS_FOLDER,
        why_unavailable,
    )

    reason = context.why_not_read()
    reader = None if reason else context.passage_reader()
    missing = "" if context.reader else why_unavailable(WEIGHTS_FOLDER, READER_FILES)
    if reader is None:
        return ReadingFacts("", reason or missing or NO_RUNTIME, "")
    try:
        return ReadingFacts(reader.name, "", missing)
    except Exception as error:  # noqa: BLE001 - a reader may be anybody's
        return ReadingFacts("", "", missing or str(error))


def nearest_existing(path: str) -> str:
    """Give the nearest ancestor that exists: the one that decides whether a folder can be made."""
    while disk.kind_of(path) is None and path not in {"", "/"}:
        path = path.rpartition("/")[0]
    return path or "/"


def _unwritable(folder: str) -> str:
    """Say why a folder cannot be made or written to; nothing when it can."""
    place = nearest_existing(folder)
    if disk.kind_of(place) != disk.FOLDER:
        return f"{place} is not a folder"
    return "" if disk.writable(place) else f"{place} cannot be written to"


def _count_indexed(
    context: Context, folder: str | None, model: str, here: set[str]
) -> tuple[int, int, str]:
    """Count the skills in an index, and those of them that have vectors of a model; or say what is
    wrong with it.
    """
    from metier.find.io.index_folder import folder_engine

    own = folder_engine(folder, context.home) if folder else None
    engine: Engine | None = own or context.engine
    if engine is None:
        return 0, 0, ""
    try:
        everything = engine.known().keys()
        known = here & everything
        embedded = len(known.difference(engine.without_vectors(model))) if model else 0
        return (
            len(known),
            embedded,
            DAMAGED_INDEX if own and not everything and _is_damaged(own) else "",
        )
    except Exception as error:  # noqa: BLE001 - an engine may be anybody's, and what is wrong with it is what is asked
        return 0, 0, str(error)


def _is_damaged(engine: IndexEngine) -> bool:
    """Tell an index of which nothing can be read from one that is not there, and from one that
    holds nothing.
    """
    from metier.find.index.manifest import read_manifest
    from metier.find.index.postings import DamagedIndexError

    if engine.place.version() is None:
        return False
    try:
        return bool(read_manifest(engine.place.manifest()).parts)
    except DamagedIndexError:
        return True


def _model(context: Context) -> tuple[str, str]:
    """Give the name of what sees meaning, or why nothing does."""
    found, reason = refresh.embedder_for(context.settings.route.vectors, context.embedder)
    try:
        return "" if found is None else found.name, reason
    except Exception as error:  # noqa: BLE001 - an embedder may be anybody's
        return "", str(error)
