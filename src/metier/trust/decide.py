"""May this skill be used? `decide` answers from values alone, and `usable` turns a yes into what
consumers accept.

The branches, first match first; every one of them is a row of the table test:

    these bytes are blocked, or its level is                            blocked
    these bytes are quarantined, or its level is                        quarantined
    other bytes of this name were blocked or quarantined                quarantined; after a block, loading asks
    other bytes of this name were approved, and it is not the user's own  ask; visible where it is a harmless edit
    it lies in a project that nobody trusts, and is not the user's own    ask
    metier's lock has other bytes for this place, and it is not the user's own  ask; visible where it is a harmless edit
    otherwise                                                           visible

An edit is harmless where the other bytes were installed in this very place, these are safe or were
not scanned yet, they can do no more than those, and no setting asks for every edit.

A skill that cannot be read whole has no bytes to speak of: a block of its name holds, and whatever
else is asked for. Approving these very bytes lifts the last five. Then the table has its say: where
loading is blocked or asked for, the state follows; under roots given by hand, what is only asked for
stays visible. No action is ever softer than the state.

Last come the rules that nothing answers: those of an organisation's policy, and those about sources and
publishers. What they forbid is blocked, whatever was approved, accepted or forced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, NoReturn, TypeVar, final

from metier.errors import IntegrityError, RefusedError
from metier.model import EDITED
from metier.trust.model import (
    SHIPPED_SOURCE,
    Approval,
    Provenance,
    StandingRecords,
    least,
    level_of_source,
    rank,
    standing_records,
)
from metier.trust.policy import ACTIONS, PHASES, TrustPolicy, stricter
from metier.trust.source_rules import Because, Publisher, because, judge_source, publisher_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from metier.model import Action, Phase, Texts, Trust, Verdict

    Standings = Literal["visible", "ask", "quarantined", "blocked"]

__all__ = [
    "Approval",
    "Decision",
    "Provenance",
    "TrustPolicy",
    "Usable",
    "decide",
    "level_of",
    "usable",
    "usable_unread",
]

_T = TypeVar("_T")
_AT_LEAST: dict[str, Action] = {
    "visible": "allow",
    "ask": "ask",
    "quarantined": "allow",
    "blocked": "block",
}
_WHY_OWN = {
    "place": "you marked it as your own",
    "project": "it is in a project you trust, and no tool installed it",
}
_OWN_FOLDERS = frozenset({"project", "user", "system", "admin"})


class Decision(NamedTuple):
    """Whether a skill may be used: its state, its level, what each phase does, and why."""

    state: Standings
    level: Trust
    install: Action
    load: Action
    run: Action
    reasons: Texts
    name: str
    digest: str | None
    """The bytes it is about; nothing when they were not looked at, and then nothing can be used."""
    ruled: tuple[tuple[Phase, Because], ...] = ()
    """What a policy forbids for good, and the line that does."""

    def ruled_on(self, phase: Phase) -> Texts:
        """Say what a policy has against one phase; nothing where it has nothing."""
        return tuple(dict.fromkeys(why.told for at, why in self.ruled if at == phase))

    def action(self, phase: Phase) -> Action:
        """Give what one phase does."""
        return {"install": self.install, "load": self.load, "run": self.run}[phase]


def decide(
    verdict: Verdict | None,
    provenance: Provenance,
    policy: TrustPolicy,
    approvals: Iterable[Approval],
    now: str,
    *,
    name: str,
    digest: str | None = None,
) -> Decision:
    """Decide about the skill of this name: pure, total, and never better for knowing less.

    `digest` says which bytes lie there when there is no verdict yet; a verdict about other bytes
    does not count.
    """
    digest = digest or (verdict.digest if verdict else None)
    if verdict is not None and verdict.digest != digest:
        verdict = None
    records = standing_records(approvals, name, digest, now)
    level, reasons = level_of(provenance, policy, name, digest)
    level = _level_after(records.same, level)
    edited = _edit_of(records, provenance, policy, verdict) if digest else None
    state = _state(records, provenance, level, name, reasons, edited)
    if state == "visible" and records.same is None and edited is None:
        state = _state_by_lock(provenance, policy, verdict, name, reasons)
    if state == "quarantined":
        level = least(level, "quarantined")
    approved = (
        records.same if records.same is not None and records.same.state == "approved" else None
    )
    actions = {phase: _action(verdict, policy, level, phase, approved) for phase in PHASES}
    if digest is None or (records.other is not None and records.other.state == "blocked"):
        actions["load"] = stricter(
            actions["load"], "ask"
        )  # nobody can vouch for the first; the second must not gain by a byte
    state = _state_by_table(state, actions["load"], verdict, provenance)
    actions = {phase: stricter(action, _AT_LEAST[state]) for phase, action in actions.items()}
    if digest is None and verdict is not None:
        reasons.append("some of its files can't be read, so it can't be verified")
    reasons += _about_verdict(verdict, policy, approved, actions)
    decision = Decision(
        state,
        level,
        actions["install"],
        actions["load"],
        actions["run"],
        tuple(reasons),
        name=name,
        digest=digest,
    )
    ruled = _rule_out(policy, provenance, verdict, decision)
    return _hold_to(decision, ruled) if ruled else decision


def _rule_out(
    policy: TrustPolicy, provenance: Provenance, verdict: Verdict | None, decision: Decision
) -> tuple[tuple[Phase, Because], ...]:
    """Give what nothing answers: a policy that cannot be read, the rules about sources, and what an
    organisation blocks.
    """
    if policy.damage:
        damage = Because("organisation", "", 0, "policy", policy.damage)
        return tuple((phase, damage) for phase in PHASES)
    found: list[tuple[Phase, Because]] = []
    if policy.source_rules:
        signed = provenance.signature
        bound = signed and (signed.name, signed.digest) == (decision.name, decision.digest)
        key = signed.key if signed and bound else ""
        source = provenance.source or provenance.came_from
        ruling = judge_source(policy.source_rules, source, key, provenance.ref)
        if ruling.refused:
            found += [(phase, why) for phase in PHASES for why in ruling.because]
    if verdict is None:
        return tuple(found)
    counts = policy.counted(verdict.level)
    levels = _levels_ruled(policy, provenance, decision)
    for one in policy.firm:
        rule = one.rule
        if rule.level in levels and rule.verdict == counts:
            why = f"{rule.phase} is blocked for {rule.level} skills that are {rule.verdict}"
            found.append((rule.phase, because(one.layer, one.place, "trust.rules", why)))
    if policy.never_accept and counts == "dangerous" and decision.level != "builtin":
        place = policy.never_accept.place
        why = "nobody may accept a dangerous skill"
        never = because("organisation", place, "trust.accept_dangerous", why)
        found += [(phase, never) for phase in PHASES]
    return tuple(found)


def _levels_ruled(policy: TrustPolicy, provenance: Provenance, decision: Decision) -> set[Trust]:
    """Give the levels whose rules hold: the one that a skill has, and the one that it has by its
    origin alone, whatever its user said of it since.
    """
    if not policy.firm:
        return set()
    origin = provenance._replace(own="" if provenance.source else provenance.own)
    by_origin, _reasons = level_of(origin, policy, decision.name, decision.digest)
    return {decision.level, by_origin}


def _hold_to(decision: Decision, ruled: tuple[tuple[Phase, Because], ...]) -> Decision:
    """Block what a policy forbids."""
    phases = {phase for phase, _why in ruled}
    told = tuple(dict.fromkeys(why.told for _phase, why in ruled))
    return decision._replace(
        state="blocked" if "load" in phases else decision.state,
        install="block" if "install" in phases else decision.install,
        load="block" if "load" in phases else decision.load,
        run="block" if "run" in phases else decision.run,
        reasons=(*told, *decision.reasons),
        ruled=ruled,
    )


def level_of(
    provenance: Provenance, policy: TrustPolicy, name: str, digest: str | None
) -> tuple[Trust, list[str]]:
    """Give the level that a skill's origin earns, before anybody spoke about it, with the
    reasons.
    """
    level, reasons = _level_by_place(provenance, policy)
    signed = provenance.signature
    if (
        signed is not None
        and level == "community"
        and digest
        and (signed.name, signed.digest) == (name, digest)
        and _may_publish(policy, provenance, signed.key)
    ):
        level = least("verified", signed.level or "verified")
        reasons.append(f"level {level}: signed by the trusted key {signed.key}")
    if provenance.pinned and provenance.pinned != digest:
        level = least(level, policy.hash_mismatch_level)
        reasons.append(f"level {level}: its content doesn't match its lock or manifest")
    return level, reasons


def _may_publish(policy: TrustPolicy, provenance: Provenance, key: str) -> bool:
    """Tell whether a key's signature counts for what comes from this source."""
    return isinstance(publisher_of(policy.source_rules, provenance.source, key), Publisher)


