"""Accepts or rejects a draft, and changes the skill's folder and the draft files together, wholly
or not at all.

A draft is put in place where the skill is what it was made for; else it is rebased on the edits,
and asked about once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.audit import log
from metier.author import target_folder
from metier.author.draft_record import MAX_REASON_CHARACTERS, candidate_of, record_bytes
from metier.author.io import staging
from metier.author.io.draft_files import DraftFiles
from metier.author.manage import approve_tree
from metier.errors import IntegrityError, MetierError, RefusedError
from metier.plugins.mirror_store import being_edited, leave_unclaimed
from metier.plugins.model import Decided
from metier.review import draft_workspace, edit_folder
from metier.review.draft_workspace import three_of
from metier.scan import service
from metier.store.io import safe_files
from metier.store.io.atomic_change import Replace, StoreChange, Switch
from metier.supply import places
from metier.supply.merge.combine import ThreeVersions
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.author.io.draft_files import DraftFile
    from metier.author.manage import ManagedChange
    from metier.author.model import DraftRecord
    from metier.context import Context
    from metier.review.draft_workspace import DraftWorkspace, EditedDraft
    from metier.store.io.atomic_change import Changer, SavedEdits
    from metier.supply.merge.combine import CombinedTree, VersionFiles


class DraftDecision:
    """One draft that is being decided about; whoever has this holds the lock of all changers."""

    def __init__(
        self, context: Context, changer: Changer, filed: DraftFile, record: DraftRecord
    ) -> None:
        """Say which, and by which bytes that is known."""
        self.context, self.changer, self.filed, self.record = context, changer, filed, record
        self.files = DraftFiles(places.home_of(context))

    def note(self, record: DraftRecord) -> DraftRecord:
        """Write down where a draft that goes on waiting stands."""
        if record != self.record:
            self.apply((), (self.files.rewrite(self.filed, record_bytes(record)),))
        return record

    def decide(self, status: str, reason: str, record: DraftRecord | None = None) -> DraftRecord:
        """Give a draft as it is once it is decided."""
        return (record or self.record)._replace(
            status=status,
            decided_at=decisions_file.now(),
            said=reason[:MAX_REASON_CHARACTERS],
            conflicts=(),
            stale="",
        )

    def apply(self, switches: Sequence[Switch], files: Sequence[Replace]) -> None:
        """Do all of it or nothing; an edit that came at the last moment is put where a person finds
        it.
        """
        for one in self.changer.apply(StoreChange(tuple(switches), tuple(files))):
            _keep_late_edit(self.context, self.changer, one)

    def file_away(self, after: DraftRecord) -> tuple[Replace, ...]:
        """Say how this draft is filed away."""
        return self.files.turn(self.filed, after.id, record_bytes(after))

    def leftovers(self, after: DraftRecord, before: str) -> Iterator[Replace]:
        """Say what becomes of others that were made for the same tree, `before`: they go on
        waiting, unless they say the same.
        """
        about = (self.record.draft.path, before)
        for other in self.files.all():
            record = other.record
            if isinstance(record, str) or record.id == self.record.id:
                continue
            if (record.draft.path, record.draft.base) != about:
                continue
            if record.desk is None and _says_the_same(record, after):
                gone = self.decide("superseded", f"{after.key} did the same", record)
                data = record_bytes(gone._replace(replaced_by=after.key))
                yield from self.files.turn(other, record.id, data)
            else:
                fresh = record._replace(stale=f"{after.key} changed the skill")
                yield self.files.rewrite(other, record_bytes(fresh))

    def record_outcome(self, outcome: str, after: DraftRecord, digest: str) -> None:
        """Write into the audit log what was decided."""
        draft = after.draft
        log.record(
            self.context,
            "review",
            outcome,
            name=draft.skill,
            digest=digest,
            action=draft.action,
            path=draft.path,
            id=after.key,
            reason=after.said[:500],
        )


def _says_the_same(one: DraftRecord, other: DraftRecord) -> bool:
    return one.draft.result == other.draft.result and (
        bool(one.draft.result) or one.draft.action == other.draft.action == "delete"
    )


def publish(
    work: DraftWorkspace, decision: DraftDecision, change: ManagedChange, digest: str, reason: str
) -> DraftRecord:
    """Put a tree of the store in the place of a skill, once it is judged by today's rules, and file
    the draft away.
    """
    draft = decision.record.draft
    context = decision.context
    if digest:
        scanned, warnings = approve_tree(change, digest, work.store.lay)
        context.warnings += [told for told in warnings if told not in context.warnings]
        draft = draft._replace(result=digest, level=scanned.level, score=scanned.score)
    after = decision.decide("published", reason)._replace(draft=draft)
    files = [*decision.file_away(after)]
    switches = list[Switch]()
    if change.base != digest:
        switches = [Switch(change.target.path, change.target.root, change.base, digest)]
        files += decision.leftovers(after, change.base)
    try:
        with change.recorded(digest):
            if not digest:
                _keep_in_trash(work, change)
            decision.apply(switches, files)
    except BaseException:
        if not digest and change.base and not change.is_made(digest):
            staging.drop_trash(change.trash)
        raise
    if not digest:
        spot = change.spot(change.target.segments[:-1])
        spot.prune(len(spot.segments))
    decision.record_outcome("accepted", after, digest or change.base)
    return after


def _keep_in_trash(work: DraftWorkspace, change: ManagedChange) -> None:
    """Keep a skill that goes, where a person looks for what an agent took away."""
    # What is there is of an attempt that was broken off: the skill itself is still in its place.
    staging.drop_trash(change.trash)
    staging.make_trash(change.trash)
    if work.store.keep(change.tree) != change.base:
        raise being_edited(change.target.path)
    work.store.lay(change.base, f"{change.trash}/{change.target.segments[-1]}")


def turn_down(decision: DraftDecision, reason: str) -> DraftRecord:
    """File a draft away that a person does not want."""
    after = decision.decide("rejected", reason)
    decision.apply((), decision.file_away(after))
    decision.record_outcome("rejected", after, after.draft.result)
    return after


def tidy_up(context: Context, record: DraftRecord, seen: str = "") -> None:
    """Tidy up after a decision: the edit folder, and the oldest of those decided before."""
    draft_workspace.clear_edit_folder(context, record, seen)
    DraftFiles(places.home_of(context)).trim(places.hands_of(context))


def _keep_late_edit(context: Context, changer: Changer, saved: SavedEdits) -> None:
    """Lay an edit that came at the last moment out beside the edit folders; until that is done, the
    store is told to keep it.
    """
    what = "what it was is left there"
    if saved.digest:
        name = f"edited-{saved.digest.removeprefix('sha256:')[:12]}"
        path = edit_folder.path_of(context, name)
        try:
            safe_files.make_folder(path.rpartition("/")[0], context.home)
            changer.store.lay(saved.digest, path)
            known, data = changer.unclaimed()
            rest = [one for one in known if one != saved]
            changer.apply(StoreChange((), (leave_unclaimed(changer, rest, data),)))
            what = f"what it was lies in {path}"
        except (MetierError, OSError):
            what = f"what it was is kept in the store as {saved.digest}"
    context.warnings.append(f"{saved.path} was edited meanwhile; {what}")


# --- accepting a draft


class Acceptance:
    """One draft that a person accepts, with everything locked that it touches."""

    def __init__(
        self,
        work: DraftWorkspace,
        decision: DraftDecision,
        change: ManagedChange,
        how: str,
        reason: str,
    ) -> None:
        """Look at the skill as it is now."""
        self.work, self.decision, self.change, self.how = work, decision, change, how
        self.reason = reason
        self.record = decision.record
        self.target = change.target
        self.now = work.now(change.target.path)
        if self.now.digest != change.base:
            raise IntegrityError(
                f"'{self.target.name}' is being edited right now; nothing was changed",
                hint="try again",
            )

    def decide(self) -> Decided:
        """Publish the draft, or rebase it; raise where a person has to settle something first."""
        self.check_owner()
        work = self.work
        record = self.record
        if record.draft.action == "delete":
            return self.remove()
        worked = draft_workspace.read_edit_folder(work, record)
        if worked is not None and (
            not self.how or draft_workspace.is_worked_on(work.context, record)
        ):
            return self.take_edited(worked)
        three = three_of(work, record, self.now)
        if self.now.digest == record.draft.base:
            return self.publish(work.keep(three.theirs))
        return self.rebase(three)

    def check_owner(self) -> None:
        """Refuse a folder that belongs to somebody else than when the draft was made."""
        then = self.record.draft.owner
        owner = target_folder.owner_of(self.work.context, self.target.path)
        if owner != then:
            what = (
                f"'{self.target.name}' belongs to {target_folder.owner_in_words(owner)} now, and to "
                f"{target_folder.owner_in_words(then)} when it was drafted"
            )
            raise RefusedError(what, code="not-own", hint=f"metier review reject {self.record.key}")

    def remove(self) -> Decided:
        """Take the skill away, provided that it is what the draft was about, and may be taken away
        as things are now.
        """
        target_folder.check_deletable(self.work.context, self.target)
        if self.now.digest == self.record.draft.base:
            return self.publish("")
        return self.ask_again(
            self.record._replace(
                draft=self.record.draft._replace(base=self.work.keep(self.now)), stale=""
            )
        )

    # --- without an edit folder

    def rebase(self, three: ThreeVersions) -> Decided:
        """Put the draft on top of the edits that came since it was made."""
        work = self.work
        now = self.now.digest
        combined = work.combined(three)
        if combined.conflicts and not self.how:
            paths = tuple(one.path for one in combined.conflicts)
            work.keep(self.now)
            self.decision.note(self.record._replace(onto=now, conflicts=paths))
            raise draft_workspace.unmerged_error(self.record, [(path, 0) for path in paths], "")
        if combined.conflicts:
            combined = work.combined(three, "ours" if self.how == "ours" else "theirs")
            if self.record.onto == now:  # the person was told of these conflicts
                return self.publish(work.store.keep(combined.folder))
        if combined.digest == now:
            return self.publish(now)
        return self.ask_again(self.onto_now(combined))

    def onto_now(self, combined: CombinedTree) -> DraftRecord:
        """Give the draft as a proposal to the skill as it is now."""
        scanned = service.scan_tree(self.work.context, combined.folder, self.target.name)
        return self.record._replace(
            draft=self.record.draft._replace(
                base=self.work.keep(self.now),
                result=self.work.store.keep(combined.folder),
                level=scanned.level,
                score=scanned.score,
            ),
            onto="",
            conflicts=(),
            stale="",
        )

    # --- with one

    def take_edited(self, worked: EditedDraft) -> Decided:
        """Take what a person made of the draft, together with what was edited in the skill since
        that was laid out.
        """
        work = self.work
        record = self.record
        if worked.left:
            raise draft_workspace.unmerged_error(record, worked.left, worked.path)
        if self.now.digest == worked.was.ours.digest:
            return self.publish(work.keep(worked.edited), worked.edited.digest)
        three = ThreeVersions(worked.was.ours, self.now, worked.edited)
        combined = work.combined(three)
        if combined.conflicts:
            raise edit_folder.both_edited_error(self.target.name, record.key, worked.path)
        after = self.onto_now(combined)
        answer = self.ask_again(
            after._replace(
                desk=draft_workspace.lay_out_edit_folder(work, record, three, combined),
                onto=self.now.digest,
            )
        )
        draft_workspace.clear_edit_folder(work.context, record)
        return answer

    # --- what it comes to

    def publish(self, digest: str, seen: str = "") -> Decided:
        """Put a tree in place; nothing, where the skill goes."""
        word = "the draft is in place" if digest else "moved to the trash"
        if digest == self.change.base:
            word = "it is so already"
        after = publish(self.work, self.decision, self.change, digest, self.reason)
        tidy_up(self.work.context, self.record, seen)
        return Decided(candidate_of(after), True, f"{self.target.name}: {word}", self.target.path)  # noqa: FBT003 - a field

    def ask_again(self, record: DraftRecord) -> Decided:
        """Keep the rebased draft, and ask for another look."""
        self.decision.note(record)
        what = "it was edited" if record.draft.base else "it is gone"
        return Decided(
            candidate_of(record),
            done=False,
            message=f"{self.target.name}: {what} since the draft was made; the draft was rebased "
            f"on that, so look at it again",
        )


def lay_out_draft(work: DraftWorkspace, record: DraftRecord, now: VersionFiles) -> DraftRecord:
    """Lay a draft out to be edited, for a skill as it is now; an edit folder that fits it still is
    left as it is.
    """
    worked = draft_workspace.read_edit_folder(work, record)
    if worked is not None and worked.was.ours.digest == now.digest:
        return record
    three = three_of(work, record, now)
    edited = draft_workspace.is_worked_on(work.context, record)
    if worked is not None and edited and not worked.left:
        three = ThreeVersions(worked.was.ours, now, worked.edited)
    combined = work.combined(three)
    return record._replace(
        desk=draft_workspace.lay_out_edit_folder(work, record, three, combined),
        onto=work.keep(now),
        conflicts=tuple(one.path for one in combined.conflicts),
    )
