"""Defaults < organisation < user < project < environment < flags → one frozen `Settings`. Pure:
texts in, value out.

A project's file may only narrow what its user allows; whatever else it asks for is reported and
ignored.
"""

from __future__ import annotations

from operator import gt

from metier.errors import ConfigError, closest
from metier.fast import TYPE_CHECKING, NamedTuple
from metier.model import SCOPES, Limits, Problem
from metier.settings.model import (
    MOST_WEIGHT,
    FindSettings,
    JudgeSettings,
    ManageSettings,
    PluginSettings,
    PromptSettings,
    RunSettings,
    ServeSettings,
    SupplySettings,
    UpstreamServer,
    upstream_name_fault,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Literal

    from metier.model import Scope, Texts

    ConfigLayer = Literal["organisation", "user", "project", "session"]

    Values = dict[str, Any]
    """What was read from a table, by key."""
else:
    ConfigLayer = str


class Rule(NamedTuple):
    """Show or hide skills by path or by name (CX-38)."""

    enabled: bool
    path: str = ""
    name: str = ""
    told_by: str = ""
    any_case: bool = False
    """Whether capitals make no difference in a name."""


class Settings(NamedTuple):
    """Everything that configuration decides."""

    external_dirs: Texts = ()
    root_markers: Texts = (".git",)
    precedence: tuple[Scope, ...] = SCOPES
    on_collision: str = "first"
    """`first`: a plain name means the strongest copy. `refuse`: a name with several copies is an
    error."""
    hide_unready: bool = False
    allow_without_frontmatter: bool = False
    host_platform: str = ""
    """The surface an agent runs on (telegram, cli, …), for skills disabled on it (HE-14)."""
    environments: Texts = ()
    """What is true of where the agent runs (docker, kanban, …), for skills offered only there
    (HE-13)."""
    tools: Texts | None = None
    toolsets: Texts | None = None
    """What the agent has; `None` when it is not known, and then nothing is hidden for it
    (HE-24)."""
    disabled: Texts = ()
    platform_disabled: tuple[tuple[str, Texts], ...] = ()
    rules: tuple[Rule, ...] = ()
    limits: Limits = Limits()
    project_limits: Limits | None = None
    """What a project asks for its own folders; it cannot narrow the walk over its user's."""
    problems: tuple[Problem, ...] = ()
    """What a project's file asked for and may not have."""
    scan_rules: tuple[tuple[str, str], ...] = ()
    """Files with rules of one's own for a scan, each after the configuration file that names it."""
    scan_model: str = "auto"
    scan_observe: str = "never"
    """Which skills are observed before they are installed: the strictest word of all files holds."""
    """`auto`: a model reads the prose of skills where it can run; `off`: rules alone."""
    judge: JudgeSettings = JudgeSettings()
    prompt: PromptSettings = PromptSettings()
    secret_store: str = ""
    """Where a secret is kept that a person gives: `session`, `file` or `keyring`; nothing lets the
    door choose."""
    secrets_refused: Texts = ()
    """Variables that no skill is given, beyond those that none ever is."""
    inline_shell: bool = False
    """Whether a body's inline shell is run, in the sandbox and for approved bytes alone (HE-22)."""
    skill_values: tuple[tuple[str, str], ...] = ()
    """What the user sets for skills that ask for configuration (HE-23)."""
    mcp_servers: Texts | None = None
    """The MCP servers that the agent has, by name or identity; `None` when it is not known."""
    manage: ManageSettings = ManageSettings()
    route: FindSettings = FindSettings()
    supply: SupplySettings = SupplySettings()
    plugins: PluginSettings = PluginSettings()
    run: RunSettings = RunSettings()
    mcp: ServeSettings = ServeSettings()
    usage: bool = True
    """Whether it is counted, on this machine alone, how often each skill is used."""


_RULE = ("path", "name", "enabled")
_NARROW_TO: Values = {
    "on_collision": "refuse",
    "hide_unready": True,
    "inline_shell": False,
    "usage": False,
}
"""What a project may say of these, and nothing else: the narrower of two values."""
ELSEWHERE = "trust"
"""A table that is read when a decision needs it (`trust/policy.py`): what is wrong with it is said
there."""


class ConfigSource(NamedTuple):
    """One configuration file, already parsed; its text serves to point at lines."""

    layer: ConfigLayer
    path: str
    text: str
    values: Mapping[str, Any]


def merge(sources: Iterable[ConfigSource], session_rules: tuple[Rule, ...] = ()) -> Settings:
    """Lay the sources over the defaults, weakest first."""
    settings = Settings()
    for source in sources:
        settings = (
            _apply_project_file(settings, source)
            if source.layer == "project"
            else _apply_file(settings, source)
        )
    return settings._replace(rules=settings.rules + session_rules) if session_rules else settings


def _apply_file(settings: Settings, source: ConfigSource) -> Settings:
    known_keys(source, source.values, tuple(_TOP), "")
    changes: Values = {}
    for key, value in source.values.items():
        reader = _TOP[key]
        if isinstance(reader, dict):
            changes[key] = getattr(settings, key)._replace(
                **_read_table(source, key, value, reader)
            )
        elif key in _ADD_TO:
            changes.update(_ADD_TO[key](settings, source, value))
        elif key != ELSEWHERE:
            changes[key] = reader(source, key, value)
    return settings._replace(**changes)


def _secrets(settings: Settings, source: ConfigSource, value: Any) -> Values:
    found = _read_table(source, "secrets", value, _SECRETS)
    refused = settings.secrets_refused + found.get("refuse", ())
    return {"secret_store": found.get("store", settings.secret_store), "secrets_refused": refused}


def _read_table(source: ConfigSource, table: str, value: Any, readers: Mapping[str, Any]) -> Values:
    """Read a table whose keys each have a reader."""
    _table(source, table, value)
    known_keys(source, value, tuple(readers), f"{table}.")
    return {key: readers[key](source, key, item) for key, item in value.items()}


def _skill_values(settings: Settings, source: ConfigSource, value: Any) -> Values:
    found = {**dict(settings.skill_values), **_flatten(source, value)}
    return {"skill_values": tuple(found.items())}


def _flatten(source: ConfigSource, value: Any, prefix: str = "") -> dict[str, str]:
    """Give nested tables as dotted keys with texts, as a skill's own key names them."""
    _table(source, "skill_values", value)
    found: dict[str, str] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            found.update(_flatten(source, item, f"{prefix}{key}."))
        elif isinstance(item, bool):
            found[prefix + key] = str(item).lower()
        elif isinstance(item, (str, int, float)):
            found[prefix + key] = str(item)
        else:
            raise wrong(source, key, "must be a text, a number or a flag")
    return found


def _apply_project_file(settings: Settings, source: ConfigSource) -> Settings:
    """Take from a project what narrows, and report the rest (MT-17). It never stops a
    listing.
    """
    problems = list(settings.problems)

    def ignored(what: str) -> None:
        problems.append(ignored_in_project(source.path, what))

    for key, value in source.values.items():
        if key == ELSEWHERE:
            continue
        narrow = _NARROW_TO.get(key)
        if key == "limits" and isinstance(value, dict):
            try:
                asked = _limits(settings.limits, source, value)
            except ConfigError as error:
                ignored(error.message)
                continue
            if any(map(gt, asked, settings.limits)):
                ignored("limits above your own")
            least = Limits(*map(min, settings.limits, asked))
            settings = settings._replace(project_limits=least)
        elif narrow is not None and value == narrow and isinstance(value, type(narrow)):
            settings = settings._replace(**{key: value})
        elif narrow is not None or key == "limits":
            ignored(f"'{key} = {value!r}'")
        else:
            for name in _named_in_project(key, value):
                ignored(f"'{name}'")
    return settings._replace(problems=tuple(problems))


def _named_in_project(key: str, value: Any) -> list[str]:
    """Name what a project asks for; of a scan each part, a judge most of all: no project sends
    skills anywhere.
    """
    return (
        [f"scan.{name}" for name in value] if key == "scan" and isinstance(value, dict) else [key]
    )


def _skills(settings: Settings, source: ConfigSource, value: Any) -> Values:
    found = _read_table(source, "skills", value, _SKILLS)
    rules = found.get("config", ())
    replaced = {(rule.path, rule.name) for rule in rules}
    # A later rule with the same selector replaces the earlier one and moves to the end (CX-38).
    kept = tuple(rule for rule in settings.rules if (rule.path, rule.name) not in replaced)
    return {
        "disabled": settings.disabled + found.get("disabled", ()),
        "platform_disabled": settings.platform_disabled + found.get("platform_disabled", ()),
        "rules": kept + rules,
    }


def _by_platform(source: ConfigSource, key: str, value: Any) -> tuple[tuple[str, Texts], ...]:
    _table(source, key, value)
    return tuple((name, _words(source, name, names)) for name, names in value.items())


def _rules(source: ConfigSource, key: str, value: Any) -> tuple[Rule, ...]:
    rules: dict[tuple[str, str], Rule] = {}
    for item in tables_in(source, key, value, "skills"):
        known_keys(source, item, _RULE, "skills.config.")
        path = str(item.get("path", "")).strip()
        name = str(item.get("name", "")).strip()
        if bool(path) == bool(name):
            problem = "gives both a path and a name" if path else "gives neither a path nor a name"
            raise wrong(source, key, f"{problem}: exactly one selects the skills")
        rule = Rule(_flag(source, "enabled", item.get("enabled", True)), path, name, source.path)
        rules.pop((path, name), None)
        rules[path, name] = rule
    return tuple(rules.values())


OBSERVE_CHOICES = ("never", "caution", "always")


def _scan(settings: Settings, source: ConfigSource, value: Any) -> Values:
    readers = {
        "rules": _words,
        "model": _one_of("auto", "off"),
        "observe": _one_of(*OBSERVE_CHOICES),
        "judge": _judge,
    }
    found = _read_table(source, "scan", value, readers)
    files = tuple((source.path, file) for file in found.get("rules", ()))
    return {
        "scan_rules": settings.scan_rules + files,
        "scan_model": found.get("model", settings.scan_model),
        "scan_observe": max(
            found.get("observe", "never"), settings.scan_observe, key=OBSERVE_CHOICES.index
        ),
        "judge": settings.judge._replace(**found.get("judge", {})),
    }


def _judge(source: ConfigSource, key: str, value: Any) -> Values:
    readers = _readers(JudgeSettings, answer_as=_one_of("json_schema", "json_object", "text"))
    found = _read_table(source, "scan.judge", value, readers)
    if found.get("url") and found.get("command"):
        raise wrong(source, key, "names both a url and a command: one of them judges")
    # whichever a stronger file names takes the place of the other
    if found.get("url"):
        found = {"command": (), **found}
    if found.get("command"):
        found = {"url": "", "model": "", "key_env": "", **found}
    return found


def _upstreams(source: ConfigSource, key: str, value: Any) -> tuple[UpstreamServer, ...]:
    """Read `[mcp.upstreams]`: a name and an address, or a table with more about the server."""
    from shlex import join  # few have any

    _table(source, key, value)
    readers = {"url": _text, "command": _words, "token": _text, "header": _text}
    found = []
    for name, item in value.items():
        said = {"url": item} if isinstance(item, str) else item
        table = _read_table(source, f"mcp.upstreams.{name}", said, readers)
        if bool(table.get("url")) == bool(table.get("command")):
            raise wrong(source, name, "needs a url or a command, and only one of them")
        if fault := upstream_name_fault(name):
            raise wrong(source, name, fault)
        place = table.get("url") or f"stdio:{join(table['command'])}"
        found.append(UpstreamServer(name, place, table.get("token", ""), table.get("header", "")))
    return tuple(found)


def _limits(limits: Limits, source: ConfigSource, value: Any) -> Limits:
    readers = dict.fromkeys(Limits._fields, _number)
    return limits._replace(**_read_table(source, "limits", value, readers))


def _words(source: ConfigSource, key: str, value: Any) -> Texts:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise wrong(source, key, "must be a list of texts")
    return tuple(value)


def _text(source: ConfigSource, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise wrong(source, key, "must be a text")
    return value


def _flag(source: ConfigSource, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong(source, key, "must be true or false")
    return value


def _scopes(source: ConfigSource, key: str, value: Any) -> tuple[Scope, ...]:
    words = _words(source, key, value)
    known = tuple(scope for word in words for scope in SCOPES if scope == word)
    if len(known) != len(words):
        raise wrong(source, key, f"must be a list of scopes: {', '.join(SCOPES)}")
    return known + tuple(scope for scope in SCOPES if scope not in known)


def _number(source: ConfigSource, key: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise wrong(source, key, "must be a whole number above zero")
    return value


def _weight(source: ConfigSource, key: str, value: Any) -> float:
    if (
        not isinstance(value, (int, float))
        or isinstance(value, bool)
        or not 0 <= value <= MOST_WEIGHT
    ):
        raise wrong(source, key, f"must be a number from 0 to {MOST_WEIGHT}")
    return float(value)


def _moments(source: ConfigSource, key: str, value: Any) -> tuple[tuple[str, str], ...]:
    """Read names with times, written as TOML writes them or as texts."""
    from datetime import datetime  # few have such a table

    _table(source, key, value)
    found = tuple(
        (name, item.isoformat() if hasattr(item, "isoformat") else str(item))
        for name, item in value.items()
    )
    for name, text in found:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            message = (
                f"'{key}' at {place_of(source, key)}: '{text[:40]}' of '{name[:40]}' is no time"
            )
            raise ConfigError(
                message, hint="write a date, and a time of day if need be: 2027-01-10T09:00:00Z"
            ) from None
    return found


def _one_of(*known: str, must: str = "") -> Callable[[ConfigSource, str, Any], str]:
    must = must or f"must be one of: {', '.join(known)}"

    def read(source: ConfigSource, key: str, value: Any) -> str:
        if value not in known:
            near = closest(value, known) if isinstance(value, str) else ""
            raise wrong(source, key, f"{must} (did you mean {near}?)" if near else must)
        return str(value)

    return read


_BY_KIND: dict[type, Any] = {
    bool: _flag,
    int: _number,
    float: _weight,
    str: _text,
    tuple: _words,
}


def _readers(table: Any, **own: Any) -> Values:
    """Give the reader of each key of a table: its own, or the one for the kind of its default."""
    return {
        key: own.get(key, _BY_KIND[type(default)]) for key, default in table._field_defaults.items()
    }


_SECRETS: Values = {"store": _one_of("session", "file", "keyring"), "refuse": _words}
_SKILLS: Values = {"disabled": _words, "platform_disabled": _by_platform, "config": _rules}
_ADD_TO: dict[str, Callable[[Settings, ConfigSource, Any], Values]] = {
    "skills": _skills,
    "limits": lambda settings, source, value: {"limits": _limits(settings.limits, source, value)},
    "scan": _scan,
    "secrets": _secrets,
    "skill_values": _skill_values,
}
"""Keys whose value adds to what weaker layers said, and gives the settings that change."""
_TOP: Values = {
    "external_dirs": _words,
    "root_markers": _words,
    "precedence": _scopes,
    "on_collision": _one_of("first", "refuse", must="must be 'first' or 'refuse'"),
    "hide_unready": _flag,
    "allow_without_frontmatter": _flag,
    "host_platform": _text,
    "environments": _words,
    "tools": _words,
    "toolsets": _words,
    "skills": None,
    "limits": None,
    "trust": None,
    "scan": None,
    "prompt": _readers(PromptSettings, format=_one_of("xml", "markdown", "json"), order=_scopes),
    "secrets": None,
    "inline_shell": _flag,
    "skill_values": None,
    "mcp_servers": _words,
    "manage": _readers(ManageSettings, review=_one_of("never", "caution", "always")),
    "route": _readers(FindSettings, vectors=_one_of("auto", "off"), muted_until=_moments),
    "supply": _readers(SupplySettings),
    "plugins": _readers(PluginSettings),
    "run": _readers(
        RunSettings,
        network=_one_of("none", "never", "trusted", "declared"),
        secrets=_one_of("environment", "file"),
        dependencies=_one_of("ask", "allow", "never"),
    ),
    "mcp": _readers(ServeSettings, upstreams=_upstreams),
    "usage": _flag,
}
"""Every key of a configuration file with its reader, or the table of readers below it."""


def reader_of(table: str, key: str) -> Callable[[ConfigSource, str, Any], Any]:
    """Give the reader of one key of a table, for whoever reads such tables elsewhere."""
    found: Callable[[ConfigSource, str, Any], Any] = _TOP[table][key]
    return found


def _table(source: ConfigSource, key: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise wrong(source, key, "must be a table")


def tables_in(source: ConfigSource, key: str, value: Any, above: str) -> list[Mapping[str, Any]]:
    """Read a list of tables, `[[above.key]]`."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise wrong(source, key, f"must be a list of tables: [[{above}.{key}]]")
    return value


def ignored_in_project(path: str, what: str) -> Problem:
    """Report what a project's file asked for and may not have."""
    return Problem(path, "WK012", f"Ignored: {what}; a project may only narrow what you allow.")


MAX_KEYS_NAMED = 8
"""Keys of a table that an error names; of a longer one it says where they are listed."""


def known_keys(source: ConfigSource, values: Mapping[str, Any], known: Texts, prefix: str) -> None:
    """Refuse a key that a table does not have, with the nearest one that it has."""
    for key in values:
        if key not in known:
            nearest = closest(key, known)
            hint = (
                f"did you mean '{prefix}{nearest}'?"
                if nearest
                else f"known keys: {', '.join(known)}"
                if len(known) <= MAX_KEYS_NAMED
                else "see all settings: metier config list --all"
            )
            raise ConfigError(f"unknown key '{prefix}{key}' at {place_of(source, key)}", hint=hint)


def wrong(source: ConfigSource, key: str, what: str) -> ConfigError:
    """Make the error for a value that a key cannot have, with its place."""
    return ConfigError(
        f"'{key}' at {place_of(source, key)} {what}",
        hint="see all settings: metier config list --all",
    )


def place_of(source: ConfigSource, key: str) -> str:
    """Point at the line of a key: `file:line`."""
    import re

    found = re.search(
        rf"^[ \t]*(?:\[+[^\]\n]*)?['\"]?{re.escape(key)}['\"]?[ \t]*[=.\]]",
        source.text,
        re.MULTILINE,
    )
    return (
        f"{source.path}:{source.text.count(chr(10), 0, found.start()) + 1}"
        if found
        else source.path
    )


def default_settings() -> dict[str, Any]:
    """Give what holds where no file says anything, by dotted keys; trust has its own."""
    own = Settings()
    out: dict[str, Any] = {
        key: getattr(own, key) for key, reader in _TOP.items() if callable(reader)
    }
    out |= {f"limits.{key}": value for key, value in Limits()._asdict().items()}
    out |= {
        f"{table}.{key}": value
        for table, below in _TOP.items()
        if isinstance(below, dict)
        for key, value in getattr(own, table)._asdict().items()
    }
    out |= {f"scan.judge.{key}": value for key, value in JudgeSettings()._asdict().items()}
    out |= {"skills.disabled": (), "skills.platform_disabled": {}, "skill_values": {}}
    out |= {"route.muted_until": {}, "secrets.store": "", "secrets.refuse": ()}
    out |= {"scan.model": own.scan_model, "scan.observe": own.scan_observe, "scan.rules": ()}
    return out
