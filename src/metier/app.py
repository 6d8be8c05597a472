"""A library and all its verbs: what a door can do is one method here, so that command line, servers and programs cannot drift."""

from __future__ import annotations

import os
import time

from metier import configuration, pipeline
from metier.catalogue.disk import NoShelf
from metier.discover import disk, env as host
from metier.discover.agents import agent_asked
from metier.discover.scopes import given_roots
from metier.errors import ConfigError, NotFoundError, RefusedError, UsageError
from metier.foreman import Foreman
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from metier.audit.chain import Record
    from metier.audit.proof import Verified
    from metier.diagnosis import Report
    from metier.disclose.catalogue import Disclosure
    from metier.disclose.pages import Page
    from metier.expanding import Expanded, Preloaded, SlashCommand
    from metier.managing import Managed
    from metier.model import Body, Card, Change, Checked, Digest, File, Why
    from metier.offers import Package, Section
    from metier.ports import Analyzer
    from metier.preparing import Ask, Prepared, Vault
    from metier.providing import Gathered
    from metier.reading import Loaded
    from metier.route.observed import Observation, Observed, Watched
    from metier.route.triggers import Match
    from metier.settings import Rule
    from metier.terms import Scanned
    from metier.usage.report import Usage
    from metier.vetting import Trusted, Verb
    from metier.wanted import Confusion, Hit, Indexed
    from metier.watching import Watcher

def open_library(  # noqa: PLR0913 - each is one way to open it, by name
    *, roots: Sequence[str] | None = None, agent: str | None = None, home: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None, cwd: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None,
    rules: Iterable[Rule] = (), analyzers: Iterable[Analyzer] = (),
) -> Library:  # fmt: skip
    """Open the skills of this machine as one agent sees them, or as metier does when none is named.

    `roots` replaces every configured folder; `home` and `config` stand for METIER_HOME and METIER_CONFIG.
    `analyzers` add rules of your own to a scan.
    """
    surroundings = dict(os.environ if env is None else env)
    if home is not None:
        surroundings["METIER_HOME"] = os.path.abspath(home)
    if config is not None:
        surroundings["METIER_CONFIG"] = os.path.abspath(config)
    chosen = agent_asked(agent or surroundings.get("METIER_AGENT"))
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


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise NotFoundError("the working folder no longer exists", hint="change to another folder, or use -C DIR") from error


