"""Updates of plugins in the queue: shown whole, accepted only as they were shown, edited on a desk, or turned down.

Before anything is accepted it is looked at once more: where the plugin, the working copy or the version in place moved since,
the proposal is made anew and asked about again.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from metier.discover import disk
from metier.errors import IntegrityError, RefusedError, StoreError, UsageError
from metier.mirroring import grounds, publishing, syncing
from metier.mirroring.publishing import Result
from metier.mirroring.versioning import difference
from metier.mirroring.workbench import Workbench, pin_of
from metier.mirrors import Decided, Reviewed
from metier.plugins import candidates, moves
from metier.plugins.ledger import Ledger
from metier.store.trees.disk import state_of
from metier.supplies import Judged, Pin, Refusal
from metier.supply.capabilities import gained
from metier.supplying import applying, combining, deploying, landing, places, prospects, versions
from metier.supplying.combining import Three
from metier.supplying.merging import SHOWN, put, put_away
from metier.supplying.unmerged import unmerged
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from metier.app import Library
    from metier.mirroring.grounds import Ground
    from metier.mirrors import Candidate
    from metier.model import Finding
    from metier.supplies import Conflict
    from metier.supplying.combining import Combined
    from metier.supplying.deciding import Weighed
    from metier.supplying.versions import Version

DESKS = "review"
"""Where candidates are laid out for editing, below METIER_HOME."""
ON_DESK = "it is shown as it lies on its desk"
EDITED = "your copy was edited since; it is shown merged with that"


def listed(library: Library, user: bool | None, *, everything: bool) -> list[Candidate]:  # noqa: FBT001 - whose, or both
    """List the updates of plugins that wait; with `everything`, also those that were decided."""
    found = grounds.grounds(library, user) if library.data else ()
    return [
        one._replace(scope=ground.place.scope)
        for ground in found for one in ground.mirror.candidates if everything or one.status in moves.OPEN
    ]  # fmt: skip


def show(library: Library, ident: str, *, user: bool | None = None) -> Reviewed:
    """Show what would change in the working copy, and what speaks for and against it."""
    ground, candidate = grounds.with_candidate(library, ident, user)
    candidates.sure(Ledger(ground.mirror), candidate)
    with Workbench(library, ground.place) as work:
        return _reviewed(library, work, ground, candidate)


def accept(library: Library, ident: str, how: str, *, reason: str, user: bool | None = None) -> Decided:
    """Publish a candidate, provided that it is still what was shown."""
    grounds.settle(library)
    ground, before = _decidable(library, ident, user)
    ground, candidate = _looked_again(library, ground, before)
    moved = _moved(before, candidate)
    if moved is not None:
        return moved._replace(candidate=candidate._replace(scope=ground.place.scope))
    if candidate.kind == "plugin_skill_removed":
        return _retired(library, ground, candidate, reason)
    with Workbench(library, ground.place) as work:
        result, seen = _settled(library, work, ground, candidate, how)
        ground = publishing.publish(library, work, ground, candidate, result, reason)
    put_away(library, desk_of(library, candidate), seen)
    return _decided(ground, ident, "it is in place")


def reject(library: Library, ident: str, *, reason: str, user: bool | None = None) -> Decided:
    """Turn a candidate down: the skill stays as it is, and this version is not proposed again."""
    grounds.settle(library)
    ground, candidate = _waiting(library, ident, user)
    with grounds.alone(library) as changer:
        ground = grounds.read(library, ground.place)
        ledger = Ledger(ground.mirror)
        if ledger.candidates[ident].status not in moves.OPEN:
            raise landing.changed(ident)
        candidates.rejected(ledger, ident, reason, decisions.now())
        ground = grounds.apply(library, ground, ledger.mirror(), (), changer)
    about = candidate.evidence
    applying.record(library, "review", "rejected", candidate.skill, about.new_upstream_tree_hash, id=ident, reason=reason)
    put_away(library, desk_of(library, candidate))
    return _decided(ground, ident, "it was turned down; nothing was changed")


def edit(library: Library, ident: str, *, user: bool | None = None) -> Reviewed:
    """Lay the proposal out in a folder: the merged files, with markers where both sides changed the same lines."""
    grounds.settle(library)
    ground, candidate = _decidable(library, ident, user)
    if candidate.kind == "plugin_skill_removed":
        raise UsageError("there is nothing to edit about a removal", hint=f"metier review accept {ident}, or reject")
    with Workbench(library, ground.place) as work:
        three = _three(library, work, ground, candidate)
        desk = _laid(library, work, ground, candidate, three)
        ground, candidate = grounds.with_candidate(library, ident, ground.place.scope == "user")
        return _reviewed(library, work, ground, candidate)._replace(desk=desk)


# --- looking again


def _waiting(library: Library, ident: str, user: bool | None) -> tuple[Ground, Candidate]:  # noqa: FBT001 - whose, or both
    ground, candidate = grounds.with_candidate(library, ident, user)
    if candidate.status not in moves.OPEN:
        hint = f"look at {candidate.replaced_by}" if candidate.replaced_by else "'metier review list' shows what waits"
        raise RefusedError(f"'{ident}' is {candidate.status} already", code="decided", hint=hint)
    return ground, candidate


def _decidable(library: Library, ident: str, user: bool | None) -> tuple[Ground, Candidate]:  # noqa: FBT001 - whose, or both
    """Give a candidate that waits and is about something here; who turned it down may take that back."""
    ground, candidate = grounds.with_candidate(library, ident, user)
    if candidate.status == "rejected" and _taken_back(library, ground, ident):
        return _looked_again(library, grounds.read(library, ground.place), candidate)
    ground, candidate = _waiting(library, ident, ground.place.scope == "user")
    candidates.sure(Ledger(ground.mirror), candidate)
    return ground, candidate


def _taken_back(library: Library, ground: Ground, ident: str) -> bool:
    with grounds.alone(library) as changer:
        now = grounds.read(library, ground.place)
        ledger = Ledger(now.mirror)
        found = candidates.reopened(ledger, ident, decisions.now())
        if found:
            grounds.apply(library, now, ledger.mirror(), (), changer)
    return found


def _looked_again(library: Library, ground: Ground, candidate: Candidate) -> tuple[Ground, Candidate]:
    """Compare once more; a source that cannot be reached is taken to be as it was seen last, and a paused plugin's is not asked."""
    plugin_id = candidate.evidence.plugin_id
    plugin = ground.mirror.plugin(plugin_id)
    done = syncing.synced(library, ground, (plugin_id,), offline=plugin is not None and plugin.status == "paused")
    library.warnings += [f"{fault.path} could not be looked at: {fault.message}" for fault in done.unreachable]
    library.warnings += done.notes
    found = done.ground.mirror.candidate(candidate.id)
    assert found is not None, "a candidate is never lost"
    return done.ground, found


