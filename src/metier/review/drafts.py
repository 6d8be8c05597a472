"""Puts agents' drafts into the review queue: what each would change, what a scan says of that, and
what becomes of it.

Only what is here puts a draft in place. Nothing that an agent is given leads here.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.author import target_folder
from metier.author.draft_record import candidate_of, id_of
from metier.author.io.draft_files import DraftFiles
from metier.author.manage import begin_change
from metier.errors import MetierError, NotFoundError, RefusedError, StoreError, UsageError
from metier.plugins import mirror_store
from metier.plugins.model import Decided, Evidence, ReviewCandidate, Reviewed
from metier.plugins.workspace import NO_SKILL, files_of
from metier.review import accept_draft, draft_workspace
from metier.review.accept_draft import DraftDecision
from metier.review.draft_workspace import DraftWorkspace, three_of
from metier.review.trees import ReviewTrees
from metier.scan import service
from metier.standard.characters import escape_for_terminal
from metier.supply import places
from metier.supply.merge import combine
from metier.supply.merge.combine import ThreeVersions, difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.author.io.draft_files import DraftFile
    from metier.author.model import DraftRecord
    from metier.author.target_folder import ChangeTarget
    from metier.context import Context
    from metier.model import Finding
    from metier.store.io.atomic_change import Changer
    from metier.supply.merge.combine import VersionFiles
    from metier.supply.model import Conflict


DIFF_NAMES = ("now", "proposed")


def target_of(work: DraftWorkspace, record: DraftRecord) -> ChangeTarget:
    """Find the folder that a draft is about; raise when there is none that it could change."""
    draft = record.draft
    return target_folder.target_of_draft(
        work.context, draft.skill, draft.path, new=draft.action == "create"
    )


def review_draft(work: DraftWorkspace, record: DraftRecord) -> Reviewed:
    """Give all that speaks for and against a draft."""
    candidate = candidate_of(record)
    if record.status != "open":
        return Reviewed(candidate, _past(work, record), (), ())
    try:
        target = target_of(work, record)
        now = work.now(target.path)
        trouble = _trouble(work, record, target)
    except MetierError as error:
        trouble = error.message
        now = work.known(record.draft.base) or NO_SKILL
    if trouble:
        why = f"{candidate.reason}; it cannot be accepted: {escape_for_terminal(trouble)}"
        candidate = candidate._replace(reason=why)
    return _review_proposed(work, record, candidate, now)


def _trouble(work: DraftWorkspace, record: DraftRecord, target: ChangeTarget) -> str:
    """Say what keeps a draft from being accepted that has a place; nothing where nothing does."""
    try:
        owner = target_folder.owner_of(work.context, target.path)
        if record.draft.action == "delete":
            target_folder.check_deletable(work.context, target)
    except MetierError as error:
        return error.message
    return (
        f"its folder belongs to {target_folder.owner_in_words(owner)} now"
        if owner != record.draft.owner
        else ""
    )


def _proposed(
    work: DraftWorkspace, record: DraftRecord, now: VersionFiles
) -> tuple[VersionFiles, tuple[Conflict, ...]]:
    """Give a skill as it would be, and what is in conflict there."""
    if record.draft.action == "delete":
        return NO_SKILL, ()
    worked = draft_workspace.read_edit_folder(work, record)
    if worked is not None and worked.left:
        left = {path for path, _line in worked.left}
        found = [one for one in work.combined(worked.was).conflicts if one.path in left]
        return worked.edited, combine.conflicts_of(record.draft.skill, found, worked.was)
    three = (
        three_of(work, record, now)
        if worked is None
        else ThreeVersions(worked.was.ours, now, worked.edited)
    )
    combined = work.combined(three)
    return files_of(combined), combine.conflicts_of(record.draft.skill, combined.conflicts, three)


def _review_proposed(
    work: DraftWorkspace, record: DraftRecord, candidate: ReviewCandidate, now: VersionFiles
) -> Reviewed:
    proposed, conflicts = _proposed(work, record, now)
    findings, level, score = _scanned(work, record, proposed)
    before = combine.abilities(now, _scanned(work, record, now)[0])
    after = combine.abilities(proposed, findings)
    settled = not conflicts and proposed is not NO_SKILL
    return Reviewed(
        candidate._replace(
            evidence=candidate.evidence._replace(
                local_tree_hash=now.digest,
                proposed_tree_hash=proposed.digest if settled else "",
                verdict=level,
                score=score,
                gained=tuple(sorted(after - before)),
                lost=tuple(sorted(before - after)),
                conflicts=tuple(one.path for one in conflicts),
            )
        ),
        difference(now, proposed, DIFF_NAMES),
        findings,
        conflicts,
        draft_workspace.edit_folder_of(work.context, record),
    )


def _scanned(
    work: DraftWorkspace, record: DraftRecord, version: VersionFiles
) -> tuple[tuple[Finding, ...], str, int]:
    if version is NO_SKILL:
        return (), "", 0
    scanned = service.scan_tree(work.context, work.lay_out(version), record.draft.skill)
    return scanned.findings, scanned.level, scanned.score


def _past(work: DraftWorkspace, record: DraftRecord) -> str:
    """Show what a draft was about that was decided, as far as the store still has it."""
    before = work.known(record.draft.base)
    after = work.known(record.draft.result)
    return difference(before, after, DIFF_NAMES) if before and after else ""


# --- drafts in the queue

MAX_BROKEN_TOLD = 20
"""How many files that are no drafts a list tells of."""


class DraftReviews(NamedTuple):
    """The drafts that wait for a person: a source of the queue. All are the user's own."""

    context: Context
    user: bool | None = None
    """Whose are asked for: the user's or the project's; or both."""

    @property
    def files(self) -> DraftFiles:
        """The files that drafts are kept in."""
        return DraftFiles(places.home_of(self.context))

    def waiting(self, *, everything: bool) -> list[ReviewCandidate]:
        """List the drafts that wait, the oldest first; with `everything`, also those that were
        decided.
        """
        if self.user is False or not self.context.data:
            return []
        found: dict[str, DraftRecord] = {}
        broken: list[str] = []
        for decided in (False, True) if everything else (False,):
            for filed in self.files.all(decided=decided):
                if isinstance(filed.record, str):
                    broken.append(f"{filed.path} is not a draft: {filed.record}")
                else:
                    found[filed.record.id] = filed.record
        _warn(self.context, broken)
        records = sorted(found.values(), key=lambda record: (record.at, record.id))
        return [candidate_of(record) for record in records]

    def show(self, ident: str) -> Reviewed:
        """Show what a draft would change in the skill as it is now."""
        filed = self._filed(ident)
        self.context.catalogue.reload()
        with DraftWorkspace(self.context) as work:
            return review_draft(work, _read(filed))

    def accept(self, ident: str, how: str, reason: str) -> Decided:
        """Put a draft in place if the skill is what it was made for; else rebase it, and ask
        again.
        """
        context = self.context
        if context.platform == "win32":
            raise RefusedError(
                "drafts are not put in place on this platform",
                code="unsupported",
                hint="edit the files by hand",
            )
        with self._deciding(ident) as decision, DraftWorkspace(context) as work:
            record = decision.record
            with begin_change(
                context, record.draft.action, record.id, lambda: target_of(work, record)
            ) as change:
                answer = accept_draft.Acceptance(work, decision, change, how, reason).decide()
            if answer.done:
                _rescan(context, answer.path)
        return answer

    def reject(self, ident: str, reason: str) -> Decided:
        """Turn a draft down, whatever became of its skill."""
        with self._locked(ident) as (changer, filed):
            if isinstance(filed.record, str):
                return self._throw_out(changer, filed, ident, reason)
            decision = DraftDecision(self.context, changer, filed, _open(filed))
            after = accept_draft.turn_down(decision, reason)
            accept_draft.tidy_up(self.context, after)
        return Decided(
            candidate_of(after),
            True,  # noqa: FBT003
            f"{after.draft.skill}: the draft is rejected; the skill stays as it is",
        )

    def edit(self, ident: str) -> Reviewed:
        """Lay a draft out in a folder where a person changes it before accepting it; what was
        edited there stays.
        """
        with self._deciding(ident) as decision, DraftWorkspace(self.context) as work:
            record = decision.record
            if record.draft.action == "delete":
                raise UsageError(
                    f"{record.key} would take the skill away: there is nothing to edit",
                    hint="accept or reject it",
                )
            self.context.catalogue.reload()
            now = work.now(target_of(work, record).path)
            after = decision.note(accept_draft.lay_out_draft(work, record, now))
            if record.desk != after.desk:
                draft_workspace.clear_edit_folder(self.context, record)
            return review_draft(work, after)

    @contextmanager
    def trees(self, ident: str) -> Iterator[ReviewTrees]:
        """Give a draft that waits in all its versions."""
        record = _open(self._filed(ident))
        self.context.catalogue.reload()
        with DraftWorkspace(self.context) as work:
            now = work.now(target_of(work, record).path)
            skill = record.draft.skill
            if record.draft.action == "delete":
                three = ThreeVersions(now, now, NO_SKILL)
                yield ReviewTrees(skill, three, three, NO_SKILL, work.desk)
                return
            three = three_of(work, record, now)
            worked = draft_workspace.read_edit_folder(work, record)
            if worked is None:
                result = files_of(work.combined(three))
                yield ReviewTrees(skill, three, three, result, work.desk)
            else:
                yield ReviewTrees(skill, three, worked.was, worked.edited, work.desk, worked.path)

    def _filed(self, ident: str) -> DraftFile:
        own = id_of(ident) if self.user is not False else ""
        filed = (self.files.read(own) or self.files.read(own, decided=True)) if own else None
        if filed is None:
            raise NotFoundError(
                f"there is no draft '{ident[:100]}'", hint="see all: metier review list --all"
            )
        return filed

    @contextmanager
    def _locked(self, ident: str) -> Iterator[tuple[Changer, DraftFile]]:
        """Hold the lock of all changers, and read the draft once nobody else can change it."""
        self._filed(ident)
        with mirror_store.hold_lock(self.context) as changer:
            yield changer, self._filed(ident)

    @contextmanager
    def _deciding(self, ident: str) -> Iterator[DraftDecision]:
        with self._locked(ident) as (changer, filed):
            yield DraftDecision(self.context, changer, filed, _open(filed))

    def _throw_out(self, changer: Changer, filed: DraftFile, ident: str, reason: str) -> Decided:
        """Move a file that is no draft out of the queue; its bytes are kept beside those that were
        decided.
        """
        own = id_of(ident)
        if filed.data is None or filed.path == self.files.decided(own):
            raise StoreError(
                f"{filed.path}: {filed.record}", hint="delete it by hand", code="draft"
            )
        self.files.throw_out(changer, filed, own)
        log.record(
            self.context, "review", "rejected", id=ident, reason=reason[:500], path=filed.path
        )
        candidate = ReviewCandidate(
            id=ident,
            kind="skill_draft",
            skill="",
            merge_mode="draft",
            status="rejected",
            reason=reason,
            evidence=Evidence(path=filed.path),
            scope="user",
        )
        return Decided(candidate, True, f"{ident} was not a draft and was removed from the queue")  # noqa: FBT003 - a field


