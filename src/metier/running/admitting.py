"""Whether a code skill may be called at all, and the very bytes that then are: read once, decided on, compiled (CO-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import preparing, recording, vetting
from metier.errors import RefusedError
from metier.execute import answers
from metier.execute.acts import is_destructive
from metier.execute.gate import Gated, Refusal, gate
from metier.vetting import code as loading
from metier.vetting.cases import case_of

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Card, Trust
    from metier.trust.decide import Decision
    from metier.vetting.cases import Case


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
    found = _gated(card, admission.code, case, asks=plan.asks)
    if isinstance(found, Refusal):
        recording.record(library, "refuse", "blocked", name=card.name, digest=case.verdict.digest, event="skill_load_blocked",
                         skill_name=card.name, skill_path=card.path, reason=found.reason, file_sha256=found.sha256)  # fmt: skip
        raise _blocked(card, found.reason)
    return found


def foreseen(library: Library, card: Card, *, asks: bool) -> Admitted | Refusal:
    """Say what the gates would make of a skill's bytes as they are now; noted down nowhere. `asks`: policy wants a yes."""
    case, admission = loading.look(library, card)
    if admission.code is None:
        return Refusal(admission.reason, admission.sha256)
    return _gated(card, admission.code, case, asks=asks)


def _gated(card: Card, code: bytes, case: Case, *, asks: bool) -> Admitted | Refusal:
    """Hold bytes against the decision that was made about them."""
    gated = gate(card.path.rpartition("/")[2], code, case.verdict.digest)
    if isinstance(gated, Refusal):
        return gated
    action = case.decision.action("run")
    if action == "block":
        return Refusal("; ".join(case.decision.reasons), gated.sha256)
    destructive = is_destructive(card.name, gated.facts.name, gated.stem, declared=gated.facts.destructive)
    return Admitted(card, gated, case.decision, asks or action == "ask", destructive)


def _blocked(card: Card, reason: str) -> RefusedError:
    hint = f"look at it: metier scan {card.path}; then, if you must: metier trust approve {card.name}"
    error = RefusedError(answers.not_loaded(card.name, f"It is blocked: {reason}"), code="skill-load-blocked", hint=hint)
    error.details["reasons"] = [reason]
    return error
