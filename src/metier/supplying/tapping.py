"""Taps: repositories that are searched, and that plain names are looked for in (HE-45). They are the user's alone to name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import configuration
from metier.discover import env as host
from metier.errors import ConfigError, NotFoundError, UsageError
from metier.supply import sources
from metier.supplying import fetching
from metier.trust.levels import level_of_source

if TYPE_CHECKING:
    from metier.app import Library
    from metier.model import Trust

_OPENED = frozenset({"git", "folder", "marketplace"})


class Tap(NamedTuple):
    """One tap of the configuration."""

    tap: str
    """As it was written: a source, or `name=source`."""
    source: str
    """What the lock would call it."""
    trust: Trust


def taps(library: Library) -> list[Tap]:
    """List the taps in their order."""
    return [_tap(library, one) for one in library.settings.supply.taps]


def tap(library: Library, said: str, *, listed: bool) -> list[Tap]:
    """Add a tap, or take it out, in the user's configuration."""
    if library.config is None:
        raise ConfigError("there is no place for a configuration file", hint="set METIER_CONFIG or HOME")
    said = said.strip()
    known = library.settings.supply.taps
    if listed:
        said = _lasting(library, said)
    elif said not in known:
        raise NotFoundError(f"there is no tap '{said}'", hint="'metier tap list' shows those there are")
    host.write_tap(library.config, said, listed=listed)
    with library.alone:
        library.settings, library.project = configuration.read(library)
    library.reload()
    return taps(library)


def _lasting(library: Library, said: str) -> str:
    """Give a tap as it means the same from every folder."""
    source = sources.tap_source(said)
    request = fetching.request_for(library, source)
    if request.kind not in _OPENED:
        raise UsageError(f"'{said}' is not a repository", hint="a tap is a repository or a folder; sites go into supply.registries")
    return said.removesuffix(source) + request.location if request.kind == "folder" else said


def _tap(library: Library, said: str) -> Tap:
    source = sources.canonical(fetching.request_for(library, sources.tap_source(said)))
    return Tap(said, source, level_of_source(source, library.trust_policy.trusted_sources))
