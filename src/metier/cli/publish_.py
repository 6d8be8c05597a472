"""`metier publish`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Write a well-known index; exit 1 when a skill was left out."""
    paths, folder = values["operands"], cli.text_of(values["well_known"])
    assert isinstance(paths, list)
    if not folder:
        raise UsageError("say where the site lies", hint="add --well-known DIR; the index goes below DIR/.well-known")
    with cli.library(values) as m:
        done = m.publish(paths, folder)
    if values["json"]:
        output.write(output.json_text(done) + "\n")
        return 1 if done.refused else 0
    rows = [(output.clean(one.name), f"{one.size:,}", one.sha256[:16], output.clean(one.path)) for one in done.skills]
    output.write(output.table(rows, ("SKILL", "BYTES", "SHA256", "FILE")))
    for one in done.refused:
        output.write(f"{output.style('left out', 'red')} {output.clean(one.name)}: {output.clean('; '.join(one.reasons))}\n")
    output.write(f"wrote {output.clean(done.index)}: {len(done.skills):,} published, {len(done.refused):,} left out\n")
    return 1 if done.refused else 0
