"""Holds the trust policy: one table from level, verdict and phase to an action, and how far each
layer of configuration may change it.

A floor says how soft a cell may become at most. It begins with what nobody may soften, and the
organisation's own rules are added to it, so that a user moves freely above it and a project only
upwards.

The organisation may tighten the defaults and name its own sources, and what it says is then the
user's limit; a project may only narrow, and neither waives nor brings a baseline. What a layer may
not have is reported and ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

from metier.errors import ConfigError
from metier.model import Problem
from metier.settings.merge import ignored_in_project, known_keys, tables_in, wrong
from metier.trust.model import LEVELS, TRUSTED_SOURCES, repository
from metier.trust.source_rules import (
    PolicyLine,
    SourceRules,
    find_line,
    read_patterns,
    read_publishers,
)
from metier.trust.waivers import Waiver, day_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Literal

    from metier.model import Action, Level, Phase, Texts, Trust
    from metier.settings.merge import ConfigLayer, ConfigSource

    Preset = Literal["strict", "balanced", "permissive"]
    Edits = Literal["allow", "ask"]
    Reader = Callable[["TrustPolicy", ConfigSource, Any], "TrustPolicy"]

VERDICTS: tuple[Level, ...] = ("safe", "caution", "dangerous")
PHASES: tuple[Phase, ...] = ("install", "load", "run")
ACTIONS: tuple[Action, ...] = ("allow", "warn", "ask", "block")
"""Softest first. `ask` in the table means: until a person has approved these exact bytes."""

EDITS: tuple[Edits, ...] = ("allow", "ask")
"""Softest first."""

PRESETS: Mapping[Preset, Mapping[Level, Level]] = {
    "strict": {"safe": "safe", "caution": "dangerous", "dangerous": "dangerous"},
    "balanced": {"safe": "safe", "caution": "caution", "dangerous": "dangerous"},
    "permissive": {"safe": "safe", "caution": "safe", "dangerous": "dangerous"},
}
"""What each verdict counts as, strictest first. Dangerous is never softened."""

# The three words of a cell group are for the verdicts safe, caution and dangerous. What says warn or
# ask does so until a person approves these exact bytes; see decide.
_DEFAULTS: Mapping[Trust, tuple[str, str, str]] = {
    #               install              load                 run
    "builtin":     ("allow allow allow", "allow allow allow", "allow allow allow"),  # HE-35
    "own":         ("allow allow block", "allow allow block", "allow allow block"),  # MT-5
    "trusted":     ("allow allow block", "allow allow block", "allow allow block"),  # HE-35
    "verified":    ("allow allow block", "allow warn block", "allow ask block"),
    # HE-35, HE-3, MT-3 and MT-4
    "community":   ("allow block block", "allow warn block", "ask ask block"),
    # ZE-22, ZE-25: read, marked, tools cut
    "quarantined": ("block block block", "warn warn block", "block block block"),
    "blocked":     ("block block block", "block block block", "block block block"),
}  # fmt: skip


class ActionTable(NamedTuple):
    """Every action, one per level, phase and verdict, in that order."""

    cells: tuple[Action, ...]

    def action(self, level: Trust, verdict: Level, phase: Phase) -> Action:
        """Look one cell up."""
        return self.cells[_place(level, verdict, phase)]

    def with_cell(self, level: Trust, verdict: Level, phase: Phase, action: Action) -> ActionTable:
        """Give a table in which one cell differs."""
        at = _place(level, verdict, phase)
        return ActionTable((*self.cells[:at], action, *self.cells[at + 1 :]))


class PolicyOverride(NamedTuple):
    """One rule of configuration: what these levels, verdicts and phases do instead."""

    level: Trust
    verdict: Level
    phase: Phase
    action: Action


def _place(level: Trust, verdict: Level, phase: Phase) -> int:
    return (LEVELS.index(level) * len(PHASES) + PHASES.index(phase)) * len(
        VERDICTS
    ) + VERDICTS.index(verdict)


DEFAULT_TABLE = ActionTable(
    tuple(
        cast("Action", word)
        for level in LEVELS
        for group in _DEFAULTS[level]
        for word in group.split()
    )
)
FLOOR_TABLE = ActionTable(
    tuple(
        "block"
        if level == "blocked" or (verdict == "dangerous" and level != "builtin")
        else "allow"
        for level in LEVELS
        for _phase in PHASES
        for verdict in VERDICTS
    )
)
"""The softest action of each cell that any configuration may set (MT-5)."""


class PolicyBounds(NamedTuple):
    """The softest that each setting may still become: what nobody may cross, and what the
    organisation has set.
    """

    table: ActionTable = FLOOR_TABLE
    preset: Preset = "permissive"
    local_default: Trust = "trusted"
    hash_mismatch_level: Trust = "community"
    trusted_sources: Texts | None = None
    """The organisation's list, of which others may only take; `None` when it has none."""
    edits: Edits = "allow"
    waivers: tuple[Waiver, ...] = ()
    baseline: str = ""
    """The organisation's own, which alone count where nobody may accept what is dangerous."""


