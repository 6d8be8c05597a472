"""SKILL.md: bytes in, a `Document` and its diagnostics out.

Reading is lenient: whatever can be understood is kept, and each fault becomes a diagnostic with a place. Whether a
fault matters is for `checks` (the publisher's question) and `resolve` (the user's).
"""

from __future__ import annotations

import re
from typing import Any

from metier.model import Diagnostic, Document, Kind
from metier.standard.frontmatter import FRONTMATTER_BYTES, Split, split
from metier.standard.names import MAX_NAME, name_faults, one_line
from metier.standard.plain import read_plain
from metier.standard.rules import diagnose

MAX_DESCRIPTION = 1024
MAX_FILE_BYTES = 10 * 1024 * 1024
"""A SKILL.md above this is listed from its head but never read whole."""

GOOD_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_PARAGRAPH_BYTES = 4096
PLAIN_BYTES = bytes(range(0x20, 0x7F)) + b"\n\r"

Fields = dict[str, Any]
Spans = dict[str, tuple[int, int]]


def read_document(
    data: bytes, *, folder: str, file: str = "SKILL.md", kind: Kind = "skill-md", size: int | None = None,
    positions: bool = True,
) -> Document | None:  # fmt: skip
    """Read the head (or the whole) of a skill's file; `None` when the head is too short and more must be read.

    Without `positions` the places of the fields are not recorded, and a fault is reported at line 1: for a reader
    that asks again when there is one.
    """
    whole = len(data) if size is None else size
    found: list[Diagnostic] = []
    end = data.find(b"\n---", 3)
    if data.startswith(b"---\n") and end > 3 and data[end + 4 : end + 5] == b"\n":  # nearly every file
        part = None
        fields, spans = _read_fields(data[4 : end + 1], 2, file, found, positions=positions)
        body_at = end + 5
    else:
        part = split(data, complete=len(data) >= whole)
        if part.outcome == "more":
            return None
        fields, spans, body_at = {}, {}, part.body_at
        if part.outcome == "found":
            raw = data[part.start : part.end]
            fields, spans = _read_fields(raw, part.first_line, file, found, positions=positions)
        else:
            _explain_absence(data, part, file, found)
    if not fields and not found:  # nothing but blank lines and comments between the fences
        found.append(diagnose("SK013", path=file))
    if part is not None or whole > MAX_FILE_BYTES or file != "SKILL.md":
        _note_oddities(part, file, whole, found)
    name = fields.get("name")
    if name.__class__ is not str or name != folder or len(name) > MAX_NAME or not GOOD_NAME.match(name):
        name = _name(fields, spans, folder, file, found)
    description = fields.get("description")
    if description.__class__ is not str or not _is_one_line(description):
        description = _description(fields, spans, data, body_at, file, found)
    body_line = data.count(b"\n", 0, body_at) + 1 if found else 0
    return Document(kind, name, description, fields, body_at, body_line, spans, tuple(found))


def _is_one_line(text: str) -> bool:
    """Tell that a description needs no work: short enough, without line breaks or runs of spaces."""
    return (0 < len(text) <= MAX_DESCRIPTION and text.isascii() and text.isprintable() and "  " not in text
            and text[0] != " " != text[-1])  # fmt: skip


def _read_fields(
    raw: bytes, first_line: int, file: str, found: list[Diagnostic], *, positions: bool
) -> tuple[Fields, Spans]:
    clean = not raw.translate(None, PLAIN_BYTES) and (b"\r" not in raw or raw.count(b"\r") == raw.count(b"\r\n"))
    text = raw.decode("ascii") if clean else _decoded(raw, file, first_line, found)
    plain = read_plain(text, first_line, clean=clean, positions=positions)
    return plain if plain is not None else _fields(text, first_line, file, found)


def _decoded(raw: bytes, file: str, first_line: int, found: list[Diagnostic]) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = first_line + raw.count(b"\n", 0, error.start)
        column = error.start - raw.rfind(b"\n", 0, error.start)
        found.append(diagnose("SK005", path=file, line=line, column=column))
        return raw.decode(errors="replace")


