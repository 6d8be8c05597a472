"""`metier remove`."""

from __future__ import annotations

from metier.cli import supplied
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Take back what was installed; exit 1 when any is left in its place."""
    user = bool(supplied.users(values))
    names, dry, force = supplied.words(values), bool(values["dry_run"]), bool(values["force"])
    with supplied.opened(values) as m:
        outcome = supplied.carried_out(
            values, "Remove", lambda consent: m.remove(names, user=user, dry_run=dry, force=force, consent=consent)
        )
    return 0 if outcome.ok else 1
