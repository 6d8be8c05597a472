"""One skill on its way into a message: let in, read, its variables filled in, disclosed. What fails becomes a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier import reading, skillfile
from metier.audit.redact import is_secret_name, redacted_text
from metier.disclose import message as messages, variables
from metier.errors import MetierError
from metier.standard.names import one_line
from metier.trust.boundary import disclosed, escaped, shown_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.app import Library
    from metier.disclose.message import Loaded
    from metier.model import Body, Card

OUT_OF_REACH = frozenset({"disabled", "gate", "bare", "invalid"})
"""What holds a skill back even from somebody who names it."""
_PATH = 4_096
_HELP = 1_000
_APPROVED = frozenset({"builtin", "trusted", "verified"})


class Call(NamedTuple):
    """What somebody asked with: nothing but a name, or a command with a request."""

    consent: bool
    request: str | None = None
    words: tuple[str, ...] = ()
    whole: bool = False
    """Whether the skill's file is given with its frontmatter, as for a mention (CX-47)."""


class Work(NamedTuple):
    """One expansion under way."""

    library: Library
    cards: list[Card]
    by_path: dict[str, Card]
    skills: list[str]
    missing: list[str]
    warnings: list[str]
    seen: set[str]
    """Paths of the skills that this message holds, or could not get."""
    fields: dict[str, dict[str, Any]]

    def lose(self, name: str, warning: str) -> None:
        """Note that something named could not be given."""
        if name not in self.missing:
            self.missing.append(name)
        self.warnings.append(warning)

    def fields_of(self, card: Card) -> dict[str, Any]:
        """Give a skill's frontmatter, read once."""
        if card.path not in self.fields:
            self.fields[card.path] = skillfile.fields_of(card)
        return self.fields[card.path]


def begin(library: Library) -> Work:
    """Begin with everything that was found, and nothing loaded."""
    cards = library.contents().cards
    return Work(library, cards, {card.path: card for card in cards}, [], [], [], set(), {})


def named(work: Work, name: str, why: str) -> Card | None:
    """Give the skill that a name means; nothing, and a warning, when it means none."""
    try:
        return work.library.resolve(name)
    except (MetierError, OSError, ValueError) as error:
        work.lose(name, f"{why}: {_said(error)}")
        return None


def file_of(card: Card) -> str:
    """Give the path of a skill's own file, as mentions write it."""
    return f"{card.path}/SKILL.md" if card.kind == "skill-md" else card.path


def load(work: Work, card: Card, call: Call) -> Loaded | None:
    """Give a skill as it goes into a message, once in each; nothing, and a warning, when it may not or cannot be read."""
    if card.path in work.seen:
        return None
    work.seen.add(card.path)
    library = work.library
    before = library.session.loaded.get(card.path)
    failed = f"Failed to load skill {card.name} at {file_of(card)}:"  # CX-47
    if card.held in OUT_OF_REACH:
        work.lose(card.name, f"{failed} {card.reasons[0] if card.reasons else card.state}")
        return None
    try:
        body = reading.body_of(library, card.path, consent=call.consent, noted="load", whole=call.whole)
    except (MetierError, OSError, ValueError) as error:
        work.lose(card.name, f"{failed} {_said(error)}")
        return None
    work.skills.append(card.name)
    return _given(work, card, body, call, before)


def _given(work: Work, card: Card, body: Body, call: Call, before: str | None) -> Loaded:
    """Fill in variables, disclose, and note that the session has it."""
    session = work.library.session
    folder = card.path if card.kind == "skill-md" else card.path.rpartition("/")[0]
    values = variables.values_for(folder, session.name)
    prepared = variables.prepare(body.content, values, call.request, call.words, _shell(work.library, card, body, folder))
    if prepared.kept:
        work.warnings.append(f"'{card.name}' has so many variables that {prepared.kept:,} of them stay as written")
    again = body.digest is not None and before == body.digest and not prepared.varies
    if body.digest is not None:
        session.loaded[card.path] = body.digest
    content = body.disclosed if prepared.text == body.content else disclosed(body.name, prepared.text, body.level)
    missing = tuple(f"{kind} {_safe(', '.join(names))}" for kind, names in body.missing.items() if names)
    files = tuple(_safe(path) for paths in body.linked_files.values() for path in paths)
    return messages.Loaded(
        card.name, shown_name(card.name), file_of(card), _safe(folder, _PATH), content, _settings(work.library, body), missing,
        _safe(body.setup_help, _HELP), files, again,
    )  # fmt: skip


def _settings(library: Library, body: Body) -> tuple[messages.Setting, ...]:
    """Give what the user configured for a skill. A value that looks like a secret is not for a prompt (HE-23)."""
    found = messages.settings_of(body.fields, dict(library.settings.skill_values))

    def value(one: messages.Setting) -> str:
        if not one.value:
            return "(not set)"
        return "(set, not shown)" if is_secret_name(one.key) else redacted_text(_safe(one.value))

    return tuple(messages.Setting(_safe(one.key, 100), value(one), _safe(one.description)) for one in found)


def _safe(text: str, size: int = 300) -> str:
    """Make a stranger's text fit for a line of ours: no line breaks, no tags, no marks."""
    return escaped(messages.line(text, size))


def _said(error: Exception) -> str:
    return one_line(error.message if isinstance(error, MetierError) else str(error))


# --- inline shell


def _shell(library: Library, card: Card, body: Body, folder: str) -> Callable[[str], str] | None:
    """Give what runs a body's commands, or refuses each; nothing while the setting is off, and they stay as written."""
    if not library.settings.inline_shell or "!`" not in body.content:
        return None
    why = _why_not_run(library, card, body)
    if why:
        return lambda _command: variables.refused(why)

    def run(command: str) -> str:
        assert library.sandbox is not None  # or there would be a reason why not
        try:
            return variables.outcome(*library.sandbox.inline(command, folder, variables.SECONDS))
        except (MetierError, OSError, ValueError) as error:
            return f"[inline-shell failed: {_said(error)[:200]}]"

    return run


def _why_not_run(library: Library, card: Card, body: Body) -> str:
    """Say why a skill's commands are not run: only approved bytes, and only in a sandbox."""
    from metier.vetting.cases import case_of, plain

    if library.sandbox is None:
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
