"""`metier run`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from metier import cli
from metier.cli import consent, output
from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.runs import REFUSED, Lent

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.model import Card
    from metier.running.planning import Planned
    from metier.running.scripts import Ears
    from metier.runs import Ran

LONGEST = 24 * 3600
_STOPPED = {
    "time": "it took longer than it may", "output": "it printed more than it may", "memory": "it took more memory than it may",
    "processes": "it started more processes than it may", "asked": "it was stopped",
}  # fmt: skip
NOBODY = "look with --dry-run, then say it with --yes"


def run(values: Values) -> int:
    """Run a script or a code skill; its exit code is ours, and 125 says that metier itself refused."""
    try:
        library = cli.library(values)
        try:
            with library as m:
                return _ran(m, values)
        finally:
            for warning in library.warnings:
                output.note(f"warning: {warning}")
    except MetierError as error:
        if type(error) is not UsageError:  # a script may well end with 1 or 2
            error.exit_code = REFUSED
        raise


def _ran(m: Library, values: Values) -> int:
    operands, rest = values["operands"], values["rest"]
    assert isinstance(operands, list)
    assert isinstance(rest, list)
    name, *words = operands[: len(operands) - len(rest)] or [""]
    if not name:
        raise UsageError("metier run needs NAME, before any --", hint="see: metier run --help")
    if values["raw"] and values["json"]:
        raise UsageError("--raw and --json exclude each other", hint="leave one of them out")
    card = _card(m, name)
    if card.kind == "code":
        from metier.cli import called

        return called.run(m, card, " ".join([*words, *rest]), values)
    if len(words) > 1:
        raise UsageError(f"unexpected '{words[1]}'", hint=f"what the script is to receive stands after --: metier run {name} "
                         f"{words[0]} -- {' '.join(words[1:])}")  # fmt: skip
    return _script(m, card.path, words[0] if words else "", rest, values)


def _card(m: Library, name: str) -> Card:
    try:
        return m.resolve(name)
    except NotFoundError as error:
        if "/" in name:
            error.hint = "a skill that lies elsewhere is run with --root and the folder that it lies in, then its name"
        raise


def _script(m: Library, path: str, script: str, arguments: list[str], values: Values) -> int:
    from metier.running import planning, scripts, words

    card = m.resolve(path)
    if values["unsandboxed"]:
        scripts.box_for(m, scripts.Wish(unsandboxed=True))  # nobody is shown or asked for what will be refused
    planned = planning.planned(m, card.path, scripts.chosen(m, card, script), arguments, lent(values))
    if values["dry_run"]:
        return shown(m, planned, values)
    agreed, seen = bool(values["yes"]), ""
    if planned.plan.allowed and not agreed and _has_to_ask(m, planned, values):
        _ask(m, planned, values)
        agreed, seen = True, planned.plan.digest or ""
    wish = scripts.Wish(agreed, agreed, lent(values), bool(values["unsandboxed"]), seen, "cli")
    for line in planned.granted.refused:
        output.note(f"not granted: {line}")
    if values["unsandboxed"]:
        output.note(f"warning: {words.BARE}")
    ran = scripts.run(m, card.path, planned.plan.script, arguments, wish, _ears(values))
    return ended(ran, values)


def lent(values: Values) -> Lent:
    """Give what the options lend to this run."""
    seconds = cli.number_of(values, "timeout", LONGEST) or 0
    return Lent(bool(values["network"]), _listed(values, "read"), _listed(values, "write"), seconds)


def _listed(values: Values, option: str) -> tuple[str, ...]:
    found = values[option]
    assert isinstance(found, list)
    return tuple(found)


def terminal(values: Values) -> bool:
    """Tell whether there is a person to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)) and not values["json"]


def _has_to_ask(m: Library, planned: Planned, values: Values) -> bool:
    """Tell whether policy wants a yes, or packages do; where nobody can be asked, those are refused by their own name later."""
    from metier.running import words

    return planned.plan.asks or (terminal(values) and words.would_install(m, planned))


def _ask(m: Library, planned: Planned, values: Values) -> None:
    """Show a person what they are asked to say yes to."""
    if values["json"]:
        raise RefusedError("a document cannot ask, so nothing was run", code="ask", hint=NOBODY)
    question = "\n".join(words_of(m, planned, values)) + f"\n\nRun '{output.clean(planned.card.name)}' like this?"
    try:
        consent.agreed(values, question)
    except UsageError as error:
        raise RefusedError("nothing was run: it needs a person's yes", code="ask", hint=NOBODY) from error


def shown(m: Library, planned: Planned, values: Values) -> int:
    """Show what would happen, and whether it may: exit 1 when it may not."""
    if values["json"]:
        from metier.running import words

        output.write(output.json_text(words.as_document(m, planned, bare=bool(values["unsandboxed"]))) + "\n")
    else:
        output.write("\n".join(words_of(m, planned, values)) + "\n")
    return 0 if planned.plan.allowed else 1


def words_of(m: Library, planned: Planned, values: Values) -> list[str]:
    """Say what a run would be allowed, in lines that are safe to show."""
    from metier.running import words

    return [output.clean(line) for line in words.in_words(m, planned, bare=bool(values["unsandboxed"]))]


# --- while it runs


def _ears(values: Values) -> Ears:
    from metier.running.scripts import Ears

    quiet = bool(values["json"])
    if values["raw"]:
        return Ears(raw=_raw, feed=feed())
    return Ears(hear=None if quiet else say, feed=feed())


def say(stream: str, text: str) -> None:
    """Print what a script says, at once."""
    if stream == "err":
        output.clear_meter()
        output.remark(text)
    else:
        output.write(text)
        output.flush()


def _raw(stream: str, data: bytes) -> None:
    target = sys.stderr.buffer if stream == "err" else sys.stdout.buffer
    target.write(data)
    target.flush()


def feed() -> Callable[[int], bytes] | None:
    """Give what reads standard input for the script: none from a terminal, which is the person's."""
    try:
        if sys.stdin is None or sys.stdin.isatty():
            return None
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):  # closed, or something of the caller's that is no file
        return None
    return lambda size: os.read(descriptor, size)


def ended(ran: Ran, values: Values) -> int:
    """Say how it ended where that is not plain, and give the exit code."""
    if values["json"]:
        output.write(output.json_text(_document(ran)) + "\n")
    elif ran.stopped:
        output.note(f"metier stopped it after {ran.seconds:.1f} s: {_STOPPED.get(ran.stopped, ran.stopped)}")
    return ran.code


def _document(ran: Ran) -> dict[str, object]:
    return {"name": ran.name, "script": ran.script, "exit_code": ran.code, "output": ran.output, "stopped": ran.stopped or None,
            "seconds": round(ran.seconds, 3), "truncated": ran.truncated, "digest": ran.digest, "sandboxed": ran.sandboxed,
            "result": ran.result, "error": ran.error or None, "declined": ran.declined}  # fmt: skip
