"""What the commands of supply share: a library whose warnings are told, whose skills are meant, and how an outcome is reported."""

from __future__ import annotations

from contextlib import contextmanager

from metier import cli
from metier.cli import output, plans
from metier.cli.consent import Consent
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.supplies import Outcome


@contextmanager
def opened(values: Values) -> Iterator[Library]:
    """Open the library, and tell its warnings when all is done, however it ends."""
    library = cli.library(values)
    try:
        with library as m:
            yield m
    finally:
        for warning in library.warnings:
            output.note(f"warning: {warning}")


def users(values: Values) -> bool | None:
    """Tell whose skills are meant: the user's, the project's, or whichever has them."""
    if values["user"] and values["project"]:
        raise UsageError("--project and --user contradict each other", hint="leave one of them out")
    return True if values["user"] else False if values["project"] else None


def words(values: Values) -> list[str]:
    """Give the operands."""
    found = values["operands"]
    assert isinstance(found, list)
    return found


def fits(values: Values, said: str, verb: str, takes: Mapping[str, Sequence[str]]) -> None:
    """Refuse an option that a command has for other verbs than this."""
    for key, verbs in takes.items():
        if values[key] and verb not in verbs:
            option = f"--{key.replace('_', '-')}"
            raise UsageError(f"metier {said} takes no {option}", hint=f"{option} is for: {', '.join(verbs)}")


def carried_out(values: Values, verb: str, act: Callable[[Callable[[Outcome], bool]], Outcome]) -> Outcome:
    """Let a verb act with a person's consent, and report what came of it."""
    consent = Consent(values, verb)
    outcome = act(consent)
    if values.get("dry_run") or values.get("check"):
        report(outcome, values, plan=True)
    elif not values["json"]:
        _after(outcome, consent, values)
    else:
        consent.settle()
        report(outcome, values)
    return outcome


def report(outcome: Outcome, values: Values, *, plan: bool = False, added: str = plans.DONE["add"]) -> None:
    """Print an outcome; its plan as well, where nothing was done about it."""
    if values["json"]:
        output.write(output.json_text(outcome) + "\n")
        return
    planned = f"{plans.plan_text(outcome.plan)}\n" if plan and plans.steps(outcome.plan) + len(outcome.plan.conflicts) else ""
    output.write(planned + plans.outcome_text(outcome, done=not plan, added=added))


def _after(outcome: Outcome, consent: Consent, values: Values) -> None:
    """Report after the plan was shown; a no is the last word, and what was refused is said all the same."""
    try:
        consent.settle()
    except UsageError:
        output.write("".join(plans.bad_news(outcome)))
        raise
    report(outcome, values, plan=not consent.shown and not outcome.installed)
