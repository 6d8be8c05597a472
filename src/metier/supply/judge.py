"""Scans quarantined skills, decides whether the policy lets them in, and writes down a person's
approvals (MT-5).

The scan and the table are the same as everywhere else. Scanning is most of what getting many skills
in costs, so many trees are judged at once, on every core.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.discover.entries import SkillPlace, skill_entry
from metier.discover.io import disk
from metier.model import Verdict
from metier.scan import service
from metier.scan.cache import PlainVerdict, ScanTarget
from metier.scan.report import leading_findings
from metier.scan.waive import read_terms
from metier.standard.rules import FATAL
from metier.supply.model import PinVerdict, PlanStep, Refusal
from metier.trust import approve
from metier.trust.assess import MAX_NAMED_FINDINGS, signed
from metier.trust.decide import decide
from metier.trust.decision_records import DecisionIndex, hold_back, way_to_unblock
from metier.trust.io import decisions_file
from metier.trust.model import Provenance, standing_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.context import Context
    from metier.model import Entry, Scope
    from metier.scan.service import LibraryScanner
    from metier.standard.digest import TreeFile
    from metier.supply.model import InstallTarget, Mode, Origin
    from metier.supply.places import InstallPlace
    from metier.trust.decide import Decision
    from metier.trust.model import Approval
    from metier.trust.sign import Signed


class TreeToJudge(NamedTuple):
    """A tree that will be judged, and the digest that its files have."""

    folder: str
    name: str
    digest: str


def judge_ahead(judge: LibraryScanner, trees: Sequence[TreeToJudge]) -> None:
    """Have the verdicts on trees ready before each is asked for."""
    unknown = list(
        {one.digest: one for one in trees if judge.known_by(one.digest, one.name) is None}.values()
    )
    targets = [ScanTarget(one.folder, one.name, one.folder) for one in unknown]
    judge.expect(len(targets))
    looked = [(one, disk.look_at_tree(one.folder)) for one in targets]
    service.scan_apart(judge, looked, judge.tell)


# --- judging and deciding


class JudgedSkill(NamedTuple):
    """A tree that was judged and decided about, under the name it would have."""

    name: str
    entry: Entry | None
    """What its own file says; nothing where only its verdict was looked up."""
    verdict: Verdict
    decision: Decision
    tokens: int
    dangerous: bool
    """Whether the policy counts it as dangerous: then nothing but a person's named word lets it
    in."""
    signature: Signed | None

    @property
    def called(self) -> str:
        """What its own file calls it: the name that decisions about it are bound to."""
        return self.entry.name if self.entry is not None else self.name

    @property
    def judged(self) -> PinVerdict:
        """What the lock keeps of it."""
        return PinVerdict(self.verdict.level, self.verdict.score, self.verdict.ruleset)

    def step(
        self,
        mode: Mode,
        origin: Origin,
        *,
        path: str,
        digest: str,
        before: str,
        files: Sequence[TreeFile],
        targets: tuple[InstallTarget, ...],
    ) -> PlanStep:
        """Give what a plan shows of it."""
        return PlanStep(
            name=self.name,
            mode=mode,
            source=origin.source,
            path=path,
            ref=origin.ref,
            commit=origin.commit,
            digest=digest,
            before=before,
            files=len(files),
            size=sum(file.size for file in files),
            tokens=self.tokens,
            level=self.decision.level,
            verdict=self.verdict.level,
            score=self.verdict.score,
            findings=leading_findings(self.verdict.findings, MAX_NAMED_FINDINGS),
            action=self.decision.install,
            reasons=self.decision.reasons,
            targets=targets,
        )

    def refused(self, *reasons: str) -> Refusal:
        """Give it as refused, with what the scan said."""
        findings = leading_findings(self.verdict.findings, MAX_NAMED_FINDINGS)
        return Refusal(self.name, reasons, findings, self.verdict.level, self.verdict.score)


class SkillJudge:
    """Judges and decides about many trees under one ruleset and one state of the decisions."""

    def __init__(self, context: Context) -> None:
        """Find out what holds."""
        self.context = context
        self.judge = service.LibraryScanner(context)
        self.terms = read_terms(context, self.judge.ruleset, None, None)
        self.state = decisions_file.read_decisions(context.data)
        self.decisions = DecisionIndex(self.state.rows)

    def __enter__(self) -> SkillJudge:
        """Use them in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Keep what was learnt."""
        self.judge.close()

    def foresee(self, trees: Sequence[TreeToJudge]) -> None:
        """Judge many trees at once that `weigh` will be asked about."""
        judge_ahead(self.judge, trees)

    def weigh(
        self, folder: str, name: str, origin: Origin, scope: Scope, place: str, digest: str = ""
    ) -> JudgedSkill | Refusal:
        """Judge the tree in a folder and decide about it, as `name`, lying at `place`. With the
        `digest` that its files had as they were written, the verdict that is kept of that will do.
        """
        entry = read_entry(folder, name)
        refusal = _unreadable(entry, name)
        if refusal is not None:
            return refusal
        # waivers and baselines go by the tree itself
        known = self.judge.known_by(digest, name) if digest and self.terms.policy is None else None
        judged = known or self.judge.tree(ScanTarget(folder, name, folder))
        return self._decided(judged, entry, name, origin, scope, place)

    def knows(self, digest: str, name: str) -> bool:
        """Tell whether a verdict on bytes is kept, and will do without the bytes."""
        # waivers and baselines need the tree itself
        return self.terms.policy is None and self.judge.known_by(digest, name) is not None

    def recalled(
        self, digest: str, name: str, origin: Origin, scope: Scope, place: str, document: str = ""
    ) -> JudgedSkill | Refusal | None:
        """Decide about bytes by the verdict that is kept of them; nothing when there is none under
        these rules. A skill that was not decided about here before has its `document` read as well.
        """
        judged = self.judge.known_by(digest, name)
        if judged is None or self.terms.policy is not None:
            return None
        entry = _entry_of_file(document, name) if document else None
        refusal = _unreadable(entry, name) if entry is not None else None
        return refusal or self._decided(judged, entry, name, origin, scope, place)

    def spoken(self, name: str, digest: str, place: str) -> Approval | None:
        """Give a person's approval of these very bytes, where there is one."""
        same = standing_records(
            self.decisions.about(name, place, digest), name, digest, decisions_file.now()
        ).same
        return same if same is not None and same.state == "approved" else None

    def accepted(self, name: str, digest: str, place: str) -> bool:
        """Tell whether a person accepted the danger of these very bytes."""
        said = self.spoken(name, digest, place)
        return said is not None and said.accept_dangerous

    def vouched(self, place: InstallPlace) -> bool:
        """Tell whether a place is the user's own, or a project that the user trusts: then its lock
        is the user's word too.
        """
        return place.scope == "user" or self.state.trusts(place.base)

    def _decided(
        self,
        judged: PlainVerdict,
        entry: Entry | None,
        name: str,
        origin: Origin,
        scope: Scope,
        place: str,
    ) -> JudgedSkill:
        scanned = self.terms.apply(judged, self.judge.rescan)
        verdict = Verdict(
            scanned.digest, scanned.ruleset, scanned.plain, scanned.score, scanned.findings
        )
        called = entry.name if entry is not None else name
        signature = signed(self.context, called, scanned.digest)
        project = self.context.project if scope == "project" else ""
        # Whoever installs into a project vouches for that; whether its skills are offered is
        # another question (MT-18).
        decision = decide(
            verdict,
            Provenance(
                origin.source,
                origin.ref,
                origin.commit,
                signature=signature,
                scope=scope,
                project=project,
                project_trusted=True,
            ),
            self.context.trust_policy,
            self.decisions.about(called, place, scanned.digest),
            decisions_file.now(),
            name=called,
            digest=scanned.digest,
        )
        decision = hold_back(decision, self.state, place)
        dangerous = self.context.trust_policy.counted(verdict.level) == "dangerous"
        tokens = entry.tokens + entry.size // 4 if entry is not None else 0
        return JudgedSkill(
            name=name,
            entry=entry,
            verdict=verdict,
            decision=decision,
            tokens=tokens,
            dangerous=dangerous,
            signature=signature,
        )


