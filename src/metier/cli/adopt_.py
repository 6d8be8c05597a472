"""`metier adopt`."""

from __future__ import annotations

from metier import cli
from metier.cli import supplied
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values


def run(values: Values) -> int:
    """Put a skill that lies on disk under the lock, as it is; exit 1 when it is refused."""
    user, path = supplied.users(values), supplied.words(values)[0]
    with supplied.opened(values) as m:
        outcome = m.adopt(path, source=cli.text_of(values["source"]) or "", user=user)
        supplied.report(outcome, values, added="adopted")
    return 0 if outcome.ok else 1
