"""A change that a person said yes to, held against the same rules as one that an agent makes by itself.

The yes answers what would have made it wait. It is no answer to a scan that calls the result dangerous.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from metier import judging
from metier.errors import IntegrityError
from metier.managing import Change, Edit, disk
from metier.managing.placing.disk import alone_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.app import Library
    from metier.managing.places import Target
    from metier.terms import Scanned


class Approved(NamedTuple):
    """A tree that may be put in place, and what was said about it."""

    scanned: Scanned
    warnings: tuple[str, ...]


@contextmanager
def changing(library: Library, action: str, ident: str, find: Callable[[], Target]) -> Iterator[Change]:
    """Be alone with a skill, as an agent that changes one is. `find` gives its place, once nobody else moves anything."""
    with disk.alone(library.data, library.home) as data:
        disk.sweep_desks(data)
        library.reload()
        target = find()
        with alone_in(target.root) as certain, disk.desk(data, ident) as desk:
            if certain:
                disk.sweep_root(target.root)
            yield Change(library, action, target, ident, f"{desk}/{target.segments[-1]}")


def approved(change: Change, digest: str, lay: Callable[[str, str], None]) -> Approved:
    """Have a whole tree checked and judged that `lay` writes into a folder; raise when it may not be put in place."""
    before, named = (change.checked(), change.document()) if change.base else ((), None)
    disk.forget(change.tree)
    lay(digest, change.tree)
    warnings = change.validated(Edit(change.main(), b""), before, named)
    scanned = judging.scan_tree(change.library, change.tree, change.target.name)
    if "dangerous" in {scanned.level, scanned.plain}:
        raise change.refused(scanned)
    if scanned.digest != digest:
        raise IntegrityError(f"what was made of '{change.target.name}' is not what was judged", hint="try again")
    return Approved(scanned, warnings)
