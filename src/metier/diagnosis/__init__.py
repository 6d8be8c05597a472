"""What `doctor` says: what is configured, what is missing, what is wrong and what is slow.

Facts only, gathered through the library that everybody uses; no door decides anything from them. Whatever cannot be
found out is a fact too: an unknown home or a folder that cannot be written to never ends the examination.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from metier import __version__
from metier.diagnosis import kept
from metier.discover import disk, env as host
from metier.discover.agents import AGENTS
from metier.discover.scopes import project_root_candidates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from metier.app import Library
    from metier.discover.agents import Agent
    from metier.model import Card, Diagnostic, Problem
    from metier.pipeline import Catalogue
    from metier.runs import Layer as Wall

SHOWN_FAULTS = 5
"""How many single faults a summary names; the counts cover all of them."""
SHOWN_FOLDERS = 3
CROWDED = 100
"""A folder with fewer watched entries than this is not worth a word."""


class Probe(NamedTuple):
    """The parts of the world that an examination needs and that are not the disk's."""

    seconds: Callable[[], float]
    writable: Callable[[str], bool]
    cold: Callable[[], Catalogue]
    """List everything as if nothing had ever been remembered, and remember nothing."""
    warm: Callable[[], Catalogue]
    """List everything in a new library, with what is remembered."""


class Memory(NamedTuple):
    """METIER_HOME: where the index lies."""

    folder: str | None
    exists: bool
    writable: bool
    snapshots: int
    bytes: int
    trouble: str


class Layer(NamedTuple):
    """One place where configuration may be."""

    layer: str
    path: str | None
    found: bool


class Project(NamedTuple):
    """The project's root and the marker that made it one; without a marker it is the working folder."""

    folder: str
    marker: str


class RootFacts(NamedTuple):
    """One folder that is looked in and exists."""

    location: str
    scope: str
    agent: str
    told_by: str
    links: str
    skills: int
    stats: int
    """How many stats a listing takes to know that nothing has changed here."""


class AgentFacts(NamedTuple):
    """One agent that this machine shows traces of, and what it would see here."""

    id: str
    title: str
    found_by: str
    skills: int
    shadowed: int
    invalid: int
    same_name: int
    """How many of the skills it sees share their name with another that it sees."""


class Fault(NamedTuple):
    """One fault of one skill."""

    skill: str
    diagnostic: Diagnostic


class SkillFacts(NamedTuple):
    """All skills that were found, counted."""

    total: int
    scopes: dict[str, int]
    states: dict[str, int]
    readiness: dict[str, int]
    codes: dict[str, int]
    """How many skills break each rule."""
    faults: tuple[Fault, ...]
    """The gravest few."""


class Tool(NamedTuple):
    """Something outside metier that it works with."""

    name: str
    found: bool
    note: str


class Speed(NamedTuple):
    """What a listing costs here, measured just now. The numbers are for people; nothing depends on them."""

    cold_ms: float
    warm_ms: float
    stats: int
    crowded: tuple[tuple[str, int], ...]
    """The folders that hold most of what is watched."""
    empty: tuple[tuple[str, int], ...]
    """Roots that hold no skill and still cost many stats."""


class Report(NamedTuple):
    """The whole examination."""

    version: str
    python: str
    platform: str
    home: str | None
    asking: str
    memory: Memory
    configuration: tuple[Layer, ...]
    project: Project
    roots: tuple[RootFacts, ...]
    agents: tuple[AgentFacts, ...]
    skills: SkillFacts
    problems: tuple[Problem, ...]
    truncated: tuple[Problem, ...]
    warnings: tuple[str, ...]
    tools: tuple[Tool, ...]
    secrets: kept.SecretFacts
    watching: kept.Watching
    counting: kept.Counting
    searching: kept.Searching
    mirroring: kept.Mirroring
    sandbox: tuple[Wall, ...]
    """What keeps scripts in on this machine."""
    speed: Speed


def examine(library: Library, probe: Probe) -> Report:
    """Look at everything once."""
    found = library.contents()
    speed = _speed(library, probe, found.cards)
    python = f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
    return Report(
        __version__, python, sys.platform, library.home, library.agent.id if library.agent else "metier",
        _memory(library, probe), _layers(library), _project(library), tuple(_roots(library, found.cards)),
        tuple(agents_here(library)), count(found.cards), tuple(library.problems()), tuple(found.truncated),
        tuple(library.warnings), tuple(_tools(library)),
        kept.secrets(library), kept.watching(library), kept.counting(library),
        kept.searching(library, found.cards, probe.writable), kept.mirroring(library), tuple(library.box().layers()), speed,
    )  # fmt: skip


# --- what is configured


def _memory(library: Library, probe: Probe) -> Memory:
    folder = library.data
    if folder is None:
        return Memory(None, exists=False, writable=False, snapshots=0, bytes=0, trouble="no home folder is known")
    index = f"{folder}/index"
    sizes = [piece.size for piece in disk.pieces_in(index)]
    exists = disk.kind_of(folder) == "folder"
    writable = probe.writable(kept.nearest(index if exists else folder)) and not library.shelf.trouble
    return Memory(folder, exists, writable, len(sizes), sum(sizes), library.shelf.trouble)


