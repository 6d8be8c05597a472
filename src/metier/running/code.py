"""`call`: a code skill from its name to its answer, through every gate, in the sandbox, noted down. The job on one page.

Nothing is ever run without the sandbox because there is none (CO-11): what is wrong with it is an error of its own, and never the
skill's result. In this very process only those skills run whose level the user has named for it (`modules`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier import counting, preparing, recording
from metier.disclose.tokens import estimate
from metier.errors import MetierError, SandboxError, UsageError
from metier.execute import answers
from metier.execute.output import Cleaner
from metier.running import admitting, confirming, hooks, modules, refusals, skillcages
from metier.running.scripts import Ears, Listener, broken_off, elapsed, policy_of
from metier.runs import KILLED, TIMED_OUT, Call, Lent, Ran, never
from metier.trust.decide import usable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from metier.app import Library
    from metier.execute.answers import Answer
    from metier.running.admitting import Admitted
    from metier.running.cages import Lending
    from metier.running.confirming import Asker
    from metier.runs import Ended

NOTHING = Lent()
_NOTED = frozenset({"skill-load-blocked"})
"""Refusals that were noted down where they were made, with the hash of the file."""


class _Noted(NamedTuple):
    """What the audit log is told of every call."""

    admitted: Admitted
    door: str
    policy: dict[str, object]
    act: str
    """What somebody agreed to; nothing where nobody had to."""


class _Done(NamedTuple):
    """A call that was made."""

    code: int
    answer: Answer
    error: str
    output: str
    stopped: str = ""
    seconds: float = 0.0
    truncated: bool = False
    sandboxed: bool = True


def call(  # noqa: PLR0913 - each is one part of a call, by name
    library: Library, name: str, task: str, context: str = "", *, consent: str = "", agreed: bool = False, configured: bool = False,
    ask: Asker | None = None, dispatch: str = "", lent: Lent = NOTHING, hear: Callable[[str, str], None] | None = None,
    stopped: Callable[[], bool] | None = None, door: str = "",
) -> Ran:  # fmt: skip
    """Call a code skill; whatever forbids it is an error, and it was not called then.

    `consent` must name the act where the skill is destructive; else `ask` is given the question and the act, twice at most.
    `agreed` is a person's plain yes to this very run: enough where policy alone asks, and never where something can be destroyed.
    `configured` is the user's word for all destructive skills; where policy asks about this very one, it is not enough.
    """
    _check(task, context)
    card = library.resolve(name)
    if card.kind != "code":
        raise UsageError(f"'{card.name}' is not a code skill", hint=f"read it with: metier show {card.name}")
    asked = Call(card.name, task, context, dispatch or library.ports.token().hex())
    admitted = None
    try:
        admitted = admitting.admitted(library, card)
        act = confirming.agreed(admitted, asked, consent, ask, yes=agreed, configured=configured)
        usable(card, admitted.gated.digest, admitted.decision, "run", consent=agreed or bool(act))
        asked = hooks.before(library.hooks, asked, library.settings.run.hook_ms)
        confirming.still_agreed(admitted, asked, act, yes=agreed)
        done = _made(library, _Noted(admitted, door, {}, act), asked, lent, Ears(hear=hear, stopped=stopped or never))
    except MetierError as error:
        if not isinstance(error, SandboxError) and error.code not in _NOTED:
            refusals.note(library, card, error, door, digest=admitted.gated.digest if admitted else None)
        raise
    return _told(library, admitted, asked, done)


def _check(task: object, context: object) -> None:
    """Refuse what is longer than a skill is ever asked (CO-21)."""
    for what, text, most in (("task", task, answers.MOST_TASK), ("context", context, answers.MOST_CONTEXT)):
        if not isinstance(text, str):
            raise UsageError(f"the {what} is no text", hint=f"give a text of at most {most:,} characters")
        if len(text) > most:
            raise UsageError(f"the {what} has {len(text):,} characters", hint=f"a skill is given at most {most:,}")


# --- the call itself


def _made(library: Library, noted: _Noted, asked: Call, lent: Lent, ears: Ears) -> _Done:
    """Call a skill where it belongs, and note down what came of it."""
    admitted, card = noted.admitted, noted.admitted.card
    if modules.may_be_here(library, admitted.level):
        seconds = lent.seconds or library.settings.run.seconds
        noted = noted._replace(policy={"sandboxed": False, "in_process": True, "seconds": seconds})
        make = partial(_here, library, admitted, asked, seconds)
        _record(library, "started", noted, dispatch=asked.dispatch)  # it may end metier itself
    else:
        values = preparing.environment_of(library, card.path)
        lending = skillcages.caged(library, admitted, asked, lent, values)
        noted = noted._replace(policy=policy_of(lending.cage, sandboxed=True))
        make = partial(_apart, library, card.name, lending, ears)
    began = library.ports.clock_ns()
    try:
        done = make()
    except BaseException as error:
        counting.note(library, card, "failure")
        _record(library, "failed", noted, **broken_off(library, error, began), dispatch=asked.dispatch)
        if isinstance(error, SandboxError):
            error.hint = error.hint or "see: metier doctor"
        raise
    counting.note(library, card, "failure" if done.code else "run", estimate(done.answer.result or ""))
    outcome = "stopped" if done.stopped else "failed" if done.code else "done"
    _record(library, outcome, noted, exit_code=done.code, seconds=round(done.seconds, 3), stopped=done.stopped,
            declined=done.answer.declined, dispatch=asked.dispatch)  # fmt: skip
    if not done.sandboxed and done.output and ears.hear is not None:  # nobody heard it as it came
        ears.hear("out", done.output)
    return done


def _apart(library: Library, name: str, lending: Lending, ears: Ears) -> _Done:
    """Call a skill in the sandbox."""
    listener = Listener(lending, ears)
    ended = library.box().run(lending.cage, listener.hear, None, ears.stopped)
    return _ended(name, ended, listener.finish(), lending.cage.bounds.seconds, lending.values)


def _record(library: Library, outcome: str, noted: _Noted, **details: object) -> None:
    card, gated = noted.admitted.card, noted.admitted.gated
    recording.record(library, "run", outcome, name=card.name, digest=gated.digest, source=noted.door, path=card.path,
                     script=gated.file, policy=noted.policy, act=noted.act, **details)  # fmt: skip


def _ended(name: str, ended: Ended, output: str, seconds: int, values: Mapping[str, str]) -> _Done:
    """Read how a run ended: which limit stopped it is the sandbox's word, and the rest is the skill's own answer."""
    if ended.stopped:
        late = ended.stopped == "time"
        error = answers.timed_out(name, seconds) if late else answers.stopped(name, ended.stopped)
        code, answer = TIMED_OUT if late else KILLED, answers.broken(ended.stopped)
    else:
        answer = answers.read_answer(ended.report)
        if not ended.report and ended.code:
            answer = answers.broken(f"it ended without an answer, exit code {ended.code}")
        answer = answer._replace(result=_cleaned(answer.result, values), error=_cleaned(answer.error, values) or "")
        code, error = 0 if answer.ok else 1, answers.said(name, answer)
    return _Done(code, answer, error, output, ended.stopped, ended.seconds, ended.truncated)


def _here(library: Library, admitted: Admitted, asked: Call, seconds: int) -> _Done:
    """Call a skill in this process."""
    name, began = admitted.card.name, library.ports.clock_ns()
    told = modules.call(library, admitted.card.path, admitted.gated, asked, seconds)
    took = elapsed(library, began)
    if told is None:
        return _Done(TIMED_OUT, answers.broken("time"), answers.timed_out(name, seconds), "", "time", took, sandboxed=False)
    answer = told.answer._replace(result=_cleaned(told.answer.result, {}))
    output = _cleaned(told.output, {}) or ""
    return _Done(0 if answer.ok else 1, answer, answers.said(name, answer), output, "", took, sandboxed=False)


def _cleaned(text: str | None, values: Mapping[str, str]) -> str | None:
    """Give a text without the values that were lent, and without power over a terminal."""
    if text is None:
        return None
    cleaner = Cleaner(values)
    return cleaner.feed(text.encode("utf-8", "replace")) + cleaner.finish()


def _told(library: Library, admitted: Admitted, asked: Call, done: _Done) -> Ran:
    """Show a result to the hooks, and give all that came of the call."""
    result = done.answer.result if done.answer.ok else None
    if result is not None:
        result, troubles = hooks.after(library.hooks, asked, result, library.settings.run.hook_ms)
        library.warnings += [trouble for trouble in troubles if trouble not in library.warnings]
    return Ran(admitted.card.name, admitted.gated.file, done.code, done.output, done.stopped, done.seconds, done.truncated,
               admitted.gated.digest, result, done.error, done.answer.declined, done.sandboxed)  # fmt: skip
