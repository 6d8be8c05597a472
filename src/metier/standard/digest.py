"""One canonical digest of a skill tree.

sha256 over the files sorted by path, each framed as path length, path, executable bit, content
length and the sha256 of the content: so no two trees share an encoding (HE-43), the order on disk
does not matter, nor does the platform's separator or the place where the tree lies (MT-13).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from metier.model import Digest

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAGIC = b"metier-tree-1\n"


class TreeFile(NamedTuple):
    """One regular file of a tree: its path below the skill, with `/` on every platform, and the
    sha256 of its bytes.
    """

    path: str
    size: int
    sha256: bytes
    mode: bool | str
    """Whether it is executable, or `link` for a link, which stands for the hash of its target's
    name."""


def tree_digest(files: Iterable[TreeFile]) -> Digest:
    """Give the digest of a tree; the order in which the files come does not matter."""
    whole = hashlib.sha256(_MAGIC)
    for path, file in sorted(
        (file.path.encode("utf-8", "surrogateescape"), file) for file in files
    ):
        mode = b"l" if file.mode == "link" else b"x" if file.mode else b"-"
        whole.update(b"%d:%b%c%d:%b" % (len(path), path, mode, file.size, file.sha256))
    return Digest("sha256:" + whole.hexdigest())
