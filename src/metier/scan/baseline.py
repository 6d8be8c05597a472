"""A baseline: findings that somebody has looked at and accepts, by fingerprint, in a JSON file. Pure.

A finding is accepted for the skill it was found in: another skill that says the same is reported like any other.
The document of `metier scan --json` is a baseline too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Finding

VERSION = 1


class Baseline(NamedTuple):
    """Which findings are accepted: the skill's name and the fingerprint."""

    accepted: frozenset[tuple[str, str]] = frozenset()

    def accepts(self, name: str, fingerprint: str) -> bool:
        """Tell whether this finding of the skill of this name is accepted."""
        return (name, fingerprint) in self.accepted


def text_of(found: Iterable[tuple[str, Finding]]) -> str:
    """Write findings down as a baseline, each after its skill's name; in an order that makes changes easy to read."""
    rows = sorted({(name, one.path, one.rule, one.fingerprint) for name, one in found})
    fields = ("skill", "path", "rule", "fingerprint")
    document = {"version": VERSION, "findings": [dict(zip(fields, row, strict=True)) for row in rows]}
    return json.dumps(document, indent=1) + "\n"


def read(text: str, path: str) -> Baseline:
    """Read a baseline; what is not one is refused, because findings would be hidden or shown by mistake."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid JSON: {error}", hint=_HINT) from error
    if not isinstance(document, dict):
        raise ConfigError(f"{path} is not a baseline", hint=_HINT)
    if "version" not in document and isinstance(document.get("skills"), list):
        return Baseline(frozenset(_pair(one, path) for one in _reported(document["skills"], path)))
    if document.get("version") != VERSION:
        said = f"is of version {document['version']!r}" if "version" in document else "does not say its version"
        raise ConfigError(f"the baseline {path} {said}; this metier knows version {VERSION}", hint=_HINT)
    rows = document.get("findings")
    if not isinstance(rows, list):
        raise ConfigError(f"the baseline {path} has no list of findings", hint=_HINT)
    return Baseline(frozenset(_pair(row, path) for row in rows))


_HINT = "make one with: metier scan PATH --write-baseline FILE"


def _reported(skills: list[Any], path: str) -> Iterable[dict[str, Any]]:
    for skill in skills:
        if not isinstance(skill, dict) or not isinstance(skill.get("findings"), list):
            raise ConfigError(f"{path} is not the answer of a scan", hint=_HINT)
        for finding in skill["findings"]:
            yield {"skill": skill.get("name"), "fingerprint": finding.get("fingerprint") if isinstance(finding, dict) else None}


def _pair(row: Any, path: str) -> tuple[str, str]:
    pair = (row.get("skill"), row.get("fingerprint")) if isinstance(row, dict) else (None, None)
    if not isinstance(pair[0], str) or not isinstance(pair[1], str) or not pair[1]:
        raise ConfigError(f"a finding in the baseline {path} has no skill or no fingerprint", hint=_HINT)
    return pair[0], pair[1]
