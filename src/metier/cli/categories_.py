"""`metier categories`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """List categories with their descriptions and counts."""
    with cli.library(values) as m:
        found = m.categories()
    if values["json"]:
        output.write(output.json_text({"categories": found}) + "\n")
        return 0
    rows = [(output.clean(one.name) or "(none)", str(one.count), output.clean(one.description)) for one in found]
    output.write(output.table(rows, ("CATEGORY", "SKILLS", "DESCRIPTION")) or "No skills are visible here.\n")
    return 0
