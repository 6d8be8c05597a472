"""SKILL.md: bytes in, a `Document` and its diagnostics out.

Reading is lenient: whatever can be understood is kept, and each fault becomes a diagnostic with a
place. Whether a fault matters is for `checks` (the publisher's question) and `resolve` (the
user's).
"""

from __future__ import annotations

import re
from typing import Any

from metier.model import Document, Kind
from metier.standard.frontmatter import FRONTMATTER_BYTES, SplitFile, split
from metier.standard.names import MAX_NAME, name_faults, one_line
from metier.standard.plain_yaml import Spans, read_plain
from metier.standard.rules import FileNotes

MAX_DESCRIPTION = 1024
MAX_FILE_BYTES = 10 * 1024 * 1024
"""A SKILL.md above this is listed from its head but never read whole."""

GOOD_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_PARAGRAPH_BYTES = 4096
PLACEHOLDER_DESCRIPTION = "Describe what {name} does, and when an agent should use it."
"""What `metier new` writes where nobody gave a description."""
PLACEHOLDER_BEGINNINGS = ("Describe what ", "TODO:", "[TODO")
PLAIN_BYTES = bytes(range(0x20, 0x7F)) + b"\n\r"

Fields = dict[str, Any]


def read_document(
    data: bytes,
    *,
    folder: str,
    file: str = "SKILL.md",
    kind: Kind = "skill-md",
    size: int | None = None,
    positions: bool = True,
) -> Document | None:
    """Read the head (or the whole) of a skill's file; `None` when the head is too short and more
    must be read.

    Without `positions` the places of the fields are not recorded, and a fault is reported at line
    1: for a reader that asks again when there is one.
    """
    whole = len(data) if size is None else size
    notes = FileNotes(file)
    end = data.find(b"\n---", 3)
    # Nearly every file is plain.
    if data.startswith(b"---\n") and end > 3 and data[end + 4 : end + 5] == b"\n":
        part = None
        fields, spans = _read_fields(data[4 : end + 1], 2, notes, positions=positions)
        body_at = end + 5
    else:
        part = split(data, complete=len(data) >= whole)
        if part.outcome == "more":
            return None
        fields = {}
        spans = {}
        body_at = part.body_at
        if part.outcome == "found":
            raw = data[part.start : part.end]
            fields, spans = _read_fields(raw, part.first_line, notes, positions=positions)
        else:
            _explain_absence(data, part, notes)
    if not fields and not notes:  # nothing but blank lines and comments between the fences
        notes.add("SK013")
    notes.spans = spans
    if part is not None or whole > MAX_FILE_BYTES or file != "SKILL.md":
        _note_oddities(part, whole, notes)
    name = fields.get("name")
    if (
        name.__class__ is not str
        or name != folder
        or len(name) > MAX_NAME
        or not GOOD_NAME.match(name)
    ):
        name = _name(fields, folder, notes)
    description = fields.get("description")
    # Nearly every description needs no work: short enough, without line breaks or runs of spaces.
    if (
        description.__class__ is not str
        or not 0 < len(description) <= MAX_DESCRIPTION
        or not (description.isascii() and description.isprintable())
        or "  " in description
        or " " in {description[0], description[-1]}
        or description.startswith(PLACEHOLDER_BEGINNINGS)
    ):
        description = _description(fields, data, body_at, notes)
    _check_metadata(fields.get("metadata"), notes)
    body_line = data.count(b"\n", 0, body_at) + 1 if notes else 0
    return Document(
        kind, name, description, fields, body_at, body_line, spans=spans, diagnostics=tuple(notes)
    )


def _read_fields(
    raw: bytes, first_line: int, notes: FileNotes, *, positions: bool
) -> tuple[Fields, Spans]:
    clean = not raw.translate(None, PLAIN_BYTES) and (
        b"\r" not in raw or raw.count(b"\r") == raw.count(b"\r\n")
    )
    text = raw.decode("ascii") if clean else _decoded(raw, first_line, notes)
    plain = read_plain(text, first_line, clean=clean, positions=positions)
    return plain if plain is not None else _fields(text, first_line, notes)


def _decoded(raw: bytes, first_line: int, notes: FileNotes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line, column = line_and_column(raw, error.start)
        notes.add("SK005", "", first_line + line - 1, column)
        return raw.decode(errors="replace")


def line_and_column(data: bytes, at: int) -> tuple[int, int]:
    """Give the place of a byte, counted from 1."""
    return data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at)


