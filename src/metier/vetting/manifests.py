"""The list of approved code that may lie beside code skills, and whose word it is (CO-7).

A manifest comes with the skills, and so from strangers too. It counts only in folders of the user's own, of the system
or of the administrator; a project's, a plugin's, a package's or one in a folder named by hand trusts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.discover import disk
from metier.trust import manifest

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Card, Root

FILE = ".manifest.json"
_OWN = frozenset({"user", "system", "admin"})


def root_of(library: Library, card: Card) -> Root | None:
    """Give the root that a card was found in."""
    return next((one.root for one in library.glance().seen if one.root.location == card.root), None)


def beside(library: Library, card: Card) -> manifest.Manifest:
    """Give the manifest that counts for a code skill; an empty one when there is none, or it cannot be read (fail closed)."""
    root = root_of(library, card)
    path = f"{card.path.rpartition('/')[0]}/{FILE}"
    if card.scope not in _OWN or root is None or root.project or not disk.is_there(path):
        return manifest.parse_manifest(None)
    head = disk.read_head(path, manifest.MOST_BYTES + 1)
    found = manifest.parse_manifest(head.data if not head.fault else b"")
    if found.problem and found.problem not in library.warnings:
        library.warnings.append(f"{path}: {found.problem}")
    return found


def breaks_promise(library: Library, card: Card, data: bytes) -> bool:
    """Tell whether a code skill is not the content that its manifest promises under its name."""
    promised = beside(library, card).skills.get(card.path.rpartition("/")[2])
    return promised is not None and promised != manifest.sha256_of(data)
