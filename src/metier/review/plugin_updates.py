"""Updates of plugins in the queue: shown whole, accepted only as they were shown, edited in a folder
of their own, or turned down.

Before anything is accepted it is looked at once more: where the plugin, the working copy or the
version in place moved since, the proposal is made anew and asked about again.
"""

from __future__ import annotations

from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import IntegrityError, RefusedError, StoreError, UsageError
from metier.plugins import candidates, install, mirror_store, sync
from metier.plugins.install import ChosenTree, PluginWorkspace, pin_of, source_pin
from metier.plugins.mirror_ledger import OPEN_STATUSES, Ledger
from metier.plugins.mirror_store import digest_of_state
from metier.plugins.model import Decided, Reviewed
from metier.plugins.workspace import NO_SKILL, files_of
from metier.review import edit_folder
from metier.review.trees import ReviewTrees
from metier.store.io.folders import state_of
from metier.supply import apply, assess
from metier.supply.merge import combine
from metier.supply.merge.combine import ThreeVersions, difference, find_unmerged
from metier.supply.merge.settle import remove_desk
from metier.supply.model import Refusal
from metier.trust.capabilities import gained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.context import Context
    from metier.model import Finding
    from metier.plugins.mirror_store import MirroredPlace
    from metier.plugins.model import PluginRecord, ReviewCandidate
    from metier.supply.judge import JudgedSkill
    from metier.supply.merge.combine import CombinedTree, VersionFiles
    from metier.supply.model import Conflict, Origin, Pin

SHOWN_AS_EDITED = "shown as you edited it in the review folder"
SHOWN_AS_MERGED = "you edited your copy since; shown merged with that"


class PluginUpdates(NamedTuple):
    """The updates of plugins that wait for a person: a source of the queue."""

    context: Context
    user: bool | None = None
    """Whose: the user's or the project's; or both."""

    def waiting(self, *, everything: bool) -> list[ReviewCandidate]:
        """List the updates of plugins that wait; with `everything`, also those that were
        decided.
        """
        context = self.context
        found = mirror_store.mirrored_places(context, self.user) if context.data else ()
        return [
            one._replace(scope=here.place.scope)
            for here in found
            for one in here.mirror.candidates
            if everything or one.status in OPEN_STATUSES
        ]

    def show(self, ident: str) -> Reviewed:
        """Show what would change in the working copy, and what speaks for and against it."""
        here, candidate = mirror_store.with_candidate(self.context, ident, self.user)
        candidates.check_candidate(Ledger(here.mirror), candidate)
        with PluginWorkspace(here) as work:
            return _review(work, candidate)

    def accept(self, ident: str, how: str, reason: str) -> Decided:
        """Publish a candidate, provided that it is still what was shown."""
        mirror_store.settle_crash(self.context)
        here, before = self._decidable(ident)
        here, candidate = _compare_again(here, before)
        moved = _moved(before, candidate)
        if moved is not None:
            return moved._replace(candidate=candidate._replace(scope=here.place.scope))
        if candidate.kind == "plugin_skill_removed":
            here = install.retire(here, ident, reason)
            log.record(
                self.context, "review", "published", name=candidate.skill, id=ident, reason=reason
            )
            return _decided(here, ident, "agents no longer see it; its versions are kept")
        with PluginWorkspace(here) as work:
            result, seen = _settle(work, candidate, how)
            here = install.publish(work, candidate, result, reason)
        remove_desk(self.context, edit_folder_of(self.context, candidate), seen)
        return _decided(here, ident, "it is in place")

    def reject(self, ident: str, reason: str) -> Decided:
        """Turn a candidate down: the skill stays as it is, and this version is not proposed
        again.
        """
        mirror_store.settle_crash(self.context)
        here, candidate = _open(self.context, ident, self.user)
        with mirror_store.change(here, anew=True) as ledger:
            if ledger.candidates[ident].status not in OPEN_STATUSES:
                raise apply.changed_error(ident)
            candidates.note_rejected(ledger, ident, reason)
            here = ledger.commit()
        digest = candidate.evidence.new_upstream_tree_hash
        log.record(
            self.context,
            "review",
            "rejected",
            name=candidate.skill,
            digest=digest,
            id=ident,
            reason=reason,
        )
        remove_desk(self.context, edit_folder_of(self.context, candidate))
        return _decided(here, ident, "nothing was changed")

    def edit(self, ident: str) -> Reviewed:
        """Lay the proposal out in a folder: the merged files, with markers where both sides changed
        the same lines.
        """
        mirror_store.settle_crash(self.context)
        here, candidate = self._decidable(ident)
        if candidate.kind == "plugin_skill_removed":
            raise UsageError(
                "there is nothing to edit about a removal",
                hint=f"metier review accept {ident}, or reject",
            )
        with PluginWorkspace(here) as work:
            name = _lay_out(work, candidate)
            work.here, candidate = mirror_store.with_candidate(
                self.context, ident, here.place.scope == "user"
            )
            return _review(work, candidate)._replace(desk=edit_folder.path_of(self.context, name))

    @contextmanager
    def trees(self, ident: str) -> Iterator[ReviewTrees]:
        """Give a candidate that waits in all its versions."""
        here, candidate = _open(self.context, ident, self.user)
        candidates.check_candidate(Ledger(here.mirror), candidate)
        with PluginWorkspace(here) as work:
            yield _all_trees(work, candidate)

    def _decidable(self, ident: str) -> tuple[MirroredPlace, ReviewCandidate]:
        """Give a candidate that waits and is about something here; who turned it down may take that
        back.
        """
        here, candidate = mirror_store.with_candidate(self.context, ident, self.user)
        if candidate.status == "rejected":
            with mirror_store.change(here, anew=True) as ledger:
                taken_back = candidates.reopen(ledger, ident)
                if taken_back:
                    here = ledger.commit()
            if taken_back:
                return _compare_again(here, candidate)
        here, candidate = _open(self.context, ident, here.place.scope == "user")
        candidates.check_candidate(Ledger(here.mirror), candidate)
        return here, candidate