def _moved(before: Candidate, now: Candidate) -> Decided | None:
    """Say that a candidate is not what was shown any more; nothing where it is."""
    if now.status not in moves.OPEN:
        done = now.status == "published"
        other = f"; look at {now.replaced_by}" if now.replaced_by else ""
        return Decided(now, done, "it is in place already" if done else f"it is {now.status}{other}")
    if _trees(before) != _trees(now):
        return Decided(now, done=False, message="it was made anew on what is there now: look at it once more")
    return None


def _trees(candidate: Candidate) -> tuple[object, ...]:
    """Give what a candidate is about; the names of its versions may change while the trees do not."""
    about = candidate.evidence
    return (about.base_upstream_tree_hash, about.new_upstream_tree_hash, about.local_tree_hash, about.proposed_tree_hash,
            about.conflicts, about.verdict, about.gained)  # fmt: skip


def _retired(library: Library, ground: Ground, candidate: Candidate, reason: str) -> Decided:
    ground = publishing.retire(library, ground, candidate.id, reason)
    applying.record(library, "review", "published", candidate.skill, "", id=candidate.id, reason=reason)
    return _decided(ground, candidate.id, "agents no longer see it; its versions are kept")


def _decided(ground: Ground, ident: str, message: str) -> Decided:
    candidate = ground.mirror.candidate(ident)
    assert candidate is not None, "a candidate is never lost"
    skill = ground.mirror.skill(candidate.skill)
    path = deploying.path_of(ground.place, skill.targets[0]) if skill is not None and skill.status == "active" else ""
    return Decided(candidate._replace(scope=ground.place.scope), done=True, message=message, path=path)


