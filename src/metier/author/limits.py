"""Checks what an agent asks to write into a skill, and what a change would newly permit that skill
(HE-47). Pure.

The first half checks names, categories, files and contents against their limits. Every function
returns the value to go on with, or raises an error that tells the agent what to do instead.

The second half compares permissions. A scan judges what a text might do; this is about what the
text gets: tools that need no further approval, secrets, files, servers, commands that an agent runs
on its own, the user's settings, and the model's attention. A change that asks for more than before
waits for a person.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.disclose.messages import requested_settings
from metier.errors import RefusedError, UsageError
from metier.model import Gates, Needs
from metier.standard.names import lookup_key, name_faults
from metier.standard.needs import asks_of, read_needs, split_tools
from metier.standard.rules import BARE, FATAL
from metier.standard.skill_paths import LINKED_FOLDERS, safe_relative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.model import Card, Diagnostic, Document, Finding, JsonObject, Sidecar, Texts


MAIN_FILE = "SKILL.md"
MAX_NAME_CHARACTERS = 64
MAX_MAIN_CHARACTERS = 100_000
MAX_FILE_BYTES = 1024 * 1024
MAX_TREE_BYTES = 256 * 1024 * 1024
"""A skill with more than this is not copied to be changed."""
MAX_PATH_CHARACTERS = 1024
MAX_SEGMENT_CHARACTERS = 255
MAX_PATH_DEPTH = 12
MAX_NAMED_RULES = 5
"""How many rules a refusal names."""
_SEGMENT = re.compile(rf"[a-z0-9][a-z0-9._-]{{0,{MAX_NAME_CHARACTERS - 1}}}")

ACTION_PARTS: dict[str, dict[str, tuple[type, Any]]] = {
    "create": {"content": (str, None), "category": (str, "")},
    "edit": {"content": (str, None)},
    "patch": {
        "old": (str, None),
        "new": (str, None),
        "file": (str, MAIN_FILE),
        "replace_all": (bool, False),
    },
    "delete": {},
    "write_file": {"file": (str, None), "content": (str, None)},
    "remove_file": {"file": (str, None)},
}
"""What each action takes: the type of each part, and what stands for it when it is left out; `None`
when it may not be."""


def parts_of(action: str, parts: Mapping[str, Any]) -> JsonObject:
    """Give every part of an action, those left out as well."""
    if action not in ACTION_PARTS:
        raise UsageError(
            f"a skill cannot be managed by '{str(action)[:100]}'",
            hint=f"the actions are: {', '.join(ACTION_PARTS)}",
        )
    taken = ACTION_PARTS[action]
    for key, value in parts.items():
        if key not in taken:
            raise UsageError(
                f"'{action}' takes no '{key[:100]}'",
                hint=f"it takes: {', '.join(taken) or 'only a name'}",
            )
        if not isinstance(value, taken[key][0]):
            raise UsageError(
                f"'{key}' must be {'true or false' if taken[key][0] is bool else 'a text'}",
                hint="give it as that",
            )
    found = {key: parts.get(key, default) for key, (_kind, default) in taken.items()}
    for key, value in found.items():
        if value is None:
            raise UsageError(f"'{action}' needs '{key}'", hint=f"it takes: {', '.join(taken)}")
    return found


def check_new_name(name: str) -> str:
    """Accept the name of a new skill: the agent's rule and then the standard's, which is the
    narrower one (MT-7).
    """
    if not _SEGMENT.fullmatch(name):
        raise UsageError(
            f"'{shorten(name)}' is not a valid skill name",
            hint=f"use lower-case letters, digits and hyphens, at most {MAX_NAME_CHARACTERS} "
            f"characters",
        )
    for _code, message, hint in name_faults(name, ""):
        raise UsageError(f"'{shorten(name)}' is not a valid skill name: {message}", hint=hint)
    return name


def check_category(category: str) -> str:
    """Accept a category: nothing, or one plain word."""
    if category and not _SEGMENT.fullmatch(category):
        raise UsageError(
            f"'{shorten(category)}' is not a category",
            hint="use one word of lower-case letters, digits and hyphens, without slashes",
        )
    return category


def check_file_path(path: str) -> str:
    """Accept a file that an agent may write: the skill's own, or one below a folder for linked
    files.
    """
    relative = safe_relative(path)
    segments = relative.split("/")
    odd = not relative.isprintable() or any(
        segment.startswith(".") or segment != segment.strip() for segment in segments
    )
    if (
        odd
        or path.endswith(("/", "\\"))
        or len(segments) > MAX_PATH_DEPTH
        or len(relative) > MAX_PATH_CHARACTERS
        or max(len(one.encode("utf-8", "surrogatepass")) for one in segments)
        > MAX_SEGMENT_CHARACTERS
    ):
        raise RefusedError(
            f"'{shorten(path)}' cannot be the name of a skill's file",
            code="path",
            hint="give a plain path, such as references/guide.md",
        )
    if relative != MAIN_FILE and (segments[0] not in LINKED_FOLDERS or len(segments) < 2):
        raise RefusedError(
            f"'{shorten(path)}' is not a file that may be changed",
            code="path",
            hint=f"{MAIN_FILE}, or a file below {', '.join(f'{kind}/' for kind in LINKED_FOLDERS)}",
        )
    return relative


def content_bytes(file: str, content: str) -> bytes:
    """Accept the text of a file, within the limits of what it is."""
    if file == MAIN_FILE and len(content) > MAX_MAIN_CHARACTERS:
        raise too_large_error(file, len(content), "characters")
    try:
        data = content.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"the text for {file} holds half a character", hint="give valid Unicode text"
        ) from None
    if len(data) > MAX_FILE_BYTES:
        raise too_large_error(file, len(data), "bytes")
    if b"\0" in data:
        raise UsageError(
            f"the text for {file} holds a NUL: it is not text",
            hint="only text files can be written",
        )
    return data


def too_large_error(file: str, size: int, what: str) -> RefusedError:
    """Say that a file is or would be longer than its limit."""
    is_main = file == MAIN_FILE and what == "characters"
    limit, where = (
        (MAX_MAIN_CHARACTERS, "files below references/")
        if is_main
        else (MAX_FILE_BYTES, "smaller files")
    )
    return RefusedError(
        f"{size:,} {what} are too many for {file}: the limit is {limit:,}",
        code="too-large",
        hint=f"move parts of it into {where}",
    )


def check_free_name(name: str, cards: Iterable[Card]) -> None:
    """Refuse a new skill the name of another: it would shadow that one, or lie in its shadow."""
    key = lookup_key(name)
    for card in cards:
        if card.state not in _NOBODYS and card.held != "project" and lookup_key(card.name) == key:
            raise RefusedError(
                f"there is already a skill named '{shorten(card.name)}' ({card.scope})",
                code="exists",
                hint="edit or patch that one, or choose another name",
            )


_NOBODYS = frozenset({"invalid", "quarantined", "blocked"})
"""What nobody vouches for takes no name from anybody; nor does a project that nobody trusts."""


def check_kept_name(before: str, after: str) -> None:
    """Refuse an edit that gives a skill another name."""
    if lookup_key(before) != lookup_key(after):
        raise RefusedError(
            f"the new text names the skill '{shorten(after)}' instead of '{shorten(before)}'",
            code="renamed",
            hint="keep the name; create a new skill for another one",
        )


def check_diagnostics(
    diagnostics: Iterable[Diagnostic], *, already: Iterable[Diagnostic] = ()
) -> Texts:
    """Refuse a text with faults that it did not have before; give its warnings in words."""
    known = {note.code for note in already} - FATAL - BARE - {_NO_BODY}
    notes = list(diagnostics)
    faults = [
        note
        for note in notes
        if (note.severity == "error" or note.code == _NO_BODY) and note.code not in known
    ]
    if faults:
        first = faults[0]
        shown = ("code", "message", "path", "line", "hint")
        raise RefusedError(
            f"{first.path}:{first.line}: {first.message}", code="invalid", hint=first.hint
        ).with_details(diagnostics=[_fields(note, shown) for note in faults])
    return tuple(
        f"{note.path}:{note.line}: {note.code} {note.message}"
        for note in notes
        if note.severity != "info"
    )


_NO_BODY = "SK070"


def _fields(row: Diagnostic | Finding, names: Iterable[str]) -> dict[str, object]:
    return {name: getattr(row, name) for name in names}


def dangerous_error(name: str, findings: Sequence[Finding]) -> RefusedError:
    """Say that a change is not made because of what it might do."""
    from metier.scan.report import leading_findings, reason_of

    shown = ("rule", "severity", "path", "line", "why")
    rows = [_fields(one, shown) for one in findings]
    told = leading_findings(findings, MAX_NAMED_RULES)
    rules = ", ".join(dict.fromkeys(one.rule for one in told))
    return RefusedError(
        f"'{shorten(name)}' would be dangerous: {reason_of('dangerous', findings)}; nothing was "
        f"changed ({rules})",
        code="blocked",
        hint="remove what was found; metier scan explains each rule",
    ).with_details(findings=rows[:50])


def shorten(text: str) -> str:
    """Give a stranger's word short and on one line, for an error."""
    line = "".join(char if char.isprintable() else "?" for char in text[:100])
    return line if len(text) <= 100 else line + "…"


