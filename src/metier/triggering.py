"""Triggers of the skills on this machine: which of them a task has, who takes it, and which observations call for a skill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metier import phrases, recording, skillfile
from metier.discover import disk
from metier.route import triggers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from metier.app import Library
    from metier.model import Card
    from metier.route.observed import Memory, Observation, Observed, Switches, Unread, Watched
    from metier.route.triggers import Dispatched, Match, Phrased

MUTES = ".codec/triggers.json"
"""Where CODEC keeps `muted_skills` and `muted_until`, below home."""
SWITCH = "TRIGGERS_ENABLED"
"""The variable that turns all observation triggers off, whatever configuration says; it cannot turn them on."""
_OFF = frozenset({"0", "false", "no", "off"})


def matches(library: Library, task: str) -> list[Match]:
    """Give the skills of which a trigger phrase stands in a task, the longest phrase first."""
    from metier import routing

    return triggers.matches(triggers.table(phrased(library, routing.phrases(library))), task)


def phrased(library: Library, declared: Mapping[str, tuple[str, ...]]) -> list[Phrased]:
    """Give the skills that may be suggested and have phrases, declared or the user's own."""
    return triggers.combined(suggested(library), declared, phrases.custom_phrases(library))


def suggested(library: Library) -> list[Card]:
    """Give the skills that may be suggested: what is visible, and of each name the copy that the name means."""
    found: dict[tuple[str, str], Card] = {}
    for card in library.contents().cards:
        if card.state == "visible":
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
    from metier.route import observed
    from metier.standard.code import MAX_BYTES, read_code

    known = memory.read.get(card.path)
    if known is not None and known[0] == disk.key_of(card.path):
        return known[1]
    head = disk.read_head(card.path, MAX_BYTES + 1)
    facts = read_code(head.data, skillfile.folder_name(card)) if not head.fault else None
    found = None
    if facts is not None and facts.observation is not None:
        found = observed.read(card.name, card.path, facts.observation, destructive=facts.destructive, home=library.home or "")
    memory.read[card.path] = head.key, found
    return found


def switches(library: Library) -> Switches:
    """Give what the user has turned on and off: by configuration, by the environment and in CODEC's own file."""
    from metier.route.observed import Switches

    route = library.settings.route
    codec = _mutes(library)
    names, until = codec.get("muted_skills"), codec.get("muted_until")
    muted = frozenset(one for one in names if isinstance(one, str)) if isinstance(names, list) else frozenset()
    later = {name: str(moment) for name, moment in until.items()} if isinstance(until, dict) else {}
    enabled = route.observe and library.env.get(SWITCH, "").strip().lower() not in _OFF
    return Switches(enabled, muted | frozenset(route.muted), {**later, **dict(route.muted_until)})


def _mutes(library: Library) -> dict[str, Any]:
    import json

    data = phrases.contents(f"{library.home}/{MUTES}") if library.home else b""
    try:
        value = json.loads(data.decode("utf-8-sig")) if data else {}
    except (ValueError, RecursionError, MemoryError):
        value = None
    if isinstance(value, dict):
        return value
    warning = f"{library.home}/{MUTES} cannot be read: no skill is muted by it"
    if warning not in library.warnings:
        library.warnings.append(warning)
    return {}
