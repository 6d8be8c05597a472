"""Rules of one's own: patterns from a TOML file, on an engine whose time is linear in the text, whatever the pattern.

They are added to metier's rules and take nothing from them, and they are part of the ruleset's digest. Pure.
"""

from __future__ import annotations

import hashlib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError
from metier.scan.rule import Hit, Rule
from metier.settings import known_keys, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from metier.ports import Analyzer
    from metier.settings import Source

SEVERITIES: tuple[str, ...] = ("critical", "high", "medium", "low", "info")
CATEGORIES = ("injection", "exfiltration", "credential", "execution", "persistence", "destructive", "privilege", "obfuscation",
              "network", "supply", "evasion", "structure", "escalation", "social", "mining")  # fmt: skip
FIRST = "X-"
"""How the name of every such rule begins, so that it is never taken for one of metier's."""
MOST_RULES = 1000
MOST_HITS = 20
"""Of one rule in one file."""
MEMORY = 8 << 20
"""Bytes that the engine may use for one pattern."""

_TEXTS = ("id", "severity", "category", "title", "why", "hint", "pattern")
_KEYS = (*_TEXTS, "files")


class Row(NamedTuple):
    """One rule of a file: what it says, what it looks for, and in which files."""

    rule: Rule
    pattern: str
    files: tuple[str, ...] = ()
    """Names with `*` and `?`; nothing means every file."""


class Patterns:
    """An analyzer made of patterns."""

    def __init__(self, rows: Sequence[tuple[Row, Any]]) -> None:
        """Take the rows, each with its compiled pattern."""
        self.rows = tuple(rows)
        self.rules: Sequence[Rule] = tuple(row.rule for row, _compiled in rows)
        self.digest = hashlib.sha256(repr([row for row, _compiled in rows]).encode("utf-8", "surrogatepass")).hexdigest()

    def find(self, path: str, text: str) -> list[Hit]:
        """Give every place where a pattern matches."""
        sound = text.encode("utf-8", "replace").decode()  # the engine works on UTF-8, which has no lone surrogates
        found: list[Hit] = []
        for row, compiled in self.rows:
            if row.files and not any(fnmatchcase(path, one) or fnmatchcase(path.rpartition("/")[2], one) for one in row.files):
                continue
            for count, match in enumerate(compiled.finditer(sound)):
                if count >= MOST_HITS:
                    break
                found.append(Hit(row.rule.id, match.start(), match.end()))
        return sorted(found, key=lambda hit: hit.start)


def patterns_of(source: Source) -> Patterns:
    """Read a file of rules: `[[rules]]` tables. Anything wrong is an error with its place; nothing is skipped."""
    rows = read_rows(source)
    try:
        import re2  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        raise ConfigError(f"the rules in {source.path} need google-re2, which is not installed",
                          hint="install it with: pip install 'metier[rules]'") from error  # fmt: skip
    options = re2.Options()
    options.log_errors, options.max_mem = False, MEMORY
    compiled = []
    for row in rows:
        try:
            compiled.append((row, re2.compile(row.pattern, options)))
        except re2.error as error:
            said = error.args[0] if error.args else error
            said = said.decode(errors="replace") if isinstance(said, bytes) else said
            raise ConfigError(f"the pattern of '{row.rule.id}' in {source.path} cannot be used: {said}",
                              hint="write it without references back and without looking around") from error  # fmt: skip
    return Patterns(compiled)


def read_rows(source: Source) -> tuple[Row, ...]:
    """Read the tables of a file of rules."""
    known_keys(source, source.values, ("rules",), "")
    tables = source.values.get("rules", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise wrong(source, "rules", "must be a list of tables: [[rules]]")
    if len(tables) > MOST_RULES:
        raise wrong(source, "rules", f"has {len(tables):,} rules; a file has at most {MOST_RULES:,}")
    rows = tuple(_row(source, table) for table in tables)
    seen: set[str] = set()
    for row in rows:
        if row.rule.id in seen:
            raise ConfigError(f"the rule '{row.rule.id}' is given twice in {source.path}", hint="give each rule its own id")
        seen.add(row.rule.id)
    return rows


def _row(source: Source, table: Mapping[str, Any]) -> Row:
    known_keys(source, table, _KEYS, "rules.")
    for key in _TEXTS:
        if not isinstance(table.get(key), str) or not table[key].strip():
            raise wrong(source, key, f"must be a text, in every rule{_about(table)}")
    if not table["id"].startswith(FIRST):
        raise wrong(source, "id", f"must begin with '{FIRST}', and '{table['id']}' does not")
    if table["severity"] not in SEVERITIES:
        raise wrong(source, "severity", f"must be one of {', '.join(SEVERITIES)}{_about(table)}")
    if table["category"] not in CATEGORIES:
        raise wrong(source, "category", f"must be one of {', '.join(CATEGORIES)}{_about(table)}")
    files = table.get("files", [])
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        raise wrong(source, "files", f"must be a list of texts{_about(table)}")
    return Row(Rule(*(table[key].strip() for key in _TEXTS[:-1])), table["pattern"], tuple(files))


def ruleset_with(plain: str, extra: Sequence[Analyzer]) -> str:
    """Name metier's ruleset together with what was added to it; the same name when nothing was."""
    if not extra:
        return plain
    whole = hashlib.sha256(plain.encode())
    for analyzer in extra:
        whole.update(repr((tuple(analyzer.rules), digest_of(analyzer))).encode("utf-8", "surrogatepass"))
    return f"{plain}+{whole.hexdigest()[:16]}"


def digest_of(analyzer: Analyzer) -> str:
    """Give what names an analyzer's code; nothing when it does not say, and then what it finds is never remembered."""
    return str(getattr(analyzer, "digest", ""))


def _about(table: Mapping[str, Any]) -> str:
    return f" (rule '{table['id']}')" if isinstance(table.get("id"), str) else ""
