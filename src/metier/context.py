"""Builds what every part of an open library shares: settings, adapters, the clock, the session and
warnings.

This is the only file that picks adapters. A session is one conversation of an agent: which skills
it has read, what it was asked for, and the secrets it was given. Nothing of a session is written
down, and another conversation begins with an empty one (HE-20, CX-50).
"""

from __future__ import annotations

import os
import sys
import time
from functools import cached_property, partial

from metier import __version__, pipeline
from metier.catalogue import snapshot
from metier.catalogue.io.snapshot_files import NoSnapshots, SnapshotFolder
from metier.catalogue.judged import JudgedBook
from metier.catalogue.live import LiveCatalogue
from metier.catalogue.snapshot import FORMAT
from metier.discover.io import disk, machine, packages
from metier.discover.scopes import UPSTREAMS, project_root_candidates
from metier.errors import ConfigError
from metier.fast import TYPE_CHECKING, CollectorOff, RLock
from metier.settings.io import (
    ORGANISATION_CONFIG,
    POLICY_FILE,
    POLICY_KEY,
    PROJECT_CONFIG,
    canonical_rule,
    config_file,
    data_folder,
    project_root,
    read_config,
)
from metier.settings.merge import ELSEWHERE, merge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from metier import ports
    from metier.discover.agents import Agent
    from metier.find.model import SearchState
    from metier.find.observation import TriggerMemory
    from metier.model import Change, Root, Said, Texts
    from metier.run.in_process import CodeModules
    from metier.scan.service import JudgeUse
    from metier.settings.merge import ConfigSource, Rule, Settings
    from metier.settings.model import JudgeSettings, UpstreamServer
    from metier.trust.model import RecordedSkills
    from metier.trust.organisation import PolicyInForce
    from metier.trust.policy import TrustPolicy
    from metier.usage.counter import Tally


class Session:
    """What belongs to one conversation and ends with it."""

    def __init__(self, name: str, key: bytes = b"") -> None:
        """Begin with nothing."""
        self.name = name
        self.key = key
        """What makes the notes of this conversation's messages its own. A skill may learn the name,
        and never this."""
        self.loaded: dict[str, str] = {}
        """The digest under which each skill, by its path, was last given to the model."""
        self.asked: set[str] = set()
        """What was asked for once and is not asked for again: variables, and identities of MCP
        servers."""
        self.secrets: dict[str, str] = {}
        """Values given for this conversation alone."""

    def __repr__(self) -> str:
        """Name the conversation; a value must not get into a traceback."""
        return f"Session({self.name!r})"