def read_entry(folder: str, name: str) -> Entry:
    """Read what a skill's own file says, as it would be read in a folder of this name."""
    named = [one for one in disk.list_folder(folder).files if one.lower() == "skill.md"]
    file = "SKILL.md" if "SKILL.md" in named or not named else named[0]
    return skill_entry(
        disk.read_head(f"{folder}/{file}"),
        SkillPlace(folder, file, "", "", ""),
        name,
        None,
        disk.read_head,
    )


def _entry_of_file(document: str, name: str) -> Entry:
    """Read what a SKILL.md says that lies by itself."""
    return skill_entry(
        disk.read_head(document),
        SkillPlace("", "SKILL.md", "", "", ""),
        name,
        None,
        lambda _path, most: disk.read_head(document, most),
    )


def _unreadable(entry: Entry, name: str) -> Refusal | None:
    """Refuse a skill that nobody could use."""
    faults = [f"{one.code}: {one.message}" for one in entry.diagnostics if one.code in FATAL]
    return Refusal(name, tuple(faults)) if faults else None


# --- letting skills in

DANGEROUS_HINT = "it is dangerous, and --force does not override that. To override: --accept-dangerous --reason TEXT"
FORCE_HINT = "review the findings; --force installs it anyway"
_NEVER = frozenset({"blocked", "quarantined"})


