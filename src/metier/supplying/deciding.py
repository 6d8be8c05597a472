"""What quarantined bytes might do, and whether the policy lets them in: the same scan and the same table as everywhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import judging
from metier.catalogue.verdicts import Target as Tree
from metier.discover import disk
from metier.discover.entries import Place as Spot
from metier.discover.heads import skill_entry
from metier.model import Verdict
from metier.standard.rules import FATAL
from metier.supplies import Judged, Refusal
from metier.supplying import foreseeing
from metier.terms import terms_of
from metier.trust import disk as decisions
from metier.trust.decide import decide
from metier.trust.facts import Provenance, standing
from metier.trust.policy import stricter
from metier.trust.state import Index
from metier.vetting.cases import signed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from metier.app import Library
    from metier.catalogue.verdicts import Judged as Verdicts
    from metier.model import Entry, Scope
    from metier.supplies import Origin
    from metier.supplying.foreseeing import Waiting
    from metier.supplying.places import Place
    from metier.trust.decide import Decision
    from metier.trust.facts import Approval
    from metier.trust.sign import Signed


class Weighed(NamedTuple):
    """A tree that was judged and decided about, under the name it would have."""

    name: str
    entry: Entry | None
    """What its own file says; nothing where only its verdict was looked up."""
    verdict: Verdict
    decision: Decision
    tokens: int
    dangerous: bool
    """Whether the policy counts it as dangerous: then nothing but a person's named word lets it in."""
    signature: Signed | None

    @property
    def called(self) -> str:
        """What its own file calls it: the name that decisions about it are bound to."""
        return self.entry.name if self.entry is not None else self.name

    @property
    def judged(self) -> Judged:
        """What the lock keeps of it."""
        return Judged(self.verdict.level, self.verdict.score, self.verdict.ruleset)


class Scales:
    """Judges and decides about many trees under one ruleset and one state of the decisions."""

    def __init__(self, library: Library) -> None:
        """Find out what holds."""
        self.library = library
        self.judge = judging.Judge(library)
        self.terms = terms_of(library, self.judge.ruleset, None, None)
        self.state = decisions.read(library.data)
        self.decisions = Index(self.state.rows)

    def __enter__(self) -> Scales:
        """Use them in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Keep what was learnt."""
        self.judge.close()

    def foresee(self, trees: Sequence[Waiting]) -> None:
        """Judge many trees at once that `weigh` will be asked about."""
        foreseeing.foresee(self.judge, trees)

    def weigh(self, folder: str, name: str, origin: Origin, scope: Scope, place: str) -> Weighed | Refusal:
        """Judge the tree in a folder and decide about it, as `name`, lying at `place`."""
        entry = read_entry(folder, name)
        faults = [f"{one.code}: {one.message}" for one in entry.diagnostics if one.code in FATAL]
        if faults:
            return Refusal(name, tuple(faults))
        judged = self.judge.tree(Tree(folder, name, folder))
        return self._decided(judged, entry, name, origin, scope, place)

    def recalled(self, digest: str, name: str, origin: Origin, scope: Scope, place: str) -> Weighed | None:
        """Decide about bytes by the verdict that is kept of them; nothing when there is none under these rules."""
        judged = self.judge.known_by(digest, name)
        if judged is None or self.terms.policy is not None:
            return None  # waivers and baselines need the tree itself
        return self._decided(judged, None, name, origin, scope, place)

    def spoken(self, name: str, digest: str, place: str) -> Approval | None:
        """Give a person's approval of these very bytes, where there is one."""
        same = standing(self.decisions.about(name, place, digest), name, digest, decisions.now()).same
        return same if same is not None and same.state == "approved" else None

    def accepted(self, name: str, digest: str, place: str) -> bool:
        """Tell whether a person accepted the danger of these very bytes."""
        said = self.spoken(name, digest, place)
        return said is not None and said.accept_dangerous

    def vouched(self, place: Place) -> bool:
        """Tell whether a place is the user's own, or a project that the user trusts: then its lock is the user's word too."""
        return place.scope == "user" or self.state.trusts(place.base)

    def _decided(self, judged: Verdicts, entry: Entry | None, name: str, origin: Origin, scope: Scope, place: str) -> Weighed:
        scanned = self.terms.applied(judged, self.judge.again)
        verdict = Verdict(scanned.digest, scanned.ruleset, scanned.plain, scanned.score, scanned.findings)
        called = entry.name if entry is not None else name
        signature = signed(self.library, called, scanned.digest)
        project = self.library.project if scope == "project" else ""
        # Whoever installs into a project vouches for that; whether its skills are offered is another question (decision 18).
        about = Provenance(origin.source, origin.ref, origin.commit, signature=signature, scope=scope, project=project,
                           project_trusted=True)  # fmt: skip
        approvals = self.decisions.about(called, place, scanned.digest)
        decision = decide(verdict, about, self.library.trust_policy, approvals, decisions.now(), name=called,
                          digest=scanned.digest)  # fmt: skip
        if self.state.broken:
            decision = decision._replace(install=stricter(decision.install, "ask"), reasons=(self.state.broken, *decision.reasons))
        dangerous = self.library.trust_policy.counted(verdict.level) == "dangerous"
        tokens = entry.tokens + entry.size // 4 if entry is not None else 0
        return Weighed(name, entry, verdict, decision, tokens, dangerous, signature)


def read_entry(folder: str, name: str) -> Entry:
    """Read what a skill's own file says, as it would be read in a folder of this name."""
    listing = disk.list_folder(folder)
    named = [one for one in listing.files if one.lower() == "skill.md"]
    file = "SKILL.md" if "SKILL.md" in named or not named else named[0]
    return skill_entry(disk.read_head(f"{folder}/{file}"), Spot(folder, file, "", "", ""), name, None, disk.read_head)
