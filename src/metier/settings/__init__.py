"""Defaults < organisation < user < project < environment < flags → one frozen `Settings`. Pure: texts in, value out.

A project's file may only narrow what its user allows; whatever else it asks for is reported and ignored.
"""

from __future__ import annotations

from metier.closest import closest
from metier.errors import ConfigError
from metier.light import TYPE_CHECKING, NamedTuple
from metier.model import SCOPES, Limits, Problem
from metier.settings.tables import MOST_WEIGHT, PROMPT_ORDER, Managing, Plugging, Prompting, Routing, Running, Serving, Supply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Literal

    from metier.model import Scope

    Layer = Literal["organisation", "user", "project", "session"]
else:
    Layer = str

__all__ = ["ELSEWHERE", "MOST_WEIGHT", "PROMPT_ORDER", "Layer", "Managing", "Plugging", "Prompting", "Routing", "Rule", "Running",
           "Serving", "Settings", "Source", "Supply", "known_keys", "merge", "place_of", "wrong"]  # fmt: skip


class Rule(NamedTuple):
    """Show or hide skills by path or by name (CX-38)."""

    enabled: bool
    path: str = ""
    name: str = ""
    told_by: str = ""


class Settings(NamedTuple):
    """Everything that configuration decides."""

    external_dirs: tuple[str, ...] = ()
    root_markers: tuple[str, ...] = (".git",)
    precedence: tuple[Scope, ...] = SCOPES
    on_collision: str = "first"
    """`first`: a plain name means the strongest copy. `refuse`: a name with several copies is an error."""
    hide_unready: bool = False
    allow_without_frontmatter: bool = False
    host_platform: str = ""
    """The surface an agent runs on (telegram, cli, …), for skills disabled on it (HE-14)."""
    environments: tuple[str, ...] = ()
    """What is true of where the agent runs (docker, kanban, …), for skills offered only there (HE-13)."""
    tools: tuple[str, ...] | None = None
    toolsets: tuple[str, ...] | None = None
    """What the agent has; `None` when it is not known, and then nothing is hidden for it (HE-24)."""
    disabled: tuple[str, ...] = ()
    platform_disabled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rules: tuple[Rule, ...] = ()
    limits: Limits = Limits()
    project_limits: Limits | None = None
    """What a project asks for its own folders; it cannot narrow the walk over its user's."""
    problems: tuple[Problem, ...] = ()
    """What a project's file asked for and may not have."""
    scan_rules: tuple[tuple[str, str], ...] = ()
    """Files with rules of one's own for a scan, each after the configuration file that names it."""
    prompt: Prompting = Prompting()
    secret_store: str = ""
    """Where a secret is kept that a person gives: `session`, `file` or `keyring`; nothing lets the door choose."""
    secrets_refused: tuple[str, ...] = ()
    """Variables that no skill is given, beyond those that none ever is."""
    inline_shell: bool = False
    """Whether a body's inline shell is run, in the sandbox and for approved bytes alone (HE-22)."""
    skill_values: tuple[tuple[str, str], ...] = ()
    """What the user sets for skills that ask for configuration (HE-23)."""
    mcp_servers: tuple[str, ...] | None = None
    """The MCP servers that the agent has, by name or identity; `None` when it is not known."""
    manage: Managing = Managing()
    route: Routing = Routing()
    supply: Supply = Supply()
    plugins: Plugging = Plugging()
    run: Running = Running()
    mcp: Serving = Serving()
    usage: bool = True
    """Whether it is counted, on this machine alone, how often each skill is used."""


_TOP = ("external_dirs", "root_markers", "precedence", "on_collision", "hide_unready", "allow_without_frontmatter",
        "host_platform", "environments", "tools", "toolsets", "skills", "limits", "trust", "scan", "prompt", "secrets",
        "inline_shell", "skill_values", "mcp_servers", "manage", "route", "supply", "plugins", "run",
        "mcp", "usage")  # fmt: skip
