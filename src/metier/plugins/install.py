"""Puts the skills of plugins in place and takes them away, judged, checked against other owners,
and noted in the same change.

A person's yes is written down before it has any effect: a crash in between loses neither. What is
put in place is the very tree that was proposed, or settled by the person; the working copy that it
replaces becomes a version first. Each skill is acknowledged for itself alone (BE-19).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import MetierError, RefusedError
from metier.model import Digest
from metier.plugins import candidates, discover, mirror_ledger, mirror_store
from metier.plugins.mirror_store import PlaceLedger, digest_of_state, hashes_of_kept
from metier.plugins.workspace import MergeWorkspace
from metier.store.io.atomic_change import Switch, state_of
from metier.supply import apply, assess, deploy, places
from metier.supply.assess import UpdateContext
from metier.supply.fetch import FetchedSkill
from metier.supply.judge import SkillJudge, reason_to_refuse, record_approvals, unscanned
from metier.supply.model import Origin, Pin, PinVerdict, Refusal, SourceSkill
from metier.supply.safe_names import fold_name
from metier.trust.assess import fetched_from

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.plugins.mirror_store import MirroredPlace
    from metier.plugins.model import (
        Binding,
        PluginRecord,
        PluginResult,
        ReviewCandidate,
        VersionedSkill,
    )
    from metier.standard.digest import TreeFile
    from metier.supply.judge import JudgedSkill
    from metier.supply.model import InstallTarget


class PluginWorkspace(MergeWorkspace):
    """What looking at the plugins of a place works with: a sync that finds nothing new needs hardly
    any of it.
    """

    def __init__(self, here: MirroredPlace) -> None:
        """Say for which place, and make nothing yet."""
        super().__init__(here.context)
        self.here = here
        self.place = here.place
        self._bench: UpdateContext | None = None

    @property
    def bench(self) -> UpdateContext:
        """What judging a skill takes."""
        if self._bench is None:
            scales = self.enter_context(SkillJudge(self.context))
            self._bench = UpdateContext(
                self.context, self.place, places.read(self.place), self.desk, scales
            )
        return self._bench

    def choose(self, digest: str, origin: Origin | None = None) -> ChosenTree:
        """Lay out the tree of the store that a person wants in place; it is from where it was
        fetched, unless that is said.
        """
        origin = origin or Origin("folder", *fetched_from(self.context, digest))
        return ChosenTree(self.lay(digest), self.store.files(digest), digest, origin)

    def kept(self, pin: Pin, digest: str) -> FetchedSkill:
        """Lay a tree of the store out in quarantine, as if its source had just given it."""
        origin = assess.origin_of(self.context, pin, digest)
        tree = self.choose(digest, origin)
        return FetchedSkill(
            SourceSkill(pin.name, pin.path, ()),
            origin,
            origin,
            tree.folder,
            tree.files,
            Digest(digest),
        )

    def weigh(self, folder: str, name: str, origin: Origin) -> JudgedSkill | Refusal:
        """Say what a scan and the policy make of a tree, as the skill of a name here."""
        return self.bench.scales.weigh(
            folder, name, origin, self.place.scope, deploy.working_copy(self.place, name)
        )

    def is_accepted(self, weighed: JudgedSkill, name: str, digest: str) -> bool:
        """Tell whether somebody said yes to just this tree, though it is dangerous."""
        return self.bench.scales.accepted(
            weighed.called, digest, deploy.working_copy(self.place, name)
        )


def pin_of(plugin: PluginRecord, skill: VersionedSkill, binding: Binding) -> Pin:
    """Give a mirrored skill as supply knows skills: what is in place, and the upstream tree that it
    goes back to.
    """
    current = skill.version(skill.current)
    digest = current.digest if current is not None else ""
    return source_pin(plugin, skill.name, binding.path, digest)._replace(
        base=binding.accepted or digest, targets=skill.targets
    )


def source_pin(plugin: PluginRecord, name: str, path: str, digest: str) -> Pin:
    """Give a tree that a plugin ships as supply knows skills."""
    source = plugin.source
    return Pin(
        name=name,
        kind=source.kind,
        source=source.location,
        path=path,
        ref=source.ref,
        commit=plugin.commit,
        digest=digest,
        base=digest,
        files=(),
        verdict=PinVerdict("safe", 0, ""),
    )


DANGEROUS_HINT = (
    "it is dangerous, and no plugin brings that in; what is safe of it can be taken "
    "over with 'metier review edit'"
)
"""What a person is told who would say yes to what is dangerous."""
UNSETTLED = "unsettled"
"""What a change is that failed and could not be undone either: nothing may be changed before that
is settled."""


class ChosenTree(NamedTuple):
    """What a person wants in place: a tree in quarantine."""

    folder: str
    files: tuple[TreeFile, ...]
    digest: str
    origin: Origin


def publish(
    work: PluginWorkspace, candidate: ReviewCandidate, result: ChosenTree, reason: str
) -> MirroredPlace:
    """Note the yes and put the tree in place; refused where the policy says no. Gives what is
    written down then.
    """
    weighed = weigh_tree(work, candidate.skill, result)
    with mirror_store.change(work.here) as ledger:
        if not work.store.has(result.digest):
            work.store.take(result.folder, result.files)
        candidates.note_accepted(ledger, candidate.id, result.digest)
        accepted = ledger.commit()
        try:
            here = _put_in_place(ledger, candidate.id, reason)
        except MetierError as error:
            # Else whoever comes next settles that first.
            if error.code != UNSETTLED:
                # A yes of which nothing came must not have an effect some other day. Where that
                # fails, the next look takes it up, and asks again where something moved.
                with suppress(MetierError):
                    _put_back(PlaceLedger(accepted, ledger.changer), candidate._replace(scope=""))
            raise
    _record_accepted(here, candidate, weighed, reason)
    return here


def _put_back(ledger: PlaceLedger, candidate: ReviewCandidate) -> None:
    ledger.put_candidate(candidate)
    ledger.commit()


def _record_accepted(
    here: MirroredPlace, candidate: ReviewCandidate, weighed: JudgedSkill, reason: str
) -> None:
    """Write down who let a version in, in the decisions and in the audit log."""
    context = here.context
    skill = here.mirror.skill(candidate.skill)
    working = here.working(skill) if skill is not None else ""
    record_approvals(context, here.place, [(weighed, working)], reason or "accepted")
    log.record(
        context,
        "review",
        "published",
        name=candidate.skill,
        digest=weighed.verdict.digest or "",
        id=candidate.id,
        verdict=weighed.verdict.level,
    )
    context.catalogue.refresh()


def weigh_tree(work: PluginWorkspace, name: str, result: ChosenTree) -> JudgedSkill:
    """Give what a scan and the policy say of a tree; what is dangerous, blocked or no skill is
    refused, with its findings.
    """
    weighed = work.weigh(result.folder, name, result.origin)
    if isinstance(weighed, Refusal):
        refusal: Refusal | None = weighed
    else:
        refusal = unscanned(weighed, result.digest) or reason_to_refuse(
            weighed,
            force=True,
            accept_dangerous=work.is_accepted(weighed, name, result.digest),
            asked=True,
            way=DANGEROUS_HINT,
        )
        if refusal is None:
            return weighed
    assert refusal is not None
    reasons = "; ".join(refusal.reasons)
    log.record(
        work.context, "review", "refused", name=name, digest=result.digest, reason=reasons[:500]
    )
    raise RefusedError(
        f"Plugin skill safety check failed: {name}: {reasons}",
        code="unsafe",
        hint="'metier review show' has its findings; nothing was changed",
    ).with_details(findings=[one._asdict() for one in refusal.findings])


def finish(here: MirroredPlace, *, blocking: bool = True) -> MirroredPlace:
    """Put in place what was accepted before a crash; what moved since waits for another look
    instead.
    """
    if not any(one.status == "accepted" for one in here.mirror.candidates):
        return here
    context = here.context
    with (
        mirror_store.hold_lock(context, blocking=blocking) as changer,
        PluginWorkspace(here) as work,
    ):
        for one in here.reread().mirror.candidates:
            if one.status == "accepted":
                try:
                    _finish_one(work, PlaceLedger(here.reread(), changer), one)
                except MetierError as error:
                    if error.code == UNSETTLED:
                        raise
                    context.warnings.append(
                        f"{one.id} was accepted and waits for another look: {error.message}"
                    )
                    ledger = PlaceLedger(here.reread(), changer)
                    again = ledger.candidates[one.id]._replace(status="open", decided_at="")
                    _put_back(ledger, again)
        return here.reread()


def _finish_one(work: PluginWorkspace, ledger: PlaceLedger, candidate: ReviewCandidate) -> None:
    """Put in place what a person said yes to, judged by the rules of today."""
    origin = Origin(
        "folder", *fetched_from(work.context, candidate.evidence.new_upstream_tree_hash)
    )
    weighed = weigh_tree(
        work, candidate.skill, work.choose(candidate.evidence.proposed_tree_hash, origin)
    )
    _record_accepted(_put_in_place(ledger, candidate.id, ""), candidate, weighed, "")


# --- putting in place


def _put_in_place(ledger: PlaceLedger, ident: str, reason: str) -> MirroredPlace:
    """Replace the working copy by what was accepted, provided that it is still what it was when the
    proposal was made.
    """
    candidate = ledger.candidates[ident]
    here = ledger.here
    candidates.check_candidate(ledger, candidate)
    about = candidate.evidence
    if candidate.kind == "plugin_skill_added":
        return _put_new_skill(ledger, candidate, reason)
    skill = ledger.skills[candidate.skill]
    working = here.working(skill)
    active = skill.status == "active"
    local = state_of(working) if active else ""
    base = ledger.binding_of(about.plugin_id, skill.name).accepted
    if (local, base) != (about.local_tree_hash, about.base_upstream_tree_hash):
        raise apply.changed_error(working)
    ledger.keep_edit(skill.name, local)
    tree = hashes_of_kept(here.context, about.proposed_tree_hash)
    candidates.note_published(ledger, ident, tree, reason)
    own = {one.digest for one in skill.versions}
    return ledger.commit(switches_to(here, skill, tree.digest, own) if active else ())


def switches_to(
    here: MirroredPlace, skill: VersionedSkill, digest: str, own: Collection[str]
) -> list[Switch]:
    """Give the switches that bring a skill to a digest; a copy that is none of its `own` versions
    was changed by somebody, and stays, which is told.

    A copy may be any version behind: only its agent reads it, and an edit of the working copy does
    not reach it.
    """
    working = here.working(skill)
    switches = list[Switch]()
    states = deploy.target_states(here.place, skill.targets)
    for one in deploy.switches(here.place, skill.targets, digest, states):
        if one.path == working or one.before in own:
            switches.append(one)
        elif one.before:
            here.context.warnings.append(
                f"{one.path} was changed outside metier, and stays as it is"
            )
    return switches


def _put_new_skill(ledger: PlaceLedger, candidate: ReviewCandidate, reason: str) -> MirroredPlace:
    """Put a skill in place that a plugin brought since it was enabled."""
    about = candidate.evidence
    name = candidate.skill
    here = ledger.here
    check_owner(ledger, about.plugin_id, name)
    # It goes to the agents that the plugin's others went to.
    siblings = ledger.owned_skills(about.plugin_id)
    agents = dict.fromkeys(
        target.agent for one in siblings for target in one.targets if target.agent
    )
    targets = deploy.targets_for(here.context, here.place, name, tuple(agents))
    check_free(here, name, targets, about.proposed_tree_hash)
    seen = mirror_ledger.ShippedSkill(
        about.path, hashes_of_kept(here.context, about.new_upstream_tree_hash)
    )
    made = ledger.take_over(about.plugin_id, name, seen, targets)
    # What was changed on the desk is the person's: the next comparison starts from what the plugin
    # ships.
    proposed = hashes_of_kept(here.context, about.proposed_tree_hash)
    made = candidates.note_edit(ledger, name, proposed) or made
    candidates.note_acknowledged(ledger, candidate.id, made.version, reason)
    return ledger.commit(switches_into(here, targets, made.digest))


# --- who has a place


def locked_names(here: MirroredPlace) -> frozenset[str]:
    """Give the names that the lock of a place has, as `folded` gives them: whatever their spelling,
    they are taken.
    """
    return frozenset(fold_name(pin.name) for pin in places.read(here.place).lock.pins)


def check_owner(ledger: PlaceLedger, plugin_id: str, name: str) -> None:
    """Refuse a skill that somebody else has."""
    owner = other_owner(ledger.here, ledger, plugin_id, name, locked_names(ledger.here))
    if owner:
        raise RefusedError(owner, code="ownership", hint="rename or remove that one first")


def other_owner(
    here: MirroredPlace,
    ledger: mirror_ledger.Ledger,
    plugin_id: str,
    name: str,
    taken: Collection[str],
) -> str:
    """Say who else has a skill that a plugin ships; an adopted one that its owner deleted is
    nobody's any more.
    """
    for rival in ledger.rivals(plugin_id, name):
        if rival.owner != "user" or state_of(here.working(rival)):
            return mirror_ledger.conflict(name, rival)
    return occupied_by(here, name, taken)


MOVE_AWAY = "move it away first"


def ways_out(here: MirroredPlace, ledger: mirror_ledger.Ledger, plugin_id: str, name: str) -> Texts:
    """Say how a skill's place gets free; nothing for a skill of the user's own, which need not
    go.
    """
    for rival in ledger.rivals(plugin_id, name):
        working = here.working(rival)
        if rival.owner != "user":
            other = rival.owner.removeprefix("plugin:")
            adopted = f"'metier plugin adopt {other} {rival.name}' makes it yours"
            return (f"{adopted}; then move {working} away",)
        if state_of(working):
            return (f"move {working} away first",)
    if digest_of_state(state_of(deploy.working_copy(here.place, name))):
        return ()
    for pin in places.read(here.place).lock.pins:
        if fold_name(pin.name) == fold_name(name):
            return (f"'metier remove {pin.name}' frees the name",)
    return (MOVE_AWAY,)


def occupied_by(here: MirroredPlace, name: str, taken: Collection[str]) -> str:
    """Say what else has the place of a skill: the lock, or a folder that metier did not put there
    (BE-4).
    """
    if fold_name(name) in taken:
        return f"Skill ownership conflict: {name} (it was installed with 'metier add')"
    working = deploy.working_copy(here.place, name)
    return conflict_at(name, working if state_of(working) else "")


def conflict_at(name: str, path: str) -> str:
    """Say that something else lies at a place of a skill; nothing without a path."""
    return f"Skill ownership conflict: {name} (there is something at {path})" if path else ""


def is_shared(here: MirroredPlace, name: str) -> bool:
    """Tell whether the user's or the project's own have a skill in the very same folder: a project
    may be the home folder.
    """
    for place in places.places(here.context, None):
        if place.base == here.place.base and place.lock != here.place.lock:
            skill = mirror_store.read(here.context, place).mirror.skill(name)
            active = skill is not None and skill.status == "active"
            if active or places.read(place).lock.named(name) is not None:
                return True
    return False


def switches_into(
    here: MirroredPlace, targets: Sequence[InstallTarget], digest: str
) -> tuple[Switch, ...]:
    """Give the switches that put a skill in places that are free; `changed` where somebody has put
    something there meanwhile.
    """
    states = deploy.target_states(here.place, targets)
    other = _other(here, targets, digest, states)
    if other:
        raise apply.changed_error(other)
    return deploy.switches(here.place, targets, digest, states)


def check_free(
    here: MirroredPlace, name: str, targets: Sequence[InstallTarget], digest: str
) -> None:
    """Refuse to put a skill where something else lies."""
    conflict = conflict_at(name, blocking_path(here, targets, digest))
    if conflict:
        raise RefusedError(conflict, code="ownership", hint="move it away first")


def blocking_path(here: MirroredPlace, targets: Sequence[InstallTarget], digest: str) -> str:
    """Name a place of a skill that holds something else than the skill itself or a link to it;
    nothing where all are free.
    """
    return _other(here, targets, digest, deploy.target_states(here.place, targets))


def _other(
    here: MirroredPlace, targets: Sequence[InstallTarget], digest: str, states: Mapping[str, str]
) -> str:
    working = deploy.path_of(here.place, targets[0])
    for target in targets:
        path = deploy.path_of(here.place, target)
        if states[path] not in {
            "",
            digest,
            deploy.wanted_state(here.place, target, digest, working),
        }:
            return path
    return ""


# --- taking away


def retire(here: MirroredPlace, ident: str, reason: str) -> MirroredPlace:
    """Take away a skill that its plugin no longer ships, as the person says; its versions stay in
    the store.
    """
    with mirror_store.change(here) as ledger:
        switches = take_away(ledger, ledger.skills[ledger.candidates[ident].skill])
        candidates.note_retired(ledger, ident, reason)
        return ledger.commit(switches)


def take_away(ledger: PlaceLedger, skill: VersionedSkill) -> list[Switch]:
    """Give the switches that take a skill out of its places; what was edited is a version first,
    whatever is not ours stays.
    """
    if not skill.targets or skill.status != "active":
        return []
    here = ledger.here
    working = ledger.here.working(skill)
    states = deploy.target_states(here.place, skill.targets)
    ledger.keep_edit(skill.name, states[working])
    current = ledger.current(skill.name).digest
    versions = {one.digest for one in skill.versions}
    found = dict[str, Switch]()
    for target in skill.targets:
        path = deploy.path_of(here.place, target)
        wanted = {deploy.wanted_state(here.place, target, current, working), *versions}
        state = states[path]
        if digest_of_state(state) if path == working else state and state in wanted:
            found[path] = Switch(path, deploy.below(here.place, path), state, "")
        elif state:
            here.context.warnings.append(f"{path} is not what was put there, and stays")
    return list(found.values())


def acknowledge(
    context: Context, candidate: str, version: str, *, user: bool | None
) -> PluginResult:
    """Note that a host published a candidate as a version (BE-19)."""
    here, found = mirror_store.with_candidate(context, candidate, user)
    with mirror_store.change(here, anew=True) as ledger:
        before = ledger.here
        candidates.note_acknowledged(ledger, candidate, version, "")
        after = ledger.commit()
    return discover.plugin_result(after, found.evidence.plugin_id, changed=after is not before)
