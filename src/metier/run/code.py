"""`call`: a code skill from its name to its answer, through every gate, in the sandbox, noted down.
The job on one page.

Nothing is ever run without the sandbox because there is none (CO-11): what is wrong with it is an
error of its own, and never the skill's result. In this very process only those skills run whose
level the user has named for it (`modules`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from metier.audit import log
from metier.errors import MetierError, SandboxError, UsageError
from metier.run import admit, answers, cages, confirm, hooks, in_process, needs
from metier.run.model import KILLED, NOTHING_LENT, TIMED_OUT, CodeCall, Lent, Ran, never
from metier.run.output import OutputCleaner
from metier.run.run_script import (
    OutputListener,
    RunListeners,
    elapsed,
    note_end,
    note_failure,
    note_refusal,
    policy_of,
)
from metier.trust.decide import usable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metier.context import Context
    from metier.model import JsonObject
    from metier.run.admit import Admitted
    from metier.run.answers import CodeAnswer
    from metier.run.cages import FilledCage
    from metier.run.confirm import Asker
    from metier.run.model import Stopped
    from metier.trust.decide import Usable

_NOTED = frozenset({"skill-load-blocked"})
"""Refusals that were noted down where they were made, with the hash of the file."""


def call(  # noqa: PLR0913 - each is one part of a call, by name
    context: Context,
    name: str,
    task: str,
    skill_context: str = "",
    *,
    consent: str = "",
    agreed: bool = False,
    configured: bool = False,
    ask: Asker | None = None,
    dispatch: str = "",
    lent: Lent = NOTHING_LENT,
    hear: Callable[[str, str], None] | None = None,
    stopped: Stopped | None = None,
    door: str = "",
) -> Ran:
    """Call a code skill; whatever forbids it is an error, and it was not called then.

    `consent` must name the act where the skill is destructive; else `ask` is given the question and
    the act, twice at most. `agreed` is a person's plain yes to this very run: enough where policy
    alone asks, and never where something can be destroyed. `configured` is the user's word for all
    destructive skills; where policy asks about this very one, it is not enough.
    """
    _check(task, skill_context)
    card = context.catalogue.resolve(name)
    if card.kind != "code":
        raise UsageError(
            f"'{card.name}' is not a code skill", hint=f"read it with: metier show {card.name}"
        )
    asked = CodeCall(card.name, task, skill_context, dispatch or context.ports.token().hex())
    admitted = None
    try:
        admitted = admit.admit(context, card)
        act = confirm.confirm(admitted, asked, consent, ask, yes=agreed, configured=configured)
        permitted = usable(
            admitted, admitted.gated.digest, admitted.decision, "run", consent=agreed or bool(act)
        )
        asked = hooks.before(context.hooks, asked, context.settings.run.hook_ms)
        confirm.confirm_unchanged(admitted, asked, act, yes=agreed)
        listeners = RunListeners(hear=hear, stopped=stopped or never)
        noted = {
            "name": card.name,
            "digest": admitted.gated.digest,
            "source": door,
            "path": card.path,
            "script": admitted.gated.file,
            "act": act,
            "dispatch": asked.dispatch,
        }
        ran = _call_and_note(context, permitted, asked, lent, listeners, noted)
    except MetierError as error:
        if not isinstance(error, SandboxError) and error.code not in _NOTED:
            note_refusal(
                context, card, error, door, digest=admitted.gated.digest if admitted else None
            )
        raise
    if ran.result is None:
        return ran
    result, troubles = hooks.after(context.hooks, asked, ran.result, context.settings.run.hook_ms)
    context.warnings += [trouble for trouble in troubles if trouble not in context.warnings]
    return ran._replace(result=result)


def _check(task: str, skill_context: str) -> None:
    """Refuse what is no text, or longer than a skill is ever asked (CO-21)."""
    for what, text, most in (
        ("task", task, answers.MAX_TASK_CHARS),
        ("context", skill_context, answers.MAX_CONTEXT_CHARS),
    ):
        if not isinstance(text, str):
            raise UsageError(
                f"the {what} is no text", hint=f"give a text of at most {most:,} characters"
            )
    for message, hint in answers.too_long(task, skill_context):
        raise UsageError(message, hint=hint)


def _call_and_note(
    context: Context,
    permitted: Usable[Admitted],
    asked: CodeCall,
    lent: Lent,
    listeners: RunListeners,
    noted: JsonObject,
) -> Ran:
    """Call a skill where it belongs, and note down what came of it."""
    admitted = permitted.candidate
    card = admitted.card
    if in_process.may_be_here(context, admitted.level):
        seconds = lent.seconds or context.settings.run.seconds
        noted["policy"] = {"sandboxed": False, "in_process": True, "seconds": seconds}
        call_it = partial(_call_in_process, context, permitted, asked, seconds)
        log.record(context, "run", "started", **noted)  # it may end metier itself
    else:
        filled = cages.cage_code(
            context, admitted, asked, lent, needs.environment_of(context, card.path)
        )
        noted["policy"] = policy_of(filled.cage, sandboxed=True)
        call_it = partial(_call_in_sandbox, context, permitted, filled, listeners)
    with note_failure(context, card, noted):
        ran = call_it()
    note_end(
        context,
        card,
        noted,
        ran.result or "",
        ran.code,
        round(ran.seconds, 3),
        stopped=ran.stopped,
        declined=ran.declined,
    )
    if not ran.sandboxed and ran.output and listeners.hear is not None:  # nobody heard it come
        listeners.hear("out", ran.output)
    return ran


def _call_in_sandbox(
    context: Context, permitted: Usable[Admitted], filled: FilledCage, listeners: RunListeners
) -> Ran:
    """Call a skill in the sandbox: which limit stopped it is the sandbox's word, and the rest is
    the skill's own answer.
    """
    listener = OutputListener(filled, listeners)
    ended = context.open_sandbox().run(filled.cage, listener.hear, None, listeners.stopped)
    output = listener.finish()
    answer = answers.read_answer(ended.report)
    if not ended.report and ended.code:
        answer = answers.broken(f"it ended without an answer, exit code {ended.code}")
    answer = answer._replace(
        result=_clean(answer.result, filled.values), error=_clean(answer.error, filled.values) or ""
    )
    ran = _ran(permitted.candidate, answer, ended.stopped, filled.cage.bounds.seconds)
    return ran._replace(output=output, seconds=ended.seconds, truncated=ended.truncated)


def _call_in_process(
    context: Context, permitted: Usable[Admitted], asked: CodeCall, seconds: int
) -> Ran:
    """Call a skill in this process."""
    began = context.ports.clock_ns()
    given = in_process.call(context, permitted, asked, seconds)
    took = elapsed(context, began)
    if given is None:
        ran = _ran(permitted.candidate, answers.broken("time"), "time", seconds)
    else:
        answer, output = given
        answer = answer._replace(result=_clean(answer.result, {}))
        ran = _ran(permitted.candidate, answer)._replace(output=_clean(output, {}) or "")
    return ran._replace(seconds=took, sandboxed=False)


def _ran(admitted: Admitted, answer: CodeAnswer, stopped: str = "", allowed: int = 0) -> Ran:
    """Say what a call came to; whatever answer it gave does not count where a limit stopped it."""
    name = admitted.card.name
    if stopped == "time":
        code = TIMED_OUT
        error = answers.timed_out(name, allowed)
    elif stopped:
        code = KILLED
        error = answers.stopped(name, stopped)
    else:
        code = 0 if answer.ok else 1
        error = answers.why_no_result(name, answer)
    return Ran(
        name=name,
        script=admitted.gated.file,
        code=code,
        output="",
        stopped=stopped,
        digest=admitted.gated.digest,
        result=None if stopped else answer.result,
        error=error,
        declined=answer.declined and not stopped,
    )


def _clean(text: str | None, values: Mapping[str, str]) -> str | None:
    """Give a text without the values that were lent, and without power over a terminal."""
    if text is None:
        return None
    cleaner = OutputCleaner(values)
    return cleaner.feed(text.encode("utf-8", "replace")) + cleaner.finish()
