"""Paths inside a skill: which are safe, which folders its files lie in, and what stands in a list."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from metier.errors import NotFoundError, RefusedError
from metier.standard.needs import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import JsonObject

LINKED_FOLDERS = ("references", "templates", "scripts", "assets")


def linked_files(paths: Iterable[str]) -> dict[str, list[str]]:
    """Group a skill's files by the folder that says their kind (HE-17)."""
    grouped: dict[str, list[str]] = {kind: [] for kind in LINKED_FOLDERS}
    for path in sorted(paths):
        kind, slash, _rest = path.partition("/")
        if slash and kind in grouped:
            grouped[kind].append(path)
    return grouped


def safe_relative(path: str) -> str:
    """Give the normal form of a path inside a skill; refuse one that could leave it (HE-9)."""
    flat = path.replace("\\", "/")
    if ".." in flat.split("/"):
        raise _refused("Path traversal ('..') is not allowed.")
    if (
        flat.startswith(("/", "~"))
        or (len(flat) > 1 and flat[1] == ":")
        or "\0" in flat
        or not flat.strip("./")
    ):
        raise _refused(f"'{path}' is not a path inside the skill.")
    return posixpath.normpath(flat)


def _refused(message: str) -> RefusedError:
    hint = "give a path inside the skill, such as references/guide.md"
    return RefusedError(message, code="path-traversal", hint=hint)


def no_such_file(name: str, path: str, files: Iterable[str]) -> NotFoundError:
    """Say that a skill has no such file, with those it has by type."""
    available = {kind: names for kind, names in linked_files(files).items() if names}
    listed = "; ".join(f"{kind}: {', '.join(names[:20])}" for kind, names in available.items())
    return NotFoundError(
        f"'{name}' has no file '{path}'",
        hint=f"available: {listed}" if listed else "it has no linked files",
    ).with_details(available_files=available)


def listed_words(fields: JsonObject, key: str) -> list[str]:
    """Collect a list of words that may stand at the top, in metadata or in metadata.hermes
    (HE-4).
    """
    metadata = mapping(fields.get("metadata"))
    for place in (fields, metadata, mapping(metadata.get("hermes"))):
        value = place.get(key)
        if isinstance(value, list):
            return [item for item in value if isinstance(item, str)]
        if isinstance(value, str) and value:
            return [word.strip() for word in value.strip("[]").split(",") if word.strip()]
    return []
