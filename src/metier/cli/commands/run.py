"""Runs `metier run`: it runs a script, calls a code skill with a task, or shows the plan for
either.

A code skill that may destroy something asks first, and the answer must name the act.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from typing import TYPE_CHECKING, TypedDict

from metier.cli import consent
from metier.cli.argv import CommandRow, Option, Values, contradiction
from metier.cli.main import exit_on_signal, opened
from metier.cli.output import (
    answer,
    clean,
    clear_meter,
    flush,
    lines,
    note,
    remark,
    say,
    warn,
    write,
    write_json,
)
from metier.errors import MetierError, RefusedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.library import Library
    from metier.model import Card
    from metier.run.confirm import Asker
    from metier.run.model import Ran
    from metier.run.output import DenialReader
    from metier.run.preview import RunPreview


_STOPPED = {
    "time": "it took longer than it may",
    "output": "it printed more than it may",
    "memory": "it took more memory than it may",
    "processes": "it started more processes than it may",
    "lent": "it wrote more into the folders it was lent than it may",
    "asked": "it was stopped",
}
_STOPPED_HINTS = {
    "time": "give it more with --timeout SECONDS",
    "output": "run.output_bytes in your configuration allows more",
    "memory": "run.memory_bytes in your configuration allows more",
    "processes": "run.processes in your configuration allows more",
    "lent": "what it wrote is still there; run.lent_bytes in your configuration allows more",
}
ERROR_HOLD_SECONDS = 0.15
"""How long what a script says on standard error waits, so that what follows can be read with it."""
MAX_TRACEBACK_SECONDS = 1.0
"""How long a traceback that goes on waits at most."""
MAX_HELD_CHARS = 65_536
"""Of standard error, how much waits at most."""
TRACEBACK = "Traceback (most recent call last):"
ASK_HINT = "look with --dry-run, then say it with --yes"


def run(values: Values) -> int:
    """Run a script or a code skill; its exit code is ours, and 125 says that metier itself
    refused.
    """
    try:
        with exit_on_signal(), opened(values) as m:
            return _run_named(m, values)
    except MetierError as error:
        if type(error) is not UsageError:  # a script may well end with 1 or 2
            from metier.run.model import REFUSED

            error.exit_code = REFUSED
        raise


def _run_named(m: Library, values: Values) -> int:
    rest = values.rest
    name, *words = values.words[: len(values.words) - len(rest)] or [""]
    if not name:
        raise UsageError("metier run needs NAME, before any --", hint="see: metier run --help")
    if values.flag("raw") and values.json:
        raise contradiction("--raw", "--json", "exclude")
    card = m.resolve(name)
    if card.kind == "code":
        return call_code_skill(m, card, " ".join([*words, *rest]), values)
    if len(words) > 1:
        raise UsageError(
            f"unexpected '{words[1]}'",
            hint=f"what the script is to receive stands after --: metier run {name} "
            f"{words[0]} -- {' '.join(words[1:])}",
        )
    script = words[0] if words else ""
    if values.flag("suggest"):
        return _suggest(m, card, script, values)
    return _script(m, card.path, script, rest, values)


def _suggest(m: Library, card: Card, script: str, values: Values) -> int:
    """Say what a script needed when its skill was observed."""
    found = m.suggest_run(card.path, script)
    if values.json:
        write_json(found._asdict())
        return 0
    needed = [
        *(f"network: {clean(host)}" for host in found.hosts),
        *(f"read: {clean(path)}" for path in found.reads),
        *(f"write: {clean(path)}" for path in found.writes),
    ]
    say(f"In the last observation ({found.level}), {clean(found.script)} needed:\n")
    say(lines(needed or ["nothing else"], "  "))
    name = shlex.quote(card.name)
    say(f"Run it with: metier run {' '.join([name, shlex.quote(found.script), *found.options])}\n")
    return 0


def _script(m: Library, path: str, script: str, arguments: list[str], values: Values) -> int:
    lent = granted_by(values)
    unsandboxed = values.flag("unsandboxed")
    raw = values.flag("raw")
    seen = m.preview_run(path, script, arguments, **lent, unsandboxed=unsandboxed)
    if values.flag("act"):
        raise UsageError(
            f"--act is for code skills; '{seen.plan.name}' is none",
            hint="leave it out: --yes agrees to a script",
        )
    secret = seen.plan.environment or any(file.there for file in seen.plan.files)
    if raw and secret:  # nobody is shown or asked for what will not be
        raise UsageError("it is lent secrets, so its output is cleaned", hint="leave --raw out")
    if values.flag("dry_run"):
        return show_plan(seen, values)
    agreed = values.flag("yes")
    digest = ""
    # Where nobody can be asked about packages, they are refused by their own name later.
    asks = seen.planned.plan.asks or (_can_ask(values) and seen.plan.asks)
    if seen.plan.allowed and not agreed and asks:
        _ask(seen, values)
        agreed = True
        digest = seen.plan.digest or ""
    tell_limits(seen)
    denials = denials_of(m, seen, values)
    with ScriptOutput(denials) as printed:
        ran = m.run(
            path,
            script,
            arguments,
            consent=agreed,
            install=agreed,
            **lent,
            unsandboxed=unsandboxed,
            shown=digest,
            hear=None if values.json else printed.hear,
            raw=_raw if raw else None,
            feed=input_reader(),
            stopped=None if raw or values.json else printed.tick,
            door="cli",
        )
    return report_end(ran, values, denials)


def denials_of(m: Library, seen: RunPreview, values: Values) -> DenialReader | None:
    """Give what tells which failures are refusals of the sandbox; a document has all of them, and
    a person is not told twice.
    """
    from metier.run import preview

    return preview.denials_of(m.context, seen, once=not values.json)


class RunGrants(TypedDict):
    """What the options lend to one run, as the library takes it."""

    network: bool
    read: list[str]
    write: list[str]
    seconds: int


def granted_by(values: Values) -> RunGrants:
    """Give what the options lend to this run."""
    from metier.run.inputs import MAX_RUN_SECONDS

    return {
        "network": values.flag("network"),
        "read": values.many("read"),
        "write": values.many("write"),
        "seconds": values.number("timeout", MAX_RUN_SECONDS) or 0,
    }


def tell_limits(seen: RunPreview) -> None:
    """Say before a run what it does not get, what it is lent for nothing, where it starts, and that
    nothing keeps it in.
    """
    from metier.run import cages, preview

    for line in seen.withheld:
        note(f"not granted: {line}")
    if seen.ignored:
        note(f"lent for nothing, since nothing is kept from it there: {', '.join(seen.ignored)}")
    elsewhere = cages.left_behind(seen.cage) if seen.where == "sandbox" else ""
    if elsewhere:
        note(elsewhere)
    # by this very command; what runs in metier itself, configuration says
    if seen.where == "bare" and seen.plan.allowed:
        warn([preview.UNSANDBOXED_WARNING])


def _can_ask(values: Values) -> bool:
    return consent.has_person() and not values.json


def _ask(seen: RunPreview, values: Values) -> None:
    """Show a person what they are asked to say yes to."""
    if values.json:
        raise RefusedError("a document cannot ask, so nothing was run", code="ask", hint=ASK_HINT)
    try:
        consent.require_yes(
            values,
            f"{plan_text(seen)}\nRun '{clean(seen.planned.card.name)}' like this?",
            declined="nothing was run",
        )
    except consent.DeclinedError:
        raise
    except UsageError as error:
        raise RefusedError(
            "nothing was run: it needs a person's yes", code="ask", hint=ASK_HINT
        ) from error


def show_plan(seen: RunPreview, values: Values) -> int:
    """Show what would happen, and whether it may: exit 1 when it may not."""
    from metier.run import preview

    answer(values, seen, plan_text, preview.as_document(seen))
    return 0 if seen.plan.allowed else 1


def plan_text(seen: RunPreview) -> str:
    """Say what a run would be allowed, in lines that are safe to show."""
    from metier.run import preview

    return lines(preview.describe(seen), "")


# --- while it runs


def print_output(stream: str, text: str) -> None:
    """Print what a script says, at once."""
    if stream == "err":
        clear_meter()
        remark(text)
    else:
        write(text)
        flush()


class ScriptOutput:
    """Prints what a script says as it comes, and what the sandbox refused before the script's own
    words about it.

    Standard output is printed at once. What comes on standard error waits for a moment, because
    the line that shows a refusal is the last one of a traceback; a traceback that goes on waits a
    little longer. Neither waits for long or grows without bounds, and what is printed on standard
    output later is shown later.
    """

    def __init__(
        self,
        denials: DenialReader | None,
        show: Callable[[str, str], None] = print_output,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing held."""
        self._denials = denials
        self._show = show
        self._clock = clock
        self._held = ""
        self._since = 0.0

    def __enter__(self) -> ScriptOutput:
        """Listen."""
        return self

    def __exit__(self, *error: object) -> None:
        """Show what is still held, however the run ended."""
        self._release()

    def hear(self, stream: str, text: str) -> None:
        """Take the next words of a stream."""
        if stream != "err" or self._denials is None:
            if not self._is_in_traceback():
                self._release()
            self._show(stream, text)
            return
        self._since = self._since if self._held else self._clock()
        self._held += text
        if len(self._held) > MAX_HELD_CHARS:
            self._release()

    def tick(self) -> bool:
        """Show what has waited long enough; never ask for the run's end."""
        waited = self._clock() - self._since if self._held else 0.0
        if waited > MAX_TRACEBACK_SECONDS:
            self._release()
        elif waited > ERROR_HOLD_SECONDS:
            at = self._held.rfind(TRACEBACK) if self._is_in_traceback() else len(self._held)
            self._release(at)
        return False

    def _is_in_traceback(self) -> bool:
        """Tell whether a traceback has begun whose last line, which is not indented, is not whole
        yet.
        """
        _before, begun, after = self._held.rpartition(TRACEBACK)
        lines = after.split("\n")[1:-1]
        return bool(begun) and not any(line and not line.startswith(" ") for line in lines)

    def _release(self, end: int | None = None) -> None:
        text = self._held[:end]
        self._held = self._held[len(text) :]
        if text:
            tell_denials(self._denials, text)
            self._show("err", text)


