"""All rules in one table, and the digest that names them together with everything else a verdict
depends on.
"""

from __future__ import annotations

import hashlib
from functools import cache

from metier.scan import learned
from metier.scan.io.own_source import source_digest
from metier.scan.rules import (
    declared,
    javascript,
    keys,
    observed,
    places,
    powershell,
    prose,
    python,
    scripts,
    shell,
    structure,
    supply,
)

EDITION = 1
"""Raised when verdicts are to be found anew although neither the code nor a table has changed."""

TABLES = (
    prose,
    shell,
    python,
    javascript,
    powershell,
    scripts,
    supply,
    structure,
    keys,
    declared,
)

RULES = {rule.id: rule for table in TABLES for rule in table.RULES}
OBSERVED_RULES = {rule.id: rule for rule in observed.RULES}
"""What no text shows, and only watching does."""


@cache
def ruleset_digest() -> str:
    """Name the code, the rules, the words they speak of and the learned weights: another digest,
    another verdict.
    """
    whole = hashlib.sha256(b"metier-ruleset-%d\n" % EDITION)
    parts = (
        sorted(RULES.values()),
        prose.SHAPES,
        prose.WORDS,
        prose.STEMS,
        prose.PHRASES,
        places.CREDENTIALS,
        places.EXFILTRATION,
        places.PERSISTENCE,
        places.MEMORY,
        sorted(learned.RULES.items()),
        learned.DANGEROUS,
        learned.CAUTION,
    )
    for part in parts:
        whole.update(repr(part).encode("utf-8", "surrogatepass"))
    whole.update(source_digest().encode())
    return "rules:" + whole.hexdigest()[:16]
