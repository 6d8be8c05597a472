"""What waits for a person about a plugin's skills: how a comparison becomes a candidate, and what a decision about one writes down.

Pure, like `moves`. An upstream change is never applied by itself, and no candidate is ever lost: it ends published, rejected or
superseded, and stays in the queue's history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, NotFoundError
from metier.mirrors import Binding, Candidate, Evidence, Version
from metier.plugins.moves import OPEN, REMOVED, Seen, Tree, bound, bound_to, owned_by, provenance, settled, unbound, withdraw
from metier.supply.merge.classify import classify

if TYPE_CHECKING:
    from metier.mirrors import BindingStatus, CandidateKind, CandidateStatus, MergeMode
    from metier.plugins.ledger import Ledger

PREFIXES: dict[CandidateKind, str] = {"plugin_skill_update": "plugin-update", "plugin_skill_added": "plugin-add",
                                      "plugin_skill_removed": "plugin-remove"}  # fmt: skip
_STANDING: dict[CandidateKind, BindingStatus] = {"plugin_skill_update": "update_pending", "plugin_skill_added": "new",
                                                 "plugin_skill_removed": "removed"}  # fmt: skip


class Proposal(NamedTuple):
    """What would become of a working copy, and what speaks for and against it."""

    local: str
    proposed: str
    reason: str = ""
    verdict: str = ""
    score: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


# --- comparing


def edited(ledger: Ledger, name: str, tree: Tree, at: str) -> Version | None:
    """Make a version of what somebody made of a working copy; nothing where it is the current version."""
    current = ledger.current(name)
    if tree.digest == current.digest:
        return None
    where = current.provenance._replace(source_kind="user", merge_mode="edit")
    return ledger.version(name, Version("", *tree, current.version, "user", "edited in place", "published", at, where))


def compared(ledger: Ledger, plugin_id: str, name: str, seen: Seen, local: str, proposal: Proposal | None, at: str) -> MergeMode:
    """Write down how a skill stands to what its plugin ships now (BE-13); a change is for a person to apply (BE-14)."""
    reconciled(ledger, plugin_id, name)
    binding = bound(ledger, plugin_id, name)
    mode: MergeMode = classify(binding.accepted, local or ledger.current(name).digest, seen.tree.digest)
    binding = binding._replace(path=seen.path, observed=seen.tree.digest)
    ledger.binding(plugin_id, binding)
    if mode == "unchanged":
        withdraw(ledger, binding.pending, "its source is back at what you have", "", at)
        ledger.binding(plugin_id, binding._replace(status="synced", pending=""))
    elif mode == "already_applied":
        _applied(ledger, plugin_id, binding, seen, at)
    else:
        assert proposal is not None, "what changed has a proposal"
        _proposed(ledger, plugin_id, binding, _update(ledger, plugin_id, binding, seen, mode, proposal), at)
    return mode


def _applied(ledger: Ledger, plugin_id: str, binding: Binding, seen: Seen, at: str) -> None:
    """Accept silently what the working copy is already (BE-14)."""
    ident = ident_in(ledger, "plugin_skill_update", plugin_id, binding.skill, seen.tree.digest)
    current = ledger.skills[binding.skill].current
    if binding.pending == ident:
        _decide(ledger, ident, "published", "the working copy is that already", at, current)
    else:
        withdraw(ledger, binding.pending, "the working copy is a newer version already", "", at)
    accepted = seen.tree.digest
    ledger.binding(plugin_id, binding._replace(accepted=accepted, observed=accepted, version=current, status="synced", pending=""))


def _update(ledger: Ledger, plugin_id: str, binding: Binding, seen: Seen, mode: MergeMode, proposal: Proposal) -> Candidate:
    kind: CandidateKind = "plugin_skill_update"
    evidence = _evidence(ledger, plugin_id, binding, seen, mode, proposal)
    ident = ident_in(ledger, kind, plugin_id, binding.skill, seen.tree.digest)
    return Candidate(ident, kind, binding.skill, mode, "open", proposal.reason, evidence)


def _evidence(ledger: Ledger, plugin_id: str, binding: Binding, seen: Seen, mode: MergeMode, proposal: Proposal) -> Evidence:
    plugin, skill = ledger.plugins[plugin_id], ledger.skills.get(binding.skill)
    return Evidence(
        plugin_id, plugin.installed_version, binding.skill, mode, binding.accepted, seen.tree.digest,
        skill.current if skill is not None else "", proposal.local, proposal.proposed, seen.tree.content_hash, seen.path,
        plugin.commit, proposal.verdict, proposal.score, proposal.gained, proposal.lost, proposal.conflicts,
    )  # fmt: skip


def _proposed(ledger: Ledger, plugin_id: str, binding: Binding, candidate: Candidate, at: str) -> None:
    """Record a candidate, unless it was turned down before; another one of that skill that waits is superseded (BE-15)."""
    before = ledger.candidates.get(candidate.id)
    if binding.pending and binding.pending != candidate.id:
        withdraw(ledger, binding.pending, "a newer version is there", candidate.id, at)
    if before is not None and before.status == "rejected":
        ledger.binding(plugin_id, binding._replace(status="declined", pending=""))
        return
    if before is not None and before.status in OPEN:
        same = before.evidence == candidate.evidence and before.kind == candidate.kind
        # Whoever has said yes said it to the old proposal.
        candidate = before if same else candidate._replace(at=before.at, desk=before.desk, desk_on=before.desk_on)
    else:
        candidate = candidate._replace(at=at)
    ledger.candidate(candidate)
    ledger.binding(plugin_id, binding._replace(status=_STANDING[candidate.kind], pending=candidate.id))


def added(ledger: Ledger, plugin_id: str, name: str, seen: Seen, proposal: Proposal, at: str) -> None:
    """Propose a skill that a newer manifest brings (BE-17 put right)."""
    binding = ledger.plugins[plugin_id].binding(name) or Binding(name, seen.path, "", "", "", "new")
    binding = binding._replace(path=seen.path, observed=seen.tree.digest)
    kind: CandidateKind = "plugin_skill_added"
    evidence = _evidence(ledger, plugin_id, binding, seen, "", proposal)
    ident = ident_in(ledger, kind, plugin_id, name, seen.tree.digest)
    _proposed(ledger, plugin_id, binding, Candidate(ident, kind, name, "", "open", proposal.reason, evidence), at)


def removed(ledger: Ledger, plugin_id: str, name: str, local: str, at: str) -> None:
    """Report a skill that a plugin no longer ships; it stays until a person decides (BE-17 put right)."""
    binding = bound(ledger, plugin_id, name)
    if not binding.accepted:  # it was proposed, and nobody has taken it over
        withdraw(ledger, binding.pending, "its plugin no longer ships it", "", at)
        unbound(ledger, plugin_id, name)
        return
    if binding.status == "kept":
        return
    kind: CandidateKind = "plugin_skill_removed"
    seen, why = Seen(binding.path, Tree("")), "its plugin no longer ships it; what you have stays until you decide"
    evidence = _evidence(ledger, plugin_id, binding, seen, "", Proposal(local, ""))
    ident = ident_in(ledger, kind, plugin_id, name, binding.accepted)
    _proposed(ledger, plugin_id, binding, Candidate(ident, kind, name, "", "open", why, evidence), at)
    if bound(ledger, plugin_id, name).status == "declined":
        ledger.binding(plugin_id, bound(ledger, plugin_id, name)._replace(status="kept"))


def reconciled(ledger: Ledger, plugin_id: str, name: str) -> bool:
    """Take up an acknowledgement that was lost: what waits is published already, as just this upstream version (BE-18)."""
    binding = bound(ledger, plugin_id, name)
    candidate, skill = ledger.candidates.get(binding.pending), ledger.skills.get(name)
    version = skill.version(candidate.version) if candidate is not None and skill is not None else None
    if candidate is None or candidate.status != "published" or version is None:
        return False
    upstream = candidate.evidence.new_upstream_tree_hash
    if not (upstream == binding.observed == version.provenance.upstream_skill_tree_hash):
        return False
    ledger.binding(plugin_id, binding._replace(accepted=upstream, version=version.version, status="synced", pending=""))
    return True


# --- deciding


def sure(ledger: Ledger, candidate: Candidate) -> None:
    """Refuse a candidate that is about nothing here: notes may be damaged, or somebody else's."""
    plugin = ledger.plugins.get(candidate.evidence.plugin_id)
    fits = plugin is not None and candidate.kind in PREFIXES
    if plugin is not None and candidate.status in OPEN:
        waits = candidate.kind == "plugin_skill_added" and plugin.binding(candidate.skill) is not None
        fits = fits and (waits or bound_to(ledger, plugin.plugin_id, candidate.skill))
    if not fits:
        raise IntegrityError(f"'{candidate.id}' is about nothing that is mirrored here", code="state",
                             hint="'metier plugin sync' looks anew; 'metier review reject' puts this away")  # fmt: skip


