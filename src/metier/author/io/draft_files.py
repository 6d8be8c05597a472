"""Reads and writes the draft files below METIER_HOME: those that wait for a person, and those that
were decided.

Each draft is one file that only its owner can read. It is read as if a stranger had written it.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from metier.author.draft_record import MAX_RECORD_BYTES, id_of, read_record
from metier.author.io.staging import make_private, translate_errors, write_new
from metier.discover.io.disk import is_there, list_folder
from metier.errors import MetierError, RefusedError
from metier.store.io.atomic_change import Replace, StoreChange
from metier.supply.io.lock_file import read_small_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.author.model import Draft, DraftRecord
    from metier.ports import DiskCalls
    from metier.store.io.atomic_change import Changer


PENDING_FOLDER = "pending/skills"
MAX_PENDING_DRAFTS = 1_000
"""Drafts that may wait at once: an agent that is in a loop shall not fill the disk."""


class PendingDrafts:
    """Drafts as files, each for its owner alone, until a person looks at them."""

    def __init__(self, data: str, ident: str) -> None:
        """Say below which folder, and under which id the next one is kept."""
        self.folder = f"{data}/{PENDING_FOLDER}"
        self.ident = ident

    def submit(self, draft: Draft) -> str:
        """Keep a draft; give its id."""
        text = json.dumps(
            {"id": self.ident, "at": time.time_ns() // 1_000_000_000, **draft._asdict()}
        )
        path = f"{self.folder}/{self.ident}.json"
        with translate_errors(path):
            make_private(os.path.dirname(self.folder))
            make_private(self.folder)
            if len(os.listdir(self.folder)) >= MAX_PENDING_DRAFTS:
                raise RefusedError(
                    f"{MAX_PENDING_DRAFTS:,} changes are already waiting for review",
                    code="full",
                    hint=f"review them first: {self.folder}",
                )
            temporary = f"{self.folder}/.{self.ident}.tmp"
            try:
                write_new(temporary, [text.encode()], 0o600, sync=True)
                os.rename(temporary, path)
            except BaseException:
                if os.path.lexists(temporary):
                    os.unlink(temporary)
                raise
        return self.ident


DECIDED_FOLDER = "pending/decided"
MAX_DECIDED_DRAFTS = 500
"""Drafts that are remembered when nobody has to look at them any more."""
MAX_READ_DRAFTS = 2 * MAX_PENDING_DRAFTS
"""Files that are read for one list: more than metier ever leaves there."""


class DraftFile(NamedTuple):
    """One file of a draft: its bytes, and the draft, or what is wrong with it."""

    path: str
    data: bytes | None
    record: DraftRecord | str


class DraftFiles:
    """The files of all drafts of one METIER_HOME."""

    def __init__(self, home: str) -> None:
        """Say where; nothing is read yet."""
        self.home = home

    def waiting(self, own: str) -> str:
        """Give the path of a draft that waits."""
        return f"{self.home}/{PENDING_FOLDER}/{own}.json"

    def decided(self, own: str) -> str:
        """Give the path of a draft that was decided."""
        return f"{self.home}/{DECIDED_FOLDER}/{own}.json"

    def read(self, own: str, *, decided: bool = False) -> DraftFile | None:
        """Read one draft; nothing when there is none."""
        path = self.decided(own) if decided else self.waiting(own)
        try:
            data = read_small_file(path, MAX_RECORD_BYTES)
        except MetierError as error:
            return DraftFile(path, None, error.message)
        return None if data is None else DraftFile(path, data, read_record(data, own))

    def all(self, *, decided: bool = False) -> Iterator[DraftFile]:
        """Read every draft that waits, or that was decided; one at a time, since each may be
        large.
        """
        folder = f"{self.home}/{DECIDED_FOLDER if decided else PENDING_FOLDER}"
        listing = list_folder(folder)
        names = sorted(
            name
            for name in (*listing.files, *listing.links, *listing.others)
            if not name.startswith(".")
        )
        owns = [
            own
            for name in names
            if name.endswith(".json") and (own := id_of(f"draft:{name.removesuffix('.json')}"))
        ]
        for own in owns[:MAX_READ_DRAFTS]:
            filed = self.read(own, decided=decided)
            if filed is not None and (decided or not is_there(self.decided(own))):
                yield filed
        left = len(names) - min(len(owns), MAX_READ_DRAFTS)
        if left and not decided:
            yield DraftFile(
                folder, None, f"{left:,} files lie there that are no drafts, or too many"
            )

    def turn(self, filed: DraftFile, own: str, after: bytes) -> tuple[Replace, ...]:
        """Say how a draft that waits becomes one that was decided: in this order, so that whoever
        looks meanwhile finds it.
        """
        known = self.read(own, decided=True)
        return (
            Replace(self.decided(own), self.home, known.data if known is not None else None, after),
            self.rewrite(filed, None),
        )

    def rewrite(self, filed: DraftFile, after: bytes | None) -> Replace:
        """Say that other bytes come in the place of a file's, or none."""
        return Replace(filed.path, self.home, filed.data, after)

    def throw_out(self, changer: Changer, filed: DraftFile, own: str) -> None:
        """Keep a file that is no draft where nobody takes it for one."""
        path = f"{self.home}/{DECIDED_FOLDER}/{own}.broken"
        there = Replace(path, self.home, read_small_file(path, MAX_RECORD_BYTES), filed.data)
        changer.apply(StoreChange((), (there, self.rewrite(filed, None))))

    def trim(self, hands: DiskCalls) -> None:
        """Forget the oldest of those that were decided, as far as there are too many."""
        folder = f"{self.home}/{DECIDED_FOLDER}"
        names = list_folder(folder).files
        if len(names) <= MAX_DECIDED_DRAFTS:
            return
        try:
            ages = sorted((os.lstat(f"{folder}/{name}").st_mtime_ns, name) for name in names)
            for _age, name in ages[: len(names) - MAX_DECIDED_DRAFTS]:
                hands.remove(f"{folder}/{name}")
        except OSError:
            pass  # the next decision tries again
