"""What a code skill's answer is, and what is said when there is none: the protocol between the program inside and metier. Pure.

The program inside hands back one JSON document: `{"ok": bool, "result": str | null, "error": str, "declined": bool}`, and
`"loaded": false` where it did not come as far as calling anything. The skill runs in that very program and can write whatever it
likes there; so all that is ever read from it is its own result. Who stopped it, and for which limit, is the sandbox's word.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from metier.standard.names import one_line

MOST_BYTES = 1024 * 1024
"""The longest answer that is read."""
MOST_TASK, MOST_CONTEXT = 5_000, 10_000
"""Characters of what a skill is asked (CO-21)."""
MOST_SAID = 200
"""Characters that are shown of a skill's own error, and of a name (CO-21)."""

DECLINED = "it has no answer to this task"


class Answer(NamedTuple):
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


def read_answer(report: bytes) -> Answer:
    """Read what the program inside handed back; whatever is wrong with it is the skill's failure."""
    if not report:
        return broken("it ended without an answer")
    if len(report) > MOST_BYTES:
        return broken(f"its answer is longer than {MOST_BYTES:,} bytes")
    try:
        value = json.loads(report.decode())
    except (ValueError, RecursionError, MemoryError):
        return broken("its answer cannot be read")
    if not isinstance(value, dict) or not _is_answer(value):
        return broken("its answer cannot be read")
    if not value["ok"]:
        return broken(value["error"] or "it does not say why", loaded=value.get("loaded") is not False)
    if value["declined"] or value["result"] is None:
        return Answer(ok=True, result=None, error="", declined=True)
    return Answer(ok=True, result=encodable(value["result"]), error="", declined=False)


def broken(why: str, *, loaded: bool = True) -> Answer:
    """Give the answer of a skill that failed."""
    return Answer(ok=False, result=None, error=_short(why), declined=False, loaded=loaded)


def encodable(text: str) -> str:
    """Give a text that every door can write: halves of surrogate pairs have no place in one."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def _is_answer(value: dict[str, object]) -> bool:
    plain = isinstance(value.get("ok"), bool) and isinstance(value.get("declined"), bool) and isinstance(value.get("error"), str)
    return plain and (value.get("result") is None or isinstance(value.get("result"), str))


def _short(text: str) -> str:
    """Give a text that stays on its line, says no more than is worth reading, and steers no terminal."""
    plain = "".join(char if char.isprintable() else " " for char in text[: MOST_SAID * 4])
    return encodable(one_line(plain))[:MOST_SAID]


# --- what is said: the words of CO-17, CO-19 and CO-21


def shown(name: str) -> str:
    """Give a skill's name as it stands in a sentence."""
    return _short(name)


def not_found(name: str) -> str:
    """Say that there is no such skill."""
    return f"Skill not found: {shown(name)}"


def not_loaded(name: str, why: str = "") -> str:
    """Say that a skill was not even called."""
    return f"Skill '{shown(name)}' could not be loaded." + (f" {_short(why)}" if why else "")


def failed(name: str, error: str) -> str:
    """Say that a skill failed, and how: `Type: message`."""
    return f"Skill '{shown(name)}' failed: {_short(error)}"


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
    return f"Skill '{shown(name)}' was vetoed by plugin '{shown(hook)}': {_short(reason)}"


def said(name: str, answer: Answer) -> str:
    """Say why there is no result; nothing where there is one, or the skill declined."""
    if answer.ok:
        return ""
    return failed(name, answer.error) if answer.loaded else not_loaded(name, answer.error)
