"""Reads what a skill asks of its surroundings from every dialect in use, the variables that a
person is asked for among the rest. Pure.

`Gates` decide whether it is offered; `Needs` whether it is ready. A gate that cannot be read closes
(MT-11); a need that cannot be read is none. Where needs come from:

- variables: see `asks_of`
- files: `required_credential_files`
- commands: `prerequisites.commands`, `requires.bins`, `requires.binaries`, `requires.anyBins`,
  `compatibility`, and what `dependencies` lists though it is a well-known command
- Python packages: `dependencies`, `requires.pip`
- MCP servers: the sidecar's `dependencies.tools`, `requires.mcp`, `compatibility`
- tools: `requires.tools`
- other skills: see `standard.requirements`
- operating systems: `compatibility`, for what its words say; `platforms` is a gate

The tools that it asks to use without being asked stand in `allowed-tools` (`split_tools`).

`requires` stands at the top or below `metadata.VENDOR`. What a vendor's `install` says is help for
a person, and never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.model import Diagnostic, Gates, Needs, Sidecar, Tool
from metier.standard.names import one_line
from metier.standard.plain_text import normalised, words
from metier.standard.rules import FileNotes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.model import JsonObject, Texts


VENDORS = ("openclaw", "clawdbot", "moltbot", "clawdis", "clawdhub", "nanobot", "otto", "vikingbot")
"""Whose `metadata.NAME.requires` has one and the same form."""
TRUE = frozenset({"true", "yes", "on"})
FALSE = frozenset({"false", "no", "off"})
MOST_NAME = 128
MOST_WORDS = 500
"""Characters of a prompt or a help text that are kept."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ZEPH = "ZEPH_SECRET_"


Fields = Mapping[str, Any]
Tables = list[dict[str, Any]]


class Ask(NamedTuple):
    """A variable that a skill declares, and what it says about it. The texts are untrusted, one
    line each.
    """

    name: str
    prompt: str = ""
    help: str = ""
    url: str = ""
    required_for: str = ""
    secret: bool = True
    optional: bool = False
    problem: str = ""
    """What was wrong with the last answer, when it is asked for again."""


def asks_of(fields: Fields, sidecar: Sidecar | None) -> tuple[Ask, ...]:
    """Gather every variable that a skill declares; the first declaration of a name wins (HE-19)."""
    vendors = vendors_of(fields)
    return asks_in(fields, sidecar, vendors, requirements(fields, vendors))


def asks_in(
    fields: Fields, sidecar: Sidecar | None, vendors: Tables, tables: Tables
) -> tuple[Ask, ...]:
    """Gather the same from a skill whose tables were taken apart already."""
    found: dict[str, Ask] = {}
    for ask in _declared(fields, sidecar, vendors, tables):
        if len(ask.name) <= MOST_NAME and _NAME.fullmatch(ask.name):
            found.setdefault(ask.name, ask)
    return tuple(found.values())


def _declared(
    fields: Fields, sidecar: Sidecar | None, vendors: Tables, tables: Tables
) -> Iterator[Ask]:
    yield from _listed(fields.get("required_environment_variables"))
    if "setup" in fields or "prerequisites" in fields:
        yield from _listed(mapping(fields.get("setup")).get("collect_secrets"))
        yield from _listed(mapping(fields.get("prerequisites")).get("env_vars"))
    for key in ("x-requires-secrets", "requires-secrets"):
        for word in texts(fields[key]) or () if key in fields else ():
            yield Ask(word.upper().replace("-", "_").removeprefix(_ZEPH))  # ZE-42
    for requires in tables:
        yield from _listed(requires.get("env"))
    for tool in sidecar.tools if sidecar else ():
        if tool.type == "env_var":
            yield Ask(tool.value, tool.description)
    if isinstance(fields.get("compatibility"), str):
        from metier.standard.compatibility import read_compatibility  # few skills have such a text

        yield from (Ask(name) for name in read_compatibility(fields["compatibility"]).env)
    for vendor in vendors:
        yield from (Ask(word, optional=True) for word in texts(vendor.get("primaryEnv")) or ())


def _listed(value: Any) -> Iterator[Ask]:
    """Read variables that are written as words or as maps."""
    if value is None:
        return
    for item in value if isinstance(value, list) else texts(value) or ():
        if isinstance(item, str):
            yield Ask(item.strip())
        elif isinstance(item, dict):
            name = item.get("name") or item.get("env_var")
            if isinstance(name, str):
                prompt, help_, needed_for = (
                    _words(item.get(key)) for key in ("prompt", "help", "required_for")
                )
                url = _words(item.get("provider_url") or item.get("url"))
                secret = str(item.get("secret", "")).strip().lower() not in FALSE
                optional = str(item.get("optional", "")).strip().lower() in TRUE
                yield Ask(
                    name=name.strip(),
                    prompt=prompt,
                    help=help_,
                    url=url,
                    required_for=needed_for,
                    secret=secret,
                    optional=optional,
                )


