"""Plugin manifests: the small JSON files that make a folder a plugin and give its skills their first name."""

from __future__ import annotations

import posixpath
from typing import Any, NamedTuple

from metier.model import MANIFESTS, Diagnostic
from metier.standard.names import one_line

MAX_BYTES = 256 * 1024
SCHEMA = "https://agent-plugins.org/"
"""What `$schema` begins with in a bare `plugin.json`; without it the file belongs to somebody else."""

_FORMATS = dict(zip(MANIFESTS, ("codex", "claude", "cursor", "agent-plugins"), strict=True))
_BARE = MANIFESTS[-1]


class Manifest(NamedTuple):
    """What a plugin says of itself. No declared skills means the usual place, `skills/`."""

    name: str
    version: str
    description: str
    skills: tuple[str, ...]
    format: str


def read_manifest(data: bytes, where: str, folder: str) -> Manifest | Diagnostic | None:
    """Read a manifest; None when the file is a `plugin.json` of some other kind."""
    fields, problem = _object(data)
    if where == _BARE and not _is_ours(fields, data):
        return None
    name = fields.get("name") or ""
    if not problem and not isinstance(name, str):
        problem = "name is not text"
    if problem:
        hint = "correct the manifest; until then its skills carry no plugin name"
        return Diagnostic("SK095", "warning", f"plugin manifest ignored: {problem}", where, 0, 0, hint)
    return Manifest(
        name=one_line(name) or one_line(folder),
        version=_text(fields.get("version")),
        description=_text(fields.get("description")),
        # Agent Plugins fixes the place of skills, so a list there means nothing.
        skills=() if where == _BARE else _paths(fields.get("skills")),
        format=_FORMATS.get(where, "agent-plugins"),
    )


def _object(data: bytes) -> tuple[dict[str, Any], str]:
    import json  # most listings meet no plugin

    if len(data) > MAX_BYTES:
        return {}, f"it is larger than {MAX_BYTES // 1024} KiB"
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return {}, "it is not UTF-8"
    except json.JSONDecodeError as fault:
        return {}, f"it is not valid JSON: {fault.msg} (line {fault.lineno}, column {fault.colno})"
    except (ValueError, RecursionError, MemoryError):
        # A number of many thousand digits, or brackets nested past what Python's parser follows.
        return {}, "it is not JSON of a reasonable shape"
    return (value, "") if isinstance(value, dict) else ({}, "it is not a JSON object")


def _is_ours(fields: dict[str, Any], data: bytes) -> bool:
    """Tell whether a bare `plugin.json` is, or was meant as, an Agent Plugins manifest."""
    schema = fields.get("$schema")
    if fields:
        return isinstance(schema, str) and schema.startswith(SCHEMA)
    return SCHEMA.encode() in data[:MAX_BYTES]


def _text(value: object) -> str:
    if isinstance(value, str):
        return one_line(value)
    return str(value) if type(value) in {int, float} else ""


def _paths(value: object) -> tuple[str, ...]:
    """Keep the declared paths that stay inside the plugin, each once, without `./`."""
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    kept = (posixpath.normpath(item) for item in items if isinstance(item, str) and _stays_inside(item))
    return tuple(dict.fromkeys(kept))


def _stays_inside(path: str) -> bool:
    # Backslashes and drive letters are separators on another platform, so they are refused on all of them.
    if not path.strip() or path.startswith(("/", "~")) or "\\" in path or path[1:2] == ":":
        return False
    return path.isprintable() and ".." not in path.split("/")
