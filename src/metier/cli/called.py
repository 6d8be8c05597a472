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
    from metier.runs import Ran

_SCRIPTS_ONLY = ("unsandboxed", "raw")


def run(m: Library, card: Card, task: str, values: Values) -> int:
    """Call a code skill with a task; exit 1 when it leaves the task to others."""
    from metier.running import code

    wrong = next((option for option in _SCRIPTS_ONLY if values[option]), "")
    if wrong:
        raise UsageError(f"--{wrong} is for scripts; '{card.name}' is a code skill", hint="leave it out")
    if values["dry_run"]:
        return _shown(m, card, task, values)
    lent = run_.lent(values)
    asker = _asker(m, card, task, values) if run_.terminal(values) else None
    try:
        ran = code.call(m, card.path, task, lent=lent, consent=cli.text_of(values["act"]) or "", ask=asker,
                        agreed=bool(values["yes"]), hear=None if values["json"] else run_.say, door="cli")  # fmt: skip
    except RefusedError as error:
        if error.code in {"ask", "consent"}:
            error.hint = run_.NOBODY if error.code == "ask" else f"look with --dry-run, then say it with --act {_act(error)}"
        raise
    if not values["json"]:
        _say(ran)
    return run_.ended(ran, values) or int(ran.declined)


def _asker(m: Library, card: Card, task: str, values: Values) -> Asker:
    """Give what asks a person, who sees once what the skill would be allowed."""
    shown = "\n".join(_words(m, card, task, values)) + "\n\n"

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


def _words(m: Library, card: Card, task: str, values: Values) -> list[str]:
    from metier.running import planning

    return run_.words_of(m, planning.planned(m, card.path, "", (task,), run_.lent(values)), values)


def _shown(m: Library, card: Card, task: str, values: Values) -> int:
    from metier.running import planning

    return run_.shown(m, planning.planned(m, card.path, "", (task,) if task else (), run_.lent(values)), values)
