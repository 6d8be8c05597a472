"""The scanner's own sources on disk, condensed: a verdict is only as old as the code that found it."""

from __future__ import annotations

import hashlib
import os
from functools import cache


@cache
def source_digest() -> str:
    """Condense every source file of the scanner, by name and content; what cannot be read counts as such."""
    top = os.path.dirname(os.path.abspath(__file__))
    whole = hashlib.sha256()
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                whole.update(f"{os.path.relpath(path, top)}\n{_digest(path)}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""
