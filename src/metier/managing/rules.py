"""What an agent may ask for: names, categories, files and contents, each held against its limit (HE-47). Pure.

Every function gives the value to go on with, or raises the refusal that tells an agent what to do instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from metier.disclose.levels import LINKED, safe_relative
from metier.errors import RefusedError, UsageError
from metier.standard.names import lookup_key, name_faults
from metier.standard.rules import BARE, FATAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.model import Card, Diagnostic, Finding

MAIN = "SKILL.md"
MAX_NAME = 64
MAX_MAIN_CHARACTERS = 100_000
MAX_FILE_BYTES = 1024 * 1024
MAX_TREE_BYTES = 256 * 1024 * 1024
"""A skill with more than this is not copied to be changed."""
MAX_PATH, MAX_SEGMENT, MAX_DEPTH = 1024, 255, 12
_SEGMENT = re.compile(r"[a-z0-9][a-z0-9._-]*")

PARTS: dict[str, dict[str, tuple[type, Any]]] = {
    "create": {"content": (str, None), "category": (str, "")},
    "edit": {"content": (str, None)},
    "patch": {"old": (str, None), "new": (str, None), "file": (str, MAIN), "replace_all": (bool, False)},
    "delete": {},
    "write_file": {"file": (str, None), "content": (str, None)},
    "remove_file": {"file": (str, None)},
}
"""What each action takes: the type of each part, and what stands for it when it is left out; `None` when it may not be."""


def parts_of(action: str, parts: Mapping[str, Any]) -> dict[str, Any]:
    """Give every part of an action, those left out as well."""
    if action not in PARTS:
        raise UsageError(f"a skill cannot be managed by '{str(action)[:100]}'", hint=f"the actions are: {', '.join(PARTS)}")
    taken = PARTS[action]
    for key, value in parts.items():
        if key not in taken:
            raise UsageError(f"'{action}' takes no '{key[:100]}'", hint=f"it takes: {', '.join(taken) or 'only a name'}")
        if not isinstance(value, taken[key][0]):
            raise UsageError(f"'{key}' must be {'true or false' if taken[key][0] is bool else 'a text'}", hint="give it as that")
    found = {key: parts.get(key, default) for key, (_kind, default) in taken.items()}
    for key, value in found.items():
        if value is None:
            raise UsageError(f"'{action}' needs '{key}'", hint=f"it takes: {', '.join(taken)}")
    return found


def new_name(name: str) -> str:
    """Accept the name of a new skill: the agent's rule and then the standard's, which is the narrower one (decision 7)."""
    if not _SEGMENT.fullmatch(name) or len(name) > MAX_NAME:
        raise UsageError(f"'{shown(name)}' is not a valid skill name",
                         hint=f"use lower-case letters, digits and hyphens, at most {MAX_NAME} characters")  # fmt: skip
    for _code, message, hint in name_faults(name, ""):
        raise UsageError(f"'{shown(name)}' is not a valid skill name: {message}", hint=hint)
    return name


def one_segment(category: str) -> str:
    """Accept a category: nothing, or one plain word."""
    if category and (not _SEGMENT.fullmatch(category) or len(category) > MAX_NAME):
        raise UsageError(f"'{shown(category)}' is not a category",
                         hint="use one word of lower-case letters, digits and hyphens, without slashes")  # fmt: skip
    return category


def file_inside(path: str) -> str:
    """Accept a file that an agent may write: the skill's own, or one below a folder for linked files."""
    relative = safe_relative(path)
    segments = relative.split("/")
    odd = not relative.isprintable() or any(segment.startswith(".") or segment != segment.strip() for segment in segments)
    if odd or path.endswith(("/", "\\")) or len(segments) > MAX_DEPTH or _too_long(relative, segments):
        raise RefusedError(f"'{shown(path)}' cannot be the name of a skill's file", code="path",
                           hint="give a plain path, such as references/guide.md")  # fmt: skip
    if relative != MAIN and (segments[0] not in LINKED or len(segments) < 2):
        raise RefusedError(f"'{shown(path)}' is not a file that may be changed", code="path",
                           hint=f"{MAIN}, or a file below {', '.join(f'{kind}/' for kind in LINKED)}")  # fmt: skip
    return relative


