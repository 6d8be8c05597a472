"""One place of a change on disk: switched in one step where the system can, put back, or finished after a crash.

What lay there is never removed here. It is set aside, looked at again, and kept in the store when it is not what was planned
for: whoever edited it in that instant finds it there.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from metier.errors import MetierError, RefusedError, StoreError
from metier.keeping import disk as keeping
from metier.store.changing import journal
from metier.store.changing.journal import Move, Saved
from metier.store.trees import disk as trees

if TYPE_CHECKING:
    from metier.ports import Hands
    from metier.store.disk import Store

FILE_BYTES = 64 << 20


def word_of(path: str) -> str:
    """Give the state word of what lies at a path, small files included."""
    word = trees.state_of(path)
    return _file(path) if word == "other" else word


def _file(path: str) -> str:
    try:
        file = keeping.opened(path, os.O_RDONLY)
    except OSError:
        return "other"
    try:
        if os.fstat(file).st_size > FILE_BYTES:
            return "other"
        with os.fdopen(file, "rb", closefd=False) as opened:
            return f"file:{hashlib.file_digest(opened, 'sha256').hexdigest()}"
    except OSError:
        return "other"
    finally:
        os.close(file)


def guard(path: str, below: str) -> None:
    """Refuse a place that is reached through anything but folders (HE-42)."""
    for folder in journal.parents(path, below):
        try:
            mode = os.lstat(folder).st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(mode):
            what = "a link" if stat.S_ISLNK(mode) else "not a folder"
            message = f"{path} is left alone: {folder} is {what}"
            raise RefusedError(message, hint="metier changes nothing that it reaches through a link", code="outside")


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
        return not os.path.islink(folder) and not os.listdir(folder)
    except OSError:
        return False


def reachable(move: Move) -> bool:
    """Tell after a crash whether a place and its slot can still be reached; somebody may have removed the whole project."""
    if not unguarded(move.path, move.below) or not unguarded(move.slot, move.below):
        return False
    return os.path.isdir(os.path.dirname(move.path)) and os.path.isdir(os.path.dirname(move.slot))


def changed(path: str) -> StoreError:
    """Make the error for a place that is not as it was when the change was planned."""
    return StoreError(f"{path} has changed in the meantime; nothing was done", hint="look at it, and try again", code="changed")


class Mover:
    """Moves single places of a change."""

    def __init__(self, store: Store, hands: Hands) -> None:
        """Keep edits in this store."""
        self.store, self.hands = store, hands

    def switch(self, move: Move) -> None:
        """Put the new in its place, and set aside what was there."""
        guard(move.path, move.below)
        if not move.before:
            self._in(move)
        elif not move.after:
            self.hands.move(move.path, move.old)
        elif self.hands.swap(move.new, move.path):
            self.hands.move(move.new, move.old)
        else:
            self.hands.move(move.path, move.old)
            self._in(move)

    def _in(self, move: Move) -> None:
        if move.after.startswith("link:"):
            self.hands.link(move.after[5:], move.path)  # refuses to replace anything, as renaming a link would not
        elif move.after.startswith("file:") and os.path.lexists(move.path):
            raise changed(move.path)
        else:
            self.hands.move(move.new, move.path)

    def examine(self, move: Move) -> Saved | None:
        """Look at what was set aside; edits that nobody planned for are kept in the store."""
        if not os.path.lexists(move.old):
            return None
        return self._kept(move, move.old, move.before)

    def _kept(self, move: Move, slot: str, expected: str) -> Saved | None:
        word = word_of(slot)
        if word == expected:
            return None
        if not journal.is_tree(word):
            raise changed(move.path)
        return Saved(move.path, self.store.keep(slot))

    def switched(self, move: Move) -> bool:
        """Tell after a crash whether a place has its new content, whatever became of that since; an exchange is completed."""
        if os.path.lexists(move.old):
            return not move.after or os.path.lexists(move.path) or not os.path.lexists(move.new)
        now = word_of(move.path)
        if move.before and move.after and os.path.lexists(move.new) and now != move.before and word_of(move.new) != move.after:
            self.hands.move(move.new, move.old)
            return True
        moved_in = not move.before and bool(now) and not move.after.startswith("link:") and not os.path.lexists(move.new)
        return moved_in or now == move.after

    def can_finish(self, move: Move) -> bool:
        """Tell whether a place that is not switched yet still is as planned, and its new content is at hand."""
        aside = os.path.lexists(move.old)
        if word_of(move.path) != ("" if aside else move.before):
            return False
        return not move.after or word_of(move.new) == move.after or journal.is_tree(move.after)

    def finish(self, move: Move) -> None:
        """Switch a place that a crash left as it was, or empty."""
        if journal.is_tree(move.after) and word_of(move.new) != move.after:
            trees.clear(move.new, self.hands)
            self.store.lay(move.after, move.new)
        guard(move.path, move.below)
        if os.path.lexists(move.old):
            self._in(move)
        else:
            self.switch(move)

    def back(self, move: Move) -> Saved | None:
        """Put back what was there, wherever the change, or an earlier attempt to undo it, was broken off."""
        guard(move.path, move.below)
        if not move.before:
            return self._out(move)
        if not os.path.lexists(move.old):
            self.switched(move)  # completes an exchange
        if not os.path.lexists(move.old):
            return None  # never moved
        if not os.path.lexists(move.path):
            self.hands.move(move.old, move.path)
            return self._spared(move, move.new)
        if word_of(move.old) == move.after or word_of(move.path) == move.before:
            return self._spared(move, move.old)  # exchanged back already
        trees.clear(move.new, self.hands)
        if self.hands.swap(move.old, move.path):
            self.hands.move(move.old, move.new)
        else:
            self.hands.move(move.path, move.new)
            self.hands.move(move.old, move.path)
        return self._spared(move, move.new)

    def _out(self, move: Move) -> Saved | None:
        """Take back something that was put where there was nothing."""
        now = word_of(move.path)
        if move.after.startswith("link:"):
            if now == move.after:
                self.hands.remove(move.path)
            return None
        if not now or os.path.lexists(move.new):
            return None  # never put there
        self.hands.move(move.path, move.new)
        return self._spared(move, move.new)

    def _spared(self, move: Move, slot: str) -> Saved | None:
        """Keep what somebody made of the new one before it was taken away again."""
        try:
            return self._kept(move, slot, move.after) if os.path.lexists(slot) else None
        except MetierError:
            return Saved(slot, "")  # it cannot be copied: then it stays where it is
