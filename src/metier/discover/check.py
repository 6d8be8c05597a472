"""Skills held against the standard, wherever they lie: what `metier check` answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from metier.discover.io import disk
from metier.discover.skill_files import sidecar_at
from metier.discover.walk import survey
from metier.errors import NotFoundError, UsageError
from metier.model import Checked, Diagnostic, Limits, Root
from metier.standard.check import CheckedSkill, check as check_skill
from metier.standard.document import MAX_FILE_BYTES, line_and_column, read_document
from metier.standard.needs import read_needs
from metier.standard.rules import RULES, FileNotes, diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.context import Context
    from metier.model import Kind, Problem


def check(context: Context, paths: Sequence[str], *, strict: bool) -> list[Checked]:
    """Hold every skill below the paths against the standard; a path without one is itself a
    fault.
    """
    checked: list[Checked] = []
    for path in paths:
        absolute = disk.absolute(path, context.cwd, context.home)
        if disk.kind_of(absolute) is None:
            raise NotFoundError(
                f"there is nothing at {path}",
                hint="give a skill's folder, or a folder that holds skills",
            )
        found = _check_below(context, absolute)
        checked += found or [Checked(absolute, ok=False, diagnostics=(diagnose("SK001"),))]
    if strict:
        return [
            one._replace(ok=not any(note.severity != "info" for note in one.diagnostics))
            for one in checked
        ]
    return checked


def _check_below(context: Context, path: str) -> list[Checked]:
    location = path
    only = ""
    if disk.kind_of(path) == "file":
        folder, _, file = path.rpartition("/")
        location = folder
        only = folder if file.lower() == "skill.md" else path
    if not only and disk.kind_of(path) != "folder":
        raise UsageError(f"{path} is neither a file nor a folder", hint="give a skill's folder")
    root = Root(location, "external", "", "check", "never", hidden=True)
    limits = Limits(
        depth=0 if only else 64,
        folders=context.settings.limits.folders,
        entries=context.settings.limits.entries,
    )
    found = survey(root, limits, disk, progress=lambda count: context.progress("folders", count, 0))
    checked: list[Checked] = []
    for entry in found.entries:
        if only in {"", entry.path}:
            checked.append(_check_one(entry.path, entry.file, entry.diagnostics))
            context.progress("skills", len(checked), 0)
    # What could not be looked at is not silently good.
    return checked + [
        _unchecked(problem)
        for problem in (*found.problems, *found.truncated)
        if not only and RULES[problem.code].severity != "info"
    ]


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
    read = partial(read_document, head.data, folder=folder, file=file or base, kind=kind)
    document = read(size=head.size) or read(size=len(head.data))  # unclosed in all that is read
    assert document is not None
    files = frozenset(piece.path for piece in disk.tree(path)) if file else frozenset()
    sidecar = sidecar_at(path) if file else None
    notes = [*_body_faults(head.data, file or base), *(sidecar.diagnostics if sidecar else ())]
    notes += read_needs(document.fields, document.spans, None, file or base)[2]
    body = head.data[document.body_at :].decode(errors="replace")
    document = document._replace(
        body_line=head.data.count(b"\n", 0, document.body_at) + 1,
        diagnostics=(*document.diagnostics, *notes),
    )
    diagnostics = check_skill(CheckedSkill(document, file or base, body, files))
    return Checked(path, not any(note.severity == "error" for note in diagnostics), diagnostics)


def _body_faults(data: bytes, file: str) -> list[Diagnostic]:
    """Find bytes that are not text anywhere in the file."""
    notes = FileNotes(file)
    if b"\0" in data:
        notes.add("SK006", "", *line_and_column(data, data.index(b"\0")))
        return notes
    try:
        data.decode()
    except UnicodeDecodeError as error:
        notes.add("SK005", "", *line_and_column(data, error.start))
    return notes
