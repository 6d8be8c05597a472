"""How a person is asked: on a terminal, with the answer that changes nothing as the default; elsewhere only `--yes` will do."""

from __future__ import annotations

import sys

from metier.cli import output
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.cli.argv import Values
    from metier.supplies import Outcome


def agreed(values: Values, question: str) -> None:
    """Ask, on a terminal; without one, only `--yes` will do."""
    if values["yes"]:
        return
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("there is no terminal to ask on, so nothing was changed", hint="look first, then say it again with --yes")
    output.clear_meter()
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise UsageError("nothing was changed", hint="answer y to go on")


class Consent:
    """Shows a plan before anything happens, and asks; `settle` then says what came of a no."""

    def __init__(self, values: Values, verb: str) -> None:
        """Keep what the question begins with: `Install`, `Update`, `Remove`."""
        self.values, self.verb = values, verb
        self.shown = False
        self._no: UsageError | None = None

    def __call__(self, outcome: Outcome) -> bool:
        """Show the plan and what was refused, where somebody will see it in time, and give the answer."""
        from metier.cli import plans

        text = plans.plan_text(outcome.plan)
        try:
            if self.values["yes"]:
                self._show(text)
            else:
                self._ask("".join((text, *plans.bad_news(outcome))), plans.counted(plans.steps(outcome.plan), "skill"))
        except UsageError as error:  # not through the verb, which has things to put away first
            self._no = error
            return False
        return True

    def _ask(self, text: str, what: str) -> None:
        if self.values["json"]:
            raise UsageError("a document cannot ask, so nothing was changed", hint="look first, then say it again with --yes")
        agreed(self.values, f"{text}\n{self.verb} {what}?")
        self.shown = True

    def _show(self, text: str) -> None:
        if not self.values["json"]:
            output.write(f"{text}\n")
            output.flush()
            self.shown = True

    def settle(self) -> None:
        """Raise what kept the answer from being yes, if anything did."""
        if self._no:
            raise self._no
