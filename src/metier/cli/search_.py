"""`metier search`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import cli
from metier.cli import output
from metier.standard.names import one_line
from metier.supplying.searching import MOST

if TYPE_CHECKING:
    from metier.cli.argv import Values
    from metier.supplies import Searched

LIMIT = 20


def run(values: Values) -> int:
    """Show what remote sources offer; nothing found is exit code 1, nothing to ask is not."""
    operands = values["operands"]
    assert isinstance(operands, list)
    words, limit = " ".join(operands), cli.number_of(values, "limit", MOST) or LIMIT
    with cli.library(values) as library:
        supply = library.settings.supply
        is_idle = not (supply.taps or supply.registries or library.seekers)
        found = library.search(words, limit)
        for warning in library.warnings:
            output.note(f"warning: {warning}")
    if values["json"]:
        output.write(output.json_text(_document(found)) + "\n")
    elif is_idle:
        output.note("no source is configured that could be searched")
        output.note("")
        output.note("hint: name some under [supply] in the configuration:")
        output.note('      taps = ["owner/repo"]   registries = ["clawhub:https://clawhub.ai", "https://example.com"]')
    else:
        _show(found)
    return 0 if found.results or is_idle else 1


def _document(found: Searched) -> dict[str, object]:
    return {
        "results": [result._asdict() for result in found.results],
        "unreachable": [{"source": source, "why": why} for source, why in found.unreachable],
    }


def _show(found: Searched) -> None:
    clean = output.clean
    rows = [(clean(one_line(one.name)), one.trust, clean(one.source), clean(one_line(one.description))) for one in found.results]
    if rows:
        output.write(output.table(rows, ("NAME", "TRUST", "SOURCE", "DESCRIPTION")))
    else:
        output.note("nothing fits that")
    for source, why in found.unreachable:
        output.note(f"not reached: {clean(one_line(source))}: {clean(one_line(why))}")
