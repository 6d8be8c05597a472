"""Card → body → file: what each level of a skill shows. Pure."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from metier.errors import NotFoundError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

LINKED = ("references", "templates", "scripts", "assets")


def linked_files(paths: Iterable[str]) -> dict[str, list[str]]:
    """Group a skill's files by the folder that says their kind (HE-17)."""
    grouped: dict[str, list[str]] = {kind: [] for kind in LINKED}
    for path in sorted(paths):
        kind, slash, _rest = path.partition("/")
        if slash and kind in grouped:
            grouped[kind].append(path)
    return grouped


def safe_relative(path: str) -> str:
    """Give the normal form of a path inside a skill; refuse one that could leave it (HE-9)."""
    flat = path.replace("\\", "/")
    if ".." in flat.split("/"):
        raise RefusedError("Path traversal ('..') is not allowed.", code="path-traversal",
                           hint="give a path inside the skill, such as references/guide.md")  # fmt: skip
    if flat.startswith(("/", "~")) or (len(flat) > 1 and flat[1] == ":") or "\0" in flat or not flat.strip("./"):
        raise RefusedError(f"'{path}' is not a path inside the skill.", code="path-traversal",
                           hint="give a path inside the skill, such as references/guide.md")  # fmt: skip
    return posixpath.normpath(flat)


def no_such_file(name: str, path: str, files: Iterable[str]) -> NotFoundError:
    """Say that a skill has no such file, with those it has by type."""
    available = {kind: names for kind, names in linked_files(files).items() if names}
    listed = "; ".join(f"{kind}: {', '.join(names[:20])}" for kind, names in available.items())
    error = NotFoundError(f"'{name}' has no file '{path}'", hint=f"available: {listed}" if listed else "it has no linked files")
    error.details["available_files"] = available
    return error


def words(fields: dict[str, Any], key: str) -> list[str]:
    """Collect a list of words that may stand at the top, in metadata or in metadata.hermes (HE-4)."""
    metadata = fields.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    hermes = metadata.get("hermes")
    for place in (fields, metadata, hermes if isinstance(hermes, dict) else {}):
        value = place.get(key)
        if isinstance(value, list):
            return [item for item in value if isinstance(item, str)]
        if isinstance(value, str) and value:
            return [word.strip() for word in value.strip("[]").split(",") if word.strip()]
    return []
