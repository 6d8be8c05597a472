"""Runs by a host's own runner: after the same gates, and noted down alike. What keeps the script in is then the host's part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metier import counting, preparing, recording
from metier.disclose.tokens import estimate
from metier.errors import RefusedError
from metier.running import planning
from metier.running.scripts import broken_off, elapsed
from metier.secrets.masking import masked
from metier.standard.names import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.model import Card
    from metier.ports import Runner


def run(
    library: Library, runner: Runner, card: Card, script: str, args: list[str], shown: Callable[[str], tuple[str, bool]]
) -> tuple[int, str, bool]:  # fmt: skip
    """Let a host run a script; give its exit code and what it printed, without the values that it was lent, as it may be shown.

    What is shown comes with whether it is less than was printed.
    """
    plan = planning.planned(library, card.path, script, args).plan  # not what metier's own sandbox would say to it
    if not plan.allowed or plan.asks:
        refused = RefusedError(f"'{one_line(card.name)}' may not run '{script[:200]}'", code="ask" if plan.allowed else "refused",
                               hint="tell the user why, and what is missing")  # fmt: skip
        refused.details["reasons"] = list(plan.reasons)
        raise refused
    environment = preparing.environment_of(library, card.path)
    noted: dict[str, Any] = {"name": card.name, "digest": plan.digest, "path": card.path, "script": script,
             "policy": {"sandboxed": False, "runner": "host", "variables": sorted(environment)}}  # fmt: skip
    began = library.ports.clock_ns()
    try:
        code, output = runner.run(card, script, args, environment)
        text, cut = shown(masked(output, environment))
    except BaseException as error:
        counting.note(library, card, "failure")
        recording.record(library, "run", "failed", **noted, **broken_off(library, error, began))
        raise
    counting.note(library, card, "failure" if code else "run", estimate(text))
    recording.record(library, "run", "failed" if code else "done", **noted, exit_code=code,
                     seconds=elapsed(library, began))  # fmt: skip
    return code, text, cut