def is_own(provenance: Provenance) -> bool:
    """Tell whether a skill is the user's own. What the user said of its place holds anywhere; that
    it lies in the user's project says nothing where this machine fetched its bytes from elsewhere.
    Whatever comes from a pull request is a stranger's.
    """
    if provenance.own == "place":
        return "pull/" not in provenance.ref
    return (
        provenance.own == "project"
        and provenance.scope == "project"
        and provenance.project_trusted
        and not provenance.source
    )


def _level_by_place(provenance: Provenance, policy: TrustPolicy) -> tuple[Trust, list[str]]:
    if is_own(provenance) and policy.local_default != "blocked":  # which an approval lifts neither
        return "own", [f"level own: {_WHY_OWN[provenance.own]}"]
    if provenance.scope == "external":
        level = least("community", policy.local_default)
        told = "its root was named by hand"
    elif provenance.source:
        level = level_of_source(provenance.source, policy.trusted_sources)
        told = (
            "it comes with metier"
            if provenance.source == SHIPPED_SOURCE
            else f"it comes from {provenance.source}"
        )
        if "pull/" in provenance.ref:
            # Anybody can send a pull request to a trusted repository, and its commits are then
            # found in there.
            level = least("community", level)
            told = f"{told}, from a pull request"
    elif provenance.scope in _OWN_FOLDERS:
        level = policy.local_default
        told = "unknown source"
    else:
        level = least("community", policy.local_default)
        told = "unknown source"
    if _is_untrusted(provenance):
        level = least(
            "community", level
        )  # what a project says about the origin of its skills is only its word
    return level, [f"level {level}: {told}"]


