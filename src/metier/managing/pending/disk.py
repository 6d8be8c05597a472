"""Drafts on disk, below METIER_HOME: one file each, for their owner alone, until a person looks at them."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from metier.errors import RefusedError
from metier.managing.disk import WRITE, guarded, pour, private

if TYPE_CHECKING:
    from metier.offers import Draft

PENDING = "pending/skills"
MOST_PENDING = 1_000
"""Drafts that may wait at once: an agent that is in a loop shall not fill the disk."""


class DiskDrafts:
    """Drafts as files, each for its owner alone, until a person looks at them."""

    def __init__(self, data: str, ident: str) -> None:
        """Say below which folder, and under which id the next one is kept."""
        self.folder, self.ident = f"{data}/{PENDING}", ident

    def submit(self, draft: Draft) -> str:
        """Keep a draft; give its id."""
        text = json.dumps({"id": self.ident, "at": time.time_ns() // 1_000_000_000, **draft._asdict()})
        path = f"{self.folder}/{self.ident}.json"
        with guarded(path):
            private(os.path.dirname(self.folder))
            private(self.folder)
            if len(os.listdir(self.folder)) >= MOST_PENDING:
                hint = f"look at them first: {self.folder}"
                raise RefusedError(f"{MOST_PENDING:,} changes wait for a person already", code="full", hint=hint)
            temporary = f"{self.folder}/.{self.ident}.tmp"
            file = os.open(temporary, WRITE, 0o600)
            try:
                try:
                    pour(file, text.encode())
                    os.fsync(file)
                finally:
                    os.close(file)
                os.rename(temporary, path)
            except BaseException:
                if os.path.lexists(temporary):
                    os.unlink(temporary)
                raise
        return self.ident
