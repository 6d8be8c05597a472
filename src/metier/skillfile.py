"""A skill's own file: where it lies, and all of its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover import disk
from metier.discover.heads import BEHIND_A_LINK, SIDECAR_BYTES, sidecar_of
from metier.errors import NotFoundError, RefusedError
from metier.standard.document import MAX_FILE_BYTES, read_document

if TYPE_CHECKING:
    from typing import Any

    from metier.model import Card, Head, Sidecar


def bytes_of(card: Card) -> bytes:
    """Give the bytes of a skill's own file."""
    return read(main_file(card)).data


def main_file(card: Card) -> str:
    """Give the path of the file that makes a skill one."""
    if card.kind != "skill-md":
        return card.path
    listing = disk.list_folder(card.path)
    name = "SKILL.md" if "SKILL.md" in listing.files else next((n for n in listing.files if n.lower() == "skill.md"), "SKILL.md")
    return f"{card.path}/{name}"


def read(path: str) -> Head:
    """Read a whole file, or say why that cannot be."""
    head = disk.read_head(path, MAX_FILE_BYTES)
    if head.fault:
        hint = "list again to see what is there" if disk.kind_of(path) is None else "check what it is and its permissions"
        gone = "is gone since it was listed" if disk.kind_of(path) is None else f"cannot be read: {head.message}"
        raise NotFoundError(f"{path} {gone}", hint=hint)
    if head.size > MAX_FILE_BYTES:
        raise RefusedError(f"{path} has {head.size:,} bytes; metier reads at most {MAX_FILE_BYTES:,}", code="too-large",
                           hint="read it in an editor, or split it into files under references/")  # fmt: skip
    return head


def fields_of(card: Card) -> dict[str, Any]:
    """Give the frontmatter of a skill as written; nothing when it has none or cannot be read."""
    if card.kind == "code":
        return {}
    path = main_file(card)
    head = disk.read_head(path, MAX_FILE_BYTES)
    file = path.rpartition("/")[2]
    document = read_document(head.data, folder=folder_name(card), file=file, kind=card.kind, size=len(head.data))
    return document.fields if document is not None else {}


def folder_name(card: Card) -> str:
    """Give the name that a skill's place gives it."""
    base = card.path.rpartition("/")[2]
    return base if card.kind == "skill-md" else base.rpartition(".")[0]


def sidecar_at(path: str) -> Sidecar | None:
    """Read `agents/openai.yaml` in a skill's folder; none where there is none."""
    if disk.is_link(f"{path}/agents"):
        return sidecar_of(BEHIND_A_LINK)
    target = f"{path}/agents/openai.yaml"
    there = disk.kind_of(target) is not None or disk.is_link(target)
    return sidecar_of(disk.read_head(target, SIDECAR_BYTES)) if there else None
