"""The sidecar `agents/openai.yaml`: each field fails by itself, and what restricts fails to the
restrictive side.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any, NamedTuple

from metier.model import Diagnostic, Sidecar, Tool
from metier.standard.names import one_line
from metier.standard.needs import FALSE, TRUE, UNREADABLE
from metier.standard.plain_yaml import YamlValues, read_plain

PATH = "agents/openai.yaml"
MAX_BYTES = 64 * 1024

_LENGTHS = {"display_name": 64, "short_description": 1024, "default_prompt": 1024}
"""Characters, not bytes (CX-2)."""
_TOOL_LENGTHS = {
    "type": 64,
    "value": 1024,
    "description": 1024,
    "transport": 64,
    "command": 1024,
    "url": 1024,
}
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_DOUBTFUL = frozenset(("SK022", "SK023"))
"""Two readers can take a repeated key or an alias in two ways, so a policy beside one is not to be
relied on."""


class _Reading(NamedTuple):
    """The loaded file and the diagnostics so far."""

    loaded: YamlValues
    notes: list[Diagnostic]
    levels: int
    """How many folders above the skill its plugin's folder is; 0 outside plugins."""

    def note(self, code: str, path: str, message: str, hint: str = "") -> None:
        """Add a diagnostic at the nearest position known for a dotted path."""
        where = path
        while where and where not in self.loaded.spans:
            where = where.rpartition(".")[0]
        line, column = self.loaded.spans.get(where, (1, 1))
        self.notes.append(_warning(code, f"{path}: {message}", line, column, hint))


def _warning(code: str, message: str, line: int, column: int, hint: str = "") -> Diagnostic:
    return Diagnostic(code, "warning", message, PATH, line, column, hint=hint)


def read_sidecar(data: bytes | None, levels: int = 0) -> Sidecar:
    """Read what a skill's sidecar adds; None means that there is no such file.

    `levels` says how many folders above the skill its plugin's folder is, whose icons it may share;
    0 for a skill outside plugins.
    """
    if data is None:
        return Sidecar({}, (), allow_implicit=True, products=(), diagnostics=())
    loaded = _load(data)
    return _sidecar(loaded, levels) if isinstance(loaded, YamlValues) else unreadable(*loaded)


def _load(data: bytes) -> YamlValues | tuple[str, int, int]:
    """Give the file's values, or why and where it cannot be read."""
    if len(data) > MAX_BYTES:
        return f"larger than {MAX_BYTES // 1024} KiB", 1, 1
    try:
        loaded = _loaded(data.decode("utf-8-sig"))
    except UnicodeDecodeError as fault:
        return "not UTF-8", data.count(b"\n", 0, fault.start) + 1, 1
    if loaded.error is not None:
        message, line, column = loaded.error
        return f"not valid YAML: {message}", line, column
    for code, message, line, column in loaded.faults:
        if code == "SK026":
            return message, line, column
    return (
        loaded if isinstance(loaded.value, dict) or loaded.value == "" else ("not a mapping", 1, 1)
    )


def _loaded(text: str) -> YamlValues:
    """Read block mappings by the plain reader, which gives the same values and places; all else in
    full.
    """
    if "[" not in text and "{" not in text and "- " not in text and text.endswith("\n"):
        plain = read_plain(text)
        if plain is not None and plain[0]:
            return YamlValues(*plain, (), None)
    from metier.standard import full_yaml  # most sidecars are plain

    return full_yaml.load(text)


def unreadable(why: str, line: int = 1, column: int = 1) -> Sidecar:
    """Stand in for a sidecar that cannot be read: what it restricts is restricted."""
    message = (
        f"{PATH} ignored: {why}; its policy cannot be read, so the skill is used only when "
        f"asked for by name"
    )
    note = _warning("SK080", message, line, column, "correct the file, or delete it")
    return Sidecar({}, (), allow_implicit=False, products=(), diagnostics=(note,))


def _sidecar(loaded: YamlValues, levels: int) -> Sidecar:
    top = loaded.value or {}
    notes = [_warning(*fault) for fault in loaded.faults]
    reading = _Reading(loaded, notes, levels)
    interface = _interface(_mapping(top, "interface", reading), reading)
    tools = _tools(_mapping(top, "dependencies", reading).get("tools", ""), reading)
    allow, products = _policy(top.get("policy", ""), reading)
    return Sidecar(interface, tools, allow, products, tuple(notes))


def _mapping(top: dict[str, Any], key: str, reading: _Reading) -> dict[str, Any]:
    value = top.get(key, "")
    if isinstance(value, dict):
        return value
    if value != "":
        reading.note("SK081", key, "ignored: not a mapping")
    return {}


