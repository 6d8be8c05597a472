"""Hooks around each call of a code skill: they may change task and context, veto, and afterwards replace the text (CO-19).

Before a call a hook guards it: one that raises, takes too long or gives back something else means that the skill is not called.
After a call nothing is left to guard: then the result stays as it was, and the library warns. A hook that is late is not waited
for any longer, but no thread can be ended: what it is at goes on by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.execute import answers
from metier.running.limited import proc
from metier.runs import Call, Veto

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.ports import Hook

UNNAMED = "unnamed"


def before(hooks: Sequence[Hook], call: Call, milliseconds: int) -> Call:
    """Show a call to each hook in turn; give it as they leave it, or refuse it."""
    for hook in hooks:
        outcome = proc.within(lambda hook=hook, call=call: hook.before(call), milliseconds / 1000)  # type: ignore[misc]
        if outcome.late or outcome.error is not None:
            raise _guarded(call.skill, hook, _trouble(outcome, milliseconds))
        if isinstance(outcome.value, Veto):
            raise RefusedError(answers.vetoed(call.skill, name_of(hook), str(outcome.value.reason)), code="vetoed",
                               hint="ask whoever set the hook up")  # fmt: skip
        call = _changed(call, outcome.value, hook)
    return call


def after(hooks: Sequence[Hook], call: Call, result: str, milliseconds: int) -> tuple[str, list[str]]:
    """Show a result to each hook in turn; give it as they leave it, and what went wrong with any of them."""
    troubles: list[str] = []
    for hook in hooks:
        outcome = proc.within(lambda hook=hook, result=result: hook.after(call, result), milliseconds / 1000)  # type: ignore[misc]
        why = _trouble(outcome, milliseconds)
        if not why and not isinstance(outcome.value, str):
            why = "gave back something that is no text"
        if why:
            troubles.append(f"plugin '{answers.shown(name_of(hook))}' {why} after skill '{answers.shown(call.skill)}' was called")
        else:
            result = answers.encodable(str(outcome.value))[: answers.MOST_BYTES]
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


def _changed(call: Call, given: object, hook: Hook) -> Call:
    """Take task and context from what a hook gave, and nothing else."""
    task, context = (given.task, given.context) if isinstance(given, Call) else (None, None)
    if not _is_text(task) or not _is_text(context):
        raise _guarded(call.skill, hook, "gave back something that is no call")
    assert task is not None
    assert context is not None
    if len(task) > answers.MOST_TASK or len(context) > answers.MOST_CONTEXT:
        raise _guarded(call.skill, hook, "made the task or the context too long")
    return call._replace(task=task, context=context)


def _guarded(skill: str, hook: Hook, why: str) -> RefusedError:
    message = f"Skill '{answers.shown(skill)}' was not called: plugin '{answers.shown(name_of(hook))}' {why}"
    return RefusedError(message, code="hook", hint="put the hook right, or take it out")


def _trouble(outcome: proc.Outcome, milliseconds: int) -> str:
    if outcome.late:
        return f"took longer than {milliseconds} ms"
    return f"failed ({type(outcome.error).__name__})" if outcome.error is not None else ""
