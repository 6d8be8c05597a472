"""Changes to places where skills lie: all of one happens, or nothing does, also when the process is
killed in between.

The order: what is new is staged beside its place; a journal is written, and from then on the change
happens; each place is switched by a rename; small files follow; a last journal says that only
sweeping is left. Whoever comes next, and finds a journal, finishes what it says.
"""

from __future__ import annotations

import errno
import os
import threading
from contextlib import ExitStack, contextmanager, suppress
from os.path import dirname, lexists
from typing import TYPE_CHECKING

from metier.errors import MetierError, StoreError
from metier.store import journal
from metier.store.io import safe_files
from metier.store.io.blobs import bytes_of
from metier.store.io.folders import clear, state_of
from metier.store.io.moves import (
    MAX_FILE_BYTES,
    Mover,
    changed_error,
    guard,
    is_empty,
    reachable,
    unguarded,
    word_of,
)
from metier.store.journal import (
    GuardedPath,
    Journal,
    JournalMove,
    MadeFolder,
    Replace,
    SavedEdits,
    StoreChange,
    Switch,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metier.model import Texts
    from metier.ports import DiskCalls
    from metier.store.io.tree_store import Store

__all__ = ["Changer", "Replace", "SavedEdits", "StoreChange", "Switch", "state_of"]

JOURNAL, LOCK, MADE, SAVED = "journal.json", "lock", "made.json", "saved.json"
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.ENOENT}
"""What a rename says when a place is not as it was a moment ago."""


