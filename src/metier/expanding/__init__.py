"""A user's message with slash commands and mentions → the message that a model receives. Reads at the edge, composes in pure code.

Whoever types a command or a mention asks for that very skill: where loading asks, that is the yes. What is blocked stays
blocked, becomes a warning, and the rest of the message goes on. Bodies go in as they are disclosed, never as written (ZE-25).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import implicit, mentions, message as messages, slash
from metier.discover import disk
from metier.expanding.calling import SlashCommand, commands, load_called, rank_of
from metier.expanding.loading import OUT_OF_REACH, Call, begin, file_of, load, named
from metier.skillfile import main_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.app import Library
    from metier.disclose.message import Part
    from metier.expanding.loading import Work
    from metier.model import Card

__all__ = ["Expanded", "Preloaded", "SlashCommand", "commands", "expand", "implicit_use", "preload"]


class Expanded(NamedTuple):
    """What a model receives, and what became of everything that was named."""

    message: str
    skills: list[str]
    missing: list[str]
    warnings: list[str]
    user_text: str
    """The user's own words; `Library.recover` finds them in the message again."""
    parts: tuple[Part, ...]
    arguments: tuple[str, ...] = ()
    """The request after a slash command, split as a shell would."""
    refused: bool = False
    """Whether a slash command was typed and none of its skills could be given."""


class Preloaded(NamedTuple):
    """The instructions of several skills for the start of a session (HE-30)."""

    prompt: str
    loaded: list[str]
    missing: list[str]
    warnings: list[str]


def expand(
    library: Library, text: str, selections: Sequence[tuple[str, str]] = (), connectors: Iterable[str] = ()
) -> Expanded:  # fmt: skip
    """Turn the slash commands and mentions of a message into what a model receives; a message without any stays as it is.

    `connectors` are the slugs of a host's apps, whose names no plain mention may share (CX-45).
    """
    plain = slash.unescaped(text)
    typed = slash.Typed((), text if plain is None else plain)
    begins = plain is None and bool(slash.read(text, lambda _name: False).commands)
    if not begins and not selections and "$" not in text:
        return Expanded(typed.request, [], [], [], typed.request, ())
    told = len(library.warnings)
    work = begin(library)
    parts: list[Part] = []
    endings: list[Part] = []
    if begins:
        typed = load_called(work, text, parts, endings)
    called = bool(parts)
    words = typed.request if called or not begins else text
    parts += _mentions(work, words, selections, connectors)
    warnings = [*work.warnings, *library.warnings[told:]]
    arguments = slash.arguments(typed.request) if called else ()
    if not parts:
        return Expanded(words, [], work.missing, warnings, words, (), refused=begins)
    composed, whole = messages.compose([*parts, *endings], words, library.session.key)
    return Expanded(composed, work.skills, work.missing, warnings, words, whole, arguments, begins and not called)


def _mentions(work: Work, text: str, selections: Sequence[tuple[str, str]], connectors: Iterable[str]) -> list[Part]:
    found = mentions.find(text)
    found = found._replace(links=tuple((name, _as_known(work, path)) for name, path in found.links))
    if not (found.names or found.links or selections):
        return []
    skills = [mentions.Mentionable(card.name, file_of(card), _mention_rank(card)) for card in work.cards]
    chosen = mentions.select(found, [_selection(work, one, skills) for one in selections], skills, connectors)
    parts: list[Part] = []
    for at in chosen.chosen:
        card = work.cards[at]
        loaded = load(work, card, Call(consent=True, whole=True))
        if loaded:
            parts.append(messages.mentioned(loaded, loaded.files if card.held == "model" else None))
    for name, path in chosen.unmatched:
        work.lose(name or path, f"Failed to load skill {name} at {path}: no skill that is enabled lies there")
    for name in chosen.ambiguous:
        listed = [file_of(card) for card in work.cards if card.name == name and _mention_rank(card) >= 0]
        work.lose(name, f"'${name}' means {len(listed)} skills, so none was taken; write [${name}](PATH) with one of: "
                        + ", ".join(listed[:5]))  # fmt: skip
    return parts


def _as_known(work: Work, path: str) -> str:
    """Give a path as the catalogue writes it: a skill whose own file is `skill.md` is known by `SKILL.md`."""
    folder, _, file = mentions.path_key(path).rpartition("/")
    card = work.by_path.get(folder) if file != "SKILL.md" and file.lower() == "skill.md" else None
    return file_of(card) if card and main_file(card) == f"{folder}/{file}" else path


def _selection(work: Work, selection: tuple[str, str], skills: list[mentions.Mentionable]) -> tuple[str, str]:
    """Give a selection by hand the name it stands for, and the path of a file where it gives a folder."""
    name, path = selection[0], _as_known(work, selection[1])
    place = mentions.path_key(path)
    for skill in skills:
        if place in {skill.file, skill.file.removesuffix("/SKILL.md")}:
            return name or skill.name, skill.file
    return name or place.removesuffix("/SKILL.md").rpartition("/")[2], path


def _mention_rank(card: Card) -> int:
    """Tell what no mention means from what it may; the rest is ranked as for commands."""
    return -1 if card.held in OUT_OF_REACH else 0 if card.held == "unready" else rank_of(card)


def preload(library: Library, names: Sequence[str]) -> Preloaded:
    """Give the instructions of several skills, each once. A list is nobody's yes: what asks first is refused here."""
    told = len(library.warnings)
    work = begin(library)
    parts: list[Part] = []
    for name in dict.fromkeys(names):
        card = named(work, name, "not preloaded")
        loaded = load(work, card, Call(consent=False)) if card else None
        parts += messages.activated(loaded, "at the start of this conversation") if loaded else []
    prompt = "\n\n".join(part.text for part in parts)
    return Preloaded(prompt, work.skills, work.missing, [*work.warnings, *library.warnings[told:]])


def implicit_use(library: Library, command: str, folder: str | None = None) -> Card | None:
    """Give the skill that a shell command uses without naming it (CX-48)."""
    cards = [card for card in library.contents().cards if card.held not in OUT_OF_REACH and card.state != "blocked"]
    skills = [implicit.Usable(file_of(card), f"{card.path}/scripts") for card in cards]
    place = implicit.used_by(command, folder or library.cwd, skills, _real, library.home or "")
    return None if place is None else cards[place]


def _real(path: str) -> str:
    try:
        return disk.real(path)
    except (OSError, ValueError):  # a name that no disk could hold
        return path
