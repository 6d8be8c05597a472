"""On which terms a verdict counts: the policy's preset, waivers in force, a baseline. Never the
skill's own word.
"""

from __future__ import annotations

from metier.discover.io import disk
from metier.errors import ConfigError, NotFoundError, RefusedError, UsageError
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.scan.cache import HARMS
from metier.settings.merge import ELSEWHERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.context import Context
    from metier.model import Digest, Finding, JsonObject, Level, Verdict
    from metier.scan.cache import PlainVerdict
    from metier.scan.report import Baseline
    from metier.trust.policy import TrustPolicy
    from metier.trust.waivers import GivenWaiver

    Rejudge = Callable[[PlainVerdict, Callable[[Iterable[Finding]], frozenset[str]]], Verdict]

BASELINE = "baseline"
MAX_BASELINE_BYTES = 32 << 20


class Waived(NamedTuple):
    """A finding that does not count, the reason, and who says so: a configuration file, or the
    baseline.
    """

    finding: Finding
    reason: str
    told_by: str


class Scanned(NamedTuple):
    """The result of `scan` for one skill: the level under the policy, and the findings that count."""

    path: str
    name: str
    digest: Digest | None
    level: Level
    score: int
    findings: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    ruleset: str
    plain: Level
    """The level before the policy had its say."""

    @property
    def reason(self) -> str:
        """Say in one line why it has its level, as every door does."""
        from metier.scan.report import reason_of, reassure_all_the_same

        if self.level == "safe" and self.waived:
            return reassure_all_the_same(len(self.waived), self.findings)
        return reason_of(self.level, self.findings)


def _nothing(_digest: Digest | None) -> tuple[Finding, ...]:
    return ()


class ScanTerms(NamedTuple):
    """What holds for one scan."""

    ruleset: str
    policy: TrustPolicy | None = None
    """None where nothing is configured and nobody asked for another: then every verdict counts as
    it is."""
    baseline: Baseline | None = None
    now: str = ""
    is_foreign: Callable[[str], bool] = bool
    """Tells of a path whether it lies in a project that nobody trusts."""
    baseline_given: bool = False
    """Whether the baseline was named for this very scan, rather than in configuration."""
    observed: Callable[[Digest | None], tuple[Finding, ...]] = _nothing
    """Gives what an observation of the same bytes found."""

    def apply(self, judged: PlainVerdict, again: Rejudge) -> Scanned:
        """Give what counts of a plain verdict; where findings are set aside, the tree is judged
        again without them.
        """
        path, name, digest, level, score, findings, _lost = judged
        waived = self.waived(name, path, findings)
        if waived:
            verdict = again(
                judged,
                lambda found: frozenset(
                    one.finding.fingerprint for one in self.waived(name, path, found)
                ),
            )
            digest, level, score, findings = (
                verdict.digest,
                verdict.level,
                verdict.score,
                verdict.findings,
            )
        done = self.observed(digest)
        if done:
            accepted = self.waived(name, path, done)
            waived += accepted
            without = {one.finding.fingerprint for one in accepted}
            done = tuple(one for one in done if one.fingerprint not in without)
            level, score = add_observed(level, score, done)
            findings = in_order((*findings, *done))
        counted = self.policy.counted(level) if self.policy is not None else level
        return Scanned(
            path=path,
            name=name,
            digest=digest,
            level=counted,
            score=score,
            findings=findings,
            waived=waived,
            ruleset=self.ruleset,
            plain=level,
        )

    def waived(self, name: str, path: str, findings: Iterable[Finding]) -> tuple[Waived, ...]:
        """Give the findings that do not count, with the reason.

        A name is a skill's own word: in a project that nobody trusts, what was accepted for a name
        counts for nothing.
        """
        if not self.policy or not (self.policy.waivers or self.baseline):
            return ()
        foreign = self.is_foreign(path)
        found = []
        if self.policy.waivers:
            from metier.trust.waivers import set_aside_waived

            holding = [waiver for waiver in self.policy.waivers if not (foreign and waiver.name)]
            kept, waived = set_aside_waived(findings, name, holding, self.now)
            found = [
                Waived(finding, f"{by.reason} (until {by.expires})", by.told_by)
                for finding, by in waived
            ]
            findings = kept
        if self.baseline is not None and (self.baseline_given or not foreign):
            found += [
                Waived(one, "accepted in the baseline", BASELINE)
                for one in findings
                if self.baseline.accepts(name, one.fingerprint)
            ]
        return tuple(found)