def needed_trees(context: Context) -> set[str]:
    """Give the trees of the store that drafts still need: what each starts from and comes to, and
    what it was laid out to be edited from.
    """
    found = {""}
    for filed in DraftFiles(places.home_of(context)).all() if context.data else ():
        record = filed.record
        if not isinstance(record, str):
            found |= {record.draft.base, record.draft.result, record.onto}
            found.update(record.desk.trees if record.desk is not None else ())
    return found - {""}


def _read(filed: DraftFile) -> DraftRecord:
    if isinstance(filed.record, str):
        raise StoreError(
            f"{filed.path} is not a draft: {filed.record}",
            hint="reject it, or delete the file",
            code="draft",
        )
    return filed.record


def _open(filed: DraftFile) -> DraftRecord:
    record = _read(filed)
    if record.status != "open":
        raise RefusedError(
            f"{record.key} is {record.status} already",
            hint="see what is waiting: metier review list",
            code="decided",
        )
    return record


def _warn(context: Context, broken: list[str]) -> None:
    """Tell of files that are no drafts, but not of all that somebody may have put there."""
    more = len(broken) - MAX_BROKEN_TOLD
    if more > 0:
        broken[MAX_BROKEN_TOLD:] = [f"{more:,} more files are no drafts"]
    context.warnings += [told for told in broken if told not in context.warnings]


def _rescan(context: Context, path: str) -> None:
    try:
        context.catalogue.reload([f"{path}/SKILL.md"])
    except MetierError as error:
        # The draft is in place: that the list could not be renewed does not undo it.
        context.warnings.append(
            f"the draft is in place, but the skills could not be listed again: {error.message}"
        )
