"""Turns the bytes of a skill's own files into the `Entry` that a listing keeps, with one function
for each kind of file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.model import (
    MANIFEST_BYTES,
    MANIFESTS,
    Diagnostic,
    Document,
    Entry,
    Head,
    Kind,
    Sidecar,
)
from metier.standard.document import MAX_DESCRIPTION, read_document
from metier.standard.frontmatter import FRONTMATTER_BYTES
from metier.standard.needs import read_needs
from metier.standard.plain_text import estimate
from metier.standard.rules import BARE, diagnose

if TYPE_CHECKING:
    from metier.ports import Disk


class SkillPlace(NamedTuple):
    """Where a skill lies: what its own text cannot say."""

    path: str
    file: str
    real: str
    category: str
    plugin: str


def entry_of(document: Document, place: SkillPlace, size: int, sidecar: Sidecar | None) -> Entry:
    """Keep of a document what a listing needs."""
    diagnostics = document.diagnostics
    gates, needs, notes = read_needs(
        document.fields, document.spans, sidecar, place.file or _base(place.path)
    )
    if notes or sidecar is not None:
        diagnostics = (*diagnostics, *notes, *(sidecar.diagnostics if sidecar else ()))
    name = f"{place.plugin}:{document.name}" if place.plugin else document.name
    description = shortened(document.description)
    # As with cards: the first few fields go without keywords, which take their time.
    return Entry(
        document.kind,
        place.path,
        place.file,
        place.real,
        name,
        description,
        category=place.category or _own_category(document),
        plugin=place.plugin,
        tokens=estimate(name) + estimate(description),
        size=size,
        gates=gates,
        needs=needs,
        diagnostics=diagnostics,
    )


def broken_entry(kind: Kind, place: SkillPlace, name: str, diagnostic: Diagnostic) -> Entry:
    """Stand in for a skill that cannot be read: a row with a reason, never an absence."""
    return Entry(
        kind,
        place.path,
        place.file,
        place.real,
        name,
        "",
        category=place.category,
        plugin=place.plugin,
        diagnostics=(diagnostic,),
    )


def shortened(description: str) -> str:
    """Cut an over-long description for display; the whole stays in the file (MT-8)."""
    return (
        description
        if len(description) <= MAX_DESCRIPTION
        else description[: MAX_DESCRIPTION - 3] + "..."
    )


def fault_at(code: str, message: str, place: SkillPlace) -> Diagnostic:
    """Diagnose a whole file: its first line and column stand for it."""
    return diagnose(code, message, path=place.file or _base(place.path))


def _own_category(document: Document) -> str:
    value = document.fields.get("category")
    return value.strip().lower() if isinstance(value, str) and 0 < len(value.strip()) <= 32 else ""


def _base(path: str) -> str:
    return path.rpartition("/")[2]


SIDECAR_BYTES = 64 * 1024 + 1
"""How much of a sidecar is read: one byte more than any may have."""
BEHIND_A_LINK = Head(fault="SK003", message="agents is a link")
"""What stands in for a sidecar in a linked folder, which is not followed: it restricts."""
MAX_PLUGIN_LEVELS = 64
"""How far above a skill its plugin's manifest is looked for."""
More = Callable[[str, int], Head]
"""Reads a file again, up to so many bytes."""


def skill_entry(
    head: Head, place: SkillPlace, folder: str, sidecar: Sidecar | None, more: More
) -> Entry:
    """Parse a SKILL.md from its head, reading on only when its frontmatter is longer than that."""
    if head.fault:
        message = f"{place.file} cannot be read: {head.message}."
        return broken_entry("skill-md", place, folder, fault_at(head.fault, message, place))
    file = place.file
    size = head.size
    document = read_document(head.data, folder=folder, file=file, size=size, positions=False)
    if document is not None:
        entry = entry_of(document, place, size, sidecar)
        if not entry.diagnostics:
            return entry
    read = partial(read_document, folder=folder, file=file, size=size)
    if document is not None:
        document = read(head.data)
    else:
        longer = more(f"{place.path}/{file}", FRONTMATTER_BYTES)
        document = read(longer.data) or read(longer.data, size=len(longer.data))
    assert document is not None  # what was given counts as the whole file
    return entry_of(document, place, size, sidecar)


