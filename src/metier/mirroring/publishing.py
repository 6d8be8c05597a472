"""From a person's yes to a version in place. The yes is written down before it has any effect: a crash in between loses neither.

What is published is the very tree that was proposed, or settled by the person; the working copy that it replaces is a version
first. Each skill is acknowledged for itself alone (BE-19).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, RefusedError
from metier.mirroring import grounds, listing
from metier.mirroring.faces import kept_face
from metier.mirroring.workbench import Workbench
from metier.plugins import candidates, moves
from metier.plugins.ledger import Ledger
from metier.store.changing.disk import Switch, state_of
from metier.supplies import Origin, Refusal
from metier.supply.paths import folded
from metier.supplying import applying, deploying, landing, places
from metier.supplying.admitting import admitted, vouched
from metier.trust import disk as decisions
from metier.vetting.cases import fetched_from

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from metier.app import Library
    from metier.mirroring.grounds import Ground
    from metier.mirrors import Candidate, Mirrored, Skill
    from metier.standard.digest import TreeFile
    from metier.store.changing.disk import Changer
    from metier.supplies import Target
    from metier.supplying.deciding import Weighed

DANGEROUS = "it is dangerous, and no plugin brings that in; what is safe of it can be taken over with 'metier review edit'"
"""What a person is told who would say yes to what is dangerous."""
UNSETTLED = "unsettled"
"""What a change is that failed and could not be undone either: nothing may be changed before that is settled."""


class Result(NamedTuple):
    """What a person wants in place: a tree in quarantine."""

    folder: str
    files: tuple[TreeFile, ...]
    digest: str
    origin: Origin


def publish(library: Library, work: Workbench, ground: Ground, candidate: Candidate, result: Result, reason: str) -> Ground:
    """Note the yes and put the tree in place; refused where the policy says no. Gives what is written down then."""
    weighed = weighed_for(library, work, candidate.skill, result)
    with grounds.alone(library) as changer:
        if not grounds.is_current(library, ground):
            raise landing.changed("what is mirrored here")
        if not work.store.has(result.digest):
            work.store.take(result.folder, result.files)
        ledger = Ledger(ground.mirror)
        candidates.accepted(ledger, candidate.id, result.digest, decisions.now())
        ground = grounds.apply(library, ground, ledger.mirror(), (), changer)
        try:
            ground = _put(library, ground, candidate.id, reason, changer)
        except MetierError as error:
            _as_before(library, ground, candidate, error, changer)
            raise
    _told(library, ground, candidate, weighed, reason)
    return ground


def _told(library: Library, ground: Ground, candidate: Candidate, weighed: Weighed, reason: str) -> None:
    """Write down who let a version in, in the decisions and in the audit log."""
    skill = ground.mirror.skill(candidate.skill)
    working = deploying.path_of(ground.place, skill.targets[0]) if skill is not None else ""
    vouched(library, ground.place, [(weighed, working)], reason or "accepted")
    verdict = weighed.verdict
    applying.record(library, "review", "published", candidate.skill, verdict.digest or "", id=candidate.id, verdict=verdict.level)
    library.turned()


def weighed_for(library: Library, work: Workbench, name: str, result: Result) -> Weighed:
    """Give what a scan and the policy say of a tree; what is dangerous, blocked or no skill is refused, with its findings."""
    working = deploying.working_copy(work.place, name)
    weighed = work.bench.scales.weigh(result.folder, name, result.origin, work.place.scope, working)
    refusal = weighed if isinstance(weighed, Refusal) else None
    if not isinstance(weighed, Refusal):
        if weighed.verdict.digest != result.digest:
            refusal = Refusal(name, ("unscanned: the scan did not see all of it",))
        else:
            accepted = work.bench.scales.accepted(weighed.called, result.digest, working)
            refusal = admitted(weighed, force=True, accept_dangerous=accepted, asked=True, way=DANGEROUS)
    if refusal is not None or isinstance(weighed, Refusal):
        assert refusal is not None
        reasons = "; ".join(refusal.reasons)
        applying.record(library, "review", "refused", name, result.digest, reason=reasons[:500])
        error = RefusedError(f"Plugin skill safety check failed: {name}: {reasons}", code="unsafe",
                             hint="'metier review show' has its findings; nothing was changed")  # fmt: skip
        error.details["findings"] = [one._asdict() for one in refusal.findings]
        raise error
    return weighed


def finish(library: Library, ground: Ground, *, blocking: bool = True) -> Ground:
    """Put in place what was accepted before a crash; what moved since waits for another look instead."""
    if not any(one.status == "accepted" for one in ground.mirror.candidates):
        return ground
    place = ground.place
    with grounds.alone(library, blocking=blocking) as changer, Workbench(library, place) as work:
        for one in [one for one in grounds.read(library, place).mirror.candidates if one.status == "accepted"]:
            try:
                _finished(library, work, grounds.read(library, place), one, changer)
            except MetierError as error:
                if error.code == UNSETTLED:
                    raise
                library.warnings.append(f"{one.id} was accepted and waits for another look: {error.message}")
                _reopened(library, grounds.read(library, place), one.id, changer)
        return grounds.read(library, place)


def _finished(library: Library, work: Workbench, ground: Ground, candidate: Candidate, changer: Changer) -> None:
    """Put in place what a person said yes to, judged by the rules of today."""
    about, folder = candidate.evidence, work.desk.fresh()
    work.store.lay(about.proposed_tree_hash, folder)
    origin = Origin("folder", *fetched_from(library, about.new_upstream_tree_hash))
    result = Result(folder, work.store.files(about.proposed_tree_hash), about.proposed_tree_hash, origin)
    weighed = weighed_for(library, work, candidate.skill, result)
    _told(library, _put(library, ground, candidate.id, "", changer), candidate, weighed, "")


def _reopened(library: Library, ground: Ground, ident: str, changer: Changer) -> None:
    ledger = Ledger(ground.mirror)
    ledger.candidate(ledger.candidates[ident]._replace(status="open", decided_at=""))
    grounds.apply(library, ground, ledger.mirror(), (), changer)


def _as_before(library: Library, ground: Ground, candidate: Candidate, error: MetierError, changer: Changer) -> None:
    """Take a yes back of which nothing came: it must not have an effect some other day."""
    if error.code == UNSETTLED:
        return  # whoever comes next settles that first
    ledger = Ledger(ground.mirror)
    ledger.candidate(candidate._replace(scope=""))
    with suppress(MetierError):  # then the next look takes it up, and asks again where something moved
        grounds.apply(library, ground, ledger.mirror(), (), changer)


# --- putting in place


def _put(library: Library, ground: Ground, ident: str, reason: str, changer: Changer) -> Ground:
    """Replace the working copy by what was accepted, provided that it is still what it was when the proposal was made."""
    ledger, at = Ledger(ground.mirror), decisions.now()
    candidate = ledger.candidates[ident]
    candidates.sure(ledger, candidate)
    about = candidate.evidence
    if candidate.kind == "plugin_skill_added":
        return _first(library, ground, ledger, candidate, reason, changer)
    skill = ledger.skills[candidate.skill]
    binding = moves.bound(ledger, about.plugin_id, skill.name)
    working = deploying.path_of(ground.place, skill.targets[0])
    local = state_of(working) if skill.status == "active" else ""
    if local != about.local_tree_hash or binding.accepted != about.base_upstream_tree_hash:
        raise landing.changed(working)
    _edit_kept(library, ledger, skill, local, working, at)
    candidates.published(ledger, ident, kept_face(library, about.proposed_tree_hash), reason, at)
    switches: tuple[Switch, ...] = ()
    if skill.status == "active":
        switches, left = following(ground, skill, about.proposed_tree_hash, local)
        library.warnings += [f"{path} was changed by itself, and stays as it is" for path in left]
    return grounds.apply(library, ground, ledger.mirror(), switches, changer)


def following(ground: Ground, skill: Skill, digest: str, local: str) -> tuple[tuple[Switch, ...], list[str]]:
    """Give the switches that bring a skill to a digest, and the copies that somebody changed, which stay.

    A copy may be any version behind: only its agent reads it, and an edit of the working copy does not reach it.
    """
    working, own = deploying.path_of(ground.place, skill.targets[0]), {one.digest for one in skill.versions}
    states = deploying.states(ground.place, skill.targets) | {working: local}
    wanted = deploying.switches(ground.place, skill.targets, digest, states)
    switches = tuple(one for one in wanted if one.path == working or one.before in own)
    return switches, [one.path for one in wanted if one not in switches and one.before]


def _first(library: Library, ground: Ground, ledger: Ledger, candidate: Candidate, reason: str, changer: Changer) -> Ground:
    """Put a skill in place that a plugin brought since it was enabled."""
    about = candidate.evidence
    others = owned(ground, ledger, about.plugin_id, candidate.skill, locked(ground))
    if others:
        raise RefusedError(others, code="ownership", hint="rename or remove that one first")
    targets = targets_of(library, ground, ledger, about.plugin_id, candidate.skill)
    other = in_the_way(ground, targets, about.proposed_tree_hash)
    if other:
        raise RefusedError(f"Skill ownership conflict: {candidate.skill} (there is something at {other})", code="ownership",
                           hint="move it away first")  # fmt: skip
    at = decisions.now()
    seen = moves.Seen(about.path, kept_face(library, about.new_upstream_tree_hash))
    made = moves.mirrored(ledger, about.plugin_id, candidate.skill, seen, targets, at)
    # What was changed on the desk is the person's: the next comparison starts from what the plugin ships.
    made = candidates.edited(ledger, candidate.skill, kept_face(library, about.proposed_tree_hash), at) or made
    candidates.acknowledged(ledger, candidate.id, made.version, reason, at)
    return grounds.apply(library, ground, ledger.mirror(), placing(ground, targets, made.digest), changer)


def targets_of(library: Library, ground: Ground, ledger: Ledger, plugin_id: str, name: str) -> tuple[Target, ...]:
    """Give where a further skill of a plugin goes: to the agents that its others went to."""
    siblings = moves.linked(ledger, plugin_id)
    agents = dict.fromkeys(target.agent for one in siblings for target in one.targets if target.agent)
    return deploying.targets_for(library, ground.place, name, tuple(agents))


# --- who has a place


def locked(ground: Ground) -> frozenset[str]:
    """Give the names that the lock of a place has, as `folded` gives them: whatever their spelling, they are taken."""
    return frozenset(folded(pin.name) for pin in places.read(ground.place).lock.pins)


def owned(ground: Ground, ledger: Ledger, plugin_id: str, name: str, taken: Collection[str]) -> str:
    """Say who else has a skill that a plugin ships; an adopted one that its owner deleted is nobody's any more."""
    for rival in moves.rivals(ledger, plugin_id, name):
        if rival.owner != "user" or state_of(deploying.path_of(ground.place, rival.targets[0])):
            return moves.conflict(name, rival)
    return occupied(ground, name, taken)


