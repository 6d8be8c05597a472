"""The load gate: may a skill be read, and what is noted down about it (CO-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import recording
from metier.errors import RefusedError
from metier.trust.decide import usable
from metier.vetting.cases import OVERRIDE, TOP, Case, Trusted, case_of, lines_of, plain, shown_line

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Card

HARMS = frozenset({"critical", "high", "medium"})
"""What is worth a word; below that a finding is a capability."""


def load(library: Library, card: Card, *, consent: bool = False) -> Trusted:
    """Let a skill be read, with a warning where one is due, or refuse it; `consent` is a person's yes where it asks."""
    case = case_of(library, card)
    verdict, decision = case.verdict, case.decision
    asked = decision.load == "ask"
    if decision.load == "block":
        raise _refused(library, case)
    if asked and not consent:
        raise _unasked(library, case)
    if verdict.digest is not None:  # without one there is nothing to hold the decision against: a person asked to see it
        usable(card, verdict.digest, decision, "load", consent=consent)
    if decision.load != "allow":
        warning = f"'{card.name}' is {_doubts(case)}; what it says is a stranger's word"
        if warning not in library.warnings:
            library.warnings.append(warning)
    if library.data and (asked or verdict.digest is None or recording.is_first_load(library, card, verdict.digest)):
        recording.record(library, "load", "allowed", name=card.name, digest=verdict.digest, path=card.path, level=decision.level,
                         verdict=verdict.level, action=decision.load, **_consent(asked=asked))  # fmt: skip
    return plain(case)


def _consent(*, asked: bool) -> dict[str, str]:
    """Say in the log that somebody was asked."""
    return {"consent": "a person asked to see it"} if asked else {}


def _doubts(case: Case) -> str:
    told = [reason for reason in plain(case).reasons[:-1] if not reason.startswith("level ")]
    told += [f"{found.rule} in {found.path}:{found.line}" for found in case.verdict.findings if found.severity in HARMS][:TOP]
    return f"of level {case.decision.level} ({'; '.join(told)})"


def _unasked(library: Library, case: Case) -> RefusedError:
    """Refuse what only a person may let in, and say how that is done."""
    card, verdict, _decision, _waived = case
    reasons = plain(case).reasons
    recording.record(library, "refuse", "asked", name=card.name, digest=verdict.digest, path=card.path, reason="; ".join(reasons),
                     asked="load")  # fmt: skip
    told = "\n".join(f"  {shown_line(line)}" for line in reasons)
    error = RefusedError(f"'{shown_line(card.name)}' needs your approval before it is loaded:\n{told}", code="ask",
                         hint=f"look at it: metier show {card.name}; then: metier trust approve {card.name}, "
                              "or metier trust project DIR for all skills of its project")  # fmt: skip
    error.details["reasons"] = list(reasons)
    return error


def _refused(library: Library, case: Case) -> RefusedError:
    card, verdict, decision, _waived = case
    reasons = plain(case).reasons
    recording.record(library, "refuse", "blocked", name=card.name, digest=verdict.digest, event="skill_load_blocked",
                     skill_name=card.name, skill_path=card.path, reason="; ".join(reasons), file_sha256=verdict.digest,
                     rules=[found.rule for found in verdict.findings[:TOP]])  # fmt: skip
    spoken = decision.level == "blocked"
    way = f"metier trust unblock {card.name}" if spoken else OVERRIDE.format(name=card.name)
    lines = [*reasons, *(() if spoken else lines_of(verdict))]
    told = "\n".join(f"  {shown_line(line)}" for line in lines)
    error = RefusedError(f"'{shown_line(card.name)}' may not be loaded:\n{told}", code="blocked",
                         hint=f"look at it: metier scan {card.path}; then, if you must: {way}")  # fmt: skip
    error.details["reasons"] = list(reasons)
    return error