def _open(
    context: Context,
    ident: str,
    user: bool | None,  # noqa: FBT001 - whose, or both
) -> tuple[MirroredPlace, ReviewCandidate]:
    """Give a candidate that waits."""
    here, candidate = mirror_store.with_candidate(context, ident, user)
    if candidate.status not in OPEN_STATUSES:
        raise RefusedError(
            f"'{ident}' is {candidate.status} already",
            code="decided",
            hint=f"look at {candidate.replaced_by}"
            if candidate.replaced_by
            else "see what is waiting: metier review list",
        )
    return here, candidate


# --- looking again


def _compare_again(
    here: MirroredPlace, candidate: ReviewCandidate
) -> tuple[MirroredPlace, ReviewCandidate]:
    """Compare once more; a source that cannot be reached is taken to be as it was seen last, and a
    paused plugin's is not asked.
    """
    plugin_id = candidate.evidence.plugin_id
    context = here.context
    plugin = here.mirror.plugin(plugin_id)
    here, done = sync.sync_place(
        here, (plugin_id,), offline=plugin is not None and plugin.status == "paused"
    )
    context.warnings += [
        f"{fault.path} could not be looked at: {fault.message}" for fault in done.unreachable
    ]
    context.warnings += done.notes
    return here, _candidate(here, candidate.id)


def _candidate(here: MirroredPlace, ident: str) -> ReviewCandidate:
    found = here.mirror.candidate(ident)
    assert found is not None, "a candidate is never lost"
    return found


def _moved(before: ReviewCandidate, now: ReviewCandidate) -> Decided | None:
    """Say that a candidate is not what was shown any more; nothing where it is."""
    if now.status not in OPEN_STATUSES:
        done = now.status == "published"
        other = f"; look at {now.replaced_by}" if now.replaced_by else ""
        return Decided(
            now, done, "it is in place already" if done else f"it is {now.status}{other}"
        )
    if _judged(before.evidence) != _judged(now.evidence):
        return Decided(
            now, done=False, message="it was rebuilt on what is there now; review it again"
        )
    return None


