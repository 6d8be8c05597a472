"""May this skill be used? `decide` answers from values alone, and `usable` turns a yes into what consumers accept.

The branches, first match first; every one of them is a row of the table test:

    these bytes are blocked, or its level is                            blocked
    these bytes are quarantined, or its level is                        quarantined
    other bytes of this name were blocked or quarantined                quarantined; after a block, loading asks
    other bytes of this name were approved                              ask
    it lies in a project that nobody trusts                             ask
    otherwise                                                           visible

A skill that cannot be read whole has no bytes to speak of: a block of its name holds, and whatever else is asked for.
Approving these very bytes lifts the last four. Then the table has its say: where loading is blocked or asked for,
the state follows, except under roots given by hand, which stay visible. No action is ever softer than the state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, NoReturn, TypeVar, final

from metier.errors import IntegrityError, RefusedError
from metier.trust.facts import Approval, Provenance, Standing, standing
from metier.trust.levels import SHIPPED, least, level_of_source, rank
from metier.trust.policy import ACTIONS, PHASES, Policy, stricter

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from metier.model import Action, Phase, Trust, Verdict

    Standings = Literal["visible", "ask", "quarantined", "blocked"]

__all__ = ["Approval", "Decision", "Policy", "Provenance", "Usable", "decide", "level_of", "usable"]

_T = TypeVar("_T")
_AT_LEAST: dict[str, Action] = {"visible": "allow", "ask": "ask", "quarantined": "allow", "blocked": "block"}
_OWN_FOLDERS = frozenset({"project", "user", "system", "admin"})


class Decision(NamedTuple):
    """Whether a skill may be used: its state, its level, what each phase does, and why."""

    state: Standings
    level: Trust
    install: Action
    load: Action
    run: Action
    reasons: tuple[str, ...]
    name: str
    digest: str | None
    """The bytes it is about; nothing when they were not looked at, and then nothing can be used."""

    def action(self, phase: Phase) -> Action:
        """Give what one phase does."""
        return {"install": self.install, "load": self.load, "run": self.run}[phase]


def decide(verdict: Verdict | None, provenance: Provenance, policy: Policy, approvals: Iterable[Approval], now: str,
           *, name: str, digest: str | None = None) -> Decision:  # fmt: skip
    """Decide about the skill of this name: pure, total, and never better for knowing less.

    `digest` says which bytes lie there when there is no verdict yet; a verdict about other bytes does not count.
    """
    digest = digest or (verdict.digest if verdict else None)
    if verdict is not None and verdict.digest != digest:
        verdict = None
    records = standing(approvals, name, digest, now)
    level, reasons = level_of(provenance, policy, name, digest)
    level = _level_after(records.same, level)
    state = _state(records, provenance, level, name, reasons)
    if state == "quarantined":
        level = least(level, "quarantined")
    approved = records.same if records.same is not None and records.same.state == "approved" else None
    actions = {phase: _action(verdict, policy, level, phase, approved) for phase in PHASES}
    if digest is None or (records.other is not None and records.other.state == "blocked"):
        actions["load"] = stricter(actions["load"], "ask")  # nobody can vouch for the first; the second must not gain by a byte
    state = _state_by_table(state, actions["load"], verdict, provenance)
    actions = {phase: stricter(action, _AT_LEAST[state]) for phase, action in actions.items()}
    if digest is None and verdict is not None:
        reasons.append("it cannot be read whole, so nothing about its bytes can be vouched for")
    reasons += _about_verdict(verdict, policy, approved, actions)
    return Decision(state, level, actions["install"], actions["load"], actions["run"], tuple(reasons), name, digest)


def level_of(provenance: Provenance, policy: Policy, name: str, digest: str | None) -> tuple[Trust, list[str]]:
    """Give the level that a skill's origin earns, before anybody spoke about it, with the reasons."""
    level, reasons = _level_by_place(provenance, policy)
    signed = provenance.signature
    if signed is not None and level == "community" and digest and (signed.name, signed.digest) == (name, digest):
        level = least("verified", signed.level or "verified")
        reasons.append(f"level {level}: signed by the trusted key {signed.key}")
    if provenance.pinned and provenance.pinned != digest:
        level = least(level, policy.hash_mismatch_level)
        reasons.append(f"level {level}: the content is not what its lock or manifest promises")
    return level, reasons


