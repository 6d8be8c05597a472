"""The whole product on one page: roots → what is there → what it says → which one wins → cards.

Pure over ports. Each stage is one call; what an earlier run learnt is used wherever stats prove it still true.
"""

from __future__ import annotations

from metier.catalogue import snapshot
from metier.catalogue.snapshot import View
from metier.discover.above import plugin_above, standing
from metier.light import TYPE_CHECKING, NamedTuple
from metier.resolve.facts import Asked, still_true

try:
    from _blake2 import blake2b  # what hashlib would give, without loading OpenSSL for it
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.model import Card, Key, Limits, Problem, Root
    from metier.ports import Disk, Machine, Shelf
    from metier.resolve.facts import Facts
    from metier.resolve.policy import Policy
    from metier.survey import Survey


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
    edition: str
    """Names this version of metier and Python: snapshots of another edition are never read."""


class Catalogue(NamedTuple):
    """What is on the machine, for one way of asking."""

    cards: list[Card]
    problems: list[Problem]
    truncated: list[Problem]
    categories: dict[str, str]
    facts: Facts


class Seen(NamedTuple):
    """One root after the first stage; the survey, and the stats it depends on, when somebody wants them."""

    root: Root
    token: bytes
    survey: Callable[[], Survey]
    keys: Callable[[], dict[str, Key]]
    reads: int = 0


class Glance(NamedTuple):
    """Every root after the first stage, and what people decided. The token names all of it: the same token, the same answers."""

    seen: list[Seen]
    problems: list[Problem]
    token: bytes
    decisions: bytes = b""

    @property
    def reads(self) -> int:
        """How many skill files had to be opened."""
        return sum(one.reads for one in self.seen)


def glance(roots: Sequence[Root], limits: Limits, ports: Ports) -> Glance:
    """Find what is below the roots, reading only what no earlier run has read."""
    present, problems = standing(roots, ports.disk)
    seen = [look(root, limits, ports) for root in present]
    said = ports.machine.decisions()
    token = blake2b(b"".join([*(one.token for one in seen), said]), digest_size=16).digest()
    return Glance(seen, problems, token, said)


def catalogue(glanced: Glance, policy: Policy, ports: Ports) -> Catalogue:
    """Resolve everything that was found into cards, strongest root first."""
    name = name_of(ports.edition, policy, [one.root for one in glanced.seen]) + ".view"
    view = snapshot.view_of(ports.shelf.load(name), glanced.token)
    if view is None or not still_true(view.facts, ports.machine):
        view = _resolved(glanced, policy, ports.machine)
        made = view
        ports.later(lambda: ports.shelf.save(name, snapshot.encode_view(made, glanced.token)))
    return Catalogue(view.cards, glanced.problems + view.problems, view.truncated, view.categories, view.facts)


def look(root: Root, limits: Limits, ports: Ports) -> Seen:
    """Take what is known of a root when every stat agrees; otherwise walk it, reading only what changed."""
    limits = root.limits or limits
    plugin = plugin_above(root, ports.disk)
    name = name_of(ports.edition, root.location, root.links, root.within, root.newest_first, root.hidden, limits, plugin)
    watch = snapshot.watch_of(ports.shelf.load(name + ".watch"))
    if watch is not None and snapshot.unchanged(watch, ports.disk.keys_below(root.location, watch.paths)):
        return Seen(root, watch.token, lambda: _recalled(root, limits, ports, name, plugin),
                    lambda: snapshot.keys_of(watch, root.location))  # fmt: skip
    from metier.discover.walk import survey  # only a root that changed is walked

    known = snapshot.survey_of(ports.shelf.load(name + ".rest"), root.location, watch) if watch else None
    started, token = ports.clock_ns(), ports.token()
    found = survey(root, limits, ports.disk, known.known if known else None, plugin, ports.progress)

    def keep() -> None:
        watched, rest = snapshot.encode(found, root.location, token, started)
        ports.shelf.save(name + ".rest", rest)
        ports.shelf.save(name + ".watch", watched)

    ports.later(keep)  # the answer comes first
    return Seen(root, token, lambda: found, lambda: found.known.keys, found.reads)


def _recalled(root: Root, limits: Limits, ports: Ports, name: str, plugin: str) -> Survey:
    from metier.discover.walk import survey

    watch = snapshot.watch_of(ports.shelf.load(name + ".watch"))
    recalled = snapshot.survey_of(ports.shelf.load(name + ".rest"), root.location, watch) if watch else None
    if recalled is not None or watch is None:
        return recalled or survey(root, limits, ports.disk, None, plugin)
    started, again = ports.clock_ns(), survey(root, limits, ports.disk, None, plugin)
    ports.later(lambda: ports.shelf.save(name + ".rest", snapshot.encode(again, root.location, watch.token, started)[1]))
    return again


def _resolved(glanced: Glance, policy: Policy, machine: Machine) -> View:
    from metier.resolve.resolver import resolve

    surveys = [(one.root, one.survey()) for one in glanced.seen]
    asked = Asked(machine)
    policy = policy._replace(said=machine.said(glanced.decisions)) if glanced.decisions else policy
    cards = resolve(((root, found.entries) for root, found in surveys), policy, asked)
    return View(asked.facts, cards, [problem for _root, found in surveys for problem in found.problems],
                [problem for _root, found in surveys for problem in found.truncated],
                {name: text for _root, found in reversed(surveys) for name, text in found.categories.items()})  # fmt: skip


def name_of(*parts: object) -> str:
    """Name a snapshot by all that it depends on."""
    return blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
