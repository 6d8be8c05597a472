"""The composition root: settings in, a wired `Library` out. The only file that picks adapters.

Everything a door can do is one method here, so that command line, servers and programs cannot drift apart.
"""

from __future__ import annotations

import os
import sys
import time

from metier import __version__, configuration, pipeline
from metier.catalogue.disk import DiskShelf, NoShelf
from metier.catalogue.snapshot import FORMAT
from metier.catalogue.texts import remembered
from metier.closest import closest
from metier.collector import CollectorOff
from metier.disclose.wire import listing_json
from metier.discover import disk, env as host
from metier.discover.agents import AGENTS, agent_named
from metier.discover.scopes import Place, given_roots, roots_for
from metier.errors import ConfigError, NotFoundError, RefusedError, UsageError
from metier.light import TYPE_CHECKING
from metier.model import Category
from metier.resolve.policy import Policy, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from metier.audit.chain import Record
    from metier.audit.proof import Verified
    from metier.diagnosis import Report
    from metier.discover.agents import Agent
    from metier.model import Body, Card, Change, Checked, Digest, File, Limits, Problem, Root, Why
    from metier.ports import Analyzer
    from metier.resolve.facts import Facts
    from metier.settings import Rule, Settings, Source
    from metier.terms import Scanned
    from metier.trust.policy import Policy as TrustPolicy
    from metier.vetting import Trusted, Verb

LISTED = frozenset({"visible", "ask"})
"""States that a plain list shows; everything else needs a reason, and `all`."""


def open_library(  # noqa: PLR0913 - each is one way to open it, by name
    *,
    roots: Sequence[str] | None = None,
    agent: str | None = None,
    home: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    rules: Iterable[Rule] = (),
    analyzers: Iterable[Analyzer] = (),
) -> Library:
    """Open the skills of this machine as one agent sees them, or as metier does when none is named.

    `roots` replaces every configured folder; `home` and `config` stand for METIER_HOME and METIER_CONFIG.
    `analyzers` add rules of your own to a scan.
    """
    surroundings = dict(os.environ if env is None else env)
    if home is not None:
        surroundings["METIER_HOME"] = os.path.abspath(home)
    if config is not None:
        surroundings["METIER_CONFIG"] = os.path.abspath(config)
    chosen = _agent(agent or surroundings.get("METIER_AGENT"))
    here = os.path.abspath(cwd) if cwd is not None else _working_folder()
    if cwd is not None and not os.path.isdir(here):
        raise NotFoundError(f"there is no folder {cwd}", hint="give a folder that exists")
    person = host.home_of(surroundings, own=env is None)
    given = None if roots is None else given_roots([_root(str(root), here, person) for root in roots])
    library = Library(surroundings, here, person, chosen, given, tuple(rules))
    library.analyzers = tuple(analyzers)
    return library


def _root(root: str, cwd: str, home: str | None) -> str:
    """Give the absolute path of a root as named in `cwd`."""
    if not root:
        raise UsageError("a root may not be empty", hint="give the folder that holds the skills")
    return disk.absolute(root, cwd, home)


def _agent(name: str | None) -> Agent | None:
    if not name:
        return None
    found = agent_named(name)
    if found is None:
        near = closest(name, [agent.id for agent in AGENTS])
        meant = f"did you mean {near}? " if near else ""
        raise UsageError(f"there is no agent named '{name}'", hint=f"{meant}'metier doctor --agents' lists all")
    return found


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise NotFoundError("the working folder no longer exists", hint="change to another folder, or use -C DIR") from error


