"""Rules of one's own: patterns from a TOML file, on an engine whose time is linear in the text,
whatever the pattern.

They are added to metier's rules and take nothing from them, and they are part of the ruleset's
digest. Pure.
"""

from __future__ import annotations

import hashlib
from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError
from metier.scan.cache import HARMS
from metier.scan.model import MAX_HITS_PER_RULE, RuleHit, ScanRule
from metier.settings.merge import known_keys, wrong
from metier.standard.patterns import (
    INSTALL_ENGINE,
    NoPatternEngineError,
    PatternError,
    pattern_compiler,
    searchable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.model import Texts
    from metier.ports import Analyzer
    from metier.settings.merge import ConfigSource

SEVERITIES = HARMS
CATEGORIES = (
    "injection",
    "exfiltration",
    "credential",
    "execution",
    "persistence",
    "destructive",
    "privilege",
    "obfuscation",
    "network",
    "supply",
    "evasion",
    "structure",
    "escalation",
    "social",
    "mining",
)
ID_PREFIX = "X-"
"""How the name of every such rule begins, so that it is never taken for one of metier's."""
MAX_CUSTOM_RULES = 1000

_TEXTS = ("id", "severity", "category", "title", "why", "hint", "pattern")
_KEYS = (*_TEXTS, "files")


class CustomRule(NamedTuple):
    """One rule of a file: what it says, what it looks for, and in which files."""

    rule: ScanRule
    pattern: str
    files: Texts = ()
    """Names with `*` and `?`; nothing means every file."""


class CustomPatterns:
    """An analyzer made of patterns."""

    def __init__(self, rows: Sequence[tuple[CustomRule, Any]]) -> None:
        """Take the rows, each with its compiled pattern."""
        self.rows = tuple(rows)
        self.rules: Sequence[ScanRule] = tuple(row.rule for row, _compiled in rows)
        self.digest = hashlib.sha256(
            repr([row for row, _compiled in rows]).encode("utf-8", "surrogatepass")
        ).hexdigest()

    def find(self, path: str, text: str) -> list[RuleHit]:
        """Give every place where a pattern matches."""
        sound = searchable(text)
        found: list[RuleHit] = []
        for row, compiled in self.rows:
            if row.files and not any(
                fnmatchcase(path, one) or fnmatchcase(path.rpartition("/")[2], one)
                for one in row.files
            ):
                continue
            places = islice(compiled.finditer(sound), MAX_HITS_PER_RULE)
            found += (RuleHit(row.rule.id, *match.span()) for match in places)
        return sorted(found, key=lambda hit: hit.start)


def compile_patterns(source: ConfigSource) -> CustomPatterns:
    """Read a file of rules: `[[rules]]` tables. Anything wrong is an error with its place; nothing
    is skipped.
    """
    rows = read_custom_rules(source)
    try:
        compile_pattern = pattern_compiler()
    except NoPatternEngineError as error:
        raise ConfigError(
            f"the rules in {source.path} need google-re2, which is not installed",
            hint=f"install it with: {INSTALL_ENGINE}",
        ) from error
    compiled = []
    for row in rows:
        try:
            compiled.append((row, compile_pattern(row.pattern)))
        except PatternError as error:
            raise ConfigError(
                f"the pattern of '{row.rule.id}' in {source.path} cannot be used: {error}",
                hint="write it without references back and without looking around",
            ) from error
    return CustomPatterns(compiled)


def read_custom_rules(source: ConfigSource) -> tuple[CustomRule, ...]:
    """Read the tables of a file of rules."""
    known_keys(source, source.values, ("rules",), "")
    tables = source.values.get("rules", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise wrong(source, "rules", "must be a list of tables: [[rules]]")
    if len(tables) > MAX_CUSTOM_RULES:
        raise wrong(
            source, "rules", f"has {len(tables):,} rules; a file has at most {MAX_CUSTOM_RULES:,}"
        )
    rows = tuple(_row(source, table) for table in tables)
    seen = set()
    for row in rows:
        if row.rule.id in seen:
            raise ConfigError(
                f"the rule '{row.rule.id}' is given twice in {source.path}",
                hint="give each rule its own id",
            )
        seen.add(row.rule.id)
    return rows


def _row(source: ConfigSource, table: Mapping[str, Any]) -> CustomRule:
    known_keys(source, table, _KEYS, "rules.")
    for key in _TEXTS:
        if not isinstance(table.get(key), str) or not table[key].strip():
            raise wrong(source, key, f"must be a text, in every rule{_about(table)}")
    if not table["id"].startswith(ID_PREFIX):
        raise wrong(source, "id", f"must begin with '{ID_PREFIX}', and '{table['id']}' does not")
    for key, allowed in (("severity", SEVERITIES), ("category", CATEGORIES)):
        if table[key] not in allowed:
            raise wrong(source, key, f"must be one of {', '.join(allowed)}{_about(table)}")
    files = table.get("files", [])
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise wrong(source, "files", f"must be a list of texts{_about(table)}")
    return CustomRule(
        ScanRule(*(table[key].strip() for key in _TEXTS[:-1])), table["pattern"], tuple(files)
    )


def ruleset_with(plain: str, extra: Sequence[Analyzer]) -> str:
    """Name metier's ruleset together with what was added to it; the same name when nothing was."""
    if not extra:
        return plain
    whole = hashlib.sha256(plain.encode())
    for analyzer in extra:
        whole.update(
            repr((tuple(analyzer.rules), digest_of(analyzer))).encode("utf-8", "surrogatepass")
        )
    return f"{plain}+{whole.hexdigest()[:16]}"


def digest_of(analyzer: Analyzer) -> str:
    """Give what names an analyzer's code; nothing when it does not say, and then what it finds is
    never remembered.
    """
    return str(getattr(analyzer, "digest", ""))


def _about(table: Mapping[str, Any]) -> str:
    return f" (rule '{table['id']}')" if isinstance(table.get("id"), str) else ""
