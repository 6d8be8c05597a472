"""Runs a script of a skill, from its name to its output: through every gate, in the sandbox, and
recorded in the audit log.

A run that was refused is recorded too.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.audit import log
from metier.errors import IntegrityError, MetierError, RefusedError, SandboxError, UsageError
from metier.run import cages, output, plan as planning
from metier.run.model import NOTHING_LENT, REFUSED, Lent, Ran, never
from metier.standard.plain_text import estimate
from metier.trust.assess import assess_skill
from metier.trust.decide import usable
from metier.trust.source_rules import is_ruled
from metier.usage import counter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from metier.context import Context
    from metier.model import Card, JsonObject
    from metier.ports import Sandbox
    from metier.run.model import Cage, Feed, Hear, Stopped
    from metier.run.plan import Planned
    from metier.trust.decide import Usable


NOTED_ELSEWHERE = frozenset(
    {
        "ask",
        "consent",
        "vetoed",
        "hook",
        "usage",
        "dependencies-ask",
        "interpreter",
        "no-home",
        "store",
    }
)
"""Refusals that say nothing about the skill: they do not count against it (ZE-26)."""


def note_refusal(
    context: Context,
    card: Card,
    error: MetierError,
    door: str,
    *,
    digest: str | None = None,
    script: str = "",
) -> None:
    """Note down that nothing was run, and why."""
    others = {"asked": error.code} if error.code in NOTED_ELSEWHERE else {}
    named = {"script": script} if script else {}
    log.record(
        context,
        "run",
        "refused",
        name=card.name,
        digest=digest,
        source=door,
        path=card.path,
        reason=error.message,
        code=error.code,
        **named,
        **others,
    )


class RunOptions(NamedTuple):
    """How a run is wanted."""

    consent: bool = False
    """A person's yes to this very run, where policy asks for one."""
    install: bool = False
    """A person's yes to installing what the script declares."""
    lent: Lent = NOTHING_LENT
    unsandboxed: bool = False
    shown: str = ""
    """The digest of what a person was shown before they said yes; nothing where they said it
    unasked."""
    door: str = ""
    """Who asks, for the audit log."""


class RunListeners(NamedTuple):
    """Who listens while it runs."""

    hear: Callable[[str, str], None] | None = None
    """Gets cleaned text as it comes: `out` or `err`, and the words."""
    raw: Hear | None = None
    """Gets the very bytes in the place of that: for output that is no text."""
    feed: Feed | None = None
    stopped: Stopped = never


DEFAULT_OPTIONS = RunOptions()
NO_LISTENERS = RunListeners()
INTERRUPTED = 130
BROKEN_PIPE = 141
"""What metier exits with after Ctrl-C, and when nobody reads its output any more."""


def run(
    context: Context,
    name: str,
    script: str = "",
    arguments: Sequence[str] = (),
    options: RunOptions = DEFAULT_OPTIONS,
    listeners: RunListeners = NO_LISTENERS,
) -> Ran:
    """Run a script of a skill to its end; whatever forbids it is an error, and nothing was run
    then.
    """
    card = context.catalogue.resolve(name)
    try:
        cages.check_arguments(arguments)
        sandbox = sandbox_for(context, options)
        planned = planning.plan_script(
            context, card.path, choose_script(context, card, script), arguments, options.lent
        )
        permitted = permit(context, planned, consent=options.consent)
        if options.shown and options.shown != permitted.decision.digest:
            raise IntegrityError(
                f"'{card.name}' is not what was shown any more, so it was not run",
                code="changed",
                hint="look at it again",
            )
        filled = cages.cage_script(
            context, permitted, consent=options.install, bare=options.unsandboxed
        )
        if listeners.raw is not None and (filled.values or filled.words):
            raise UsageError("it is lent secrets, so its output is cleaned", hint="leave --raw out")
    except MetierError as error:
        note_refusal(context, card, error, options.door, script=script)
        raise
    return carry_out(context, permitted, filled, sandbox, options, listeners)


def choose_script(context: Context, card: Card, script: str) -> str:
    """Give the script that is meant: the only one, where none is named."""
    if script or card.kind != "skill-md":
        return script
    found = planning.scripts_of(context, card)
    if len(found) == 1:
        return found[0]
    if not found:
        raise RefusedError(
            f"'{card.name}' has no script to run",
            code="no-script",
            hint=f"read it: metier show {card.name}",
        )
    raise UsageError(
        f"'{card.name}' has {len(found)} scripts: {planning.name_scripts(found)}",
        hint=f"say which: metier run {card.name} {planning.quoted(found[0])}",
    )


def sandbox_for(context: Context, options: RunOptions) -> Sandbox:
    """Give the sandbox, or what stands in its place where the user's configuration and this very
    call both say so.
    """
    if not options.unsandboxed:
        return context.open_sandbox()
    if not context.settings.run.allow_unsandboxed:
        raise RefusedError(
            "nothing is run without a sandbox",
            code="unsandboxed",
            hint="who must, sets run.allow_unsandboxed = true in their own configuration",
        )
    if context.settings.run.network == "none":
        raise RefusedError(
            "nothing is run without a sandbox: run.network is 'none', and only a sandbox holds a "
            "script to that",
            code="unsandboxed",
            hint="run it without --unsandboxed",
        )
    from metier.run.io.unsandboxed import Unsandboxed

    return Unsandboxed()


