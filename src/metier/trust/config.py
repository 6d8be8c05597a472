"""The `[trust]` table of a configuration file → a `Policy`. Pure: values in, value out.

The organisation may tighten the defaults and name its own sources, and what it says is then the user's limit; a
project may only narrow, and neither waives nor brings a baseline. What a layer may not have is reported and ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metier.errors import ConfigError
from metier.model import Problem
from metier.settings import known_keys, wrong
from metier.trust.levels import LEVELS, least, rank, repository
from metier.trust.policy import ACTIONS, PHASES, PRESETS, VERDICTS, Override, Policy, tightened
from metier.trust.waivers import Waiver, day_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from metier.settings import Source

_TOP = ("local_default", "hash_mismatch_level", "trusted_sources", "policy", "rules", "waivers", "baseline")
_RULE = ("level", "verdict", "phase", "action")
_WAIVER = ("fingerprint", "rule", "name", "path", "reason", "expires", "by")
_LOCAL = LEVELS[1:]
_MISMATCH = LEVELS[3:]
_STRICTEST_FIRST = tuple(PRESETS)


def read_trust(values: Any, source: Source, policy: Policy | None = None) -> Policy:
    """Lay one file's `[trust]` table over the policy so far. Call it weakest layer first, as `settings.merge` does.

    A mistake in the organisation's or the user's file is an error with its line; one in a project's file is reported,
    because a project must not be able to stop its user's tools.
    """
    policy = policy or Policy()
    try:
        if not isinstance(values, dict):
            raise wrong(source, "trust", "must be a table")
        known_keys(source, values, _TOP, "trust.")
    except ConfigError as error:
        return _or_report(policy, source, error)
    for key, value in values.items():
        try:
            policy = _READERS[key](policy, source, value)
        except ConfigError as error:
            policy = _or_report(policy, source, error)
    return policy


def _or_report(policy: Policy, source: Source, error: ConfigError) -> Policy:
    if source.layer != "project":
        raise error
    return _noted(policy, Problem(source.path, "WK012", f"Ignored: {error.message}; a project may only narrow what you allow."))


def _noted(policy: Policy, *problems: Problem) -> Policy:
    return policy._replace(problems=policy.problems + problems)


def _too_soft(policy: Policy, source: Source, what: str) -> Policy:
    if source.layer == "project":
        return _noted(policy, Problem(source.path, "WK012", f"Ignored: {what}; a project may only narrow what you allow."))
    return _noted(policy, Problem(source.path, "TR001", f"Ignored: {what}; nothing softer may be set there."))


def _levelled(key: str, known: tuple[str, ...]) -> Callable[[Policy, Source, Any], Policy]:
    """Make the reader of a setting that is a level: softer than its bound is reported and ignored."""

    def read(policy: Policy, source: Source, value: Any) -> Policy:
        level = next(level for level in LEVELS if level == _one_of(source, key, value, known))
        bound = getattr(policy.bounds, key)
        if source.layer == "project":
            bound = least(bound, getattr(policy, key))
        if source.layer == "organisation":
            bound = least(bound, getattr(Policy(), key))
        if rank(level) < rank(bound):
            return _too_soft(policy, source, f"'{key} = {value!r}'")
        change: dict[str, Any] = {key: level}
        if source.layer == "organisation":
            policy = policy._replace(bounds=policy.bounds._replace(**change))
        return policy._replace(**change)

    return read


def _preset(policy: Policy, source: Source, value: Any) -> Policy:
    preset = next(preset for preset in PRESETS if preset == _one_of(source, "policy", value, _STRICTEST_FIRST))
    bounds = [policy.bounds.preset]
    bounds += {"project": [policy.preset], "organisation": [Policy().preset]}.get(source.layer, [])
    if _STRICTEST_FIRST.index(preset) > min(map(_STRICTEST_FIRST.index, bounds)):
        return _too_soft(policy, source, f"'policy = {value!r}'")
    if source.layer == "organisation":
        policy = policy._replace(bounds=policy.bounds._replace(preset=preset))
    return policy._replace(preset=preset)


def _sources(policy: Policy, source: Source, value: Any) -> Policy:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise wrong(source, "trusted_sources", "must be a list of repositories")
    if vague := [item for item in value if not repository(item)]:
        raise wrong(source, "trusted_sources", f"must name whole repositories, such as 'owner/skills', not '{vague[0]}'")
    allowed = policy.trusted_sources if source.layer == "project" else policy.bounds.trusted_sources
    kept = tuple(item for item in value if allowed is None or item in allowed)
    for item in value:
        if item not in kept:
            policy = _too_soft(policy, source, f"the trusted source '{item}'")
    if source.layer == "organisation":
        policy = policy._replace(bounds=policy.bounds._replace(trusted_sources=kept))
    return policy._replace(trusted_sources=kept)


def _rules(policy: Policy, source: Source, value: Any) -> Policy:
    overrides = [_override(source, item) for item in _tables(source, "rules", value)]
    before = policy.table
    table, problems = tightened(before, overrides, source.layer, floor=policy.bounds.table, path=source.path)
    if source.layer == "organisation":
        floor = policy.bounds.table
        for level, verdict, phase, _action in overrides:
            floor = floor.with_cell(level, verdict, phase, table.action(level, verdict, phase))
        policy = policy._replace(bounds=policy.bounds._replace(table=floor))
    return _noted(policy._replace(table=table), *problems)


def _override(source: Source, item: Mapping[str, Any]) -> Override:
    known_keys(source, item, _RULE, "trust.rules.")
    words = {key: _one_of(source, key, item.get(key), known) for key, known in zip(_RULE, _WORDS, strict=True)}
    return Override(**words)  # type: ignore[arg-type]  # each word was found among those of its type


_WORDS: tuple[tuple[str, ...], ...] = (LEVELS, VERDICTS, PHASES, ACTIONS)


def _waivers(policy: Policy, source: Source, value: Any) -> Policy:
    if source.layer == "project":
        return _too_soft(policy, source, "'waivers'")
    for item in _tables(source, "waivers", value):
        waiver = _waiver(source, item)
        about = waiver.fingerprint or waiver.rule
        missing = [key for key in ("reason", "expires") if not getattr(waiver, key)]
        if missing:
            said = f"The waiver for {about} does not apply: it gives no {' and no '.join(missing)}."
            policy = _noted(policy, Problem(source.path, "TR002", said))
        else:
            policy = policy._replace(waivers=(*policy.waivers, waiver))
    return policy


def _waiver(source: Source, item: Mapping[str, Any]) -> Waiver:
    known_keys(source, item, _WAIVER, "trust.waivers.")
    texts = {key: _text(source, key, value) for key, value in item.items() if key != "expires"}
    waiver = Waiver(**{"reason": "", **texts}, expires=_day(source, item.get("expires", "")), told_by=source.path)
    if bool(waiver.fingerprint) == bool(waiver.rule):
        raise wrong(source, "waivers", "must give exactly one of fingerprint and rule for each waiver")
    return waiver


def _day(source: Source, value: Any) -> str:
    """Read a date that TOML has read already, or one in quotes."""
    text = value if isinstance(value, str) else str(value.isoformat()) if hasattr(value, "isoformat") else None
    if text is None or (text and (len(text) != 10 or day_of(text) is None)):
        raise wrong(source, "expires", "must be a date: YYYY-MM-DD")
    return text


def _baseline(policy: Policy, source: Source, value: Any) -> Policy:
    if source.layer == "project":
        return _too_soft(policy, source, "'baseline'")
    return policy._replace(baseline=_text(source, "baseline", value))


_READERS: dict[str, Callable[[Policy, Source, Any], Policy]] = {
    "local_default": _levelled("local_default", _LOCAL), "hash_mismatch_level": _levelled("hash_mismatch_level", _MISMATCH),
    "trusted_sources": _sources, "policy": _preset, "rules": _rules, "waivers": _waivers, "baseline": _baseline,
}  # fmt: skip


def _tables(source: Source, key: str, value: Any) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise wrong(source, key, f"must be a list of tables: [[trust.{key}]]")
    return value


def _text(source: Source, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong(source, key, "must be a text")
    return value.strip()


def _one_of(source: Source, key: str, value: Any, known: Iterable[str]) -> str:
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise wrong(source, key, f"must be one of {', '.join(words)}")
    return value
