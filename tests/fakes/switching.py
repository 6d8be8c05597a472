"""DiskCalls that put other bytes on the disk than those that went through them, as somebody does who is quicker than a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakes.breaking import QuickHands

if TYPE_CHECKING:
    from collections.abc import Iterable


class SwitchingHands(QuickHands):
    """Stands behind `DiskCalls`: whatever is laid out in quarantine has another last sentence there, of the same length.

    Whoever hashes on the way to the disk knows the one, and whoever scans what lies there sees the other.
    """

    def __init__(self) -> None:
        """Begin with nothing switched."""
        self.switched: list[str] = []

    def write(self, path: str, chunks: Iterable[bytes], mode: int = 0o600) -> None:
        """Write a new file; of a document in quarantine, something else."""
        if "/staging/" not in path or not path.endswith("/SKILL.md"):
            super().write(path, chunks, mode)
            return
        self.switched.append(path)
        super().write(path, (b"".join(chunks).rstrip(b".\n") + b"!\n",), mode)