OBSERVED_SCORES = {"critical": 97, "high": 90, "medium": 45}
"""What a finding of an observation adds up to at the least."""


def add_observed(level: Level, score: int, done: Iterable[Finding]) -> tuple[Level, int]:
    """Give the level and score of a text together with what was done: a deed never lowers them."""
    for one in done:
        score = max(score, OBSERVED_SCORES.get(one.severity, 0))
        if one.severity in {"critical", "high"}:
            level = "dangerous"
        elif one.severity == "medium" and level == "safe":
            level = "caution"
    return level, score


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Put the gravest findings first; of equals, what was done before what was read."""
    return tuple(
        sorted(findings, key=lambda one: (HARMS.index(one.severity), not one.rule.startswith("OB")))
    )


def observed_findings(context: Context) -> Callable[[Digest | None], tuple[Finding, ...]]:
    """Give what looks up observations by digest."""
    if not context.data:
        return _nothing
    from metier.scan.io.observed_files import read_observation

    def look_up(digest: Digest | None) -> tuple[Finding, ...]:
        kept = read_observation(context.data or "", digest) if digest else None
        return tuple(kept["findings"]) if kept else ()

    return look_up


def read_terms(
    context: Context, ruleset: str, policy: str | None, baseline: str | None
) -> ScanTerms:
    """Give the terms of one scan; whatever configuration asked for and may not have becomes a
    warning.
    """
    observed = observed_findings(context)
    if policy is None and baseline is None and not context.trust_sources():
        return ScanTerms(ruleset, observed=observed)
    from metier.trust.waivers import lapsed

    chosen = _choose_policy(context, policy)
    now = _date_of(context.ports.clock_ns())
    for problem in (*chosen.problems, *lapsed(chosen.waivers, now)):
        text = f"{problem.path}: {problem.code} {problem.message}"
        if text not in context.warnings:
            context.warnings.append(text)
    accepted = _read_baseline(context, chosen, baseline)
    strangers = _foreign_test(context) if chosen.waivers or accepted is not None else bool
    return ScanTerms(
        ruleset,
        chosen,
        accepted,
        now,
        strangers,
        baseline_given=baseline is not None,
        observed=observed,
    )


_OWN_SCOPES = frozenset({"user", "system", "admin", "plugin"})


def _foreign_test(context: Context) -> Callable[[str], bool]:
    """Give what tells whether a skill lies in a project that nobody trusts, whichever folder one
    asks from.
    """
    from metier.discover.scopes import project_root_candidates
    from metier.settings.io import project_root
    from metier.trust.io import decisions_file

    trusts = decisions_file.read_decisions(context.data).trusts
    roots = context.catalogue.roots()
    markers = context.settings.root_markers

    def is_foreign(path: str) -> bool:
        for root in roots:
            if f"{path}/".startswith(root.location.rstrip("/") + "/") and (
                root.project or root.scope in _OWN_SCOPES
            ):
                return bool(root.project) and not trusts(root.project)
        project = project_root(project_root_candidates(disk.real(path)), markers)
        return any(disk.is_there(f"{project}/{marker}") for marker in markers) and not trusts(
            project
        )

    return is_foreign


def _choose_policy(context: Context, preset: str | None) -> TrustPolicy:
    if preset is None:
        return context.trust_policy
    from metier.settings.merge import ConfigSource
    from metier.trust.policy import PRESETS, read_trust

    if preset not in PRESETS:
        raise UsageError(
            f"there is no policy '{preset}'", hint=f"choose one of: {', '.join(PRESETS)}"
        )
    return read_trust(
        {"policy": preset}, ConfigSource("session", "--policy", "", {}), context.trust_policy
    )


def _read_baseline(context: Context, policy: TrustPolicy, given: str | None) -> Baseline | None:
    if given is not None:
        path = disk.absolute(given, context.cwd, context.home)
        if disk.kind_of(path) is None:
            raise NotFoundError(
                f"there is no baseline at {given}",
                hint="make one with: metier scan PATH --write-baseline FILE",
            )
    else:
        path = baseline_file(context, policy)
    if not path:
        return None
    from metier.scan.report import read_baseline

    head = disk.read_head(disk.real(path), MAX_BASELINE_BYTES)
    if head.fault or head.size > MAX_BASELINE_BYTES:
        what = head.message or f"it has more than {MAX_BASELINE_BYTES:,} bytes"
        raise ConfigError(
            f"cannot read the baseline {path}: {what}", hint="check its place and its permissions"
        )
    return read_baseline(head.data.decode("utf-8", "replace"), path)


def baseline_file(context: Context, policy: TrustPolicy) -> str:
    """Give the path of the baseline that configuration names; nothing when it names none."""
    if not policy.baseline:
        return ""
    return disk.absolute(policy.baseline, _folder_of_baseline(context, policy), context.home)


def _folder_of_baseline(context: Context, policy: TrustPolicy) -> str:
    """Give the folder of the configuration file that names the baseline: a relative path is meant
    from there.
    """
    layers = {"organisation"} if policy.never_accept else {"organisation", "user", "session"}
    sources = [source for source in context.trust_sources() if source.layer in layers]
    naming = [source.path for source in sources if "baseline" in source.values[ELSEWHERE]]
    return naming[-1].rpartition("/")[0] if naming else context.cwd


def _date_of(clock_ns: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(clock_ns // 1_000_000_000, tz=UTC).date().isoformat()


# --- findings that do not count

WAIVER_DAYS = 90
"""How long a waiver applies whose last day nobody gives."""


def waivers(context: Context) -> list[GivenWaiver]:
    """List the waivers of all layers of configuration, each with whether it applies."""
    from metier.trust.io import decisions_file
    from metier.trust.waivers import GivenWaiver, why_not

    now = decisions_file.now()
    return [
        GivenWaiver(*waiver, state=why_not(waiver, now) or "in force")
        for waiver in context.trust_policy.waivers
    ]


def waive(
    context: Context, rule: str, name: str, *, reason: str = "", until: str = ""
) -> GivenWaiver:
    """Accept a rule's findings in one skill, for a reason and until a day, in the user's
    configuration.
    """
    from datetime import timedelta

    from metier.audit import log
    from metier.audit.redact import redact_text
    from metier.trust.io import decisions_file
    from metier.trust.io.decisions_file import person_of
    from metier.trust.waivers import day_of

    card = context.catalogue.resolve(name)
    _check_rule(context, rule)
    told = redact_text(" ".join(reason.split()))
    if not told:
        raise UsageError(
            "a waiver needs a reason", hint="add --reason TEXT. It is kept with the waiver"
        )
    today = day_of(decisions_file.now())
    assert today is not None
    last = day_of(until) if until else today + timedelta(days=WAIVER_DAYS)
    if last is None or (until and len(until) != len("YYYY-MM-DD")):
        raise UsageError(f"'{until}' is not a date", hint="write --until YYYY-MM-DD")
    if last < today:
        raise UsageError(f"{until} is in the past", hint="give the last day on which it applies")
    by = person_of(context)
    _write_waiver(
        context,
        rule,
        card.name,
        {"rule": rule, "name": card.name, "reason": told, "expires": last, "by": by},
    )
    log.record(
        context,
        "waive",
        "approved",
        name=card.name,
        path=card.path,
        rule=rule,
        reason=told,
        until=last.isoformat(),
        by=by,
    )
    made = (rule, card.name, context.config)
    return next(one for one in waivers(context) if (one.rule, one.name, one.told_by) == made)


def take_back_waiver(context: Context, rule: str, name: str) -> None:
    """Let a rule's findings in one skill count again."""
    from metier.audit import log
    from metier.trust.io.decisions_file import person_of

    if not _write_waiver(context, rule, name, None):
        raise RefusedError(
            f"there is no waiver for {rule} in '{name}' in your configuration",
            hint="list them: metier waive",
        )
    log.record(context, "waive", "revoked", name=name, rule=rule, by=person_of(context))


def _write_waiver(context: Context, rule: str, name: str, waiver: JsonObject | None) -> bool:
    from metier.settings.io import write_waiver

    found = write_waiver(context.own_config(), rule, name, waiver)
    with context.lock:
        context.read_settings()
        context.catalogue.rejudge()
    return found


def _check_rule(context: Context, rule: str) -> None:
    from metier.errors import closest
    from metier.scan.ruleset import OBSERVED_RULES, RULES

    known = {
        *RULES,
        *OBSERVED_RULES,
        *(one.id for each in context.scan_analyzers() for one in each.rules),
    }
    if rule not in known:
        near = closest(rule, sorted(known))
        raise UsageError(
            f"there is no rule {rule}",
            hint=f"did you mean {near}?"
            if near
            else "see the rules a scan found: metier scan PATH",
        )