class Context:
    """What all stages share while a library is open. Nothing is read before the first question."""

    policy: PolicyInForce | None = None
    """The policies of an organisation that hold here; nothing where there is none."""
    added_policies: Texts = ()
    """Files of policies that were named for this process: they can only narrow."""

    def __init__(
        self,
        env: Mapping[str, str],
        cwd: str,
        home: str | None,
        agent: Agent | None,
        given: tuple[Root, ...] | None,
        rules: tuple[Rule, ...],
    ) -> None:
        """Read the configuration and find the project; look at no skill yet."""
        self.env, self.cwd, self.agent, self.given, self.rules = env, cwd, agent, given, rules
        self.home = home
        self.platform = sys.platform
        self.data = data_folder(env, self.home)
        self.config = config_file(env, self.home)
        self.warnings: list[str] = []
        self.sources: tuple[ConfigSource, ...] = ()
        self.lock = RLock()
        """Held by whoever puts something new in place of what was seen. Whoever only reads does not
        wait for it."""
        self.read_settings()
        self.shelf = SnapshotFolder(f"{self.data}/index", self.home) if self.data else NoSnapshots()
        self.machine = machine.HostMachine(env, self.home, self.project)
        self.progress: Callable[[str, int, int], None] = lambda _what, _count, _total: None
        """Told how far long work has come, and of how much (0 where nobody knows); a door may put a
        meter here."""
        self.in_background: Callable[[Callable[[], None]], object] = lambda work: work()
        """Does what nobody has to wait for; a server has a thread for it."""
        self.later: list[Callable[[], None]] = []
        """What waits until after the answer."""
        self.on_change: list[Callable[[Change], None]] = []
        """Told of each change that a reload finds, so that whatever was made from a skill that
        changed or went is let go of."""
        self.closing: list[Callable[[], None]] = []
        """What ends when the library is closed."""
        self.closed = False
        self.door = ""
        """Who asks, where the audit log is to say so: the page calls itself `web`."""
        self.session = Session(os.urandom(8).hex(), os.urandom(16))
        self.edition = f"{__version__}/{FORMAT}/{sys.implementation.cache_tag}"
        self.judged = JudgedBook(self.shelf, self._name_judged)
        """What was judged on this machine: a listing shows it, `trust.judge` brings it up to
        date."""
        self.ports = self._make_ports()
        self.search_cache_bytes = 4 << 20
        """Bytes that skills taken apart for searches may take up, about; a server has more."""
        self.search_state: SearchState | None = None
        """What the searches of this library share: it belongs to `find` alone."""
        self.tally: Tally | None = None
        """Uses that are not written down yet: it belongs to `usage` alone."""
        self.code_modules: CodeModules | None = None
        """Code skills that were loaded into this process: it belongs to `run` alone."""
        self.trigger_memory: TriggerMemory | None = None
        """What observation triggers remember: when each last fired."""
        self.registered = ""
        """The folder of what a program registered with this library; nothing where it has not."""
        self.catalogue = LiveCatalogue(self)
        """The skills of this machine, found, resolved and remembered."""
        self._trust: tuple[Settings, TrustPolicy] | None = None
        self._connect_machine()
        self._leave_open()

    def _make_ports(self) -> pipeline.Ports:
        """Give the pipeline what it needs of the world."""
        return pipeline.Ports(
            disk=disk,
            shelf=self.shelf,
            machine=self.machine,
            clock_ns=time.time_ns,
            token=lambda: os.urandom(16),
            progress=lambda count: self.progress("folders", count, 0),
            later=self.later.append,
            judged=self.judged,
            weigh=self._weigh,
            edition=self.edition,
        )

    def _connect_machine(self) -> None:
        """Let the machine ask for what only this context knows, and tell it what it finds."""
        self.machine.given = lambda: self.session.secrets
        self.machine.refused = lambda: self.settings.secrets_refused
        self.machine.warn = self.warn
        self.machine.later = self.later.append
        self.machine.forget_gone = self._forget_gone

    def _forget_gone(self) -> None:
        from metier.trust.approve import forget_gone  # few write skills of their own, and then away

        forget_gone(self)

    def _leave_open(self) -> None:
        """Leave what a host may bring of its own to metier's own parts."""
        self.analyzers: tuple[ports.Analyzer, ...] = ()
        """Add rules of the host's own to a scan."""
        self.reader: ports.PassageReader | None = None
        """Reads passages for a scan; without one, the model that comes with metier, where it can
        run."""
        self._own_reader: ports.PassageReader | None = None
        self.judge: ports.Judge | None = None
        """Gives its opinion on a skill's passages; without one, what `scan.judge` names."""
        self.verifiers: tuple[ports.SignatureVerifier, ...] = ()
        """Prove signatures that the user's own keys do not."""
        self.judge_use: JudgeUse | None = None
        """What the last scan sent to it."""
        self.counter: ports.Counter | None = None
        """Counts tokens exactly, where the estimate will not do."""
        self.ranker: ports.Ranker | None = None
        """Chooses skills for a task; without one, what `find` does."""
        self.engine: ports.Engine | None = None
        """Keeps the index that is searched; without one, files below the data folder."""
        self.embedder: ports.Embedder | None = None
        """Sees what texts mean; without one, the model that comes with metier, where it can run."""
        self.sandbox: ports.Sandbox | None = None
        self.observer: ports.SkillObserver | None = None
        """Keeps scripts in; without one, bubblewrap (`open_sandbox`)."""
        self.runner: ports.Runner | None = None
        """Runs scripts in the place of metier's own sandbox."""
        self.hooks: tuple[ports.Hook, ...] = ()
        """Told before and after each code skill is called, in this order."""
        self.drafts: ports.Drafts | None = None
        self.providers: tuple[ports.Provider, ...] = ()
        self.disk_calls: ports.DiskCalls | None = None
        """What changes the disk where skills are put; without one, the system's own calls."""
        self.fetchers: Mapping[str, ports.Fetcher] = {}
        """Who opens sources of a kind, in the place of metier's own."""
        self._recorded: dict[str, tuple[object, RecordedSkills | None]] = {}
        """What the locks of each project have, under the stats of those files."""
        self._pinned: dict[str, tuple[object, dict[str, tuple[str, str]] | None]] = {}
        """What each of metier's own locks has in which place, under its stat."""
        self.upstreams: tuple[UpstreamServer, ...] = ()
        """MCP servers that were named for this process, beside those of the configuration."""
        self.joined: Texts | None = None
        """The upstreams whose copies are looked at; nothing: all that metier has, where nobody asks
        as an agent."""
        self.may_start: Callable[[str], bool] = lambda _command: False
        """Asks a person whether a command may be started outside the sandbox, to fetch skills from
        it; without one nobody says yes."""
        self.seekers: tuple[ports.Seeker, ...] = ()
        """Further places that `search` asks."""

    def as_agent(self, agent: Agent | None) -> Context:
        """Open the same place as another agent sees it, or as metier does."""
        return self._beside(Context(self.env, self.cwd, self.home, agent, None, self.rules))

    def open_again(self) -> Context:
        """Open the same place once more, with nothing seen yet."""
        again = Context(self.env, self.cwd, self.home, self.agent, self.given, self.rules)
        again.joined, again.upstreams = self.joined, self.upstreams
        return self._beside(again)

    def _beside(self, other: Context) -> Context:
        """Let another see what a program registered here, as long as this one is open, and tell
        how far it has come.
        """
        for policy in self.added_policies:
            other.add_policy(policy)
        other.registered = self.registered
        other.progress = self.progress
        return other

    # --- how long it lives

    def __enter__(self) -> Self:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Let go of everything."""
        self.close()

    def close(self) -> None:
        """End what watches for it, write down what was learnt, and let go of it."""
        while self.closing:
            self.closing[-1]()
        self.settle()
        self.catalogue.forget()
        self.closed = True

    def settle(self) -> None:
        """Do what waited until after the answer: keep what was learnt for the next time."""
        if self.data:
            disk.keep_private(self.data, self.home)
        if not self.later:
            return
        with self.lock, CollectorOff():
            while self.later:
                self.later.pop(0)()  # one by one: another thread may be adding to them
            self.shelf.trim()
            if self.shelf.trouble and self.shelf.trouble not in self.warnings:
                self.warnings.append(self.shelf.trouble)

    def learn(self, path: str, name: str, level: str, digest: str = "") -> None:
        """Have the next list show the verdict on a skill that was judged for another purpose;
        `digest` is that of what was laid there just now.
        """
        if not self.judged.learnt:
            self.later.append(self.take_note)
        self.judged.learnt[path] = name, level, digest

    def take_note(self) -> None:
        """Put what was learnt of verdicts where lists read them."""
        if self.judged.learnt:
            from metier.trust.judge import take_note  # few processes both judge and list

            take_note(self)

    def begin_session(self, name: str = "") -> Session:
        """Begin anew: no skill was loaded yet, nothing was asked for, no secret is held."""
        self.session = Session(name or os.urandom(8).hex(), os.urandom(16))
        self.catalogue.rejudge()  # what was ready with the old one's secrets may not be any more
        return self.session

    def after_fork(self) -> None:
        """Let go of a lock whose holder stayed behind, in a forked process."""
        self.lock = RLock()
        CollectorOff.renew()

    def warn(self, text: str) -> None:
        """Have a person told something, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    # --- what configuration says

    def read_settings(self) -> None:
        """Merge the layers of configuration that hold here, and find the project."""
        layers = [
            source
            for source in (
                read_config(ORGANISATION_CONFIG, "organisation"),
                read_config(self.config, "user") if self.config else None,
            )
            if source is not None
        ]
        settings = merge(layers, self.rules)
        project, inside = self.project_by(settings.root_markers)
        narrowing = self._project_source(project)
        if narrowing:
            layers.append(narrowing)
            settings = merge(layers, self.rules)
        self.sources = tuple(layers)
        self.project = project
        self.in_project = inside
        rules = tuple(canonical_rule(rule, self.home) for rule in settings.rules)
        self.settings = self._under_policy(settings._replace(rules=rules))

    def _under_policy(self, settings: Settings) -> Settings:
        """Lower the settings to what the policies of an organisation allow."""
        named = self.env.get("METIER_POLICY", "")
        given = [
            disk.absolute(one, self.cwd, self.home) for one in (named, *self.added_policies) if one
        ]
        folder = POLICY_FILE.rpartition("/")[0]  # which may have one, if nobody can look into it
        there = any(map(disk.is_there, (POLICY_FILE, POLICY_KEY))) or (
            disk.is_there(folder) and disk.why_unknown(POLICY_FILE)
        )
        if not given and not there:
            self.policy = None
            return settings
        from metier.settings.ceiling import lower
        from metier.trust.io.policy_file import read_in_force  # few machines have one

        self.policy = read_in_force(POLICY_FILE if there else "", given, self.data)
        for one in self.policy.policies:
            settings = lower(settings, one.ceilings)
        if self.policy.damage:
            self.warn(self.policy.damage)
        return settings

    def add_policy(self, path: str) -> None:
        """Hold everything from now on to one more policy, which can only narrow."""
        self.added_policies = (*self.added_policies, path)
        self.read_settings()

    def project_by(self, markers: Texts) -> tuple[str, bool]:
        """Find the project by what marks one, and whether there is one at all."""
        project = project_root(project_root_candidates(self.cwd), markers)
        return project, any(disk.is_there(f"{project}/{marker}") for marker in markers)

    def _project_source(self, project: str) -> ConfigSource | None:
        """Read the project's own file. A stranger's broken file is a warning, never the end of a
        listing.
        """
        try:
            return read_config(f"{project}/{PROJECT_CONFIG}", "project")
        except ConfigError as error:
            self.warnings.append(error.message)
            return None

    def package_folders(self) -> Texts:
        """Give the folders of skills that installed packages ship, as known from their records."""
        found: list[str] = []
        for site in packages.site_folders(self.project, self.env):
            records = packages.records(site)
            stats = [disk.key_of(record) for record in records]
            name = pipeline.name_of(self.edition, "packages", site, stats)
            kept = snapshot.opened(self.shelf.load(name))
            shipped = kept[1] if kept else packages.shipped_skills(site, records)
            if kept is None:
                save = partial(self.shelf.save, name, snapshot.sealed(shipped, bytes(16)))
                self.later.append(save)
            found += shipped
        return tuple(found)

    def npm_folders(self) -> tuple[tuple[str, str], ...]:
        """Give the folders of skills that the project's npm packages ship, each with its package in
        words; most projects have no package.json.
        """
        if not self.in_project or not disk.is_there(f"{self.project}/package.json"):
            return ()
        return tuple(packages.npm_skills(self.project))

    @property
    def names_strongest(self) -> bool:
        """Whether a name means the strongest of several copies though all of them are offered."""
        return self.agent is not None and self.agent.duplicates == "all"

    def trust_sources(self) -> list[ConfigSource]:
        """Give the configuration files that speak of trust, weakest first."""
        return [source for source in self.sources if ELSEWHERE in source.values]

    @property
    def asks_about_edits(self) -> bool:
        """Whether an edited skill asks, as `trust_policy` would say: for a listing, which reads no
        policy. One layer that says so is enough, since none may soften another's `ask`.
        """
        if self.policy and any(one.words.get("edits") == "ask" for one in self.policy.policies):
            return True
        tables = (source.values[ELSEWHERE] for source in self.trust_sources())
        return any(isinstance(table, dict) and table.get("edits") == "ask" for table in tables)

    @property
    def trust_policy(self) -> TrustPolicy:
        """What configuration says about trust, in the `[trust]` tables of all layers."""
        if self._trust is None or self._trust[0] is not self.settings:
            from metier.trust.policy import TrustPolicy, read_trust

            policy = TrustPolicy()
            for source in self.trust_sources():
                policy = read_trust(source.values[ELSEWHERE], source, policy)
            if self.policy is not None:
                from metier.trust.organisation import cap_all

                policy = cap_all(policy, self.policy)
            self._trust = self.settings, policy
        return self._trust[1]

    def own_config(self) -> str:
        """Give the user's configuration file, to be written; refuse where there is no place for it."""
        if self.config is None:
            raise ConfigError(
                "there is no place for a configuration file", hint="set METIER_CONFIG or HOME"
            )
        return self.config

    def _name_judged(self, root: str) -> str:
        """Name what is remembered of the verdicts below a root, by all that configuration says."""
        told: list[object] = [source.values[ELSEWHERE] for source in self.trust_sources()]
        told += [repr(self.policy)] if self.policy is not None else []
        parts = (self.edition, "judged", root, told, self.settings.scan_rules)
        return pipeline.name_of(*parts) + ".judged"

    def _weigh(self, said: Said) -> Said:
        from metier.trust.judge import weigh_listed  # only where something was judged

        return weigh_listed(self, said)

    def recorded_skills(self, project: str) -> RecordedSkills | None:
        """Give the skills that the locks of a project have, ours and other tools'; nothing where
        one of them cannot be read.
        """
        from metier.supply.io.lock_file import lock_files_in, read_recorded

        stamp = [disk.keys_of_links([path]) for path in lock_files_in(self, project)]
        if self._recorded.get(project, (None, None))[0] != stamp:
            self._recorded[project] = stamp, read_recorded(self, project)
        return self._recorded[project][1]

    @cached_property
    def real_home(self) -> str:
        """The canonical path of the home folder, as the last look at the disk found it."""
        return disk.real(self.home) if self.home else ""

    def forget_home(self) -> None:
        """Let the home folder be looked up again: it may be a link that leads elsewhere by now."""
        self.__dict__.pop("real_home", None)

    def own_locks(self, project: str) -> dict[str, str]:
        """Give metier's own locks that may have a skill of a project, or of none, each with the
        folder that its places lie below.
        """
        found = {f"{project}/metier.lock": project} if project else {}
        home = self.real_home
        if home and self.data and project in {"", home}:
            found[f"{self.data}/metier.lock"] = home
        return found

    def pinned_at(self, project: str, *paths: str) -> tuple[str, str] | None:
        """Give the name and the digest that metier's lock has for a place, by any of its paths: the
        project's, if it has one, or the user's. Two empty texts where neither has it; nothing where
        one cannot be read.
        """
        from metier.supply.io.lock_file import read_pinned

        joined = next((path for path in paths if self.joined_record(path)), "")
        if joined:
            first = self._first_digests(joined)
            # Its name stands in no lock: whatever differs has to be approved, however harmless.
            return ("", first[joined]) if first is not None and joined in first else None
        found = ("", "")
        for lock, base in self.own_locks(project).items():
            stamp = disk.keys_of_links([lock])
            if lock not in self._pinned or self._pinned[lock][0] != stamp:
                self._pinned[lock] = stamp, read_pinned(lock, base)
            pins = self._pinned[lock][1]
            if pins is None:
                return None
            found = next((pins[path] for path in paths if path in pins), found)
        return found

    def joined_record(self, path: str) -> str:
        """Give the record of what the skills of an upstream were first, for a path among its copies;
        nothing for any other path.
        """
        top = f"{self.data}/{UPSTREAMS}/" if self.data else ""
        if not top or not path.startswith(top):
            return ""
        name = path[len(top) :].partition("/")[0]
        return f"{top}{name}/first-seen.json"

    def _first_digests(self, path: str) -> dict[str, str] | None:
        from metier.supply.io.joined_files import first_digests

        record = self.joined_record(path)
        name = record.split("/")[-2]
        return first_digests(self.data or "", name)

    def scan_analyzers(self) -> tuple[ports.Analyzer, ...]:
        """Give the analyzers that a scan uses beside its own: the host's, and the rules that
        configuration names.
        """
        if not self.settings.scan_rules:
            return self.analyzers
        from metier.scan.custom_rules import compile_patterns

        found = list(self.analyzers)
        for told_by, file in self.settings.scan_rules:
            path = disk.absolute(file, told_by.rpartition("/")[0], self.home)
            source = read_config(path, "user")
            if source is None:
                raise ConfigError(
                    f"{told_by} names the rules {path}, which do not exist",
                    hint="create the file, or take it out of scan.rules",
                )
            found.append(compile_patterns(source))
        return tuple(found)

    # --- adapters that are picked when they are needed

    def reading(self) -> str:
        """Name what reads passages for a scan, without loading it; nothing where that is turned
        off, or cannot run.
        """
        if self.why_not_read():
            return ""
        if self.reader is not None:
            return self.reader.name
        return "reader" if packages.has_model_runtime() and packages.weights_folder() else ""

    def why_not_read(self) -> str:
        """Say what turns the reading of passages off; nothing when nothing does."""
        told = self.env.get("METIER_SCAN_MODEL", "")
        if told not in ("", "auto", "off"):
            raise ConfigError(
                f"METIER_SCAN_MODEL cannot be '{told}'", hint="set it to auto or off, or unset it"
            )
        if told:
            return "METIER_SCAN_MODEL is off" if told == "off" else ""
        return 'scan.model is "off"' if self.settings.scan_model == "off" else ""

    def passage_reader(self) -> ports.PassageReader | None:
        """Give what reads passages for a scan: a host's own, or the model that comes with
        metier.
        """
        if not self.reading():
            return None
        if self.reader is None and self._own_reader is None:
            from metier.find.io.embedding_model import OnnxReader

            self._own_reader = OnnxReader()
        return self.reader or self._own_reader

    def open_judge(self) -> ports.Judge | None:
        """Give the model that a scan asks; nothing where the user has named none."""
        if self.judge is None and (self.settings.judge.url or self.settings.judge.command):
            self.judge = self._named_judge(self.settings.judge)
        return self.judge

    def _named_judge(self, named: JudgeSettings) -> ports.Judge | None:
        from metier.scan.io.outside_judge import CommandJudge, EndpointJudge

        if named.command:
            program, *rest = named.command
            program = disk.absolute(program, "/", self.home) if program[:2] == "~/" else program
            if "/" in program and not program.startswith("/"):
                raise ConfigError(
                    f"scan.judge.command names {program}, which depends on where you are",
                    hint="write its whole path, or a name that your PATH finds",
                )
            return CommandJudge((program, *rest), named.timeout, self.env, self.home or "/")
        from metier.supply.io.http import open_post

        key = ""
        if named.key_env:
            key = self.secret_named(named.key_env)
            if not key.strip():
                self.warn(
                    f"the judge was not asked: {named.key_env} has no value (scan.judge.key_env)"
                )
                return None
        send = open_post(named, key.strip())
        return EndpointJudge(named.url, named.model, named.answer_as, send)

    def secret_named(self, name: str) -> str:
        """Give the value of a variable, or of a kept secret, that the user's own configuration names
        for metier itself; nothing where it has none.
        """
        from metier.run.needs import vault

        return self.env.get(name, "") or vault(self).granted([name]).get(name, "")

    def check_runs_here(self) -> None:
        """Refuse to run anything on a system that has no sandbox, before anything is planned or
        asked; a host that brings its own runs what it likes.
        """
        if self.platform != "linux" and self.sandbox is None and self.runner is None:
            from metier.run.model import not_linux

            raise not_linux(self.platform)

    def open_sandbox(self) -> ports.Sandbox:
        """Give the sandbox that scripts run in."""
        if self.sandbox is None and self.platform == "linux":
            from metier.run.io.bubblewrap import Bubblewrap

            self.sandbox = Bubblewrap()
        elif self.sandbox is None:
            from metier.run.model import NoSandbox

            self.sandbox = NoSandbox(self.platform)
        return self.sandbox

    def open_observer(self) -> ports.SkillObserver:
        """Give what watches skills in the sandbox."""
        if self.observer is None:
            self.check_runs_here()
            from metier.run.io.observer import Observer

            self.observer = Observer()
        return self.observer
