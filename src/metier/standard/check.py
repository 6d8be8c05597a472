"""The publisher's question: does this skill meet the standard? One function per rule, each a pure
look at the facts.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from metier.standard.needs import split_tools
from metier.standard.rules import diagnose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.model import Diagnostic, Document

STANDARD_FIELDS = frozenset(
    {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
)
MAX_COMPATIBILITY = 500
MAX_BODY_LINES = 500
MAX_BODY_BYTES = 20_000
"""About the 5,000 tokens that the standard recommends (ZE-13)."""

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\[\]\n]{0,300}\]\([ \t]{0,8}<?([^()\s<>]{1,300})>?[^()\n]{0,300}\)")
_MENTION = re.compile(r"`((?:\./)?(?:references|scripts|assets|templates)/[^`\s<>{}*$]{1,300})`")
_CATEGORY = re.compile(r"[a-z0-9-]{1,32}")
_REMOTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:|#|/|~|\$|\{|<|mailto:")


class CheckedSkill(NamedTuple):
    """A skill as the checks see it."""

    document: Document
    file: str
    body: str
    files: frozenset[str]
    """Paths of all files below the folder, with `/`; empty when they are not known."""


def check(skill: CheckedSkill) -> tuple[Diagnostic, ...]:
    """Apply every rule; faults come in the order of their places."""
    found = [*skill.document.diagnostics]
    for rule in _CHECKS:
        found += rule(skill)
    return tuple(
        sorted(
            found,
            key=lambda note: (
                note.path != skill.file,
                note.path,
                note.line,
                note.column,
                note.code,
            ),
        )
    )


def compatibility_is_short_text(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK050: 1 to 500 characters of text."""
    value = skill.document.fields.get("compatibility")
    if value is not None and (
        not isinstance(value, str) or not 0 < len(value) <= MAX_COMPATIBILITY
    ):
        yield _at(skill, "SK050", "compatibility")


def licence_is_text(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK051: a short text or a file's name."""
    if not isinstance(skill.document.fields.get("license", ""), str):
        yield _at(skill, "SK051", "license")


def metadata_maps_text_to_text(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK052: no lists, no nesting."""
    metadata = skill.document.fields.get("metadata", {})
    if not isinstance(metadata, dict):
        if metadata != "":
            yield _at(skill, "SK052", "metadata")
        return
    for key, value in metadata.items():
        if not isinstance(value, str):
            yield _at(skill, "SK052", f"metadata.{key}", f"metadata.{key} is not text.")


def allowed_tools_can_be_read(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK053: a list, or text separated by spaces or commas."""
    if "allowed-tools" in skill.document.fields:
        _tools, problem = split_tools(skill.document.fields["allowed-tools"])
        if problem:
            yield _at(skill, "SK053", "allowed-tools", f"allowed-tools: {problem}")


def category_is_one_word(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK054: 1 to 32 lower-case letters, digits and hyphens (ZE-13)."""
    value = skill.document.fields.get("category", "none")
    if not isinstance(value, str) or _CATEGORY.fullmatch(value.strip()) is None:
        yield _at(skill, "SK054", "category")


def fields_are_the_standards(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK060: only the six fields."""
    for key in skill.document.fields:
        if key not in STANDARD_FIELDS:
            yield _at(skill, "SK060", key, f"'{key}' is not one of the standard's six fields.")


def body_says_something(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK070: instructions follow the frontmatter."""
    if not skill.body.strip():
        yield diagnose("SK070", path=skill.file, line=max(skill.document.body_line, 1))


def body_is_short_enough(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK071: at most 500 lines and 20,000 bytes."""
    lines = skill.body.count("\n") + (not skill.body.endswith("\n"))
    size = len(skill.body.strip().encode("utf-8", "replace"))
    if lines > MAX_BODY_LINES:
        message = f"The body has {lines:,} lines; the standard recommends at most {MAX_BODY_LINES}."
    elif size > MAX_BODY_BYTES:
        message = f"The body has {size:,} bytes; more than {MAX_BODY_BYTES:,} are too many tokens."
    else:
        return
    yield diagnose("SK071", message, path=skill.file, line=max(skill.document.body_line, 1))


def references_exist_inside(skill: CheckedSkill) -> Iterator[Diagnostic]:
    """SK072 and SK073: every named file is in the skill (ZE-17)."""
    if not skill.files:
        return
    text = _FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), skill.body)
    said: set[str] = set()
    breaks = [at for at, char in enumerate(text) if char == "\n"]
    for pattern in (_LINK, _MENTION):
        for link in pattern.finditer(text):
            target = link[1].split("#")[0].split("?")[0]
            if not target or target in said or _REMOTE.match(link[1]):
                continue
            said.add(target)
            at = link.start(1)
            yield from _judged(skill, target, bisect_left(breaks, at), at - text.rfind("\n", 0, at))


def _judged(
    skill: CheckedSkill, target: str, lines_above: int, column: int
) -> Iterator[Diagnostic]:
    path = posixpath.normpath(target)
    line = skill.document.body_line + lines_above
    if path.startswith("../") or path == "..":
        yield diagnose(
            "SK073",
            f"'{target}' lies outside the skill.",
            path=skill.file,
            line=line,
            column=column,
        )
    elif path not in skill.files and not any(
        file.startswith(path.rstrip("/") + "/") for file in skill.files
    ):
        yield diagnose(
            "SK072", f"'{target}' is not in the skill.", path=skill.file, line=line, column=column
        )


def _at(skill: CheckedSkill, code: str, key: str, message: str = "") -> Diagnostic:
    line, column = skill.document.spans.get(key) or skill.document.spans.get(
        key.partition(".")[0], (1, 1)
    )
    return diagnose(code, message, path=skill.file, line=line, column=column)


_CHECKS: tuple[Callable[[CheckedSkill], Iterator[Diagnostic]], ...] = (
    compatibility_is_short_text,
    licence_is_text,
    metadata_maps_text_to_text,
    allowed_tools_can_be_read,
    category_is_one_word,
    fields_are_the_standards,
    body_says_something,
    body_is_short_enough,
    references_exist_inside,
)
