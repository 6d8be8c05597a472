"""What a code skill's answer is, and what is said when there is none: the protocol between the
program inside and metier. Pure.

The program inside hands back one JSON document: `{"ok": bool, "result": str | null, "error": str,
"declined": bool}`, and `"loaded": false` where it did not come as far as calling anything. The
skill runs in that very program and can write whatever it likes there; so all that is ever read from
it is its own result. Who stopped it, and for which limit, is the sandbox's word.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from metier.standard.names import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_ANSWER_BYTES = 1024 * 1024
"""The longest answer that is read."""
MAX_TASK_CHARS = 5_000
MAX_CONTEXT_CHARS = 10_000
"""Characters of what a skill is asked (CO-21)."""
MAX_ERROR_CHARS = 200
"""Characters that are shown of a skill's own error, and of a name (CO-21)."""

_PARTS: dict[str, tuple[type, ...]] = {
    "ok": (bool,),
    "declined": (bool,),
    "error": (str,),
    "result": (str, type(None)),
}
"""What an answer is made of."""

DECLINED = "it has no answer to this task"


class CodeAnswer(NamedTuple):
    """What a code skill gave back."""

    ok: bool
    result: str | None
    """Nothing where it failed, or declined; never nothing otherwise (CO-17)."""
    error: str
    """`Type: message` of what it raised, on one line."""
    declined: bool
    """Whether it leaves the task to others: it gave back None (CO-19)."""
    loaded: bool = True
    """Whether it came as far as being called."""


def read_answer(report: bytes) -> CodeAnswer:
    """Read what the program inside handed back; whatever is wrong with it is the skill's
    failure.
    """
    if not report:
        return broken("it ended without an answer")
    if len(report) > MAX_ANSWER_BYTES:
        return broken(f"its answer is longer than {MAX_ANSWER_BYTES:,} bytes")
    try:
        value = json.loads(report.decode())
    except (ValueError, RecursionError, MemoryError):
        return broken("its answer cannot be read")
    if not isinstance(value, dict) or not all(
        isinstance(value.get(name), kinds) for name, kinds in _PARTS.items()
    ):
        return broken("its answer cannot be read")
    if not value["ok"]:
        return broken(
            value["error"] or "it does not say why", loaded=value.get("loaded") is not False
        )
    if value["declined"] or value["result"] is None:
        return CodeAnswer(ok=True, result=None, error="", declined=True)
    return CodeAnswer(ok=True, result=encodable(value["result"]), error="", declined=False)


def broken(why: str, *, loaded: bool = True) -> CodeAnswer:
    """Give the answer of a skill that failed."""
    return CodeAnswer(ok=False, result=None, error=shown(why), declined=False, loaded=loaded)


def encodable(text: str) -> str:
    """Give a text that every door can write: halves of surrogate pairs have no place in one."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def shown(text: str) -> str:
    """Give a name or an error as it stands in a sentence: on one line, no longer than is worth
    reading, and without power over a terminal.
    """
    plain = "".join(char if char.isprintable() else " " for char in text[: MAX_ERROR_CHARS * 4])
    return encodable(one_line(plain))[:MAX_ERROR_CHARS]


def too_long(task: str, context: str) -> Iterator[tuple[str, str]]:
    """Say which part of a call is longer than a skill is ever asked, and how long it may be
    (CO-21).
    """
    for what, text, most in (
        ("task", task, MAX_TASK_CHARS),
        ("context", context, MAX_CONTEXT_CHARS),
    ):
        if len(text) > most:
            yield f"the {what} has {len(text):,} characters", f"a skill is given at most {most:,}"


# --- what is said: the words of CO-17, CO-19 and CO-21


def not_found(name: str) -> str:
    """Say that there is no such skill."""
    return f"Skill not found: {shown(name)}"


def not_loaded(name: str, why: str = "") -> str:
    """Say that a skill was not even called."""
    return f"Skill '{shown(name)}' could not be loaded." + (f" {shown(why)}" if why else "")


def failed(name: str, error: str) -> str:
    """Say that a skill failed, and how: `Type: message`."""
    return f"Skill '{shown(name)}' failed: {shown(error)}"


def timed_out(name: str, seconds: int) -> str:
    """Say that a skill took too long."""
    return f"Skill '{shown(name)}' timed out after {seconds}s."


def stopped(name: str, limit: str) -> str:
    """Say that a skill was stopped for another limit than time."""
    if limit == "asked":
        return f"Skill '{shown(name)}' was stopped: it was asked to."
    return f"Skill '{shown(name)}' was stopped: it went over its limit of {limit}."


def vetoed(name: str, hook: str, reason: str) -> str:
    """Say that a hook forbade the call."""
    return f"Skill '{shown(name)}' was vetoed by plugin '{shown(hook)}': {shown(reason)}"


def why_no_result(name: str, answer: CodeAnswer) -> str:
    """Say why there is no result; nothing where there is one, or the skill declined."""
    if answer.ok:
        return ""
    return failed(name, answer.error) if answer.loaded else not_loaded(name, answer.error)