def accepted(ledger: Ledger, ident: str, proposed: str, at: str) -> None:
    """Note a person's yes to a proposal, before it has any effect."""
    candidate = ledger.candidates[ident]
    evidence = candidate.evidence._replace(proposed_tree_hash=proposed)
    ledger.candidate(candidate._replace(status="accepted", evidence=evidence, decided_at=at))


def published(ledger: Ledger, ident: str, tree: Tree, reason: str, at: str) -> Version:
    """Make a version of an accepted proposal, and acknowledge it for its own skill alone (BE-19 put right)."""
    candidate = ledger.candidates[ident]
    about = candidate.evidence
    plugin, parent = ledger.plugins[about.plugin_id], ledger.skills[candidate.skill].current
    upstream = Seen(about.path, Tree(about.new_upstream_tree_hash, about.new_upstream_content_hash))
    by = owned_by(plugin.plugin_id) if tree.digest == about.new_upstream_tree_hash else "user"
    where, why = provenance(plugin, upstream, candidate.merge_mode, about.plugin_version), reason or f"update of {plugin.plugin_id}"
    made = ledger.version(candidate.skill, Version("", *tree, parent, by, why, "published", at, where))
    acknowledged(ledger, ident, made.version, reason, at)
    return made


def acknowledged(ledger: Ledger, ident: str, version: str, reason: str, at: str) -> None:
    """Note that a candidate is published as a version (BE-19)."""
    candidate = ledger.candidates.get(ident)
    skill = ledger.skills.get(candidate.skill) if candidate is not None else None
    made = skill.version(version) if skill is not None else None
    if candidate is None or candidate.kind not in {"plugin_skill_update", "plugin_skill_added"} or made is None:
        raise NotFoundError(f"there is no published update '{ident}' as {version}", hint="'metier review list --all' shows all")
    about, where = candidate.evidence, made.provenance
    if (where.plugin_id, where.upstream_skill_tree_hash) != (about.plugin_id, about.new_upstream_tree_hash):
        raise IntegrityError("Plugin publish acknowledgement is missing provenance", hint="publish it with 'metier review accept'")
    binding = bound(ledger, about.plugin_id, candidate.skill)
    _decide(ledger, ident, "published", reason, at, version)
    upstream = where.upstream_skill_tree_hash
    waits = binding.pending not in {"", ident}
    ledger.binding(about.plugin_id, binding._replace(
        accepted=upstream, version=version, status=binding.status if waits else "synced", pending=binding.pending if waits else "",
        observed=binding.observed or upstream))  # fmt: skip
    settled(ledger, about.plugin_id)


