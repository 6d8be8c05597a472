"""What lies in a folder, told by stats wherever they prove that nothing changed since it was read last.

A stat proves that only when it was old enough when the folder was read: what is written in the same tick of the clock as a stat
that was taken looks the same. So nothing is kept about folders that changed within the last seconds; they are read again.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any

from metier.catalogue import snapshot
from metier.collector import CollectorOff
from metier.discover.disk import SETTLED_NS
from metier.mirroring.glances import disk
from metier.store.layout import TREE_FILES
from metier.store.trees.disk import state_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from metier.app import Library
    from metier.mirroring.glances.disk import Glance
    from metier.ports import Shelf
    from metier.supplying.places import Place

FORMAT = "1"
"""Raise it whenever anything that is kept here changes its meaning."""
MOST_KEPT = 200_000
"""So many folders are remembered; those that were read longest ago go first."""
MOST_ENTRIES = 1_000_000
"""A source with more than this is compared each time."""
SKIPPED = ".git"
"""Never a part of what a source offers."""
_KIND = b".L"


def of(library: Library, place: Place) -> Looks:
    """Open what is remembered of a place's folders and of the sources of its plugins; to be used in a `with` block."""
    name = place.state.rpartition("/")[2].removesuffix(".json")
    return Looks(library.shelf, f"plugins-{name}", library.edition, library.ports.clock_ns)


class Looks:
    """Looks at folders, and remembers what it saw. What is remembered may be lost at any time: it is only time that is lost."""

    def __init__(self, shelf: Shelf, name: str, edition: str, clock_ns: Callable[[], int]) -> None:
        """Keep everything on a shelf under a name; what another edition of metier kept there is not believed."""
        self._shelf, self._name, self._clock_ns = shelf, name, clock_ns
        self._token = blake2b(f"{FORMAT}/{edition}".encode("utf-8", "surrogateescape"), digest_size=16).digest()
        self._folders = dict[str, bytes]()
        """By path: the condensed stats, and after them the digest."""
        self._sources = dict[str, str]()
        self._changed = False

    def __enter__(self) -> Looks:
        """Recall what was seen before."""
        with CollectorOff():
            kept = snapshot.opened(self._shelf.load(self._name), _KIND)
        if kept is not None and kept[0] == self._token:
            self._folders, self._sources = kept[1]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Keep what was seen; not after an error, because then nobody knows which of the sources were dealt with."""
        if kind is None and self._changed:
            _trim(self._folders)
            _trim(self._sources)
            self._shelf.save(self._name, snapshot.sealed((self._folders, self._sources), self._token, _KIND))
            self._changed = False

    def state(self, folder: str) -> str:
        """Give the state word of what lies at a path, as `state_of` does; a folder that is as it was is not read again."""
        now = self._clock_ns()  # before the first stat: what changes after it is newer than this
        seen = disk.glance(folder, TREE_FILES)
        kept = self._folders.get(folder)
        if seen is not None and kept is not None and kept.startswith(seen.condensed):
            return kept[disk.SIZE :].decode("ascii")
        state = state_of(folder)
        self._keep(folder, _proof(folder, seen, state, now))
        return state

    def stamp(self, folder: str) -> str:
        """Condense the stats of all that a source's folder offers; nothing when one is too fresh, or a part cannot be seen."""
        now = self._clock_ns()
        seen = disk.glance(folder, MOST_ENTRIES, skip=SKIPPED, follow=True)
        return seen.condensed.hex() if seen is not None and _is_settled(seen, now) else ""

    def seen(self, key: str, stamp: str) -> bool:
        """Tell whether a source had this stamp when it was compared last."""
        return bool(stamp) and self._sources.get(key) == stamp

    def remember(self, key: str, stamp: str) -> None:
        """Note that a source was compared when it had this stamp, which was taken before; one without a stamp is forgotten."""
        if not stamp:
            self.forget(key)
        elif self._sources.get(key) != stamp:
            self._sources.pop(key, None)  # so that it goes to the end
            self._sources[key] = stamp
            self._changed = True

    def forget(self, key: str) -> None:
        """Have a source compared the next time, whatever it looks like."""
        if self._sources.pop(key, None) is not None:
            self._changed = True

    def _keep(self, folder: str, what: bytes | None) -> None:
        known = self._folders.pop(folder, None)
        if what is not None:
            self._folders[folder] = what
        self._changed = self._changed or known != what


def _proof(folder: str, seen: Glance | None, state: str, now: int) -> bytes | None:
    """Give what will show that a folder still has its digest; nothing when it was not at rest while it was read."""
    if seen is None or not state.startswith("sha256:") or not _is_settled(seen, now) or disk.glance(folder, TREE_FILES) != seen:
        return None
    return seen.condensed + state.encode("ascii")


def _is_settled(seen: Glance, now: int) -> bool:
    """Tell whether any change that comes later will show: the rule of all who go by stats (`discover.disk.settled_keys`)."""
    return now - seen.newest > SETTLED_NS


def _trim(known: dict[str, Any]) -> None:
    for key in list(islice(known, max(0, len(known) - MOST_KEPT))):
        del known[key]
