"""Prepares a skill's text for a model: fills in variables, and runs inline shell where that is
allowed (HE-22, ZE-25).

Every way of giving a skill to a model goes through here; people see the text as written. Filling in
is one pass over the text, and nothing that was put in is looked at again.

Inside a command, variables are left to the shell, which gets them as assignments before the
command: so no path, session or request can add a command of its own, however the skill quotes it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import messages
from metier.discover.io import disk
from metier.errors import MetierError
from metier.standard.characters import REFUSED, unbracketed
from metier.standard.names import one_line
from metier.trust.boundary import escape, escape_open_ended, wrap_body
from metier.trust.model import VOUCHED_LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.context import Context
    from metier.disclose.messages import SkillSetting
    from metier.model import Body, Card
    from metier.run.model import Mount
    from metier.trust.assess import TrustCase
    from metier.trust.decide import Usable


COMMAND_SECONDS = 10
"""How long a command may take."""
MAX_OUTPUT_CHARS = 4_000
"""Characters of a command's output; the rest is cut."""
MAX_COMMANDS = 16
"""Commands of one body; the next is refused, and the others stay as written."""
MAX_GROWTH_CHARS = 1 << 20
"""Characters by which values may lengthen a body; what would go beyond stays as written."""

_VENDORS = ("HERMES", "METIER", "CLAUDE")
_PLACES = r"\$\{([A-Z][A-Z_]{0,40})\}|\$ARGUMENTS(?:\[([0-9]{1,3})\])?(?![A-Za-z0-9_])"
_PLAIN = re.compile(_PLACES)
_WITH_SHELL = re.compile(r"!`([^`\n]+)`|" + _PLACES)


class Substituted(NamedTuple):
    """A body after substitution."""

    text: str
    varies: bool = False
    """Whether it holds what may be different the next time: a request, or what a command
    printed."""
    kept: int = 0
    """How many variables stayed as written because the text had grown too long."""
    put: tuple[tuple[int, int], ...] = ()
    """Where in the text something was put in: each a beginning and an end."""
    own: frozenset[int] = frozenset()
    """Which of these begin with a note of metier's own."""


def values_for(folder: str, session: str) -> dict[str, str]:
    """Give the variables of a skill: its folder and the session, by each of the names they go
    by.
    """
    return {
        name: value
        for vendor in _VENDORS
        for name, value in ((f"{vendor}_SKILL_DIR", folder), (f"{vendor}_SESSION_ID", session))
        if value
    }


def substitute(
    body: str,
    values: Mapping[str, str],
    request: str | None = None,
    words: Sequence[str] = (),
    shell: Callable[[str], str] | None = None,
) -> Substituted:
    """Put values in place of variables, and output in place of commands where a shell is given.

    `request` is what followed a slash command, and `words` its parts; without one `$ARGUMENTS`
    stays. What has no value stays too.
    """
    if "$" not in body and (shell is None or "!`" not in body):
        return Substituted(body)
    known = dict(values) if request is None else {**values, "ARGUMENTS": request}
    grown = kept = ran = 0
    varies = False

    def replaced(found: re.Match[str]) -> str:
        nonlocal grown, kept, ran, varies
        command, name, index = found.groups() if shell else (None, *found.groups())
        if command is not None and shell is not None:
            ran = ran + 1
            varies = True
            if ran <= MAX_COMMANDS:
                return shell(with_values(command, known))
            # said once: said each time, it would make a long body many times longer
            once = ran == MAX_COMMANDS + 1
            return refusal_note(f"more than {MAX_COMMANDS} commands") if once else found[0]
        value = known.get(name or "ARGUMENTS")
        if value is not None and index:
            value = words[int(index)] if int(index) < len(words) else None
        if value is None:
            return found[0]
        if grown + len(value) > MAX_GROWTH_CHARS:
            kept += 1
            return found[0]
        grown += len(value)
        varies = varies or name in {None, "ARGUMENTS"}
        return value

    text, put, own = _substituted(_WITH_SHELL if shell else _PLAIN, replaced, body)
    return Substituted(text, varies, kept, tuple(put), frozenset(own))


def _substituted(
    pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str], body: str
) -> tuple[str, list[tuple[int, int]], list[int]]:
    """Put values in, and give the text, where it is no longer the body's, and where a note of
    metier's own begins.
    """
    put: list[tuple[int, int]] = []
    own: list[int] = []
    shift = 0

    def remembered(found: re.Match[str]) -> str:
        nonlocal shift
        value = replaced(found)
        start = found.start() + shift
        if value != found[0]:
            shift += len(value) - len(found[0])
            put.append((start, start + len(value)))
            if found[0].startswith("!") and value.startswith(
                f"[{REFUSED}"
            ):  # what a command printed never begins so
                own.append(start)
        return value

    return pattern.sub(remembered, body), put, own


def with_values(command: str, values: Mapping[str, str]) -> str:
    """Give a command the variables it may name, as assignments that a shell reads before it."""
    import shlex

    named = [name for name in values if name in command]
    return "".join(f"{name}={shlex.quote(values[name])}; " for name in named) + command


def refusal_note(why: str) -> str:
    """Say in place of a command's output why it was not run."""
    return f"[{REFUSED}: {why}]"