def _level_by_place(provenance: Provenance, policy: Policy) -> tuple[Trust, list[str]]:
    if provenance.scope == "external":
        level, told = least("community", policy.local_default), "its root was named by hand"
    elif provenance.source:
        level = level_of_source(provenance.source, policy.trusted_sources)
        told = "it comes with metier" if provenance.source == SHIPPED else f"it comes from {provenance.source}"
        if "pull/" in provenance.ref:
            # Anybody can send a pull request to a trusted repository, and its commits are then found in there.
            level, told = least("community", level), f"{told}, from a pull request"
    elif provenance.scope in _OWN_FOLDERS:
        level, told = policy.local_default, "its source is not known"
    else:
        level, told = least("community", policy.local_default), "its source is not known"
    if _is_untrusted(provenance):
        level = least("community", level)  # what a project says about the origin of its skills is only its word
    return level, [f"level {level}: {told}"]


def _level_after(record: Approval | None, level: Trust) -> Trust:
    """Give the level after a person spoke about these bytes. Approval raises to what it names, at most to trusted."""
    if record is None or level == "blocked":
        return level
    if record.state != "approved":
        return least(level, "quarantined" if record.state == "quarantined" else "blocked")
    raised = least("trusted", record.level)
    return raised if rank(raised) < rank(level) else level


def _state(records: Standing, provenance: Provenance, level: Trust, name: str, reasons: list[str]) -> Standings:
    """Go through the branches that do not need a verdict, and say which one it was."""
    same, other = records
    if same is not None:
        reasons.append(_spoken(same, "these bytes were" if same.name == name else f"these bytes, as '{same.name}', were"))
    if level == "blocked":
        return "blocked"
    if level == "quarantined":
        return "quarantined"
    if same is not None:
        return "visible"
    if other is not None and other.state != "approved":
        reasons.append(_spoken(other, "changed since it was") + "; it stays quarantined until these bytes are approved")
        return "quarantined"
    if other is not None:
        reasons.append(_spoken(other, "changed since it was") + "; approve these bytes to use it")
        return "ask"
    if _is_untrusted(provenance):
        where = provenance.project or "DIR"
        reasons.append(f"its project is not trusted; after a look at it, 'metier trust project {where}' offers its skills")
        return "ask"
    return "visible"


def _is_untrusted(provenance: Provenance) -> bool:
    return provenance.scope == "project" and not provenance.project_trusted  # decision 18


def _spoken(record: Approval, what: str) -> str:
    day, by = record.at[:10], f" by {record.by}" if record.by else ""
    return f"{what} {record.state} on {day}{by}" + (f": {record.reason}" if record.reason else "")


def _action(verdict: Verdict | None, policy: Policy, level: Trust, phase: Phase, approved: Approval | None) -> Action:
    """Look the table up, and let an approval of these bytes answer it (decision 3: what is pinned is exempt)."""
    action = policy.action(level, verdict.level if verdict else None, phase)
    if approved is None or verdict is None:
        return action
    if phase == "run" and approved.installed and not approved.accept_dangerous:
        return action  # whoever installed it let it in, and said nothing about running it
    if policy.counted(verdict.level) != "dangerous":
        return "allow" if action in {"warn", "ask"} else action
    # The only way past a dangerous verdict (decision 5): by name, for these bytes, to load and run, and never silent.
    accepted = approved.accept_dangerous and phase != "install" and level not in {"quarantined", "blocked"}
    return "warn" if accepted and action == "block" else action


