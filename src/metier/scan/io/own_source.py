"""The scanner's own sources on disk, condensed: a verdict is only as old as the code that found
it.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache

from metier.discover.io.packages import weights_folder

WATCHED_ENDINGS = (".py", ".txt")
"""How the names of the files end that a verdict depends on: code and lexicons."""
READER_ABOUT_NAME = "reader.json"
"""What names the model that reads passages, in the folder of the weights."""


@cache
def source_digest() -> str:
    """Condense every source file and lexicon of the scanner, by name and content; what cannot be
    read counts as such.
    """
    whole = hashlib.sha256(
        folder_digest(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))).encode()
    )
    whole.update(_digest(reader_about()).encode())
    return whole.hexdigest()


@cache
def folder_digest(top: str) -> str:
    """Condense every source file and table below a folder, by name and content."""
    whole = hashlib.sha256()
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            if name.endswith(WATCHED_ENDINGS):
                path = os.path.join(folder, name)
                whole.update(
                    f"{os.path.relpath(path, top)}\n{_digest(path)}\n".encode(
                        "utf-8", "surrogateescape"
                    )
                )
    return whole.hexdigest()


def reader_about() -> str:
    """Give the file that names the model that reads passages; nothing without a model."""
    folder = weights_folder()
    return os.path.join(folder, READER_ABOUT_NAME) if folder else ""


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def read_lexicon(name: str) -> str:
    """Read the lexicon of a language."""
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(top, "lexicons", name + ".txt"), encoding="utf-8") as file:
        return file.read()
