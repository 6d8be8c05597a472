"""The one change that deciding about drafts ends in: the skill's folder and the files of drafts, wholly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import recording
from metier.errors import MetierError, StoreError
from metier.keeping import disk as keeping
from metier.managing import disk as managing
from metier.managing.approving import approved
from metier.reviewing.drafted import desks
from metier.reviewing.drafted.disk import Files
from metier.reviewing.drafted.records import MOST_WORDS, record_bytes
from metier.store.changing.disk import SAVED, Change, Replace, Switch
from metier.store.changing.journal import write_saved
from metier.supplying import places
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.app import Library
    from metier.managing import Change as Managing
    from metier.reviewing.drafted.disk import Filed
    from metier.reviewing.drafted.proposing import Bench
    from metier.reviewing.drafted.records import Record
    from metier.store.changing.disk import Changer, Saved


class Desktop:
    """One draft that is being decided about; whoever has this holds the lock of all changers."""

    def __init__(self, library: Library, changer: Changer, filed: Filed, record: Record) -> None:
        """Say which, and by which bytes that is known."""
        self.library, self.changer, self.filed, self.record = library, changer, filed, record
        self.files = Files(places.home_of(library))

    def note(self, record: Record) -> Record:
        """Write down where a draft that goes on waiting stands."""
        if record != self.record:
            self.apply((), (Replace(self.filed.path, self.files.home, self.filed.data, record_bytes(record)),))
        return record

    def decide(self, status: str, reason: str, record: Record | None = None) -> Record:
        """Give a draft as it is once it is decided."""
        about = record or self.record
        return about._replace(status=status, decided_at=decisions.now(), said=reason[:MOST_WORDS], conflicts=(), stale="")

    def apply(self, switches: Sequence[Switch], files: Sequence[Replace]) -> None:
        """Do all of it or nothing; an edit that came at the last moment is put where a person finds it."""
        saved = self.changer.apply(Change(tuple(switches), tuple(files)))
        for one in saved:
            _put_aside(self.library, self.changer, one)

    def turned(self, after: Record) -> tuple[Replace, ...]:
        """Say how this draft is filed away."""
        return self.files.turn(self.filed, after.id, record_bytes(after))

    def left_behind(self, after: Record, before: str) -> Iterator[Replace]:
        """Say what becomes of others that were made for the same tree, `before`: they go on waiting, unless they say the same."""
        for other, record in self._others(before):
            if record.desk is None and _says_the_same(record, after):
                gone = self.decide("superseded", f"{after.key} did the same", record)._replace(replaced_by=after.key)
                yield from self.files.turn(other, record.id, record_bytes(gone))
            else:
                fresh = record_bytes(record._replace(stale=f"{after.key} changed the skill"))
                yield Replace(other.path, self.files.home, other.data, fresh)

    def _others(self, before: str) -> Iterator[tuple[Filed, Record]]:
        for other in self.files.all():
            record = other.record
            if isinstance(record, str) or record.id == self.record.id:
                continue
            if (record.draft.path, record.draft.base) == (self.record.draft.path, before):
                yield other, record


def _says_the_same(one: Record, other: Record) -> bool:
    both = one.draft, other.draft
    return both[0].result == both[1].result and (bool(both[0].result) or all(draft.action == "delete" for draft in both))


def publish(on: Bench, top: Desktop, change: Managing, digest: str, reason: str) -> tuple[Record, tuple[str, ...]]:
    """Put a tree of the store in the place of a skill, once it is judged by today's rules, and file the draft away."""
    warnings: tuple[str, ...] = ()
    draft = top.record.draft
    if digest:
        scanned, warnings = approved(change, digest, on.store.lay)
        draft = draft._replace(result=digest, level=scanned.level, score=scanned.score)
    after = top.decide("published", reason)._replace(draft=draft)
    path, root = change.target.path, change.target.root
    switches = [Switch(path, root, change.base, digest)] if change.base != digest else []
    files = [*top.turned(after), *(top.left_behind(after, change.base) if switches else ())]
    try:
        with change.noted(digest):
            if not digest:
                _keep_for_the_trash(on, change)
            top.apply(switches, files)
    except BaseException:
        if not digest and change.base and not change.is_made(digest):
            managing.forget(change.trash)
        raise
    if not digest:
        spot = change.spot(change.target.segments[:-1])
        spot.prune(len(spot.segments))
    _told(top.library, "accepted", after, digest or change.base)
    return after, warnings


def _keep_for_the_trash(on: Bench, change: Managing) -> None:
    """Keep a skill that goes, where a person looks for what an agent took away."""
    managing.forget(change.trash)  # of an attempt that was broken off: the skill itself is still in its place
    managing.make_trash(change.trash)
    if on.store.keep(change.tree) != change.base:
        raise StoreError(f"{change.target.path} is being edited right now; nothing was done", code="changed", hint="say it again")
    on.store.lay(change.base, f"{change.trash}/{change.target.segments[-1]}")


def turn_down(top: Desktop, reason: str) -> Record:
    """File a draft away that a person does not want."""
    after = top.decide("rejected", reason)
    top.apply((), top.turned(after))
    _told(top.library, "rejected", after, after.draft.result)
    return after


def _told(library: Library, outcome: str, record: Record, digest: str) -> None:
    recording.record(library, "review", outcome, name=record.draft.skill, digest=digest, action=record.draft.action,
                     path=record.draft.path, id=record.key, reason=record.said[:500])  # fmt: skip


def settled(library: Library, record: Record, seen: str = "") -> None:
    """Tidy up after a decision: the desk, and the oldest of those decided before."""
    desks.leave(library, record, seen)
    Files(places.home_of(library)).trim(places.hands_of(library))


def _put_aside(library: Library, changer: Changer, saved: Saved) -> None:
    """Lay an edit that came at the last moment out beside the desks; until that is done, the store is told to keep it."""
    if not saved.digest:
        library.warnings.append(f"{saved.path} was edited meanwhile; what it was is left there")
        return
    name = f"edited-{saved.digest.removeprefix('sha256:')[:12]}"
    path = f"{places.home_of(library)}/{desks.FOLDER}/{name}"
    try:
        keeping.make(path.rpartition("/")[0], library.home)
        changer.store.lay(saved.digest, path)
        known, data = changer.unclaimed()
        rest = [one for one in known if one != saved]
        left = Replace(f"{changer.folder}/{SAVED}", changer.folder, data, write_saved(rest) if rest else None)
        changer.apply(Change((), (left,)))
    except (MetierError, OSError):
        library.warnings.append(f"{saved.path} was edited meanwhile; what it was is kept in the store as {saved.digest}")
        return
    library.warnings.append(f"{saved.path} was edited meanwhile; what it was lies in {path}")