def _fields(text: str, first_line: int, file: str, found: list[Diagnostic]) -> tuple[Fields, Spans]:
    """Read fields that are not plain: by the full reader, else after a repair."""
    from metier.standard import events  # only what is not plain pays for PyYAML

    loaded = events.load(text, first_line=first_line)
    if loaded.error is not None:
        loaded = _repaired(text, first_line, file, found) or loaded
    if loaded.error is not None:
        message, line, column = loaded.error
        code = "SK006" if "\0" in text else "SK020"
        found.append(diagnose(code, f"The frontmatter is not valid YAML: {message}", path=file, line=line, column=column))
        return {}, {}
    found += [diagnose(code, message, path=file, line=line, column=col) for code, message, line, col in loaded.faults]
    if not isinstance(loaded.value, dict):
        found.append(diagnose("SK027", path=file, line=first_line))
        return {}, {}
    return loaded.value, loaded.spans


def _repaired(text: str, first_line: int, file: str, found: list[Diagnostic]) -> Any:
    from metier.standard import events, repair

    mended = repair.quote_loose_values(text, broken_alone=lambda value: events.load(value + "\n").error is not None)
    if mended is None:
        return None
    loaded = events.load(mended.text, first_line=first_line)
    if loaded.error is not None:
        return None
    for line, column, key in mended.places:
        message = f"The value of '{key}' needs quotes; it was read as if it had them."
        found.append(diagnose("SK021", message, path=file, line=first_line + line - 1, column=column))
    return loaded


def _explain_absence(data: bytes, part: Split, file: str, found: list[Diagnostic]) -> None:
    if b"\0" in data[:FRONTMATTER_BYTES]:
        found.append(diagnose("SK006", path=file))
        return
    if part.outcome == "unclosed" and len(data) >= FRONTMATTER_BYTES:
        found.append(diagnose("SK007", "The frontmatter is larger than 256 KiB.", path=file, line=part.line))
    code = {"absent": "SK010", "unclosed": "SK011", "malformed": "SK012", "empty": "SK013"}[part.outcome]
    found.append(diagnose(code, path=file, line=part.line))


def _note_oddities(part: Split | None, file: str, size: int, found: list[Diagnostic]) -> None:
    if part is not None and part.bom:
        found.append(diagnose("SK008", path=file))
    if part is not None and part.blank_lines:
        found.append(diagnose("SK014", path=file))
    if size > MAX_FILE_BYTES:
        message = f"The file has {size:,} bytes; metier reads at most {MAX_FILE_BYTES:,}."
        found.append(diagnose("SK007", message, path=file))
    if file != "SKILL.md" and file.lower() == "skill.md":
        found.append(diagnose("SK002", f"The file is named {file}, not SKILL.md.", path=file))


def _name(fields: Fields, spans: Spans, folder: str, file: str, found: list[Diagnostic]) -> str:
    value = fields.get("name")
    line, column = spans.get("name", (1, 1))
    name = one_line(value) if isinstance(value, str) else ""
    if not name:
        if fields:
            code = "SK030" if value is None or value == "" or isinstance(value, str) else "SK031"
            found.append(diagnose(code, path=file, line=line, column=column))
        return one_line(folder) or "skill"
    for code, message, hint in name_faults(name, folder):
        found.append(diagnose(code, message, path=file, line=line, column=column)._replace(hint=hint))
    return name


def _description(
    fields: Fields, spans: Spans, data: bytes, body_at: int, file: str, found: list[Diagnostic]
) -> str:
    value = fields.get("description")
    if isinstance(value, str) and value:
        text = one_line(value)
        if text:
            if len(text) > MAX_DESCRIPTION:
                line, column = spans.get("description", (1, 1))
                message = f"The description has {len(text):,} characters; the limit is {MAX_DESCRIPTION:,}."
                found.append(diagnose("SK041", message, path=file, line=line, column=column))
            return text
    if fields:
        line, column = spans.get("description", (1, 1))
        wrong_type = value is not None and not isinstance(value, str)
        found.append(diagnose("SK042" if wrong_type else "SK040", path=file, line=line, column=column))
    opening = first_paragraph(data[body_at : body_at + _PARAGRAPH_BYTES].decode(errors="replace"))
    # A line of the body stands in for a missing description, the whole paragraph where there is no frontmatter at all.
    return one_line(" ".join(opening[:1] if fields else opening))[:MAX_DESCRIPTION]


def first_paragraph(body: str) -> list[str]:
    """Give the lines of the first paragraph that is prose: not a heading, fence, table, list, comment or rule."""
    found: list[str] = []
    for line in body.splitlines():
        text = line.strip()
        prose = bool(text) and text[0] not in "#`|<>=-*_[!~"
        if prose:
            found.append(text)
        elif found:
            break
    return found
