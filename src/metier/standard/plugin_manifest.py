"""Plugin manifests: the small JSON files that make a folder a plugin and give its skills their
first name.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any, NamedTuple

from metier.model import MANIFESTS, Diagnostic
from metier.standard.names import one_line
from metier.standard.plain_text import words

MAX_BYTES = 256 * 1024
MAX_NAME = 128
MAX_PROBLEMS = 5
SCHEMA = "https://agent-plugins.org/"
"""What `$schema` begins with in a bare `plugin.json`; without it the file belongs to somebody
else."""

_FORMATS = dict(zip(MANIFESTS, ("codex", "claude", "cursor", "agent-plugins"), strict=True))
_BARE = MANIFESTS[-1]
SCHEMAS = (f"{SCHEMA}schemas/1.0.0/plugin.schema.json",)
"""The versions of Agent Plugins that are known here."""
NAME = re.compile(r"[a-z0-9.-]{1,64}\Z")
"""What an Agent Plugin may be called."""
FIELDS = words(
    "$schema name version description author homepage repository license keywords extensions"
)
"""All that an Agent Plugin may say; whatever else a vendor has to say goes into `extensions`."""


class PluginManifest(NamedTuple):
    """What a plugin says of itself. No declared skills means the usual place, `skills/`."""

    name: str
    version: str
    description: str
    skills: tuple[str, ...]
    format: str
    problems: tuple[str, ...] = ()
    """What its format does not allow; it is a plugin all the same."""


def read_manifest(data: bytes, where: str, folder: str) -> PluginManifest | Diagnostic | None:
    """Read a manifest; None when the file is a `plugin.json` of some other kind."""
    fields, problem = _object(data)
    if where == _BARE and not _is_ours(fields, data):
        return None
    name = fields.get("name") or ""
    if not problem and not isinstance(name, str):
        problem = "name is not text"
    if problem:
        hint = "correct the manifest; until then its skills carry no plugin name"
        message = f"plugin manifest ignored: {problem}"
        return Diagnostic("SK095", "warning", message, where, hint=hint)
    return PluginManifest(
        name=one_line(name) or one_line(folder),
        version=_text(fields.get("version")),
        description=_text(fields.get("description")),
        # Agent Plugins fixes the place of skills, so a list there means nothing.
        skills=() if where == _BARE else _paths(fields.get("skills")),
        format=_FORMATS.get(where, "agent-plugins"),
        problems=_problems(fields) if where == _BARE else (),
    )


def _problems(fields: dict[str, Any]) -> tuple[str, ...]:
    """Hold an Agent Plugins manifest against its closed list of fields."""
    found = []
    if fields.get("$schema") not in SCHEMAS:
        found.append("its $schema is of a version that is not known here")
    if not NAME.match(_text(fields.get("name"))):
        found.append("its name is not 1 to 64 of a-z, 0-9, '.' and '-'")
    unknown = sorted(
        "".join(filter(str.isprintable, one_line(key[:MAX_NAME])))
        for key in fields
        if key not in FIELDS
    )
    if unknown:
        more = f" and {len(unknown) - MAX_PROBLEMS} more" if len(unknown) > MAX_PROBLEMS else ""
        found.append(
            f"fields that Agent Plugins does not have: {', '.join(unknown[:MAX_PROBLEMS])}{more}"
        )
    return tuple(found)


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
    kept = (
        posixpath.normpath(item) for item in items if isinstance(item, str) and _stays_inside(item)
    )
    return tuple(dict.fromkeys(kept))


def _stays_inside(path: str) -> bool:
    # Backslashes and drive letters are separators on another platform, so they are refused on all
    # of them.
    if not path.strip() or path.startswith(("/", "~")) or "\\" in path or path[1:2] == ":":
        return False
    return path.isprintable() and ".." not in path.split("/")
