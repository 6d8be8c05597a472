"""What a skill asks of its surroundings, gathered from every dialect in use into two values.

`Gates` decide whether it is offered; `Needs` whether it is ready. A gate that cannot be read closes (decision 11); a need that
cannot be read is none. Where needs come from:

- variables: see `standard.asks`
- files: `required_credential_files`
- commands: `prerequisites.commands`, `requires.bins`, `requires.binaries`, `requires.anyBins`, `compatibility`, and what
  `dependencies` lists though it is a well-known command
- Python packages: `dependencies`, `requires.pip`
- MCP servers: the sidecar's `dependencies.tools`, `requires.mcp`, `compatibility`
- tools: `requires.tools`
- other skills: `requires.skills`, `requires_skills`, `requires-skills`, `depends-on`, `depends_on`, and
  `metadata.hermes.requires_skills`
- operating systems: `compatibility`, for what its words say; `platforms` is a gate

`requires` stands at the top or below `metadata.VENDOR`. What a vendor's `install` says is help for a person, and never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from metier.model import Diagnostic, Gates, Needs, Sidecar, Tool
from metier.standard.asks import (
    FALSE,
    MOST_WORDS,
    TRUE,
    VENDORS,
    asks_in,
    helps_of,
    mapping as _map,
    requirements,
    texts as _texts,
    vendors_of,
)
from metier.standard.distributions import normalised
from metier.standard.names import one_line
from metier.standard.rules import diagnose

UNREADABLE = "!unreadable"
"""Matches no platform, environment or product: what stands in for a gate that cannot be read."""

SKILL_KEYS = ("requires_skills", "requires-skills", "depends-on", "depends_on")
KEYS = frozenset({
    "platforms", "environments", "disable-model-invocation", "prerequisites", "setup", "compatibility", "dependencies", "requires",
    "required_environment_variables", "required_credential_files", "x-requires-secrets", "requires-secrets", *SKILL_KEYS,
})  # fmt: skip

DIALECTS = frozenset({"hermes", *VENDORS})
MOST = 200
"""Needs of one kind that are kept: no honest skill has so many."""

_TRUE, _FALSE = TRUE, FALSE | {""}
_PACKAGE = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)\s?(?:\[[^\[\]]{0,200}\])?\s?(?:[<>=!~@(][^;]{0,200})?", re.ASCII
)
_SKILL = re.compile(r"[A-Za-z0-9][\w:.-]{0,128}")
_NOT_PACKAGES = frozenset({"python", "python2", "python3", "none", "null", "nil", "n-a", "na", "optional", "pip", "stdlib", *TRUE,
                           *FALSE})  # fmt: skip
_ANOTHER_WORLD = frozenset({
    "angular", "electron", "eslint", "express", "framer-motion", "jest", "next", "nextjs", "nuxt", "react", "react-dom",
    "remotion", "svelte", "tailwindcss", "three", "typescript", "vite", "vitest", "vue", "webpack",
})  # fmt: skip
"""Where one of these is listed, the list is one of JavaScript packages."""

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
    metadata = _map(fields.get("metadata"))
    for vendor in VENDORS:
        if vendor in metadata:
            platforms += _lowered(words(f"metadata.{vendor}.os", _map(metadata[vendor]).get("os")))
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
    vendors = vendors_of(fields)
    tables = requirements(fields, vendors)
    asks = asks_in(fields, sidecar, vendors, tables)
    packages, commands = _dependencies(fields["dependencies"]) if "dependencies" in fields else ([], [])
    commands = [*(_texts(_map(fields.get("prerequisites")).get("commands")) or ()), *_bins(tables), *commands]
    servers = [server_text(tool) for tool in sidecar.tools if tool.type == "mcp"] if sidecar else []
    servers += [word for table in tables for word in _texts(table.get("mcp")) or ()]
    systems: tuple[str, ...] = ()
    if isinstance(fields.get("compatibility"), str):
        from metier.standard.compatibility import read_compatibility  # few skills have such a text

        _env, more, named, systems = read_compatibility(fields["compatibility"])
        commands, servers = [*commands, *more], [*servers, *named]
    for table in tables:
        packages += [name for item in _texts(table.get("pip")) or () if (name := _package(item))]
    return Needs(
        _unique(ask.name for ask in asks if not ask.optional), _credential_files(fields.get("required_credential_files")),
        _unique(commands), _unique(word for table in tables for word in _texts(table.get("tools")) or ()),
        _helps(fields, sidecar, helps_of(asks), vendors), _unique(packages), _unique(servers), _unique(_skills(fields, tables)),
        systems,
    )  # fmt: skip


def _bins(tables: Iterable[Mapping[str, Any]]) -> list[str]:
    found: list[str] = []
    for table in tables:
        found += [*(_texts(table.get("bins")) or ()), *(_texts(table.get("binaries")) or ())]
        either = _texts(table.get("anyBins")) or ()
        found += ["|".join(either)] if either else []
    return found


def _skills(fields: Mapping[str, Any], tables: Iterable[Mapping[str, Any]]) -> list[str]:
    hermes = _map(_map(fields.get("metadata")).get("hermes"))
    written = [table.get("skills") for table in tables] + [fields[key] for key in SKILL_KEYS if key in fields]
    written.append(hermes.get("requires_skills"))
    return [word for value in written for word in _texts(value) or () if _SKILL.fullmatch(word)]


def _dependencies(value: Any) -> tuple[list[str], list[str]]:
    """Read `dependencies`: Python packages, and commands that are known as such; nothing when it is about something else."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("packages", "pip", "python") if isinstance(value.get(key), list)), [])
    if isinstance(value, str):
        value = re.split(r"[,\n]", value.strip().removeprefix("[").removesuffix("]")[:10_000])
        value = _joined(value) if any(item.count("[") > item.count("]") for item in value) else value
    items = [item.strip() for item in value if isinstance(item, str)] if isinstance(value, list) else []
    names = [name for item in items if (name := _package(item))]
    if any(item.startswith("@") for item in items) or not _ANOTHER_WORLD.isdisjoint(names):
        return [], []
    from metier.standard.compatibility import COMMANDS  # few skills have dependencies

    packages = [name for name in names if name not in COMMANDS]
    return packages, [COMMANDS[name] for name in names if name in COMMANDS]


