"""Hooks around each call of a code skill: they may change task and context, veto, and afterwards
replace the text (CO-19).

Before a call a hook guards it: one that raises, takes too long or gives back something else means
that the skill is not called. One that gives back nothing has nothing against it. After a call
nothing is left to guard: then the result stays as it was, and the library warns. A hook that is
late is not waited for any longer, but no thread can be ended: what it is at goes on by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.run import answers
from metier.run.io import code_skill
from metier.run.model import CodeCall, Veto

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.ports import Hook

UNNAMED = "unnamed"


def before(hooks: Sequence[Hook], call: CodeCall, milliseconds: int) -> CodeCall:
    """Show a call to each hook in turn; give it as they leave it, or refuse it."""
    for hook in hooks:
        outcome = code_skill.call_within(
            lambda hook=hook, call=call: hook.before(call),  # type: ignore[misc]
            milliseconds / 1000,
        )
        why = _trouble(outcome, milliseconds)
        if why:
            raise _guarded(call.skill, hook, why)
        if isinstance(outcome.value, Veto):
            raise RefusedError(
                answers.vetoed(call.skill, name_of(hook), str(outcome.value.reason)),
                code="vetoed",
                hint="ask whoever set the hook up",
            )
        if outcome.value is None:  # it only looked
            continue
        given = outcome.value  # of which task and context are taken, and nothing else
        if not isinstance(given, CodeCall) or not all(map(_is_text, (given.task, given.context))):
            raise _guarded(call.skill, hook, "gave back something that is no call")
        if any(answers.too_long(given.task, given.context)):
            raise _guarded(call.skill, hook, "made the task or the context too long")
        call = call._replace(task=given.task, context=given.context)
    return call


def after(
    hooks: Sequence[Hook], call: CodeCall, result: str, milliseconds: int
) -> tuple[str, list[str]]:
    """Show a result to each hook in turn; give it as they leave it, and what went wrong with any of
    them.
    """
    troubles: list[str] = []
    for hook in hooks:
        outcome = code_skill.call_within(
            lambda hook=hook, result=result: hook.after(call, result),  # type: ignore[misc]
            milliseconds / 1000,
        )
        why = _trouble(outcome, milliseconds)
        if not why and not isinstance(outcome.value, str):
            why = "gave back something that is no text"
        if why:
            troubles.append(
                f"plugin '{answers.shown(name_of(hook))}' {why} after skill "
                f"'{answers.shown(call.skill)}' was called"
            )
        else:
            result = answers.encodable(str(outcome.value))[: answers.MAX_ANSWER_BYTES]
    return result, troubles


def _is_text(value: object) -> bool:
    """Tell a text that every door can write; what types promise, a hook need not keep."""
    return isinstance(value, str) and answers.encodable(value) == value


def name_of(hook: Hook) -> str:
    """Give what people know a hook by."""
    try:
        return str(hook.name).strip() or UNNAMED
    except Exception:  # noqa: BLE001 - it is a stranger's code
        return UNNAMED


def _guarded(skill: str, hook: Hook, why: str) -> RefusedError:
    message = (
        f"Skill '{answers.shown(skill)}' was not called: plugin "
        f"'{answers.shown(name_of(hook))}' {why}"
    )
    return RefusedError(message, code="hook", hint="put the hook right, or take it out")


def _trouble(outcome: code_skill.CallOutcome, milliseconds: int) -> str:
    if outcome.late:
        return f"took longer than {milliseconds} ms"
    return f"failed ({type(outcome.error).__name__})" if outcome.error is not None else ""