class Changer:
    """Changes places, one change at a time on this machine."""

    def __init__(self, folder: str, home: str | None, store: Store, disk_calls: DiskCalls) -> None:
        """Keep the journal and the lock of all changers in `folder`; `home` is never created on the
        way.
        """
        self.folder, self.home, self.store, self.disk_calls = folder, home, store, disk_calls
        self.wait = safe_files.WAIT_SECONDS
        """How long to wait for the others; with 0, whoever finds one at work gives up at once."""
        self._mover = Mover(store, disk_calls)
        self._owner: int | None = None

    @contextmanager
    def alone(self) -> Iterator[Texts]:
        """Be the only one who changes anything, after what a crash left is settled; gives what that
        was, for people.
        """
        if self._owner == threading.get_ident():
            # the change before this one may have had no room left to sweep up after itself
            yield self._recover()
            return
        safe_files.refuse_on_windows()
        with ExitStack() as held:
            try:
                safe_files.make_folder(self.folder, self.home)
                held.enter_context(
                    safe_files.hold_lock(f"{self.folder}/{LOCK}", self.wait, named=True)
                )
            except TimeoutError as error:
                holder = safe_files.holder_in_words(f"{self.folder}/{LOCK}")
                who = f": {holder}" if holder else ""
                raise StoreError(
                    f"another process is changing skills{who}",
                    hint="wait until the other metier is done, and try again",
                    code="busy",
                ) from error
            except OSError as error:
                raise _trouble(f"cannot use {self.folder}", error) from error
            self._owner = threading.get_ident()
            try:
                yield self._recover()
            finally:
                self._owner = None

    def apply(self, change: StoreChange) -> tuple[SavedEdits, ...]:
        """Do all of a change or nothing: `changed` when something is not as planned, and any
        trouble on the way is undone.
        """
        with self.alone():
            try:
                return self._apply(change, beside=False)
            except StoreError as error:
                if not isinstance(error.__cause__, OSError) or error.__cause__.errno != errno.EXDEV:
                    raise
            return self._apply(change, beside=True)  # the folder of the skills is mounted by itself

    def recover(self) -> Texts:
        """Finish or undo what a crash left, and sweep what was staged for it; gives what was done,
        for people.
        """
        with self.alone() as lines:
            return lines

    def unclaimed(self) -> tuple[tuple[SavedEdits, ...], bytes | None]:
        """Give the edits that were put into the store and that nobody has noted as revisions yet,
        and the file that says so.
        """
        data = self._data(SAVED)
        return journal.read_saved(data), data

    # --- doing

    def _apply(self, change: StoreChange, *, beside: bool) -> tuple[SavedEdits, ...]:
        contents = {file.path: file.after for file in change.files}
        plan, moves = self._planned(change, beside=beside)
        for move in moves:
            if word_of(move.path) != move.before:
                raise changed_error(move.path)
        moves = tuple(move for move in moves if move.before != move.after)
        if not moves:
            return ()
        try:
            if plan.made:  # so that metier takes back these folders and no others
                self._put_made([*self._made(), *(place.path for place in plan.made)])
            self._put(JOURNAL, journal.write(plan))
            self._stage(plan, moves, contents)
            self._put(JOURNAL, journal.write(plan._replace(moves=moves)))
            self.disk_calls.sync(self.folder)
        except BaseException as error:  # whoever presses Ctrl-C wants it undone as well
            self._abandon(plan)
            if isinstance(error, OSError):
                raise _translated(error) from error
            raise
        return self._switch_all(plan, moves)

    def _planned(
        self, change: StoreChange, *, beside: bool
    ) -> tuple[Journal, tuple[JournalMove, ...]]:
        """Check every place, and say where each is staged; nothing is touched."""
        wanted = [
            *change.switches,
            *(
                Switch(f.path, f.below, journal.file_word(f.before), journal.file_word(f.after))
                for f in change.files
            ),
        ]
        journal.check_places((one.path, one.below) for one in wanted)
        token = os.urandom(6).hex()
        moves = list[JournalMove]()
        stages = dict[str, MadeFolder]()
        made = dict[str, MadeFolder]()
        for number, (path, below, before, after) in enumerate(wanted):
            guard(path, below)
            journal.check_aim(after)
            small = before.startswith("file:") or after.startswith("file:")
            stage = journal.stage_of(path, below, token, beside=beside or small)
            if not beside and _apart(dirname(stage.path), dirname(path)):
                stage = journal.stage_of(path, below, token, beside=True)
            moves.append(JournalMove(path, below, before, after, f"{stage.path}/{number}"))
            if before != after:
                stages[stage.path] = stage
                folders = journal.parents(path, below) if after else []
                made.update(
                    (folder, MadeFolder(folder, below)) for folder in folders if not lexists(folder)
                )
        order = sorted(made.values(), key=lambda place: len(place.path))
        return Journal(tuple(stages.values()), tuple(order)), tuple(moves)

    def _stage(
        self, plan: Journal, moves: Iterable[JournalMove], contents: dict[str, bytes | None]
    ) -> None:
        for place in plan.made:
            guard(place.path, place.below)
            self.disk_calls.make(
                GuardedPath.of(place.path, place.below), 0o700 if self._own(place.path) else 0o755
            )
        for place in plan.stages:
            guard(place.path, place.below)
            self.disk_calls.make(GuardedPath.of(place.path, place.below), 0o700)
        trees = False
        for move in moves:
            data = contents.get(move.path)
            if move.after.startswith("link:"):
                self.disk_calls.link(move.after[5:], GuardedPath.of(move.new, move.below))
            elif data is not None and move.after.startswith("file:"):
                staged = GuardedPath.of(move.new, move.below)
                self.disk_calls.write(staged, (data,), self._mode(move.path))
            elif move.after:
                self.store.lay(move.after, move.new)
                trees = True
        self._sync(
            [*([self.store.folder] if trees else ()), *(place.path for place in plan.stages)]
        )

    def _switch_all(self, plan: Journal, moves: tuple[JournalMove, ...]) -> tuple[SavedEdits, ...]:
        saved = []
        try:
            for move in moves:
                self._mover.switch(move)
                saved.append(self._mover.examine(move))
            kept = self._noted(saved)
            self._sync(dirname(move.path) for move in moves)
        except BaseException as error:
            self._undo(plan, moves, error)
            if isinstance(error, OSError):
                raise _translated(error) from error
            raise
        with suppress(OSError):  # all is in its place; whoever comes next does the sweeping
            self._done(plan, moves)
        return tuple(kept)

    def _done(self, plan: Journal, moves: Iterable[JournalMove]) -> None:
        """Say that only sweeping is left, and sweep; folders that metier made and a removal emptied
        go as well.
        """
        known = set(self._made())
        emptied = {
            folder: MadeFolder(folder, move.below)
            for move in moves
            if not move.after
            for folder in journal.parents(move.path, move.below)
            if folder in known
        }
        order = sorted(
            {**emptied, **{place.path: place for place in plan.made}}.values(),
            key=lambda place: len(place.path),
        )
        self._sweep(plan._replace(made=tuple(order)))

    # --- undoing and recovering

    def _undo(self, plan: Journal, moves: tuple[JournalMove, ...], error: BaseException) -> None:
        with suppress(OSError):  # a full disk still renames
            self._put(JOURNAL, journal.write(plan._replace(moves=moves, back=True)))
        try:
            spared = self._noted(map(self._mover.back, reversed(moves)))
        except (OSError, MetierError) as second:
            raise StoreError(
                f"a change failed ({_words(error)}) and could not be undone ({_words(second)})",
                hint="the next command that changes skills settles it",
                code="unsettled",
            ) from second
        self._abandon(_without(plan, spared))

    def _noted(self, found: Iterable[SavedEdits | None]) -> list[SavedEdits]:
        """Write down which edits the store has now, so that nobody frees them before they are
        somebody's revision.
        """
        saved = [one for one in found if one is not None]
        if any(one.digest for one in saved):
            known, _data = self.unclaimed()
            self._put(SAVED, journal.write_saved([*known, *(one for one in saved if one.digest)]))
        return saved

    def _abandon(self, plan: Journal) -> None:
        """Sweep what was staged for a change that does not happen; where that fails too, be sure
        that it is never finished, at the price of leaving something behind.
        """
        with suppress(OSError):
            self._sweep(plan)
            return
        with suppress(OSError):
            found = self._read()
            if found is not None and found.moves:
                self.disk_calls.remove(f"{self.folder}/{JOURNAL}")
            self._clear(plan)
            if found is not None and not found.moves:
                self.disk_calls.remove(f"{self.folder}/{JOURNAL}")

    def _recover(self) -> Texts:
        try:
            return self._settled()
        except OSError as error:
            raise _trouble("a change that was broken off cannot be settled", error) from error

    def _settled(self) -> Texts:
        path = f"{self.folder}/{JOURNAL}"
        for name in (JOURNAL, MADE, SAVED):
            self._drop(f"{self.folder}/{name}.tmp")  # of a dead process: nobody else is at work
        if not lexists(path):
            return ()
        if hasattr(os, "geteuid") and os.lstat(path).st_uid != os.geteuid():
            raise StoreError(
                f"{path} is another user's",
                hint="see who wrote it; as it is, it is not obeyed",
                code="unsettled",
            )
        found = self._read()
        if found is None:
            aside = f"{path}.{os.urandom(4).hex()}.damaged"
            self.disk_calls.move(path, aside)
            return (
                f"the record of a change that was broken off cannot be read; it is now {aside}",
            )
        if not found.moves:
            self._sweep(found, again=False)
            return ("what a change that was broken off had staged is removed",)
        return self._settle(found)

    def _settle(self, found: Journal) -> Texts:
        """Finish a change, or undo it where that was begun or somebody has edited a place since."""
        moves = tuple(move for move in found.moves if reachable(move))
        lost = any(word_of(move.path) != move.after for move in found.moves if move not in moves)
        saved = self._finished(moves) if not found.back and not lost else None
        forward = saved is not None
        plan = found._replace(moves=(), back=False)
        if saved is None:
            if not found.back:
                self._put(JOURNAL, journal.write(found._replace(back=True)))
            saved = self._noted(map(self._mover.back, reversed(moves)))
            plan = _without(plan, saved)
        self._sync(dirname(move.path) for move in moves)
        self._done(plan, moves if forward else ())
        word = "finished" if forward else "undone"
        kept = [
            f"what was edited at {one.path} is kept in the store as {one.digest}"
            if one.digest
            else f"what was edited is left at {one.path}"
            for one in saved
        ]
        return (
            *(f"a change that was broken off is {word}: {move.path}" for move in found.moves),
            *kept,
        )

    def _finished(self, moves: tuple[JournalMove, ...]) -> list[SavedEdits] | None:
        """Go on with a change, and give what was saved; nothing when a place was edited before, or
        holds what cannot be kept.
        """
        waiting = [move for move in moves if not self._mover.switched(move)]
        if not all(self._mover.can_finish(move) for move in waiting):
            return None
        try:
            for move in waiting:
                self._mover.finish(move)
            found = [self._mover.examine(move) for move in moves]
        except StoreError as error:
            if error.code != "changed":
                raise
            return None
        return self._noted(found)

    def _sweep(self, plan: Journal, *, again: bool = True) -> None:
        if again:
            self._put(JOURNAL, journal.write(plan))
        self._clear(plan)
        self.disk_calls.remove(f"{self.folder}/{JOURNAL}")

    def _clear(self, plan: Journal) -> None:
        for place in plan.stages:
            if unguarded(place.path, place.below):
                clear(place.path, self.disk_calls)
        gone = set[str]()
        for place in reversed(plan.made):
            if unguarded(place.path, place.below) and is_empty(place.path):
                self.disk_calls.remove_folder(place.path)
                gone.add(place.path)
        known = self._made() if gone else []
        if gone.intersection(known):
            self._put_made([folder for folder in known if folder not in gone])

    # --- small files

    def _put_made(self, folders: list[str]) -> None:
        self._put(MADE, journal.write_folders(folders))

    def _made(self) -> list[str]:
        with suppress(OSError):
            return journal.read_folders(self._data(MADE) or b"")
        return []

    def _data(self, name: str) -> bytes | None:
        with suppress(FileNotFoundError):
            return bytes_of(f"{self.folder}/{name}", MAX_FILE_BYTES)
        return None

    def _read(self) -> Journal | None:
        data = self._data(JOURNAL)
        return None if data is None else journal.read(data)

    def _put(self, name: str, data: bytes) -> None:
        path = f"{self.folder}/{name}"
        temporary = f"{self.folder}/{name}.tmp"
        try:
            self.disk_calls.write(temporary, (data,), 0o600)
            self.disk_calls.sync(temporary)
            self.disk_calls.move(temporary, path)
        except OSError:
            self._drop(temporary)
            raise

    def _drop(self, path: str) -> None:
        if lexists(path):
            self.disk_calls.remove(path)

    def _sync(self, folders: Iterable[str]) -> None:
        """Bring everything that was written to the disk, once for each file system."""
        devices = set[int]()
        for folder in folders:
            device = os.stat(folder).st_dev
            if device not in devices:
                devices.add(device)
                self.disk_calls.sync(folder)

    def _mode(self, path: str) -> int:
        try:
            return os.lstat(path).st_mode & 0o777
        except OSError:
            return 0o600 if self._own(path) else 0o644

    def _own(self, path: str) -> bool:
        return path.startswith(f"{dirname(self.folder)}/")


def _apart(one: str, other: str) -> bool:
    """Tell whether two folders are on different file systems; one that is not there yet will be on
    the other's.
    """
    try:
        return os.stat(one).st_dev != os.stat(other).st_dev
    except OSError:
        return False


def _without(plan: Journal, spared: Iterable[SavedEdits]) -> Journal:
    """Leave out of the sweep what could not be copied into the store."""
    left = {dirname(saved.path) for saved in spared if not saved.digest}
    return plan._replace(stages=tuple(place for place in plan.stages if place.path not in left))


def _translated(error: OSError) -> StoreError:
    if error.errno in _TAKEN:
        return changed_error(error.filename2 or error.filename or "a place")
    return _trouble("the change was undone", error)


def _trouble(what: str, error: OSError) -> StoreError:
    return StoreError(
        f"{what}: {safe_files.error_in_words(error)}",
        hint="check the space and the permissions there",
    )


def _words(error: BaseException) -> str:
    return safe_files.error_in_words(error) if isinstance(error, OSError) else str(error)
