"""Reads an organisation's policy, and lowers what configuration says about trust to it. Pure.

A policy holds nothing but limits. It is laid over the settings after every other layer, and the
narrower of two values counts, so a user and a project can narrow it and never widen it. What a
policy says and this version does not know is an error: to leave it out could be wider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError
from metier.settings.ceiling import TABLES, read_ceilings
from metier.settings.merge import known_keys, tables_in, wrong
from metier.trust.model import LEVELS, repository
from metier.trust.policy import (
    EDITS,
    PRESETS,
    FirmRule,
    PolicyOverride,
    TrustPolicy,
    read_override,
    stricter,
)
from metier.trust.source_rules import (
    PolicyLine,
    SourceRules,
    find_line,
    read_patterns,
    read_publishers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metier.model import Texts
    from metier.settings.merge import ConfigSource
    from metier.trust.policy import ActionTable

POLICY_VERSION = 1
MAX_MANDATORY = 1_000
_TOP = ("version", "name", "serial", "remote", "sources", "publishers", "trust", "skills", *TABLES)
_SOURCES = ("allow", "deny", "signed")
_SOFTEST_FIRST: dict[str, tuple[str, Texts]] = {
    "policy": ("preset", tuple(PRESETS)[::-1]),
    "local_default": ("local_default", LEVELS),
    "hash_mismatch_level": ("hash_mismatch_level", LEVELS),
    "edits": ("edits", EDITS),
}
"""Settings of one word: the field each has, and its words."""
_TRUST = (*_SOFTEST_FIRST, "trusted_sources", "rules", "accept_dangerous")


class RemotePolicy(NamedTuple):
    """Where the rest of a policy is fetched from, and the key that must have signed it."""

    url: str
    key: str
    """The public key, as PEM or in base64."""
    serial: int = 0
    """The lowest serial that counts: an older policy cannot be put back."""


class OrganisationPolicy(NamedTuple):
    """One policy, read whole."""

    path: str
    name: str
    sources: SourceRules
    words: Mapping[str, str]
    """The softest that settings of one word may be."""
    trusted_sources: Texts | None
    firm: tuple[FirmRule, ...]
    never_accept: PolicyLine | None
    ceilings: Mapping[str, Mapping[str, Any]]
    mandatory: tuple[PolicyLine, ...]
    lines: tuple[PolicyLine, ...]
    """All that it says, a key at a time, with the line of each."""
    remote: RemotePolicy | None = None
    serial: int = 0


class PolicyInForce(NamedTuple):
    """The policies that hold here, and what is wrong with those that should."""

    policies: tuple[OrganisationPolicy, ...] = ()
    damage: str = ""
    files: Texts = ()
    """The files that were looked at."""
    signed_by: tuple[tuple[str, str], ...] = ()
    """The key that signed each file that is signed."""

    @property
    def remote(self) -> RemotePolicy | None:
        """Give where the rest of the machine's policy is fetched from."""
        return next((one.remote for one in self.policies if one.remote is not None), None)

    @property
    def mandatory(self) -> tuple[tuple[OrganisationPolicy, PolicyLine], ...]:
        """Give the skills that must be installed, with who says so."""
        return tuple((one, line) for one in self.policies for line in one.mandatory)


def read_policy(source: ConfigSource) -> OrganisationPolicy:
    """Read a policy; whatever is wrong with it is an error with its line."""
    values = source.values
    known_keys(source, values, _TOP, "")
    if type(values.get("version")) is not int or values["version"] != POLICY_VERSION:
        raise ConfigError(
            f"{source.path} must say 'version = {POLICY_VERSION}'",
            hint="a newer policy needs a newer metier",
        )
    name = values.get("name", "")
    if not isinstance(name, str) or not name.isprintable():
        raise wrong(source, "name", "must be a text of one line")
    trust = _table(source, "trust", _TRUST)
    words = {
        field: _word(source, key, trust[key], known)
        for key, (field, known) in _SOFTEST_FIRST.items()
        if key in trust
    }
    return OrganisationPolicy(
        path=source.path,
        name=name[:100],
        sources=_source_rules(source),
        words=words,
        trusted_sources=_trusted_sources(source, trust),
        firm=tuple(_firm(source, trust)),
        never_accept=_never_accept(source, trust),
        ceilings={
            table: read_ceilings(source, table, values[table])
            for table in TABLES
            if table in values
        },
        mandatory=_mandatory(source),
        lines=tuple(_lines(source)),
        remote=_remote(source),
        serial=_serial(source, values),
    )


def _table(source: ConfigSource, key: str, known: Texts) -> Mapping[str, Any]:
    value = source.values.get(key, {})
    if not isinstance(value, dict):
        raise wrong(source, key, "must be a table")
    known_keys(source, value, known, f"{key}.")
    return value


def _serial(source: ConfigSource, values: Mapping[str, Any]) -> int:
    value = values.get("serial", 0)
    if type(value) is not int or value < 0:
        raise wrong(source, "serial", "must be a whole number")
    return value


def _remote(source: ConfigSource) -> RemotePolicy | None:
    if "remote" not in source.values:
        return None
    table = _table(source, "remote", ("url", "key", "serial"))
    url, key = table.get("url"), table.get("key")
    if not isinstance(url, str) or not url.startswith(("https://", "http://")):
        raise wrong(source, "url", "must be an https address")
    if not isinstance(key, str) or not key.strip():
        raise wrong(source, "key", "must be the public key that signs the policy")
    return RemotePolicy(url, key, _serial(source, table))