def _joined(items: list[str]) -> list[str]:
    """Put `ray[data, train]` together again after a split at commas."""
    found: list[str] = []
    for item in items:
        if found and found[-1].count("[") > found[-1].count("]"):
            found[-1] += "," + item
        else:
            found.append(item)
    return found


def _package(item: str) -> str:
    """Give the normalised name of a requirement; nothing when it is not one, or is Python itself.

    One with an environment marker is needed only somewhere, a number is a version, and `x-cli` is a command from anywhere.
    """
    found = _PACKAGE.fullmatch(item.strip())
    name = normalised(found[1]) if found else ""
    is_package = name not in _NOT_PACKAGES and not name.endswith("-cli") and any(char.isalpha() for char in name)
    return name if is_package else ""


def server_text(tool: Tool) -> str:
    """Give an MCP server as `Needs` holds it: its name, and after a `|` its identity."""
    identity = server_identity(tool)
    return f"{tool.value}|{identity}" if identity else tool.value


def server_identity(tool: Tool) -> str:
    """Give `mcp__{transport}__{url or command}` (CX-50); nothing when what the transport needs is not said."""
    transport = tool.transport or "streamable_http"
    place = tool.command if transport == "stdio" else tool.url
    return f"mcp__{transport}__{place}" if place else ""


def _helps(fields: Mapping[str, Any], sidecar: Sidecar | None, helps: list[str], vendors: list[dict[str, Any]]) -> str:
    """Join what the skill itself says about getting ready."""
    told = _map(fields.get("setup")).get("help")
    first = [told] if isinstance(told, str) and told else []
    tools = sidecar.tools if sidecar else ()
    clis = [f"{tool.value}: {tool.description}" for tool in tools if tool.type == "cli" and tool.description]
    installs = [_install(step) for vendor in vendors if isinstance(some := vendor.get("install"), list) for step in some]
    return "\n".join(_unique(text[:MOST_WORDS] for text in (*first, *helps, *clis, *installs) if text))


def _install(step: Any) -> str:
    """Say how a vendor would install what is missing. It is never done here."""
    if not isinstance(step, dict):
        return ""
    label = step.get("label")
    if isinstance(label, str) and label.strip():
        return one_line(label[:200])
    kind, what = step.get("kind"), step.get("package") or step.get("formula") or step.get("module")
    return one_line(f"{kind[:40]} install {what[:160]}") if isinstance(kind, str) and isinstance(what, str) else ""


def _credential_files(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list) else _texts(value) or ()
    paths = (item.get("path") if isinstance(item, dict) else item for item in items)
    return _unique(path for path in paths if isinstance(path, str) and path)


def _lowered(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))[:MOST]
