"""Which variables a skill declares, in any dialect, and what it says about each: what a person is asked for. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.standard.names import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.model import Sidecar

VENDORS = ("openclaw", "clawdbot", "moltbot", "clawdis", "clawdhub", "nanobot", "otto", "vikingbot")
"""Whose `metadata.NAME.requires` has one and the same form."""
TRUE = frozenset({"true", "yes", "on"})
FALSE = frozenset({"false", "no", "off"})
MOST_NAME = 128
MOST_WORDS = 500
"""Characters of a prompt or a help text that are kept."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ZEPH = "ZEPH_SECRET_"


Tables = list[dict[str, Any]]


class Ask(NamedTuple):
    """One variable that a skill declares, and what it tells a person about it. Strangers' words, on one line each."""

    name: str
    prompt: str = ""
    help: str = ""
    url: str = ""
    required_for: str = ""
    secret: bool = True
    optional: bool = False
    problem: str = ""
    """What was wrong with the last answer, when it is asked for again."""


def asks_of(fields: Mapping[str, Any], sidecar: Sidecar | None) -> tuple[Ask, ...]:
    """Gather every variable that a skill declares; the first declaration of a name wins (HE-19)."""
    vendors = vendors_of(fields)
    return asks_in(fields, sidecar, vendors, requirements(fields, vendors))


def asks_in(fields: Mapping[str, Any], sidecar: Sidecar | None, vendors: Tables, tables: Tables) -> tuple[Ask, ...]:
    """Gather the same from a skill whose tables were taken apart already."""
    found: dict[str, Ask] = {}
    for ask in _declared(fields, sidecar, vendors, tables):
        if len(ask.name) <= MOST_NAME and _NAME.fullmatch(ask.name):
            found.setdefault(ask.name, ask)
    return tuple(found.values())


def _declared(fields: Mapping[str, Any], sidecar: Sidecar | None, vendors: Tables, tables: Tables) -> Iterator[Ask]:
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
                prompt, help_, needed_for = (_words(item.get(key)) for key in ("prompt", "help", "required_for"))
                url = _words(item.get("provider_url") or item.get("url"))
                secret = str(item.get("secret", "")).strip().lower() not in FALSE
                optional = str(item.get("optional", "")).strip().lower() in TRUE
                yield Ask(name.strip(), prompt, help_, url, needed_for, secret, optional)


def helps_of(asks: Iterable[Ask]) -> list[str]:
    """Give what to do about each variable that is needed, as far as the skill says it."""
    told = ((ask.name, ask.help or ask.url or ask.prompt) for ask in asks if not ask.optional)
    return [f"{name}: {text}" for name, text in told if text]


def vendors_of(fields: Mapping[str, Any]) -> Tables:
    """List the tables that vendors have below `metadata`."""
    metadata = fields.get("metadata")
    if not isinstance(metadata, dict):
        return []
    return [table for vendor in VENDORS if vendor in metadata and isinstance(table := metadata[vendor], dict)]


def requirements(fields: Mapping[str, Any], vendors: Tables) -> Tables:
    """List every table of requirements: `requires` at the top, and `metadata.VENDOR.requires`."""
    return [table for one in (fields, *vendors) if isinstance(table := one.get("requires"), dict)]


def mapping(value: Any) -> dict[str, Any]:
    """Give a map; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def texts(value: Any) -> tuple[str, ...] | None:
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