def tell_denials(denials: DenialReader | None, text: str) -> None:
    """Say what the sandbox refused and which option grants it, as far as a text shows it."""
    for line in denials.read(text) if denials is not None else ():
        note(line, "denied", "yellow")


def _raw(stream: str, data: bytes) -> None:
    target = sys.stderr.buffer if stream == "err" else sys.stdout.buffer
    target.write(data)
    target.flush()


def input_reader() -> Callable[[int], bytes] | None:
    """Give what reads standard input for the script: none from a terminal, which is the
    person's.
    """
    try:
        if sys.stdin is None or sys.stdin.isatty():
            return None
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError):  # closed, or something of the caller's that is no file
        return None
    return lambda size: os.read(descriptor, size)


def report_end(ran: Ran, values: Values, denials: DenialReader | None) -> int:
    """Say how it ended where that is not plain, and give the exit code: 1 for a code skill that
    left the task to others.
    """
    code = ran.code or int(ran.declined)
    if values.json:
        denied = denials.read(f"{ran.output}\n{ran.error}") if denials is not None else []
        write_json({**_document(ran, code), "denied": denied})
    elif ran.stopped:
        why = _STOPPED.get(ran.stopped, ran.stopped)
        hint = _STOPPED_HINTS.get(ran.stopped, "")
        note(f"metier stopped it after {ran.seconds:.1f} s: {why}{hint and f'; {hint}'}")
    return code


