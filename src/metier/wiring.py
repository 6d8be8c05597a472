"""The composition root: settings in, the adapters of a library out. The only file that picks them."""

from __future__ import annotations

import os
import sys
import time

from metier import __version__, configuration, pipeline
from metier.catalogue.disk import DiskShelf, NoShelf
from metier.catalogue.snapshot import FORMAT
from metier.discover import disk, env as host
from metier.finding import Finder
from metier.light import TYPE_CHECKING
from metier.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Self

    from metier import ports
    from metier.discover.agents import Agent
    from metier.model import Root
    from metier.route.observed import Memory
    from metier.settings import Rule, Settings, Source
    from metier.trust.policy import Policy as TrustPolicy


class Wired(Finder):
    """A library's adapters, and how long they live."""

    def __init__(
        self, env: Mapping[str, str], cwd: str, home: str | None, agent: Agent | None, given: tuple[Root, ...] | None,
        rules: tuple[Rule, ...],
    ) -> None:  # fmt: skip
        """Read the configuration and find the project; look at no skill yet."""
        self.env, self.cwd, self.agent, self.given, self.rules = env, cwd, agent, given, rules
        self.home, self.platform = home, sys.platform
        self.data = host.data_folder(env, self.home)
        self.config = host.config_file(env, self.home)
        self.warnings: list[str] = []
        self.sources: tuple[Source, ...] = ()
        self.settings, self.project = configuration.read(self)
        self.shelf = DiskShelf(f"{self.data}/index", self.home) if self.data else NoShelf()
        self.machine = host.HostMachine(env, self.home, self.project)
        self.machine.given, self.machine.refused = lambda: self.session.secrets, lambda: self.settings.secrets_refused
        self.progress: Callable[[str, int], None] = lambda _what, _count: None
        """Told how far long work has come; a door may put a meter here."""
        self.aside: Callable[[Callable[[], None]], object] = lambda work: work()
        """Does what nobody has to wait for; a server has a thread for it."""
        self.later: list[Callable[[], None]] = []
        """What waits until after the answer."""
        self.analyzers: tuple[ports.Analyzer, ...] = ()
        self.session = Session(os.urandom(8).hex(), os.urandom(16))
        self.counter: ports.Counter | None = None
        """Counts tokens exactly, where the estimate will not do."""
        self.ranker: ports.Ranker | None = None
        """Chooses skills for a task; without one, what `find` does."""
        self.engine: ports.Engine | None = None
        """Keeps the index that is searched; without one, files below the data folder."""
        self.embedder: ports.Embedder | None = None
        """Sees what texts mean; without one, the model that comes with metier, where it can run."""
        self.observed: Memory | None = None
        """What observation triggers remember: when each last fired."""
        self.edition = f"{__version__}/{FORMAT}/{sys.implementation.cache_tag}"
        self.ports = pipeline.Ports(disk, self.shelf, self.machine, time.time_ns, lambda: os.urandom(16),
                                    lambda count: self.progress("folders", count), self.later.append, self.edition)  # fmt: skip
        self.room = 4 << 20
        """Bytes that skills taken apart for searches may take up, about; a server has more."""
        self.routed: object = None
        """What the searches of this library share: it belongs to `routing` alone."""
        self._trusting: tuple[Settings, TrustPolicy] | None = None
        self._leave_open()

    def _leave_open(self) -> None:
        """Leave what a host may bring of its own to metier's own parts."""
        self.sandbox: ports.Sandbox | None = None
        """Keeps scripts in; without one, bubblewrap (`box`)."""
        self.runner: ports.Runner | None = None
        """Runs scripts in the place of metier's own sandbox."""
        self.hooks: tuple[ports.Hook, ...] = ()
        """Told before and after each code skill is called, in this order."""
        self.drafts: ports.Drafts | None = None
        self.providers: tuple[ports.Provider, ...] = ()
        self.hands: ports.Hands | None = None
        """What changes the disk where skills are put; without one, the system's own calls."""
        self.fetchers: Mapping[str, ports.Fetcher] = {}
        """Who opens sources of a kind, in the place of metier's own."""
        self.seekers: tuple[ports.Seeker, ...] = ()
        """Further places that `search` asks."""

    def __enter__(self) -> Self:
        """Use the library in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Let go of everything."""
        self.close()

    def close(self) -> None:
        """End what watches for it, write down what was learnt, and let go of it."""
        while self.closing:
            self.closing[-1]()
        self.settle()
        self.forget()

    def begin_session(self, name: str = "") -> Session:
        """Begin anew: no skill was loaded yet, nothing was asked for, no secret is held."""
        self.session = Session(name or os.urandom(8).hex(), os.urandom(16))
        self.rejudge()  # what was ready with the old one's secrets may not be any more
        return self.session

    def box(self) -> ports.Sandbox:
        """Give the sandbox that scripts run in."""
        if self.sandbox is None:
            from metier.execute.proc import Bubblewrap

            self.sandbox = Bubblewrap()
        return self.sandbox

    @property
    def trust_policy(self) -> TrustPolicy:
        """What configuration says about trust."""
        if self._trusting is None or self._trusting[0] is not self.settings:
            self._trusting = self.settings, configuration.trust_policy(self)
        return self._trusting[1]