def _interface(fields: dict[str, Any], reading: _Reading) -> dict[str, str]:
    kept: dict[str, str] = {}
    for key in (
        "display_name",
        "short_description",
        "icon_small",
        "icon_large",
        "brand_color",
        "default_prompt",
    ):
        if key in fields:
            value = _interface_field(key, fields[key], reading)
            if value:
                kept[key] = value
    return kept


def _interface_field(key: str, value: object, reading: _Reading) -> str:
    path = f"interface.{key}"
    if key in _LENGTHS:
        return _text(value, path, _LENGTHS[key], reading)
    if not isinstance(value, str) or not value.strip():
        reading.note(
            "SK081", path, "ignored: " + ("empty" if isinstance(value, str) else "not text")
        )
        return ""
    value = value.strip()
    if key == "brand_color":
        if _COLOUR.fullmatch(value):
            return value
        reading.note(
            "SK083",
            path,
            f"ignored: expected #RRGGBB, got {_shown(value)}",
            "write six hexadecimal digits",
        )
        return ""
    icon, why = _icon(value, reading.levels)
    if why:
        reading.note(
            "SK082", path, f"ignored: {why}", "keep icons in the skill's own assets/ folder"
        )
    return icon


def _icon(path: str, levels: int) -> tuple[str, str]:
    """Give the icon's path without `./`, or why it is refused: an icon never lies outside `assets/`
    of the skill, or of the plugin so many levels above it (CX-16).
    """
    # A backslash or a drive letter leaves the folder on another platform, so both are refused on
    # all of them.
    if path.startswith("/") or "\\" in path or path[1:2] == ":" or not path.isprintable():
        return "", f"icon must be a relative path under assets/, not {_shown(path)}"
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts:
        shared = posixpath.normpath("/".join(parts))
        inside = shared.removeprefix("../" * levels)
        if levels and inside.startswith("assets/") and len(shared) - len(inside) == 3 * levels:
            return shared, ""
        return "", "icon path must not contain '..'"
    if len(parts) < 2 or parts[0] != "assets":
        return "", "icon path must be under assets/"
    return "/".join(parts), ""


def _tools(value: object, reading: _Reading) -> tuple[Tool, ...]:
    if not isinstance(value, list):
        if value != "":
            reading.note("SK081", "dependencies.tools", "ignored: not a list")
        return ()
    tools = (_tool(item, f"dependencies.tools.{at}", reading) for at, item in enumerate(value))
    return tuple(tool for tool in tools if tool)


def _tool(item: object, path: str, reading: _Reading) -> Tool | None:
    fields = item if isinstance(item, dict) else {}
    given = {key: fields[key] for key in _TOOL_LENGTHS if key in fields}
    texts = {
        key: _text(value, f"{path}.{key}", _TOOL_LENGTHS[key], reading)
        for key, value in given.items()
    }
    if texts.get("type") and texts.get("value"):
        return Tool(**texts)
    lacking = " and no ".join(key for key in ("type", "value") if not texts.get(key))
    reading.note("SK084", path, f"dropped: no {lacking}", "give each tool a type and a value")
    return None


def _policy(value: object, reading: _Reading) -> tuple[bool, tuple[str, ...]]:
    if value == "" and "policy" not in reading.loaded.spans:
        return True, ()
    doubtful = any(code in _DOUBTFUL for code, *_ in reading.loaded.faults)
    if doubtful or not (value == "" or isinstance(value, dict)):
        why = "uncertain beside a repeated key or an alias" if doubtful else "not a mapping"
        reading.note("SK085", "policy", f"{why}; the skill is used only when asked for by name")
    fields = value if isinstance(value, dict) else {}
    allow = value == "" or isinstance(value, dict)
    if "allow_implicit_invocation" in fields:
        allow = _allowed(fields["allow_implicit_invocation"], reading)
    return allow and not doubtful, _products(fields.get("products", []), reading)


def _allowed(value: object, reading: _Reading) -> bool:
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in TRUE and word not in FALSE:
        message = "neither true nor false; taken as false"
        reading.note("SK085", "policy.allow_implicit_invocation", message, "write true or false")
    return word in TRUE


def _products(value: object, reading: _Reading) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value):
        return tuple(dict.fromkeys(one_line(item).lower() for item in value))
    message = "not a list of names; the skill is offered to no product"
    reading.note("SK085", "policy.products", message, "write a list, or leave the key out")
    return (UNREADABLE,)  # a product that no agent is (MT-11)


def _text(value: object, path: str, limit: int, reading: _Reading) -> str:
    """Give a text field on one line, or '' with a diagnostic."""
    if not isinstance(value, str):
        reading.note("SK081", path, "ignored: not text")
        return ""
    line = one_line(value)
    if not line:
        reading.note("SK081", path, "ignored: empty")
    elif len(line) > limit:
        reading.note("SK081", path, f"ignored: longer than {limit} characters")
        return ""
    return line


def _shown(text: str) -> str:
    return repr(text if len(text) <= 64 else text[:63] + "…")
