"""Whether a code skill may be called at all, and the very bytes that then are: read once, decided on, compiled (CO-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import preparing, recording, vetting
from metier.errors import RefusedError
from metier.execute import answers
from metier.execute.acts import is_destructive
from metier.execute.gate import Gated, gate
from metier.vetting.cases import case_of

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Card, Trust
    from metier.trust.decide import Decision


class Admitted(NamedTuple):
    """A code skill that may be called, once whoever has to agree does."""

    card: Card
    gated: Gated
    decision: Decision
    """What was decided about these very bytes."""
    asks: bool
    """Whether policy wants a person's yes to this very run."""
    destructive: bool
    """Whether consent must name the act (CO-18)."""

    @property
    def level(self) -> Trust:
        """How far its author is trusted."""
        return self.decision.level


def admitted(library: Library, card: Card) -> Admitted:
    """Let a code skill through every gate, or refuse it; a refusal of its bytes is noted down with their hash."""
    plan = preparing.plan_run(library, card.path, "")
    if not plan.allowed:
        error = RefusedError(f"'{answers.shown(card.name)}' may not be run: {'; '.join(plan.reasons)}",
                             hint=f"see: metier why {card.name}")  # fmt: skip
        error.details["reasons"] = list(plan.reasons)
        raise error
    admission = vetting.load_code(library, card.path)  # which notes down its own refusals
    if admission.code is None:
        raise _blocked(card, admission.reason)
    case = case_of(library, card)
    gated = gate(card.path.rpartition("/")[2], admission.code, case.verdict.digest)
    action = case.decision.action("run")
    reason = "; ".join(case.decision.reasons) if action == "block" else ""
    if not isinstance(gated, Gated) or reason:
        reason = reason if isinstance(gated, Gated) else gated.reason
        recording.record(library, "refuse", "blocked", name=card.name, digest=case.verdict.digest, event="skill_load_blocked",
                         skill_name=card.name, skill_path=card.path, reason=reason, file_sha256=gated.sha256)  # fmt: skip
        raise _blocked(card, reason)
    destructive = any(is_destructive(name, declared=gated.facts.destructive) for name in (card.name, gated.facts.name, gated.stem))
    return Admitted(card, gated, case.decision, plan.asks or action == "ask", destructive)


def _blocked(card: Card, reason: str) -> RefusedError:
    hint = f"look at it: metier scan {card.path}; then, if you must: metier trust approve {card.name}"
    error = RefusedError(answers.not_loaded(card.name, f"It is blocked: {reason}"), code="skill-load-blocked", hint=hint)
    error.details["reasons"] = [reason]
    return error
