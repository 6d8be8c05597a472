"""Decides about a skill as its bytes are now: scan, provenance, policy and what people said, in one
answer with its reasons.

It also says what else speaks against the skill: tools beyond its level, and too many failures of
late (ZE-26).

A manifest of approved code may lie beside code skills (CO-7). It comes with the skills, and so from
strangers too. It counts only in folders of the user's own, of the system or of the administrator; a
project's, a plugin's, a package's or one in a folder named by hand trusts nothing.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import MetierError, RefusedError
from metier.model import Digest, Verdict
from metier.scan import service
from metier.scan.report import leading_findings, place_of
from metier.standard.digest import tree_digest
from metier.standard.needs import split_tools
from metier.trust import code_lists
from metier.trust.decide import Decision, Provenance, decide
from metier.trust.decision_records import hold_back
from metier.trust.io import decisions_file, key_files
from metier.trust.policy import PHASES
from metier.trust.tools import escalations

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from metier.model import Texts

    Alarm = Literal["warning", "critical"]
    from metier.context import Context
    from metier.model import (
        Action,
        Card,
        Finding,
        Level,
        LockedEdit,
        Phase,
        Root,
        Scope,
        State,
        Trust,
    )
    from metier.scan.waive import Scanned
    from metier.standard.digest import TreeFile
    from metier.trust.decision_records import DecisionIndex, Decisions
    from metier.trust.model import Approval, OwnBy
    from metier.trust.sign import Signed


OUTCOME_WINDOW = 10
"""How many of the last outcomes count."""
MIN_OUTCOMES = 3
"""How many there must be before they mean anything."""
WARN_PERCENT = 50
CRITICAL_PERCENT = 80


class Anomaly(NamedTuple):
    """Too many of the last runs failed or were refused."""

    alarm: Alarm
    failures: int
    events: int
    message: str


def anomaly_in(outcomes: Sequence[str]) -> Anomaly | None:
    """Judge outcomes, oldest first: `success` is one; `error`, `blocked` and any other word is a
    failure.
    """
    last = outcomes[-OUTCOME_WINDOW:]
    failures = sum(outcome != "success" for outcome in last)
    percent = failures * 100
    if len(last) < MIN_OUTCOMES or percent < WARN_PERCENT * len(last):
        return None
    alarm: Alarm = "critical" if percent >= CRITICAL_PERCENT * len(last) else "warning"
    return Anomaly(
        alarm,
        failures,
        len(last),
        f"{failures} of the last {len(last)} runs failed or were refused",
    )


# --- the manifest beside code skills

MANIFEST_FILE = ".manifest.json"
_OWN = frozenset({"user", "system", "admin"})


def root_of(context: Context, card: Card) -> Root | None:
    """Give the root that a card was found in."""
    return next(
        (one.root for one in context.catalogue.glance().seen if one.root.location == card.root),
        None,
    )


def manifest_beside(context: Context, card: Card) -> code_lists.CodeManifest:
    """Give the manifest that counts for a code skill; an empty one when there is none, or it cannot
    be read (fail closed).
    """
    root = root_of(context, card)
    path = f"{card.path.rpartition('/')[0]}/{MANIFEST_FILE}"
    if card.scope not in _OWN or root is None or root.project or not disk.is_there(path):
        return code_lists.parse_manifest(None)
    head = disk.read_head(path, code_lists.MAX_LIST_BYTES + 1)
    found = code_lists.parse_manifest(head.data if not head.fault else b"")
    if found.problem and found.problem not in context.warnings:
        context.warnings.append(f"{path}: {found.problem}")
    return found


def breaks_promise(context: Context, card: Card, data: bytes) -> bool:
    """Tell whether a code skill is not the content that its manifest promises under its name."""
    promised = manifest_beside(context, card).skills.get(card.path.rpartition("/")[2])
    return promised is not None and promised != code_lists.sha256_of(data)


# --- the decision

MAX_NAMED_FINDINGS = 5
"""How many findings an answer or a refusal names; `metier scan` has all."""
MAX_LOG_EVENTS = 500
"""How far back the audit log is searched for what became of a skill."""
OVERRIDE_COMMAND = "metier trust approve {name} --accept-dangerous --reason TEXT --yes"
"""The one way past a dangerous verdict (MT-5)."""
_FINE = frozenset({"allowed", "ok", "done"})
_USES = frozenset({"load", "refuse", "run"})


class Trusted(NamedTuple):
    """The decision on one skill in its current version."""

    name: str
    digest: Digest | None
    state: State
    level: Trust
    reasons: Texts
    path: str
    verdict: Level
    score: int
    phases: dict[Phase, Action]
    findings: tuple[Finding, ...]
    """The gravest few."""
    escalations: Texts = ()
    """Tools that it declares and its level denies (ZE-9, ZE-23)."""
    anomaly: str = ""
    """Whether it was refused or failed too often of late (ZE-26)."""


class TrustCase(NamedTuple):
    """A skill, what it might do, and what was decided about it."""

    card: Card
    verdict: Verdict
    decision: Decision
    waived: Texts = ()
    """Findings that do not count, each with the reason."""


def assess_skill(context: Context, card: Card) -> TrustCase:
    """Decide about a skill as it is now."""
    scanned = service.scan_tree(context, card.path, card.name)
    if card.verdict != scanned.plain:
        context.learn(card.path, card.name, scanned.plain)
    verdict = Verdict(
        scanned.digest, scanned.ruleset, scanned.plain, scanned.score, scanned.findings
    )
    state = decisions_file.read_decisions(context.data)
    skill = SkillAt(root_of(context, card), card.scope, card.name, card.path, verdict.digest)
    known, changed = edits_of(context, card, state, scanned)
    facts = origin_facts(context, card, verdict.digest)._replace(edited_from=known, changed=changed)
    approvals = state.about(card.name, card.path, disk.real(card.path))
    decision = decide_at(context, skill, facts, verdict, state, approvals, decisions_file.now())
    waived = tuple(
        f"waived: {one.finding.rule} in {one.finding.path}, {one.reason} ({one.told_by})"
        for one in scanned.waived
    )
    return TrustCase(card, verdict, decision, waived)


class SkillAt(NamedTuple):
    """A skill where it lies, with the bytes it has there."""

    root: Root | None
    scope: Scope
    name: str
    path: str
    digest: Digest | None


class OriginFacts(NamedTuple):
    """Where some bytes came from, by metier's own records."""

    origin: tuple[str, str, str] = ("", "", "")
    """The source, the ref and the commit."""
    signature: Signed | None = None
    pinned: str = ""
    """What promises other bytes, if anything does."""
    edited_from: str = ""
    """The digest of what was installed there, where an edit of it can do no more."""
    changed: LockedEdit = ""
    """How the bytes differ from what metier's lock has for the place."""


