"""Runs what a model asks for, in metier's sandbox or by the host's own runner: nobody is there to
say yes, so what needs one is refused.

A host's runner is used after the same gates, and noted down alike. What keeps the script in is then
the host's part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError
from metier.run import code, needs, plan as planning, run_script
from metier.run.model import Lent, never
from metier.secrets.mask import mask
from metier.standard.names import one_line
from metier.trust.source_rules import is_ruled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.context import Context
    from metier.model import Card
    from metier.ports import Runner
    from metier.run.model import Ran, Stopped
    from metier.run.plan import Planned
    from metier.trust.decide import Usable


class ModelRunManner(NamedTuple):
    """How a door wants a script run."""

    door: str = "tools"
    seconds: int = 0
    """A shorter time than configuration says; 0 takes that."""
    stopped: Stopped | None = None
    destructive: bool = False
    """Whether the user's configuration lets models run destructive skills."""
    shown: str = ""
    """The digest that the model was given: no other bytes of a script are run."""


PLAIN_MODEL_RUN = ModelRunManner()


def run(
    context: Context,
    card: Card,
    script: str,
    args: Sequence[str],
    how: ModelRunManner = PLAIN_MODEL_RUN,
) -> Ran:
    """Run a script, or call a code skill with a task in the place of it and the rest as context."""
    most = context.settings.run.seconds
    lent = Lent(seconds=min(how.seconds or most, most))
    if card.kind == "code":
        return code.call(
            context,
            card.path,
            script,
            "\n".join(args),
            configured=how.destructive,
            lent=lent,
            stopped=how.stopped,
            door=how.door,
        )
    options = run_script.RunOptions(lent=lent, shown=how.shown, door=how.door)
    listeners = run_script.RunListeners(stopped=how.stopped or never)
    return run_script.run(context, card.path, script, args, options, listeners)


def run_by_host(
    context: Context,
    runner: Runner,
    card: Card,
    script: str,
    args: list[str],
    shown: Callable[[str], tuple[str, bool]],
) -> tuple[int, str, bool]:
    """Let a host run a script; give its exit code and what it printed, without the values that it
    was lent, as it may be shown.

    What is shown comes with whether it is less than was printed.
    """
    planned = planning.plan_script(context, card.path, script, args)
    plan = planned.plan
    if not plan.allowed or plan.asks:  # whatever metier's own sandbox would say to it
        raise RefusedError(
            f"'{one_line(card.name)}' may not run '{script[:200]}'",
            code="ask" if plan.allowed else "policy" if is_ruled(plan.reasons) else "refused",
            hint="tell the user why, and what is missing",
        ).with_details(reasons=plan.reasons)
    permitted = run_script.permit(context, planned, consent=False)
    return _run_by_host(context, permitted, runner, script, args, shown)


def _run_by_host(
    context: Context,
    permitted: Usable[Planned],
    runner: Runner,
    script: str,
    args: list[str],
    shown: Callable[[str], tuple[str, bool]],
) -> tuple[int, str, bool]:
    card = permitted.candidate.card
    environment = needs.environment_of(context, card.path)
    noted = {
        "name": card.name,
        "digest": permitted.candidate.plan.digest,
        "path": card.path,
        "script": script,
        "policy": {"sandboxed": False, "runner": "host", "variables": sorted(environment)},
    }
    began = context.ports.clock_ns()
    with run_script.note_failure(context, card, noted):
        code, output = runner.run(card, script, args, environment)
        text, cut = shown(mask(output, environment))
    run_script.note_end(context, card, noted, text, code, run_script.elapsed(context, began))
    return code, text, cut
