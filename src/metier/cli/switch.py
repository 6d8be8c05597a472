"""What `metier enable` and `metier disable` share: a rule in the user's configuration, and a word about it."""

from __future__ import annotations

from metier import cli
from metier.cli import output
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def switch(values: Values, *, enabled: bool) -> int:
    """Show or hide a skill."""
    operands = values["operands"]
    assert isinstance(operands, list)
    with cli.library(values) as m:
        card = m.enable(operands[0]) if enabled else m.disable(operands[0])
        config = m.config
    if values["json"]:
        output.write(output.json_text({"name": card.name, "path": card.path, "state": card.state, "config": config}) + "\n")
        return 0
    output.write(f"{output.clean(card.name)} is now {card.state}: {output.clean(card.path)}\n")
    undo = f"metier {'disable' if enabled else 'enable'} {card.scope}:{output.clean(card.name)}"
    output.write(f"the rule is in {config}; undo it with: {undo}\n")
    return 0