# --- what a skill is permitted, and what a change would add

MAX_NAMED_GRANTS = 5
"""How many new things of one kind a reason names."""
_KINDS = ("files", "commands", "tools", "packages", "servers", "skills")
_PRIVATE = ("hooks", "env", "files", "config")
"""What a new skill may not have unseen either: what runs unasked, and what is the user's. Its text,
tools included, is scanned."""
_WORDS = {
    "allowed": "allowed-tools",
    "hooks": "hooks",
    "env": "environment variables",
    "config": "configuration",
    "files": "credential files",
    "commands": "commands",
    "tools": "tools",
    "packages": "packages",
    "servers": "MCP servers",
    "skills": "other skills",
}


class Grants(NamedTuple):
    """What a skill's own words get it, by kind; and whether they keep it from the model."""

    kinds: dict[str, frozenset[str]]
    hidden: bool


def grants_of(document: Document | None, sidecar: Sidecar | None) -> Grants:
    """Read what a skill gets from its frontmatter and its sidecar, in every dialect."""
    fields = document.fields if document is not None else {}
    gates, needs, _notes = read_needs(fields, {}, sidecar)
    asked = [
        ask.name for ask in asks_of(fields, sidecar)
    ]  # those it can do without are lent to it as well
    kinds = {
        "allowed": frozenset(split_tools(fields.get("allowed-tools"))[0]),
        "hooks": frozenset(_hooks(fields.get("hooks"))),
        "env": frozenset((*(needs or Needs()).env, *asked)),
        "config": frozenset(setting.key for setting in requested_settings(fields, {})),
    }
    kinds.update({kind: frozenset(getattr(needs or Needs(), kind)) for kind in _KINDS})
    return Grants(kinds, bool((gates or Gates()).model_hidden))


