"""From the head of a file to what a listing keeps of it: one function per kind of file. Pure over what was read."""

from __future__ import annotations

from collections.abc import Callable

from metier.discover.entries import Place, broken_entry, code_entry, entry_of, fault_at
from metier.model import Entry, Head, Sidecar
from metier.standard.document import read_document
from metier.standard.frontmatter import FRONTMATTER_BYTES
from metier.standard.rules import BARE, diagnose

SIDECAR_BYTES = 64 * 1024 + 1
"""How much of a sidecar is read: one byte more than any may have."""
BEHIND_A_LINK = Head(fault="SK003", message="agents is a link")
"""What stands in for a sidecar in a linked folder, which is not followed: it restricts."""
More = Callable[[str, int], Head]
"""Reads a file again, up to so many bytes."""


def skill_entry(head: Head, place: Place, folder: str, sidecar: Sidecar | None, more: More) -> Entry:
    """Parse a SKILL.md from its head, reading on only when its frontmatter is longer than that."""
    if head.fault:
        message = f"{place.file} cannot be read: {head.message}."
        return broken_entry("skill-md", place, folder, fault_at(head.fault, message, place))
    document = read_document(head.data, folder=folder, file=place.file, size=head.size, positions=False)
    if document is not None:
        entry = entry_of(document, place, head.size, sidecar)
        if not entry.diagnostics:
            return entry
        document = read_document(head.data, folder=folder, file=place.file, size=head.size)
    if document is None:
        longer = more(f"{place.path}/{place.file}", FRONTMATTER_BYTES)
        document = read_document(longer.data, folder=folder, file=place.file, size=head.size) or read_document(
            longer.data, folder=folder, file=place.file, size=len(longer.data)
        )
        assert document is not None  # what was given counts as the whole file
    return entry_of(document, place, head.size, sidecar)


def flat_entry(head: Head, place: Place, more: More) -> Entry | None:
    """Read a flat skill; a Markdown file without frontmatter fields is an ordinary document, not a skill."""
    if head.fault:
        return None
    file = place.path.rpartition("/")[2]
    stem = file.removesuffix(".md")
    document = read_document(head.data, folder=stem, file=file, kind="flat-md", size=head.size)
    if document is None:
        head = more(place.path, FRONTMATTER_BYTES)
        document = read_document(head.data, folder=stem, file=file, kind="flat-md", size=len(head.data))
    if document is None:
        return None
    meant = document.fields.keys() & {"name", "description"}
    broken = not document.fields and any(note.code not in BARE and note.severity == "error" for note in document.diagnostics)
    if not meant and not (broken and b"\ndescription:" in head.data):
        return None
    return entry_of(document, place, head.size, None)


def code_skill_entry(head: Head, place: Place, more: More) -> Entry | None:
    """Read a code skill by its syntax tree; a file without `run` and metadata is not one."""
    from metier.standard.code import MAX_BYTES, read_code  # few libraries have one

    if head.fault:
        return None
    if head.size > len(head.data):
        head = more(place.path, MAX_BYTES + 1)
    facts = read_code(head.data, place.path.rpartition("/")[2].removesuffix(".py"))
    return None if facts is None else code_entry(facts, place, head.size)


def category_text(head: Head, path: str, more: More) -> str:
    """Read a category's description from its DESCRIPTION.md (HE-25)."""
    if head.fault:
        return ""
    document = read_document(head.data, folder="", file="DESCRIPTION.md", size=head.size)
    if document is None:
        longer = more(path, FRONTMATTER_BYTES)
        document = read_document(longer.data, folder="", file="DESCRIPTION.md", size=len(longer.data))
    return document.description if document else ""


def sidecar_of(head: Head) -> Sidecar:
    """Read a sidecar; one that is there but cannot be read restricts the skill."""
    from metier.standard.sidecar import read_sidecar, unreadable  # few skills have one

    return unreadable(f"cannot be read ({head.message})") if head.fault else read_sidecar(head.data)


def plugin_name(head: Head, where: str, folder: str) -> tuple[str, tuple[str, str] | None]:
    """Take a manifest's name, or the code and message of its fault: its skills then have no namespace."""
    from metier.standard.plugin import Manifest, read_manifest

    if head.fault:
        return "", ("SK095", f"The plugin manifest cannot be read: {head.message}.")
    found = read_manifest(head.data, where, folder.rpartition("/")[2])
    if isinstance(found, Manifest):
        return found.name, None
    return "", None if found is None else (found.code, found.message)


def reached_by_link(entry: Entry, root: str) -> Entry:
    """Flag a skill that a link brought in from outside its root (decision 6)."""
    if not entry.real or (entry.real + "/").startswith(root + "/"):
        return entry
    message = f"It is reached through a link and lies at {entry.real}, outside its root."
    note = diagnose("SK009", message, path=entry.file or entry.path.rpartition("/")[2])
    return entry._replace(diagnostics=(*entry.diagnostics, note))
