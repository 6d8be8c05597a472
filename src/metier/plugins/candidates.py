"""What waits for a person about a plugin's skills: how a comparison becomes a candidate, and what a
decision about one writes down.

Pure, like the ledger that it writes to. An upstream change is never applied by itself, and no
candidate is ever lost: it ends published, rejected or superseded, and stays in the queue's history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, NotFoundError
from metier.plugins.mirror_ledger import (
    OPEN_STATUSES,
    REMOVED_PREFIX,
    ShippedSkill,
    TreeHashes,
    owned_by,
    provenance,
)
from metier.plugins.model import Binding, Evidence, MirroredVersion, ReviewCandidate
from metier.supply.model import classify

if TYPE_CHECKING:
    from metier.plugins.mirror_ledger import Ledger
    from metier.plugins.model import BindingStatus, CandidateKind, CandidateStatus, MergeMode

ID_PREFIXES: dict[CandidateKind, str] = {
    "plugin_skill_update": "plugin-update",
    "plugin_skill_added": "plugin-add",
    "plugin_skill_removed": "plugin-remove",
}
_STANDING: dict[CandidateKind, BindingStatus] = {
    "plugin_skill_update": "update_pending",
    "plugin_skill_added": "new",
    "plugin_skill_removed": "removed",
}


class Proposal(NamedTuple):
    """What would become of a working copy, and what speaks for and against it."""

    reason: str
    evidence: Evidence
    """As far as a comparison of trees gives it."""


# --- comparing


def note_edit(ledger: Ledger, name: str, tree: TreeHashes) -> MirroredVersion | None:
    """Make a version of what somebody made of a working copy; nothing where it is the current
    version.
    """
    current = ledger.current(name)
    if tree.digest == current.digest:
        return None
    return ledger.add_version(
        name,
        current._replace(
            **tree._asdict(),
            parent_version=current.version,
            created_by="user",
            change_reason="edited in place",
            review_state="published",
            at=ledger.at,
            provenance=current.provenance._replace(source_kind="user", merge_mode="edit"),
        ),
    )


def note_compared(
    ledger: Ledger,
    plugin_id: str,
    name: str,
    seen: ShippedSkill,
    local: str,
    proposal: Proposal | None,
) -> MergeMode:
    """Write down how a skill stands to what its plugin ships now (BE-13); a change is for a person
    to apply (BE-14).
    """
    reconcile(ledger, plugin_id, name)
    upstream = seen.tree.digest
    binding = ledger.binding_of(plugin_id, name)._replace(path=seen.path, observed=upstream)
    mode: MergeMode = classify(binding.accepted, local or ledger.current(name).digest, upstream)
    if mode == "unchanged":
        ledger.withdraw(binding.pending, "its source is back at what you have")
        ledger.put_binding(plugin_id, binding._replace(status="synced", pending=""))
    elif mode == "already_applied":
        _accept_applied(ledger, plugin_id, binding)
    else:
        assert proposal is not None, "what changed has a proposal"
        _propose(ledger, plugin_id, "plugin_skill_update", binding, seen, proposal, mode)
    return mode


def _accept_applied(ledger: Ledger, plugin_id: str, binding: Binding) -> None:
    """Accept silently what the working copy is already (BE-14)."""
    current = ledger.skills[binding.skill].current
    ident = ident_in(ledger, "plugin_skill_update", plugin_id, binding.skill, binding.observed)
    if binding.pending == ident:
        _decide(ledger, ident, "published", "the working copy is that already", current)
    else:
        ledger.withdraw(binding.pending, "the working copy is a newer version already")
    ledger.put_binding(
        plugin_id,
        binding._replace(accepted=binding.observed, version=current, status="synced", pending=""),
    )


def _propose(
    ledger: Ledger,
    plugin_id: str,
    kind: CandidateKind,
    binding: Binding,
    seen: ShippedSkill,
    proposal: Proposal,
    mode: MergeMode = "",
) -> None:
    """Record a candidate, unless it was turned down before; another one of that skill that waits is
    superseded (BE-15).
    """
    plugin = ledger.plugins[plugin_id]
    skill = ledger.skills.get(binding.skill)
    ident = ident_in(ledger, kind, plugin_id, binding.skill, seen.tree.digest or binding.accepted)
    evidence = proposal.evidence._replace(
        plugin_id=plugin_id,
        plugin_version=plugin.installed_version,
        skill_name=binding.skill,
        merge_mode=mode,
        base_upstream_tree_hash=binding.accepted,
        new_upstream_tree_hash=seen.tree.digest,
        local_version=skill.current if skill is not None else "",
        new_upstream_content_hash=seen.tree.content_hash,
        path=seen.path,
        commit=plugin.commit,
    )
    candidate = ReviewCandidate(
        id=ident,
        kind=kind,
        skill=binding.skill,
        merge_mode=mode,
        status="open",
        reason=proposal.reason,
        evidence=evidence,
        at=ledger.at,
    )
    before = ledger.candidates.get(ident)
    if binding.pending != ident:
        ledger.withdraw(binding.pending, "a newer version is there", ident)
    if before is not None and before.status == "rejected":
        ledger.put_binding(plugin_id, binding._replace(status="declined", pending=""))
        return
    if before is not None and before.status in OPEN_STATUSES:
        same = before.evidence == evidence and before.kind == kind
        # Whoever has said yes said it to the old proposal.
        candidate = (
            before
            if same
            else candidate._replace(at=before.at, desk=before.desk, desk_on=before.desk_on)
        )
    ledger.put_candidate(candidate)
    ledger.put_binding(plugin_id, binding._replace(status=_STANDING[kind], pending=ident))


def propose_added(
    ledger: Ledger, plugin_id: str, name: str, seen: ShippedSkill, proposal: Proposal
) -> None:
    """Propose a skill that a newer manifest brings (BE-17 put right)."""
    binding = ledger.plugins[plugin_id].binding(name) or Binding(name, seen.path, "", "", "", "new")
    binding = binding._replace(path=seen.path, observed=seen.tree.digest)
    _propose(ledger, plugin_id, "plugin_skill_added", binding, seen, proposal)


def propose_removed(ledger: Ledger, plugin_id: str, name: str, local: str) -> None:
    """Report a skill that a plugin no longer ships; it stays until a person decides (BE-17 put
    right).
    """
    binding = ledger.binding_of(plugin_id, name)
    if not binding.accepted:  # it was proposed, and nobody has taken it over
        ledger.withdraw(binding.pending, "its plugin no longer ships it")
        ledger.unbind(plugin_id, name)
        return
    if binding.status == "kept":
        return
    why = "its plugin no longer ships it; what you have stays until you decide"
    gone = ShippedSkill(binding.path, TreeHashes(""))
    proposal = Proposal(why, Evidence(local_tree_hash=local))
    _propose(ledger, plugin_id, "plugin_skill_removed", binding, gone, proposal)
    after = ledger.binding_of(plugin_id, name)
    if after.status == "declined":
        ledger.put_binding(plugin_id, after._replace(status="kept"))


def reconcile(ledger: Ledger, plugin_id: str, name: str) -> bool:
    """Take up an acknowledgement that was lost: what waits is published already, as just this
    upstream version (BE-18).
    """
    binding = ledger.binding_of(plugin_id, name)
    candidate = ledger.candidates.get(binding.pending)
    skill = ledger.skills.get(name)
    if candidate is None or candidate.status != "published" or skill is None:
        return False
    version = skill.version(candidate.version)
    upstream = candidate.evidence.new_upstream_tree_hash
    if version is None or not (
        upstream == binding.observed == version.provenance.upstream_skill_tree_hash
    ):
        return False
    ledger.put_binding(
        plugin_id,
        binding._replace(accepted=upstream, version=version.version, status="synced", pending=""),
    )
    return True


# --- deciding


def check_candidate(ledger: Ledger, candidate: ReviewCandidate) -> None:
    """Refuse a candidate that is about nothing here: notes may be damaged, or somebody else's."""
    plugin = ledger.plugins.get(candidate.evidence.plugin_id)
    fits = plugin is not None and candidate.kind in ID_PREFIXES
    if plugin is not None and candidate.status in OPEN_STATUSES:
        waits = (
            candidate.kind == "plugin_skill_added" and plugin.binding(candidate.skill) is not None
        )
        fits = fits and (waits or ledger.is_bound(plugin.plugin_id, candidate.skill))
    if not fits:
        raise IntegrityError(
            f"'{candidate.id}' is about nothing that is mirrored here",
            code="state",
            hint="'metier plugin sync' looks anew; 'metier review reject' puts this away",
        )


