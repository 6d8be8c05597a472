"""A tree as a version records it: its digest, and the hashes of its SKILL.md and of the body of that (BE-9)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from metier.plugins.moves import Tree
from metier.standard.document import read_document
from metier.supplying import places, versions

if TYPE_CHECKING:
    from metier.app import Library
    from metier.supplying.fetching import Laid
    from metier.supplying.versions import Version


def face(version: Version) -> Tree:
    """Give what a version of a skill records of its tree."""
    main = next((path for path in ("SKILL.md", *sorted(version.files)) if path.lower() == "skill.md" and path in version.files), "")
    if not main:
        return Tree(version.digest)
    data = version.read(main)
    cut = data[: versions.MOST_DOCUMENT]
    document = read_document(cut, folder="", file=main, size=len(data))
    summary = sha256(data[document.body_at if document is not None else 0 :]).hexdigest()
    return Tree(version.digest, f"sha256:{sha256(data).hexdigest()}", f"sha256:{summary}")


def laid_face(laid: Laid) -> Tree:
    """Give it of a skill in quarantine."""
    return face(versions.laid_out(laid.folder, laid.files, laid.digest))


def kept_face(library: Library, digest: str) -> Tree:
    """Give it of a tree in the store."""
    return face(versions.kept(places.store_of(library), digest))
