"""The whole product on one page: roots → what is there → what it says → which one wins → cards.

Pure over ports. Each stage is one call; what an earlier run learnt is used wherever stats prove it
still true.
"""

from __future__ import annotations

from metier.catalogue import judged, snapshot
from metier.catalogue.snapshot import ResolvedView
from metier.discover.scopes import existing_roots, plugin_above
from metier.fast import TYPE_CHECKING, NamedTuple, blake2b
from metier.model import Said
from metier.resolve.model import AskedMachine, still_true

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.discover.model import Survey
    from metier.model import Card, Key, Limits, Problem, Root
    from metier.ports import Disk, Machine, Shelf
    from metier.resolve.model import Facts, ResolvePolicy


class Ports(NamedTuple):
    """What the pipeline needs of the world."""

    disk: Disk
    shelf: Shelf
    machine: Machine
    clock_ns: Callable[[], int]
    token: Callable[[], bytes]
    progress: Callable[[int], None]
    """Told from time to time how many folders of a root have been visited."""
    later: Callable[[Callable[[], None]], None]
    """Takes what can be done after the answer: writing down what was learnt."""
    judged: judged.JudgedBook
    weigh: Callable[[Said], Said]
    """Lets the policy have its say about what was judged."""
    edition: str
    """Names this version of metier and Python: snapshots of another edition are never read."""


class Catalogue(NamedTuple):
    """What is on the machine, for one way of asking."""

    cards: list[Card]
    problems: list[Problem]
    truncated: list[Problem]
    categories: dict[str, str]
    facts: Facts


class SeenRoot(NamedTuple):
    """One root after the first stage; the survey, and the stats it depends on, when somebody wants
    them.
    """

    root: Root
    token: bytes
    survey: Callable[[], Survey]
    keys: Callable[[], dict[str, Key]]
    reads: int = 0


class Look(NamedTuple):
    """Every root after the first stage, and what people decided. The token names all of it: the
    same token, the same answers.
    """

    seen: list[SeenRoot]
    problems: list[Problem]
    token: bytes
    decisions: bytes = b""
    files: bytes = b""
    """Names what lies on the disk alone."""

    @property
    def reads(self) -> int:
        """How many skill files had to be opened."""
        return sum(one.reads for one in self.seen)


def glance(roots: Sequence[Root], limits: Limits, ports: Ports) -> Look:
    """Find what is below the roots, reading only what no earlier run has read."""
    present, problems = existing_roots(roots, ports.disk)
    seen = [look(root, limits, ports) for root in present]
    return tell(Look(seen, problems, b""), ports)


def tell(glanced: Look, ports: Ports) -> Look:
    """Give the same look with what people have decided by now, and what was judged."""
    said = ports.machine.decisions()
    known = (one.token + ports.judged.token(one.root.location) for one in glanced.seen)
    token = blake2b(b"".join([*known, said]), digest_size=16).digest()
    files = blake2b(b"".join(one.token for one in glanced.seen), digest_size=16).digest()
    return glanced._replace(token=token, decisions=said, files=files)


def catalogue(glanced: Look, policy: ResolvePolicy, ports: Ports) -> Catalogue:
    """Resolve everything that was found into cards, strongest root first."""
    name = name_of(ports.edition, policy, [one.root for one in glanced.seen]) + ".view"
    view = snapshot.view_of(ports.shelf.load(name), glanced.token)
    if view is None or not still_true(view.facts, ports.machine):
        view = _resolved(glanced, policy, ports)
        made = view
        ports.later(lambda: ports.shelf.save(name, snapshot.encode_view(made, glanced.token)))
    return Catalogue(
        view.cards, glanced.problems + view.problems, view.truncated, view.categories, view.facts
    )


def look(root: Root, limits: Limits, ports: Ports) -> SeenRoot:
    """Take what is known of a root when every stat agrees; otherwise walk it, reading only what
    changed.
    """
    limits = root.limits or limits
    plugin = plugin_above(root, ports.disk)
    place = (root.location, root.links, root.within, root.newest_first, root.hidden)
    read_as = root.loading and (root.loading, root.project)
    name = name_of(ports.edition, *place, limits, plugin, read_as)
    watch = snapshot.watch_of(ports.shelf.load(name + ".watch"))
    if watch is not None and snapshot.unchanged(
        watch, ports.disk.keys_below(root.location, watch.paths)
    ):
        return SeenRoot(
            root,
            watch.token,
            lambda: _recalled(root, limits, ports, name, plugin),
            lambda: snapshot.keys_of(watch, root.location),
        )
    from metier.discover.walk import survey  # only a root that changed is walked

    known = (
        snapshot.survey_of(ports.shelf.load(name + ".rest"), root.location, watch)
        if watch
        else None
    )
    started = ports.clock_ns()
    token = ports.token()
    found = survey(root, limits, ports.disk, known.known if known else None, plugin, ports.progress)

    def keep() -> None:
        watched, rest = snapshot.encode(found, root.location, token, started)
        ports.shelf.save(name + ".rest", rest)
        ports.shelf.save(name + ".watch", watched)

    ports.later(keep)  # the answer comes first
    return SeenRoot(root, token, lambda: found, lambda: found.known.keys, found.reads)


def _recalled(root: Root, limits: Limits, ports: Ports, name: str, plugin: str) -> Survey:
    from metier.discover.walk import survey

    watch = snapshot.watch_of(ports.shelf.load(name + ".watch"))
    recalled = (
        snapshot.survey_of(ports.shelf.load(name + ".rest"), root.location, watch)
        if watch
        else None
    )
    if recalled is not None or watch is None:
        return recalled or survey(root, limits, ports.disk, None, plugin)
    started = ports.clock_ns()
    again = survey(root, limits, ports.disk, None, plugin)
    ports.later(
        lambda: ports.shelf.save(
            name + ".rest", snapshot.encode(again, root.location, watch.token, started)[1]
        )
    )
    return again


def _resolved(glanced: Look, policy: ResolvePolicy, ports: Ports) -> ResolvedView:
    from metier.resolve.resolver import doubt_about, resolve

    surveys = [(one.root, one.survey()) for one in glanced.seen]
    asked = AskedMachine(ports.machine)
    said = ports.machine.said(glanced.decisions) if glanced.decisions else Said()
    verdicts = ports.judged.below(glanced.seen)
    said = ports.weigh(said) if verdicts else said
    if said.broken or said.fleeting:
        asked.keep_nothing()  # it rests on what nobody watches: the audit log, or other tools' locks
    policy = policy._replace(said=said, judged=verdicts)
    cards = resolve(((root, found.entries) for root, found in surveys), policy, asked)
    # a project that nobody trusts describes no category
    described = [found.categories for root, found in surveys if not doubt_about(root, said)]
    return ResolvedView(
        asked.facts,
        cards,
        [problem for _root, found in surveys for problem in found.problems],
        [problem for _root, found in surveys for problem in found.truncated],
        {name: text for some in reversed(described) for name, text in some.items()},
    )


def name_of(*parts: object) -> str:
    """Name a snapshot by all that it depends on."""
    return blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