def note_accepted(ledger: Ledger, ident: str, proposed: str) -> None:
    """Note a person's yes to a proposal, before it has any effect."""
    candidate = ledger.candidates[ident]
    ledger.put_candidate(
        candidate._replace(
            status="accepted",
            evidence=candidate.evidence._replace(proposed_tree_hash=proposed),
            decided_at=ledger.at,
        )
    )


def note_published(ledger: Ledger, ident: str, tree: TreeHashes, reason: str) -> MirroredVersion:
    """Make a version of an accepted proposal, and acknowledge it for its own skill alone (BE-19 put
    right).
    """
    candidate = ledger.candidates[ident]
    about = candidate.evidence
    plugin = ledger.plugins[about.plugin_id]
    seen = ShippedSkill(
        about.path, TreeHashes(about.new_upstream_tree_hash, about.new_upstream_content_hash)
    )
    made = ledger.add_version(
        candidate.skill,
        MirroredVersion(
            "",
            *tree,
            ledger.skills[candidate.skill].current,
            owned_by(plugin.plugin_id) if tree.digest == about.new_upstream_tree_hash else "user",
            reason or f"update of {plugin.plugin_id}",
            "published",
            ledger.at,
            provenance(plugin, seen, candidate.merge_mode, about.plugin_version),
        ),
    )
    note_acknowledged(ledger, ident, made.version, reason)
    return made