_judged = attrgetter(
    "base_upstream_tree_hash",
    "new_upstream_tree_hash",
    "local_tree_hash",
    "proposed_tree_hash",
    "conflicts",
    "verdict",
    "gained",
)
"""Gives what a candidate is about; the names of its versions may change while the trees do not."""


def _decided(here: MirroredPlace, ident: str, message: str) -> Decided:
    candidate = _candidate(here, ident)
    skill = here.mirror.skill(candidate.skill)
    path = here.working(skill) if skill is not None and skill.status == "active" else ""
    return Decided(candidate._replace(scope=here.place.scope), True, message, path)  # noqa: FBT003 - a field


# --- what would be put in place


def _plugin(work: PluginWorkspace, candidate: ReviewCandidate) -> PluginRecord:
    plugin = work.here.mirror.plugin(candidate.evidence.plugin_id)
    assert plugin is not None
    return plugin


def _pin(work: PluginWorkspace, candidate: ReviewCandidate) -> Pin:
    plugin = _plugin(work, candidate)
    ledger = Ledger(work.here.mirror)
    binding = ledger.binding_of(plugin.plugin_id, candidate.skill)
    return pin_of(plugin, ledger.skills[candidate.skill], binding)


def _three(work: PluginWorkspace, candidate: ReviewCandidate) -> ThreeVersions:
    """Give base, the working copy as it is now, and upstream; of a new skill all three are
    upstream's.
    """
    theirs = work.tree(candidate.evidence.new_upstream_tree_hash)
    if candidate.kind == "plugin_skill_added":
        return ThreeVersions(theirs, theirs, theirs)
    three = assess.three_of(work.bench, _pin(work, candidate), theirs)
    if isinstance(three, Refusal):
        raise StoreError(
            f"'{candidate.skill}' cannot be merged: {'; '.join(three.reasons)}",
            hint="fix that, then try again",
        )
    return three


def _settle(work: PluginWorkspace, candidate: ReviewCandidate, how: str) -> tuple[ChosenTree, str]:
    """Give what the person wants in place, and the digest of the edit folder that it was made
    of.
    """
    about = candidate.evidence
    origin = _origin(work, candidate)
    desk = edit_folder_of(work.context, candidate)
    seen = ""
    if desk and not how:
        combined, seen = _read_edit_folder(work, candidate, desk)
    elif not how and about.proposed_tree_hash:
        return work.choose(about.proposed_tree_hash, origin), ""
    elif not how and not about.conflicts:
        raise RefusedError(
            f"'{candidate.skill}' cannot be put in place: {candidate.reason}",
            code="unsafe",
            hint=f"metier review reject {candidate.id}, or edit it",
        )
    else:
        combined = work.combined(
            _three(work, candidate),
            "ours" if how == "ours" else "theirs" if how else "",
        )
        if combined.conflicts:
            raise _unmerged(candidate, [(one.path, 0) for one in combined.conflicts])
    return ChosenTree(combined.folder, combined.files, combined.digest, origin), seen


def _origin(work: PluginWorkspace, candidate: ReviewCandidate) -> Origin:
    """Give where the tree is from that a candidate brings."""
    digest = candidate.evidence.new_upstream_tree_hash
    pin = source_pin(_plugin(work, candidate), candidate.skill, candidate.evidence.path, digest)
    return assess.origin_of(work.context, pin, digest)


def _unmerged(candidate: ReviewCandidate, left: list[tuple[str, int]]) -> IntegrityError:
    hint = (
        f"metier review edit {candidate.id}, take the markers out, then accept; or --ours, --theirs"
    )
    return edit_folder.unmerged_error(f"'{candidate.skill}' is not merged yet", left, hint)