def _level_after(record: Approval | None, level: Trust) -> Trust:
    """Give the level after a person spoke about these bytes. Approval raises to what it names, at
    most to trusted.
    """
    if record is None or level == "blocked":
        return level
    if record.state != "approved":
        return least(level, "quarantined" if record.state == "quarantined" else "blocked")
    raised = least("trusted", record.level)
    return raised if rank(raised) < rank(level) else level


def _edit_of(
    records: StandingRecords, provenance: Provenance, policy: TrustPolicy, verdict: Verdict | None
) -> Approval | None:
    """Give the record of an installation that these bytes are a harmless edit of; nothing where
    they are none.
    """
    if policy.edits != "allow" or (verdict is not None and verdict.level != "safe"):
        return None
    return next(
        (
            one
            for one in records.others
            if one.installed and one.state == "approved" and one.digest == provenance.edited_from
        ),
        None,
    )


def _state(
    records: StandingRecords,
    provenance: Provenance,
    level: Trust,
    name: str,
    reasons: list[str],
    edited: Approval | None,
) -> Standings:
    """Go through the branches, and say which one it was."""
    same, other = records.same, records.other
    if same is not None:
        reasons.append(
            _spoken(
                same,
                "this version was"
                if same.name == name
                else f"this version, as '{same.name}', were",
            )
        )
    if level == "blocked":
        return "blocked"
    if level == "quarantined":
        return "quarantined"
    if same is not None:
        return "visible"
    if other is not None and other.state != "approved":
        about = (
            _spoken(other, "changed since it was")
            if other.name == name
            else f"its name looks like '{other.name}', which you {other.state}"
        )
        reasons.append(f"{about}; it stays quarantined until you approve this version")
        return "quarantined"
    if edited is not None:
        reasons.append(f"{EDITED} on {edited.at[:10]}")
        return "visible"
    if other is not None and not is_own(provenance):
        reasons.append(_spoken(other, "changed since it was") + f". {_approve_it(name)}")
        return "ask"
    if _is_untrusted(provenance) and not is_own(provenance):
        where = provenance.project or "DIR"
        reasons.append(
            f"you haven't trusted this project yet. Review it, then run: metier trust project {where}"
        )
        return "ask"
    return "visible"


def _state_by_lock(
    provenance: Provenance,
    policy: TrustPolicy,
    verdict: Verdict | None,
    name: str,
    reasons: list[str],
) -> Standings:
    """Hold a skill that nothing else speaks against to what metier's lock has for its place."""
    if not provenance.changed or is_own(provenance):
        return "visible"
    safe = verdict is None or verdict.level == "safe"
    if provenance.changed == "harmless" and safe and policy.edits == "allow":
        reasons.append(EDITED)
        return "visible"
    reasons.append(
        "metier.lock can't be read, so metier can't tell whether this changed after it was "
        f"installed. Fix the lock, or run: metier trust approve {name}"
        if provenance.changed == "unknown"
        else f"changed since it was installed. {_approve_it(name)}"
    )
    return "ask"


def _approve_it(name: str) -> str:
    return f"Review it, then run: metier trust approve {name}"


def _is_untrusted(provenance: Provenance) -> bool:
    return provenance.scope == "project" and not provenance.project_trusted  # MT-18


def _spoken(record: Approval, what: str) -> str:
    day = record.at[:10]
    by = f" by {record.by}" if record.by else ""
    return f"{what} {record.state} on {day}{by}" + (f": {record.reason}" if record.reason else "")


