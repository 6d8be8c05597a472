"""Looks at many skills at once: what they might do, and what they ask for beyond their level. Advisory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import judging
from metier.errors import MetierError
from metier.trust.tools import escalations
from metier.vetting.cases import case_of, tools_of
from metier.vetting.loading import HARMS

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Finding


def check_escalations(library: Library) -> dict[str, tuple[str, ...]]:
    """Give the tools that listed skills declare beyond what their level allows (ZE-9)."""
    found: dict[str, tuple[str, ...]] = {}
    for card in library.skills(all=True):
        if card.state != "invalid":
            tools = tools_of(card)
            beyond = escalations(tools, case_of(library, card).decision.level) if tools else ()
            if beyond:
                found[card.name] = tuple(one.message for one in beyond)
    return found


def scan_loaded(library: Library) -> list[tuple[str, tuple[Finding, ...]]]:
    """Scan every skill that is listed; give those with hits. Advisory; no marker in a skill exempts it (ZE-8)."""
    hits: list[tuple[str, tuple[Finding, ...]]] = []
    for card in library.skills():
        try:
            findings = judging.scan_tree(library, card.path, card.name).findings
        except MetierError as error:
            library.warnings.append(f"'{card.name}' could not be scanned: {error.message}")
            continue
        harmful = tuple(found for found in findings if found.severity in HARMS)
        if harmful:
            hits.append((card.name, harmful))
    return hits
