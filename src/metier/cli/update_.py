"""`metier update`."""

from __future__ import annotations

from metier.cli import plans, supplied
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Bring skills up to date; exit 1 when any is held, or with --check when anything waits."""
    user = supplied.users(values)
    names, check = supplied.words(values), bool(values["check"])
    with supplied.opened(values) as m:
        outcome = supplied.carried_out(values, "Update", lambda consent: m.update(names, user=user, check=check, consent=consent))
    waits = check and plans.steps(outcome.plan) > 0
    return 0 if outcome.ok and not waits else 1