def output_note(code: int, output: str) -> str:
    """Give what stands in place of a command: its output, cut, or that it failed."""
    text = output[: MAX_OUTPUT_CHARS + 1].rstrip("\n")
    if len(text) > MAX_OUTPUT_CHARS:
        text = text[:MAX_OUTPUT_CHARS] + "… [cut]"
    if code == 0:
        return text
    return f"[inline-shell failed with exit code {code}{text and f': {text}'}]"


_MAX_KEY_CHARS = 100
_MAX_VALUE_CHARS = 1_000
_MAX_SHELL_BYTES = 64 * 1024


def fill_in(
    context: Context,
    skill: Usable[TrustCase],
    text: str,
    request: str | None = None,
    words: Sequence[str] = (),
    shell: Callable[[str], str] | None = None,
) -> Substituted:
    """Fill in a skill's folder and the session, a command's request where there is one, and
    disclose; code stays as it is. The text is then as it may stand in a prompt.
    """
    card = skill.candidate.card
    level = skill.decision.level
    if card.kind == "code":
        return Substituted(wrap_body(card.name, text, level))
    # A trusted text is not escaped, so what it is given must need no escaping.
    values = [
        value if escape(value) == value else "" for value in (folder_of(card), context.session.name)
    ]
    prepared = substitute(text, values_for(*values), request, words, shell)
    shown = wrap_body(card.name, prepared.text, level, prepared.put, prepared.own)
    return prepared._replace(text=shown)


def folder_of(card: Card) -> str:
    """Give the folder that a skill lies in."""
    return card.path if card.kind == "skill-md" else card.path.rpartition("/")[0]


def safe_line(text: str, size: int = 300) -> str:
    """Make a stranger's text fit for a line of ours: no line breaks, no tags, and no bracket that
    begins or ends a note.
    """
    return unbracketed(escape(messages.line(text, size)))


# --- configuration


def settings_of(context: Context, fields: Mapping[str, object]) -> tuple[SkillSetting, ...]:
    """Give what the user configured for a skill. A value that looks like a secret is not for a
    prompt (HE-23).
    """
    from metier.audit.redact import is_secret_name, redact_text

    def value(one: SkillSetting) -> str:
        if not one.value:
            return "(not set)"
        if is_secret_name(one.key):
            return "(set, not shown)"
        return safe_line(redact_text(one.value[:_MAX_VALUE_CHARS]))

    found = messages.requested_settings(fields, dict(context.settings.skill_values))
    return tuple(
        messages.SkillSetting(
            safe_line(one.key, _MAX_KEY_CHARS), value(one), safe_line(one.description)
        )
        for one in found
    )


# --- inline shell


def shell_of(context: Context, skill: Usable[TrustCase], body: Body) -> Callable[[str], str] | None:
    """Give what runs a body's commands, or refuses each; nothing while the setting is off, and they
    stay as written.
    """
    if not context.settings.inline_shell or "!`" not in body.content:
        return None
    from metier.run.io import copies
    from metier.run.model import Mount

    card = skill.candidate.card
    why = _why_not_run(context, card, body)
    if why or body.digest is None or context.data is None:
        return lambda _command: refusal_note(why or "there is no place for a copy of it")
    data = context.data
    digest = body.digest

    def run(command: str) -> str:
        try:
            copy = copies.ensure(data, context.home, card.path, digest, context.ports.token().hex())
            return escape_open_ended(
                output_note(*_inline(context, Mount(copy, folder_of(card)), command))
            )
        except (MetierError, OSError, ValueError) as error:
            return f"[inline-shell failed: {safe_line(one_line(str(error)), 200)}]"

    return run


def _inline(context: Context, mount: Mount, command: str) -> tuple[int, str]:
    """Run one line of shell in the sandbox, in a copy of a skill's folder that is seen where the
    folder is.

    Give its exit code and what it printed.
    """
    from metier.run.model import HOME, Cage, RunLimits
    from metier.run.output import OutputCleaner

    heard = list[str]()
    cleaner = OutputCleaner({})
    cage = Cage(
        ("/bin/sh", "-c", command),
        (mount,),
        (),
        (("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", HOME)),
        mount.target,
        bounds=RunLimits(COMMAND_SECONDS, output_bytes=_MAX_SHELL_BYTES),
    )
    ended = context.open_sandbox().run(cage, lambda _stream, data: heard.append(cleaner.feed(data)))
    return ended.code, "".join((*heard, cleaner.finish()))


def _why_not_run(context: Context, card: Card, body: Body) -> str:
    """Say why a skill's commands are not run: only approved bytes, and only in a sandbox."""
    from metier.trust.assess import assess_skill, decision_of

    if any(layer.needed and not layer.active for layer in context.open_sandbox().layers()):
        return "there is no sandbox"
    found = decision_of(assess_skill(context, card))
    if found.digest is None or found.digest != body.digest:
        return "it changed while it was read"
    if (
        found.level not in VOUCHED_LEVELS
        or found.phases["run"] != "allow"
        or not _is_approved(context, card, found.digest)
    ):
        return "nobody approved these bytes"
    return ""


def _is_approved(context: Context, card: Card, digest: str) -> bool:
    """Tell whether a person approved these very bytes; a level that comes with a place or a source
    is not that.
    """
    from metier.trust.io import decisions_file
    from metier.trust.model import standing_records

    record = standing_records(
        decisions_file.read_decisions(context.data).about(
            card.name, card.path, disk.real(card.path)
        ),
        card.name,
        digest,
        decisions_file.now(),
    ).same
    return record is not None and record.state == "approved"