_SCAN = ("rules",)
_SKILLS = ("disabled", "platform_disabled", "config")
_RULE = ("path", "name", "enabled")
_NARROW_TO: dict[str, Any] = {"on_collision": "refuse", "hide_unready": True, "inline_shell": False, "usage": False}
"""What a project may say of these, and nothing else: the narrower of two values."""
_COLLISIONS = ("first", "refuse")
ELSEWHERE = "trust"
"""A table that is read when a decision needs it (`trust/config.py`): what is wrong with it is said there."""


class Source(NamedTuple):
    """One configuration file, already parsed; its text serves to point at lines."""

    layer: Layer
    path: str
    text: str
    values: Mapping[str, Any]


def merge(sources: Iterable[Source], session_rules: tuple[Rule, ...] = ()) -> Settings:
    """Lay the sources over the defaults, weakest first."""
    settings = Settings()
    for source in sources:
        settings = _narrowed(settings, source) if source.layer == "project" else _laid(settings, source)
    return settings._replace(rules=settings.rules + session_rules) if session_rules else settings


def _laid(settings: Settings, source: Source) -> Settings:
    known_keys(source, source.values, _TOP, "")
    changes: dict[str, Any] = {}
    for key, value in source.values.items():
        if key == "skills":
            changes.update(_skills(settings, source, value))
        elif key == "limits":
            changes["limits"] = _limits(settings.limits, source, value)
        elif key == "scan":
            changes["scan_rules"] = settings.scan_rules + _scan(source, value)
        elif key == "secrets":
            changes.update(_secrets(settings, source, value))
        elif key == "skill_values":
            changes["skill_values"] = tuple({**dict(settings.skill_values), **_flat(source, value)}.items())
        elif key in _TABLES:
            changes[key] = getattr(settings, key)._replace(**_inside(source, key, value, _TABLES[key]))
        elif key != ELSEWHERE:
            changes[key] = _READERS[key](source, key, value)
    return settings._replace(**changes)


def _secrets(settings: Settings, source: Source, value: Any) -> dict[str, Any]:
    found = _inside(source, "secrets", value, _SECRETS)
    refused = settings.secrets_refused + found.get("refuse", ())
    return {"secret_store": found.get("store", settings.secret_store), "secrets_refused": refused}


def _inside(source: Source, table: str, value: Any, readers: Mapping[str, Any]) -> dict[str, Any]:
    """Read a table whose keys each have a reader."""
    _table(source, table, value)
    known_keys(source, value, tuple(readers), f"{table}.")
    return {key: readers[key](source, key, item) for key, item in value.items()}


def _flat(source: Source, value: Any, prefix: str = "") -> dict[str, str]:
    """Give nested tables as dotted keys with texts, as a skill's own key names them."""
    _table(source, "skill_values", value)
    found: dict[str, str] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            found.update(_flat(source, item, f"{prefix}{key}."))
        elif isinstance(item, bool):
            found[prefix + key] = str(item).lower()
        elif isinstance(item, (str, int, float)):
            found[prefix + key] = str(item)
        else:
            raise wrong(source, key, "must be a text, a number or a flag")
    return found


def _narrowed(settings: Settings, source: Source) -> Settings:
    """Take from a project what narrows, and report the rest (decision 17). It never stops a listing."""
    problems = list(settings.problems)

    def ignored(what: str) -> None:
        problems.append(Problem(source.path, "WK012", f"Ignored: {what}; a project may only narrow what you allow."))

    for key, value in source.values.items():
        if key == ELSEWHERE:
            continue
        if key not in _NARROW_TO and key != "limits":
            ignored(f"'{key}'")
        elif key in _NARROW_TO and value == _NARROW_TO[key] and isinstance(value, type(_NARROW_TO[key])):
            settings = settings._replace(**{key: value})
        elif key == "limits" and isinstance(value, dict):
            try:
                asked = _limits(settings.limits, source, value)
            except ConfigError as error:
                ignored(error.message)
                continue
            if any(wanted > allowed for wanted, allowed in zip(asked, settings.limits, strict=True)):
                ignored("limits above your own")
            settings = settings._replace(project_limits=Limits(*map(min, zip(settings.limits, asked, strict=True))))
        else:
            ignored(f"'{key} = {value!r}'")
    return settings._replace(problems=tuple(problems))