def flat_entry(head: Head, place: SkillPlace, more: More) -> Entry | None:
    """Read a flat skill; a Markdown file without frontmatter fields is an ordinary document, not a
    skill.
    """
    if head.fault:
        return None
    file = _base(place.path)
    read = partial(read_document, folder=file.removesuffix(".md"), file=file, kind="flat-md")
    document = read(head.data, size=head.size)
    if document is None:
        head = more(place.path, FRONTMATTER_BYTES)
        document = read(head.data, size=len(head.data))
    if document is None:
        return None
    meant = document.fields.keys() & {"name", "description"}
    broken = not document.fields and any(
        note.code not in BARE and note.severity == "error" for note in document.diagnostics
    )
    if not meant and not (broken and b"\ndescription:" in head.data):
        return None
    return entry_of(document, place, head.size, None)


def code_skill_entry(head: Head, place: SkillPlace, more: More) -> Entry | None:
    """Read a code skill by its syntax tree; a file without `run` and metadata is not one."""
    from metier.standard.code import MAX_BYTES, read_code  # few libraries have one

    if head.fault:
        return None
    if head.size > len(head.data):
        head = more(place.path, MAX_BYTES + 1)
    facts = read_code(head.data, _base(place.path).removesuffix(".py"))
    if facts is None:
        return None
    document = Document(
        "code",
        facts.name,
        facts.description,
        {},
        body_at=0,
        body_line=0,
        spans={},
        diagnostics=facts.diagnostics,
    )
    return entry_of(document, place, head.size, None)


def category_text(head: Head, path: str, more: More) -> str:
    """Read a category's description from its DESCRIPTION.md (HE-25)."""
    if head.fault:
        return ""
    read = partial(read_document, folder="", file="DESCRIPTION.md")
    document = read(head.data, size=head.size)
    if document is None:
        longer = more(path, FRONTMATTER_BYTES)
        document = read(longer.data, size=len(longer.data))
    return document.description if document else ""


def sidecar_of(head: Head, levels: int = 0) -> Sidecar:
    """Read a sidecar; one that is there but cannot be read restricts the skill. `levels` is as
    `levels_below_plugin` gives it.
    """
    from metier.standard.sidecar import read_sidecar, unreadable  # few skills have one

    if head.fault:
        return unreadable(f"cannot be read ({head.message})")
    return read_sidecar(head.data, levels)


def levels_below_plugin(path: str, disk: Disk) -> int:
    """Count how many folders above a path the nearest plugin's folder is, by the manifests there;
    0 when there is none (CX-30).
    """
    folder = path
    for level in range(1, min(path.count("/"), MAX_PLUGIN_LEVELS)):
        folder = folder.rpartition("/")[0]
        for where in MANIFESTS:
            target = f"{folder}/{where}"
            if (
                disk.kind_of(target) == "file"
                and plugin_name(disk.read_head(target, MANIFEST_BYTES), where, folder)[0]
            ):
                return level
    return 0


def plugin_name(head: Head, where: str, folder: str) -> tuple[str, tuple[str, str] | None]:
    """Take a manifest's name, or the code and message of its fault: its skills then have no
    namespace.
    """
    from metier.standard.plugin_manifest import PluginManifest, read_manifest

    if head.fault:
        return "", ("SK095", f"The plugin manifest cannot be read: {head.message}.")
    found = read_manifest(head.data, where, folder.rpartition("/")[2])
    if isinstance(found, PluginManifest):
        return found.name, None
    return "", None if found is None else (found.code, found.message)


def reached_by_link(entry: Entry, root: str) -> Entry:
    """Flag a skill that a link brought in from outside its root (MT-6)."""
    if not entry.real or (entry.real + "/").startswith(root + "/"):
        return entry
    message = f"It is reached through a link and lies at {entry.real}, outside its root."
    note = diagnose("SK009", message, path=entry.file or entry.path.rpartition("/")[2])
    return entry._replace(diagnostics=(*entry.diagnostics, note))
