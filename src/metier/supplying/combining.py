"""Three versions of a skill put together in quarantine: the merged files lie in a folder, and what conflicts is told in words."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import StoreError
from metier.standard.digest import TreeFile, tree_digest
from metier.supplies import Conflict
from metier.supply.merge.lines import is_text
from metier.supply.merge.trees import MergedTree, merge_trees
from metier.supplying.places import hands_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.app import Library
    from metier.supply.merge.diff3 import Favour
    from metier.supply.merge.trees import FileConflict, Taken
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.versions import Version

WHY = {
    "content": "both changed the same lines",
    "binary": "both changed it, and it cannot be merged by lines",
    "deleted": "one side deleted it, and the other changed it",
    "added": "both added it, each with other content",
    "renamed": "each side moved it to another place",
    "folder": "a file on one side is a folder on the other",
    "case": "the two names differ in nothing but case",
}
"""The kinds of conflict, in words."""
LABELS = ("yours", "base", "theirs")
"""What stands after the markers of a conflict."""
ASIDE = (".metier-yours", ".metier-theirs")
"""What is appended to the name of a file that somebody has to choose from two."""
MOST_SHOWN = 1 << 20
"""How many bytes of a side are shown."""


class Three(NamedTuple):
    """What a merge is made of."""

    base: Version
    ours: Version
    theirs: Version

    def of(self, side: str) -> Version:
        """Give one of the three by its name."""
        return self.base if side == "base" else self.ours if side == "ours" else self.theirs


class Combined(NamedTuple):
    """A merged tree in quarantine."""

    folder: str
    files: tuple[TreeFile, ...]
    digest: str
    conflicts: tuple[FileConflict, ...] = ()
    """What is left to settle; markers are in the files then, and what is to be chosen from lies beside its place."""


def combine(library: Library, desk: Desk, three: Three, favour: Favour = "") -> Combined:
    """Merge, and write the result to the desk."""
    read = {side: three.of(side).read for side in ("base", "ours", "theirs")}
    tree = merge_trees(three.base.files, three.ours.files, three.theirs.files, lambda side, path: read[side](path),
                       labels=LABELS, favour=favour)  # fmt: skip
    folder = desk.fresh()
    try:
        files = tuple(_written(library, folder, {**tree.files, **dict(asides(tree, three))}, three))
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror or error}", hint="check the space there") from error
    return Combined(folder, files, tree_digest(files), tree.conflicts)


def asides(tree: MergedTree, three: Three) -> Iterator[tuple[str, Taken]]:
    """Give the files that somebody has to choose from, under names that nothing in the tree has."""
    taken = {*three.ours.files, *three.theirs.files, *tree.files}
    for conflict in tree.conflicts:
        for one, suffix in zip((conflict.mine, conflict.yours), ASIDE, strict=True):
            if one is not None and not conflict.marked:
                name = f"{one.path}{suffix}"
                while name in taken:
                    name += "-"
                taken.add(name)
                yield name, one


def _written(library: Library, folder: str, files: Mapping[str, Taken], three: Three) -> Iterator[TreeFile]:
    hands, made = hands_of(library), {""}
    hands.make(folder, 0o700)
    for path, taken in sorted(files.items()):
        parts = path.split("/")[:-1]
        for above in ("/".join(parts[: depth + 1]) for depth in range(len(parts))):
            if above not in made:
                hands.make(f"{folder}/{above}", 0o700)
                made.add(above)
        data = taken.data if taken.data is not None else three.of(taken.side).read(taken.path)
        if taken.mode == "link":
            hands.link(data.decode("utf-8", "surrogateescape"), f"{folder}/{path}")
        else:
            hands.write(f"{folder}/{path}", (data,), 0o700 if taken.mode else 0o600)
        yield TreeFile(path, len(data), sha256(data).digest(), taken.mode)


def conflicts_of(name: str, found: Iterable[FileConflict], three: Three) -> tuple[Conflict, ...]:
    """Give conflicts as a plan shows them."""
    return tuple(
        Conflict(name, one.path, _shown(three.base, one.base), _shown(three.ours, one.ours), _shown(three.theirs, one.theirs),
                 WHY[one.kind])
        for one in found
    )  # fmt: skip


def _shown(version: Version, path: str | None) -> str | None:
    if path is None or path not in version.files:
        return None
    file = version.files[path]
    data = version.read(path) if file.size <= 16 * MOST_SHOWN else b"\0"
    if file.mode == "link":
        return f"(a link to {data.decode('utf-8', 'replace')})"
    if not is_text(data):
        return f"(binary, {file.size:,} bytes)"
    text = data[:MOST_SHOWN].decode("utf-8", "replace")
    return text if len(data) <= MOST_SHOWN else f"{text}\n(and {len(data) - MOST_SHOWN:,} more bytes)"
