"""`metier rollback`."""

from __future__ import annotations

from metier.cli import output, plans, supplied
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values

LONGEST = 9
"""Digits of a revision's number."""


def run(values: Values) -> int:
    """Put a skill back as it was in a revision. What is there now stays a revision, so nothing is asked."""
    user, (name, *rest) = supplied.users(values), supplied.words(values)
    revision = _number(rest[0]) if rest else None
    with supplied.opened(values) as m:
        outcome = m.rollback(name, revision, user=user)
        supplied.report(outcome, values, plan=not outcome.installed)
    if outcome.installed and not values["json"]:
        output.write(f"undo it with: metier rollback {plans.named(name)}\n")
    return 0 if outcome.ok else 1


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST):
        raise UsageError(f"'{text[:40]}' is no revision", hint="metier history NAME lists their numbers")
    return int(text)