# --- what would be put in place


def _pin(ground: Ground, candidate: Candidate) -> Pin:
    ledger = Ledger(ground.mirror)
    plugin_id = candidate.evidence.plugin_id
    return pin_of(ledger.plugins[plugin_id], ledger.skills[candidate.skill], moves.bound(ledger, plugin_id, candidate.skill))


def _three(library: Library, work: Workbench, ground: Ground, candidate: Candidate) -> Three:
    """Give base, the working copy as it is now, and upstream; of a new skill all three are upstream's."""
    store, about = places.store_of(library), candidate.evidence
    theirs = versions.kept(store, about.new_upstream_tree_hash)
    if candidate.kind == "plugin_skill_added":
        return Three(theirs, theirs, theirs)
    three = prospects.three_of(work.bench, _pin(ground, candidate), theirs)
    if isinstance(three, Refusal):
        raise StoreError(f"'{candidate.skill}' cannot be merged: {'; '.join(three.reasons)}", hint="see to that, then say it again")
    return three


def _settled(library: Library, work: Workbench, ground: Ground, candidate: Candidate, how: str) -> tuple[Result, str]:
    """Give what the person wants in place, and the digest of the desk that it was made of."""
    about = candidate.evidence
    origin = prospects.origin_of(library, _origin_pin(ground, candidate), about.new_upstream_tree_hash)
    desk = desk_of(library, candidate)
    if desk and not how:
        combined, seen = _from_desk(library, work, ground, candidate, desk)
        return Result(combined.folder, combined.files, combined.digest, origin), seen
    if not how and about.proposed_tree_hash:
        folder = work.desk.fresh()
        work.store.lay(about.proposed_tree_hash, folder)
        return Result(folder, work.store.files(about.proposed_tree_hash), about.proposed_tree_hash, origin), ""
    if not how and not about.conflicts:
        raise RefusedError(f"'{candidate.skill}' cannot be put in place: {candidate.reason}", code="unsafe",
                           hint=f"metier review reject {candidate.id}, or edit it")  # fmt: skip
    combined = combining.combine(library, work.desk, _three(library, work, ground, candidate), "ours" if how == "ours" else
                                 "theirs" if how else "")  # fmt: skip
    if combined.conflicts:
        raise _unmerged(candidate, [(one.path, 0) for one in combined.conflicts])
    return Result(combined.folder, combined.files, combined.digest, origin), ""


def _origin_pin(ground: Ground, candidate: Candidate) -> Pin:
    plugin = ground.mirror.plugin(candidate.evidence.plugin_id)
    assert plugin is not None
    source, about = plugin.source, candidate.evidence
    digest = about.new_upstream_tree_hash
    return Pin(candidate.skill, source.kind, source.location, about.path, source.ref, plugin.commit, digest, digest, (),
               Judged("safe", 0, ""))  # fmt: skip


def _unmerged(candidate: Candidate, left: list[tuple[str, int]]) -> IntegrityError:
    where = ", ".join(f"{path}:{line}" if line else path for path, line in left[:10])
    hint = f"metier review edit {candidate.id}, take the markers out, then accept; or --ours, --theirs"
    error = IntegrityError(f"'{candidate.skill}' is not merged yet: {where}", hint=hint, code="unmerged")
    error.details["files"] = [{"path": path, "line": line} for path, line in left]
    return error


# --- the desk


