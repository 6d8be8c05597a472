"""Changes to places where skills lie: all of one happens, or nothing does, also when the process is killed in between.

The order: what is new is staged beside its place; a journal is written, and from then on the change happens; each place is
switched by a rename; small files follow; a last journal says that only sweeping is left. Whoever comes next, and finds a
journal, finishes what it says.
"""

from __future__ import annotations

import errno
import os
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from metier.errors import MetierError, StoreError
from metier.keeping import disk as keeping
from metier.store.blobs.disk import bytes_of
from metier.store.changing import journal
from metier.store.changing.journal import Change, Journal, Move, Place, Replace, Saved, Switch
from metier.store.changing.moving.disk import FILE_BYTES, Mover, changed, guard, is_empty, reachable, unguarded, word_of
from metier.store.trees.disk import clear, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from metier.ports import Hands
    from metier.store.disk import Store

__all__ = ["Change", "Changer", "Replace", "Saved", "Switch", "state_of"]

JOURNAL, LOCK, MADE, SAVED = "journal.json", "lock", "made.json", "saved.json"
_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR, errno.ENOENT}
"""What a rename says when a place is not as it was a moment ago."""


class Changer:
    """Changes places, one change at a time on this machine."""

    def __init__(self, folder: str, home: str | None, store: Store, hands: Hands) -> None:
        """Keep the journal and the lock of all changers in `folder`; `home` is never created on the way."""
        self.folder, self.home, self.store, self.hands = folder, home, store, hands
        self.wait = keeping.WAIT_SECONDS
        """How long to wait for the others; with 0, whoever finds one at work gives up at once."""
        self._mover = Mover(store, hands)
        self._owner: int | None = None

    @contextmanager
    def alone(self) -> Iterator[tuple[str, ...]]:
        """Be the only one who changes anything, after what a crash left is settled; gives what that was, for people."""
        if self._owner == threading.get_ident():
            yield self._recover()  # the change before this one may have had no room left to sweep up after itself
            return
        with ExitStack() as held:
            try:
                keeping.make(self.folder, self.home)
                held.enter_context(keeping.alone(f"{self.folder}/{LOCK}", self.wait, named=True))
            except TimeoutError as error:
                holder, hint = keeping.holder(f"{self.folder}/{LOCK}"), "wait until the other metier is done, and try again"
                who = f": {holder}" if holder else ""
                raise StoreError(f"another process is changing skills{who}", hint=hint, code="busy") from error
            except OSError as error:
                raise _trouble(f"cannot use {self.folder}", error) from error
            self._owner = threading.get_ident()
            try:
                yield self._recover()
            finally:
                self._owner = None

    def apply(self, change: Change) -> tuple[Saved, ...]:
        """Do all of a change or nothing: `changed` when something is not as planned, and any trouble on the way is undone."""
        with self.alone():
            try:
                return self._apply(change, beside=False)
            except StoreError as error:
                if not isinstance(error.__cause__, OSError) or error.__cause__.errno != errno.EXDEV:
                    raise
            return self._apply(change, beside=True)  # the folder of the skills is mounted by itself

    def recover(self) -> tuple[str, ...]:
        """Finish or undo what a crash left, and sweep what was staged for it; gives what was done, for people."""
        with self.alone() as lines:
            return lines

    def unclaimed(self) -> tuple[tuple[Saved, ...], bytes | None]:
        """Give the edits that were put into the store and that nobody has noted as revisions yet, and the file that says so."""
        data = self._data(SAVED)
        return journal.read_saved(data), data

    # --- doing

    def _apply(self, change: Change, *, beside: bool) -> tuple[Saved, ...]:
        contents = {file.path: file.after for file in change.files}
        plan, moves = self._planned(change, beside=beside)
        for move in moves:
            if word_of(move.path) != move.before:
                raise changed(move.path)
        moves = tuple(move for move in moves if move.before != move.after)
        if not moves:
            return ()
        try:
            self._remember(plan)
            self._put(JOURNAL, journal.write(plan))
            self._stage(plan, moves, contents)
            self._put(JOURNAL, journal.write(plan._replace(moves=moves)))
            self.hands.sync(self.folder)
        except OSError as error:
            self._abandon(plan)
            raise _translated(error) from error
        except BaseException:  # whoever presses Ctrl-C wants it undone as well
            self._abandon(plan)
            raise
        return self._switch_all(plan, moves)

    def _planned(self, change: Change, *, beside: bool) -> tuple[Journal, tuple[Move, ...]]:
        """Check every place, and say where each is staged; nothing is touched."""
        wanted = [(s.path, s.below, s.before, s.after) for s in change.switches]
        wanted += [(f.path, f.below, journal.file_word(f.before), journal.file_word(f.after)) for f in change.files]
        journal.check((path, below) for path, below, _before, _after in wanted)
        token, moves = os.urandom(6).hex(), list[Move]()
        stages, made = dict[str, Place](), dict[str, Place]()
        for number, (path, below, before, after) in enumerate(wanted):
            guard(path, below)
            journal.check_aim(after)
            stage = journal.stage_of(path, below, token, beside=beside or before.startswith("file:") or after.startswith("file:"))
            if not beside and _apart(os.path.dirname(stage.path), os.path.dirname(path)):
                stage = journal.stage_of(path, below, token, beside=True)
            moves.append(Move(path, below, before, after, f"{stage.path}/{number}"))
            if before != after:
                stages[stage.path] = stage
                folders = journal.parents(path, below) if after else []
                made.update((folder, Place(folder, below)) for folder in folders if not os.path.lexists(folder))
        order = sorted(made.values(), key=lambda place: len(place.path))
        return Journal(tuple(stages.values()), tuple(order)), tuple(moves)

    def _stage(self, plan: Journal, moves: Iterable[Move], contents: dict[str, bytes | None]) -> None:
        for place in plan.made:
            guard(place.path, place.below)
            self.hands.make(place.path, 0o700 if self._own(place.path) else 0o755)
        for place in plan.stages:
            guard(place.path, place.below)
            self.hands.make(place.path, 0o700)
        trees = False
        for move in moves:
            data = contents.get(move.path)
            if move.after.startswith("link:"):
                self.hands.link(move.after[5:], move.new)
            elif data is not None and move.after.startswith("file:"):
                self.hands.write(move.new, (data,), self._mode(move.path))
            elif move.after:
                self.store.lay(move.after, move.new)
                trees = True
        self._sync([*([self.store.folder] if trees else ()), *(place.path for place in plan.stages)])

    def _switch_all(self, plan: Journal, moves: tuple[Move, ...]) -> tuple[Saved, ...]:
        saved = []
        try:
            for move in moves:
                self._mover.switch(move)
                saved.append(self._mover.examine(move))
            kept = self._noted(saved)
            self._sync(os.path.dirname(move.path) for move in moves)
        except OSError as error:
            self._undo(plan, moves, error)
            raise _translated(error) from error
        except BaseException as error:
            self._undo(plan, moves, error)
            raise
        try:
            self._done(plan, moves)
        except OSError:
            pass  # everything is in its place; whoever comes next does the sweeping
        return tuple(kept)

    def _done(self, plan: Journal, moves: Iterable[Move]) -> None:
        """Say that only sweeping is left, and sweep; folders that metier made and a removal emptied go as well."""
        known = set(self._made())
        emptied = {
            folder: Place(folder, move.below)
            for move in moves if not move.after
            for folder in journal.parents(move.path, move.below) if folder in known
        }  # fmt: skip
        order = sorted({**emptied, **{place.path: place for place in plan.made}}.values(), key=lambda place: len(place.path))
        self._sweep(plan._replace(made=tuple(order)))

    # --- undoing and recovering

    def _undo(self, plan: Journal, moves: tuple[Move, ...], error: BaseException) -> None:
        try:
            self._put(JOURNAL, journal.write(plan._replace(moves=moves, back=True)))
        except OSError:
            pass  # a full disk still renames
        try:
            spared = self._back(moves)
        except (OSError, MetierError) as second:
            message = f"a change failed ({_words(error)}) and could not be undone ({_words(second)})"
            raise StoreError(message, hint="the next command that changes skills settles it", code="unsettled") from second
        self._abandon(_without(plan, spared))

    def _back(self, moves: tuple[Move, ...]) -> list[Saved]:
        return self._noted([self._mover.back(move) for move in reversed(moves)])

    def _noted(self, found: Iterable[Saved | None]) -> list[Saved]:
        """Write down which edits the store has now, so that nobody frees them before they are somebody's revision."""
        saved = [one for one in found if one is not None]
        if any(one.digest for one in saved):
            known, _data = self.unclaimed()
            self._put(SAVED, journal.write_saved([*known, *(one for one in saved if one.digest)]))
        return saved

    def _abandon(self, plan: Journal) -> None:
        """Sweep what was staged for a change that does not happen; where that fails too, the journal says what is left."""
        try:
            self._sweep(plan)
        except OSError:
            self._forget(plan)

    def _forget(self, plan: Journal) -> None:
        """Be sure that a change that was undone is never finished, at the price of leaving something behind."""
        try:
            found = self._read()
            if found is not None and found.moves:
                self.hands.remove(f"{self.folder}/{JOURNAL}")
            self._clear(plan)
            if found is not None and not found.moves:
                self.hands.remove(f"{self.folder}/{JOURNAL}")
        except OSError:
            pass

    def _recover(self) -> tuple[str, ...]:
        try:
            return self._settled()
        except OSError as error:
            raise _trouble("a change that was broken off cannot be settled", error) from error

    def _settled(self) -> tuple[str, ...]:
        path = f"{self.folder}/{JOURNAL}"
        for name in (JOURNAL, MADE, SAVED):
            self._drop(f"{self.folder}/{name}.tmp")  # of a dead process: nobody else is at work
        if not os.path.lexists(path):
            return ()
        if not _is_ours(path):
            raise StoreError(f"{path} is another user's", hint="see who wrote it; as it is, it is not obeyed", code="unsettled")
        found = self._read()
        if found is None:
            aside = f"{path}.{os.urandom(4).hex()}.damaged"
            self.hands.move(path, aside)
            return (f"the record of a change that was broken off cannot be read; it is now {aside}",)
        if not found.moves:
            self._sweep(found, again=False)
            return ("what a change that was broken off had staged is removed",)
        return self._settle(found)

    def _settle(self, found: Journal) -> tuple[str, ...]:
        """Finish a change, or undo it where that was begun or somebody has edited a place since."""
        moves = tuple(move for move in found.moves if reachable(move))
        lost = any(word_of(move.path) != move.after for move in found.moves if move not in moves)
        saved = self._finished(moves) if not found.back and not lost else None
        forward = saved is not None
        plan = found._replace(moves=(), back=False)
        if saved is None:
            if not found.back:
                self._put(JOURNAL, journal.write(found._replace(back=True)))
            saved = self._back(moves)
            plan = _without(plan, saved)
        self._sync(os.path.dirname(move.path) for move in moves)
        self._done(plan, moves if forward else ())
        word = "finished" if forward else "undone"
        kept = [f"what was edited at {one.path} is kept in the store as {one.digest}" if one.digest
                else f"what was edited is left at {one.path}" for one in saved]  # fmt: skip
        return (*(f"a change that was broken off is {word}: {move.path}" for move in found.moves), *kept)

    def _finished(self, moves: tuple[Move, ...]) -> list[Saved] | None:
        """Go on with a change, and give what was saved; nothing when a place was edited before, or holds what cannot be kept."""
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
        self.hands.remove(f"{self.folder}/{JOURNAL}")

    def _clear(self, plan: Journal) -> None:
        for place in plan.stages:
            if unguarded(place.path, place.below):
                clear(place.path, self.hands)
        gone = set[str]()
        for place in reversed(plan.made):
            if unguarded(place.path, place.below) and is_empty(place.path):
                self.hands.remove_folder(place.path)
                gone.add(place.path)
        known = self._made() if gone else []
        if gone.intersection(known):
            self._put(MADE, journal.write_folders([folder for folder in known if folder not in gone]))

    # --- small files

    def _remember(self, plan: Journal) -> None:
        """Note which folders metier makes, so that it takes back these and no others."""
        if plan.made:
            self._put(MADE, journal.write_folders([*self._made(), *(place.path for place in plan.made)]))

    def _made(self) -> list[str]:
        try:
            return journal.read_folders(self._data(MADE) or b"")
        except OSError:
            return []

    def _data(self, name: str) -> bytes | None:
        try:
            return bytes_of(f"{self.folder}/{name}", FILE_BYTES)
        except FileNotFoundError:
            return None

    def _read(self) -> Journal | None:
        try:
            return journal.read(bytes_of(f"{self.folder}/{JOURNAL}", journal.JOURNAL_BYTES))
        except FileNotFoundError:
            return None

    def _put(self, name: str, data: bytes) -> None:
        path, temporary = f"{self.folder}/{name}", f"{self.folder}/{name}.tmp"
        try:
            self.hands.write(temporary, (data,), 0o600)
            self.hands.sync(temporary)
            self.hands.move(temporary, path)
        except OSError:
            self._drop(temporary)
            raise

    def _drop(self, path: str) -> None:
        if os.path.lexists(path):
            self.hands.remove(path)

    def _sync(self, folders: Iterable[str]) -> None:
        """Bring everything that was written to the disk, once for each file system."""
        devices = set[int]()
        for folder in folders:
            device = os.stat(folder).st_dev
            if device not in devices:
                devices.add(device)
                self.hands.sync(folder)

    def _mode(self, path: str) -> int:
        try:
            return os.lstat(path).st_mode & 0o777
        except OSError:
            return 0o600 if self._own(path) else 0o644

    def _own(self, path: str) -> bool:
        return path.startswith(f"{os.path.dirname(self.folder)}/")


def _is_ours(path: str) -> bool:
    """Tell whether a file is this user's, where the system knows users."""
    return not hasattr(os, "geteuid") or os.lstat(path).st_uid == os.geteuid()


def _apart(one: str, other: str) -> bool:
    """Tell whether two folders are on different file systems; one that is not there yet will be on the other's."""
    try:
        return os.stat(one).st_dev != os.stat(other).st_dev
    except OSError:
        return False


def _without(plan: Journal, spared: Iterable[Saved]) -> Journal:
    """Leave out of the sweep what could not be copied into the store."""
    left = {os.path.dirname(saved.path) for saved in spared if not saved.digest}
    return plan._replace(stages=tuple(place for place in plan.stages if place.path not in left))


def _translated(error: OSError) -> StoreError:
    if error.errno in _TAKEN:
        return changed(error.filename2 or error.filename or "a place")
    return _trouble("the change was undone", error)


def _trouble(what: str, error: OSError) -> StoreError:
    return StoreError(f"{what}: {_words(error)}", hint="check the space and the permissions there")


def _words(error: BaseException) -> str:
    if not isinstance(error, OSError):
        return str(error)
    return f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
