"""Composes the message that a model receives when skills are loaded, and recovers the user's own
words from it. Pure.

A skill's body stands between tags that say whose it is, with the skill's folder and the names of
its files; none of these files is read. The parts of a message have a fixed order (HE-27).

The last line of every message that has anything added to it says how long the user's own text is,
and how long the message, with a hash of all of it under the conversation's key. Nobody who writes a
skill has that key: what looks like such a line in a body is passed over, and a true one says
nothing about any other text than its own.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, NamedTuple

from metier.standard import characters
from metier.standard.characters import unbracketed
from metier.standard.names import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.model import Texts


MAX_NAMED_FILES = 100
"""How many files are named; a count stands for the rest."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


def wrap_body(
    name: str, folder: str, text: str, files: Sequence[str] = (), config: str = ""
) -> str:
    """Give what a model receives when it loads a skill; `text` is the body and `config` the note,
    both fit for a prompt.
    """
    listed = [f"  <file>{escape_tag(file)}</file>\n" for file in files[:MAX_NAMED_FILES]]
    if len(files) > MAX_NAMED_FILES:
        listed.append(f"  and {len(files) - MAX_NAMED_FILES:,} more\n")
    resources = f"\n<skill_resources>\n{''.join(listed)}</skill_resources>\n" if listed else ""
    begin = f'<skill_content name="{escape_tag(name)}" directory="{escape_tag(folder)}">'
    noted = f"\n{config}\n" if config else ""
    return f"{begin}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{noted}{resources}</skill_content>"


def already_loaded(name: str) -> str:
    """Give what a model receives when it loads a skill a second time, and the skill is still the
    same.
    """
    return (
        f'<skill_content name="{escape_tag(name)}" already_loaded="true">\n'
        "This skill was loaded earlier in this conversation and has not changed: follow the "
        "instructions given there. If they are no longer there, load it with again=true.\n"
        "</skill_content>"
    )


def escape_tag(text: str) -> str:
    """Make a stranger's name fit for a tag, an attribute or one line of a list: no tags, notes,
    quotes or line breaks.
    """
    return unbracketed(
        "".join(
            _ENTITIES.get(char) or (char if char.isprintable() else _code(char)) for char in text
        )
    )