# --- the edit folder


def edit_folder_of(context: Context, candidate: ReviewCandidate) -> str:
    """Give the folder where a candidate is worked on; nothing when there is none."""
    return edit_folder.find(context, candidate.desk.rpartition("/")[2])


def _lay_out(work: PluginWorkspace, candidate: ReviewCandidate) -> str:
    """Lay a candidate out to be edited, and note that; give the folder's name."""
    three = _three(work, candidate)
    combined = work.combined(three)
    ours = three.ours.digest if candidate.kind == "plugin_skill_update" else ""
    made_for = f"{candidate.id}\n{candidate.evidence.base_upstream_tree_hash}\n{ours}"
    name = edit_folder.lay_out(work.context, combined, candidate.skill, made_for)
    if candidate.desk != name:
        _note_edit_folder(work, candidate._replace(desk=name, desk_on=ours))
    return name


def _note_edit_folder(work: PluginWorkspace, candidate: ReviewCandidate) -> None:
    """Write down where a candidate is edited, and on which working copy it was laid; that tree is
    kept.
    """
    on = candidate.desk_on
    with mirror_store.change(work.here, anew=True) as ledger:
        skill = ledger.skills.get(candidate.skill)
        if on and not work.store.has(on) and skill is not None:
            working = work.here.working(skill)
            if work.store.keep(working) != on:
                raise apply.changed_error(working)
        ledger.put_candidate(
            ledger.candidates[candidate.id]._replace(desk=candidate.desk, desk_on=on)
        )
        ledger.commit()


def _read_edit_folder(
    work: PluginWorkspace, candidate: ReviewCandidate, desk: str
) -> tuple[CombinedTree, str]:
    """Give what the person made of the edit folder, once no marker is left."""
    edited = work.snapshot(desk)
    three = _three(work, candidate)
    ours = work.tree(candidate.desk_on) if candidate.desk_on else three.ours
    left = find_unmerged(edited, three._replace(ours=ours))
    if left:
        raise _unmerged(candidate, left)
    # Where the working copy is what it was when the desk was laid, this gives the desk as it is.
    combined = work.combined(ThreeVersions(ours, three.ours, edited))
    if combined.conflicts:
        raise edit_folder.both_edited_error(candidate.skill, candidate.id, desk)
    return combined, edited.digest


# --- showing


def _all_trees(work: PluginWorkspace, candidate: ReviewCandidate) -> ReviewTrees:
    name = candidate.skill
    if candidate.kind == "plugin_skill_removed":
        skill = work.here.mirror.skill(name)
        working = work.here.working(skill) if skill is not None else ""
        ours = work.snapshot(working) if digest_of_state(state_of(working)) else NO_SKILL
        three = ThreeVersions(ours, ours, NO_SKILL)
        return ReviewTrees(name, three, three, NO_SKILL, work.desk)
    three = _three(work, candidate)
    folder = edit_folder_of(work.context, candidate)
    ours = work.tree(candidate.desk_on) if folder and candidate.desk_on else three.ours
    result = work.snapshot(folder) if folder else files_of(work.combined(three))
    shown = three
    if candidate.kind == "plugin_skill_added":
        shown = ThreeVersions(NO_SKILL, NO_SKILL, three.theirs)
    return ReviewTrees(name, shown, three._replace(ours=ours), result, work.desk, folder)