def _skills(settings: Settings, source: Source, value: Any) -> dict[str, Any]:
    _table(source, "skills", value)
    known_keys(source, value, _SKILLS, "skills.")
    changes: dict[str, Any] = {}
    if "disabled" in value:
        changes["disabled"] = settings.disabled + _words(source, "disabled", value["disabled"])
    if "platform_disabled" in value:
        _table(source, "platform_disabled", value["platform_disabled"])
        pairs = tuple((name, _words(source, name, names)) for name, names in value["platform_disabled"].items())
        changes["platform_disabled"] = settings.platform_disabled + pairs
    if "config" in value:
        rules = _rules(source, value["config"])
        replaced = {(rule.path, rule.name) for rule in rules}
        # A later rule with the same selector replaces the earlier one and moves to the end (CX-38).
        kept = tuple(rule for rule in settings.rules if (rule.path, rule.name) not in replaced)
        changes["rules"] = kept + rules
    return changes


def _rules(source: Source, value: Any) -> tuple[Rule, ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise wrong(source, "config", "must be a list of tables: [[skills.config]]")
    rules: dict[tuple[str, str], Rule] = {}
    for item in value:
        known_keys(source, item, _RULE, "skills.config.")
        path, name = str(item.get("path", "")).strip(), str(item.get("name", "")).strip()
        if bool(path) == bool(name):
            problem = "gives both a path and a name" if path else "gives neither a path nor a name"
            raise wrong(source, "config", f"{problem}: exactly one selects the skills")
        rule = Rule(_flag(source, "enabled", item.get("enabled", True)), path, name, source.path)
        rules.pop((path, name), None)
        rules[path, name] = rule
    return tuple(rules.values())


def _scan(source: Source, value: Any) -> tuple[tuple[str, str], ...]:
    _table(source, "scan", value)
    known_keys(source, value, _SCAN, "scan.")
    return tuple((source.path, file) for file in _words(source, "rules", value.get("rules", [])))


def _limits(limits: Limits, source: Source, value: Any) -> Limits:
    _table(source, "limits", value)
    known_keys(source, value, Limits._fields, "limits.")
    return limits._replace(**{key: _number(source, key, number) for key, number in value.items()})


def _words(source: Source, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise wrong(source, key, "must be a list of texts")
    return tuple(value)


def _text(source: Source, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong(source, key, "must be a text")
    return value


def _flag(source: Source, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong(source, key, "must be true or false")
    return value


def _scopes(source: Source, key: str, value: Any) -> tuple[Scope, ...]:
    words = _words(source, key, value)
    known = tuple(scope for word in words for scope in SCOPES if scope == word)
    if len(known) != len(words):
        raise wrong(source, key, f"must be a list of scopes: {', '.join(SCOPES)}")
    return known + tuple(scope for scope in SCOPES if scope not in known)


def _collision(source: Source, key: str, value: Any) -> str:
    if value not in _COLLISIONS:
        raise wrong(source, key, "must be 'first' or 'refuse'")
    return str(value)


def _number(source: Source, key: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise wrong(source, key, "must be a whole number above zero")
    return value


def _weight(source: Source, key: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= MOST_WEIGHT:
        raise wrong(source, key, f"must be a number from 0 to {MOST_WEIGHT}")
    return float(value)


def _moments(source: Source, key: str, value: Any) -> tuple[tuple[str, str], ...]:
    """Read names with times, written as TOML writes them or as texts."""
    from datetime import datetime  # few have such a table

    _table(source, key, value)
    found = tuple((name, item.isoformat() if hasattr(item, "isoformat") else str(item)) for name, item in value.items())
    for name, text in found:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            message = f"'{key}' at {place_of(source, key)}: '{text[:40]}' of '{name[:40]}' is no time"
            raise ConfigError(message, hint="write a date, and a time of day if need be: 2027-01-10T09:00:00Z") from None
    return found


def _one_of(*known: str) -> Callable[[Source, str, Any], str]:
    def read(source: Source, key: str, value: Any) -> str:
        if value not in known:
            raise wrong(source, key, f"must be one of: {', '.join(known)}")
        return str(value)

    return read


_SECRETS: dict[str, Any] = {"store": _one_of("session", "file", "keyring"), "refuse": _words}
_TABLES: dict[str, dict[str, Any]] = {
    "prompt": {"budget": _number, "window": _number, "format": _one_of("xml", "markdown", "json"), "order": _scopes,
               "include": _flag, "names_only": _words, "reliability": _flag},
    "manage": {"review": _one_of("never", "caution", "always"), "pinned": _words},
    "route": {"vectors": _one_of("auto", "off"), "trust": _weight, "readiness": _weight, "usage": _weight, "scope": _weight,
              "observe": _flag, "muted": _words, "muted_until": _moments},
    "supply": {"fast_forward": _flag, "hosts": _words, "private_hosts": _words, "taps": _words, "registries": _words,
               "bundled": _flag, "download_bytes": _number, "unpacked_bytes": _number, "file_bytes": _number, "files": _number,
               "ratio": _number, "redirects": _number, "seconds": _number, "search_seconds": _number},
    "plugins": {"sources": _words, "wait_seconds": _number},
    "run": {"allow_unsandboxed": _flag, "network": _one_of("never", "trusted", "declared"), "reads": _words, "writes": _words,
            "secrets": _one_of("environment", "file"), "interpreters": _words, "dependencies": _one_of("ask", "allow", "never"),
            "packages_from": _text, "in_process": _words, "auto": _words, "hook_ms": _number, "seconds": _number,
            "memory_bytes": _number, "processes": _number, "output_bytes": _number, "scratch_bytes": _number,
            "file_bytes": _number},
    "mcp": {"run": _flag, "destructive": _flag, "code": _flag, "allowed": _words, "blocked": _words, "http_blocked": _words,
            "scripts": _flag, "ttl_ms": _number, "seconds": _number},
}  # fmt: skip
_READERS: dict[str, Any] = {
    "external_dirs": _words, "root_markers": _words, "precedence": _scopes, "on_collision": _collision,
    "hide_unready": _flag, "allow_without_frontmatter": _flag, "host_platform": _text, "environments": _words,
    "tools": _words, "toolsets": _words, "inline_shell": _flag, "mcp_servers": _words, "usage": _flag,
}  # fmt: skip


def _table(source: Source, key: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise wrong(source, key, "must be a table")


def known_keys(source: Source, values: Mapping[str, Any], known: tuple[str, ...], prefix: str) -> None:
    """Refuse a key that a table does not have, with the nearest one that it has."""
    for key in values:
        if key not in known:
            nearest = closest(key, known)
            hint = f"did you mean '{prefix}{nearest}'?" if nearest else f"known keys: {', '.join(known)}"
            raise ConfigError(f"unknown key '{prefix}{key}' at {place_of(source, key)}", hint=hint)


def wrong(source: Source, key: str, what: str) -> ConfigError:
    """Make the error for a value that a key cannot have, with its place."""
    return ConfigError(f"'{key}' at {place_of(source, key)} {what}", hint="see docs/reference/configuration.md")


def place_of(source: Source, key: str) -> str:
    """Point at the line of a key: `file:line`."""
    import re

    found = re.search(rf"^[ \t]*(?:\[+[^\]\n]*)?['\"]?{re.escape(key)}['\"]?[ \t]*[=.\]]", source.text, re.MULTILINE)
    return f"{source.path}:{source.text.count(chr(10), 0, found.start()) + 1}" if found else source.path
