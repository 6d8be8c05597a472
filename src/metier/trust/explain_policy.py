"""Says which policies hold here, which line of whose policy decides about a skill or a source, and
signs a policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.audit.redact import redact_text
from metier.discover.io import disk
from metier.errors import ConfigError, NotFoundError, RefusedError, UsageError
from metier.settings.io import POLICY_FILE, parse_config
from metier.trust import sign
from metier.trust.approve import refuse_under_damage
from metier.trust.assess import assess_skill, decision_of, fetched_from, signed
from metier.trust.io import key_files, policy_file
from metier.trust.organisation import read_policy
from metier.trust.policy import PHASES
from metier.trust.source_rules import Because, because, judge_source

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Action, Phase, Texts
    from metier.trust.decide import Decision
    from metier.trust.organisation import PolicyInForce
    from metier.trust.source_rules import PolicyLine


class ShownPolicy(NamedTuple):
    """One policy that holds here."""

    path: str
    name: str
    signed_by: str
    """The key that signed it; nothing where its owner alone vouches for it."""
    lines: tuple[dict[str, str], ...]


class PolicyReport(NamedTuple):
    """The policies that hold here."""

    policies: tuple[ShownPolicy, ...]
    damage: str
    """Why nothing may be installed, approved, loaded or run; nothing where all is well."""
    mandatory: Texts
    rules: Texts
    """What the user's and the project's own files say about sources and publishers."""


class Explained(NamedTuple):
    """What the policies say about one skill or one source, and the lines that decide."""

    name: str
    decision: str
    """`allow`, `ask` or `block`: the strictest of the three phases."""
    because: tuple[Because, ...]
    phases: dict[Phase, Action]
    reasons: Texts


def show(context: Context) -> PolicyReport:
    """Give the policies that hold here, with the line of each thing they say."""
    force = context.policy
    policy = context.trust_policy
    keys = dict(force.signed_by) if force else {}
    own = [one for one in policy.source_rules if one.layer != "organisation"]
    rules = [
        f"{rule}: '{line.text}' ({line.place})"
        for one in own
        for rule, lines in (
            ("trust.allow_sources", one.allow or ()),
            ("trust.deny_sources", one.deny),
            ("trust.signed_sources", one.signed),
        )
        for line in lines
    ]
    rules += [
        f"trust.publishers: '{rule.pattern}' by {', '.join(rule.keys)} ({rule.place})"
        for one in own
        for rule in one.publishers
    ]
    return PolicyReport(
        tuple(
            ShownPolicy(one.path, one.name, keys.get(one.path, ""), tuple(map(_row, one.lines)))
            for one in (force.policies if force else ())
        ),
        force.damage if force else "",
        tuple(line.text for _one, line in force.mandatory) if force else (),
        tuple(rules),
    )


def _row(line: PolicyLine) -> dict[str, str]:
    return {"says": line.text, "place": line.place}


def explain(context: Context, name: str) -> Explained:
    """Say which line decides about a skill that is here, or about a source."""
    try:
        card = context.catalogue.resolve(name)
    except NotFoundError:
        if not any(mark in name for mark in "/:"):
            raise
        return _explain_source(context, name)
    case = assess_skill(context, card)
    decision = case.decision
    phases: dict[Phase, Action] = {phase: decision.action(phase) for phase in PHASES}
    reasons = decision_of(case).reasons
    ruled = tuple(dict.fromkeys(why for _phase, why in decision.ruled))
    if not ruled:
        found = signed(context, card.name, case.verdict.digest)
        source, ref, _commit = fetched_from(context, case.verdict.digest)
        ruling = judge_source(
            context.trust_policy.source_rules, source, found.key if found else "", ref
        )
        ruled = (*ruling.because, *_table_lines(context, decision, case.verdict.level))
    mandatory = _mandatory_lines(context.policy, card.name)
    worst = _worst(phases)
    return Explained(card.name, worst, (*ruled, *mandatory), phases, reasons)


def _worst(phases: dict[Phase, Action]) -> str:
    order = ("allow", "warn", "ask", "block")
    worst = max(phases.values(), key=order.index)
    return "allow" if worst == "warn" else worst


def _table_lines(context: Context, decision: Decision, verdict: str) -> tuple[Because, ...]:
    """Give the rules of a policy's table that speak of this skill without forbidding it for good."""
    counts = context.trust_policy.counted(verdict)  # type: ignore[arg-type]  # a verdict has one of the levels
    return tuple(
        because(
            rule.layer,
            rule.place,
            "trust.rules",
            f"{rule.rule.phase} is at least '{rule.rule.action}' for {rule.rule.level} skills "
            f"that are {rule.rule.verdict}",
        )
        for one in (context.policy.policies if context.policy else ())
        for rule in one.firm
        if (rule.rule.level, rule.rule.verdict) == (decision.level, counts)
    )


def _mandatory_lines(force: PolicyInForce | None, name: str) -> tuple[Because, ...]:
    return tuple(
        because("organisation", line.place, "skills.mandatory", "it is mandatory")
        for _one, line in (force.mandatory if force else ())
        if line.text == name
    )


def _explain_source(context: Context, source: str) -> Explained:
    """Say whether skills may come from a source at all; what each may do then is another
    question.
    """
    policy = context.trust_policy
    source = redact_text(source)  # an address with a password is no source, and is not repeated
    refused, ruled = judge_source(policy.source_rules, source.removeprefix("git+"))
    if policy.damage:
        ruled = (Because("organisation", "", 0, "policy", policy.damage), *ruled)
        refused = True
    action: Action = "block" if refused else "allow"
    return Explained(
        source, action, ruled, dict.fromkeys(PHASES, action), tuple(one.told for one in ruled)
    )


def require(context: Context, said: str) -> None:
    """Hold everything from now on to a policy that was named; `default` is the one of this
    machine, which must be there then.
    """
    if said != "default":
        context.add_policy(said)
    elif context.policy is None:
        raise NotFoundError(
            f"there is no policy at {POLICY_FILE}", hint="name a file: --policy FILE"
        )
    refuse_under_damage(context)


def sign_policy(context: Context, file: str, key: str = "") -> tuple[str, str]:
    """Sign a policy, once it is one; give the key and the file of the signature."""
    path = disk.absolute(file, context.cwd, context.home)
    data = key_files.read_file(path)
    try:
        read_policy(parse_config(path, "organisation", data))
    except ConfigError as error:
        raise UsageError(f"not signed: {error.message}", hint=error.hint) from error
    key = sign.choose_key(context, key)
    private = key_files.read_key(context.data, key, "key")
    if private is None:
        raise RefusedError(f"the key '{key}' can't be read", hint="check your keys folder")
    envelope = sign.sign_detached(sign.POLICY_TYPE, data, private)
    place = policy_file.write_signature(path, envelope)
    log.record(context, "sign", "done", name=path.rpartition("/")[2], key=key, path=path)
    return key, place
