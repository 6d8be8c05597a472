"""Desks: ordinary folders where a person works on a draft before accepting it. One that was worked on is never lost."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import IntegrityError
from metier.reviewing.drafted.records import Laid
from metier.supplying import places
from metier.supplying.combining import Three
from metier.supplying.merging import SHOWN, is_untouched, put, put_away
from metier.supplying.unmerged import unmerged

if TYPE_CHECKING:
    from metier.app import Library
    from metier.reviewing.drafted.proposing import Bench
    from metier.reviewing.drafted.records import Record
    from metier.supplying.combining import Combined
    from metier.supplying.versions import Version

FOLDER = "review"
"""Below METIER_HOME."""


class Worked(NamedTuple):
    """What a person made of a desk, and the three trees that it was laid from."""

    path: str
    was: Three
    edited: Version
    left: list[tuple[str, int]]
    """What is still to be settled on it."""


def path_of(library: Library, record: Record) -> str:
    """Give the desk of a draft; nothing where there is none."""
    if record.desk is None:
        return ""
    path = f"{places.home_of(library)}/{FOLDER}/{record.desk.name}"
    return path if disk.kind_of(path) == disk.FOLDER and not disk.is_link(path) else ""


def is_worked_on(library: Library, record: Record) -> bool:
    """Tell whether there is a desk on which something was changed."""
    path = path_of(library, record)
    return bool(path) and not is_untouched(path)


def worked(on: Bench, record: Record) -> Worked | None:
    """Look at the desk of a draft as it is now; nothing where there is none."""
    path = path_of(on.library, record)
    if not path or record.desk is None:
        return None
    was = Three(*(on.tree(digest) for digest in record.desk[1:]))
    edited = on.now(path)
    return Worked(path, was, edited, unmerged(edited, was))


def lay(on: Bench, record: Record, three: Three, combined: Combined) -> Laid:
    """Lay a desk, unless just this one is laid already: what was edited there stays."""
    digests = [on.kept(version) for version in three]
    own = blake2b("\n".join(digests).encode(), digest_size=6).hexdigest()
    name = f"draft-{record.id}-{own}-{combined.digest.removeprefix('sha256:')[:SHOWN]}"
    put(on.library, combined.folder, f"{places.home_of(on.library)}/{FOLDER}/{name}")
    return Laid(name, *digests)


def leave(library: Library, record: Record, seen: str = "") -> None:
    """Take the desk away that nobody needs any more; one that was worked on since it was laid, or since it was `seen`, is left."""
    put_away(library, path_of(library, record), seen)


def not_merged(record: Record, left: list[tuple[str, int]], desk: str) -> IntegrityError:
    """Say what is still to be settled, and how that is done."""
    where = ", ".join(f"{path}:{line}" if line else path for path, line in left[:10])
    hint = f"edit the files in {desk}, take the markers out, then accept it again" if desk else (
        f"'metier review edit {record.key}' lays it out to be settled by hand; or accept it with ours or theirs")  # fmt: skip
    error = IntegrityError(f"{record.key} does not fit the skill as it is now: {where}", hint=hint, code="unmerged")
    error.details["files"] = [{"path": path, "line": line} for path, line in left]
    return error
