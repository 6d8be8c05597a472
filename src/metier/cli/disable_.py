"""`metier disable`."""

from __future__ import annotations

from metier.cli.switch import switch
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Hide a skill."""
    return switch(values, enabled=False)
