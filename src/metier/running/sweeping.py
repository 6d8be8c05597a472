"""Free what runs left behind: environments and copies of skills that nobody used of late. Both are made anew when needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.copies import disk as copies
from metier.running import environments

if TYPE_CHECKING:
    from metier.app import Library


def sweep(library: Library, *, dry_run: bool) -> tuple[int, int]:
    """Remove them, or say what would go: how many, and their bytes."""
    if not library.data:
        return 0, 0
    sizes = [one.size for one in environments.sweep(library, dry_run=dry_run)]
    sizes += copies.sweep(library.data, dry_run=dry_run)
    return len(sizes), sum(sizes)
