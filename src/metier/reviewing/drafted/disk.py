"""The files of drafts below METIER_HOME: those that wait, and those that were decided. Each is read as a stranger's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.disk import is_there, list_folder
from metier.errors import MetierError
from metier.managing.pending.disk import MOST_PENDING, PENDING
from metier.reviewing.drafted.records import RECORD_BYTES, Record, id_of, read_record
from metier.store.changing.disk import Change, Replace
from metier.supply.files.disk import small

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.ports import Hands
    from metier.store.changing.disk import Changer

DECIDED = "pending/decided"
MOST_DECIDED = 500
"""Drafts that are remembered when nobody has to look at them any more."""
MOST_READ = 2 * MOST_PENDING
"""Files that are read for one list: more than metier ever leaves there."""


class Filed(NamedTuple):
    """One file of a draft: its bytes, and the draft, or what is wrong with it."""

    path: str
    data: bytes | None
    record: Record | str


class Files:
    """The files of all drafts of one METIER_HOME."""

    def __init__(self, home: str) -> None:
        """Say where; nothing is read yet."""
        self.home = home

    def waiting(self, own: str) -> str:
        """Give the path of a draft that waits."""
        return f"{self.home}/{PENDING}/{own}.json"

    def decided(self, own: str) -> str:
        """Give the path of a draft that was decided."""
        return f"{self.home}/{DECIDED}/{own}.json"

    def read(self, own: str, *, decided: bool = False) -> Filed | None:
        """Read one draft; nothing when there is none."""
        path = self.decided(own) if decided else self.waiting(own)
        try:
            data = small(path, RECORD_BYTES)
        except MetierError as error:
            return Filed(path, None, error.message)
        return None if data is None else Filed(path, data, read_record(data, own))

    def all(self, *, decided: bool = False) -> Iterator[Filed]:
        """Read every draft that waits, or that was decided; one at a time, since each may be large."""
        folder = f"{self.home}/{DECIDED if decided else PENDING}"
        listing = list_folder(folder)
        names = sorted(name for name in (*listing.files, *listing.links, *listing.others) if not name.startswith("."))
        owns = [own for name in names if name.endswith(".json") and (own := id_of(f"draft:{name.removesuffix('.json')}"))]
        for own in owns[:MOST_READ]:
            filed = self.read(own, decided=decided)
            if filed is not None and (decided or not is_there(self.decided(own))):
                yield filed
        left = len(names) - min(len(owns), MOST_READ)
        if left and not decided:
            yield Filed(folder, None, f"{left:,} files lie there that are no drafts, or too many")

    def turn(self, filed: Filed, own: str, after: bytes) -> tuple[Replace, ...]:
        """Say how a draft that waits becomes one that was decided: in this order, so that whoever looks meanwhile finds it."""
        known = self.read(own, decided=True)
        return (Replace(self.decided(own), self.home, known.data if known is not None else None, after),
                Replace(filed.path, self.home, filed.data, None))  # fmt: skip

    def throw_out(self, changer: Changer, filed: Filed, own: str) -> None:
        """Keep a file that is no draft where nobody takes it for one."""
        path = f"{self.home}/{DECIDED}/{own}.broken"
        before = small(path, RECORD_BYTES)
        changer.apply(Change((), (Replace(path, self.home, before, filed.data), Replace(filed.path, self.home, filed.data, None))))

    def trim(self, hands: Hands) -> None:
        """Forget the oldest of those that were decided, as far as there are too many."""
        folder = f"{self.home}/{DECIDED}"
        names = list_folder(folder).files
        if len(names) <= MOST_DECIDED:
            return
        try:
            ages = sorted((os.lstat(f"{folder}/{name}").st_mtime_ns, name) for name in names)
            for _age, name in ages[: len(names) - MOST_DECIDED]:
                hands.remove(f"{folder}/{name}")
        except OSError:
            pass  # the next decision tries again
