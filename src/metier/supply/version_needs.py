"""What locked skills ask of each other's versions: the tag that a skill which came along should be at
by now, and which updates would leave somebody with a version that will not do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.standard.semver import highest, read_range, read_version, satisfies
from metier.supply.deploy import working_of
from metier.supply.fetch import request_of_pin
from metier.supply.needed import installed_skill, read_needs_of, version_of_ref, versions_in
from metier.supply.safe_names import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.supply.model import Pin, Request
    from metier.supply.places import InstallPlace

    ListTags = Callable[[Request], Iterable[str]]

_TAGGED_KINDS = frozenset({"git", "oci", "hub"})


class VersionNeed(NamedTuple):
    """One skill will have only some versions of another."""

    by: str
    name: str
    range: str


class ComingVersion(NamedTuple):
    """A version that an update would bring: where it lies, and the ref that it was fetched by."""

    name: str
    folder: str
    ref: str


def needs_of(
    place: InstallPlace, pins: Iterable[Pin], coming: Iterable[ComingVersion] = ()
) -> frozenset[VersionNeed]:
    """Give what locked skills ask of versions, with what is to come in the place of what is there."""
    folders = {one.name: one.folder for one in coming}
    found = set()
    for pin in pins:
        folder = folders.get(pin.name)
        if folder is None and not pin.requires:
            continue
        for need in read_needs_of(folder or working_of(place, pin)).requires.skills:
            if need.range:
                found.add(VersionNeed(pin.name, need.name, need.range))
    return frozenset(found)


def came_by_tag(pin: Pin) -> bool:
    """Tell whether a skill came along at a tag that was chosen for its version, by nobody's word."""
    return (
        pin.dependency
        and pin.kind in _TAGGED_KINDS
        and bool(pin.ref)
        and bool(version_of_ref(pin.ref, pin.name))
    )


def at_newest_tag(
    place: InstallPlace, pin: Pin, needs: Iterable[VersionNeed], tags: ListTags
) -> Pin:
    """Give a skill that came by a tag at the newest one that all who need it take; as it is, where
    there is none.
    """
    ranges = [read_range(one.range) or () for one in needs if one.name == pin.name]
    if not ranges or not came_by_tag(pin):
        return pin
    request = request_of_pin(place, pin, fixed=False)
    versions = versions_in(tags(request._replace(path="", ref="")), pin.name)
    best = highest(versions, ranges)
    return pin._replace(ref=versions[best]) if best is not None else pin


def versions_of(coming: Iterable[ComingVersion]) -> dict[str, str]:
    """Give the versions that are to come, by name; nothing for one that has none."""
    return {
        one.name: version_of_ref(one.ref, one.name) or read_needs_of(one.folder).version
        for one in coming
    }


def unmet(
    place: InstallPlace,
    pins: Sequence[Pin],
    needs: Iterable[VersionNeed],
    coming: Iterable[ComingVersion] = (),
) -> dict[VersionNeed, str]:
    """Give the needs that a locked version does not meet, each with that version; what has none
    meets all.
    """
    versions = versions_of(coming)
    by_name = {pin.name: pin for pin in pins}
    found = {}
    for need in needs:
        if need.name not in versions and need.name in by_name:
            versions[need.name] = installed_skill(place, by_name[need.name]).version
        version = versions.get(need.name, "")
        known = read_version(version) if version else None
        if known is not None and not satisfies(known, read_range(need.range) or ()):
            found[need] = version
    return found


def reasons_to_wait(
    place: InstallPlace, pins: Sequence[Pin], coming: Sequence[ComingVersion]
) -> dict[str, str]:
    """Say which updates have to wait, because with them somebody would have a version that will not
    do, and has not today.
    """
    today = needs_of(place, pins)
    known = unmet(place, pins, today)
    left = {one.name: one for one in coming}
    waits: dict[str, str] = {}
    while True:
        needs = needs_of(place, pins, left.values())
        worse = unmet(place, pins, needs, left.values())
        held = _held(worse, known, today, left)
        if not held:
            return waits
        waits |= held
        left = {name: one for name, one in left.items() if name not in held}


def _held(
    worse: Mapping[VersionNeed, str],
    known: Mapping[VersionNeed, str],
    today: frozenset[VersionNeed],
    left: Mapping[str, ComingVersion],
) -> dict[str, str]:
    held = {}
    for need, version in sorted(worse.items()):
        if need in known:
            continue
        if need.by in left and need not in today:
            held[need.by] = f"it needs '{printable(need.name)}' {need.range}, and that is {version}"
        elif need.name in left:
            held[need.name] = f"'{printable(need.by)}' needs {need.range}, and this is {version}"
    return held