def _code(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


# --- the message and its parts

PART_KINDS = (
    "activation",
    "content",
    "directory",
    "config",
    "setup",
    "files",
    "mention",
    "bundle",
    "instruction",
    "runtime",
)
"""The parts of a message, in their order; those of one skill, up to its files, stay together."""
NAME_BYTES = 256
PATH_BYTES = 1_024
PROVIDED_BYTES = 8_000
"""What is cut of a mentioned skill's name and path, and of a prompt that does not come from disk
(CX-47)."""
MAX_SETTINGS = 32
_LINE_CHARS = 300
"""Characters of a stranger's line."""
_NOTE = f"\n\n[{characters.RUNTIME}: the user's own text is the "
_ADDED = "metier added the rest.]"
_MARK = re.compile(
    r"([0-9]{1,12}) characters before this note, the last of ([0-9]{1,12}) \(keyed hash ([0-9a-f]{16})\); "
    + re.escape(_ADDED)
)
_TRIES = 64


class MessagePart(NamedTuple):
    """One part of a message."""

    kind: str
    text: str
    skill: str = ""


class SkillSetting(NamedTuple):
    """One value that a skill asks for (HE-23)."""

    key: str
    value: str
    description: str = ""


class MessageSkill(NamedTuple):
    """A skill as it goes into a message. Every text of it is already fit for a prompt."""

    name: str
    shown: str
    """The name, on one line and without brackets."""
    path: str
    folder: str
    content: str
    """Its body as disclosed (ZE-25); nothing when the model already has it."""
    settings: tuple[SkillSetting, ...] = ()
    missing: Texts = ()
    """What it still needs, by name."""
    help: str = ""
    files: Texts = ()
    again: bool = False
    """Whether the session has these very bytes already."""
    unsupported: str = ""
    """Why its own words keep it from this system."""
    helpless: bool = False
    """Whether nobody can give what is missing, so that nothing is to be suggested."""


def activated(skill: MessageSkill, told_by: str) -> list[MessagePart]:
    """Give the parts of a skill that somebody asked for, in order."""
    told = f'[{characters.ACTIVATED}{skill.shown}", asked for {told_by}. '
    note = (
        "It was already loaded in this conversation and has not changed: its instructions "
        "stand above.]"
    )
    if skill.again:
        texts = {"activation": told + note, "setup": _setup(skill)}
    else:
        texts = {
            "activation": f"{told}Its instructions follow.]",
            "content": skill.content,
            "directory": f"[{characters.DIRECTORY}: {skill.folder}]",
            "config": configured(skill.shown, skill.settings),
            "setup": _setup(skill),
            "files": _files(skill),
        }
    return [MessagePart(kind, text, skill.name) for kind, text in texts.items() if text]


def configured(shown: str, settings: Sequence[SkillSetting]) -> str:
    """Give the note with a skill's settings (HE-23); nothing where it asks for none."""
    if not settings:
        return ""
    lines = [
        f"  {one.key} = {one.value}" + (f"  ({one.description})" if one.description else "")
        for one in settings[:MAX_SETTINGS]
    ]
    return (
        f'[{characters.CONFIG} of "{shown}", from your configuration or its defaults:\n'
        + "\n".join(lines)
        + "\n]"
    )


def _setup(skill: MessageSkill) -> str:
    if not skill.missing and not skill.unsupported:
        return ""
    notes = [f"may not work here: {skill.unsupported}."] if skill.unsupported else []
    if skill.missing:
        more = "." if skill.helpless else "; 'metier setup' says more."
        notes.append(f"still needs {'; '.join(skill.missing)}. Some of it may not work{more}")
    said = f' Its author says: "{skill.help}"' if skill.help else ""
    return f'[{characters.SETUP}: "{skill.shown}" {" It ".join(notes)}{said}]'


def _files(skill: MessageSkill) -> str:
    if not skill.files:
        return ""
    listed = [f"- {path}" for path in skill.files[:MAX_NAMED_FILES]]
    if len(skill.files) > MAX_NAMED_FILES:
        listed.append(f"- and {len(skill.files) - MAX_NAMED_FILES} more")
    return f"[{characters.FILES}, to be read one by one when needed:\n" + "\n".join(listed) + "\n]"


def requested_settings(
    fields: Mapping[str, object], values: Mapping[str, str]
) -> tuple[SkillSetting, ...]:
    """Read what a skill asks to be configured, `metadata.hermes.config`, with the user's values or
    its own defaults (HE-23).
    """
    metadata = fields.get("metadata")
    hermes = metadata.get("hermes") if isinstance(metadata, dict) else None
    rows = hermes.get("config") if isinstance(hermes, dict) else None
    found: dict[str, SkillSetting] = {}
    for row in rows[:MAX_SETTINGS] if isinstance(rows, list) else ():
        if not isinstance(row, dict):
            continue
        key = row.get("key")
        told = row.get("description") or row.get("prompt")
        if isinstance(key, str) and key.strip():
            default = row.get("default")
            value = values.get(key.strip(), default if isinstance(default, str) else "")
            found.setdefault(
                key.strip(), SkillSetting(key.strip(), value, told if isinstance(told, str) else "")
            )
    return tuple(found.values())


def mentioned(skill: MessageSkill, resources: Sequence[str] | None = None) -> MessagePart:
    """Give the block of a skill that was mentioned (CX-47).

    `resources` are the files of a skill that no catalogue names: how else would a model come by
    them (CX-49)?
    """
    already = (
        f'[{characters.ACTIVATED}{skill.shown}" was already loaded in this conversation and has '
        f"not changed: "
        "its instructions stand above.]"
    )
    contents = already if skill.again else skill.content
    name = escape_tag(cut(skill.name, NAME_BYTES))
    path = escape_tag(cut(skill.path, PATH_BYTES))
    block = f"<skill>\n<name>{name}</name>\n<path>{path}</path>\n{contents}\n</skill>"
    if resources is not None:
        access = {
            "skill": skill.shown,
            "folder": skill.folder,
            "files": list(resources[:MAX_NAMED_FILES]),
        }
        told = json.dumps(access, ensure_ascii=True).replace("<", "\\u003c")
        block += f"\n<resource_access>\n{told}\n</resource_access>"
    return MessagePart("mention", block, skill.name)


def provided(name: str, prompt: str) -> tuple[str, str]:
    """Cut a prompt that a provider gave, not the disk, at a character's end; give it and the
    warning, if one is due (CX-47).
    """
    kept = cut(prompt, PROVIDED_BYTES)
    if len(kept) == len(prompt):
        return prompt, ""
    longer = f"the prompt of '{name}' is longer than {PROVIDED_BYTES:,} bytes"
    return kept, f"{longer}; the rest was left out"


def cut(text: str, size: int) -> str:
    """Give as much of a text as fits into so many bytes of UTF-8, never half a character."""
    data = text[: size + 1].encode("utf-8", "surrogatepass")
    if len(data) <= size:
        return text
    while size and data[size] & 0xC0 == 0x80:
        size -= 1
    return data[:size].decode("utf-8", "surrogatepass")


def line(text: str, size: int = _LINE_CHARS) -> str:
    """Give a stranger's text on one line, and not too long."""
    shown = "".join(char if char.isprintable() else " " for char in text[: size + 1])
    return shortened(shown, size)


def bundled(shown: str, instruction: str) -> MessagePart:
    """Give the note with what a bundle adds for all its skills (HE-29)."""
    return MessagePart("bundle", f'[{characters.BUNDLE}{shown}": {instruction}]')


def compose(
    parts: Iterable[MessagePart], user_text: str, key: bytes
) -> tuple[str, tuple[MessagePart, ...]]:
    """Join parts, the user's own text and the note that finds it again; give the message and all
    its parts.
    """
    added = list(parts)
    if user_text:
        added.append(MessagePart("instruction", f"[{characters.OWN_TEXT}:]\n{user_text}"))
    before = "\n\n".join(part.text for part in added)
    sizes = f"{len(user_text)} characters before this note, the last of {len(before)}"
    note = f"{_NOTE}{sizes} (keyed hash {_hash(before, len(user_text), key)}); {_ADDED}"
    return before + note, (*added, MessagePart("runtime", note.lstrip("\n")))


def recover(message: str, key: bytes) -> str | None:
    """Give the user's own words out of a message that `compose` made with this key; nothing for any
    other text, or without a key.

    The last note that tells the truth counts: a user may quote such a note, and a host may add text
    before and after ours.
    """
    at = len(message)
    for _try in range(_TRIES if key else 0):
        at = message.rfind(_NOTE, 0, at)
        if at < 0:
            return None
        found = _MARK.match(message, at + len(_NOTE))
        size, whole = (int(found[1]), int(found[2])) if found else (0, 0)
        if found and size <= whole <= at and _hash(message[at - whole : at], size, key) == found[3]:
            return message[at - size : at]
    return None


def _hash(before: str, size: int, key: bytes) -> str:
    data = f"{size}:{before}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=8, key=key[:64]).hexdigest()
