"""Decides whether a skill may be read, and notes that down (CO-10); it also looks at all listed
skills at once.

The look at all is advisory: what they might do, and what they ask for beyond their level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.audit import log
from metier.discover.io import disk
from metier.errors import MetierError, RefusedError
from metier.scan import service
from metier.scan.report import leading_findings, place_of
from metier.trust.assess import (
    MAX_NAMED_FINDINGS,
    OVERRIDE_COMMAND,
    TrustCase,
    assess_skill,
    decision_of,
    lines_of,
    shown_line,
    tools_of,
)
from metier.trust.decide import Usable, refuse_by_policy, usable, usable_unread
from metier.trust.decision_records import REPAIR, rests_on_damage, way_to_unblock
from metier.trust.tools import escalations

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Card, Finding, Texts


HARMFUL_SEVERITIES = frozenset({"critical", "high", "medium"})
"""What is worth a word; below that a finding is a capability."""
_REPAIR_FIRST = f"repair your decisions first: {REPAIR}"


def load(context: Context, card: Card, *, consent: bool = False) -> Usable[TrustCase]:
    """Let a skill be read, with a warning where one is due, or refuse it; `consent` is a person's
    yes where it asks.
    """
    case = assess_skill(context, card)
    verdict = case.verdict
    decision = case.decision
    asked = decision.load == "ask"
    if decision.load == "block":
        raise _refuse(context, case)
    if asked and not consent:
        raise _refuse_unasked(context, case)
    if verdict.digest is None:  # nothing to hold the decision against: a person asked to see it
        admitted = usable_unread(case, decision, consent=consent)
    else:
        admitted = usable(case, verdict.digest, decision, "load", consent=consent)
    if decision.load != "allow":
        warning = f"'{card.name}' {_doubts(case)}"
        if warning not in context.warnings:
            context.warnings.append(warning)
    if context.data and (
        asked or verdict.digest is None or log.is_first_load(context, card, verdict.digest)
    ):
        log.record(
            context,
            "load",
            "allowed",
            name=card.name,
            digest=verdict.digest,
            path=card.path,
            level=decision.level,
            verdict=verdict.level,
            action=decision.load,
            **({"consent": "a person asked to see it"} if asked else {}),
        )
    return admitted


WITHHELD_STATES = frozenset({"blocked", "quarantined"})


def held_inside(context: Context, card: Card, place: str) -> str:
    """Say of a file of one skill that it belongs to another one inside it, which is blocked or
    quarantined; nothing when it does not. Links are followed.
    """
    real = disk.real(place) + "/"
    own = disk.real(card.path)
    for other in context.catalogue.contents().cards:
        if other.state in WITHHELD_STATES and real.startswith(f"{own}/"):
            inner = disk.real(other.path)
            if inner.startswith(f"{own}/") and real.startswith(f"{inner}/"):
                return f"it belongs to '{shown_line(other.name)}', which is {other.state}"
    return ""


def _doubts(case: TrustCase) -> str:
    """Say where it comes from and what speaks against it; reasons may end with a command to copy."""
    told = [reason for reason in decision_of(case).reasons[:-1] if not reason.startswith("level ")]
    told += [
        f"{found.rule} in {place_of(found)}" if place_of(found) else found.rule
        for found in leading_findings(case.verdict.findings, MAX_NAMED_FINDINGS)
        if found.severity in HARMFUL_SEVERITIES
    ]
    level = case.decision.level
    source = DOUBTFUL_LEVELS.get(level, f"is {level}, but")
    why = f": {'; '.join(told)}" if told else ""
    return f"{source} treat its instructions with care{why}"


DOUBTFUL_LEVELS = {
    "community": "comes from an unverified source, so",
    "quarantined": "is quarantined, so",
}
"""What a skill's level says of its instructions, where that is a reason to be careful."""


def _refuse_unasked(context: Context, case: TrustCase) -> RefusedError:
    """Refuse what only a person may let in, and say how that is done."""
    card, verdict, decision, _waived = case
    reasons = decision_of(case).reasons
    log.record(
        context,
        "refuse",
        "asked",
        name=card.name,
        digest=verdict.digest,
        path=card.path,
        reason="; ".join(reasons),
        asked="load",
    )
    told = "\n".join(f"  {shown_line(line)}" for line in reasons)
    return RefusedError(
        f"'{shown_line(card.name)}' needs your approval before it is loaded:\n{told}",
        code="ask",
        hint=_REPAIR_FIRST
        if rests_on_damage(decision)
        else f"review it: metier show {card.name}. Then run: metier trust approve {card.name}, "
        "or metier trust project DIR for the whole project",
    ).with_details(reasons=list(reasons))


def _refuse(context: Context, case: TrustCase) -> RefusedError:
    card, verdict, decision, _waived = case
    reasons = decision_of(case).reasons
    log.record(
        context,
        "refuse",
        "blocked",
        name=card.name,
        digest=verdict.digest,
        event="skill_load_blocked",
        skill_name=card.name,
        skill_path=card.path,
        reason="; ".join(reasons),
        file_sha256=verdict.digest,
        rules=[found.rule for found in leading_findings(verdict.findings, MAX_NAMED_FINDINGS)],
    )
    if ruled := decision.ruled_on("load"):
        return refuse_by_policy(card.name, "can't be loaded", ruled)
    way = way_to_unblock(decision, card.name)
    spoken = decision.level == "blocked" or way == REPAIR
    if not spoken:
        way = OVERRIDE_COMMAND.format(name=card.name)
    lines = [*reasons, *(() if spoken else lines_of(verdict))]
    told = "\n".join(f"  {shown_line(line)}" for line in lines)
    return RefusedError(
        f"'{shown_line(card.name)}' can't be loaded:\n{told}",
        code="blocked",
        hint=_REPAIR_FIRST
        if way == REPAIR
        else f"review it: metier scan {card.path}. To override: {way}",
    ).with_details(reasons=list(reasons))


def check_escalations(context: Context) -> dict[str, Texts]:
    """Give the tools that listed skills declare beyond what their level allows (ZE-9)."""
    found: dict[str, Texts] = {}
    for card in context.catalogue.skills(all=True):
        if card.state != "invalid":
            tools = tools_of(card)
            beyond = escalations(tools, assess_skill(context, card).decision.level) if tools else ()
            if beyond:
                found[card.name] = tuple(one.message for one in beyond)
    return found


def scan_loaded(context: Context) -> list[tuple[str, tuple[Finding, ...]]]:
    """Scan every skill that is listed; give those with hits. Advisory; no marker in a skill exempts
    it (ZE-8).
    """
    hits: list[tuple[str, tuple[Finding, ...]]] = []
    for card in context.catalogue.skills():
        try:
            findings = service.scan_tree(context, card.path, card.name).findings
        except MetierError as error:
            context.warnings.append(f"'{card.name}' could not be scanned: {error.message}")
            continue
        harmful = tuple(found for found in findings if found.severity in HARMFUL_SEVERITIES)
        if harmful:
            hits.append((card.name, harmful))
    return hits