def _state_by_table(state: Standings, load: Action, verdict: Verdict | None, provenance: Provenance) -> Standings:
    if verdict is None or provenance.scope == "external":
        return state
    if load == "block":
        return "blocked"
    return "ask" if load == "ask" and state == "visible" else state


def _about_verdict(verdict: Verdict | None, policy: Policy, approved: Approval | None, actions: dict[Phase, Action]) -> list[str]:
    """Say what the scan found, what it counts as, and what that leads to."""
    if verdict is None:
        return ["not scanned yet; nothing is installed, loaded or run before that"] if "block" in actions.values() else []
    counts, found = policy.counted(verdict.level), len(verdict.findings)
    reasons = []
    if verdict.level != "safe":
        told = f"the scan says {verdict.level}: {found} finding{'' if found == 1 else 's'}"
        first = f", first {verdict.findings[0].rule}" if found else ""
        reasons.append(told + first + (f"; the preset '{policy.preset}' counts it as {counts}" if counts != verdict.level else ""))
    if counts == "dangerous" and approved is not None and approved.accept_dangerous:
        reasons.append("a person accepted the danger of these bytes, for load and run")
    for action in ACTIONS[:0:-1]:
        phases = [phase for phase in PHASES if actions[phase] == action]
        if phases:
            reasons.append(f"{' and '.join(phases)}: {action}")
    return reasons


_MADE_HERE = object()
"""What `usable` shows the constructor; it is nobody else's."""


@final
class Usable(Generic[_T]):
    """A skill that may be used in one phase, with the decision that says so. Only `usable` makes one.

    Consumers take `Usable[…]` and nothing else, so that using a skill nobody decided about does not type-check; and
    since the constructor wants a token that never leaves this module, it does not run either. It cannot be changed,
    subclassed or unpickled: each of those would be a second way to one.
    """

    __slots__ = ("candidate", "decision", "phase")
    candidate: _T
    decision: Decision
    phase: Phase

    def __new__(cls, token: object, candidate: _T, decision: Decision, phase: Phase) -> Usable[_T]:
        """Refuse everybody but `usable`."""
        if token is not _MADE_HERE:
            raise TypeError("only metier.trust.decide.usable makes a Usable")
        made = super().__new__(cls)
        for field, value in (("candidate", candidate), ("decision", decision), ("phase", phase)):
            object.__setattr__(made, field, value)
        return made

    def __setattr__(self, field: str, value: object) -> NoReturn:
        """Refuse: what was decided about is what is used."""
        raise AttributeError(f"a Usable does not change: {field}")

    def __init_subclass__(cls) -> NoReturn:
        """Refuse: a subclass could have a constructor of its own."""
        raise TypeError("a Usable has no kinds")

    def __reduce__(self) -> NoReturn:
        """Refuse: a decision holds here and now, not in a file."""
        raise TypeError("a Usable is not stored; decide again")


def usable(candidate: _T, digest: str, decision: Decision, phase: Phase, *, consent: bool = False) -> Usable[_T]:
    """Turn a decision into permission to use these bytes in this phase; `consent` is a person's yes where it asks.

    `digest` is that of the bytes at hand, so that a decision about others opens nothing.
    """
    if decision.digest is None or decision.digest != digest:
        raise IntegrityError(f"'{decision.name}' is not what was decided about", hint=f"see 'metier why {decision.name}'")
    action = decision.action(phase)
    if action == "block":
        raise RefusedError(f"'{decision.name}' may not be used ({phase}): {'; '.join(decision.reasons)}", code="blocked",
                           hint=f"see 'metier why {decision.name}'")  # fmt: skip
    if action == "ask" and not consent:
        raise RefusedError(f"'{decision.name}' needs your approval ({phase}): {'; '.join(decision.reasons)}", code="ask",
                           hint=f"look at it, then 'metier trust approve {decision.name}', or answer with --yes")  # fmt: skip
    return Usable(_MADE_HERE, candidate, decision, phase)
