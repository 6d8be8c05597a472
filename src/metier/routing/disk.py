"""The folders of indexes below METIER_HOME: which was used last, and which nobody uses any more."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

KEEP = 16
"""Indexes that stay: each belongs to one set of folders with skills, as each project has its own."""
YOUNG_SECONDS = 3600
"""What was used so lately stays whatever their number: another process may be searching it."""


def used(folder: str, now: float) -> None:
    """Note that an index is in use, and let go of those that were not used for longest."""
    with suppress(OSError, ValueError):
        os.utime(folder, (now, now))
        with os.scandir(os.path.dirname(folder)) as entries:
            found = sorted((entry.stat(follow_symlinks=False).st_mtime, entry.path) for entry in entries
                           if entry.is_dir(follow_symlinks=False))  # fmt: skip
        for changed, path in found[:-KEEP]:
            if changed < now - YOUNG_SECONDS and path != folder:
                shutil.rmtree(path, ignore_errors=True)
