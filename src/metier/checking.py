"""Skills held against the standard, wherever they lie: what `metier check` answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover import disk
from metier.discover.walk import survey
from metier.errors import NotFoundError, UsageError
from metier.model import Checked, Diagnostic, Document, Limits, Root
from metier.skillfile import sidecar_at
from metier.standard.checks import Skill, check as check_skill
from metier.standard.document import MAX_FILE_BYTES, read_document
from metier.standard.needs import read_needs
from metier.standard.rules import RULES, diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.model import Kind, Problem


def check(library: Library, paths: Sequence[str], *, strict: bool) -> list[Checked]:
    """Hold every skill below the paths against the standard; a path without one is itself a fault."""
    checked: list[Checked] = []
    for path in paths:
        absolute = disk.absolute(path, library.cwd, library.home)
        if disk.kind_of(absolute) is None:
            raise NotFoundError(f"there is nothing at {path}", hint="give a skill's folder, or a folder that holds skills")
        found = _check_below(library, absolute)
        checked += found or [Checked(absolute, ok=False, diagnostics=(diagnose("SK001"),))]
    if strict:
        return [one._replace(ok=not any(note.severity != "info" for note in one.diagnostics)) for one in checked]
    return checked


def _check_below(library: Library, path: str) -> list[Checked]:
    location, only = path, ""
    if disk.kind_of(path) == "file":
        folder, _, file = path.rpartition("/")
        location, only = folder, folder if file.lower() == "skill.md" else path
    if not only and disk.kind_of(path) != "folder":
        raise UsageError(f"{path} is neither a file nor a folder", hint="give a skill's folder")
    root = Root(location, "external", "", "check", "never", hidden=True)
    limits = Limits(depth=0 if only else 64, folders=library.settings.limits.folders, entries=library.settings.limits.entries)
    found = survey(root, limits, disk, progress=lambda count: library.progress("folders", count))
    checked: list[Checked] = []
    for entry in found.entries:
        if only in {"", entry.path}:
            checked.append(_check_one(entry.path, entry.file, entry.diagnostics))
            library.progress("skills", len(checked))
    # What could not be looked at is not silently good.
    return checked + [_unchecked(problem) for problem in (*found.problems, *found.truncated) if not only and _matters(problem)]


def _matters(problem: Problem) -> bool:
    return RULES[problem.code].severity != "info"


def _unchecked(problem: Problem) -> Checked:
    note = diagnose(problem.code, problem.message, path="")
    return Checked(problem.path, note.severity != "error", (note,))


def _check_one(path: str, file: str, known: tuple[Diagnostic, ...]) -> Checked:
    head = disk.read_head(f"{path}/{file}" if file else path, MAX_FILE_BYTES)
    base = path.rpartition("/")[2]
    if head.fault or (not file and path.endswith(".py")):
        return Checked(path, not any(note.severity == "error" for note in known), known)
    kind: Kind = "skill-md" if file else "flat-md"
    folder = base if file else base.removesuffix(".md")
    document = read_document(head.data, folder=folder, file=file or base, kind=kind, size=head.size)
    if document is None:  # unclosed in all that is ever read
        document = read_document(head.data, folder=folder, file=file or base, kind=kind, size=len(head.data))
    assert document is not None
    files = frozenset(piece.path for piece in disk.tree(path)) if file else frozenset()
    sidecar = sidecar_at(path) if file else None
    notes = [*_body_faults(head.data, file or base), *(sidecar.diagnostics if sidecar else ())]
    notes += read_needs(document.fields, document.spans, None, file or base)[2]
    body = head.data[document.body_at :].decode(errors="replace")
    document = _with_line(document, head.data)._replace(diagnostics=(*document.diagnostics, *notes))
    diagnostics = check_skill(Skill(document, file or base, body, files))
    return Checked(path, not any(note.severity == "error" for note in diagnostics), diagnostics)


def _with_line(document: Document, data: bytes) -> Document:
    return document._replace(body_line=data.count(b"\n", 0, document.body_at) + 1)


def _body_faults(data: bytes, file: str) -> list[Diagnostic]:
    """Find bytes that are not text anywhere in the file."""
    if b"\0" in data:
        at = data.index(b"\0")
        return [diagnose("SK006", path=file, line=data.count(b"\n", 0, at) + 1, column=at - data.rfind(b"\n", 0, at))]
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line, column = data.count(b"\n", 0, error.start) + 1, error.start - data.rfind(b"\n", 0, error.start)
        return [diagnose("SK005", path=file, line=line, column=column)]
    return []
