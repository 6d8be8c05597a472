"""Triggers of the skills on this machine: which of them a task has, who takes it, and which observations call for a skill."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from metier import phrases, recording, skillfile
from metier.discover import disk
from metier.route import triggers
from metier.standard.code import MAX_BYTES, read_code

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from metier.app import Library
    from metier.model import Card
    from metier.route.observed import Memory, Observation, Observed, Switches, Unread, Watched
    from metier.route.triggers import Dispatched, Match

MUTES = ".codec/triggers.json"
"""Where CODEC keeps `muted_skills` and `muted_until`, below home."""
SWITCH = "TRIGGERS_ENABLED"
"""The variable that turns all observation triggers off, whatever configuration says; it cannot turn them on."""
_OFF = frozenset({"0", "false", "no", "off"})


def matches(library: Library, task: str) -> list[Match]:
    """Give the skills of which a trigger phrase stands in a task: longest phrase first, then by score, name and path."""
    from metier import routing

    standing = triggers.matches(routing.table(library), task)
    may_be = {card.path for card in suggested(library, {one.name for one in standing})} if standing else frozenset()
    found = [one for one in standing if one.path in may_be]
    lengths = Counter(triggers.length(one.phrase) for one in found)
    tied = [one.path for one in found if lengths[triggers.length(one.phrase)] > 1]
    scores = routing.scores(library, task, tied) if tied else {}
    scored = [one._replace(score=scores.get(one.path, one.score)) for one in found]
    return sorted(scored, key=lambda one: (-triggers.length(one.phrase), -one.score, one.name, one.path))


def suggested(library: Library, names: Collection[str] | None = None) -> list[Card]:
    """Give the skills that may be suggested: what is visible, and of each name the copy that the name means."""
    found: dict[tuple[str, str], Card] = {}
    for card in library.contents().cards:
        if card.state == "visible" and (names is None or card.name in names):
            found.setdefault((card.plugin, card.name), card)
    return list(found.values())


def dispatch(library: Library, task: str, attempt: Callable[[Match], str | None]) -> Dispatched:
    """Offer a task to the skills whose triggers it has, one after the other, until one takes it."""
    return triggers.dispatched(matches(library, task), attempt, library.ports.token().hex())


def observe(
    library: Library, seen: Observation, now: datetime, consent: Callable[[Watched], bool], memory: Memory | None = None
) -> list[Observed]:
    """Hold what was seen against the observation triggers of all skills that may be suggested."""
    from metier.route import observed

    if memory is None:
        memory = library.observed = library.observed or observed.Memory()
    declared = [_declared(library, card, memory) for card in suggested(library) if card.kind == "code"]
    watched = [one for one in declared if one is not None]
    found, fired = observed.observe(watched, seen, now, switches(library), consent, memory.fired)
    memory.fired.update(fired)
    for one in found:
        if one.outcome in {"fired", "refused"}:
            recording.record(library, one.events[-1], one.outcome, name=one.name, path=one.path, trigger=one.key)
    return found


def _declared(library: Library, card: Card, memory: Memory) -> Watched | Unread | None:
    """Read the trigger of a code skill, unless its file is the one that was read before."""
    known = memory.read.get(card.path)
    if known is not None and known[0] == disk.key_of(card.path):
        return known[1]
    head = disk.read_head(card.path, MAX_BYTES + 1)
    found = _trigger(library, card, head.data) if not head.fault else None
    memory.read[card.path] = head.key, found
    return found


def _trigger(library: Library, card: Card, data: bytes) -> Watched | Unread | None:
    """Read the trigger that the text of a code skill declares, if it does."""
    from metier.route import observed

    try:
        facts = read_code(data, skillfile.folder_name(card))
    except Exception as error:  # noqa: BLE001 - one skill that surprises the reader takes no other's trigger away
        return observed.unread(card.name, card.path, f"it cannot be read ({type(error).__name__})")
    if facts is None or facts.observation is None:
        return None
    return observed.read(card.name, card.path, facts.observation, destructive=facts.destructive, home=library.home or "")


def switches(library: Library) -> Switches:
    """Give what the user has turned on and off: by configuration, by the environment and in CODEC's own file."""
    from metier.route.observed import Switches

    route = library.settings.route
    names, until, silence = _mutes(library)
    enabled = route.observe and library.env.get(SWITCH, "").strip().lower() not in _OFF
    return Switches(enabled, names | frozenset(route.muted), {**until, **dict(route.muted_until)}, silence)


def _mutes(library: Library) -> tuple[frozenset[str], dict[str, str], str]:
    """Read CODEC's own mutes. What mutes is there for safety: when it cannot be told whom it means, it means everybody."""
    if not library.home:
        return frozenset(), {}, ""
    path = f"{library.home}/{MUTES}"
    table, fault = phrases.table_of(phrases.contents(path))
    names, until = table.get("muted_skills"), table.get("muted_until")
    listed = [names] if isinstance(names, str) else [] if names is None else names
    later = {} if until is None else until
    if not isinstance(listed, list) or not all(isinstance(one, (str, int, float)) for one in listed):
        fault = "muted_skills is not a list of names"
    elif not isinstance(later, dict):
        fault = "muted_until is not an object of names with times"
    if fault:
        phrases.warn(library, f"{path} cannot be used: {fault}; until it is put right, every observation trigger is muted")
        return frozenset(), {}, f"{path} cannot be used: {fault}"
    return frozenset(map(str, listed)), {name: str(moment) for name, moment in later.items()}, ""