def helps_of(asks: Iterable[Ask]) -> list[str]:
    """Give what to do about each variable that is needed, as far as the skill says it."""
    told = ((ask.name, ask.help or ask.url or ask.prompt) for ask in asks if not ask.optional)
    return [f"{name}: {text}" for name, text in told if text]


def vendors_of(fields: Fields) -> Tables:
    """List the tables that vendors have below `metadata`."""
    metadata = fields.get("metadata")
    if not isinstance(metadata, dict):
        return []
    return [
        table
        for vendor in VENDORS
        if vendor in metadata and isinstance(table := metadata[vendor], dict)
    ]


def requirements(fields: Fields, vendors: Tables) -> Tables:
    """List every table of requirements: `requires` at the top, and `metadata.VENDOR.requires`."""
    return [table for one in (fields, *vendors) if isinstance(table := one.get("requires"), dict)]


def mapping(value: Any) -> JsonObject:
    """Give a map; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def texts(value: Any) -> Texts | None:
    """Read a list of words, or one text with commas or spaces; `None` when it is neither."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(word for word in re.split(r"[,\s]+", value) if word)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(item.strip() for item in value if item.strip())
    return None


def _words(value: Any) -> str:
    return one_line(value[:MOST_WORDS]) if isinstance(value, str) else ""


# --- gates and needs

UNREADABLE = "!unreadable"
"""Matches no platform, environment or product: what stands in for a gate that cannot be read."""

POLICY = "policy.allow_implicit_invocation"
"""The field of a sidecar that keeps a skill from being offered to a model."""
SKILL_KEYS = ("requires_skills", "requires-skills", "depends-on", "depends_on")
_NAMING_KEYS = frozenset({*SKILL_KEYS, "requires", "dependencies"})
"""Fields, at the top or in `metadata`, that may name skills."""
KEYS = words(
    "platforms environments disable-model-invocation prerequisites setup compatibility "
    "dependencies requires required_environment_variables required_credential_files "
    "x-requires-secrets requires-secrets"
) | {*SKILL_KEYS}

DIALECTS = frozenset({"hermes", *VENDORS})
MAX_FAULTS = 20
"""Entries that are told of because they cannot be read."""
MOST = 200
"""Needs of one kind that are kept: no honest skill has so many."""

_PACKAGE = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?)\s?(?:\[[^\[\]]{0,200}\])?\s?(?:[<>=!~@(][^;]{0,200})?",
    re.ASCII,
)
_NOT_PACKAGES = (
    words("python python2 python3 none null nil n-a na optional pip stdlib") | TRUE | FALSE
)
_ANOTHER_WORLD = words(
    "angular electron eslint express framer-motion jest next nextjs nuxt react react-dom "
    "remotion svelte tailwindcss three typescript vite vitest vue webpack"
)
"""Where one of these is listed, the list is one of JavaScript packages."""

Spans = Mapping[str, tuple[int, int]]


def read_needs(
    fields: Fields, spans: Spans, sidecar: Sidecar | None, file: str = "SKILL.md"
) -> tuple[Gates | None, Needs | None, list[Diagnostic]]:
    """Gather gates and needs; `None` for each that is empty, as for most skills."""
    if sidecar is None and KEYS.isdisjoint(fields):
        metadata = fields.get("metadata")
        if not isinstance(metadata, dict) or (
            DIALECTS.isdisjoint(metadata)
            and _NAMING_KEYS.isdisjoint(metadata)
            and not any(isinstance(one, dict) for one in metadata.values())
        ):
            return None, None, []
    notes = FileNotes(file, spans)
    gates = _gates(fields, sidecar, notes)
    needs = _needs(fields, sidecar, notes)
    return (None if gates == Gates() else gates), (None if needs == Needs() else needs), notes