class FirmRule(NamedTuple):
    """A rule of an organisation that nothing answers: neither an approval nor `--force`."""

    rule: PolicyOverride
    layer: str
    place: str


class TrustPolicy(NamedTuple):
    """Everything that configuration says about trust."""

    table: ActionTable = DEFAULT_TABLE
    local_default: Trust = "community"
    """The level of what lies in the user's own folders without a known source (MT-12)."""
    hash_mismatch_level: Trust = "quarantined"
    """The level of what is not the bytes that a lock or a manifest promises (ZE-24)."""
    trusted_sources: Texts = TRUSTED_SOURCES
    preset: Preset = "balanced"
    waivers: tuple[Waiver, ...] = ()
    baseline: str = ""
    """A file of findings that are known and accepted."""
    bounds: PolicyBounds = PolicyBounds()
    problems: tuple[Problem, ...] = ()
    """What a layer asked for and may not have."""
    edits: Edits = "allow"
    """What becomes of an installed skill that was edited, is safe and can do no more than before:
    it stays usable, or it asks."""
    source_rules: tuple[SourceRules, ...] = ()
    """Where skills may come from and who may publish them, one entry for each file that says so. A
    skill must pass all of them."""
    firm: tuple[FirmRule, ...] = ()
    """What an organisation's policy blocks for good."""
    never_accept: PolicyLine | None = None
    """The line of a policy by which nobody may accept what is dangerous."""
    damage: str = ""
    """Why an organisation's policy cannot be read: then nothing is installed, approved, loaded or
    run."""

    def action(self, level: Trust, verdict: Level | None, phase: Phase) -> Action:
        """Give what the table says under the preset; a skill that nobody has scanned counts as the
        worst it could be.
        """
        return self.table.action(level, self.counted(verdict), phase)

    def counted(self, verdict: Level | None) -> Level:
        """Give what a verdict counts as under the preset."""
        return PRESETS[self.preset][verdict] if verdict else "dangerous"


def stricter(one: Action, other: Action) -> Action:
    """Give the stricter of two actions."""
    return max(one, other, key=ACTIONS.index)


def tighten(
    table: ActionTable,
    overrides: Iterable[PolicyOverride],
    layer: ConfigLayer,
    *,
    floor: ActionTable = FLOOR_TABLE,
    path: str = "",
) -> tuple[ActionTable, tuple[Problem, ...]]:
    """Apply a layer's rules: what is too soft for it is reported, and that cell stays as it is.

    The organisation may not be softer than the defaults, a project not softer than the table it
    meets, and the user only not softer than the floor. A session's flags are the user's.
    """
    before = table
    problems = []
    for rule in overrides:
        cell = (rule.level, rule.verdict, rule.phase)
        least_allowed = floor.action(*cell)
        if layer in {"organisation", "project"}:
            least_allowed = stricter(
                least_allowed, (DEFAULT_TABLE if layer == "organisation" else before).action(*cell)
            )
        if ACTIONS.index(rule.action) < ACTIONS.index(least_allowed):
            what = f"'{rule.action}' for {rule.level}, {rule.verdict}, {rule.phase}"
            problems.append(_ignored(layer, path, what, f" than '{least_allowed}'"))
        else:
            table = table.with_cell(*cell, rule.action)
    return table, tuple(problems)


def _ignored(layer: ConfigLayer, path: str, what: str, than: str = "") -> Problem:
    if layer == "project":
        return ignored_in_project(path, what)
    return Problem(path, "TR001", f"Ignored: {what}; nothing softer{than} may be set there.")


# --- reading the configuration

_RULE = ("level", "verdict", "phase", "action")
_WAIVER = ("fingerprint", "rule", "name", "path", "reason", "expires", "by")


