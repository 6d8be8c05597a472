"""Decides whether a code skill may be called, and hands on the very bytes that were decided on
(CO-10).

The bytes are read once and held against the digest that was decided on, so that nobody can exchange
the file between the decision and the compiler: what is given on is a value, and no file is read
again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import RefusedError
from metier.run import answers
from metier.run.confirm import is_destructive
from metier.run.plan import plan_script
from metier.standard.code import MAX_BYTES, CodeFacts, read_code
from metier.standard.digest import TreeFile, tree_digest
from metier.trust import code_gate
from metier.trust.assess import assess_skill
from metier.trust.source_rules import is_ruled

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Card, Digest, Trust
    from metier.trust.assess import TrustCase
    from metier.trust.decide import Decision


class Gated(NamedTuple):
    """A code skill that may be compiled: the very bytes, and what they say of themselves."""

    file: str
    data: bytes
    sha256: str
    digest: Digest
    facts: CodeFacts

    @property
    def stem(self) -> str:
        """The file's name without its end."""
        return self.file.rpartition(".")[0]


class CodeRefusal(NamedTuple):
    """Why bytes are not compiled."""

    reason: str
    sha256: str


def gate(file: str, data: bytes, digest: Digest | None) -> Gated | CodeRefusal:
    """Let bytes through that are a code skill, and of this digest; say why not otherwise."""
    content = hashlib.sha256(data)
    sha256 = content.hexdigest()
    possible = {  # a tree of this one file, which may be marked as a program
        tree_digest([TreeFile(file, len(data), content.digest(), executable)])
        for executable in (False, True)
    }
    if digest not in possible:
        return CodeRefusal("it is not what was decided on: it changed while it was read", sha256)
    if len(data) > MAX_BYTES:
        return CodeRefusal(f"it is larger than {MAX_BYTES // 1024} KiB", sha256)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return CodeRefusal(f"it is not UTF-8: byte {error.start}", sha256)
    facts = read_code(data, file.rpartition(".")[0])
    if facts is None:
        return CodeRefusal("it has no top-level run", sha256)
    wrong = next((one.message for one in facts.diagnostics if one.severity == "error"), "")
    return CodeRefusal(wrong, sha256) if wrong else Gated(file, data, sha256, digest, facts)


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


def admit(context: Context, card: Card) -> Admitted:
    """Let a code skill through every gate, or refuse it; a refusal of its bytes is noted down with
    their hash.
    """
    plan = plan_script(context, card.path, "").plan
    if not plan.allowed:
        raise RefusedError(
            f"'{answers.shown(card.name)}' may not be run: {'; '.join(plan.reasons)}",
            code="policy" if is_ruled(plan.reasons) else None,
            hint=f"see: metier why {card.name}",
        ).with_details(reasons=plan.reasons)
    admission = code_gate.load_code(context, card.path)  # which notes down its own refusals
    if admission.code is None:
        raise _blocked(card, admission.reason)
    case = assess_skill(context, card)
    found = _gate_card(card, admission.code, case, asks=plan.asks)
    if isinstance(found, CodeRefusal):
        log.record(
            context,
            "refuse",
            "blocked",
            name=card.name,
            digest=case.verdict.digest,
            event="skill_load_blocked",
            skill_name=card.name,
            skill_path=card.path,
            reason=found.reason,
            file_sha256=found.sha256,
        )
        raise _blocked(card, found.reason)
    return found


def foresee(context: Context, card: Card, *, asks: bool) -> Admitted | CodeRefusal:
    """Say what the gates would make of a skill's bytes as they are now; noted down nowhere. `asks`:
    policy wants a yes.
    """
    case, admission = code_gate.look_at_code(context, card)
    if admission.code is None:
        return CodeRefusal(admission.reason, admission.sha256)
    return _gate_card(card, admission.code, case, asks=asks)


def _gate_card(card: Card, code: bytes, case: TrustCase, *, asks: bool) -> Admitted | CodeRefusal:
    """Hold bytes against the decision that was made about them."""
    gated = gate(card.path.rpartition("/")[2], code, case.verdict.digest)
    if isinstance(gated, CodeRefusal):
        return gated
    action = case.decision.action("run")
    if action == "block":
        return CodeRefusal("; ".join(case.decision.reasons), gated.sha256)
    destructive = is_destructive(
        card.name, gated.facts.name, gated.stem, declared=gated.facts.destructive
    )
    return Admitted(card, gated, case.decision, asks or action == "ask", destructive)


def _blocked(card: Card, reason: str) -> RefusedError:
    return RefusedError(
        answers.not_loaded(card.name, f"It is blocked: {reason}"),
        code="skill-load-blocked",
        hint=f"look at it: metier scan {card.path}; then, if you must: "
        f"metier trust approve {card.name}",
    ).with_details(reasons=[reason])
