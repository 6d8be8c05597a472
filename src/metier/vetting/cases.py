"""The decision on one skill as its bytes are now, with everything it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import judging, recording, skillfile
from metier.discover import disk
from metier.errors import MetierError
from metier.model import Verdict
from metier.standard.tools import split_tools
from metier.trust import disk as store
from metier.trust.anomaly import anomaly_in
from metier.trust.decide import Decision, Provenance, decide
from metier.trust.policy import PHASES, stricter
from metier.trust.tools import escalations
from metier.vetting import manifests

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Action, Card, Digest, Finding, Level, Phase, Scope, State, Trust
    from metier.trust.sign import Signed
    from metier.trust.state import State as Decisions

TOP = 5
"""How many findings an answer or a refusal names; `metier scan` has all."""
TAIL = 500
"""How far back the audit log is searched for what became of a skill."""
OVERRIDE = "metier trust approve {name} --accept-dangerous --reason TEXT --yes"
"""The one way past a dangerous verdict (decision 5)."""
_FINE = frozenset({"allowed", "ok", "done"})
_USES = frozenset({"load", "refuse", "run"})


class Trusted(NamedTuple):
    """The decision on one skill, as its bytes are now."""

    name: str
    digest: Digest | None
    state: State
    level: Trust
    reasons: tuple[str, ...]
    path: str
    verdict: Level
    score: int
    phases: dict[Phase, Action]
    findings: tuple[Finding, ...]
    """The gravest few."""
    escalations: tuple[str, ...] = ()
    """Tools that it declares and its level denies (ZE-9, ZE-23)."""
    anomaly: str = ""
    """Whether it was refused or failed too often of late (ZE-26)."""


class Case(NamedTuple):
    """A skill, what it might do, and what was decided about it."""

    card: Card
    verdict: Verdict
    decision: Decision
    waived: tuple[str, ...] = ()
    """Findings that do not count, each with the reason."""


def case_of(library: Library, card: Card) -> Case:
    """Decide about a skill as it is now."""
    scanned = judging.scan_tree(library, card.path, card.name)
    verdict = Verdict(scanned.digest, scanned.ruleset, scanned.plain, scanned.score, scanned.findings)
    state = store.read(library.data)
    decision = decide(verdict, _provenance(library, card, state, verdict.digest), library.trust_policy,
                      state.about(card.name, card.path), store.now(), name=card.name, digest=verdict.digest)  # fmt: skip
    if state.broken:
        decision = _doubted(decision, f"{state.broken}; nothing is approved until that is put right")
    waived = tuple(f"waived: {one.finding.rule} in {one.finding.path}, {one.reason} ({one.told_by})" for one in scanned.waived)
    return Case(card, verdict, decision, waived)


def _doubted(decision: Decision, why: str) -> Decision:
    """Take back whatever rests on decisions that cannot be read: a block might be among them."""
    state = "ask" if decision.state == "visible" else decision.state
    install, load, run = (stricter(decision.action(phase), "ask") for phase in PHASES)
    return decision._replace(state=state, install=install, load=load, run=run, reasons=(why, *decision.reasons))


def _provenance(library: Library, card: Card, state: Decisions, digest: Digest | None) -> Provenance:
    root = manifests.root_of(library, card)
    project = root.project if root else ""
    scope: Scope = "project" if project else card.scope
    source, ref, commit = fetched_from(library, digest)
    broken = card.kind == "code" and manifests.breaks_promise(library, card, skillfile.bytes_of(card))
    return Provenance(source, ref, commit, scope=scope, project=project, project_trusted=state.trusts(project),
                      signature=signed(library, card.name, digest), pinned="its manifest's hash" if broken else "")  # fmt: skip


def fetched_from(library: Library, digest: str | None) -> tuple[str, str, str]:
    """Give where this machine itself fetched these very bytes from, the most trusted of several; a lock's word does not count."""
    if not (library.data and digest) or disk.kind_of(f"{library.data}/store") != disk.FOLDER:
        return "", "", ""
    from metier.store.disk import Store
    from metier.store.hands.disk import OsHands
    from metier.trust.levels import level_of_source, rank

    found = Store(f"{library.data}/store", library.home, OsHands()).origins(digest)
    trusted = library.trust_policy.trusted_sources
    return min(found, key=lambda one: ("pull/" in one[1], rank(level_of_source(one[0], trusted)), one), default=("", "", ""))


def signed(library: Library, name: str, digest: Digest | None) -> Signed | None:
    """Give what a kept signature proves about these bytes; what cannot be verified proves nothing."""
    try:
        envelope = store.signature(library.data, digest) if digest else None
        if envelope is None:
            return None
        from metier.trust import sign  # few skills are signed

        found = sign.verify(envelope, public_keys(library))
    except (MetierError, OSError):
        return None
    return found if isinstance(found, sign.Signed) and (found.name, found.digest) == (name, digest) else None


def public_keys(library: Library) -> list[bytes]:
    """Give the public keys that the user trusts."""
    found = (store.key(library.data, key, "pub") for key in store.keys(library.data))
    return [public for public in found if public is not None]


def plain(case: Case) -> Trusted:
    """Give the decision with its reasons, the row of the table last."""
    card, verdict, decision, waived = case
    phases: dict[Phase, Action] = {phase: decision.action(phase) for phase in PHASES}
    does = ", ".join(f"{phase} {action}" for phase, action in phases.items())
    rule = f"{decision.level} and {verdict.level} (score {verdict.score}): {does}"
    told = tuple(reason for reason in decision.reasons if not reason.endswith((": block", ": ask", ": warn")))
    return Trusted(card.name, verdict.digest, decision.state, decision.level, (*told, *waived, rule), card.path, verdict.level,
                   verdict.score, phases, verdict.findings[:TOP])  # fmt: skip


def shown(library: Library, case: Case) -> Trusted:
    """Give the decision, and what else speaks against the skill: tools beyond its level, failures of late."""
    found = plain(case)
    beyond = tuple(f"{one.tool}: {one.message}" for one in escalations(tools_of(case.card), found.level))
    odd = anomaly_in(_outcomes(library, found.name))
    reasons = (*found.reasons, *(f"declares a tool that its level denies: {text}" for text in beyond))
    if odd:
        reasons = (*reasons, f"{odd.alarm}: {odd.message}")
    return found._replace(reasons=reasons, escalations=beyond, anomaly=odd.alarm if odd else "")


def tools_of(card: Card) -> tuple[str, ...]:
    """Give the tools that a skill declares."""
    return split_tools(skillfile.fields_of(card).get("allowed-tools"))[0]


def _outcomes(library: Library, name: str) -> list[str]:
    events = [event for event in recording.tail(library, TAIL) if event["name"] == name and event["event"] in _USES
              and "asked" not in event["details"]]  # fmt: skip
    return ["success" if event["outcome"] in _FINE else "error" for event in events]


def lines_of(verdict: Verdict) -> list[str]:
    """Give the gravest findings, one line each."""
    return [shown_line(f"{found.rule} {found.path}:{found.line}: {found.why}") for found in verdict.findings[:TOP]]


def shown_line(text: str) -> str:
    """Give a text that stays on its line and sends nothing to a terminal: paths come from strangers."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
