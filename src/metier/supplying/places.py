"""Where the skills of a project or of the user are kept: the folder they lie below, their lock, and this machine's notes on it."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import NotFoundError, StoreError
from metier.store.changing.disk import JOURNAL, SAVED, Changer
from metier.store.disk import Store
from metier.store.hands.disk import OsHands
from metier.supply.files import disk as files
from metier.supply.lock import lock_bytes, read_lock
from metier.supply.state import State, read_state

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Scope
    from metier.ports import Hands
    from metier.supplies import Lock, Pin

LOCK = "metier.lock"
USER = "user"
"""What this machine's notes on the user's own lock are called."""
LOCK_BYTES = 64 * 1024 * 1024
WORKING = ".agents/skills"
"""Where working copies lie, below a project or the home folder."""


class Place(NamedTuple):
    """One lock, and what it governs."""

    scope: Scope
    base: str
    """The folder that everything it puts in place lies below."""
    lock: str
    state: str
    """The file below METIER_HOME with revisions and pending merges."""


class Kept(NamedTuple):
    """What a place's two files say, and their bytes, which must still be those when they are replaced."""

    lock: Lock
    state: State
    lock_bytes: bytes | None
    state_bytes: bytes | None


def home_of(library: Library) -> str:
    """Give the folder of metier's own state, without which nothing is installed."""
    if not library.data:
        raise StoreError("there is no place for installed skills", hint="set METIER_HOME or HOME")
    return library.data if library.data.startswith("/") else disk.real(library.data)


def place_of(library: Library, *, user: bool) -> Place:
    """Give the place of this project, or of the user."""
    data = home_of(library)
    if user:
        if not library.home:
            raise StoreError("there is no home folder to install into", hint="set HOME, or install into a project")
        return _place("user", disk.real(library.home), f"{data}/{LOCK}", data)
    base = disk.real(library.project)
    return _place("project", base, f"{base}/{LOCK}", data)


def _place(scope: Scope, base: str, lock: str, data: str) -> Place:
    # The user's own moves with METIER_HOME; a project's is known by where its lock lies.
    name = USER if scope == "user" else blake2b(lock.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return Place(scope, base, lock, f"{data}/supply/{name}.json")


def places(library: Library, user: bool | None) -> tuple[Place, ...]:  # noqa: FBT001 - which of the two, or both
    """Give the places that a verb is about: the project's before the user's where it may be either."""
    if user is not None:
        return (place_of(library, user=user),)
    return (place_of(library, user=False), *((place_of(library, user=True),) if library.home else ()))


def holding(library: Library, name: str, user: bool | None) -> tuple[Place, Kept, Pin]:  # noqa: FBT001 - the same
    """Give the place whose lock has a skill, with its pin."""
    for place in places(library, user):
        kept = read(place)
        pin = kept.lock.named(name)
        if pin is not None:
            return place, kept, pin
    raise NotFoundError(f"'{name}' is not in the lock", hint="'metier list' shows all skills; 'metier adopt PATH' locks one")


def read(place: Place) -> Kept:
    """Read a place's lock and this machine's notes on it; no file means an empty one."""
    lock, state = files.small(place.lock, LOCK_BYTES), files.small(place.state, LOCK_BYTES)
    known = read_state(state)
    return Kept(read_lock(lock_bytes_of_nothing() if lock is None else lock), known._replace(lock=place.lock), lock, state)


def lock_bytes_of_nothing() -> bytes:
    """Give the lock of a place where nothing was installed yet."""
    from metier.supplies import Lock

    return lock_bytes(Lock())


def hands_of(library: Library) -> Hands:
    """Give what changes the disk."""
    return library.hands or OsHands()


def store_of(library: Library) -> Store:
    """Open the store."""
    return Store(f"{home_of(library)}/store", library.home, hands_of(library))


def changer_of(library: Library) -> Changer:
    """Give what changes many places at once, wholly or not at all."""
    return Changer(f"{home_of(library)}/supply", library.home, store_of(library), hands_of(library))


def settle(library: Library, wait: float | None = None) -> None:
    """Finish or undo what a crash left, before anything is planned: a plan made on half a change would not hold.

    What lies there may be the change that another process is at: `wait` is how long to wait for that one.
    """
    folder, changer = f"{home_of(library)}/supply", changer_of(library)
    changer.wait = changer.wait if wait is None else wait
    if disk.kind_of(f"{folder}/{JOURNAL}") is not None:
        library.warnings += changer.recover()
    if disk.kind_of(f"{folder}/{SAVED}") is not None:
        from metier.supplying.claiming import claim

        claim(library, changer)
