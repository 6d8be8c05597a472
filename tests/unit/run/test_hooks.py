"""Hooks around a call: they guard it before, and can do no harm after (CO-19)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from fakes.codeskills import Hook

from metier.errors import RefusedError
from metier.run import hooks
from metier.run.model import CodeCall, Veto

if TYPE_CHECKING:
    from collections.abc import Callable

CALL = CodeCall("x", "the task", "the context", "id")
SHORT, LONG = 20, 60_000


def _fail(_shown: object) -> object:
    raise SystemExit(1)


def _sleep(_shown: object) -> object:
    threading.Event().wait(5)
    return CALL


def test_hooks_change_task_and_context_in_turn_and_nothing_else() -> None:  # CO-19
    first = Hook("first", lambda call: CodeCall("another", call.task + "!", "none", "forged"))
    second = Hook("second")

    changed = hooks.before([first, second], CALL, LONG)

    assert CodeCall("x", "the task!", "none", "id") == changed == second.calls[0]


def test_a_veto_says_who_and_why_and_no_later_hook_is_asked() -> None:  # CO-19
    later = Hook("later")

    with pytest.raises(RefusedError) as refused:
        hooks.before([Hook("p", lambda _call: Veto("not on\nMondays")), later], CALL, LONG)

    assert ("vetoed", "Skill 'x' was vetoed by plugin 'p': not on Mondays") == (
        refused.value.code,
        refused.value.message,
    )
    assert [] == later.calls


def test_a_hook_that_gives_back_nothing_lets_the_call_pass_as_it_is() -> None:  # CO-19
    later = Hook("later")

    assert hooks.before([Hook("p", lambda _call: None), later], CALL, LONG) == CALL
    assert [CALL] == later.calls


GUARDS: list[tuple[Callable[[CodeCall], object], int, str]] = [
    (_fail, LONG, "plugin 'p' failed (SystemExit)"),
    (_sleep, SHORT, f"plugin 'p' took longer than {SHORT} ms"),
    (lambda _call: False, LONG, "plugin 'p' gave back something that is no call"),
    (lambda _call: ("x", "task", "", ""), LONG, "plugin 'p' gave back something that is no call"),
    (lambda call: CodeCall(call.skill, 5), LONG, "plugin 'p' gave back something that is no call"),  # type: ignore[arg-type]
    (
        lambda call: call._replace(task="\ud800"),
        LONG,
        "plugin 'p' gave back something that is no call",
    ),
    (
        lambda call: call._replace(task="x" * 5_001),
        LONG,
        "plugin 'p' made the task or the context too long",
    ),
]


@pytest.mark.parametrize(("before", "limit", "why"), GUARDS)
def test_a_hook_that_does_not_answer_well_forbids_the_call(
    before: Callable[[CodeCall], object], limit: int, why: str
) -> None:  # CO-19
    with pytest.raises(RefusedError) as refused:
        hooks.before([Hook("p", before)], CALL, limit)

    assert ("hook", f"Skill 'x' was not called: {why}") == (
        refused.value.code,
        refused.value.message,
    )


def test_hooks_replace_a_result_in_turn() -> None:  # CO-19
    made = hooks.after(
        [Hook("a", after=str.upper), Hook("b", after=lambda text: text + "!")], CALL, "done", LONG
    )

    assert ("DONE!", []) == made


@pytest.mark.parametrize(
    ("after", "limit", "why"),
    [
        (_fail, LONG, "failed (SystemExit)"),
        (_sleep, SHORT, f"took longer than {SHORT} ms"),
        (lambda _text: None, LONG, "gave back something that is no text"),
    ],
)
def test_a_hook_that_fails_afterwards_leaves_the_result_as_it_was(
    after: Callable[[str], object], limit: int, why: str
) -> None:  # CO-19
    made = hooks.after([Hook("p", after=after)], CALL, "done", limit)

    assert ("done", [f"plugin 'p' {why} after skill 'x' was called"]) == made
