"""What a skill asks of its surroundings, gathered from every dialect in use into two values.

`Gates` decide whether it is offered; `Needs` whether it is ready. A gate that cannot be read closes (decision 11).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from metier.model import Diagnostic, Gates, Needs, Sidecar
from metier.standard.rules import diagnose

UNREADABLE = "!unreadable"
"""Matches no platform, environment or product: what stands in for a gate that cannot be read."""

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off", ""})
_VENDORS = ("openclaw", "clawdbot", "moltbot", "clawdis")
KEYS = frozenset({
    "platforms", "environments", "disable-model-invocation", "prerequisites", "setup",
    "required_environment_variables", "required_credential_files", "x-requires-secrets", "requires-secrets",
})  # fmt: skip

DIALECTS = frozenset({"hermes", *_VENDORS})

Spans = Mapping[str, tuple[int, int]]


def read_needs(
    fields: Mapping[str, Any], spans: Spans, sidecar: Sidecar | None, file: str = "SKILL.md"
) -> tuple[Gates | None, Needs | None, list[Diagnostic]]:
    """Gather gates and needs; `None` for each that is empty, as for most skills."""
    if sidecar is None and KEYS.isdisjoint(fields):
        metadata = fields.get("metadata")
        if not isinstance(metadata, dict) or DIALECTS.isdisjoint(metadata):
            return None, None, []
    found: list[Diagnostic] = []
    gates = _gates(fields, spans, sidecar, file, found)
    needs = _needs(fields, sidecar)
    return (None if gates == Gates() else gates), (None if needs == Needs() else needs), found


def _gates(
    fields: Mapping[str, Any], spans: Spans, sidecar: Sidecar | None, file: str, found: list[Diagnostic]
) -> Gates:
    hermes = _map(_map(fields.get("metadata")).get("hermes"))

    def words(key: str, value: Any) -> tuple[str, ...]:
        if value is None or value == "":
            return ()
        listed = _texts(value)
        if listed is None:
            line, column = spans.get(key, (1, 1))
            message = f"'{key}' must be a list of words; the skill is held back until it can be read."
            found.append(diagnose("SK061", message, path=file, line=line, column=column))
            return (UNREADABLE,)
        return listed

    platforms = _lowered(words("platforms", fields.get("platforms")))
    for vendor in _VENDORS:
        platforms += _lowered(words(f"metadata.{vendor}.os", _map(_map(fields.get("metadata")).get(vendor)).get("os")))
    return Gates(
        platforms,
        _lowered(words("environments", fields.get("environments", hermes.get("environments")))),
        sidecar.products if sidecar else (),
        words("metadata.hermes.requires_tools", hermes.get("requires_tools")),
        words("metadata.hermes.requires_toolsets", hermes.get("requires_toolsets")),
        words("metadata.hermes.fallback_for_tools", hermes.get("fallback_for_tools")),
        words("metadata.hermes.fallback_for_toolsets", hermes.get("fallback_for_toolsets")),
        _model_hidden(fields, spans, sidecar, file, found),
    )


def _model_hidden(
    fields: Mapping[str, Any], spans: Spans, sidecar: Sidecar | None, file: str, found: list[Diagnostic]
) -> str:
    value = fields.get("disable-model-invocation", "")
    word = value.strip().lower() if isinstance(value, str) else UNREADABLE
    if word not in _FALSE and word not in _TRUE:
        line, column = spans.get("disable-model-invocation", (1, 1))
        message = "'disable-model-invocation' must be true or false; taken as true."
        found.append(diagnose("SK061", message, path=file, line=line, column=column))
    if word not in _FALSE:
        return "disable-model-invocation"
    return "policy.allow_implicit_invocation" if sidecar and not sidecar.allow_implicit else ""


def _needs(fields: Mapping[str, Any], sidecar: Sidecar | None) -> Needs:
    prerequisites = _map(fields.get("prerequisites"))
    setup = _map(fields.get("setup"))
    metadata = _map(fields.get("metadata"))
    env: list[str] = []
    helps: list[str] = []
    _declared_variables(fields.get("required_environment_variables"), env, helps)
    _declared_variables(setup.get("collect_secrets"), env, helps)
    _declared_variables(prerequisites.get("env_vars"), env, helps)
    for key in ("x-requires-secrets", "requires-secrets"):
        env += [word.strip().upper().replace("-", "_") for word in _texts(fields.get(key)) or ()]
    commands = list(_texts(prerequisites.get("commands")) or ())
    for vendor in _VENDORS:
        requires = _map(_map(metadata.get(vendor)).get("requires"))
        env += _texts(requires.get("env")) or ()
        commands += _texts(requires.get("bins")) or ()
        either = _texts(requires.get("anyBins")) or ()
        commands += ["|".join(either)] if either else []
    tools: list[str] = []
    for tool in sidecar.tools if sidecar else ():
        (env if tool.type == "env_var" else tools if tool.type == "mcp" else []).append(tool.value)
    if isinstance(setup.get("help"), str):
        helps.insert(0, setup["help"])
    files = _credential_files(fields.get("required_credential_files"))
    return Needs(_unique(name for name in env if _ENV_NAME.match(name)), files, _unique(commands), _unique(tools),
                 "\n".join(_unique(helps)))  # fmt: skip


def _declared_variables(value: Any, env: list[str], helps: list[str]) -> None:
    """Take names and help texts, written as words or as maps (HE-19). An optional one is not needed."""
    for item in value if isinstance(value, list) else _texts(value) or ():
        if isinstance(item, str):
            env.append(item)
        elif isinstance(item, dict):
            name = item.get("name") or item.get("env_var")
            if isinstance(name, str) and str(item.get("optional", "")).lower() not in _TRUE:
                env.append(name)
                text = item.get("help") or item.get("provider_url") or item.get("url") or item.get("prompt")
                helps += [f"{name}: {text}"] if isinstance(text, str) and text else []


def _credential_files(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else _texts(value) or ()
    paths = (item.get("path") if isinstance(item, dict) else item for item in items)
    return _unique(path for path in paths if isinstance(path, str) and path)


def _lowered(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...] | None:
    """Read a list of words, or one text with commas or spaces; `None` when it is neither."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(word for word in re.split(r"[,\s]+", value) if word)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(item.strip() for item in value if item.strip())
    return None


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
