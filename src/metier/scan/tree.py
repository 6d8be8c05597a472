"""The files of a skill as the scanner is given them: values, already read, nothing opened here."""

from __future__ import annotations

from typing import NamedTuple


class Piece(NamedTuple):
    """One entry of a tree. Paths are relative, with forward slashes."""

    path: str
    data: bytes = b""
    """What was read; shorter than `size` when the reader stopped at its limit."""
    size: int = 0
    executable: bool = False
    link: str = ""
    """Where a symbolic link points, as written; empty for anything else."""
    fault: str = ""
    """Why the entry could not be read; empty when it was."""
    sha256: bytes = b""
    """Of the whole file, also of what was not kept; empty where nobody hashed it."""

    @property
    def cut(self) -> bool:
        """Say whether only the beginning was read."""
        return not self.link and not self.fault and len(self.data) < self.size


class Tree(NamedTuple):
    """A skill's folder name and everything below it."""

    name: str
    pieces: tuple[Piece, ...]