def read_trust(values: Any, source: ConfigSource, policy: TrustPolicy | None = None) -> TrustPolicy:
    """Lay one file's `[trust]` table over the policy so far. Call it weakest layer first, as
    `settings.merge` does.

    A mistake in the organisation's or the user's file is an error with its line; one in a project's
    file is reported, because a project must not be able to stop its user's tools.
    """
    policy = policy or TrustPolicy()
    try:
        if not isinstance(values, dict):
            raise wrong(source, "trust", "must be a table")
        known_keys(source, values, tuple(_READERS), "trust.")
    except ConfigError as error:
        return _or_report(policy, source, error)
    for key, value in values.items():
        try:
            policy = _READERS[key](policy, source, value)
        except ConfigError as error:
            policy = _or_report(policy, source, error)
    return policy


def _or_report(policy: TrustPolicy, source: ConfigSource, error: ConfigError) -> TrustPolicy:
    if source.layer != "project":
        raise error
    return _noted(policy, ignored_in_project(source.path, error.message))


def _noted(policy: TrustPolicy, *problems: Problem) -> TrustPolicy:
    return policy._replace(problems=policy.problems + problems)


def _too_soft(policy: TrustPolicy, source: ConfigSource, what: str) -> TrustPolicy:
    return _noted(policy, _ignored(source.layer, source.path, what))


def _set(policy: TrustPolicy, source: ConfigSource, **change: Any) -> TrustPolicy:
    """Change settings; what the organisation sets, others may not soften."""
    if source.layer == "organisation":
        policy = policy._replace(bounds=policy.bounds._replace(**change))
    return policy._replace(**change)


def _word_reader(key: str, field: str, known: Texts, softest_first: Texts) -> Reader:
    """Make the reader of a setting that is one word: softer than its bound is reported and
    ignored.
    """

    def read(policy: TrustPolicy, source: ConfigSource, value: Any) -> TrustPolicy:
        word = _one_of(source, key, value, known)
        bounds = [getattr(policy.bounds, field)]
        if source.layer in {"project", "organisation"}:
            floor = policy if source.layer == "project" else TrustPolicy()
            bounds.append(getattr(floor, field))
        if softest_first.index(word) < max(map(softest_first.index, bounds)):
            return _too_soft(policy, source, f"'{key} = {value!r}'")
        return _set(policy, source, **{field: word})

    return read


def _sources(policy: TrustPolicy, source: ConfigSource, value: Any) -> TrustPolicy:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise wrong(source, "trusted_sources", "must be a list of repositories")
    if vague := [item for item in value if not repository(item)]:
        raise wrong(
            source,
            "trusted_sources",
            f"must name whole repositories, such as 'owner/skills', not '{vague[0]}'",
        )
    allowed = policy.trusted_sources if source.layer == "project" else policy.bounds.trusted_sources
    kept = tuple(item for item in value if allowed is None or item in allowed)
    for item in value:
        if item not in kept:
            policy = _too_soft(policy, source, f"the trusted source '{item}'")
    return _set(policy, source, trusted_sources=kept)


def _rules(policy: TrustPolicy, source: ConfigSource, value: Any) -> TrustPolicy:
    overrides = [read_override(source, item) for item in tables_in(source, "rules", value, "trust")]
    before = policy.table
    table, problems = tighten(
        before, overrides, source.layer, floor=policy.bounds.table, path=source.path
    )
    if source.layer == "organisation":
        floor = policy.bounds.table
        for level, verdict, phase, _action in overrides:
            floor = floor.with_cell(level, verdict, phase, table.action(level, verdict, phase))
        policy = policy._replace(bounds=policy.bounds._replace(table=floor))
    return _noted(policy._replace(table=table), *problems)


def read_override(source: ConfigSource, item: Mapping[str, Any]) -> PolicyOverride:
    """Read one rule: which action some cell of the table has."""
    known_keys(source, item, _RULE, "trust.rules.")
    words = {
        key: _one_of(source, key, item.get(key), known)
        for key, known in zip(_RULE, _WORDS, strict=True)
    }
    return PolicyOverride(**words)  # type: ignore[arg-type]  # each word was found among those of its type


_WORDS: tuple[Texts, ...] = (LEVELS, VERDICTS, PHASES, ACTIONS)


