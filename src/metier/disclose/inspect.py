"""Shows a person every byte of a skill, whatever was decided about it, so that they can decide.

Nothing here goes to a model: what a model may have is the business of `offer`. Nothing is counted
as a use either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.disclose.read import text_of
from metier.discover import skill_files
from metier.discover.io import disk
from metier.errors import NotFoundError, RefusedError
from metier.standard import skill_paths
from metier.standard.document import MAX_FILE_BYTES, read_document

if TYPE_CHECKING:
    from metier.context import Context
    from metier.model import Card, JsonObject

MAX_LISTED_FILES = 5_000


class InspectedFile(NamedTuple):
    """One file of a skill, as it lies there."""

    path: str
    size: int
    executable: bool = False
    link: bool = False
    text: str | None = None
    """Its text, where it was asked for and is one."""
    data: bytes = b""
    """Its bytes, where it was asked for and is no text."""


class InspectedSkill(NamedTuple):
    """A skill for a person's eyes."""

    card: Card
    main: str
    """The name of its own file."""
    text: str
    """All of that file, frontmatter included; what is no UTF-8 is replaced."""
    body_line: int
    """The line that the instructions begin at, from 1."""
    fields: JsonObject
    files: tuple[InspectedFile, ...]
    cut: int
    """How many more files there are."""


def inspect_skill(context: Context, name: str) -> InspectedSkill:
    """Give a skill's own file and the names of all others."""
    card = context.catalogue.resolve(name)
    path = skill_files.main_file(card)
    data = skill_files.read_file(path).data
    file = path.rpartition("/")[2]
    document = (
        read_document(
            data, folder=skill_files.folder_name(card), file=file, kind=card.kind, size=len(data)
        )
        if card.kind != "code"
        else None
    )
    pieces = disk.tree(card.path) if card.kind == "skill-md" else []
    files = tuple(
        InspectedFile(piece.path, piece.size, piece.executable, piece.link)
        for piece in pieces[:MAX_LISTED_FILES]
    )
    return InspectedSkill(
        card=card,
        main=file,
        text=data.decode("utf-8", "replace"),
        body_line=data.count(b"\n", 0, document.body_at) + 1 if document is not None else 1,
        fields=document.fields if document is not None else {},
        files=files,
        cut=max(0, len(pieces) - MAX_LISTED_FILES),
    )


def inspect_file(context: Context, name: str, file: str) -> InspectedFile:
    """Give one file of a skill: its text, or its bytes where it is none. No link is followed out of
    the skill.
    """
    relative = _inside(context, file)
    card = context.catalogue.resolve(name)
    target = f"{card.path}/{relative}" if card.kind == "skill-md" else card.path
    inside = disk.real(target).startswith(disk.real(card.path) + "/")
    if card.kind == "skill-md" and not inside:
        raise RefusedError(
            f"'{relative}' leads outside the skill through a link",
            code="path-traversal",
            hint="only files inside the skill's folder are shown",
        )
    head = disk.read_head(disk.real(target), MAX_FILE_BYTES)
    if head.fault:
        raise NotFoundError(
            f"'{relative}' of '{card.name}' cannot be read: {head.message}",
            hint="list the skill's files again",
        )
    text = text_of(head.data) if head.size <= MAX_FILE_BYTES else None
    return InspectedFile(
        relative, head.size, text=text, data=b"" if text is not None else head.data
    )


def _inside(context: Context, file: str) -> str:
    """Give the path of a file below a skill: any name that a file can have there, and no way out."""
    plain = all(part not in {"", ".", ".."} for part in file.split("/")) and "\0" not in file
    if plain and context.platform != "win32":
        return file
    return skill_paths.safe_relative(file)