def _review(work: PluginWorkspace, candidate: ReviewCandidate) -> Reviewed:
    about = candidate.evidence
    store = work.store
    candidate = candidate._replace(scope=work.place.scope)
    waits = candidate.status in OPEN_STATUSES
    desk = edit_folder_of(work.context, candidate)
    shown = about.proposed_tree_hash or about.new_upstream_tree_hash
    if candidate.kind == "plugin_skill_removed" or not shown or not store.has(shown):
        return Reviewed(candidate, "", (), (), desk)
    if waits and desk:
        return _review_edit_folder(work, candidate, desk)
    old = _in_place(work, candidate)
    label = "proposed" if about.proposed_tree_hash else "theirs"
    conflicts: tuple[Conflict, ...] = ()
    if waits and (about.conflicts or old.digest not in {"", about.local_tree_hash}):
        three = _three(work, candidate)
        combined = work.combined(three)
        # The working copy was edited since: what would be there is not what was noted.
        if not combined.conflicts:
            return _review_merged(work, candidate, old, combined, SHOWN_AS_MERGED)
        conflicts = combine.conflicts_of(candidate.skill, combined.conflicts, three)
        shown = about.new_upstream_tree_hash
        label = "theirs"
    diff = difference(old, work.tree(shown), ("yours", label))
    return Reviewed(candidate, diff, _findings(work, candidate, shown), conflicts)


def _review_edit_folder(work: PluginWorkspace, candidate: ReviewCandidate, desk: str) -> Reviewed:
    """Show what a person made of a candidate: that is what a yes would put in place."""
    old = _in_place(work, candidate)
    try:
        made, _seen = _read_edit_folder(work, candidate, desk)
    except IntegrityError as error:  # not merged yet, or it no longer fits the working copy
        told = "; ".join(filter(None, (candidate.reason, error.message)))
        edited = work.snapshot(desk)
        three = _three(work, candidate)
        return Reviewed(
            candidate._replace(reason=told),
            difference(old, edited, ("yours", "desk")),
            _findings(work, candidate, candidate.evidence.new_upstream_tree_hash),
            combine.conflicts_of(candidate.skill, work.combined(three).conflicts, three),
            desk,
        )
    return _review_merged(work, candidate, old, made, SHOWN_AS_EDITED)._replace(desk=desk)


def _review_merged(
    work: PluginWorkspace,
    candidate: ReviewCandidate,
    old: VersionFiles,
    made: CombinedTree,
    why: str,
) -> Reviewed:
    """Show and judge what was not noted as the proposal, but would be put in place now."""
    new = files_of(made)
    weighed = _weigh(work, candidate, made.folder)
    diff = difference(old, new, ("yours", "proposed"))
    judged = candidate.evidence._replace(
        local_tree_hash=old.digest, proposed_tree_hash=made.digest, conflicts=()
    )
    if isinstance(weighed, Refusal):
        return Reviewed(
            candidate._replace(reason="; ".join(weighed.reasons), evidence=judged), diff, (), ()
        )
    verdict = weighed.verdict
    before = frozenset[str]()
    if old.digest:
        _level, before = assess.judge_in_place(work.bench, _pin(work, candidate))
    after = combine.abilities(new, verdict.findings)
    judged = judged._replace(
        verdict=verdict.level,
        score=verdict.score,
        gained=gained(before, after),
        lost=gained(after, before),
    )
    return Reviewed(candidate._replace(reason=why, evidence=judged), diff, verdict.findings, ())


def _in_place(work: PluginWorkspace, candidate: ReviewCandidate) -> VersionFiles:
    """Give what a candidate would replace: the working copy, or what the candidate was made on."""
    local = candidate.evidence.local_tree_hash
    if candidate.status not in OPEN_STATUSES and work.store.has(local):
        return work.tree(local)
    skill = work.here.mirror.skill(candidate.skill)
    if skill is not None and skill.status == "active" and candidate.kind == "plugin_skill_update":
        working = work.here.working(skill)
        if digest_of_state(state_of(working)):
            return work.snapshot(working)
    return NO_SKILL


def _findings(
    work: PluginWorkspace, candidate: ReviewCandidate, digest: str
) -> tuple[Finding, ...]:
    weighed = _weigh(work, candidate, work.lay(digest))
    return () if isinstance(weighed, Refusal) else weighed.verdict.findings


def _weigh(work: PluginWorkspace, candidate: ReviewCandidate, folder: str) -> JudgedSkill | Refusal:
    return work.weigh(folder, candidate.skill, _origin(work, candidate))
