"""What `doctor` says: what is configured, what is missing, what is wrong and what is slow.

Facts only, gathered through the library that everybody uses; no door decides anything from them.
Whatever cannot be found out is a fact too: an unknown home or a folder that cannot be written to
never ends the examination.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from metier import __version__, pipeline
from metier.catalogue.io.snapshot_files import NoSnapshots
from metier.discover.agents import AGENTS
from metier.discover.io import disk, machine
from metier.discover.scopes import project_root_candidates
from metier.doctor import subsystems
from metier.errors import StoreError
from metier.resolve.resolver import is_cut
from metier.settings.io import ORGANISATION_CONFIG, PROJECT_CONFIG
from metier.supply.deploy import folder_for
from metier.supply.places import place_of
from metier.trust.decision_records import REPAIR
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from metier.context import Context
    from metier.discover.agents import Agent
    from metier.model import Card, Diagnostic, Problem, Texts
    from metier.run.model import Layer as Wall

MAX_SHOWN_FAULTS = 5
"""How many single faults a summary names; the counts cover all of them."""
MAX_SHOWN_FOLDERS = 3
MIN_CROWDED_ENTRIES = 100
"""A folder with fewer watched entries than this is not worth a word."""


class HomeFacts(NamedTuple):
    """METIER_HOME: where the index lies."""

    folder: str | None
    exists: bool
    writable: bool
    snapshots: int
    bytes: int
    trouble: str


class ConfigFileFacts(NamedTuple):
    """One place where configuration may be."""

    layer: str
    path: str | None
    found: bool


class ProjectRootFacts(NamedTuple):
    """The project's root and the marker that made it one; without a marker it is the working
    folder.
    """

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
    """An agent found on this machine, and what it sees here."""

    id: str
    title: str
    found_by: str
    skills: int
    shadowed: int
    invalid: int
    same_name: int
    """How many of the skills it sees share their name with another that it sees."""
    left_out: int = 0
    """How many of those in its folders it does not load."""
    cut: int = 0
    """How many of the skills it sees are listed by name alone, because its list is full."""
    asked: str = ""
    """The version that was asked what it loads; none where metier follows its documentation."""
    project_folder: str = ""
    """Where a skill is installed for it in a project; nothing where it reads none there."""
    user_folder: str = ""
    """The same below the home folder."""


class SkillFault(NamedTuple):
    """One fault of one skill."""

    skill: str
    diagnostic: Diagnostic


class SkillFacts(NamedTuple):
    """All skills that were found, counted."""

    total: int
    scopes: dict[str, int]
    states: dict[str, int]
    readiness: dict[str, int]
    verdicts: dict[str, int]
    """What the last scan said of each; `unscanned` where there was none of these bytes."""
    codes: dict[str, int]
    """How many skills break each rule."""
    faults: tuple[SkillFault, ...]
    """The gravest few."""


class ToolFacts(NamedTuple):
    """Something outside metier that it works with."""

    name: str
    found: bool
    note: str


class SpeedFacts(NamedTuple):
    """What a listing costs here, measured just now. The numbers are for people; nothing depends on
    them.
    """

    cold_ms: float
    warm_ms: float
    stats: int
    crowded: tuple[tuple[str, int], ...]
    """The folders that hold most of what is watched."""
    empty: tuple[tuple[str, int], ...]
    """Roots that hold no skill and still cost many stats."""


class DoctorReport(NamedTuple):
    """Everything `doctor` found."""

    version: str
    python: str
    platform: str
    home: str | None
    asking: str
    memory: HomeFacts
    configuration: tuple[ConfigFileFacts, ...]
    project: ProjectRootFacts
    roots: tuple[RootFacts, ...]
    agents: tuple[AgentFacts, ...]
    skills: SkillFacts
    problems: tuple[Problem, ...]
    truncated: tuple[Problem, ...]
    warnings: Texts
    tools: tuple[ToolFacts, ...]
    secrets: subsystems.SecretFacts
    watching: subsystems.WatchFacts
    counting: subsystems.UsageFacts
    reading: subsystems.ReadingFacts
    searching: subsystems.IndexFacts
    installing: subsystems.InstallFacts
    mirroring: subsystems.MirrorFacts
    sandbox: tuple[Wall, ...]
    """What keeps scripts in on this machine."""
    speed: SpeedFacts


def examine(context: Context) -> DoctorReport:
    """Look at everything once."""
    context.take_note()
    found = context.catalogue.contents()
    context.settle()  # the second listing below is to find what the first one learnt
    speed = _speed(context, found.cards)
    python = f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
    return DoctorReport(
        version=__version__,
        python=python,
        platform=sys.platform,
        home=context.home,
        asking=context.agent.id if context.agent else "metier",
        memory=_memory(context),
        configuration=_layers(context),
        project=_project(context),
        roots=tuple(_roots(context, found.cards)),
        agents=tuple(agents_here(context)),
        skills=count(found.cards),
        problems=tuple(context.catalogue.problems()),
        truncated=tuple(found.truncated),
        warnings=tuple(dict.fromkeys((*context.warnings, *_trust_notes(context)))),
        tools=tuple(_tools(context)),
        secrets=subsystems.secret_facts(context),
        watching=subsystems.watch_facts(context),
        counting=subsystems.usage_facts(context),
        reading=subsystems.reading_facts(context),
        searching=subsystems.index_facts(context, found.cards),
        installing=subsystems.install_facts(context),
        mirroring=subsystems.mirror_facts(context),
        sandbox=tuple(context.open_sandbox().layers()),
        speed=speed,
    )


# --- what is configured


def _memory(context: Context) -> HomeFacts:
    folder = context.data
    if folder is None:
        return HomeFacts(
            None,
            exists=False,
            writable=False,
            snapshots=0,
            bytes=0,
            trouble="no home folder is known",
        )
    index = f"{folder}/index"
    sizes = [piece.size for piece in disk.pieces_in(index)]
    exists = disk.kind_of(folder) == "folder"
    writable = (
        disk.writable(subsystems.nearest_existing(index if exists else folder))
        and not context.shelf.trouble
    )
    return HomeFacts(folder, exists, writable, len(sizes), sum(sizes), context.shelf.trouble)


def _trust_notes(context: Context) -> Texts:
    """Say what is wrong with the record of decisions, its second copy included."""
    state = decisions_file.read_decisions(context.data)
    note = f"{state.note}. Your next decision writes it again, or run: {REPAIR}"
    return (state.doubt,) if state.broken else (note,) if state.note else ()


def _layers(context: Context) -> tuple[ConfigFileFacts, ...]:
    places = (
        *(("policy", path) for path in (context.policy.files if context.policy else ())),
        ("organisation", ORGANISATION_CONFIG),
        ("user", context.config),
        ("project", f"{context.project}/{PROJECT_CONFIG}"),
    )
    return tuple(
        ConfigFileFacts(layer, path, path is not None and disk.kind_of(path) == "file")
        for layer, path in places
    )


def _project(context: Context) -> ProjectRootFacts:
    inside = context.project in project_root_candidates(context.cwd)
    markers = context.settings.root_markers if inside else ()
    marker = next(
        (name for name in markers if disk.key_of(f"{context.project}/{name}") is not None), ""
    )
    return ProjectRootFacts(context.project, marker)


def _roots(context: Context, cards: Iterable[Card]) -> Iterable[RootFacts]:
    held = Counter(card.root for card in cards)
    for one in context.catalogue.glance().seen:
        root = one.root
        yield RootFacts(
            location=root.location,
            scope=root.scope,
            agent=root.agent,
            told_by=root.told_by,
            links=root.links,
            skills=held[root.location],
            stats=len(one.keys()),
        )


def _tools(context: Context) -> Iterable[ToolFacts]:
    wanted = [("git", "git", "getting skills from repositories will need it")]
    if context.platform == "linux":  # elsewhere there is none to install
        wanted.append(("bubblewrap", "bwrap", "running scripts will need it"))
    for name, command, why in wanted:
        found = context.machine.has_command(command)
        yield ToolFacts(name, found, "" if found else f"not found: install {name}; {why}")
    import yaml

    fast = bool(getattr(yaml, "__with_libyaml__", False))
    slow = "only the slow pure-Python loader: install PyYAML with libyaml"
    yield ToolFacts("PyYAML", fast, "with its C loader" if fast else slow)


# --- which agents


def agents_here(context: Context) -> Iterable[AgentFacts]:
    """List the agents that have left a trace on this machine, each with what it would see here."""
    for agent, trace, cards in _views_here(context):
        states = Counter(card.state for card in cards)
        names = Counter(card.name for card in cards if card.state == "visible")
        doubled = sum(times for times in names.values() if times > 1)
        yield AgentFacts(
            id=agent.id,
            title=agent.title,
            found_by=trace,
            skills=states["visible"],
            shadowed=states["shadowed"],
            invalid=states["invalid"],
            same_name=doubled,
            left_out=sum(card.held == "agent" for card in cards),
            cut=sum(card.state == "visible" and any(map(is_cut, card.reasons)) for card in cards),
            asked=agent.asked,
            project_folder=_install_folder(context, agent, user=False),
            user_folder=_install_folder(context, agent, user=True),
        )


def _install_folder(context: Context, agent: Agent, *, user: bool) -> str:
    """Give where a skill is installed for an agent; nothing where nothing can be installed."""
    try:
        return folder_for(context, place_of(context, user=user), agent)
    except StoreError:
        return ""


def seen_by_agents(context: Context) -> dict[str, frozenset[str]]:
    """Give the paths of the skills that each agent on this machine sees, by the agent's id; of one
    that it reaches through a link, where the skill lies too.
    """
    return {
        agent.id: frozenset(
            path
            for card in cards
            if card.state == "visible"
            for path in (card.path, disk.real(card.path))
        )
        for agent, _trace, cards in _views_here(context)
    }


def _views_here(context: Context) -> Iterator[tuple[Agent, str, Sequence[Card]]]:
    """Give every agent that has left a trace on this machine, the trace, and all that it meets."""
    with context.as_agent(None) as everyone:
        folders = {
            seen.root.agent: seen.root.location
            for seen in reversed(everyone.catalogue.glance().seen)
        }
    for agent in AGENTS:
        trace = _trace(agent, context.home, folders)
        if trace:
            with context.as_agent(agent) as theirs:
                yield agent, trace, theirs.catalogue.contents().cards


def _trace(agent: Agent, home: str | None, folders: dict[str, str]) -> str:
    """Give what shows that an agent is used here: its own folder at home, or one of skills that is
    its alone.
    """
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
        total=len(cards),
        scopes=dict(Counter(card.scope for card in cards)),
        states=dict(Counter(card.state for card in cards)),
        readiness=dict(Counter(card.readiness for card in cards)),
        verdicts=dict(Counter(card.verdict or "unscanned" for card in cards)),
        codes=dict(sorted(codes.items(), key=lambda item: (-item[1], item[0]))),
        faults=tuple(_gravest(cards)),
    )


def _gravest(cards: list[Card]) -> list[SkillFault]:
    """Name a few faults: skills that are lost first, then errors, then the rest, each skill
    once.
    """
    rank = {"error": 0, "warning": 1, "info": 2}
    faulty = [
        (card.state != "invalid", rank[note.severity], card.path, note)
        for card in cards
        for note in sorted(card.diagnostics, key=lambda note: rank[note.severity])[:1]
    ]
    faulty.sort(key=lambda row: row[:3])
    return [SkillFault(path, note) for _lost, _rank, path, note in faulty[:MAX_SHOWN_FAULTS]]


# --- what is slow


def _speed(context: Context, cards: Iterable[Card]) -> SpeedFacts:
    bare = context.ports._replace(shelf=NoSnapshots(), later=lambda _work: None)
    live = context.catalogue
    cold = _timed(
        lambda: pipeline.catalogue(
            pipeline.glance(live.roots(), live.limits, bare), live.policy, bare
        )
    )
    warm = _timed(context.open_again().catalogue.contents)
    held = {card.root for card in cards}
    entries: Counter[str] = Counter()
    costs: list[tuple[str, int]] = []
    for one in context.catalogue.glance().seen:
        paths = one.keys()
        costs.append((one.root.location, len(paths)))
        entries.update(path.removesuffix("/.").rpartition("/")[0] for path in paths)
    crowded = tuple(
        item for item in entries.most_common(MAX_SHOWN_FOLDERS) if item[1] >= MIN_CROWDED_ENTRIES
    )
    empty = tuple(
        (path, stats) for path, stats in costs if path not in held and stats >= MIN_CROWDED_ENTRIES
    )
    return SpeedFacts(cold, warm, sum(stats for _path, stats in costs), crowded, empty)


def _timed(work: Callable[[], object]) -> float:
    before = machine.seconds()
    work()
    return round((machine.seconds() - before) * 1000, 1)
