"""The nouns of mirrored plugins: what one ships, what became of it here, the versions of each
skill, what waits for a person.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Literal, NamedTuple

from metier.supply.model import Plan

if TYPE_CHECKING:
    from typing import Self

    from metier.errors import MetierError
    from metier.model import Finding, Texts
    from metier.supply.model import Conflict, InstallTarget, Refusal, Request

PluginStatus = Literal[
    "discovered", "synced", "update_pending", "paused", "missing", "disabled", "adopted"
]
BindingStatus = Literal["synced", "update_pending", "new", "removed", "kept", "declined"]
CandidateKind = Literal[
    "plugin_skill_update",
    "plugin_skill_added",
    "plugin_skill_removed",
    "skill_draft",
    "skill_update",
]
CandidateStatus = Literal["open", "accepted", "published", "rejected", "superseded"]
MergeMode = Literal[
    "",
    "mirror",
    "unchanged",
    "already_applied",
    "fast_forward",
    "three_way",
    "edit",
    "restore",
    "draft",
]

# Binding: `new` waits for a first yes, `removed` is gone upstream and waits for a decision, `kept`
# is gone and was kept, `declined` has an upstream version that a person said no to.


class PluginOffer(NamedTuple):
    """A plugin that was found: what its manifest or a marketplace says, and where it lies."""

    plugin_id: str
    """The manifest's name, or `name@marketplace`."""
    name: str
    """What it is called in its source."""
    version: str
    description: str
    format: str
    """Whose manifest it is: `claude`, `codex`, `cursor`, `agent-plugins`, or `marketplace` where an
    entry stands in for it."""
    source: Request
    """What to open to find it again; a marketplace's own source where one lists it."""
    skills: Texts = ()
    """The names of its skills, as far as that is known without fetching anything."""
    told_by: str = ""
    """What named it: a setting, an agent's folder, a marketplace."""


class PluginFault(NamedTuple):
    """Something that was looked at for plugins and cannot be used."""

    path: str
    code: str
    message: str

    @classmethod
    def of(cls, path: str, error: MetierError) -> Self:
        """Give an error as a fault of a path."""
        return cls(path, error.code, error.message)


class VersionProvenance(NamedTuple):
    """Where a version is from (BE-9)."""

    source_kind: str = "user"
    """`plugin`, `user` or `agent`."""
    plugin_id: str = ""
    plugin_version: str = ""
    plugin_skill_path: str = ""
    upstream_skill_content_hash: str = ""
    upstream_skill_tree_hash: str = ""
    merge_mode: MergeMode = ""


class MirroredVersion(NamedTuple):
    """One version of a mirrored skill. Its tree is in the store."""

    version: str
    """`v0001`, `v0002`, …"""
    digest: str
    content_hash: str
    """Of the whole SKILL.md."""
    summary_hash: str
    """Of its body."""
    parent_version: str
    """Nothing for a mirror (BE-8)."""
    created_by: str
    """`plugin:ID`, `user` or `agent`."""
    change_reason: str
    review_state: CandidateStatus
    at: str
    provenance: VersionProvenance


class VersionedSkill(NamedTuple):
    """A skill that has versions here (BE-11)."""

    name: str
    owner: str
    """`plugin:ID` while a plugin's updates are offered for it, else `user`."""
    lineage: str
    """`plugin:ID`, or `adopted_from_plugin:ID`."""
    status: str
    """`active`, or `disabled`: then agents do not see it, and the store has it."""
    why: str
    """Why it is disabled: `plugin_disabled:ID`."""
    current: str
    """The version that is in place."""
    targets: tuple[InstallTarget, ...]
    versions: tuple[MirroredVersion, ...]

    @property
    def why_text(self) -> str:
        """Say in words why it is disabled."""
        word, _colon, plugin = self.why.partition(":")
        if word == "plugin_disabled":
            return f"its plugin {plugin} is disabled"
        return f"its plugin {plugin} no longer has it" if word == "plugin_removed" else self.why

    def version(self, name: str) -> MirroredVersion | None:
        """Give a version by its name."""
        return next((one for one in self.versions if one.version == name), None)


class Binding(NamedTuple):
    """How one skill stands to what its plugin ships."""

    skill: str
    path: str
    """Where in the source it lies."""
    accepted: str
    """The upstream tree that the version in place goes back to: the base of the next comparison.
    Nothing before a first yes."""
    observed: str
    """The upstream tree that was seen last."""
    version: str
    """The version that took over `accepted`."""
    status: BindingStatus
    pending: str = ""
    """The candidate that waits."""


