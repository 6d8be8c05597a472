"""Variables and inline shell in a body (HE-22): one pass over the text, and nothing that was put in is looked at again.

Inside a command, variables are left to the shell, which gets them as assignments before the command: so no path, session
or request can add a command of its own, however the skill quotes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.standard.marks import REFUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SECONDS = 10
"""How long a command may take."""
MAX_OUTPUT = 4_000
"""Characters of a command's output; the rest is cut."""
MAX_COMMANDS = 16
"""Commands of one body; the next is refused, and the others stay as written."""
MAX_GROWTH = 1 << 20
"""Characters by which values may lengthen a body; what would go beyond stays as written."""

_VENDORS = ("HERMES", "METIER", "CLAUDE")
_PLACES = r"\$\{([A-Z][A-Z_]{0,40})\}|\$ARGUMENTS(?:\[([0-9]{1,3})\])?(?![A-Za-z0-9_])"
_PLAIN = re.compile(_PLACES)
_WITH_SHELL = re.compile(r"!`([^`\n]+)`|" + _PLACES)


class Prepared(NamedTuple):
    """A body after substitution."""

    text: str
    varies: bool = False
    """Whether it holds what may be different the next time: a request, or what a command printed."""
    kept: int = 0
    """How many variables stayed as written because the text had grown too long."""
    put: tuple[tuple[int, int], ...] = ()
    """Where in the text something was put in: each a beginning and an end."""
    own: frozenset[int] = frozenset()
    """Which of these begin with a note of metier's own."""


def values_for(folder: str, session: str) -> dict[str, str]:
    """Give the variables of a skill: its folder and the session, by each of the names they go by."""
    return {name: value for vendor in _VENDORS for name, value in
            ((f"{vendor}_SKILL_DIR", folder), (f"{vendor}_SESSION_ID", session)) if value}  # fmt: skip


def prepare(
    body: str, values: Mapping[str, str], request: str | None = None, words: Sequence[str] = (),
    shell: Callable[[str], str] | None = None,
) -> Prepared:  # fmt: skip
    """Put values in place of variables, and output in place of commands where a shell is given.

    `request` is what followed a slash command, and `words` its parts; without one `$ARGUMENTS` stays. What has no value
    stays too.
    """
    if "$" not in body and (shell is None or "!`" not in body):
        return Prepared(body)
    known = dict(values) if request is None else {**values, "ARGUMENTS": request}
    grown = kept = ran = 0
    varies = False

    def replaced(found: re.Match[str]) -> str:
        nonlocal grown, kept, ran, varies
        command, name, index = found.groups() if shell else (None, *found.groups())
        if command is not None and shell is not None:
            ran, varies = ran + 1, True
            if ran > MAX_COMMANDS:  # said once: said each time, it would make a long body many times longer
                return refused(f"more than {MAX_COMMANDS} commands") if ran == MAX_COMMANDS + 1 else found[0]
            return shell(with_values(command, known))
        value = known.get(name or "ARGUMENTS")
        if value is not None and index:
            value = words[int(index)] if int(index) < len(words) else None
        if value is None:
            return found[0]
        if grown + len(value) > MAX_GROWTH:
            kept += 1
            return found[0]
        grown += len(value)
        varies = varies or name in {None, "ARGUMENTS"}
        return value

    text, put, own = _substituted(_WITH_SHELL if shell else _PLAIN, replaced, body)
    return Prepared(text, varies, kept, tuple(put), frozenset(own))


def _substituted(
    pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str], body: str
) -> tuple[str, list[tuple[int, int]], list[int]]:  # fmt: skip
    """Put values in, and give the text, where it is no longer the body's, and where a note of metier's own begins."""
    put: list[tuple[int, int]] = []
    own: list[int] = []
    shift = 0

    def remembered(found: re.Match[str]) -> str:
        nonlocal shift
        value, start = replaced(found), found.start() + shift
        if value != found[0]:
            shift += len(value) - len(found[0])
            put.append((start, start + len(value)))
            if found[0].startswith("!") and value.startswith(f"[{REFUSED}"):  # what a command printed never begins so
                own.append(start)
        return value

    return pattern.sub(remembered, body), put, own


def with_values(command: str, values: Mapping[str, str]) -> str:
    """Give a command the variables it may name, as assignments that a shell reads before it."""
    import shlex

    named = [name for name in values if name in command]
    return "".join(f"{name}={shlex.quote(values[name])}; " for name in named) + command


def refused(why: str) -> str:
    """Say in place of a command's output why it was not run."""
    return f"[{REFUSED}: {why}]"


def outcome(code: int, output: str) -> str:
    """Give what stands in place of a command: its output, cut, or that it failed."""
    text = output[: MAX_OUTPUT + 1].rstrip("\n")
    if len(text) > MAX_OUTPUT:
        text = text[:MAX_OUTPUT] + "… [cut]"
    if code == 0:
        return text
    return f"[inline-shell failed with exit code {code}: {text}]" if text else f"[inline-shell failed with exit code {code}]"
