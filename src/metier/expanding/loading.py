"""One skill on its way into a message: let in, read, filled in, disclosed. What fails becomes a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from metier import filling, reading, skillfile
from metier.disclose import message as messages
from metier.errors import MetierError, RefusedError
from metier.filling import safe_line
from metier.model import Needs
from metier.resolve.needs import elsewhere, helps_with, lacks, never_given
from metier.standard.names import one_line
from metier.standard.needs import read_needs
from metier.trust.boundary import shown_name

if TYPE_CHECKING:
    from metier.app import Library
    from metier.disclose.message import Loaded
    from metier.model import Body, Card

OUT_OF_REACH = frozenset({"disabled", "gate", "bare", "invalid"})
"""What holds a skill back even from somebody who names it."""
_PATH = 4_096
_HELP, _LACK = 1_000, 500


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
        if isinstance(error, RefusedError) and error.code == "ask" and not call.consent:
            work.seen.discard(card.path)  # somebody may still name it in the same message
        work.lose(card.name, f"{failed} {_said(error)}")
        return None
    if card.name in work.missing:  # what a bundle could not get, a command after it did
        work.missing.remove(card.name)
    work.skills.append(card.name)
    return _given(work, card, body, call, before)


def _given(work: Work, card: Card, body: Body, call: Call, before: str | None) -> Loaded:
    """Fill in variables, disclose, and note that the session has it."""
    library = work.library
    shell = filling.shell_of(library, card, body)
    given = filling.filled(library, card, body.content, body.level, call.request, call.words, shell)
    if given.kept:
        work.warnings.append(f"'{card.name}' has so many variables that {given.kept:,} of them stay as written")
    again = body.digest is not None and before == body.digest and not given.varies
    if body.digest is not None:
        library.session.loaded[card.path] = body.digest
    never = never_given(body.missing["env"], library.machine)
    missing = tuple(safe_line(text, _LACK) for text in lacks(body.missing, never))
    files = tuple(safe_line(path) for paths in body.linked_files.values() for path in paths)
    return messages.Loaded(
        card.name, shown_name(card.name), file_of(card), safe_line(filling.folder_of(card), _PATH), given.disclosed,
        filling.settings_of(library, body.fields), missing, safe_line(body.setup_help.replace('"', "'"), _HELP), files, again,
        safe_line(_unsupported(library, card, body)), not helps_with(body.missing, never),
    )  # fmt: skip


def _unsupported(library: Library, card: Card, body: Body) -> str:
    """Say why a skill's own words keep it from this system; nothing when they do not."""
    if body.readiness != "unsupported":
        return ""
    sidecar = skillfile.sidecar_at(card.path) if card.kind == "skill-md" else None
    needs = read_needs(body.fields, {}, sidecar)[1] or Needs()
    return elsewhere(needs.systems, library.platform)


def _said(error: Exception) -> str:
    return one_line(error.message if isinstance(error, MetierError) else str(error))
