"""One place of a change on disk: switched in one step where the system can, put back, or finished
after a crash.

What lay there is never removed here. It is set aside, looked at again, and kept in the store when
it is not what was planned for: whoever edited it in that instant finds it there.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from os.path import dirname, isdir, islink, lexists
from typing import TYPE_CHECKING

from metier.errors import MetierError, RefusedError, StoreError
from metier.store import journal
from metier.store.io import folders
from metier.store.io.blobs import bytes_of
from metier.store.journal import GuardedPath, JournalMove, SavedEdits

if TYPE_CHECKING:
    from metier.ports import DiskCalls
    from metier.store.io.tree_store import Store

MAX_FILE_BYTES = 64 << 20


def word_of(path: str) -> str:
    """Give the state word of what lies at a path, small files included."""
    word = folders.state_of(path)
    if word == "other":
        with suppress(OSError):
            word = journal.file_word(bytes_of(path, MAX_FILE_BYTES))
    return word


def guard(path: str, below: str) -> None:
    """Refuse a place that is reached through anything but folders (HE-42)."""
    for folder in journal.parents(path, below):
        try:
            mode = os.lstat(folder).st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(mode):
            what = "a link" if stat.S_ISLNK(mode) else "not a folder"
            raise RefusedError(
                f"{path} is left alone: {folder} is {what}",
                hint="metier changes nothing that it reaches through a link",
                code="outside",
            )


def unguarded(path: str, below: str) -> bool:
    """Tell whether nothing but folders leads to a place."""
    try:
        guard(path, below)
    except MetierError:
        return False
    return True


def is_empty(folder: str) -> bool:
    """Tell whether a folder is there and has nothing in it."""
    try:
        return not islink(folder) and not os.listdir(folder)
    except OSError:
        return False


def reachable(move: JournalMove) -> bool:
    """Tell after a crash whether a place and its slot can still be reached; somebody may have
    removed the whole project.
    """
    return all(
        unguarded(path, move.below) and isdir(dirname(path)) for path in (move.path, move.slot)
    )


def changed_error(path: str) -> StoreError:
    """Make the error for a place that is not as it was when the change was planned."""
    return StoreError(
        f"{path} has changed in the meantime; nothing was done",
        hint="look at it, and try again",
        code="changed",
    )


def _guarded(move: JournalMove, path: str) -> GuardedPath:
    return GuardedPath.of(path, move.below)


class Mover:
    """Moves single places of a change."""

    def __init__(self, store: Store, disk_calls: DiskCalls) -> None:
        """Keep edits in this store."""
        self.store = store
        self.disk_calls = disk_calls

    def switch(self, move: JournalMove) -> None:
        """Put the new in its place, and set aside what was there."""
        guard(move.path, move.below)
        if not move.before:
            self._in(move)
        elif not move.after:
            self.disk_calls.move(_guarded(move, move.path), _guarded(move, move.old))
        elif self.disk_calls.swap(_guarded(move, move.new), _guarded(move, move.path)):
            self.disk_calls.move(_guarded(move, move.new), _guarded(move, move.old))
        else:
            self.disk_calls.move(_guarded(move, move.path), _guarded(move, move.old))
            self._in(move)

    def _in(self, move: JournalMove) -> None:
        if move.after.startswith("link:"):
            self.disk_calls.link(
                move.after[5:], _guarded(move, move.path)
            )  # refuses to replace anything, as renaming a link would not
        elif move.after.startswith("file:") and lexists(move.path):
            raise changed_error(move.path)
        else:
            self.disk_calls.move(_guarded(move, move.new), _guarded(move, move.path))

    def examine(self, move: JournalMove) -> SavedEdits | None:
        """Look at what was set aside; edits that nobody planned for are kept in the store."""
        return self._kept(move, move.old, move.before)

    def _kept(self, move: JournalMove, slot: str, expected: str) -> SavedEdits | None:
        word = word_of(slot)
        if word in {"", expected}:
            return None
        if not journal.is_tree(word):
            raise changed_error(move.path)
        return SavedEdits(move.path, self.store.keep(slot))

    def switched(self, move: JournalMove) -> bool:
        """Tell after a crash whether a place has its new content, whatever became of that since; an
        exchange is completed.
        """
        if lexists(move.old):
            return not move.after or lexists(move.path) or not lexists(move.new)
        now = word_of(move.path)
        if (
            move.before
            and move.after
            and lexists(move.new)
            and now != move.before
            and word_of(move.new) != move.after
        ):
            self.disk_calls.move(_guarded(move, move.new), _guarded(move, move.old))
            return True
        moved_in = (
            not move.before
            and bool(now)
            and not move.after.startswith("link:")
            and not lexists(move.new)
        )
        return moved_in or now == move.after

    def can_finish(self, move: JournalMove) -> bool:
        """Tell whether a place that is not switched yet still is as planned, and its new content is
        at hand.
        """
        aside = lexists(move.old)
        if word_of(move.path) != ("" if aside else move.before):
            return False
        return not move.after or word_of(move.new) == move.after or journal.is_tree(move.after)

    def finish(self, move: JournalMove) -> None:
        """Switch a place that a crash left as it was, or empty."""
        if journal.is_tree(move.after) and word_of(move.new) != move.after:
            folders.clear(move.new, self.disk_calls)
            self.store.lay(move.after, move.new)
        guard(move.path, move.below)
        if lexists(move.old):
            self._in(move)
        else:
            self.switch(move)

    def back(self, move: JournalMove) -> SavedEdits | None:
        """Put back what was there, wherever the change, or an earlier attempt to undo it, was
        broken off.
        """
        guard(move.path, move.below)
        if not move.before:
            return self._out(move)
        if not lexists(move.old):
            self.switched(move)  # completes an exchange
        if not lexists(move.old):
            return None  # never moved
        if not lexists(move.path):
            self.disk_calls.move(_guarded(move, move.old), _guarded(move, move.path))
            return self._spared(move, move.new)
        if word_of(move.old) == move.after or word_of(move.path) == move.before:
            return self._spared(move, move.old)  # exchanged back already
        folders.clear(move.new, self.disk_calls)
        if self.disk_calls.swap(_guarded(move, move.old), _guarded(move, move.path)):
            self.disk_calls.move(_guarded(move, move.old), _guarded(move, move.new))
        else:
            self.disk_calls.move(_guarded(move, move.path), _guarded(move, move.new))
            self.disk_calls.move(_guarded(move, move.old), _guarded(move, move.path))
        return self._spared(move, move.new)

    def _out(self, move: JournalMove) -> SavedEdits | None:
        """Take back something that was put where there was nothing."""
        now = word_of(move.path)
        if move.after.startswith("link:"):
            if now == move.after:
                self.disk_calls.remove(move.path)
            return None
        if not now or lexists(move.new):
            return None  # never put there
        self.disk_calls.move(_guarded(move, move.path), _guarded(move, move.new))
        return self._spared(move, move.new)

    def _spared(self, move: JournalMove, slot: str) -> SavedEdits | None:
        """Keep what somebody made of the new one before it was taken away again."""
        try:
            return self._kept(move, slot, move.after)
        except MetierError:
            return SavedEdits(slot, "")  # it cannot be copied: then it stays where it is
