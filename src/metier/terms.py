"""On which terms a verdict counts: the policy's preset, waivers in force, a baseline. Never the skill's own word."""

from __future__ import annotations

from metier.configuration import trust_sources
from metier.discover import disk
from metier.errors import ConfigError, NotFoundError, UsageError
from metier.light import TYPE_CHECKING, NamedTuple
from metier.settings import ELSEWHERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.app import Library
    from metier.catalogue.verdicts import Judged
    from metier.model import Digest, Finding, Level, Problem, Verdict
    from metier.scan.baseline import Baseline
    from metier.trust.policy import Policy

    Again = Callable[[Judged, Callable[[Iterable[Finding]], frozenset[str]]], Verdict]

BASELINE = "baseline"
BASELINE_BYTES = 32 << 20


class Waived(NamedTuple):
    """A finding that does not count, the reason, and who says so: a configuration file, or the baseline."""

    finding: Finding
    reason: str
    told_by: str


class Scanned(NamedTuple):
    """The answer of `scan` for one skill: the level is what the policy makes of it, the findings are those that count."""

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


class Terms(NamedTuple):
    """What holds for one scan."""

    ruleset: str
    policy: Policy | None = None
    """None where nothing is configured and nobody asked for another: then every verdict counts as it is."""
    baseline: Baseline | None = None
    now: str = ""
    is_foreign: Callable[[str], bool] = bool
    """Tells of a path whether it lies in a project that nobody trusts."""
    given: bool = False
    """Whether the baseline was named for this very scan, rather than in configuration."""

    def applied(self, judged: Judged, again: Again) -> Scanned:
        """Give what counts of a plain verdict; where findings are set aside, the tree is judged again without them."""
        path, name, digest, level, score, findings, _lost = judged
        waived = self.waived(name, path, findings)
        if waived:
            verdict = again(judged, lambda found: frozenset(one.finding.fingerprint for one in self.waived(name, path, found)))
            digest, level, score, findings = verdict.digest, verdict.level, verdict.score, verdict.findings
        counted = self.policy.counted(level) if self.policy is not None else level
        return Scanned(path, name, digest, counted, score, findings, waived, self.ruleset, level)

    def waived(self, name: str, path: str, findings: tuple[Finding, ...] | Iterable[Finding]) -> tuple[Waived, ...]:
        """Give the findings that do not count, with the reason.

        A name is a skill's own word: in a project that nobody trusts, what was accepted for a name counts for nothing.
        """
        if not self.policy or not (self.policy.waivers or self.baseline):
            return ()
        foreign = self.is_foreign(path)
        found = []
        if self.policy.waivers:
            from metier.trust.waivers import weigh

            holding = [waiver for waiver in self.policy.waivers if not (foreign and waiver.name)]
            kept, waived = weigh(findings, name, holding, self.now)
            found = [Waived(finding, f"{by.reason} (until {by.expires})", by.told_by) for finding, by in waived]
            findings = kept
        if self.baseline is not None and (self.given or not foreign):
            found += [Waived(one, "accepted in the baseline", BASELINE) for one in findings
                      if self.baseline.accepts(name, one.fingerprint)]  # fmt: skip
        return tuple(found)


def terms_of(library: Library, ruleset: str, policy: str | None, baseline: str | None) -> Terms:
    """Give the terms of one scan; whatever configuration asked for and may not have becomes a warning."""
    if policy is None and baseline is None and not trust_sources(library):
        return Terms(ruleset)
    from metier.trust.waivers import lapsed

    chosen = _chosen(library, policy)
    now = _day(library.ports.clock_ns())
    for problem in (*chosen.problems, *lapsed(chosen.waivers, now)):
        _warn(library, problem)
    accepted = _baseline(library, chosen, baseline)
    strangers = _strangers(library) if chosen.waivers or accepted is not None else bool
    return Terms(ruleset, chosen, accepted, now, strangers, given=baseline is not None)


_OWN = frozenset({"user", "system", "admin", "plugin"})


def _strangers(library: Library) -> Callable[[str], bool]:
    """Give what tells whether a skill lies in a project that nobody trusts, whichever folder one asks from."""
    from metier.discover import env as host
    from metier.discover.scopes import project_root_candidates
    from metier.trust import disk as store

    trusts = store.read(library.data).trusts
    roots, markers = library.roots(), library.settings.root_markers

    def is_foreign(path: str) -> bool:
        for root in roots:
            if f"{path}/".startswith(root.location.rstrip("/") + "/") and (root.project or root.scope in _OWN):
                return bool(root.project) and not trusts(root.project)
        project = host.project_root(project_root_candidates(disk.real(path)), markers)
        return any(disk.is_there(f"{project}/{marker}") for marker in markers) and not trusts(project)

    return is_foreign


def _chosen(library: Library, preset: str | None) -> Policy:
    if preset is None:
        return library.trust_policy
    from metier.settings import Source
    from metier.trust.config import read_trust
    from metier.trust.policy import PRESETS

    if preset not in PRESETS:
        raise UsageError(f"there is no policy '{preset}'", hint=f"choose one of: {', '.join(PRESETS)}")
    return read_trust({"policy": preset}, Source("session", "--policy", "", {}), library.trust_policy)


def _warn(library: Library, problem: Problem) -> None:
    text = f"{problem.path}: {problem.code} {problem.message}"
    if text not in library.warnings:
        library.warnings.append(text)


def _baseline(library: Library, policy: Policy, given: str | None) -> Baseline | None:
    if given is not None:
        path = disk.absolute(given, library.cwd, library.home)
        if disk.kind_of(path) is None:
            raise NotFoundError(f"there is no baseline at {given}", hint="make one with: metier scan PATH --write-baseline FILE")
    elif policy.baseline:
        path = disk.absolute(policy.baseline, _folder_of_baseline(library), library.home)
    else:
        return None
    from metier.scan.baseline import read

    head = disk.read_head(disk.real(path), BASELINE_BYTES)
    if head.fault or head.size > BASELINE_BYTES:
        what = head.message or f"it has more than {BASELINE_BYTES:,} bytes"
        raise ConfigError(f"cannot read the baseline {path}: {what}", hint="check its place and its permissions")
    return read(head.data.decode("utf-8", "replace"), path)


def _folder_of_baseline(library: Library) -> str:
    """Give the folder of the configuration file that names the baseline: a relative path is meant from there."""
    sources = [source for source in trust_sources(library) if source.layer != "project"]
    naming = [source.path for source in sources if "baseline" in source.values[ELSEWHERE]]
    return naming[-1].rpartition("/")[0] if naming else library.cwd


def _day(clock_ns: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(clock_ns // 1_000_000_000, tz=UTC).date().isoformat()