def _too_long(relative: str, segments: list[str]) -> bool:
    sizes = [len(segment.encode("utf-8", "surrogatepass")) for segment in segments]
    return max(sizes) > MAX_SEGMENT or len(relative) > MAX_PATH


def content_bytes(file: str, content: str) -> bytes:
    """Accept the text of a file, within the limits of what it is."""
    if file == MAIN and len(content) > MAX_MAIN_CHARACTERS:
        raise too_large(file, len(content), "characters")
    try:
        data = content.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the text for {file} holds half a character", hint="give valid Unicode text") from None
    if len(data) > MAX_FILE_BYTES:
        raise too_large(file, len(data), "bytes")
    if b"\0" in data:
        raise UsageError(f"the text for {file} holds a NUL: it is not text", hint="only text files can be written")
    return data


def too_large(file: str, size: int, what: str) -> RefusedError:
    """Say that a file is or would be longer than its limit."""
    is_main = file == MAIN and what == "characters"
    limit, where = (MAX_MAIN_CHARACTERS, "files below references/") if is_main else (MAX_FILE_BYTES, "smaller files")
    return RefusedError(f"{size:,} {what} are too many for {file}: the limit is {limit:,}", code="too-large",
                        hint=f"move parts of it into {where}")  # fmt: skip


def free_name(name: str, cards: Iterable[Card]) -> None:
    """Refuse a new skill the name of another: it would shadow that one, or lie in its shadow."""
    key = lookup_key(name)
    for card in cards:
        if card.state not in _NOBODYS and card.held != "project" and lookup_key(card.name) == key:
            raise RefusedError(f"there is already a skill named '{shown(card.name)}' ({card.scope})", code="exists",
                               hint="edit or patch that one, or choose another name")  # fmt: skip


_NOBODYS = frozenset({"invalid", "quarantined", "blocked"})
"""What nobody vouches for takes no name from anybody; nor does a project that nobody trusts."""


def kept_name(before: str, after: str) -> None:
    """Refuse an edit that gives a skill another name."""
    if lookup_key(before) != lookup_key(after):
        raise RefusedError(f"the new text names the skill '{shown(after)}' instead of '{shown(before)}'", code="renamed",
                           hint="keep the name; create a new skill for another one")  # fmt: skip


def passed(diagnostics: Iterable[Diagnostic], *, already: Iterable[Diagnostic] = ()) -> tuple[str, ...]:
    """Refuse a text with faults that it did not have before; give its warnings in words."""
    known = {note.code for note in already} - FATAL - BARE - {_NO_BODY}
    notes = list(diagnostics)
    faults = [note for note in notes if (note.severity == "error" or note.code == _NO_BODY) and note.code not in known]
    if faults:
        error = RefusedError(f"{faults[0].path}:{faults[0].line}: {faults[0].message}", code="invalid", hint=faults[0].hint)
        error.details["diagnostics"] = [_row(note) for note in faults]
        raise error
    return tuple(f"{note.path}:{note.line}: {note.code} {note.message}" for note in notes if note.severity != "info")


_NO_BODY = "SK070"


def _row(note: Diagnostic) -> dict[str, object]:
    return {"code": note.code, "message": note.message, "path": note.path, "line": note.line, "hint": note.hint}


def dangerous(name: str, findings: Iterable[Finding]) -> RefusedError:
    """Say that a change is not made because of what it might do."""
    rows = [{"rule": one.rule, "severity": one.severity, "path": one.path, "line": one.line, "why": one.why} for one in findings]
    told = "; ".join(f"{row['rule']} in {row['path']}:{row['line']}" for row in rows[:5])
    error = RefusedError(f"'{shown(name)}' would be dangerous ({told}); nothing was changed", code="blocked",
                         hint="leave out what was found; 'metier scan' explains each rule")  # fmt: skip
    error.details["findings"] = rows[:50]
    return error


def shown(text: str) -> str:
    """Give a stranger's word short and on one line, for an error."""
    line = "".join(char if char.isprintable() else "?" for char in text[:100])
    return line if len(text) <= 100 else line + "…"