class Library:
    """The skills of this machine, for one way of asking. Nothing is read before the first question."""

    def __init__(
        self, env: Mapping[str, str], cwd: str, home: str | None, agent: Agent | None, given: tuple[Root, ...] | None,
        rules: tuple[Rule, ...],
    ) -> None:  # fmt: skip
        """Read the configuration and find the project; look at no skill yet."""
        self.env, self.cwd, self.agent, self.given, self.rules = env, cwd, agent, given, rules
        self.home = home
        self.data = host.data_folder(env, self.home)
        self.config = host.config_file(env, self.home)
        self.warnings: list[str] = []
        self.sources: tuple[Source, ...] = ()
        self.settings, self.project = configuration.read(self)
        self.shelf = DiskShelf(f"{self.data}/index", self.home) if self.data else NoShelf()
        self.machine = host.HostMachine(env, self.home)
        self.last_reads = 0
        self.progress: Callable[[str, int], None] = lambda _what, _count: None
        """Told how far long work has come; a door may put a meter here."""
        self.scope_problems: tuple[Problem, ...] = ()
        self.later: list[Callable[[], None]] = []
        """What waits until after the answer."""
        self.analyzers: tuple[Analyzer, ...] = ()
        self.edition = f"{__version__}/{FORMAT}/{sys.implementation.cache_tag}"
        self.ports = pipeline.Ports(disk, self.shelf, self.machine, time.time_ns, lambda: os.urandom(16),
                                    lambda count: self.progress("folders", count), self.later.append, self.edition)  # fmt: skip
        self._glance: pipeline.Glance | None = None
        self._catalogue: pipeline.Catalogue | None = None
        self._trusting: tuple[Settings, TrustPolicy] | None = None

    def __enter__(self) -> Library:
        """Use the library in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Let go of everything."""
        self.close()

    def close(self) -> None:
        """Write down what was learnt, and let go of it."""
        self.settle()
        self._glance = self._catalogue = None

    # --- finding

    def contents(self) -> pipeline.Catalogue:
        """Give everything that was found, resolved into cards."""
        if self._catalogue is None:
            glanced = self.glance()
            with CollectorOff():
                self._catalogue = pipeline.catalogue(glanced, self._policy, self.ports)
        return self._catalogue

    def glance(self) -> pipeline.Glance:
        """Look at the disk once, reading only what changed since the last time."""
        if self._glance is None:
            self._glance = self._look()
        return self._glance

    def listing(self) -> str:
        """Give the JSON document of a plain list, as made before when nothing has changed since."""
        glanced = self.glance()

        def make() -> tuple[str, Facts]:
            # The text made here is kept for the next time, so the cards need not be kept as well.
            found = pipeline.catalogue(glanced, self._policy, self.ports._replace(later=lambda _task: None))
            self._catalogue = found
            return listing_json(self.skills(), found.cards, self.problems(), found.truncated), found.facts

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
        counts: dict[str, int] = {}
        for card in self.skills():
            counts[card.category] = counts.get(card.category, 0) + 1
        texts = self.contents().categories
        return [Category(name, texts.get(name, ""), counts[name]) for name in sorted(counts)]

    def problems(self) -> list[Problem]:
        """List what went wrong with folders, not with skills."""
        return [*self.settings.problems, *self.scope_problems, *self.contents().problems]

    def reload(self) -> Change:
        """Look at the disk again, reading only what changed, and say what is different."""
        from metier.changes import between, stamps

        old = stamps(self.glance(), self.contents())
        self.settle()
        self._glance, self._catalogue = self._look(), None
        return between(old, stamps(self.glance(), self.contents()))

    def as_agent(self, agent: str | None) -> Library:
        """Open the same place as another agent sees it, or as metier does."""
        return Library(self.env, self.cwd, self.home, _agent(agent), None, self.rules)

    def resolve(self, name: str) -> Card:
        """Give the one skill that a name, a path, `scope:name` or `plugin:name` means."""
        from metier.resolve import lookup

        refuse = self.settings.on_collision == "refuse"
        return lookup.choose(name, self.contents().cards, self.cwd, disk.real, refuse=refuse)

    # --- reading

    def view(self, name: str, file: str | None = None, *, consent: bool = False) -> Body | File:
        """Give a skill's body and the names of its files, or one of them; `consent` is a person's yes where loading asks."""
        from metier import reading as r

        return r.body_of(self, name, consent=consent) if file is None else r.file_of(self, name, file, consent=consent)

    def check(self, paths: str | os.PathLike[str] | Sequence[str], *, strict: bool = False) -> list[Checked]:
        """Hold every skill below the paths against the standard."""
        from metier import reading

        return reading.check(self, _paths(paths), strict=strict)

    def why(self, name: str) -> Why:
        """Say which copy a name means and why each other copy does not count."""
        from metier import reading

        return reading.why(self, name)

    def digest(self, card: Card) -> Digest | None:
        """Give the digest of a skill's tree, computed at most once for the same files; none when it cannot be read whole."""
        from metier import reading

        return reading.digest_of(self, card)

    def fingerprint(self) -> str:
        """Give one value for the whole library, support files included: it changes when any of them does."""
        from metier import reading

        return reading.fingerprint(self)

    def doctor(self) -> Report:
        """Say what is configured, what is missing, what is wrong and what is slow."""
        from metier.diagnosis import Probe, examine

        self.contents()
        self.settle()  # the second listing below is to find what the first one learnt
        bare = self.ports._replace(shelf=NoShelf(), later=lambda _work: None)
        return examine(self, Probe(
            time.perf_counter,
            lambda path: os.access(path, os.W_OK),
            lambda: pipeline.catalogue(pipeline.glance(self.roots(), self._limits, bare), self._policy, bare),
            lambda: Library(self.env, self.cwd, self.home, self.agent, self.given, self.rules).contents(),
        ))  # fmt: skip

    # --- judging

    def scan(
        self, paths: str | os.PathLike[str] | Sequence[str], *, policy: str | None = None, baseline: str | None = None
    ) -> list[Scanned]:
        """Say what every skill below the paths might do; verdicts are kept by digest and ruleset."""
        from metier import judging

        return judging.scan(self, _paths(paths), policy=policy, baseline=baseline)

    def write_baseline(self, file: str, scanned: Iterable[Scanned]) -> int:
        """Accept every finding of a scan: write them to a file that a later scan takes as its baseline; give their number."""
        from metier import judging

        return judging.write_baseline(self, file, scanned)

    @property
    def trust_policy(self) -> TrustPolicy:
        """What configuration says about trust."""
        if self._trusting is None or self._trusting[0] is not self.settings:
            self._trusting = self.settings, configuration.trust_policy(self)
        return self._trusting[1]

    def trust(self, name: str, action: Verb = "show", *, reason: str = "", accept_dangerous: bool = False) -> Trusted:
        """Give the decision on a skill, or make one about its bytes as they are now: approve, quarantine, block, unblock."""
        from metier import vetting

        return vetting.trust(self, name, action, reason=reason, accept_dangerous=accept_dangerous)

    def trust_project(self, folder: str = ".", *, trusted: bool = True) -> str:
        """Offer a project's skills to models, or stop doing so; give the project's folder."""
        from metier import vetting

        return vetting.trust_project(self, folder, trusted=trusted)

    def audit_tail(self, limit: int = 20) -> list[Record]:
        """Give the last events of the audit log."""
        from metier import recording

        return recording.tail(self, limit)

    def audit_verify(self) -> Verified:
        """Prove that nobody changed the audit log, or say where someone did."""
        from metier import recording

        return recording.verify(self)

    # --- changing

    def enable(self, name: str) -> Card:
        """Show a skill, by a rule in the user's configuration."""
        return self._ruled(name, enabled=True)

    def disable(self, name: str) -> Card:
        """Hide a skill, by a rule in the user's configuration."""
        return self._ruled(name, enabled=False)

    def new(self, name: str, folder: str | None = None, description: str = "") -> str:
        """Write a new skill that passes a strict check; give its folder."""
        from metier.writing import scaffold

        return scaffold(self, name, folder, description)

    # --- wiring

    def roots(self) -> tuple[Root, ...]:
        """List the folders to look in, strongest first, whether they exist or not."""
        if self.given is not None:
            return self.given
        place = Place(self.home, self.cwd, self.project, self.env, sys.platform, configuration.packages(self))
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
        world = World(sys.platform, agent.product if agent else "")
        return Policy(self.settings, world, keep_duplicates=agent is not None and agent.duplicates == "keep")

    def _look(self) -> pipeline.Glance:
        with CollectorOff():
            glanced = pipeline.glance(self.roots(), self._limits, self.ports)
        self.last_reads = glanced.reads
        return glanced

    def settle(self) -> None:
        """Do what waited until after the answer: keep what was learnt for the next time."""
        if not self.later:
            return
        waiting, self.later[:] = list(self.later), []
        with CollectorOff():
            for task in waiting:
                task()
        self.shelf.trim()
        if self.shelf.trouble and self.shelf.trouble not in self.warnings:
            self.warnings.append(self.shelf.trouble)

    def _ruled(self, name: str, *, enabled: bool) -> Card:
        card = self.resolve(name)
        if self.config is None:
            raise ConfigError("there is no place for a configuration file", hint="set METIER_CONFIG or HOME")
        # A plain name means the skill, whichever copy of it; anything more exact means that copy.
        selector = ("name", card.name) if name == card.name and not card.plugin else ("path", card.path)
        host.write_rule(self.config, selector, enabled=enabled)
        self.settings, self.project = configuration.read(self)
        self._catalogue = None
        after = next(found for found in self.contents().cards if found.path == card.path)
        if enabled and after.held == "disabled":
            raise RefusedError(f"'{card.name}' is still {after.reasons[0]}", hint=f"take it out there: {self.config}")
        return after


def _paths(paths: str | os.PathLike[str] | Sequence[str]) -> list[str]:
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in given]
