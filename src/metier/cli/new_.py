"""`metier new`."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Write a new skill."""
    operands = values["operands"]
    assert isinstance(operands, list)
    with cli.library(values) as m:
        folder = m.new(operands[0], cli.text_of(values["dir"]), cli.text_of(values["description"]) or "")
    if values["json"]:
        output.write(output.json_text({"name": operands[0], "path": folder}) + "\n")
    else:
        output.write(f"wrote {folder}/SKILL.md\n\nnext: edit it, then: metier check --strict {folder}\n")
    return 0