def occupied(ground: Ground, name: str, taken: Collection[str]) -> str:
    """Say what else has the place of a skill: the lock, or a folder that metier did not put there (BE-4)."""
    if folded(name) in taken:
        return f"Skill ownership conflict: {name} (it was installed with 'metier add')"
    working = deploying.working_copy(ground.place, name)
    return f"Skill ownership conflict: {name} (there is something at {working})" if state_of(working) else ""


def is_shared(library: Library, ground: Ground, name: str) -> bool:
    """Tell whether the user's or the project's own have a skill in the very same folder: a project may be the home folder."""
    for place in places.places(library, None):
        if place.base == ground.place.base and place.lock != ground.place.lock:
            skill = grounds.read(library, place).mirror.skill(name)
            if (skill is not None and skill.status == "active") or places.read(place).lock.named(name) is not None:
                return True
    return False


def placing(ground: Ground, targets: Sequence[Target], digest: str) -> tuple[Switch, ...]:
    """Give the switches that put a skill in places that are free; `changed` where somebody has put something there meanwhile."""
    states = deploying.states(ground.place, targets)
    other = _other(ground, targets, digest, states)
    if other:
        raise landing.changed(other)
    return deploying.switches(ground.place, targets, digest, states)


def in_the_way(ground: Ground, targets: Sequence[Target], digest: str) -> str:
    """Name a place of a skill that holds something else than the skill itself or a link to it; nothing where all are free."""
    return _other(ground, targets, digest, deploying.states(ground.place, targets))


