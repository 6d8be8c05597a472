"""A skill's text on its way to a model: variables filled in, inline shell run where it may be, then disclosed (HE-22, ZE-25).

Whatever gives a model a skill, a tool or somebody's command, gives it what comes out of here; for people it stays as written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import message as messages, variables
from metier.errors import MetierError
from metier.standard.marks import unbracketed
from metier.standard.names import one_line
from metier.trust.boundary import disclosed, escaped, sealed, shown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from metier.app import Library
    from metier.disclose.message import Setting
    from metier.model import Body, Card, Trust
    from metier.runs import Mount

_APPROVED = frozenset({"builtin", "trusted", "verified"})
_KEY, _VALUE = 100, 1_000
_OUTPUT = 64 * 1024


class Filled(NamedTuple):
    """A text as it may stand in a prompt."""

    disclosed: str
    varies: bool = False
    """Whether it holds what may be different the next time: a request, or what a command printed."""
    kept: int = 0
    """How many variables stayed as written because the text had grown too long."""


def filled(
    library: Library, card: Card, text: str, level: Trust, request: str | None = None, words: Sequence[str] = (),
    shell: Callable[[str], str] | None = None,
) -> Filled:  # fmt: skip
    """Fill in a skill's folder and the session, a command's request where there is one, and disclose; code stays as it is."""
    if card.kind == "code":
        return Filled(disclosed(card.name, text, level))
    # A trusted text is not escaped, so what it is given must need no escaping.
    values = [value if escaped(value) == value else "" for value in (folder_of(card), library.session.name)]
    prepared = variables.prepare(text, variables.values_for(*values), request, words, shell)
    shown = disclosed(card.name, prepared.text, level, prepared.put, prepared.own)
    return Filled(shown, prepared.varies, prepared.kept)


def folder_of(card: Card) -> str:
    """Give the folder that a skill lies in."""
    return card.path if card.kind == "skill-md" else card.path.rpartition("/")[0]


def safe_line(text: str, size: int = 300) -> str:
    """Make a stranger's text fit for a line of ours: no line breaks, no tags, and no bracket that begins or ends a note."""
    return unbracketed(escaped(messages.line(text, size)))


# --- configuration


def config_of(library: Library, name: str, fields: Mapping[str, object]) -> str:
    """Give the note with what the user configured for a skill; nothing where it asks for nothing (HE-23)."""
    return messages.configured(shown_name(name), settings_of(library, fields))


def settings_of(library: Library, fields: Mapping[str, object]) -> tuple[Setting, ...]:
    """Give what the user configured for a skill. A value that looks like a secret is not for a prompt (HE-23)."""
    from metier.audit.redact import is_secret_name, redacted_text

    def value(one: Setting) -> str:
        if not one.value:
            return "(not set)"
        return "(set, not shown)" if is_secret_name(one.key) else safe_line(redacted_text(one.value[:_VALUE]))

    found = messages.settings_of(fields, dict(library.settings.skill_values))
    return tuple(messages.Setting(safe_line(one.key, _KEY), value(one), safe_line(one.description)) for one in found)


# --- inline shell


def shell_of(library: Library, card: Card, body: Body) -> Callable[[str], str] | None:
    """Give what runs a body's commands, or refuses each; nothing while the setting is off, and they stay as written."""
    if not library.settings.inline_shell or "!`" not in body.content:
        return None
    from metier.copies import disk as copies
    from metier.runs import Mount

    why = _why_not_run(library, card, body)
    if why or body.digest is None or library.data is None:
        return lambda _command: variables.refused(why or "there is no place for a copy of it")
    data, digest = library.data, body.digest

    def run(command: str) -> str:
        try:
            copy = copies.ready(data, library.home, card.path, digest, library.ports.token().hex())
            return sealed(variables.outcome(*_inline(library, Mount(copy, folder_of(card)), command)))
        except (MetierError, OSError, ValueError) as error:
            said = one_line(error.message if isinstance(error, MetierError) else str(error))
            return f"[inline-shell failed: {safe_line(said, 200)}]"

    return run


def _inline(library: Library, mount: Mount, command: str) -> tuple[int, str]:
    """Run one line of shell in the sandbox, in a copy of a skill's folder that is seen where the folder is.

    Give its exit code and what it printed.
    """
    from metier.execute.output import Cleaner
    from metier.runs import HOME, Bounds, Cage

    heard, cleaner = list[str](), Cleaner({})
    cage = Cage(("/bin/sh", "-c", command), (mount,), (), (("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", HOME)),
                mount.target, bounds=Bounds(variables.SECONDS, output_bytes=_OUTPUT))  # fmt: skip
    ended = library.box().run(cage, lambda _stream, data: heard.append(cleaner.feed(data)))
    return ended.code, "".join((*heard, cleaner.finish()))


def _why_not_run(library: Library, card: Card, body: Body) -> str:
    """Say why a skill's commands are not run: only approved bytes, and only in a sandbox."""
    from metier.vetting.cases import case_of, plain

    lacking = next((layer for layer in library.box().layers() if layer.needed and not layer.active), None)
    if lacking is not None:
        return "there is no sandbox"
    found = plain(case_of(library, card))
    if found.digest is None or found.digest != body.digest:
        return "it changed while it was read"
    if found.level not in _APPROVED or found.phases["run"] != "allow" or not _is_approved(library, card, found.digest):
        return "nobody approved these bytes"
    return ""


def _is_approved(library: Library, card: Card, digest: str) -> bool:
    """Tell whether a person approved these very bytes; a level that comes with a place or a source is not that."""
    from metier.trust import disk as store
    from metier.trust.facts import standing

    record = standing(store.read(library.data).about(card.name, card.path), card.name, digest, store.now()).same
    return record is not None and record.state == "approved"