def origin_facts(context: Context, card: Card, digest: Digest | None) -> OriginFacts:
    """Find out where the bytes of a skill came from."""
    broken = card.kind == "code" and breaks_promise(context, card, skill_files.bytes_of(card))
    return OriginFacts(
        fetched_from(context, digest),
        signed(context, card.name, digest),
        "its manifest's hash" if broken else "",
    )


def decide_at(
    context: Context,
    skill: SkillAt,
    facts: OriginFacts,
    verdict: Verdict | None,
    state: Decisions,
    approvals: Iterable[Approval],
    now: str,
) -> Decision:
    """Decide about a skill where it lies: the one way from facts to a decision, for listings and
    for whoever reads a skill.
    """
    project = skill.root.project if skill.root else ""
    scope: Scope = "project" if project else skill.scope
    source, ref, commit = facts.origin
    trusted = state.trusts(project)
    provenance = Provenance(
        source,
        ref,
        commit,
        signature=facts.signature,
        scope=scope,
        project=project,
        project_trusted=trusted,
        pinned=facts.pinned,
        own=_own_by(context, skill, state, project if trusted and not source else ""),
        edited_from=facts.edited_from,
        changed=facts.changed,
        came_from="" if source else _came_from(context, skill, project),
    )
    decision = decide(
        verdict,
        provenance,
        context.trust_policy,
        approvals,
        now,
        name=skill.name,
        digest=skill.digest,
    )
    if state.broken:
        context.warn(state.doubt)
    return hold_back(decision, state, skill.path, disk.real(skill.path))


def _came_from(context: Context, skill: SkillAt, project: str) -> str:
    """Give the source of what the lock has for a place, where rules about sources want to know."""
    if not context.trust_policy.source_rules:
        return ""
    locked = context.pinned_at(project, skill.path, disk.real(skill.path))
    return fetched_from(context, locked[1])[0] if locked and locked[1] else ""