def _fields(text: str, first_line: int, notes: FileNotes) -> tuple[Fields, Spans]:
    """Read fields that are not plain: by the full reader, else after a repair."""
    from metier.standard import full_yaml  # only what is not plain pays for PyYAML

    loaded = full_yaml.load(text, first_line=first_line)
    if loaded.error is not None:
        loaded = _repaired(text, first_line, notes) or loaded
    if loaded.error is not None:
        message, line, column = loaded.error
        code = "SK006" if "\0" in text else "SK020"
        notes.add(code, f"The frontmatter is not valid YAML: {message}", line, column)
        return {}, {}
    for fault in loaded.faults:
        notes.add(*fault)
    if not isinstance(loaded.value, dict):
        notes.add("SK027", "", first_line)
        return {}, {}
    return loaded.value, loaded.spans


def _repaired(text: str, first_line: int, notes: FileNotes) -> Any:
    from metier.standard import frontmatter, full_yaml

    mended = frontmatter.quote_loose_values(
        text, broken_alone=lambda value: full_yaml.load(value + "\n").error is not None
    )
    if mended is None:
        return None
    loaded = full_yaml.load(mended.text, first_line=first_line)
    if loaded.error is not None:
        return None
    for line, column, key in mended.places:
        message = f"The value of '{key}' needs quotes; it was read as if it had them."
        notes.add("SK021", message, first_line + line - 1, column)
    return loaded


def _explain_absence(data: bytes, part: SplitFile, notes: FileNotes) -> None:
    if b"\0" in data[:FRONTMATTER_BYTES]:
        notes.add("SK006")
        return
    if part.outcome == "unclosed" and len(data) >= FRONTMATTER_BYTES:
        notes.add("SK007", "The frontmatter is larger than 256 KiB.", part.line)
    code = {"absent": "SK010", "unclosed": "SK011", "malformed": "SK012", "empty": "SK013"}[
        part.outcome
    ]
    notes.add(code, "", part.line)


def _note_oddities(part: SplitFile | None, size: int, notes: FileNotes) -> None:
    if part is not None and part.bom:
        notes.add("SK008")
    if part is not None and part.blank_lines:
        notes.add("SK014")
    if size > MAX_FILE_BYTES:
        notes.add("SK007", f"The file has {size:,} bytes; metier reads at most {MAX_FILE_BYTES:,}.")
    if notes.file != "SKILL.md" and notes.file.lower() == "skill.md":
        notes.add("SK002", f"The file is named {notes.file}, not SKILL.md.")


def _name(fields: Fields, folder: str, notes: FileNotes) -> str:
    value = fields.get("name")
    name = one_line(value) if isinstance(value, str) else ""
    if not name:
        if fields:
            notes.add_at("name", "SK030" if value is None or isinstance(value, str) else "SK031")
        return one_line(folder) or "skill"
    for code, message, hint in name_faults(name, folder):
        notes.add_at("name", code, message)
        notes[-1] = notes[-1]._replace(hint=hint)
    return name


def _description(fields: Fields, data: bytes, body_at: int, notes: FileNotes) -> str:
    value = fields.get("description")
    text = one_line(value) if isinstance(value, str) else ""
    if len(text) > MAX_DESCRIPTION:
        message = f"The description has {len(text):,} characters; the limit is {MAX_DESCRIPTION:,}."
        notes.add_at("description", "SK041", message)
    begins, ends = PLACEHOLDER_DESCRIPTION.split("{name}")
    if text.startswith(PLACEHOLDER_BEGINNINGS) and (
        not text.startswith(begins) or text.endswith(ends)
    ):
        notes.add_at("description", "SK044")
    if text:
        return text
    if fields:
        missing = value is None or isinstance(value, str)
        notes.add_at("description", "SK040" if missing else "SK042")
    opening = first_paragraph(data[body_at : body_at + _PARAGRAPH_BYTES].decode(errors="replace"))
    # A line of the body stands in for a missing description, the whole paragraph where there is no
    # frontmatter at all.
    return one_line(" ".join(opening[:1] if fields else opening))[:MAX_DESCRIPTION]


def _check_metadata(metadata: Any, notes: FileNotes) -> None:
    """Note a short description that is longer than Codex takes (CX-2, CX-10)."""
    value = metadata.get("short-description") if isinstance(metadata, dict) else None
    length = len(one_line(value)) if isinstance(value, str) else 0
    if length > MAX_DESCRIPTION:
        message = (
            f"The short description has {length:,} characters; the limit is {MAX_DESCRIPTION:,}."
        )
        notes.add_at("metadata.short-description", "SK043", message)


def first_paragraph(body: str) -> list[str]:
    """Give the lines of the first paragraph that is prose: not a heading, fence, table, list,
    comment or rule.
    """
    found: list[str] = []
    for line in body.splitlines():
        text = line.strip()
        prose = bool(text) and text[0] not in "#`|<>=-*_[!~"
        if prose:
            found.append(text)
        elif found:
            break
    return found