def _gates(fields: Fields, sidecar: Sidecar | None, notes: FileNotes) -> Gates:
    metadata = mapping(fields.get("metadata"))
    hermes = mapping(metadata.get("hermes"))

    def read(key: str, value: Any) -> Texts:
        if value is None or value == "":
            return ()
        listed = texts(value)
        if listed is None:
            message = (
                f"'{key}' must be a list of words; the skill is held back until it can be read."
            )
            notes.add_at(key, "SK061", message)
            return (UNREADABLE,)
        return listed

    def of_hermes(key: str) -> Texts:
        return read(f"metadata.hermes.{key}", hermes.get(key))

    platforms = read("platforms", fields.get("platforms"))
    for vendor in VENDORS:
        if vendor in metadata:
            platforms += read(f"metadata.{vendor}.os", mapping(metadata[vendor]).get("os"))
    environments = fields.get("environments", hermes.get("environments"))
    return Gates(
        platforms=tuple(map(str.lower, platforms)),
        environments=tuple(map(str.lower, read("environments", environments))),
        products=sidecar.products if sidecar else (),
        requires_tools=of_hermes("requires_tools"),
        requires_toolsets=of_hermes("requires_toolsets"),
        fallback_for_tools=of_hermes("fallback_for_tools"),
        fallback_for_toolsets=of_hermes("fallback_for_toolsets"),
        model_hidden=_model_hidden(fields, sidecar, notes),
    )


def _model_hidden(fields: Fields, sidecar: Sidecar | None, notes: FileNotes) -> str:
    key = "disable-model-invocation"
    value = fields.get(key, "")
    word = value.strip().lower() if isinstance(value, str) else UNREADABLE
    if word in FALSE or not word:
        return POLICY if sidecar and not sidecar.allow_implicit else ""
    if word not in TRUE:
        notes.add_at(key, "SK061", f"'{key}' must be true or false; taken as true.")
    return key


def _needs(fields: Fields, sidecar: Sidecar | None, notes: FileNotes) -> Needs:
    vendors = vendors_of(fields)
    tables = requirements(fields, vendors)
    asks = asks_in(fields, sidecar, vendors, tables)
    packages, commands = (
        _dependencies(fields["dependencies"]) if "dependencies" in fields else ([], [])
    )
    commands = [
        *(texts(mapping(fields.get("prerequisites")).get("commands")) or ()),
        *_bins(tables),
        *commands,
    ]
    servers = [server_text(tool) for tool in sidecar.tools if tool.type == "mcp"] if sidecar else []
    servers += _words_in(tables, "mcp")
    systems: Texts = ()
    if isinstance(fields.get("compatibility"), str):
        from metier.standard.compatibility import read_compatibility  # few skills have such a text

        _env, more, named, systems = read_compatibility(fields["compatibility"])
        commands = [*commands, *more]
        servers = [*servers, *named]
    packages += [name for item in _words_in(tables, "pip") if (name := _package(item))]
    return Needs(
        env=_unique(ask.name for ask in asks if not ask.optional),
        files=_credential_files(fields.get("required_credential_files")),
        commands=_unique(commands),
        tools=_unique(_words_in(tables, "tools")),
        help=_helps(fields, sidecar, helps_of(asks), vendors),
        packages=_unique(packages),
        servers=_unique(servers),
        skills=_unique(_skills(fields, notes)),
        systems=systems,
    )


def _words_in(tables: Tables, key: str) -> list[str]:
    return [word for table in tables for word in texts(table.get(key)) or ()]


def _bins(tables: Tables) -> list[str]:
    found: list[str] = []
    for table in tables:
        found += [*(texts(table.get("bins")) or ()), *(texts(table.get("binaries")) or ())]
        either = texts(table.get("anyBins")) or ()
        found += ["|".join(either)] if either else []
    return found


def _skills(fields: Fields, notes: FileNotes) -> list[str]:
    """Give the names of the skills that it needs; what cannot be read is noted."""
    metadata = fields.get("metadata")
    inner = metadata if isinstance(metadata, dict) else {}
    tables = [fields, inner, *(one for one in inner.values() if isinstance(one, dict))]
    if all(_NAMING_KEYS.isdisjoint(table) for table in tables):
        return []
    from metier.standard.requirements import read_requirements  # few skills need others

    found = read_requirements(fields)
    for fault in found.faults[:MAX_FAULTS]:
        notes.add_at(fault.field.partition(".")[0], fault.code, f"'{fault.field}': {fault.why}.")
    return [one.name for one in found.skills]


