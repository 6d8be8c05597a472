"""From what a source's lists and manifests say to plugins on offer: each with an id, its own skills, and what is wrong with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, RefusedError
from metier.mirrors import Fault, Offer
from metier.standard.plugin import NAME
from metier.supply.manifests import FIXED
from metier.supply.paths import folded, safe_name, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.supplies import Picked, Request
    from metier.supply.manifests import Plugin
    from metier.supply.marketplace import Market

MOST_NAME = 128
MOST_TEXT = 1024
MOST_CLAIMED = 100_000
"""How many skills the plugins of one source may have together, those counted twice that two of them claim."""
_VERSION = re.compile(r"v?\d{1,9}(?:\.[0-9A-Za-z.+-]{0,64})?\Z|[0-9a-f]{7,64}\Z|unknown\Z")
"""What agents call the folder of one version of a plugin."""


class Stand(NamedTuple):
    """One plugin on offer in a source."""

    offer: Offer
    plugin: Plugin
    skills: tuple[Picked, ...]


def spot(request: Request, path: str = "") -> str:
    """Write a place in a source for people."""
    if not path:
        return request.location
    return f"{request.location.rstrip('/')}{'/' if request.location.startswith('/') else ':'}{shown(path)}"


def stands(market: Market, skills: Sequence[Picked], request: Request, told_by: str) -> tuple[list[Stand], list[Fault]]:
    """Give the plugins of a source, in its order, and what cannot be used."""
    faults = [Fault(spot(request, one.path), one.code, one.why) for one in market.broken]
    faults += [Fault(spot(request, market.where), "malformed", note) for note in market.notes if market.plugins]
    wrong = _wrong_name(market.name, market.name) if market.listed and market.plugins else None
    if wrong is not None:
        return [], [*faults, Fault(spot(request, market.where), wrong.code, f"the marketplace's name: {wrong.message}")]
    named = [*market.plugins, *([market.own] if market.own is not None else [])]
    found: dict[str, Stand] = {}
    claimed, left = Claimed(named, skills), MOST_CLAIMED
    for plugin in _latest(named, listed=market.listed):
        where = spot(request, market.where or plugin.folder)
        faults += [Fault(where, "malformed", f"plugin {shown(plugin.name)}: {problem}") for problem in plugin.problems]
        left -= claimed.count(plugin)
        if left < 0:
            told = f"plugin {shown(plugin.name)}: the plugins there claim more than {MOST_CLAIMED:,} skills together"
            return list(found.values()), [*faults, Fault(where, "too-many", told)]
        stand = _stand(market, plugin, claimed.share(plugin), request, told_by)
        if isinstance(stand, Stand):
            before = found.setdefault(folded(stand.offer.name), stand)
            faults += usable(stand.skills, request)[1] if before is stand else []
            stand = stand if before is stand else _twice(request, before.plugin, plugin)
        faults += [stand] if isinstance(stand, Fault) else []
    return list(found.values()), faults


def _stand(market: Market, plugin: Plugin, skills: list[Picked], request: Request, told_by: str) -> Stand | Fault | None:
    where = spot(request, market.where or plugin.folder)
    wrong = _wrong_name(plugin.name, plugin.format)
    if wrong is not None:
        return Fault(where, wrong.code, wrong.message)
    if not plugin.format or (plugin.problems and not plugin.skills and not plugin.elsewhere and plugin.format != FIXED):
        return None  # what is wrong has been told
    in_list = market.listed and plugin is not market.own
    ident = f"{plugin.name}@{market.name}" if in_list else plugin.name
    names = tuple(skill.name for skill in usable(skills, request)[0])
    version, description = readable(plugin.version, MOST_NAME), readable(plugin.description, MOST_TEXT)
    offer = Offer(ident, plugin.name, version, description, plugin.format, request, names, told_by)
    return Stand(offer, plugin, tuple(skills))


def readable(text: str, most: int) -> str:
    """Give a stranger's text as it can be shown and written down anywhere."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:most])


