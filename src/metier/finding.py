"""What is on the machine, for one way of asking: the half of a library that looks, and keeps what it saw.

What was seen is one pair, a glance and the catalogue made from it, put in place by one assignment: whoever reads while the
disk is looked at again finishes on the old pair or begins on the new one, never on half of each.
"""

from __future__ import annotations

from _thread import RLock  # what `threading` would give, without loading it

from metier import configuration, pipeline
from metier.catalogue.texts import remembered
from metier.collector import CollectorOff
from metier.disclose.wire import listing_json
from metier.discover import disk
from metier.discover.scopes import Place, roots_for
from metier.light import TYPE_CHECKING
from metier.model import Category
from metier.resolve.policy import Policy, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self

    from metier.catalogue.disk import DiskShelf, NoShelf
    from metier.changes import Stamps, Tree
    from metier.discover.agents import Agent
    from metier.discover.env import HostMachine
    from metier.model import Card, Change, Limits, Problem, Root
    from metier.resolve.facts import Facts
    from metier.session import Session
    from metier.settings import Rule, Settings

LISTED = frozenset({"visible", "ask"})
"""States that a plain list shows; everything else needs a reason, and `all`."""


class Finder:
    """The skills of this machine, found, resolved and remembered. Nothing is read before the first question."""

    env: Mapping[str, str]
    cwd: str
    home: str | None
    agent: Agent | None
    given: tuple[Root, ...] | None
    rules: tuple[Rule, ...]
    settings: Settings
    project: str
    platform: str
    data: str | None
    edition: str
    progress: Callable[[str, int], None]
    shelf: DiskShelf | NoShelf
    machine: HostMachine
    ports: pipeline.Ports
    later: list[Callable[[], None]]
    warnings: list[str]
    session: Session
    alone: RLock
    """Held by whoever puts something new in place of what was seen. Whoever only reads does not wait for it."""
    dropped: list[Callable[[Change], None]]
    """Told of each change that `reload` finds, so that whatever was made from a skill that changed or went is let go of."""
    closing: list[Callable[[], None]]
    """What ends when the library is closed."""
    scope_problems: tuple[Problem, ...] = ()
    last_reads = 0
    _now: tuple[pipeline.Glance | None, pipeline.Catalogue | None] = (None, None)
    _paths: tuple[list[Card] | None, dict[str, Card | None]] = (None, {})
    _told: Stamps | None = None
    """Each skill as the last `reload` found it."""
    _trees: dict[str, Tree] | None = None
    """What was remembered of each skill's files, once somebody wanted to know of those."""

    def __new__(cls, *_given: object) -> Self:
        """Make what every library has, however it is opened."""
        made = super().__new__(cls)
        made.alone, made.dropped, made.closing = RLock(), [], []
        return made

    # --- finding

    def contents(self) -> pipeline.Catalogue:
        """Give everything that was found, resolved into cards."""
        found = self._now[1]
        if found is not None:
            return found
        with self.alone:
            glanced, found = self._now
            if found is None:
                glanced, found = self._made(glanced or self._look())
                self._now = glanced, found
            return found

    def glance(self) -> pipeline.Glance:
        """Look at the disk once, reading only what changed since the last time."""
        glanced = self._now[0]
        if glanced is not None:
            return glanced
        with self.alone:
            glanced, found = self._now
            if glanced is None:
                glanced = self._look()
                self._now = glanced, found
            return glanced

    def listing(self) -> str:
        """Give the JSON document of a plain list, as made before when nothing has changed since."""
        glanced = self.glance()
        before = self._now

        def make() -> tuple[str, Facts]:
            # The text made here is kept for the next time, so the cards need not be kept as well.
            found = pipeline.catalogue(glanced, self._policy, self.ports._replace(later=lambda _task: None))
            with self.alone:
                if self._now is before and before[0] is glanced:  # else somebody has looked again meanwhile, or begun anew
                    self._now = glanced, found
            listed = [card for card in found.cards if card.state in LISTED]
            return listing_json(listed, found.cards, self._problems(found), found.truncated), found.facts

        parts = (self._policy, [one.root for one in glanced.seen], glanced.problems, self.scope_problems)
        name = pipeline.name_of(self.ports.edition, *parts) + ".json"
        return remembered(self.shelf, name, glanced.token, self.machine, make, self.later.append)

    def skills(
        self, *, all: bool = False, scope: str | None = None, category: str | None = None, digests: bool = False  # noqa: A002
    ) -> list[Card]:
        """List cards: those that are visible, or with `all` everything that was found, each with its reasons."""
        cards = self.contents().cards
        if not all:
            cards = [card for card in cards if card.state in LISTED]
        if scope is not None:
            cards = [card for card in cards if card.scope == scope]
        if category is not None:
            cards = [card for card in cards if card.category == category]
        if digests:
            from metier.reading import digests_of

            cards = digests_of(self, cards)
        return list(cards)

    def categories(self) -> list[Category]:
        """List the categories of what is visible (tier 0)."""
        found, counts = self.contents(), dict[str, int]()
        for card in found.cards:
            if card.state in LISTED:
                counts[card.category] = counts.get(card.category, 0) + 1
        return [Category(name, found.categories.get(name, ""), counts[name]) for name in sorted(counts)]

    def problems(self) -> list[Problem]:
        """List what went wrong with folders, not with skills."""
        return self._problems(self.contents())

    def _problems(self, found: pipeline.Catalogue) -> list[Problem]:
        return [*self.settings.problems, *self.scope_problems, *found.problems]

    def reload(self, touched: Iterable[str] = (), *, deep: bool = False) -> Change:
        """Look at the disk again, reading only what changed, and say what is different from the last time.

        Of a skill's other files only those count of whose change somebody heard (`touched`), or with `deep` all of them.
        """
        from metier import changes

        touched = tuple(touched)
        with self.alone:
            old = self.told()
            self.settle()
            glanced, found = self._made(self._look())
            new, now = changes.stamps(glanced, found), self.ports.clock_ns()
            if touched or deep:
                self._trees = {} if self._trees is None else self._trees
                change = changes.between_trees(old, new, self._trees, touched, now, deep=deep)
            else:
                change = changes.between(old, new)
                if self._trees is not None:
                    changes.refreshed(self._trees, change, now)
            self._now, self._told = (glanced, found), new
            self._let_go(change)
        return change

    def told(self) -> Stamps:
        """Give what the next `reload` is compared with: each skill as the last one found it, or else as it is known now."""
        from metier import changes

        with self.alone:
            if self._told is None:
                self._told = changes.stamps(self.glance(), self.contents())
            return self._told

    def _let_go(self, change: Change) -> None:
        """Drop what hangs on skills that are not as they were: their place in the session, and whatever others made of them."""
        for path in (*change.changed, *change.removed):
            self.session.loaded.pop(path, None)
        if not any(change[:3]):
            return
        for told in tuple(self.dropped):
            try:
                told(change)
            except Exception as error:  # noqa: BLE001 - one that fails must not keep the others from letting go
                self.warnings.append(f"something that depends on the skills failed when they changed: {error}")

    def resolve(self, name: str) -> Card:
        """Give the one skill that a name, a path, `scope:name` or `plugin:name` means."""
        from metier.resolve import lookup

        cards = self.contents().cards
        at = self._at(cards).get(name) if name.startswith("/") else None
        if at is not None:
            return at
        return lookup.choose(name, cards, self.cwd, disk.real, refuse=self.settings.on_collision == "refuse")

    def _at(self, cards: list[Card]) -> dict[str, Card | None]:
        """Give the cards by path, as they were listed last; nothing where two have one path, for then it takes a choice."""
        known, found = self._paths
        if known is not cards:
            found = {}
            for card in cards:
                found[card.path] = None if card.path in found else card
            self._paths = cards, found
        return found

    # --- wiring

    def roots(self) -> tuple[Root, ...]:
        """List the folders to look in, strongest first, whether they exist or not."""
        if self.given is not None:
            return self.given
        place = Place(self.home, self.cwd, self.project, self.env, self.platform, configuration.packages(self))
        scopes = roots_for(self.agent, place, self.settings)
        self.scope_problems = scopes.problems
        return tuple(self._tuned(root) for root in scopes.roots)

    def _tuned(self, root: Root) -> Root:
        """Give a root what depends on its scope alone."""
        if root.scope == "plugin":
            return root._replace(newest_first=True)
        return root._replace(limits=self.settings.project_limits) if root.scope == "project" else root

    @property
    def _limits(self) -> Limits:
        return self.agent.limits if self.agent and self.agent.limits else self.settings.limits

    @property
    def _policy(self) -> Policy:
        agent = self.agent
        world = World(self.platform, agent.product if agent else "")
        return Policy(self.settings, world, keep_duplicates=agent is not None and agent.duplicates == "keep")

    def _look(self) -> pipeline.Glance:
        with CollectorOff():
            glanced = pipeline.glance(self.roots(), self._limits, self.ports)
        self.last_reads = glanced.reads
        return glanced

    def _made(self, glanced: pipeline.Glance) -> tuple[pipeline.Glance, pipeline.Catalogue]:
        with CollectorOff():
            return glanced, pipeline.catalogue(glanced, self._policy, self.ports)

    def forget(self) -> None:
        """Let go of what was seen: the next question looks again. What was told stays, or nobody would hear what changed since."""
        with self.alone:
            self._now = (None, None)

    def turned(self) -> None:
        """Take note that skills on disk were changed: at once where something hangs on them, else when the next question looks."""
        if self.session.loaded or self.dropped:
            self.reload()
        else:
            self.forget()

    def rejudge(self) -> None:
        """Let the cards be made anew of what was seen, as when another conversation begins: the disk is not looked at again."""
        with self.alone:
            self._now = (self._now[0], None)

    def renew(self) -> None:
        """Let go of a lock whose holder stayed behind, in a forked process."""
        self.alone = RLock()
        CollectorOff.renew()

    def settle(self) -> None:
        """Do what waited until after the answer: keep what was learnt for the next time."""
        if not self.later:
            return
        with self.alone, CollectorOff():
            while self.later:
                self.later.pop(0)()  # one by one: another thread may be adding to them
            self.shelf.trim()
            if self.shelf.trouble and self.shelf.trouble not in self.warnings:
                self.warnings.append(self.shelf.trouble)