def _dependencies(value: Any) -> tuple[list[str], list[str]]:
    """Read `dependencies`: Python packages, and commands that are known as such; nothing when it is
    about something else.
    """
    if isinstance(value, dict):
        value = next(
            (
                value[key]
                for key in ("packages", "pip", "python")
                if isinstance(value.get(key), list)
            ),
            [],
        )
    if isinstance(value, str):
        value = re.split(r"[,\n]", value.strip().removeprefix("[").removesuffix("]")[:10_000])
        value = (
            _joined(value) if any(item.count("[") > item.count("]") for item in value) else value
        )
    items = (
        [item.strip() for item in value if isinstance(item, str)] if isinstance(value, list) else []
    )
    items = [item for item in items if not item.startswith("skill:")]
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

    One with an environment marker is needed only somewhere, a number is a version, and `x-cli` is a
    command from anywhere.
    """
    found = _PACKAGE.fullmatch(item.strip())
    name = normalised(found[1]) if found else ""
    is_package = (
        name not in _NOT_PACKAGES
        and not name.endswith("-cli")
        and any(char.isalpha() for char in name)
    )
    return name if is_package else ""


def server_text(tool: Tool) -> str:
    """Give an MCP server as `Needs` holds it: its name, and after a `|` its identity."""
    identity = server_identity(tool)
    return f"{tool.value}|{identity}" if identity else tool.value


def server_identity(tool: Tool) -> str:
    """Give `mcp__{transport}__{url or command}` (CX-50); nothing when what the transport needs is
    not said.
    """
    transport = tool.transport or "streamable_http"
    place = tool.command if transport == "stdio" else tool.url
    return f"mcp__{transport}__{place}" if place else ""


def _helps(
    fields: Fields,
    sidecar: Sidecar | None,
    helps: list[str],
    vendors: Tables,
) -> str:
    """Join what the skill itself says about getting ready."""
    told = mapping(fields.get("setup")).get("help")
    first = [told] if isinstance(told, str) and told else []
    tools = sidecar.tools if sidecar else ()
    clis = [
        f"{tool.value}: {tool.description}"
        for tool in tools
        if tool.type == "cli" and tool.description
    ]
    installs = [
        _install(step)
        for vendor in vendors
        if isinstance(some := vendor.get("install"), list)
        for step in some
    ]
    return "\n".join(
        _unique(text[:MOST_WORDS] for text in (*first, *helps, *clis, *installs) if text)
    )


def _install(step: Any) -> str:
    """Say how a vendor would install what is missing. It is never done here."""
    if not isinstance(step, dict):
        return ""
    label = step.get("label")
    if isinstance(label, str) and label.strip():
        return one_line(label[:200])
    kind = step.get("kind")
    what = step.get("package") or step.get("formula") or step.get("module")
    return (
        one_line(f"{kind[:40]} install {what[:160]}")
        if isinstance(kind, str) and isinstance(what, str)
        else ""
    )


def _credential_files(value: Any) -> Texts:
    items = value if isinstance(value, list) else texts(value) or ()
    paths = (item.get("path") if isinstance(item, dict) else item for item in items)
    return _unique(path for path in paths if isinstance(path, str) and path)


def _unique(items: Iterable[str]) -> Texts:
    return tuple(dict.fromkeys(items))[:MOST]


# --- the tools that it may use


def split_tools(value: object) -> tuple[tuple[str, ...], str]:
    """Give the tools a value names, and what is wrong with it ('' when nothing is)."""
    if value is None:
        return (), ""
    if isinstance(value, str):
        return _tools_in(value)
    if isinstance(value, (list, tuple)):
        return _tools_listed(value)
    return (), "allowed-tools must be a list, or text separated by spaces or commas"


def _tools_listed(items: list[object] | tuple[object, ...]) -> tuple[tuple[str, ...], str]:
    tools: list[str] = []
    problem = ""
    for item in items:
        if not isinstance(item, str):
            problem = problem or "allowed-tools has an item that is not text"
            continue
        tool = " ".join(item.split())
        if tool:
            tools.append(tool)
            problem = problem or _balance(tool)
    return tuple(tools), problem


def _tools_in(text: str) -> tuple[tuple[str, ...], str]:
    """Cut at spaces and commas outside parentheses: `Bash(git:*, npm run x)` is one tool (MT-19, ZE-16).

    After a parenthesis that never closes, all that follows stays one piece: it then names no tool,
    and grants nothing.
    """
    tools: list[str] = []
    start = depth = 0
    for at, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        elif depth == 0 and (char == "," or char.isspace()):
            tools.append(text[start:at])
            start = at + 1
    tools.append(text[start:])
    return tuple(" ".join(tool.split()) for tool in tools if tool.strip()), _balance(text)


def _balance(text: str) -> str:
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return "allowed-tools closes a parenthesis that it never opened"
    return "allowed-tools opens a parenthesis that it never closes" if depth else ""