class PluginRecord(NamedTuple):
    """A plugin that was enabled here once."""

    plugin_id: str
    name: str
    format: str
    source: Request
    enabled: bool
    status: PluginStatus
    installed_version: str
    commit: str
    skills: tuple[Binding, ...]
    """Sorted by name."""

    def binding(self, skill: str) -> Binding | None:
        """Give the binding of a skill."""
        at = bisect_left(self.skills, (skill,))
        return self.skills[at] if at < len(self.skills) and self.skills[at].skill == skill else None


class Evidence(NamedTuple):
    """What a candidate goes by (BE-15): whoever accepts it accepts this, and nothing that came
    later.
    """

    plugin_id: str = ""
    plugin_version: str = ""
    skill_name: str = ""
    merge_mode: MergeMode = ""
    base_upstream_tree_hash: str = ""
    new_upstream_tree_hash: str = ""
    local_version: str = ""
    local_tree_hash: str = ""
    """The working copy when the proposal was made; nothing where there was none."""
    proposed_tree_hash: str = ""
    """What would be put in place; nothing while conflicts are not settled, and for a removal."""
    new_upstream_content_hash: str = ""
    path: str = ""
    """Where in its source it lies; for a draft, the folder that it is about."""
    commit: str = ""
    verdict: str = ""
    score: int = 0
    gained: Texts = ()
    lost: Texts = ()
    conflicts: Texts = ()
    """Paths that both sides changed."""


class ReviewCandidate(NamedTuple):
    """A change that waits for review, or did."""

    id: str
    kind: CandidateKind
    skill: str
    merge_mode: MergeMode
    status: CandidateStatus
    reason: str
    """Why it waits; once it is decided, what was said about it."""
    evidence: Evidence
    priority: int = 10
    confidence: float = 1.0
    at: str = ""
    decided_at: str = ""
    replaced_by: str = ""
    """The candidate that superseded it."""
    version: str = ""
    """The version that it was published as."""
    desk: str = ""
    """The name of the folder where a person works on it."""
    desk_on: str = ""
    """The working copy's tree that this was laid on."""
    scope: str = ""
    """`project` or `user`. Never written."""


class Mirror(NamedTuple):
    """All that is known of the mirrored plugins of one place: what is written down, whole or not at
    all.
    """

    place: str = ""
    """The lock that it lies beside: what tells the places apart."""
    plugins: tuple[PluginRecord, ...] = ()
    """Sorted by id."""
    skills: tuple[VersionedSkill, ...] = ()
    """Sorted by name."""
    candidates: tuple[ReviewCandidate, ...] = ()
    """In the order they were recorded."""

    def plugin(self, plugin_id: str) -> PluginRecord | None:
        """Give a plugin by its id."""
        return next((one for one in self.plugins if one.plugin_id == plugin_id), None)

    def skill(self, name: str) -> VersionedSkill | None:
        """Give a skill by its name."""
        return next((one for one in self.skills if one.name == name), None)

    def candidate(self, ident: str) -> ReviewCandidate | None:
        """Give a candidate by its id."""
        return next((one for one in self.candidates if one.id == ident), None)


# --- what the verbs give


class PluginSkillRow(NamedTuple):
    """One skill in a list of plugins."""

    status: str
    accepted: str | None
    observed: str | None
    pending: str | None


class PluginRow(NamedTuple):
    """One plugin in a list of plugins."""

    plugin_id: str
    enabled: bool
    status: PluginStatus
    installed_version: str | None
    version: str
    """What its manifest says now, as far as that is known."""
    source: str
    format: str
    scope: str
    """`project` or `user`; nothing for one that was only discovered."""
    skills: dict[str, PluginSkillRow]


class PluginList(NamedTuple):
    """The known plugins, sorted by id, and what couldn't be read."""

    plugins: tuple[PluginRow, ...]
    errors: tuple[PluginFault, ...] = ()


class PluginResult(NamedTuple):
    """The result of an operation on plugins."""

    plugins: tuple[PluginRow, ...]
    changed: bool = False
    plan: Plan = Plan()
    """What enabling puts in place."""
    refused: tuple[Refusal, ...] = ()
    """Skills that may not be let in: then nothing was done at all."""
    opened: Texts = ()
    """Candidates that wait since."""
    superseded: Texts = ()
    notes: Texts = ()
    unreachable: tuple[PluginFault, ...] = ()
    """Sources that could not be asked; their plugins are as they were."""


class Reviewed(NamedTuple):
    """A candidate with everything a person needs to decide."""

    candidate: ReviewCandidate
    diff: str
    findings: tuple[Finding, ...]
    conflicts: tuple[Conflict, ...]
    desk: str = ""
    """The folder where it can be edited; nothing before `edit`."""


class Decided(NamedTuple):
    """What happened to a candidate that someone decided on."""

    candidate: ReviewCandidate
    done: bool
    """False where it was rebased and has to be looked at once more."""
    message: str
    path: str = ""
    """The working copy, where one was changed."""
