"""Accepting a draft: put in place where the skill is what it was made for; else rebased on the edits, and asked about once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import judging
from metier.errors import IntegrityError, RefusedError
from metier.managing import owners, places as spots
from metier.reviewing.drafted import desks, publishing
from metier.reviewing.drafted.proposing import three_of
from metier.supplying.combining import Three

if TYPE_CHECKING:
    from metier.managing import Change
    from metier.reviewing.drafted.desks import Worked
    from metier.reviewing.drafted.proposing import Bench
    from metier.reviewing.drafted.publishing import Desktop
    from metier.reviewing.drafted.records import Record
    from metier.supplying.combining import Combined
    from metier.supplying.versions import Version


class Answer(NamedTuple):
    """What became of a draft, in words."""

    record: Record
    done: bool
    message: str
    warnings: tuple[str, ...] = ()


class Acceptance:
    """One draft that a person accepts, with everything locked that it touches."""

    def __init__(self, on: Bench, top: Desktop, change: Change, how: str, reason: str) -> None:
        """Look at the skill as it is now."""
        self.on, self.top, self.change, self.how, self.reason = on, top, change, how, reason
        self.record = top.record
        self.now = on.now(change.target.path)
        if self.now.digest != change.base:
            raise self.moved()

    def moved(self) -> IntegrityError:
        """Say that somebody edits the skill at this very moment."""
        return IntegrityError(f"'{self.change.target.name}' is being edited right now; nothing was changed", hint="try again")

    def decided(self) -> Answer:
        """Publish the draft, or rebase it; raise where a person has to settle something first."""
        self.own()
        if self.record.draft.action == "delete":
            return self.removed()
        worked = desks.worked(self.on, self.record)
        if worked is not None and (not self.how or desks.is_worked_on(self.on.library, self.record)):
            return self.from_desk(worked)
        three = three_of(self.on, self.record, self.now)
        if self.now.digest == self.record.draft.base:
            return self.published(self.on.kept(three.theirs))
        return self.rebased(three)

    def own(self) -> None:
        """Refuse a folder that belongs to somebody else than when the draft was made."""
        target, then = self.change.target, self.record.draft.owner
        owner = owners.owner_of(self.on.library, target.path)
        if owner != then:
            what = f"'{target.name}' belongs to {owners.said(owner)} now, and to {owners.said(then)} when it was drafted"
            raise RefusedError(what, code="not-own", hint=f"metier review reject {self.record.key}")

    def removed(self) -> Answer:
        """Take the skill away, provided that it is what the draft was about, and may be taken away as things are now."""
        spots.may_be_deleted(self.on.library, self.change.target)
        if self.now.digest == self.record.draft.base:
            return self.published("")
        draft = self.record.draft._replace(base=self.on.kept(self.now))
        return self.again(self.record._replace(draft=draft, stale=""))

    # --- without a desk

    def rebased(self, three: Three) -> Answer:
        """Put the draft on top of the edits that came since it was made."""
        combined = self.on.combined(three)
        told = self.record.onto == self.now.digest
        if combined.conflicts and not self.how:
            paths = tuple(one.path for one in combined.conflicts)
            self.on.kept(self.now)
            self.top.note(self.record._replace(onto=self.now.digest, conflicts=paths))
            raise desks.not_merged(self.record, [(path, 0) for path in paths], "")
        if combined.conflicts:
            combined = self.on.combined(three, "ours" if self.how == "ours" else "theirs")
            if told:
                return self.published(self.on.store.keep(combined.folder))
        if combined.digest == self.now.digest:
            return self.published(combined.digest)
        return self.again(self.onto_now(combined))

    def onto_now(self, combined: Combined) -> Record:
        """Give the draft as a proposal to the skill as it is now."""
        scanned = judging.scan_tree(self.on.library, combined.folder, self.change.target.name)
        draft = self.record.draft._replace(base=self.on.kept(self.now), result=self.on.store.keep(combined.folder),
                                           level=scanned.level, score=scanned.score)  # fmt: skip
        return self.record._replace(draft=draft, onto="", conflicts=(), stale="")

    # --- with one

    def from_desk(self, worked: Worked) -> Answer:
        """Take what a person made of the draft, together with what was edited in the skill since the desk was laid."""
        if worked.left:
            raise desks.not_merged(self.record, worked.left, worked.path)
        if self.now.digest == worked.was.ours.digest:
            return self.published(self.on.kept(worked.edited), worked.edited.digest)
        three = Three(worked.was.ours, self.now, worked.edited)
        combined = self.on.combined(three)
        if combined.conflicts:
            what = f"'{self.change.target.name}' was edited in its place after the desk was laid, and the two do not fit"
            hint = f"'metier review edit {self.record.key}' lays a new desk; yours stays at {worked.path}"
            raise IntegrityError(what, hint=hint, code="unmerged")
        before = self.record
        after = self.onto_now(combined)
        answer = self.again(after._replace(desk=desks.lay(self.on, before, three, combined), onto=self.now.digest))
        desks.leave(self.on.library, before)
        return answer

    # --- what it comes to

    def published(self, digest: str, seen: str = "") -> Answer:
        """Put a tree in place; nothing, where the skill goes."""
        changed = digest != self.change.base
        after, warnings = publishing.publish(self.on, self.top, self.change, digest, self.reason)
        publishing.settled(self.on.library, self.record, seen)
        name = self.change.target.name
        word = f"{name}: the draft is in place" if digest else f"{name}: moved to the trash"
        return Answer(after, True, word if changed else f"{name}: it is so already", warnings)  # noqa: FBT003 - a field

    def again(self, record: Record) -> Answer:
        """Keep the rebased draft, and ask for another look."""
        self.top.note(record)
        edits = "it was edited since the draft was made" if record.draft.base else "it is gone since the draft was made"
        return Answer(record, False, f"{self.change.target.name}: {edits}; the draft was rebased on that, so look at it again")  # noqa: FBT003


def laid(on: Bench, record: Record, now: Version) -> Record:
    """Lay the desk of a draft for a skill as it is now; a desk that fits it still is left as it is."""
    worked = desks.worked(on, record)
    if worked is not None and worked.was.ours.digest == now.digest:
        return record
    three = three_of(on, record, now)
    if worked is not None and not worked.left and desks.is_worked_on(on.library, record):
        three = Three(worked.was.ours, now, worked.edited)
    combined = on.combined(three)
    conflicts = tuple(one.path for one in combined.conflicts)
    desk = desks.lay(on, record, three, combined)
    return record._replace(desk=desk, onto=on.kept(now), conflicts=conflicts)
