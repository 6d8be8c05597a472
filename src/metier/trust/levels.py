"""The six levels of trust, and which of them a source earns. What nobody knows is community, never better (decision 12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Trust

LEVELS: tuple[Trust, ...] = ("builtin", "trusted", "verified", "community", "quarantined", "blocked")
"""Most trusted first; the place in this tuple is the level's ordinal."""

UNKNOWN: Trust = "community"
"""What a skill without a record or a known source is (ZE-20 the other way round)."""

SHIPPED = "metier:shipped"
"""The one source that is builtin: what metier or the program that embeds it ships. No fetched source is recorded so."""

TRUSTED_SOURCES = ("openai/skills", "anthropics/skills", "huggingface/skills", "NVIDIA/skills")
"""Repositories that are trusted unless configuration says otherwise (HE-36)."""

_RELAYS = ("skills-sh/", "skills.sh/", "skils-sh/", "skils.sh/", "https://skills.sh/", "https://www.skills.sh/")
_GITHUB = ("https://github.com/", "https://www.github.com/", "git@github.com:", "ssh://git@github.com/", "github.com/", "github:")
_ODD = frozenset("%\\?#@")
_ANYONE_S = frozenset({"pull", "commit"})
"""Paths under which a repository also shows what strangers sent in or keep in a fork of it."""


def rank(level: Trust) -> int:
    """Give a level's ordinal: 0 for builtin, 5 for blocked; a word that is no level counts as blocked."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS) - 1


def least(one: Trust, other: Trust) -> Trust:
    """Give the less trusted of two levels (ZE-19)."""
    return from_ordinal(max(rank(one), rank(other)))


def from_ordinal(number: int) -> Trust:
    """Give the level with this ordinal; out of range is blocked (ZE-19)."""
    return LEVELS[number] if 0 <= number < len(LEVELS) else "blocked"


def level_named(text: str) -> Trust:
    """Read a level as a person writes it; anything else is an error that lists them (ZE-19)."""
    word = text.strip().lower()
    for level in LEVELS:
        if level == word:
            return level
    raise UsageError(f"'{text}' is not a trust level", hint=f"the levels are {', '.join(LEVELS)}")


def level_of_record(text: str | None) -> Trust:
    """Read a level from a stored record: no record is community, one that cannot be read is blocked."""
    if text is None:
        return UNKNOWN
    return next((level for level in LEVELS if level == text), "blocked")


def level_of_source(source: str, trusted_sources: Iterable[str] = TRUSTED_SOURCES) -> Trust:
    """Give the level that a source earns by itself: exactly a trusted repository or a path below it (HE-36).

    `source` must be what metier wrote down when it fetched the skill. Builtin comes from that record alone: a name,
    a folder or a marker file such as `.bundled` inside the skill never earns anything (ZE-8, ZE-11).
    """
    if source == SHIPPED:
        return "builtin"
    place = repository(source)
    trusted = [known for known in map(repository, trusted_sources) if known]
    return "trusted" if place and any(place == known or place.startswith(known + "/") for known in trusted) else UNKNOWN


def repository(source: str) -> str:
    """Give `owner/name[/path]` for a repository on GitHub, other sources as written, and nothing for one that is odd.

    A source with `..`, an escape or an `@` could begin with a trusted repository and mean another one.
    """
    text = source.strip()
    text = next((text[len(relay) :] for relay in _RELAYS if text.startswith(relay)), text)
    bare = next((text[len(site) :] for site in _GITHUB if text.startswith(site)), "")
    place = _without_git(bare or text).rstrip("/")
    scheme, found, rest = place.partition("://")
    parts = (rest if found else place).split("/")
    odd = any(part in {"", ".", ".."} for part in parts) or not _ODD.isdisjoint(place) or not place.isprintable()
    odd = odd or not _ANYONE_S.isdisjoint(parts[2:])
    return "" if odd or len(parts) < 2 or (found and scheme != "https") else place


def _without_git(place: str) -> str:
    """Drop the `.git` that a clone address may end with."""
    return place.removesuffix("/").removesuffix(".git")