DOCUMENT_FIELDS = (
    "name",
    "script",
    "exit_code",
    "output",
    "stopped",
    "seconds",
    "truncated",
    "digest",
    "sandboxed",
    "result",
    "error",
    "declined",
)


def _document(ran: Ran, code: int) -> dict[str, object]:
    found = {**ran._asdict(), "exit_code": code, "seconds": round(ran.seconds, 3)}
    return {field: found[field] for field in DOCUMENT_FIELDS}


_SCRIPTS_ONLY = ("unsandboxed", "raw")


def call_code_skill(m: Library, card: Card, task: str, values: Values) -> int:
    """Call a code skill with a task; exit 1 when it leaves the task to others."""
    wrong = next((option for option in _SCRIPTS_ONLY if values.flag(option)), "")
    if wrong:
        raise UsageError(
            f"--{wrong} is for scripts; '{card.name}' is a code skill", hint="leave it out"
        )
    lent = granted_by(values)
    seen = m.preview_run(card.path, task, **lent)
    if values.flag("dry_run"):
        return show_plan(seen, values)
    tell_limits(seen)
    denials = denials_of(m, seen, values)
    try:
        with ScriptOutput(denials) as printed:
            ran = m.run(
                card.path,
                task,
                **lent,
                consent=values.flag("yes"),
                act=values.text("act"),
                ask=_asker(seen) if _can_ask(values) else None,
                hear=None if values.json else printed.hear,
                stopped=None if values.json else printed.tick,
                door="cli",
            )
    except RefusedError as error:
        if error.code in {"ask", "consent"}:
            error.hint = (
                ASK_HINT
                if error.code == "ask"
                else f"look with --dry-run, then say it with --act {_quoted_act(error)}"
            )
        raise
    if not values.json:
        tell_denials(denials, ran.error)
        _print_answer(ran)
    return report_end(ran, values, denials)


