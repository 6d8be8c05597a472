"""How a person is asked, and told what came of it: on a terminal, with the answer that changes
nothing as the default; elsewhere only `--yes` will do.
"""

from __future__ import annotations

import os
import sys

from metier.cli.output import answer, clear_meter, counted, flush, remark, say, write
from metier.cli.plans import (
    DONE_WORDS,
    bad_news_rows,
    changes_text,
    count_steps,
    outcome_text,
    plan_text,
    unshown_plan,
)
from metier.cli.terminal import fold, screen_columns, shorten_paths
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.cli.argv import Values
    from metier.library import Library
    from metier.supply.model import Outcome


class DeclinedError(UsageError):
    """The person who was asked said no: nothing went wrong, and nothing was done."""

    code = "declined"
    exit_code = 1

    def __init__(self, message: str = "") -> None:
        """Say what came of it."""
        super().__init__(message or "nothing was changed")


def has_person() -> bool:
    """Tell whether there is a terminal with a person at it."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def may_ask(values: Values, *, yes: bool = False) -> bool:
    """Tell whether a command may ask for what was left out: only a person at a terminal, who sees
    the answer there, and neither a script (`--json`, `--yes`) nor CI.
    """
    import os

    told = os.environ
    return (
        has_person()
        and sys.stdout.isatty()
        and not values.json
        and not yes
        and told.get("CI", "").lower() in {"", "0", "false"}
        and told.get("TERM") != "dumb"
    )


def require_yes(
    values: Values, question: str, look: str = "", declined: str = "", above: str = ""
) -> None:
    """Ask, on a terminal; without one, only `--yes` will do. `look` is the command that only
    shows what would be done, `declined` what came of a no, and `above` is shown before the
    question, as it is.
    """
    if values.flag("yes"):
        return
    if not has_person():
        raise _unasked("there is no terminal to ask on", values, look)
    clear_meter()
    asked = fold(shorten_paths(f"{question} [y/N]"), screen_columns(sys.stderr))
    remark(f"{above}{asked} ")
    said = sys.stdin.readline()
    clear_meter()
    if said.strip().lower() not in {"y", "yes"}:
        raise DeclinedError(declined)


def refuse_to_ask(values: Values) -> None:
    """Refuse to ask in the midst of a JSON document."""
    if values.json:
        raise _unasked("--json never asks", values)


def _unasked(why: str, values: Values, look: str = "") -> UsageError:
    """Say that nobody could be asked, and how to see the plan and go ahead."""
    look = look or ("add --dry-run" if values.takes("dry_run") else "")
    hint = (
        f"to see what would happen: {look}. To go ahead: add --yes"
        if look
        else "to go ahead, add --yes"
    )
    return UsageError(f"{why}, so nothing was changed", hint=hint)


class Consent:
    """Shows a plan before anything happens, and asks; `settle` then says what came of a no."""

    def __init__(self, values: Values, verb: str) -> None:
        """Keep what the question begins with: `Install`, `Update`, `Remove`."""
        self.values = values
        self.verb = verb
        self.shown = False
        self.verbose = values.flag("verbose")
        self._no: UsageError | None = None

    def __call__(self, outcome: Outcome) -> bool:
        """Show the plan and what was refused, where somebody will see it in time, and give the
        answer.
        """
        text = f"{plan_text(outcome, verbose=self.verbose)}\n"
        if not self.values.flag("yes"):
            count = counted(count_steps(outcome.plan), "skill")
            try:
                refuse_to_ask(self.values)
                above = fold(shorten_paths(text), screen_columns(sys.stderr))
                above += changes_text(outcome)
                require_yes(self.values, f"{self.verb} {count}?", above=above)
            except UsageError as error:  # not through the verb, which has things to put away first
                self._no = error
                return False
        elif not self.values.json:
            say(text)
            write(changes_text(outcome))
            flush()
        self.shown = not self.values.json
        return True

    def settle(self, bad_news: str = "") -> None:
        """Raise what kept the answer from being yes, if anything did. What was refused is said all
        the same where nobody could be asked; whoever said no has seen it.
        """
        if self._no:
            if not self.values.json and not isinstance(self._no, DeclinedError):
                say(bad_news)
            raise self._no


def carry_out(
    values: Values,
    verb: str,
    act: Callable[[Callable[[Outcome], bool]], Outcome],
    *,
    plan_only: bool = False,
) -> Outcome:
    """Let a verb act with a person's consent, and report what came of it."""
    consent = Consent(values, verb)
    outcome = act(consent)
    verbose = consent.verbose
    if not plan_only:
        consent.settle(bad_news_rows(outcome, verbose=verbose))
    planned = not consent.shown and (plan_only or not outcome.installed)
    news = "" if consent.shown or planned else bad_news_rows(outcome, verbose=verbose)
    text = outcome_text(outcome, done=not planned, news=news)
    if planned and not values.json:
        say(unshown_plan(outcome, verbose=verbose))
        write(changes_text(outcome))
    answer(values, outcome, text)
    return outcome


def report(
    outcome: Outcome, values: Values, *, done: bool = True, added: str = DONE_WORDS["add"]
) -> None:
    """Print an outcome that nobody was asked about; its plan as well, where nothing was done."""
    planned = "" if done else unshown_plan(outcome._replace(refused=(), held=()))
    answer(values, outcome, planned + outcome_text(outcome, done=done, added=added))


TRUST_HINT = "hint: review them with metier list, then run: metier trust project ."


def waiting_for_trust(m: Library) -> str:
    """Say how many skills wait because nobody trusts the project; nothing when none does."""
    count = sum(card.state == "ask" and card.held == "project" for card in m.skills(all=True))
    are = "is" if count == 1 else "are"
    why = "because you haven't trusted this project yet"
    return f"{count:,} skill{'' if count == 1 else 's'} {are} waiting, {why}" if count else ""


def read_key(terminal: int) -> bytes:
    """Give the next key, without an Enter after it where the terminal can do that; nothing when
    there is nobody any more.
    """
    try:
        import termios
        import tty
    except ImportError:  # Windows: a line at a time
        return sys.stdin.readline()[:1].encode()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSANOW)
        return os.read(terminal, 1)
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)