def note_acknowledged(ledger: Ledger, ident: str, version: str, reason: str) -> None:
    """Note that a candidate is published as a version (BE-19)."""
    candidate = ledger.candidates.get(ident)
    skill = ledger.skills.get(candidate.skill) if candidate is not None else None
    made = skill.version(version) if skill is not None else None
    if (
        candidate is None
        or candidate.kind not in {"plugin_skill_update", "plugin_skill_added"}
        or made is None
    ):
        raise NotFoundError(
            f"there is no published update '{ident}' as {version}",
            hint="see all: metier review list --all",
        )
    about = candidate.evidence
    upstream = made.provenance.upstream_skill_tree_hash
    if (made.provenance.plugin_id, upstream) != (about.plugin_id, about.new_upstream_tree_hash):
        raise IntegrityError(
            "Plugin publish acknowledgement is missing provenance",
            hint="publish it with 'metier review accept'",
        )
    binding = ledger.binding_of(about.plugin_id, candidate.skill)
    _decide(ledger, ident, "published", reason, version)
    if binding.pending in {"", ident}:  # else another one waits, and goes on waiting
        binding = binding._replace(status="synced", pending="")
    ledger.put_binding(
        about.plugin_id,
        binding._replace(accepted=upstream, version=version, observed=binding.observed or upstream),
    )
    ledger.settle_status(about.plugin_id)


def note_rejected(ledger: Ledger, ident: str, reason: str) -> None:
    """Turn a candidate down: the skill stays as it is, and this very version is not proposed
    again.
    """
    candidate = ledger.candidates[ident]
    _decide(ledger, ident, "rejected", reason or candidate.reason)
    plugin = ledger.plugins.get(candidate.evidence.plugin_id)
    binding = plugin.binding(candidate.skill) if plugin is not None else None
    if plugin is not None and binding is not None and binding.pending == ident:
        status: BindingStatus = "kept" if candidate.kind == "plugin_skill_removed" else "declined"
        ledger.put_binding(plugin.plugin_id, binding._replace(status=status, pending=""))
        ledger.settle_status(plugin.plugin_id)


def reopen(ledger: Ledger, ident: str) -> bool:
    """Take a no back, as long as its plugin still ships just that; false where there is nothing to
    take back.
    """
    candidate = ledger.candidates[ident]
    plugin = ledger.plugins.get(candidate.evidence.plugin_id)
    binding = plugin.binding(candidate.skill) if plugin is not None and plugin.enabled else None
    if plugin is None or binding is None or candidate.status != "rejected":
        return False
    kind = candidate.kind
    shipped = candidate.evidence.new_upstream_tree_hash
    if kind == "plugin_skill_update":  # what it would come to is worked out anew
        if binding.status not in {"declined", "kept"} or binding.observed != shipped:
            return False
        _decide(ledger, ident, "superseded", "you opened it again")
        ledger.put_binding(plugin.plugin_id, binding._replace(status="update_pending"))
        return True
    may = binding.status == "kept"
    if kind == "plugin_skill_added":
        may = binding.status == "declined" and binding.observed == shipped
    if may:
        ledger.put_candidate(candidate._replace(status="open", decided_at=""))
        ledger.put_binding(
            plugin.plugin_id, binding._replace(status=_STANDING[kind], pending=ident)
        )
        ledger.settle_status(plugin.plugin_id)
    return may


def note_retired(ledger: Ledger, ident: str, reason: str) -> None:
    """Let a skill go that its plugin no longer ships: the store keeps its versions."""
    candidate = ledger.candidates[ident]
    plugin_id = candidate.evidence.plugin_id
    skill = ledger.skills[candidate.skill]
    ledger.put_skill(
        skill._replace(owner="user", status="disabled", why=f"{REMOVED_PREFIX}{plugin_id}")
    )
    ledger.unbind(plugin_id, candidate.skill)
    _decide(ledger, ident, "published", reason or candidate.reason, skill.current)
    ledger.settle_status(plugin_id)


# --- small parts


def ident_of(kind: CandidateKind, plugin_id: str, skill: str, digest: str) -> str:
    """Give the id of a candidate (BE-15): the same change always has the same."""
    return f"{ID_PREFIXES[kind]}:{plugin_id}:{skill}:{digest.removeprefix('sha256:')[:12]}"


def ident_in(ledger: Ledger, kind: CandidateKind, plugin_id: str, skill: str, digest: str) -> str:
    """Give the id that a change has or would have here; two trees whose hashes begin alike are told
    apart by the whole hash.
    """
    ident = ident_of(kind, plugin_id, skill, digest)
    known = ledger.candidates.get(ident)
    if known is None or digest in {
        known.evidence.new_upstream_tree_hash,
        known.evidence.base_upstream_tree_hash,
    }:
        return ident
    return f"{ID_PREFIXES[kind]}:{plugin_id}:{skill}:{digest.removeprefix('sha256:')}"


def _decide(
    ledger: Ledger, ident: str, status: CandidateStatus, reason: str, version: str = ""
) -> None:
    candidate = ledger.candidates.get(ident)
    if candidate is not None:
        version = version or candidate.version
        ledger.put_candidate(
            candidate._replace(status=status, reason=reason, decided_at=ledger.at, version=version)
        )