def _own_by(context: Context, skill: SkillAt, state: Decisions, project: str) -> OwnBy:
    """Say what makes a skill the user's own: what the user said of its place, as long as no tool put
    anything there since, or a trusted project whose locks do not have it. Nothing is own there where
    a lock cannot be read.
    """
    path = disk.real(skill.path)
    said = state.own_place(path)
    if said is not None:
        place = skill.root.project if skill.root else ""
        kept = said.recorded or not is_recorded(context, skill.name, path, place)
        return "place" if kept else ""
    if not project or not path.startswith(f"{project}/"):
        return ""
    return "project" if not is_recorded(context, skill.name, path, project) else ""


def is_recorded(context: Context, name: str, path: str, project: str = "") -> bool:
    """Tell whether a tool's lock has a skill, or cannot be read and may have it. A lock may lie in
    any folder from the skill's up to the project's, or to the home folder.
    """
    tops = (project, context.real_home)
    above = (top for top in tops if top and path.startswith(f"{top}/"))
    top = next(above, path.rpartition("/")[0])
    folder = path
    while folder != top:
        folder = folder.rpartition("/")[0]
        recorded = context.recorded_skills(folder)
        if recorded is None or recorded.has(name, path):
            return True
    return False


MAX_COMPARED_BYTES = 64 << 20
"""The size of a tree beyond which nobody compares what an edit made of it."""


def edits_of(
    context: Context, card: Card, state: Decisions | DecisionIndex, now: Scanned
) -> tuple[str, LockedEdit]:
    """Say what lies where a skill was installed: the digest of what a person let in there, if what
    lies there now is safe and can do no more; and how it differs from what the lock has.
    """
    place = disk.real(card.path)
    before = state.installed_at(card.name, card.path, place)
    root = root_of(context, card)
    locked = context.pinned_at(root.project if root else "", card.path, place)
    harmless = bool(before) and _does_no_more(context, card, before, now)
    known = before if harmless else ""
    if locked is None:
        return known, "unknown"
    name, digest = locked
    if not digest or digest == now.digest:
        return known, ""
    if digest != before or name != card.name:
        harmless = name == card.name and _does_no_more(context, card, digest, now)
    return known, "harmless" if harmless else "more"


def _does_no_more(context: Context, card: Card, before: str, now: Scanned) -> bool:
    """Tell whether an edit of installed bytes is safe and can do no more; not where these are not
    at hand any more.
    """
    if (
        not context.data
        or card.kind != "skill-md"
        or now.digest in {None, before}
        or now.plain != "safe"
        or context.trust_policy.edits != "allow"
        or disk.kind_of(f"{context.data}/store") != disk.FOLDER
    ):
        return False
    from metier.trust.capabilities import (  # few skills were edited
        MAX_DOCUMENT_BYTES,
        capabilities_of,
        gained_by_edit,
    )

    try:
        old, could = _installed(context, before, card.name)
    except (MetierError, OSError):
        return False
    new = skill_files.tree_files(card.path)
    findings = (*now.findings, *(one.finding for one in now.waived))

    def read(path: str) -> bytes:
        return disk.read_head(f"{card.path}/{path}", MAX_DOCUMENT_BYTES).data

    can = capabilities_of(new, read, findings)
    same = tree_digest(new.values()) == now.digest == context.machine.digest(card.path)
    return same and not gained_by_edit(old, new, could, can)


def _installed(
    context: Context, digest: str, name: str
) -> tuple[dict[str, TreeFile], frozenset[str]]:
    """Give the files of what was installed, and what it could do, by the rules of today."""
    from metier.store.io.disk_calls import OsDiskCalls
    from metier.store.io.tree_store import Store
    from metier.trust.capabilities import capabilities_of

    store = Store(f"{context.data}/store", context.home, OsDiskCalls())
    files = {file.path: file for file in store.files(digest)}
    if sum(file.size for file in files.values()) > MAX_COMPARED_BYTES:
        raise RefusedError(f"{digest} is too large to be compared", hint="approve it")
    read = partial(store.read, digest)
    judge = service.LibraryScanner(context)
    try:
        findings = judge.judge_files(name, Digest(digest), files.values(), read)
    finally:
        judge.close()
    return files, capabilities_of(files, read, findings)


