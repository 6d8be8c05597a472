"""Which of the paths that changed matter to a library. Pure, but for the canonical names of roots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from metier.discover import disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

IGNORED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})
_PASSING = re.compile(
    r"~$|^\.#|^#.*#$|^4913$|^\.DS_Store$|^Thumbs\.db$|^\.goutputstream-|___jb_(?:tmp|old|bak)___$"
    r"|\.(?:sw[a-z]|swpx|kate-swp|tmp|part|crswap)$"
)
"""What editors and atomic writers leave for a moment: the file they mean is heard of when it is in its place."""


def is_passing(path: str) -> bool:
    """Tell whether a path below a root is a folder of tools, or a file that an editor leaves for a moment."""
    parts = path.split("/")
    return not IGNORED.isdisjoint(parts) or bool(_PASSING.search(parts[-1]))


class Sieve:
    """What is wanted, ready to be asked about many paths."""

    def __init__(self, roots: Sequence[str], files: Sequence[str], quiet: Sequence[str]) -> None:
        """Know each folder by its canonical name as well: some systems tell of changes by that."""
        self._own: dict[str, str] = dict.fromkeys(quiet, "")
        for path in (*files, *roots):
            self._own[disk.real(path)] = path
        self._own.update((path, path) for path in (*files, *roots))
        self._above = {above for path in (*files, *roots) for above in _parents(path)}

    def passed(self, paths: Iterable[str]) -> set[str]:
        """Give those that matter, below their roots as the library names them."""
        return {place for path in paths if (place := self._place(path))}

    def _place(self, path: str) -> str:
        at = path
        while at and at not in self._own:
            at = at.rpartition("/")[0]
        if not at:  # a folder above a root came or went, or something that nobody asked about
            return path if path in self._above else ""
        own, rest = self._own[at], path[len(at) + 1 :]
        if not own or is_passing(rest):
            return ""
        return f"{own}/{rest}" if rest else own


def _parents(path: str) -> Iterable[str]:
    while path := path.rpartition("/")[0]:
        yield path