def _word(source: ConfigSource, key: str, value: Any, known: Texts) -> str:
    if not isinstance(value, str) or value not in known:
        raise wrong(source, key, f"must be one of {', '.join(known)}")
    return value


def _source_rules(source: ConfigSource) -> SourceRules:
    table = _table(source, "sources", _SOURCES)
    found = {key: read_patterns(source, ("sources", key), value) for key, value in table.items()}
    publishers = source.values.get("publishers", {})
    return SourceRules(
        layer="organisation",
        path=source.path,
        allow=found.get("allow"),
        allow_place=find_line(source, ("sources", "allow")) if "allow" in found else "",
        deny=found.get("deny", ()),
        signed=found.get("signed", ()),
        publishers=read_publishers(source, ("publishers",), publishers),
    )


def _trusted_sources(source: ConfigSource, trust: Mapping[str, Any]) -> Texts | None:
    if "trusted_sources" not in trust:
        return None
    value = trust["trusted_sources"]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise wrong(source, "trusted_sources", "must be a list of repositories")
    if vague := [one for one in value if not repository(one)]:
        raise wrong(source, "trusted_sources", f"must name whole repositories, not '{vague[0]}'")
    return tuple(value)


def _firm(source: ConfigSource, trust: Mapping[str, Any]) -> list[FirmRule]:
    """Read the rules; the line of each is that of its `[[trust.rules]]`."""
    tables = tables_in(source, "rules", trust.get("rules", []), "trust")
    heads = [
        number
        for number, line in enumerate(source.text.splitlines(), 1)
        if line.replace(" ", "").startswith("[[trust.rules]]")
    ]
    places = (
        [f"{source.path}:{number}" for number in heads]
        if len(heads) == len(tables)
        else [find_line(source, ("trust", "rules"))] * len(tables)
    )
    return [
        FirmRule(read_override(source, table), "organisation", place)
        for table, place in zip(tables, places, strict=True)
    ]


def _never_accept(source: ConfigSource, trust: Mapping[str, Any]) -> PolicyLine | None:
    value = trust.get("accept_dangerous", True)
    if not isinstance(value, bool):
        raise wrong(source, "accept_dangerous", "must be true or false")
    where = ("trust", "accept_dangerous")
    return None if value else PolicyLine("accept_dangerous", find_line(source, where))


def _mandatory(source: ConfigSource) -> tuple[PolicyLine, ...]:
    table = _table(source, "skills", ("mandatory",))
    value = table.get("mandatory", [])
    if (
        not isinstance(value, list)
        or len(value) > MAX_MANDATORY
        or not all(isinstance(one, str) and one.isprintable() and one.strip() for one in value)
    ):
        raise wrong(source, "mandatory", "must be a list of names of skills")
    where = ("skills", "mandatory")
    return tuple(PolicyLine(one, find_line(source, where, one)) for one in value)


def _lines(source: ConfigSource) -> list[PolicyLine]:
    """Say all of a policy, a key at a time."""
    found = []
    for key, value in source.values.items():
        if key in {"version", "name", "serial"}:
            continue
        for inner, item in value.items():
            where = (key, inner)
            found.append(PolicyLine(f"{key}.{inner} = {_shown(item)}", find_line(source, where)))
    return found


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_shown(item)}' for key, item in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else f"{value!r}".replace("'", '"')


# --- lowering


def cap_trust(policy: TrustPolicy, most: OrganisationPolicy) -> TrustPolicy:
    """Give what configuration says about trust, nowhere softer than a policy allows; a session's
    flags may not soften it either.
    """
    changes: dict[str, Any] = {}
    bounds: dict[str, Any] = {}
    for field, word in most.words.items():
        order = next(known for name, known in _SOFTEST_FIRST.values() if name == field)
        changes[field] = max(getattr(policy, field), word, key=order.index)
        bounds[field] = max(getattr(policy.bounds, field), word, key=order.index)
    if most.trusted_sources is not None:
        listed = policy.bounds.trusted_sources
        kept = [one for one in most.trusted_sources if listed is None or one in listed]
        bounds["trusted_sources"] = tuple(kept)
        changes["trusted_sources"] = tuple(
            one for one in policy.trusted_sources if one in most.trusted_sources
        )
    if most.never_accept:  # to set a finding aside is to accept it
        changes |= {"waivers": policy.bounds.waivers, "baseline": policy.bounds.baseline}
    table, floor = policy.table, policy.bounds.table
    for rule in most.firm:
        table, floor = _at_least(table, rule.rule), _at_least(floor, rule.rule)
    return policy._replace(
        **changes,
        table=table,
        bounds=policy.bounds._replace(**bounds, table=floor),
        source_rules=(most.sources, *policy.source_rules),
        firm=(*(one for one in most.firm if one.rule.action == "block"), *policy.firm),
        never_accept=policy.never_accept or most.never_accept,
    )


def _at_least(table: ActionTable, rule: PolicyOverride) -> ActionTable:
    cell = (rule.level, rule.verdict, rule.phase)
    return table.with_cell(*cell, stricter(table.action(*cell), rule.action))


def cap_all(policy: TrustPolicy, force: PolicyInForce) -> TrustPolicy:
    """Lower what configuration says to every policy that holds."""
    for one in force.policies:
        policy = cap_trust(policy, one)
    return policy._replace(damage=force.damage) if force.damage else policy


def missing_mandatory(
    force: PolicyInForce, has: Callable[[str], bool]
) -> tuple[tuple[OrganisationPolicy, PolicyLine], ...]:
    """Give the mandatory skills that are not there."""
    return tuple((one, line) for one, line in force.mandatory if not has(line.text))