def _hooks(value: Any) -> Iterator[str]:
    """Write each hook out in full, with its event and what it is tied to: where any of that is
    another, so is the hook.
    """
    for event, groups in value.items() if isinstance(value, dict) else [("", value)]:
        for group in filter(None, _many(groups)):
            inner = group.get("hooks") if isinstance(group, dict) else None
            tied = {key: item for key, item in group.items() if key != "hooks"} if inner else None
            for hook in _many(inner) if inner else [group]:
                yield f"{event} {_written(hook)} {_written(tied) if tied else ''}".strip()


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def widened(before: Grants | None, after: Grants) -> str:
    """Say what a change would add; nothing when it adds nothing. Without a before, the skill is
    new.
    """
    if before is None:
        told = [_listed(kind, after.kinds[kind]) for kind in _PRIVATE]
    else:
        told = [_listed(kind, after.kinds[kind] - before.kinds[kind]) for kind in after.kinds]
        told.append("to be offered to the model" if before.hidden and not after.hidden else "")
    more = "; ".join(filter(None, told))
    return (
        f"it asks for new permissions: {more}"
        if more and before is not None
        else more and f"it asks for {more}"
    )


def _listed(kind: str, new: frozenset[str]) -> str:
    names = ", ".join(map(shorten, sorted(new)[:MAX_NAMED_GRANTS]))
    return f"{_WORDS[kind]} ({names}{', …' if len(new) > MAX_NAMED_GRANTS else ''})" if new else ""