def unscanned(weighed: JudgedSkill, digest: str) -> Refusal | None:
    """Refuse bytes that are not those that were judged; nothing when they are. What was not looked
    at whole was not looked at.
    """
    if weighed.verdict.digest == digest:
        return None
    return weighed.refused("unscanned: the scan did not see all of it", *weighed.decision.reasons)


def reason_to_refuse(
    weighed: JudgedSkill,
    *,
    force: bool,
    accept_dangerous: bool,
    asked: bool,
    way: str = DANGEROUS_HINT,
) -> Refusal | None:
    """Give why a skill may not be installed; nothing when it may.

    `force` answers a block of what is only doubtful. What is dangerous takes `accept_dangerous`, by
    name and with a reason; and what somebody blocked or quarantined takes that decision back first.
    `asked` says that a person sees the plan; `way` is what a person is told who must have what is
    dangerous.
    """
    decision = weighed.decision
    if decision.ruled_on("install"):  # which nothing answers
        explain = f"see which line decides: metier policy explain {weighed.name}"
        return weighed.refused(*decision.reasons, explain)
    if decision.action("install") in {"allow", "warn"}:
        return None
    if decision.level in _NEVER:  # its state alone is also that of what the table blocks
        first = f"first: {way_to_unblock(decision, weighed.name)}"
        return weighed.refused(*decision.reasons, first)
    if decision.install == "ask":
        needs = "it needs your approval: pass --yes"
        return None if asked else weighed.refused(*decision.reasons, needs)
    if weighed.dangerous:
        if accept_dangerous:
            return None
        return weighed.refused(*decision.reasons, way)
    if force:
        return None
    return weighed.refused(*decision.reasons, FORCE_HINT)


def record_approvals(
    context: Context,
    place: InstallPlace,
    weighed: Iterable[tuple[JudgedSkill, str]],
    reason: str,
    *,
    accept_dangerous: bool = False,
) -> None:
    """Write down that a person let these bytes in, each at a path, where they could not be used
    otherwise.

    That is so for what is dangerous, for what the table asks about, and in a project that nobody
    trusts as a whole. It raises no level: running its scripts still asks.
    """
    foreign = place.scope == "project" and not decisions_file.read_decisions(context.data).trusts(
        place.base
    )
    statements = []
    for one, path in weighed:
        danger = one.dangerous and accept_dangerous
        if danger or foreign or one.decision.install == "ask":
            statements.append(
                (
                    path,
                    approve.statement(
                        context, one.called, one.decision.digest, "approve", reason or "installed"
                    )._replace(level="community", accept_dangerous=danger, installed=True),
                    one.verdict.level,
                )
            )
    if statements:
        approve.record_statements(context, "approve", statements)