def _layers(library: Library) -> tuple[Layer, ...]:
    places = (
        ("organisation", host.ORGANISATION_CONFIG),
        ("user", library.config),
        ("project", f"{library.project}/{host.PROJECT_CONFIG}"),
    )
    return tuple(Layer(layer, path, path is not None and disk.kind_of(path) == "file") for layer, path in places)


def _project(library: Library) -> Project:
    inside = library.project in project_root_candidates(library.cwd)
    markers = library.settings.root_markers if inside else ()
    marker = next((name for name in markers if disk.key_of(f"{library.project}/{name}") is not None), "")
    return Project(library.project, marker)


def _roots(library: Library, cards: Iterable[Card]) -> Iterable[RootFacts]:
    held = Counter(card.root for card in cards)
    for one in library.glance().seen:
        root = one.root
        yield RootFacts(root.location, root.scope, root.agent, root.told_by, root.links, held[root.location], len(one.keys()))


def _tools(library: Library) -> Iterable[Tool]:
    git = library.machine.has_command("git")
    yield Tool("git", git, "" if git else "not found: install git; getting skills from repositories will need it")
    sandbox = library.machine.has_command("bwrap")
    yield Tool("bubblewrap", sandbox, "" if sandbox else "not found: install bubblewrap; running scripts will need it")
    import yaml

    fast = bool(getattr(yaml, "__with_libyaml__", False))
    yield Tool("PyYAML", fast, "with its C loader" if fast else "only the slow pure-Python loader: install PyYAML with libyaml")


# --- which agents


def agents_here(library: Library) -> Iterable[AgentFacts]:
    """List the agents that have left a trace on this machine, each with what it would see here."""
    with library.as_agent(None) as everyone:
        folders = {seen.root.agent: seen.root.location for seen in reversed(everyone.glance().seen)}
    for agent in AGENTS:
        trace = _trace(agent, library.home, folders)
        if trace:
            with library.as_agent(agent.id) as theirs:
                cards = theirs.contents().cards
            states = Counter(card.state for card in cards)
            names = Counter(card.name for card in cards if card.state == "visible")
            doubled = sum(times for times in names.values() if times > 1)
            yield AgentFacts(agent.id, agent.title, trace, states["visible"], states["shadowed"], states["invalid"], doubled)


def _trace(agent: Agent, home: str | None, folders: dict[str, str]) -> str:
    """Give what shows that an agent is used here: its own folder at home, or one of skills that is its alone."""
    for marker in agent.home_marker:
        path = f"{home}{marker[1:]}" if marker.startswith("~/") else marker
        if (home or path == marker) and disk.kind_of(path) is not None:
            return path
    # Without a marker all its folders are shared with others, so they say nothing about it.
    return folders.get(agent.id, "") if agent.home_marker else ""


# --- what is wrong with the skills


def count(cards: list[Card]) -> SkillFacts:
    """Count skills by scope, state and readiness, and the rules they break."""
    codes: Counter[str] = Counter()
    for card in cards:
        codes.update({note.code for note in card.diagnostics})
    return SkillFacts(
        len(cards),
        dict(Counter(card.scope for card in cards)),
        dict(Counter(card.state for card in cards)),
        dict(Counter(card.readiness for card in cards)),
        dict(sorted(codes.items(), key=lambda item: (-item[1], item[0]))),
        tuple(_gravest(cards)),
    )


def _gravest(cards: list[Card]) -> list[Fault]:
    """Name a few faults: skills that are lost first, then errors, then the rest, each skill once."""
    rank = {"error": 0, "warning": 1, "info": 2}
    faulty = [
        (card.state != "invalid", rank[note.severity], card.path, note)
        for card in cards
        for note in sorted(card.diagnostics, key=lambda note: rank[note.severity])[:1]
    ]
    faulty.sort(key=lambda row: row[:3])
    return [Fault(path, note) for _lost, _rank, path, note in faulty[:SHOWN_FAULTS]]


# --- what is slow


def _speed(library: Library, probe: Probe, cards: Iterable[Card]) -> Speed:
    cold, warm = _timed(probe, probe.cold), _timed(probe, probe.warm)
    held = {card.root for card in cards}
    entries: Counter[str] = Counter()
    costs: list[tuple[str, int]] = []
    for one in library.glance().seen:
        paths = one.keys()
        costs.append((one.root.location, len(paths)))
        entries.update(path.removesuffix("/.").rpartition("/")[0] for path in paths)
    crowded = tuple(item for item in entries.most_common(SHOWN_FOLDERS) if item[1] >= CROWDED)
    empty = tuple((path, stats) for path, stats in costs if path not in held and stats >= CROWDED)
    return Speed(cold, warm, sum(stats for _path, stats in costs), crowded, empty)


def _timed(probe: Probe, work: Callable[[], object]) -> float:
    before = probe.seconds()
    work()
    return round((probe.seconds() - before) * 1000, 1)