def rejected(ledger: Ledger, ident: str, reason: str, at: str) -> None:
    """Turn a candidate down: the skill stays as it is, and this very version is not proposed again."""
    candidate = ledger.candidates[ident]
    _decide(ledger, ident, "rejected", reason or candidate.reason, at)
    plugin = ledger.plugins.get(candidate.evidence.plugin_id)
    binding = plugin.binding(candidate.skill) if plugin is not None else None
    if plugin is not None and binding is not None and binding.pending == ident:
        status: BindingStatus = "kept" if candidate.kind == "plugin_skill_removed" else "declined"
        ledger.binding(plugin.plugin_id, binding._replace(status=status, pending=""))
        settled(ledger, plugin.plugin_id)


def reopened(ledger: Ledger, ident: str, at: str) -> bool:
    """Take a no back, as long as its plugin still ships just that; false where there is nothing to take back."""
    candidate = ledger.candidates[ident]
    plugin = ledger.plugins.get(candidate.evidence.plugin_id)
    binding = plugin.binding(candidate.skill) if plugin is not None and plugin.enabled else None
    if candidate.status != "rejected" or binding is None or binding.status not in {"declined", "kept"}:
        return False
    if candidate.kind == "plugin_skill_update":  # what it would come to is worked out anew
        if binding.observed != candidate.evidence.new_upstream_tree_hash:
            return False
        _decide(ledger, ident, "superseded", "you opened it again", at)
        ledger.binding(candidate.evidence.plugin_id, binding._replace(status="update_pending"))
        return True
    if (binding.status == "kept") != (candidate.kind == "plugin_skill_removed"):
        return False
    if binding.status == "declined" and binding.observed != candidate.evidence.new_upstream_tree_hash:
        return False
    ledger.candidate(candidate._replace(status="open", decided_at=""))
    ledger.binding(candidate.evidence.plugin_id, binding._replace(status=_STANDING[candidate.kind], pending=ident))
    settled(ledger, candidate.evidence.plugin_id)
    return True


def retired(ledger: Ledger, ident: str, reason: str, at: str) -> None:
    """Let a skill go that its plugin no longer ships: the store keeps its versions."""
    candidate = ledger.candidates[ident]
    plugin_id = candidate.evidence.plugin_id
    skill = ledger.skills[candidate.skill]
    ledger.skill(skill._replace(owner="user", status="disabled", why=f"{REMOVED}{plugin_id}"))
    unbound(ledger, plugin_id, candidate.skill)
    _decide(ledger, ident, "published", reason or candidate.reason, at, skill.current)
    settled(ledger, plugin_id)


# --- small parts


def ident_of(kind: CandidateKind, plugin_id: str, skill: str, digest: str) -> str:
    """Give the id of a candidate (BE-15): the same change always has the same."""
    return f"{PREFIXES[kind]}:{plugin_id}:{skill}:{digest.removeprefix('sha256:')[:12]}"


def ident_in(ledger: Ledger, kind: CandidateKind, plugin_id: str, skill: str, digest: str) -> str:
    """Give the id that a change has or would have here; two trees whose hashes begin alike are told apart by the whole hash."""
    ident = ident_of(kind, plugin_id, skill, digest)
    known = ledger.candidates.get(ident)
    same = known is None or digest in {known.evidence.new_upstream_tree_hash, known.evidence.base_upstream_tree_hash}
    return ident if same else f"{PREFIXES[kind]}:{plugin_id}:{skill}:{digest.removeprefix('sha256:')}"


def _decide(ledger: Ledger, ident: str, status: CandidateStatus, reason: str, at: str, version: str = "") -> None:
    candidate = ledger.candidates.get(ident)
    if candidate is not None:
        ledger.candidate(candidate._replace(status=status, reason=reason, decided_at=at, version=version or candidate.version))
