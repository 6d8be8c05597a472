"""`metier check`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Check skills; exit 1 when any has a fault."""
    paths = values["operands"]
    assert isinstance(paths, list)
    with cli.library(values) as m:
        checked = m.check(paths, strict=bool(values["strict"]))
    failed = [one for one in checked if not one.ok]
    if values["json"]:
        output.write(output.json_text({"checked": len(checked), "skills": checked}) + "\n")
        return 1 if failed else 0
    counts: dict[str, int] = {}
    for one in checked:
        output.write(output.diagnostic_lines(one.path, one.diagnostics))
        for note in one.diagnostics:
            counts[note.code] = counts.get(note.code, 0) + 1
    summary = f"{len(checked):,} checked, {len(failed):,} with faults"
    codes = ", ".join(f"{code} {count}" for code, count in sorted(counts.items()))
    verdict = output.style("all good" if not failed else "not good", "green" if not failed else "red")
    output.write(f"{summary}: {verdict}{f'  ({codes})' if codes else ''}\n")
    return 1 if failed else 0
