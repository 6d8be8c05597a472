"""Runs by a host's own runner: after the same gates, and noted down alike. What keeps the script in is then the host's part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metier import counting, preparing, recording
from metier.disclose.tokens import estimate
from metier.errors import RefusedError
from metier.secrets.masking import masked
from metier.standard.names import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.model import Card
    from metier.ports import Runner


def run(
    library: Library, runner: Runner, card: Card, script: str, args: list[str], shown: Callable[[str], str]
) -> tuple[int, str]:  # fmt: skip
    """Let a host run a script; give its exit code and what it printed, without the values that it was lent, as it may be shown."""
    plan = library.plan_run(card.path, script, args)
    if not plan.allowed or plan.asks:
        refused = RefusedError(f"'{one_line(card.name)}' may not run '{script[:200]}'", code="ask" if plan.allowed else "refused",
                               hint="tell the user why, and what is missing")  # fmt: skip
        refused.details["reasons"] = list(plan.reasons)
        raise refused
    environment = preparing.environment_of(library, card.path)
    noted: dict[str, Any] = {"name": card.name, "digest": plan.digest, "path": card.path, "script": script}
    try:
        code, output = runner.run(card, script, args, environment)
        text = shown(masked(output, environment))
    except Exception as error:
        counting.note(library, card, "failure")
        recording.record(library, "run", "failed", **noted, error=type(error).__name__)
        raise
    counting.note(library, card, "failure" if code else "run", estimate(text))
    recording.record(library, "run", "failed" if code else "done", **noted, exit_code=code)
    return code, text
