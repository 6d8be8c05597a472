"""Merges three versions of a skill into a folder in quarantine, and says what is left to settle.

A version is its files and their bytes, wherever it lies. What is left are conflict markers that
still stand, and files that nobody has chosen from yet.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, NotFoundError, StoreError
from metier.standard.digest import TreeFile, tree_digest
from metier.store.io.tree_store import Store
from metier.supply import fetch, places
from metier.supply.io.lock_file import read_small_file
from metier.supply.merge.diff3 import MARKER_CHARS
from metier.supply.merge.line_diff import is_text, split_lines
from metier.supply.merge.trees import MergedTree, merge_trees
from metier.supply.merge.unified import unified
from metier.supply.model import Conflict, Refusal
from metier.supply.places import hands_of, store_of
from metier.trust.capabilities import capabilities_of, document_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from metier.context import Context
    from metier.model import Finding
    from metier.supply.assess import AssessedUpdate
    from metier.supply.fetch import FetchedSkill
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.merge.diff3 import Favour
    from metier.supply.merge.trees import FileConflict, MergedFile
    from metier.supply.model import Pin
    from metier.supply.places import InstallPlace


MAX_FILE_BYTES = 4 << 30


class VersionFiles(NamedTuple):
    """The files of a tree by path, and how each is read."""

    digest: str
    files: Mapping[str, TreeFile]
    read: Callable[[str], bytes]


def _nothing(path: str) -> bytes:
    raise KeyError(path)


NO_FILES = VersionFiles("", {}, _nothing)
"""A skill that is not there."""


def difference(
    old: VersionFiles, new: VersionFiles, names: tuple[str, str] = ("yours", "theirs")
) -> str:
    """Give what differs between two versions as a unified diff."""
    return unified(old.files, new.files, old.read, new.read, names)


def stored_version(store: Store, digest: str) -> VersionFiles:
    """Give a tree of a store."""
    files = {file.path: file for file in store.files(digest)}
    return VersionFiles(digest, files, lambda path: b"".join(store.blobs.verified(files[path])))


def version_in_folder(tree: FetchedSkill | AssessedUpdate | CombinedTree) -> VersionFiles:
    """Give a tree that lies in quarantine, where nobody else writes."""

    def read(path: str) -> bytes:
        data = read_small_file(f"{tree.folder}/{path}", MAX_FILE_BYTES)
        if data is None:
            raise NotFoundError(f"{path!r} is gone from {tree.folder}", code="changed")
        return data

    return VersionFiles(tree.digest, {file.path: file for file in tree.files}, read)


def snapshot(context: Context, desk: Quarantine, folder: str) -> VersionFiles:
    """Give a working copy as it is at this moment; what is edited later does not change it. Nothing
    is kept beyond the desk.
    """
    store = Store(desk.fresh(), context.home, places.hands_of(context))
    return stored_version(store, store.keep(folder))


def base_of(
    context: Context, place: InstallPlace, desk: Quarantine, pin: Pin
) -> VersionFiles | Refusal:
    """Give the tree that the next merge starts from: of the store, or fetched once more where this
    machine never had it.
    """
    store = store_of(context)
    if store.has(pin.base):
        return stored_version(store, pin.base)
    try:
        laid = fetch.restore(context, place, desk, pin)
    except MetierError as error:
        return Refusal.of(pin.name, error)
    if isinstance(laid, Refusal):
        return laid
    if laid.digest != pin.base:
        return Refusal(pin.name, ("the version it comes from cannot be had any more",))
    return version_in_folder(laid)


def own_name(version: VersionFiles, name: str) -> str:
    """Give what a version calls itself in its own file; `name` where it says nothing."""
    document = document_of(version.files, version.read, name)
    return document.name if document else name


def abilities(version: VersionFiles, findings: Iterable[Finding]) -> frozenset[str]:
    """Say what a version may do."""
    return capabilities_of(version.files, version.read, findings)


CONFLICT_REASONS = {
    "content": "both changed the same or adjoining lines",
    "binary": "both changed it, and it cannot be merged by lines",
    "deleted": "one side deleted it, and the other changed it",
    "added": "both added it, each with other content",
    "renamed": "each side moved it to another place",
    "folder": "a file on one side is a folder on the other",
    "case": "the two names differ in nothing but case",
}
"""The kinds of conflict, in words."""
DESK_LABELS = ("yours", "base", "theirs")
"""What stands after the markers of a conflict."""
ASIDE_SUFFIXES = (".metier-yours", ".metier-theirs")
"""What is appended to the name of a file that somebody has to choose from two."""
MAX_SHOWN_BYTES = 1 << 20
"""How many bytes of a side are shown."""


class ThreeVersions(NamedTuple):
    """What a merge is made of."""

    base: VersionFiles
    ours: VersionFiles
    theirs: VersionFiles

    def read(self, side: str, path: str) -> bytes:
        """Read a file of one of the three, by its name."""
        return {"base": self.base, "ours": self.ours}.get(side, self.theirs).read(path)

    def merge(self, favour: Favour = "") -> MergedTree:
        """Merge them."""
        return merge_trees(
            self.base.files,
            self.ours.files,
            self.theirs.files,
            self.read,
            labels=DESK_LABELS,
            favour=favour,
        )


class CombinedTree(NamedTuple):
    """A merged tree in quarantine."""

    folder: str
    files: tuple[TreeFile, ...]
    digest: str
    conflicts: tuple[FileConflict, ...] = ()
    """What is left to settle; markers are in the files then, and what is to be chosen from lies
    beside its place."""


def combine(
    context: Context, desk: Quarantine, three: ThreeVersions, favour: Favour = ""
) -> CombinedTree:
    """Merge, and write the result to the desk."""
    tree = three.merge(favour)
    folder = desk.fresh()
    try:
        files = tuple(_write(context, folder, {**tree.files, **dict(asides(tree, three))}, three))
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror or error}", hint="check the space there"
        ) from error
    return CombinedTree(folder, files, tree_digest(files), tree.conflicts)


def asides(tree: MergedTree, three: ThreeVersions) -> Iterator[tuple[str, MergedFile]]:
    """Give the files that somebody has to choose from, under names that nothing in the tree has."""
    for _conflict, name, one in asides_of_conflicts(tree, three):
        yield name, one


def asides_of_conflicts(
    tree: MergedTree, three: ThreeVersions
) -> Iterator[tuple[FileConflict, str, MergedFile]]:
    """Give each such file with its name and what it is about."""
    taken = {*three.ours.files, *three.theirs.files, *tree.files}
    for conflict in tree.conflicts:
        for one, suffix in zip((conflict.mine, conflict.yours), ASIDE_SUFFIXES, strict=True):
            if one is not None and not conflict.marked:
                name = f"{one.path}{suffix}"
                while name in taken:
                    name += "-"
                taken.add(name)
                yield conflict, name, one


def _write(
    context: Context, folder: str, files: Mapping[str, MergedFile], three: ThreeVersions
) -> Iterator[TreeFile]:
    hands = hands_of(context)
    made = set()
    for path, taken in sorted(files.items()):
        *parts, _name = f"/{path}".split("/")
        for above in accumulate(parts, "{}/{}".format):
            if above not in made:
                hands.make(folder + above, 0o700)
                made.add(above)
        data = taken.data if taken.data is not None else three.read(taken.side, taken.path)
        if taken.mode == "link":
            hands.link(data.decode("utf-8", "surrogateescape"), f"{folder}/{path}")
        else:
            hands.write(f"{folder}/{path}", (data,), 0o700 if taken.mode else 0o600)
        yield TreeFile(path, len(data), sha256(data).digest(), taken.mode)


def conflicts_of(
    name: str, found: Iterable[FileConflict], three: ThreeVersions
) -> tuple[Conflict, ...]:
    """Give conflicts as a plan shows them."""
    return tuple(
        Conflict(
            name,
            one.path,
            _shown(three.base, one.base),
            _shown(three.ours, one.ours),
            _shown(three.theirs, one.theirs),
            CONFLICT_REASONS[one.kind],
        )
        for one in found
    )


def _shown(version: VersionFiles, path: str | None) -> str | None:
    if path is None or path not in version.files:
        return None
    file = version.files[path]
    data = version.read(path) if file.size <= 16 * MAX_SHOWN_BYTES else b"\0"
    if file.mode == "link":
        return f"(a link to {data.decode('utf-8', 'replace')})"
    if not is_text(data):
        return f"(binary, {file.size:,} bytes)"
    text = data[:MAX_SHOWN_BYTES].decode("utf-8", "replace")
    return (
        text
        if len(data) <= MAX_SHOWN_BYTES
        else f"{text}\n(and {len(data) - MAX_SHOWN_BYTES:,} more bytes)"
    )


_OURS = b"<" * MARKER_CHARS + f" {DESK_LABELS[0]}".encode()
_THEIRS = b">" * MARKER_CHARS + f" {DESK_LABELS[2]}".encode()
_MIDDLE = b"=" * MARKER_CHARS


def find_unmerged(desk: VersionFiles, three: ThreeVersions) -> list[tuple[str, int]]:
    """Give each place that is not settled: the file and the line of the marker, or no line for a
    file still to be chosen.
    """
    tree = three.merge()
    left = [(name, 0) for name, _taken in asides(tree, three) if name in desk.files]
    conflicts = {one.path for one in tree.conflicts}
    sides = (three.ours, three.theirs)
    known = {file.sha256 for side in sides for file in side.files.values()}
    for path, file in desk.files.items():
        if file.sha256 not in known and file.mode != "link":
            markers = {_OURS, _THEIRS, _MIDDLE} if path in conflicts else {_OURS, _THEIRS}
            # What a file of either side has in it only looks like a marker: a text about merging, a
            # heading underlined.
            for side in sides:
                markers -= set(_plain_lines(side, path))
            left += [
                (path, number)
                for number, line in enumerate(_plain_lines(desk, path), 1)
                if line in markers
            ]
    return sorted(left)


def _plain_lines(version: VersionFiles, path: str) -> Iterator[bytes]:
    """Give the lines of a text, without their ends; nothing where a version has no such text."""
    data = version.read(path) if path in version.files else b""
    return (line.rstrip(b"\r\n") for line in (split_lines(data) if is_text(data) else ()))
