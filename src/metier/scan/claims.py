"""What a skill says of itself, held against what was seen in it: tools, environment, network, and its own description."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from metier.scan.analyzers import declared, structure
from metier.scan.analyzers.declared import Declared, Found
from metier.scan.rule import Hit
from metier.scan.ruleset import RULES
from metier.scan.sheet import SCRIPTS
from metier.standard.document import read_document
from metier.standard.needs import read_needs
from metier.standard.tools import split_tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.scan.examine import Seen
    from metier.scan.sheet import Sheet

DONE = frozenset(("script", "fence", "code"))
"""Places where something is done and not only spoken of."""
READS = frozenset(("SC330", "SC348", "SC392", "SC410", "SC413", "SC468", "SC485"))
"""Rules whose evidence names variables of the environment."""
RUNS = frozenset(("SC391", "SC400", "SC467", "SC470"))
WRITES = frozenset(("SC393", "SC434"))
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}\b")
_HOST = re.compile(r"https?://([\w.-]{3,80})")


def contradictions(sheets: Sequence[Sheet], seen: Sequence[Seen]) -> Iterator[tuple[str, Hit]]:
    """Find where the two part; each is told of the SKILL.md that makes the claim. Without one, nothing is claimed."""
    main = next((sheet for sheet in sheets if sheet.path.lower() == "skill.md"), None)
    if main is None:
        return
    claims = declared_in(main)
    for hit in declared.find(claims, _done(sheets, seen)):
        yield main.path, hit
    categories = {RULES[one.rule].category for one in seen if one.rule in RULES and one.place in DONE}
    why = structure.mismatch(claims.description, categories)
    if why:
        yield main.path, Hit("SC623", 0, 0, why)


def declared_in(sheet: Sheet) -> Declared:
    """Read the claims of a SKILL.md. What cannot be read claims nothing."""
    data = sheet.original.encode("utf-8", "surrogatepass")
    document = read_document(data, folder="", size=len(data), positions=False)
    if document is None:
        return Declared()
    fields: dict[str, Any] = document.fields
    needs = read_needs(fields, document.spans, None)[1]
    tools = split_tools(fields.get("allowed-tools"))[0]
    compatibility, network = fields.get("compatibility"), fields.get("network")
    open_ = network.strip().lower() not in {"false", "no", "none", "off"} if isinstance(network, str) else None
    # Where nothing is declared, a variable that the text mentions counts; what else the body says is no claim of the skill.
    env = needs.env if needs and needs.env else tuple(dict.fromkeys(_VARIABLE.findall(sheet.text.plain)))
    return Declared(tools, env, open_, compatibility if isinstance(compatibility, str) else "", document.description)


def _done(sheets: Sequence[Sheet], seen: Sequence[Seen]) -> Found:
    done = [one for one in seen if one.place in DONE and one.rule in RULES]
    env = {name for one in done if one.rule in READS for name in _VARIABLE.findall(one.evidence)}
    hosts = {host for one in done for host in _HOST.findall(one.evidence)}
    categories = {RULES[one.rule].category for one in done}
    grave = {RULES[one.rule].category for one in done if RULES[one.rule].severity in {"critical", "high", "medium"}}
    told = any(one.rule.startswith("SC2") and one.place == "fence" for one in done)  # commands in a fence that is no example
    ran = told or any(one.rule in RUNS for one in done) or any(sheet.kind in SCRIPTS for sheet in sheets)
    return Found(tuple(sorted(env)), bool(categories & {"network", "exfiltration"}), ran,
                 any(one.rule in WRITES for one in done), "credential" in grave, tuple(sorted(hosts)))  # fmt: skip
