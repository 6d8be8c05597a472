"""Reads versions and version ranges as skills write them, and says which version a range takes and
whether several ranges can meet. Pure.

Ranges are those of npm, Cargo and Python as far as they agree: `^1.2`, `~1.2`, `~=1.2`, `>=1,<2`,
`>=1 <2`, `1.x`, `*`, `=1.2.3`, `!=1.3`, and `||` between alternatives. A version alone means itself;
one with parts left out means all that begin like it. A pre-release counts only where the range names
one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_RANGE_CHARS = 200
MAX_ALTERNATIVES = 16
"""Alternatives of one range; of several ranges together, all their combinations are looked at."""
MAX_COMBINATIONS = 4_096

_VERSION = re.compile(
    r"v?(0|[1-9]\d{0,8})(?:\.(0|[1-9]\d{0,8}))?(?:\.(0|[1-9]\d{0,8}))?"
    r"(?:-([0-9A-Za-z-]{1,40}(?:\.[0-9A-Za-z-]{1,40}){0,9}))?(?:\+[0-9A-Za-z.-]{1,80})?",
    re.ASCII,
)
_PART = re.compile(
    r"\s*(\^|~=|~>|~|>=|<=|==|!=|>|<|=)?\s*"
    r"(v?\d{1,9}(?:\.(?:\d{1,9}|[xX*])){0,2}(?:-[0-9A-Za-z.-]{1,80})?(?:\+[0-9A-Za-z.-]{1,80})?"
    r"|[xX*])\s*,?",
    re.ASCII,
)

Prerelease = tuple[tuple[int, int, str], ...]


class SemanticVersion(NamedTuple):
    """One version, in the order of semantic versioning."""

    major: int
    minor: int
    patch: int
    final: bool
    """Whether it is no pre-release: those come before it."""
    prerelease: Prerelease = ()

    @property
    def text(self) -> str:
        """The version as people write it."""
        told = ".".join(word if kind else str(number) for kind, number, word in self.prerelease)
        return f"{self.major}.{self.minor}.{self.patch}{f'-{told}' if told else ''}"


FIRST = SemanticVersion(0, 0, 0, final=False)


class VersionInterval(NamedTuple):
    """The versions from one on and below another; without an end where that is `None`."""

    least: SemanticVersion
    below: SemanticVersion | None
    without: tuple[SemanticVersion, ...] = ()
    prereleases: bool = False

    def takes(self, version: SemanticVersion) -> bool:
        """Tell whether a version lies in it."""
        return (
            self.least <= version
            and (self.below is None or version < self.below)
            and version not in self.without
            and (version.final or self.prereleases)
        )

    @property
    def is_empty(self) -> bool:
        """Whether no version can lie in it."""
        if self.below is None:
            return False
        only = self.below == _after(self.least)
        return self.least >= self.below or (only and self.least in self.without)


VersionRange = tuple[VersionInterval, ...]
ANY: VersionRange = (VersionInterval(FIRST, None),)


def read_version(text: str) -> SemanticVersion | None:
    """Read a version, `1.2` meaning `1.2.0`; nothing when it is none."""
    found = _VERSION.fullmatch(text.strip()) if len(text) <= MAX_RANGE_CHARS else None
    if found is None:
        return None
    major, minor, patch, prerelease = found.groups()
    return SemanticVersion(
        int(major), int(minor or 0), int(patch or 0), not prerelease, _prerelease(prerelease)
    )


def _prerelease(text: str | None) -> Prerelease:
    parts = text.split(".") if text else []
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)


@lru_cache(1024)
def read_range(text: str) -> VersionRange | None:
    """Read a range; nothing when it is none."""
    if len(text) > MAX_RANGE_CHARS:
        return None
    written = text.strip().strip("()").strip()
    if not written or written in {"*", "x", "X", "latest", "any"}:
        return ANY
    alternatives = written.split("||")
    if len(alternatives) > MAX_ALTERNATIVES:
        return None
    found = [_interval(one) for one in alternatives]
    return None if None in found else tuple(one for one in found if one is not None)


def _interval(text: str) -> VersionInterval | None:
    at = 0
    found: VersionInterval | None = None
    while at < len(text) and text[at:].strip():
        part = _PART.match(text, at)
        one = _comparison(part[1] or "", part[2]) if part else None
        if part is None or one is None:
            return None
        found = one if found is None else _both(found, one)
        at = part.end()
    return found


def _comparison(sign: str, written: str) -> VersionInterval | None:
    """Give the versions that one part of a range takes."""
    plain = re.sub(r"(?:\.[xX*])+", "", written).removeprefix("v")
    if plain in {"x", "X", "*"}:
        return ANY[0]
    least = read_version(plain)
    if least is None:
        return None
    parts = plain.partition("-")[0].partition("+")[0].count(".") + 1
    named = not least.final
    start = least if named else least._replace(final=False)
    if sign in {"^", "~", "~>", "~="}:
        return VersionInterval(start, _limit(sign, least, parts), prereleases=named)
    after = _after(least) if parts == 3 else _next(least, parts)
    bounds: dict[str, tuple[SemanticVersion, SemanticVersion | None]] = {
        ">=": (start, None),
        ">": (after, None),
        "<": (FIRST, start),
        "<=": (FIRST, after),
        "!=": (FIRST, None),
    }
    low, high = bounds.get(sign, (least if parts == 3 else start, after))
    return VersionInterval(low, high, (least,) if sign == "!=" else (), prereleases=named)


def _limit(sign: str, least: SemanticVersion, parts: int) -> SemanticVersion:
    if sign == "^":  # up to the next change of the first part that is not 0
        if least.major or parts == 1:
            return _next(least, 1)
        return _next(least, 2) if least.minor or parts == 2 else _next(least, 3)
    if sign == "~=":
        return _next(least, max(parts - 1, 1))
    return _next(least, min(parts, 2))


def _next(version: SemanticVersion, parts: int) -> SemanticVersion:
    """Give the first version, its pre-releases too, after all that begin with these parts."""
    numbers = [version.major, version.minor, version.patch]
    numbers[parts - 1] += 1
    major, minor, patch = numbers[:parts] + [0] * (3 - parts)
    return SemanticVersion(major, minor, patch, final=False)


def _after(version: SemanticVersion) -> SemanticVersion:
    """Give the least version that is greater."""
    if version.final:
        return SemanticVersion(version.major, version.minor, version.patch + 1, final=False)
    return version._replace(prerelease=(*version.prerelease, (0, 0, "")))


def _both(one: VersionInterval, other: VersionInterval) -> VersionInterval:
    ends = [end for end in (one.below, other.below) if end is not None]
    return VersionInterval(
        max(one.least, other.least),
        min(ends, default=None),
        (*one.without, *other.without),
        one.prereleases or other.prereleases,
    )


def satisfies(version: SemanticVersion, wanted: VersionRange) -> bool:
    """Tell whether a range takes a version."""
    return any(one.takes(version) for one in wanted)


def can_meet(ranges: Sequence[VersionRange]) -> bool:
    """Tell whether there could be a version that all ranges take; too many alternatives count as
    none.
    """
    left: list[VersionInterval] = [*ANY]
    for wanted in ranges:
        if len(left) * len(wanted) > MAX_COMBINATIONS:
            return False
        joined = (_both(one, other) for one in left for other in wanted)
        left = list(dict.fromkeys(one for one in joined if not one.is_empty))
    return bool(left)


def highest(
    versions: Iterable[SemanticVersion], ranges: Sequence[VersionRange]
) -> SemanticVersion | None:
    """Give the newest version that all ranges take; nothing when there is none."""
    fitting = (one for one in versions if all(satisfies(one, wanted) for wanted in ranges))
    return max(fitting, default=None)
