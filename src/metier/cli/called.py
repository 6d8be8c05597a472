"""`metier run` for a code skill: the task in, its answer out, and a person's words where the skill may destroy something."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from metier import cli
from metier.cli import output, run_
from metier.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from metier.app import Library
    from metier.cli.argv import Values
    from metier.model import Card
    from metier.running.confirming import Asker
    from metier.running.foreseeing import Foreseen
    from metier.runs import Ran

_SCRIPTS_ONLY = ("unsandboxed", "raw")


def run(m: Library, card: Card, task: str, values: Values) -> int:
    """Call a code skill with a task; exit 1 when it leaves the task to others."""
    wrong = next((option for option in _SCRIPTS_ONLY if values[option]), "")
    if wrong:
        raise UsageError(f"--{wrong} is for scripts; '{card.name}' is a code skill", hint="leave it out")
    lent = run_.lent_by(values)
    seen = m.preview_run(card.path, task, **lent)
    if values["dry_run"]:
        return run_.shown(seen, values)
    run_.tell(seen)
    try:
        ran = m.run(card.path, task, **lent, consent=bool(values["yes"]), act=cli.text_of(values["act"]) or "",
                    ask=_asker(seen) if run_.terminal(values) else None, hear=None if values["json"] else run_.say,
                    door="cli")  # fmt: skip
    except RefusedError as error:
        if error.code in {"ask", "consent"}:
            error.hint = run_.NOBODY if error.code == "ask" else f"look with --dry-run, then say it with --act {_act(error)}"
        raise
    if not values["json"]:
        _say(ran)
    return run_.ended(ran, values)


def _asker(seen: Foreseen) -> Asker:
    """Give what asks a person, who sees once what the skill would be allowed."""
    shown = "\n".join(run_.words_of(seen)) + "\n\n"

    def ask(question: str, _act: str) -> str:
        nonlocal shown
        output.clear_meter()
        sys.stderr.write(f"{shown}{output.clean(question, lines=True)}\n> ")
        sys.stderr.flush()
        shown = ""
        return sys.stdin.readline()

    return ask


def _act(error: RefusedError) -> str:
    act = str(error.details.get("act", ""))
    return shlex.quote(act) if act.isprintable() else repr(act)


def _say(ran: Ran) -> None:
    if ran.declined:
        output.note(f"'{ran.name}' left the task to others")
    elif ran.error:
        output.note(f"error: {ran.error}")
    elif ran.result:
        output.write(ran.result + ("" if ran.result.endswith("\n") else "\n"))
