"""`metier run`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TypedDict

from metier import cli
from metier.cli import consent, ending, output
from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.running.given import LONGEST
from metier.runs import REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.cli.argv import Values
    from metier.model import Card
    from metier.running.foreseeing import Foreseen
    from metier.runs import Ran

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
            with ending.tidily(), library as m:
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
    lent = lent_by(values)
    seen = m.preview_run(path, script, arguments, **lent, unsandboxed=bool(values["unsandboxed"]))
    if values["act"]:
        raise UsageError(f"--act is for code skills; '{seen.plan.name}' is none", hint="leave it out: --yes agrees to a script")
    secret = seen.plan.environment or any(file.there for file in seen.plan.files)
    if values["raw"] and secret:  # nobody is shown or asked for what will not be
        raise UsageError("it is lent secrets, so its output is cleaned", hint="leave --raw out")
    if values["dry_run"]:
        return shown(seen, values)
    agreed, digest = bool(values["yes"]), ""
    if seen.plan.allowed and not agreed and _has_to_ask(seen, values):
        _ask(seen, values)
        agreed, digest = True, seen.plan.digest or ""
    tell(seen)
    raw = _raw if values["raw"] else None
    ran = m.run(path, script, arguments, consent=agreed, install=agreed, **lent, unsandboxed=bool(values["unsandboxed"]),
                shown=digest, hear=None if values["json"] else say, raw=raw, feed=feed(), door="cli")  # fmt: skip
    return ended(ran, values)


class Lending(TypedDict):
    """What the options lend to one run, as the library takes it."""

    network: bool
    read: list[str]
    write: list[str]
    seconds: int


def lent_by(values: Values) -> Lending:
    """Give what the options lend to this run."""
    read, write = values["read"], values["write"]
    assert isinstance(read, list)
    assert isinstance(write, list)
    seconds = cli.number_of(values, "timeout", LONGEST) or 0
    return {"network": bool(values["network"]), "read": read, "write": write, "seconds": seconds}


def tell(seen: Foreseen) -> None:
    """Say before a run what it does not get, what it is lent for nothing, where it starts, and that nothing keeps it in."""
    from metier.running import cages, words

    for line in seen.withheld:
        output.note(f"not granted: {line}")
    if seen.ignored:
        output.note(f"lent for nothing, since nothing is kept from it there: {', '.join(seen.ignored)}")
    elsewhere = cages.left_behind(seen.cage) if seen.where == "sandbox" else ""
    if elsewhere:
        output.note(elsewhere)
    if seen.where == "bare" and seen.plan.allowed:  # by this very command; what runs in metier itself, configuration says
        output.note(f"warning: {words.BARE}")


def terminal(values: Values) -> bool:
    """Tell whether there is a person to ask."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)) and not values["json"]


def _has_to_ask(seen: Foreseen, values: Values) -> bool:
    """Tell whether policy wants a yes, or packages do; where nobody can be asked, those are refused by their own name later."""
    return seen.planned.plan.asks or (terminal(values) and seen.plan.asks)


def _ask(seen: Foreseen, values: Values) -> None:
    """Show a person what they are asked to say yes to."""
    if values["json"]:
        raise RefusedError("a document cannot ask, so nothing was run", code="ask", hint=NOBODY)
    question = "\n".join(words_of(seen)) + f"\n\nRun '{output.clean(seen.planned.card.name)}' like this?"
    try:
        consent.agreed(values, question)
    except UsageError as error:
        raise RefusedError("nothing was run: it needs a person's yes", code="ask", hint=NOBODY) from error


def shown(seen: Foreseen, values: Values) -> int:
    """Show what would happen, and whether it may: exit 1 when it may not."""
    if values["json"]:
        from metier.running import words

        output.write(output.json_text(words.as_document(seen)) + "\n")
    else:
        output.write("\n".join(words_of(seen)) + "\n")
    return 0 if seen.plan.allowed else 1


def words_of(seen: Foreseen) -> list[str]:
    """Say what a run would be allowed, in lines that are safe to show."""
    from metier.running import words

    return [output.clean(line) for line in words.in_words(seen)]


# --- while it runs


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
    """Say how it ended where that is not plain, and give the exit code: 1 for a code skill that left the task to others."""
    code = ran.code or int(ran.declined)
    if values["json"]:
        output.write(output.json_text(_document(ran, code)) + "\n")
    elif ran.stopped:
        output.note(f"metier stopped it after {ran.seconds:.1f} s: {_STOPPED.get(ran.stopped, ran.stopped)}")
    return code


def _document(ran: Ran, code: int) -> dict[str, object]:
    return {"name": ran.name, "script": ran.script, "exit_code": code, "output": ran.output, "stopped": ran.stopped,
            "seconds": round(ran.seconds, 3), "truncated": ran.truncated, "digest": ran.digest, "sandboxed": ran.sandboxed,
            "result": ran.result, "error": ran.error, "declined": ran.declined}  # fmt: skip
