"""A draft as a person looks at it: what would change in the skill as it is now, what a scan says of that, what it may do then."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import judging
from metier.errors import MetierError
from metier.managing import owners, places as spots
from metier.mirrors import Reviewed
from metier.reviewing.drafted import desks
from metier.reviewing.drafted.proposing import NOTHING, three_of
from metier.reviewing.drafted.records import candidate_of
from metier.supply.merge.unified import harmless, unified
from metier.supplying import combining, versions
from metier.supplying.combining import Three

if TYPE_CHECKING:
    from metier.managing.places import Target
    from metier.mirrors import Candidate
    from metier.model import Finding
    from metier.reviewing.drafted.proposing import Bench
    from metier.reviewing.drafted.records import Record
    from metier.supplies import Conflict
    from metier.supplying.versions import Version

NAMES = ("now", "proposed")


class _View(NamedTuple):
    """The skill as it is, and as it would be."""

    now: Version
    proposed: Version
    conflicts: tuple[Conflict, ...] = ()


def target_of(on: Bench, record: Record) -> Target:
    """Find the folder that a draft is about; raise when there is none that it could change."""
    draft = record.draft
    return spots.of_draft(on.library, draft.skill, draft.path, new=draft.action == "create")


def show(on: Bench, record: Record) -> Reviewed:
    """Give all that speaks for and against a draft."""
    candidate = candidate_of(record)
    if record.status != "open":
        return Reviewed(candidate, _past(on, record), (), ())
    try:
        target = target_of(on, record)
        now = on.now(target.path)
        trouble = _trouble(on, record, target)
    except MetierError as error:
        trouble = error.message
        now = on.tree(record.draft.base) if on.store.has(record.draft.base) else NOTHING
    view = _view(on, record, now)
    return _told(on, record, _with(candidate, trouble), view)


def _trouble(on: Bench, record: Record, target: Target) -> str:
    """Say what keeps a draft from being accepted that has a place; nothing where nothing does."""
    try:
        owner = owners.owner_of(on.library, target.path)
        if record.draft.action == "delete":
            spots.may_be_deleted(on.library, target)
    except MetierError as error:
        return error.message
    return f"its folder belongs to {owners.said(owner)} now" if owner != record.draft.owner else ""


def _with(candidate: Candidate, trouble: str) -> Candidate:
    return candidate._replace(reason=f"{candidate.reason}; it cannot be accepted: {harmless(trouble)}") if trouble else candidate


def _view(on: Bench, record: Record, now: Version) -> _View:
    if record.draft.action == "delete":
        return _View(now, NOTHING)
    worked = desks.worked(on, record)
    if worked is not None and worked.left:
        left = {path for path, _line in worked.left}
        found = [one for one in on.combined(worked.was).conflicts if one.path in left]
        return _View(now, worked.edited, combining.conflicts_of(record.draft.skill, found, worked.was))
    three = three_of(on, record, now) if worked is None else Three(worked.was.ours, now, worked.edited)
    combined = on.combined(three)
    proposed = versions.laid_out(combined.folder, combined.files, combined.digest)
    return _View(now, proposed, combining.conflicts_of(record.draft.skill, combined.conflicts, three))


def _told(on: Bench, record: Record, candidate: Candidate, view: _View) -> Reviewed:
    findings, level, score = _scanned(on, record, view.proposed)
    before = versions.abilities(view.now, _scanned(on, record, view.now)[0])
    after = versions.abilities(view.proposed, findings)
    settled = not view.conflicts and view.proposed is not NOTHING
    evidence = candidate.evidence._replace(
        local_tree_hash=view.now.digest, proposed_tree_hash=view.proposed.digest if settled else "", verdict=level, score=score,
        gained=tuple(sorted(after - before)), lost=tuple(sorted(before - after)),
        conflicts=tuple(one.path for one in view.conflicts),
    )  # fmt: skip
    diff = unified(view.now.files, view.proposed.files, view.now.read, view.proposed.read, NAMES)
    return Reviewed(candidate._replace(evidence=evidence), diff, findings, view.conflicts, desks.path_of(on.library, record))


def _scanned(on: Bench, record: Record, version: Version) -> tuple[tuple[Finding, ...], str, int]:
    if version is NOTHING:
        return (), "", 0
    scanned = judging.scan_tree(on.library, on.laid(version).folder, record.draft.skill)
    return scanned.findings, scanned.level, scanned.score


def _past(on: Bench, record: Record) -> str:
    """Show what a draft was about that was decided, as far as the store still has it."""
    draft = record.draft
    if not all(not digest or on.store.has(digest) for digest in (draft.base, draft.result)):
        return ""
    before, after = on.tree(draft.base), on.tree(draft.result)
    return unified(before.files, after.files, before.read, after.read, NAMES)