def _action(
    verdict: Verdict | None,
    policy: TrustPolicy,
    level: Trust,
    phase: Phase,
    approved: Approval | None,
) -> Action:
    """Look the table up, and let an approval of these bytes answer it (MT-3: what is pinned
    is exempt).
    """
    action = policy.action(level, verdict.level if verdict else None, phase)
    if approved is None or verdict is None:
        return action
    if phase == "run" and approved.installed and not approved.accept_dangerous:
        return action  # whoever installed it let it in, and said nothing about running it
    if policy.counted(verdict.level) != "dangerous":
        return "allow" if action in {"warn", "ask"} else action
    # The only way past a dangerous verdict (MT-5): by name, for these bytes, to load and run,
    # and never silent.
    accepted = (
        approved.accept_dangerous and phase != "install" and level not in {"quarantined", "blocked"}
    )
    return "warn" if accepted and action == "block" else action


def _state_by_table(
    state: Standings, load: Action, verdict: Verdict | None, provenance: Provenance
) -> Standings:
    if verdict is None:
        return state
    if load == "block":
        return "blocked"
    named = provenance.scope == "external" and verdict.digest is not None
    asks = load == "ask" and state == "visible" and not named
    return "ask" if asks else state


def _about_verdict(
    verdict: Verdict | None,
    policy: TrustPolicy,
    approved: Approval | None,
    actions: dict[Phase, Action],
) -> list[str]:
    """Say what the scan found, what it counts as, and what that leads to."""
    if verdict is None:
        return (
            ["not scanned yet; metier scans a skill before it installs, loads or runs it"]
            if "block" in actions.values()
            else []
        )
    counts = policy.counted(verdict.level)
    reasons = []
    if verdict.level != "safe":
        from metier.scan.report import say_verdict

        reasons.append(
            say_verdict(verdict.level, verdict.findings)
            + (
                f"; the preset '{policy.preset}' counts it as {counts}"
                if counts != verdict.level
                else ""
            )
        )
    if counts == "dangerous" and approved is not None and approved.accept_dangerous:
        reasons.append("you accepted the risk of this version, for load and run")
    for action in ACTIONS[:0:-1]:
        phases = [phase for phase in PHASES if actions[phase] == action]
        if phases:
            reasons.append(f"{' and '.join(phases)}: {action}")
    return reasons


_MADE_HERE = object()
"""What `usable` shows the constructor; it is nobody else's."""


@final
class Usable(Generic[_T]):
    """A skill that may be used in one phase, with the decision that says so. Only `usable` makes
    one.

    Consumers take `Usable[…]` and nothing else, so that using a skill nobody decided about does not
    type-check; and since the constructor wants a token that never leaves this module, it does not
    run either. It cannot be changed, subclassed or unpickled: each of those would be a second way
    to one.
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


def refuse_by_policy(name: str, what: str, ruled: Texts) -> RefusedError:
    """Make the error for what a policy forbids: every door says the same."""
    return RefusedError(
        f"'{name}' {what}: {'; '.join(ruled)}",
        code="policy",
        hint=f"see which line decides: metier policy explain {name}",
    ).with_details(reasons=list(ruled))


def usable_unread(candidate: _T, decision: Decision, *, consent: bool) -> Usable[_T]:
    """Let a person see a skill that cannot be read whole, and that therefore nobody can vouch for:
    only to look at, and only with `consent`, where policy does not forbid it.
    """
    if decision.digest is not None or not consent or decision.load == "block":
        raise IntegrityError(
            f"'{decision.name}' changed after it was checked",
            hint=f"see why: metier why {decision.name}",
        )
    return Usable(_MADE_HERE, candidate, decision, "load")


def usable(
    candidate: _T, digest: str, decision: Decision, phase: Phase, *, consent: bool = False
) -> Usable[_T]:
    """Turn a decision into permission to use these bytes in this phase; `consent` is a person's yes
    where it asks.

    `digest` is that of the bytes at hand, so that a decision about others opens nothing.
    """
    if decision.digest is None or decision.digest != digest:
        raise IntegrityError(
            f"'{decision.name}' changed after it was checked",
            hint=f"see why: metier why {decision.name}",
        )
    action = decision.action(phase)
    if ruled := decision.ruled_on(phase):
        raise refuse_by_policy(decision.name, f"can't be used ({phase})", ruled)
    if action == "block":
        raise RefusedError(
            f"'{decision.name}' can't be used ({phase}): {'; '.join(decision.reasons)}",
            code="blocked",
            hint=f"see why: metier why {decision.name}",
        )
    if action == "ask" and not consent:
        raise RefusedError(
            f"'{decision.name}' needs your approval ({phase}): {'; '.join(decision.reasons)}",
            code="ask",
            hint=f"review it, then run: metier trust approve {decision.name}, or pass --yes",
        )
    return Usable(_MADE_HERE, candidate, decision, phase)