def _waivers(policy: TrustPolicy, source: ConfigSource, value: Any) -> TrustPolicy:
    if source.layer == "project":
        return _too_soft(policy, source, "'waivers'")
    for item in tables_in(source, "waivers", value, "trust"):
        waiver = _waiver(source, item)
        about = waiver.fingerprint or waiver.rule
        missing = [key for key in ("reason", "expires") if not getattr(waiver, key)]
        if missing:
            said = f"The waiver for {about} does not apply: it gives no {' and no '.join(missing)}."
            policy = _noted(policy, Problem(source.path, "TR002", said))
        else:
            if source.layer == "organisation":
                whole = (*policy.bounds.waivers, waiver)
                policy = policy._replace(bounds=policy.bounds._replace(waivers=whole))
            policy = policy._replace(waivers=(*policy.waivers, waiver))
    return policy


def _waiver(source: ConfigSource, item: Mapping[str, Any]) -> Waiver:
    known_keys(source, item, _WAIVER, "trust.waivers.")
    texts = {key: _text(source, key, value) for key, value in item.items() if key != "expires"}
    waiver = Waiver(
        **{"reason": "", **texts},
        expires=_day(source, item.get("expires", "")),
        told_by=source.path,
    )
    if bool(waiver.fingerprint) == bool(waiver.rule):
        raise wrong(
            source, "waivers", "must give exactly one of fingerprint and rule for each waiver"
        )
    return waiver


def _day(source: ConfigSource, value: Any) -> str:
    """Read a date that TOML has read already, or one in quotes."""
    text = str(value.isoformat()) if hasattr(value, "isoformat") else value
    if not isinstance(text, str) or (text and (len(text) != 10 or day_of(text) is None)):
        raise wrong(source, "expires", "must be a date: YYYY-MM-DD")
    return text


def _baseline(policy: TrustPolicy, source: ConfigSource, value: Any) -> TrustPolicy:
    if source.layer == "project":
        return _too_soft(policy, source, "'baseline'")
    return _set(policy, source, baseline=_text(source, "baseline", value))


def _source_rules(policy: TrustPolicy, source: ConfigSource, key: str, value: Any) -> TrustPolicy:
    """Add to what one file says of sources; each file has an entry of its own, so none can take
    from another.
    """
    where = ("trust", key)
    own = next((one for one in policy.source_rules if one.path == source.path), None)
    rules = own or SourceRules(source.layer, source.path)
    if key == "publishers":
        rules = rules._replace(publishers=read_publishers(source, where, value))
    elif key == "allow_sources":
        allow = read_patterns(source, where, value)
        rules = rules._replace(allow=allow, allow_place=find_line(source, where))
    elif key == "deny_sources":
        rules = rules._replace(deny=read_patterns(source, where, value))
    else:
        rules = rules._replace(signed=read_patterns(source, where, value))
    others = tuple(one for one in policy.source_rules if one is not own)
    return policy._replace(source_rules=(*others, rules))


def _source_reader(key: str) -> Reader:
    return lambda policy, source, value: _source_rules(policy, source, key, value)


_READERS: dict[str, Reader] = {
    "local_default": _word_reader("local_default", "local_default", LEVELS[2:], LEVELS),
    "hash_mismatch_level": _word_reader(
        "hash_mismatch_level", "hash_mismatch_level", LEVELS[4:], LEVELS
    ),
    "trusted_sources": _sources,
    "policy": _word_reader("policy", "preset", tuple(PRESETS), tuple(PRESETS)[::-1]),
    "edits": _word_reader("edits", "edits", EDITS, EDITS),
    "rules": _rules,
    "waivers": _waivers,
    "baseline": _baseline,
    **{
        key: _source_reader(key)
        for key in ("allow_sources", "deny_sources", "signed_sources", "publishers")
    },
}


def _text(source: ConfigSource, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong(source, key, "must be a text")
    return value.strip()


def _one_of(source: ConfigSource, key: str, value: Any, known: Texts) -> str:
    if not isinstance(value, str) or value not in known:
        raise wrong(source, key, f"must be one of {', '.join(known)}")
    return value


def default_trust() -> dict[str, object]:
    """Give what holds where no file says anything about trust, by dotted keys."""
    own = TrustPolicy()
    found = {f"trust.{key}": getattr(own, key, ()) for key in _READERS}
    return {**found, "trust.policy": own.preset}