def _other(ground: Ground, targets: Sequence[Target], digest: str, states: Mapping[str, str]) -> str:
    working = deploying.path_of(ground.place, targets[0])
    for target in targets:
        path = deploying.path_of(ground.place, target)
        if states[path] not in {"", digest, deploying.wanted_state(ground.place, target, digest, working)}:
            return path
    return ""


# --- edits, and taking away


def _edit_kept(library: Library, ledger: Ledger, skill: Skill, local: str, working: str, at: str) -> None:
    """Make a version of an edit before it is replaced."""
    if local.startswith("sha256:") and ledger.current(skill.name).digest != local:
        if places.store_of(library).keep(working) != local:
            raise landing.changed(working)
        candidates.edited(ledger, skill.name, kept_face(library, local), at)


def retire(library: Library, ground: Ground, ident: str, reason: str) -> Ground:
    """Take away a skill that its plugin no longer ships, as the person says; its versions stay in the store."""
    with grounds.alone(library) as changer:
        if not grounds.is_current(library, ground):
            raise landing.changed("what is mirrored here")
        ledger, at = Ledger(ground.mirror), decisions.now()
        skill = ledger.skills[ledger.candidates[ident].skill]
        switches = taken_away(library, ground, ledger, skill, at)
        candidates.retired(ledger, ident, reason, at)
        return grounds.apply(library, ground, ledger.mirror(), switches, changer)


