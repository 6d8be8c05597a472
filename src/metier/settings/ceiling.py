"""Lowers settings to what an organisation's policy allows, after all layers had their say. Pure.

Every key here has an order, and the narrower of two values counts, so no layer and no policy can
widen what another one has narrowed.
"""

from __future__ import annotations

from metier.fast import TYPE_CHECKING
from metier.settings.merge import known_keys, reader_of, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from metier.model import Texts
    from metier.settings.merge import ConfigSource, Settings

    Narrow = Callable[[Any, Any], Any]
    Ceilings = Mapping[str, Mapping[str, Any]]

NO_HOST = "none.invalid"
"""Stands for no host at all where an empty list would mean every one; the name is never given to
anybody (RFC 2606)."""


def _earlier(*words: str) -> Narrow:
    """Take the narrower of two words, given narrowest first."""
    return lambda ours, most: min(ours, most, key=words.index)


def _both(ours: bool, most: bool) -> bool:  # noqa: FBT001 - two values of one setting
    return ours and most


def _common(ours: Texts, most: Texts) -> Texts:
    return tuple(one for one in ours if one in most)


def _hosts(ours: Texts, most: Texts) -> Texts:
    """Take the hosts that both have; an empty list means all of them, of the user's alone."""
    return (_common(ours, most) if ours else most) or (NO_HOST,)


def _folders(ours: Texts, most: Texts) -> Texts:
    """Keep the folders that are one of the allowed ones, or lie below it. `..` climbs out."""
    return tuple(
        one
        for one in ours
        if ".." not in one.split("/")
        and any(one == top or one.startswith(f"{top.rstrip('/')}/") for top in most)
    )


_LIMITS = (
    "seconds",
    "memory_bytes",
    "processes",
    "output_bytes",
    "scratch_bytes",
    "file_bytes",
)
_KEYS: dict[str, dict[str, Narrow]] = {
    "run": {
        "network": _earlier("none", "never", "trusted", "declared"),
        "allow_unsandboxed": _both,
        "dependencies": _earlier("never", "ask", "allow"),
        "reads": _folders,
        "writes": _folders,
        "interpreters": _common,
        "in_process": _common,
        "auto": _common,
        **dict.fromkeys(_LIMITS, min),
    },
    "supply": {
        "fast_forward": _both,
        "hosts": _hosts,
        "private_hosts": _common,
        "download_bytes": min,
        "unpacked_bytes": min,
        "file_bytes": min,
        "files": min,
        "seconds": min,
    },
    "mcp": {"run": _both, "destructive": _both, "code": _both, "seconds": min},
}
"""Each key that a policy may lower, with how two values come to the narrower one."""
TABLES = tuple(_KEYS)


def read_ceilings(source: ConfigSource, table: str, value: Any) -> Mapping[str, Any]:
    """Read one table of a policy."""
    if not isinstance(value, dict):
        raise wrong(source, table, "must be a table")
    known_keys(source, value, tuple(_KEYS[table]), f"{table}.")
    return {key: reader_of(table, key)(source, key, item) for key, item in value.items()}


def lower(settings: Settings, ceilings: Ceilings) -> Settings:
    """Give settings that are nowhere wider than what a policy allows."""
    changes = {}
    for table, most in ceilings.items():
        ours = getattr(settings, table)
        narrowed = {key: _KEYS[table][key](getattr(ours, key), item) for key, item in most.items()}
        changes[table] = ours._replace(**narrowed)
    return settings._replace(**changes)
