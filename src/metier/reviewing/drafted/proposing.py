"""What a draft comes to today: what it starts from, the skill as it is now, what it makes of the one, and the three together."""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.discover import disk
from metier.errors import IntegrityError
from metier.standard.digest import TreeFile, tree_digest
from metier.supply.quarantine.disk import Desk
from metier.supplying import combining, places, versions
from metier.supplying.combining import Three
from metier.supplying.versions import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.app import Library
    from metier.offers import Draft
    from metier.reviewing.drafted.records import Record
    from metier.store.disk import Store
    from metier.supply.merge.diff3 import Favour
    from metier.supplying.combining import Combined

STAGING = "pending/staging"
"""Apart from the folder in which agents' changes are made ready: whoever is alone there takes everything else away."""


def _nothing(path: str) -> bytes:
    raise KeyError(path)


NOTHING = Version("", {}, _nothing)
"""A skill that is not there."""


class Bench(NamedTuple):
    """What looking at a draft takes."""

    library: Library
    desk: Desk
    store: Store

    def tree(self, digest: str) -> Version:
        """Give a tree of the store."""
        return versions.kept(self.store, digest) if digest else NOTHING

    def now(self, path: str) -> Version:
        """Give a folder as it is at this moment."""
        return versions.snapshot(self.library, self.desk, path) if disk.is_there(path) else NOTHING

    def kept(self, version: Version) -> str:
        """See to it that the store has a tree; give its digest."""
        if version.digest and not self.store.has(version.digest):
            self.store.keep(self.laid(version).folder)
        return version.digest

    def laid(self, version: Version) -> Combined:
        """Write a tree out on the desk."""
        return self.combined(Three(version, version, version))

    def combined(self, three: Three, favour: Favour = "") -> Combined:
        """Put three trees together on the desk."""
        return combining.combine(self.library, self.desk, three, favour)


@contextmanager
def bench(library: Library) -> Iterator[Bench]:
    """Give a place to work in that is gone afterwards."""
    with Desk(f"{places.home_of(library)}/{STAGING}", library.home, places.hands_of(library)) as desk:
        yield Bench(library, desk, places.store_of(library))


def three_of(on: Bench, record: Record, now: Version) -> Three:
    """Give what a draft starts from, the skill as it is, and what the draft makes of what it starts from."""
    draft, has = record.draft, on.store.has
    base = NOTHING if not draft.base else now if now.digest == draft.base else on.tree(draft.base) if has(draft.base) else None
    known = on.tree(draft.result) if draft.result and has(draft.result) else None
    if base is not None:
        return Three(base, now, known if known is not None else _derived(base, draft))
    theirs = known if known is not None else _changed(now, draft)
    return Three(_guessed(now, theirs), now, theirs)


def _derived(base: Version, draft: Draft) -> Version:
    """Make of a tree what a draft says; it must be what it was said to be."""
    made = NOTHING if draft.action == "delete" else _changed(base, draft)
    if draft.result and made.digest != draft.result:
        what = f"what the draft about '{draft.skill[:100]}' came to is not in the store, and cannot be made again"
        raise IntegrityError(what, hint="reject it, and have it written again", code="not-in-store")
    return made


def _changed(base: Version, draft: Draft) -> Version:
    fresh = {path: text.encode() for path, text in draft.files}
    files = {path: file for path, file in base.files.items() if path not in draft.removed}
    for path, data in fresh.items():
        files[path] = TreeFile(path, len(data), sha256(data).digest(), files[path].mode if path in files else False)
    return Version(tree_digest(files.values()), files, lambda path: fresh[path] if path in fresh else base.read(path))


def _guessed(now: Version, theirs: Version) -> Version:
    """Stand in for a tree that nobody has any more: everything that the two sides do not have in common is then a conflict."""
    differing = {path: file for path, file in now.files.items() if theirs.files.get(path) != file}
    lost = {path: TreeFile(path, 0, sha256(b"").digest(), file.mode is True) for path, file in differing.items()}
    files = {**now.files, **lost}
    return Version(tree_digest(files.values()), files, lambda path: b"" if path in lost else now.read(path))