def taken_away(library: Library, ground: Ground, ledger: Ledger, skill: Skill, at: str) -> tuple[Switch, ...]:
    """Give the switches that take a skill out of its places; what was edited is a version first, whatever is not ours stays."""
    if not skill.targets or skill.status != "active":
        return ()
    working = deploying.path_of(ground.place, skill.targets[0])
    states = deploying.states(ground.place, skill.targets)
    _edit_kept(library, ledger, skill, states.get(working, ""), working, at)
    current = ledger.current(skill.name).digest
    found: dict[str, Switch] = {}
    for target in skill.targets:
        path = deploying.path_of(ground.place, target)
        state = states.get(path, "")
        wanted = {deploying.wanted_state(ground.place, target, current, working), *(one.digest for one in skill.versions)}
        if state.startswith("sha256:") if path == working else state and state in wanted:
            found[path] = Switch(path, deploying.below(ground.place, path), state, "")
        elif state:
            library.warnings.append(f"{path} is not what was put there, and stays")
    return tuple(found.values())


def acknowledge(library: Library, candidate: str, version: str, *, user: bool | None) -> Mirrored:
    """Note that a host published a candidate as a version (BE-19)."""
    ground, _found = grounds.with_candidate(library, candidate, user)
    with grounds.alone(library) as changer:
        ground = grounds.read(library, ground.place)
        ledger = Ledger(ground.mirror)
        candidates.acknowledged(ledger, candidate, version, "", decisions.now())
        after = grounds.apply(library, ground, ledger.mirror(), (), changer)
    return listing.result(after, ledger.candidates[candidate].evidence.plugin_id, changed=after is not ground)