def _wrong_name(name: str, form: str) -> MetierError | None:
    """Say what keeps a name from being part of an id that people type and files are called by."""
    try:
        safe_name(name)
    except MetierError as error:
        return error
    if "@" in name or len(name) > MOST_NAME:
        return RefusedError(f"'{shown(name)}' cannot be the name of a plugin", hint="it is short, and has no @", code="unsafe-path")
    if form == FIXED and not NAME.match(name):
        return RefusedError(f"'{shown(name)}' is no name of an Agent Plugin", hint="a-z, 0-9, . and -", code="malformed")
    return None


def _twice(request: Request, first: Plugin, other: Plugin) -> Fault:
    places = f"{shown(first.folder) or 'the top'} and {shown(other.folder) or 'the top'}"
    return Fault(spot(request, other.folder), "duplicate", f"'{shown(other.name)}' is there twice: {places}; the first counts")


def _latest(named: list[Plugin], *, listed: bool) -> list[Plugin]:
    """Of several versions of one plugin side by side, as agents keep them, leave the highest."""
    if listed:
        return named
    best: dict[tuple[str, str], tuple[int, Plugin]] = {}
    for number, plugin in enumerate(named):
        above, _, folder = plugin.folder.rpartition("/")
        key = (plugin.name, above if _VERSION.match(folder) else f"{plugin.folder}/")
        before = best.get(key)
        if before is None or _by_numbers(plugin.folder) > _by_numbers(before[1].folder):
            best[key] = number, plugin
    return [plugin for _number, plugin in sorted(best.values(), key=lambda one: one[0])]


def _by_numbers(path: str) -> list[tuple[int, str]]:
    """Compare paths so that 1.10 comes after 1.9."""
    words = path.rpartition("/")[2].removeprefix("v").split(".")
    return [(int(word), "") if word.isdecimal() and len(word) < 10 else (-1, word) for word in words]


# --- which skills are whose


class Claimed:
    """The skills of a source by the folders that plugins claim: each belongs to all that claim the folder closest around it."""

    def __init__(self, plugins: Iterable[Plugin], skills: Iterable[Picked]) -> None:
        """Sort the skills; none is given to a plugin before somebody asks, since thousands may claim the same."""
        places = {place for plugin in plugins for place in plugin.skills}
        self._held: dict[str, list[tuple[int, Picked]]] = {}
        for number, skill in enumerate(skills):
            at = skill.path
            while at and at not in places:
                at = at.rpartition("/")[0]
            self._held.setdefault(at, []).append((number, skill))

    def count(self, plugin: Plugin) -> int:
        """Say how many skills a plugin claims."""
        return sum(len(self._held.get(place, ())) for place in plugin.skills)

    def share(self, plugin: Plugin) -> list[Picked]:
        """Give the skills of a plugin, in the source's order."""
        held = ((place, *one) for place in dict.fromkeys(plugin.skills) for one in self._held.get(place, ()))
        found = {number: skill for place, number, skill in held if not plugin.alone or skill.path == place}
        return [skill for _number, skill in sorted(found.items())]


def usable(skills: Sequence[Picked], request: Request) -> tuple[list[Picked], list[Fault]]:
    """Leave out skills whose names cannot be those of folders, and all that share one."""
    kept: dict[str, list[Picked]] = {}
    faults = []
    for skill in skills:
        try:
            kept.setdefault(folded(safe_name(skill.name)), []).append(skill)
        except MetierError as error:
            faults.append(Fault(spot(request, skill.path), error.code, f"skill {shown(skill.name)}: {error.message}"))
    for same in kept.values():
        if len(same) > 1:
            where = ", ".join(shown(one.path) or "the top" for one in same[:5])
            told = f"skill {shown(same[0].name)}: the plugin has {len(same)} of this name: {where}"
            faults.append(Fault(spot(request, same[1].path), "collision", told))
    return [same[0] for same in kept.values() if len(same) == 1], faults


def linked(plugin: Plugin, links: Iterable[str]) -> list[str]:
    """Give the links where a skill, or the folder of all skills, would be: nothing behind one is a skill."""
    places = set(plugin.skills)
    return [path for path in links if path in places or path.rpartition("/")[0] in places]
