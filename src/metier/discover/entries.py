"""From the bytes of a skill's own files to the `Entry` that a listing keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.disclose.tokens import estimate
from metier.model import Diagnostic, Document, Entry, Kind, Sidecar
from metier.standard.document import MAX_DESCRIPTION
from metier.standard.needs import read_needs
from metier.standard.rules import diagnose

if TYPE_CHECKING:
    from metier.standard.code import CodeFacts


class Place(NamedTuple):
    """Where a skill lies: what its own text cannot say."""

    path: str
    file: str
    real: str
    category: str
    plugin: str


def entry_of(document: Document, place: Place, size: int, sidecar: Sidecar | None) -> Entry:
    """Keep of a document what a listing needs."""
    diagnostics = document.diagnostics
    gates, needs, notes = read_needs(document.fields, document.spans, sidecar, place.file or _base(place.path))
    if notes or sidecar is not None:
        diagnostics = (*diagnostics, *notes, *(sidecar.diagnostics if sidecar else ()))
    name = f"{place.plugin}:{document.name}" if place.plugin else document.name
    description = document.description
    if len(description) > MAX_DESCRIPTION:
        description = shortened(description)
    return Entry(
        document.kind, place.path, place.file, place.real, name, description,
        place.category or _own_category(document), place.plugin, estimate(name) + estimate(description), size,
        gates, needs, diagnostics,
    )  # fmt: skip


def broken_entry(kind: Kind, place: Place, name: str, diagnostic: Diagnostic) -> Entry:
    """Stand in for a skill that cannot be read: a row with a reason, never an absence."""
    return Entry(kind, place.path, place.file, place.real, name, "", place.category, place.plugin, 0, 0, None, None,
                 (diagnostic,))  # fmt: skip


def code_entry(facts: CodeFacts, place: Place, size: int) -> Entry:
    """Keep of a code skill what a listing needs (CO-9: the description falls back to the name)."""
    description = shortened(facts.description)
    name = f"{place.plugin}:{facts.name}" if place.plugin else facts.name
    return Entry("code", place.path, "", place.real, name, description, place.category, place.plugin,
                 estimate(name) + estimate(description), size, None, None, facts.diagnostics)  # fmt: skip


def shortened(description: str) -> str:
    """Cut an over-long description for display; the whole stays in the file (decision 8)."""
    return description if len(description) <= MAX_DESCRIPTION else description[: MAX_DESCRIPTION - 3] + "..."


def fault_at(code: str, message: str, place: Place) -> Diagnostic:
    """Diagnose a whole file: its first line and column stand for it."""
    return diagnose(code, message, path=place.file or _base(place.path))


def _own_category(document: Document) -> str:
    value = document.fields.get("category")
    return value.strip().lower() if isinstance(value, str) and 0 < len(value.strip()) <= 32 else ""


def _base(path: str) -> str:
    return path.rpartition("/")[2]