def fetched_from(context: Context, digest: str | None) -> tuple[str, str, str]:
    """Give where this machine itself fetched these very bytes from, the most trusted of several; a
    lock's word does not count.
    """
    if not (context.data and digest) or disk.kind_of(f"{context.data}/store") != disk.FOLDER:
        return "", "", ""
    from metier.store.io.disk_calls import OsDiskCalls
    from metier.store.io.tree_store import Store
    from metier.trust.model import level_of_source, rank
    from metier.trust.source_rules import judge_source

    found = Store(f"{context.data}/store", context.home, OsDiskCalls()).origins(digest)
    policy = context.trust_policy
    trusted = policy.trusted_sources
    rules = [one._replace(signed=(), publishers=()) for one in policy.source_rules]
    return min(
        found,
        key=lambda one: (
            judge_source(rules, one[0], ref=one[1]).refused,
            "pull/" in one[1],
            rank(level_of_source(one[0], trusted)),
            one,
        ),
        default=("", "", ""),
    )


def signed(context: Context, name: str, digest: Digest | None) -> Signed | None:
    """Give what a kept signature proves about these bytes; what cannot be verified proves
    nothing.
    """
    try:
        envelope = key_files.read_signature(context.data, digest) if digest else None
        if envelope is None:
            return None
        from metier.trust import sign  # few skills are signed

        proven: list[object] = [sign.verify_envelope(envelope, public_keys(context))]
        proven += [one.verify(envelope) for one in context.verifiers]
    except (MetierError, OSError):
        return None
    return next(
        (
            one
            for one in proven
            if isinstance(one, sign.Signed) and (one.name, one.digest) == (name, digest)
        ),
        None,
    )


def public_keys(context: Context) -> list[bytes]:
    """Give the public keys that the user trusts."""
    found = (
        key_files.read_key(context.data, key, "pub") for key in key_files.list_keys(context.data)
    )
    return [public for public in found if public is not None]


ACTION_WORDS: dict[Action, str] = {
    "allow": "allowed",
    "warn": "allowed with a warning",
    "ask": "asks first",
    "block": "blocked",
}


def decision_of(case: TrustCase) -> Trusted:
    """Give the decision with its reasons, the row of the table last."""
    card, verdict, decision, waived = case
    phases: dict[Phase, Action] = {phase: decision.action(phase) for phase in PHASES}
    does = ", ".join(f"{phase} {ACTION_WORDS[action]}" for phase, action in phases.items())
    rule = f"{decision.level} and {verdict.level} (score {verdict.score}): {does}"
    told = tuple(
        reason for reason in decision.reasons if not reason.endswith((": block", ": ask", ": warn"))
    )
    return Trusted(
        name=card.name,
        digest=verdict.digest,
        state=decision.state,
        level=decision.level,
        reasons=(*told, *waived, rule),
        path=card.path,
        verdict=verdict.level,
        score=verdict.score,
        phases=phases,
        findings=leading_findings(verdict.findings, MAX_NAMED_FINDINGS),
    )


def full_decision_of(context: Context, case: TrustCase) -> Trusted:
    """Give the decision, and what else speaks against the skill: tools beyond its level, failures
    of late.
    """
    found = decision_of(case)
    beyond = tuple(
        f"{one.tool}: {one.message}" for one in escalations(tools_of(case.card), found.level)
    )
    odd = anomaly_in(_outcomes(context, found.name))
    reasons = (
        *found.reasons,
        *(f"declares a tool that its level denies: {text}" for text in beyond),
    )
    if odd:
        reasons = (*reasons, f"{odd.alarm}: {odd.message}")
    return found._replace(reasons=reasons, escalations=beyond, anomaly=odd.alarm if odd else "")


def tools_of(card: Card) -> Texts:
    """Give the tools that a skill declares."""
    return split_tools(skill_files.fields_of(card).get("allowed-tools"))[0]


def _outcomes(context: Context, name: str) -> list[str]:
    events = [
        event
        for event in log.tail(context, MAX_LOG_EVENTS)
        if event["name"] == name and event["event"] in _USES and "asked" not in event["details"]
    ]
    return ["success" if event["outcome"] in _FINE else "error" for event in events]


def lines_of(verdict: Verdict) -> list[str]:
    """Give the gravest findings, one line each."""
    return [
        shown_line(f"{f'{found.rule} {place_of(found)}'.rstrip()}: {found.why}")
        for found in leading_findings(verdict.findings, MAX_NAMED_FINDINGS)
    ]


def shown_line(text: str) -> str:
    """Give a text that stays on its line and sends nothing to a terminal: paths come from
    strangers.
    """
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