def _asker(seen: RunPreview) -> Asker:
    """Give what asks a person, who sees once what the skill would be allowed."""
    shown = plan_text(seen) + "\n"

    def ask(question: str, _act: str) -> str:
        nonlocal shown
        clear_meter()
        remark(f"{shown}{clean(question, lines=True)}\n> ")
        shown = ""
        said = sys.stdin.readline()
        clear_meter()
        return said

    return ask


def _quoted_act(error: RefusedError) -> str:
    act = str(error.details.get("act", ""))
    return shlex.quote(act) if act.isprintable() else repr(act)


def _print_answer(ran: Ran) -> None:
    if ran.declined:
        note(f"'{ran.name}' left the task to others")
    elif ran.error:
        note(f"error: {ran.error}")
    elif ran.result:
        write(ran.result + ("" if ran.result.endswith("\n") else "\n"))


ROWS = (
    CommandRow(
        "run",
        operands="NAME [SCRIPT|TASK...]",
        options=(
            Option("--dry-run", "show what it would be allowed, in words, and run nothing"),
            Option("--suggest", "show what it needed when it was observed, and run nothing"),
            Option("--yes", "say yes to this run, and to installing what the script declares"),
            Option("--network", "let it reach the network, where it declares that it needs to"),
            Option(
                "--read",
                "lend it this file or folder to read (may be repeated)",
                "PATH",
                repeat=True,
            ),
            Option(
                "--write",
                "lend it this file or folder to change (may be repeated)",
                "PATH",
                repeat=True,
            ),
            Option(
                "--timeout",
                "end it after so many seconds (run.seconds says how long otherwise)",
                "SECONDS",
            ),
            Option(
                "--act",
                "agree to what a destructive code skill does, in words that name it",
                "WORDS",
            ),
            Option(
                "--raw", "hand on its output as the bytes they are; only where it is lent no secret"
            ),
            Option(
                "--unsandboxed",
                "run it without a sandbox; exists only with run.allow_unsandboxed, and is "
                "noted down",
            ),
        ),
        examples={
            "metier run pdf scripts/fill.py --dry-run": "what it would be allowed, before anything happens",
            "metier run pdf scripts/fill.py --read form.pdf -- form.pdf": "lend it one file, and name that file to it",
            "metier run report --write out/ -- --format html": "its only script, with a folder to write to",
            "metier run weather 'will it rain in Oslo'": "a code skill: the words are its task",
        },
        detail="The skill's folder can be read, a scratch folder written; there is no "
        "network, no home and no other file unless\n"
        "lent. The exit code is the script's own, or of a code skill 0 for an answer, "
        "1 for none; 124: out of time;\n"
        "125: metier refused, or no sandbox works here; 137: it met another limit; 2 "
        "with 'error:', before anything ran:\n"
        "the command was put wrongly. --dry-run ends with 1 where a run would be "
        "refused. What a script prints is cleaned\n"
        "of secrets and of what steers a terminal.",
        run=run,
    ),
)