class Library(Foreman):
    """The skills of this machine, for one way of asking. Nothing is read before the first question."""

    def as_agent(self, agent: str | None) -> Library:
        """Open the same place as another agent sees it, or as metier does."""
        return Library(self.env, self.cwd, self.home, agent_asked(agent), None, self.rules)

    # --- reading

    def view(self, name: str, file: str | None = None, *, consent: bool = False) -> Body | File:
        """Give a skill's body and the names of its files, or one of them; `consent` is a person's yes where loading asks."""
        from metier import reading as r

        return r.body_of(self, name, consent=consent) if file is None else r.file_of(self, name, file, consent=consent)

    def load(self, name: str, *, consent: bool = False) -> Loaded:
        """Give a skill as a model is to receive it, in tags that name it; a second time in one session only a reminder."""
        from metier import reading

        return reading.load_for_model(self, name, consent=consent)

    def sections(self, name: str, *, consent: bool = False) -> list[Section]:
        """List the sections of a skill's body, each with its token cost."""
        from metier import reading

        return reading.sections_of(self, name, consent=consent)

    def section(self, name: str, heading: str, *, consent: bool = False) -> Section:
        """Give one section of a skill's body."""
        from metier import reading

        return reading.section_of(self, name, heading, consent=consent)

    def page(self, name: str, file: str | None = None, cursor: str = "", *, consent: bool = False) -> Page:
        """Give a body or a file page by page; the cursor holds only as long as the content does (CX-59)."""
        from metier import reading

        return reading.page_of(self, name, file, cursor, consent=consent)

    def check(self, paths: str | os.PathLike[str] | Sequence[str], *, strict: bool = False) -> list[Checked]:
        """Hold every skill below the paths against the standard."""
        from metier import checking

        return checking.check(self, _paths(paths), strict=strict)

    def why(self, name: str) -> Why:
        """Say which copy a name means and why each other copy does not count."""
        from metier import disclosing
        from metier.mirroring import explaining

        return disclosing.with_budget(self, explaining.why(self, name))

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

    # --- finding the one that fits

    def find(
        self, task: str, limit: int = 10, *, scope: str | None = None, category: str | None = None, states: Iterable[str] = (),
        tags: Iterable[str] = (), unfinished: bool = False,
    ) -> list[Hit]:  # fmt: skip
        """Give the skills that fit a task, the best first, each with what made it rank; `unfinished` while somebody types it."""
        from metier import routing

        return routing.find(self, task, routing.Wish(limit, scope, category, states, tags, unfinished))

    def index(self) -> Indexed:
        """Bring the index that `find` searches up to date, its vectors too, however long that takes."""
        from metier import routing

        return routing.index(self)

    def confusable(self, least: float | None = None) -> Confusion:
        """Give the pairs of skills that answer the same tasks, the closest first, and which could not be compared (ZE-34)."""
        from metier import routing

        return routing.confusable(self, least)

    def matches(self, task: str) -> list[Match]:
        """Give the skills of which a trigger phrase stands in a task, the longest phrase first (CO-12)."""
        from metier import triggering

        return triggering.matches(self, task)

    def observe(self, seen: Observation, now: datetime, consent: Callable[[Watched], bool]) -> list[Observed]:
        """Hold what was observed against the observation triggers of all skills: which fire, and why the others do not (CO-22)."""
        from metier import triggering

        return triggering.observe(self, seen, now, consent)

    # --- telling a model

    def catalogue(
        self, budget: int | str | None = None, *, window: int = 0, format: str = "", mode: str = "auto", task: str = "",  # noqa: A002
        previous: Disclosure | dict[str, Any] | None = None,
    ) -> Disclosure:  # fmt: skip
        """Give the text that tells a model which skills there are, within a token budget, and what was left out of it."""
        from metier import disclosing

        wish = disclosing.Wish(budget, window, format, mode, task, previous)
        return disclosing.catalogue(self, wish)

    def packages(self) -> Gathered:
        """List the skills that providers offer, each with the authority to read it through."""
        from metier import providing

        return providing.packages(self)

    def read_package(self, package: Package, resource: str = "", cursor: str = "") -> Page:
        """Read a resource of a package through the provider that lists it; its instructions when none is named."""
        from metier import providing

        return providing.read(self, package, resource, cursor)

    def expand(self, text: str, *, selections: Sequence[tuple[str, str]] = (), connectors: Iterable[str] = ()) -> Expanded:
        """Turn a user's slash commands and mentions into what a model receives; no plain mention shares a connector's name."""
        from metier import expanding

        return expanding.expand(self, text, selections, connectors)

    def recover(self, message: str) -> str | None:
        """Give the user's own words out of a message that this session expanded; nothing for any other text (HE-27)."""
        from metier.disclose import message as messages

        return messages.recover(message, self.session.key)

    def commands(self) -> list[SlashCommand]:
        """List the slash commands, with their argument hints; two skills with one slug are both in it."""
        from metier import expanding

        return expanding.commands(self)

    def preload(self, names: Sequence[str]) -> Preloaded:
        """Give the instructions of several skills for the start of a session, and which names mean none (HE-30)."""
        from metier import expanding

        return expanding.preload(self, names)

    def implicit_use(self, command: str, folder: str | None = None) -> Card | None:
        """Give the skill that a shell command uses without naming it: runs its script, or reads its SKILL.md (CX-48)."""
        from metier import expanding

        return expanding.implicit_use(self, command, folder)

    # --- preparing

    def prepare(self, name: str) -> Prepared:
        """Say what a skill needs, what of it is missing, and how to get it."""
        from metier import preparing

        return preparing.prepare(self, name)

    def setup(self, name: str, ask: Callable[[Ask], str | None], *, store: str = "") -> Prepared:
        """Ask for the secrets that a skill declares and lacks, and keep what is given; `ask` gives nothing to skip."""
        from metier import preparing

        return preparing.setup(self, name, ask, store=store)

    def vault(self) -> Vault:
        """Give the secrets that are kept here: their names to anybody, their values to nobody but a skill's own run."""
        from metier import preparing

        return preparing.vault(self)

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

    def manage(self, action: str, name: str, **parts: Any) -> Managed:
        """Create, edit, patch or delete a skill of the user's own, or one of its files, as an agent asks for it (HE-47)."""
        from metier import managing

        return managing.manage(self, action, name, **parts)

    def watch(self, heard: Callable[[Change], None], *, poll: bool = False) -> Watcher:
        """Keep the library current while the disk changes, and tell what came, changed and went; close it to stop."""
        from metier import watching

        return watching.watch(self, heard, poll=poll)

    def usage(self, *, days: int = 30) -> Usage:
        """Say which skills are used, what they cost, which are dead, and which say nearly the same."""
        from metier import counting

        return counting.usage(self, days=days)

    def new(self, name: str, folder: str | None = None, description: str = "") -> str:
        """Write a new skill that passes a strict check; give its folder."""
        from metier.writing import scaffold

        return scaffold(self, name, folder, description)

    def _ruled(self, name: str, *, enabled: bool) -> Card:
        card = self.resolve(name)
        if self.config is None:
            raise ConfigError("there is no place for a configuration file", hint="set METIER_CONFIG or HOME")
        # A plain name means the skill, whichever copy of it; anything more exact means that copy.
        selector = ("name", card.name) if name == card.name and not card.plugin else ("path", card.path)
        host.write_rule(self.config, selector, enabled=enabled)
        with self.alone:
            self.settings, self.project = configuration.read(self)
            self._now = self._now[0], None
            after = next(found for found in self.contents().cards if found.path == card.path)
        if enabled and after.held == "disabled":
            raise RefusedError(f"'{card.name}' is still {after.reasons[0]}", hint=f"take it out there: {self.config}")
        return after


def _paths(paths: str | os.PathLike[str] | Sequence[str]) -> list[str]:
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in given]