def desk_of(library: Library, candidate: Candidate) -> str:
    """Give the folder where a candidate is worked on; nothing when there is none."""
    name = candidate.desk.rpartition("/")[2]
    path = f"{places.home_of(library)}/{DESKS}/{name}"
    return path if name and disk.kind_of(path) == disk.FOLDER else ""


def _laid(library: Library, work: Workbench, ground: Ground, candidate: Candidate, three: Three) -> str:
    """Lay the desk, unless it is laid for just these trees: what was edited there stays."""
    combined = combining.combine(library, work.desk, three)
    ours = three.ours.digest if candidate.kind == "plugin_skill_update" else ""
    text = f"{candidate.id}\n{candidate.evidence.base_upstream_tree_hash}\n{ours}"
    own = blake2b(text.encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    name = f"{candidate.skill}-{own}-{combined.digest.removeprefix('sha256:')[:SHOWN]}"
    desk = put(library, combined.folder, f"{places.home_of(library)}/{DESKS}/{name}")
    if candidate.desk != name:
        _noted(library, work, ground, candidate._replace(desk=name, desk_on=ours))
    return desk


def _noted(library: Library, work: Workbench, ground: Ground, candidate: Candidate) -> None:
    """Write down which desk a candidate has, and on which working copy it was laid; that tree is kept."""
    with grounds.alone(library) as changer:
        now = grounds.read(library, ground.place)
        ledger = Ledger(now.mirror)
        skill = ledger.skills.get(candidate.skill)
        if candidate.desk_on and not work.store.has(candidate.desk_on) and skill is not None:
            working = deploying.path_of(ground.place, skill.targets[0])
            if work.store.keep(working) != candidate.desk_on:
                raise landing.changed(working)
        ledger.candidate(ledger.candidates[candidate.id]._replace(desk=candidate.desk, desk_on=candidate.desk_on))
        grounds.apply(library, now, ledger.mirror(), (), changer)


def _from_desk(library: Library, work: Workbench, ground: Ground, candidate: Candidate, desk: str) -> tuple[Combined, str]:
    """Give what the person made of the desk, once no marker is left."""
    edited = versions.snapshot(library, work.desk, desk)
    three = _three(library, work, ground, candidate)
    laid_on = three._replace(ours=versions.kept(work.store, candidate.desk_on)) if candidate.desk_on else three
    left = unmerged(edited, laid_on)
    if left:
        raise _unmerged(candidate, left)
    # Where the working copy is what it was when the desk was laid, this gives the desk as it is.
    was = candidate.desk_on
    ours = versions.kept(work.store, was) if was and work.store.has(was) else three.ours
    combined = combining.combine(library, work.desk, Three(ours, three.ours, edited))
    if combined.conflicts:
        hint = f"'metier review edit {candidate.id}' lays a new desk; yours stays at {desk}"
        what = f"'{candidate.skill}' was edited in its place after the desk was laid, and the two do not fit"
        raise IntegrityError(what, hint=hint, code="unmerged")
    return combined, edited.digest


# --- showing


def _reviewed(library: Library, work: Workbench, ground: Ground, candidate: Candidate) -> Reviewed:
    about, store = candidate.evidence, places.store_of(library)
    candidate = candidate._replace(scope=ground.place.scope)
    shown = about.proposed_tree_hash or about.new_upstream_tree_hash
    if candidate.kind == "plugin_skill_removed" or not shown or not store.has(shown):
        return Reviewed(candidate, "", (), (), desk_of(library, candidate))
    desk = desk_of(library, candidate) if candidate.status in moves.OPEN else ""
    if desk:
        return _on_desk(library, work, ground, candidate, desk)
    old, label = _in_place(library, work, ground, candidate), "proposed" if about.proposed_tree_hash else "theirs"
    conflicts: tuple[Conflict, ...] = ()
    if candidate.status in moves.OPEN and (about.conflicts or old.digest not in {"", about.local_tree_hash}):
        three = _three(library, work, ground, candidate)
        combined = combining.combine(library, work.desk, three)
        if not combined.conflicts:  # the working copy was edited since: what would be there is not what was noted
            return _made(work, ground, candidate, old, combined, EDITED)
        conflicts = combining.conflicts_of(candidate.skill, combined.conflicts, three)
        shown, label = about.new_upstream_tree_hash, "theirs"
    diff = difference(old, versions.kept(store, shown), ("yours", label))
    return Reviewed(candidate, diff, _findings(work, ground, candidate, shown), conflicts)


def _conflicts(library: Library, work: Workbench, ground: Ground, candidate: Candidate) -> tuple[Conflict, ...]:
    three = _three(library, work, ground, candidate)
    return combining.conflicts_of(candidate.skill, combining.combine(library, work.desk, three).conflicts, three)


def _on_desk(library: Library, work: Workbench, ground: Ground, candidate: Candidate, desk: str) -> Reviewed:
    """Show what a person made of a candidate: that is what a yes would put in place."""
    about, old = candidate.evidence, _in_place(library, work, ground, candidate)
    try:
        made, _seen = _from_desk(library, work, ground, candidate, desk)
    except IntegrityError as error:  # not merged yet, or it no longer fits the working copy
        told = "; ".join(filter(None, (candidate.reason, error.message)))
        diff = difference(old, versions.snapshot(library, work.desk, desk), ("yours", "desk"))
        findings = _findings(work, ground, candidate, about.new_upstream_tree_hash)
        return Reviewed(candidate._replace(reason=told), diff, findings, _conflicts(library, work, ground, candidate), desk)
    return _made(work, ground, candidate, old, made, ON_DESK)._replace(desk=desk)


def _made(work: Workbench, ground: Ground, candidate: Candidate, old: Version, made: Combined, why: str) -> Reviewed:
    """Show and judge what was not noted as the proposal, but would be put in place now."""
    new, weighed = versions.laid_out(made.folder, made.files, made.digest), _weighed(work, ground, candidate, made.folder)
    diff = difference(old, new, ("yours", "proposed"))
    judged = candidate.evidence._replace(local_tree_hash=old.digest, proposed_tree_hash=made.digest, conflicts=())
    if isinstance(weighed, Refusal):
        return Reviewed(candidate._replace(reason="; ".join(weighed.reasons), evidence=judged), diff, (), ())
    verdict = weighed.verdict
    before = prospects.in_place(work.bench, _pin(ground, candidate))[1] if old.digest else frozenset[str]()
    after = versions.abilities(new, verdict.findings)
    judged = judged._replace(verdict=verdict.level, score=verdict.score, gained=gained(before, after), lost=gained(after, before))
    return Reviewed(candidate._replace(reason=why, evidence=judged), diff, verdict.findings, ())


def _in_place(library: Library, work: Workbench, ground: Ground, candidate: Candidate) -> Version:
    """Give what a candidate would replace: the working copy, or what the candidate was made on."""
    skill, local = ground.mirror.skill(candidate.skill), candidate.evidence.local_tree_hash
    store = places.store_of(library)
    if candidate.status not in moves.OPEN and store.has(local):
        return versions.kept(store, local)
    if skill is not None and skill.status == "active" and candidate.kind == "plugin_skill_update":
        working = deploying.path_of(ground.place, skill.targets[0])
        if state_of(working).startswith("sha256:"):
            return versions.snapshot(library, work.desk, working)
    return versions.Version("", {}, lambda _path: b"")


def _findings(work: Workbench, ground: Ground, candidate: Candidate, digest: str) -> tuple[Finding, ...]:
    folder = work.desk.fresh()
    work.store.lay(digest, folder)
    weighed = _weighed(work, ground, candidate, folder)
    return () if isinstance(weighed, Refusal) else weighed.verdict.findings


def _weighed(work: Workbench, ground: Ground, candidate: Candidate, folder: str) -> Weighed | Refusal:
    origin = prospects.origin_of(work.library, _origin_pin(ground, candidate), candidate.evidence.new_upstream_tree_hash)
    working = deploying.working_copy(ground.place, candidate.skill)
    return work.bench.scales.weigh(folder, candidate.skill, origin, ground.place.scope, working)
