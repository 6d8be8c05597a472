"""`metier enable`."""

from __future__ import annotations

from metier.cli.switch import switch
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Show a skill."""
    return switch(values, enabled=True)