def permit(context: Context, planned: Planned, *, consent: bool) -> Usable[Planned]:
    """Hold a plan against policy and against what was decided about these bytes: let it be run, or
    refuse.
    """
    plan = planned.plan
    card = planned.card
    what = f"'{card.name}' may not run {planning.quoted(plan.script)}"
    if not plan.allowed:
        against = [reason for reason in plan.reasons if reason != planning.NEEDS_YES]
        raise RefusedError(
            f"{what}: {'; '.join(against)}",
            code="policy" if is_ruled(against) else None,
            hint=planning.next_step(context, planned),
        ).with_details(reasons=plan.reasons)
    if plan.asks and not consent:
        raise RefusedError(
            f"{what} before a person said yes to it",
            code="ask",
            hint=f"the user can look first: metier run {card.name} --dry-run; then say --yes, or "
            f"for good: metier trust approve {card.name}",
        ).with_details(reasons=plan.reasons)
    case = assess_skill(context, card)
    digest = case.verdict.digest
    if digest is None:
        raise RefusedError(
            f"{what}: {planning.UNREAD}", code="unread", hint=f"see: metier scan {card.path}"
        )
    return usable(planned, digest, case.decision, "run", consent=consent)


def carry_out(
    context: Context,
    permitted: Usable[Planned],
    filled: cages.FilledCage,
    sandbox: Sandbox,
    options: RunOptions,
    listeners: RunListeners,
) -> Ran:
    """Run what was laid out, clean what it prints, and note down what came of it."""
    digest = permitted.decision.digest
    card = permitted.candidate.card
    script = permitted.candidate.plan.script
    sandboxed = not options.unsandboxed
    noted: JsonObject = {
        "name": card.name,
        "digest": digest,
        "source": options.door,
        "path": card.path,
        "script": script,
        "policy": policy_of(filled.cage, sandboxed=sandboxed),
    }
    if not sandboxed:  # nothing may be left to note down how it ended, but that it began
        log.record(context, "run", "started", **noted)
    listener = OutputListener(filled, listeners)
    with note_failure(context, card, noted):
        ended = sandbox.run(filled.cage, listener.hear, listeners.feed, listeners.stopped)
        printed = listener.finish()
    note_end(
        context, card, noted, printed, ended.code, round(ended.seconds, 3), stopped=ended.stopped
    )
    return Ran(
        name=card.name,
        script=script,
        code=ended.code,
        output=printed,
        stopped=ended.stopped,
        seconds=ended.seconds,
        truncated=ended.truncated,
        digest=digest,
        sandboxed=sandboxed,
    )


@contextmanager
def note_failure(context: Context, card: Card, noted: Mapping[str, Any]) -> Iterator[None]:
    """Note down a run that is broken off from outside: by what, after how long, and what metier
    exits with for it.
    """
    began = context.ports.clock_ns()
    try:
        yield
    except BaseException as error:
        counter.count_use(context, card, "failure")
        log.record(
            context,
            "run",
            "failed",
            **noted,
            error=type(error).__name__,
            exit_code=_exit_code(error),
            seconds=elapsed(context, began),
        )
        if isinstance(error, SandboxError):
            error.hint = error.hint or "see: metier doctor"
        raise


def note_end(
    context: Context,
    card: Card,
    noted: Mapping[str, Any],
    text: str,
    code: int,
    seconds: float,
    **details: Any,
) -> None:
    """Note down a run that came to its end, and count what it gave as used."""
    counter.count_use(context, card, "failure" if code else "run", estimate(text))
    outcome = "stopped" if details.get("stopped") else "failed" if code else "done"
    log.record(context, "run", outcome, **noted, exit_code=code, seconds=seconds, **details)


def elapsed(context: Context, began: int) -> float:
    """Give the seconds since a moment, as the audit log has them."""
    return round(max(0, context.ports.clock_ns() - began) / 1_000_000_000, 3)


def _exit_code(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    if isinstance(error, MetierError):
        return error.exit_code if type(error) is UsageError else REFUSED
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return BROKEN_PIPE if isinstance(error, BrokenPipeError) else MetierError.exit_code


def policy_of(cage: Cage, *, sandboxed: bool) -> dict[str, object]:
    """Give what a run was allowed, for the audit log: names, never values."""
    return {
        "sandboxed": sandboxed,
        "network": cage.network,
        "seconds": cage.bounds.seconds,
        "memory_bytes": cage.bounds.memory_bytes,
        "processes": cage.bounds.processes,
        "reads": [mount.source for mount in cage.mounts if not mount.writable],
        "writes": [mount.source for mount in cage.mounts if mount.writable],
        "files": [file.target for file in cage.files],
        "variables": [name for name, _value in cage.environment],
    }


class OutputListener:
    """Takes what a script prints: cleaned for whoever listens, and kept for the answer."""

    def __init__(self, filled: cages.FilledCage, listeners: RunListeners) -> None:
        """Begin with nothing heard."""
        hidden = output.hide(filled.values, filled.words)
        self._streams = {stream: output.OutputCleaner(hidden) for stream in ("out", "err")}
        self._listeners = listeners
        self._kept = bytearray()
        """As bytes: a list of what comes letter by letter would take fifty times the room."""

    def hear(self, stream: str, data: bytes) -> None:
        """Take the next bytes of a stream."""
        if self._listeners.raw is not None:
            self._listeners.raw(stream, data)
        else:
            self._say(stream, self._streams[stream].feed(data))

    def finish(self) -> str:
        """Say what was held back, and give all that was heard."""
        for stream, cleaner in self._streams.items():
            self._say(stream, cleaner.finish())
        return self._kept.decode()

    def _say(self, stream: str, text: str) -> None:
        if text:
            self._kept += text.encode("utf-8", "replace")
            if self._listeners.hear is not None:
                self._listeners.hear(stream, text)
