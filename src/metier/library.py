"""A library and all its verbs: what a door can do is one method here, so that command line, servers
and programs cannot drift.
"""

from __future__ import annotations

import os

from metier.context import Context
from metier.discover.agents import agent_asked
from metier.discover.io import disk
from metier.discover.scopes import given_roots
from metier.errors import NotFoundError, UsageError
from metier.fast import TYPE_CHECKING
from metier.settings.io import home_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any, Self

    from metier.audit.chain import AuditRecord, VerifiedLog
    from metier.author.manage import Managed
    from metier.context import Session
    from metier.disclose.expand import Expanded, Preloaded, SlashCommand
    from metier.disclose.inspect import InspectedFile, InspectedSkill
    from metier.disclose.model import Package, Section
    from metier.disclose.pages import Page
    from metier.disclose.prompt import Disclosure
    from metier.disclose.provide import GatheredPackages
    from metier.disclose.read import Loaded
    from metier.discover.watch import Watcher
    from metier.doctor.examine import AgentFacts, DoctorReport
    from metier.find.model import Confusion, Hit, Indexed, Preparation, SkillMap
    from metier.find.observation import Observation, Observed, Watched
    from metier.find.triggers import Dispatched, Match, SkillTriggers
    from metier.model import (
        Body,
        Card,
        Category,
        Change,
        Checked,
        Digest,
        File,
        JsonObject,
        Problem,
        Texts,
        Why,
    )
    from metier.plugins.model import (
        Decided,
        PluginList,
        PluginResult,
        ReviewCandidate,
        Reviewed,
        VersionedSkill,
    )
    from metier.plugins.versions import ViewedVersion
    from metier.ports import Analyzer
    from metier.review.sides import ReviewSides
    from metier.run.confirm import Asker
    from metier.run.dispatch import GivenConsent
    from metier.run.model import Layer, Ran
    from metier.run.needs import Ask, Prepared, Vault
    from metier.run.observe.kept import KeptObservation
    from metier.run.observe.model import SkillObservation
    from metier.run.observe.suggest import RunSuggestion
    from metier.run.plan import RunPlan
    from metier.run.preview import RunPreview
    from metier.scan.waive import Scanned
    from metier.settings.merge import Rule
    from metier.settings.model import UpstreamServer
    from metier.store.io.tree_store import Freed
    from metier.supply.bundle import BundledSkill
    from metier.supply.history import LockEntry
    from metier.supply.hub_login import ShowLogin
    from metier.supply.hubs import HubLogin
    from metier.supply.join import UpstreamLook
    from metier.supply.merge.marked import RegionChoice
    from metier.supply.merge.settle import MergeStatus
    from metier.supply.model import LockedSkill, Outcome, Revision, SearchOutcome, SyncOutcome
    from metier.supply.policy_update import PolicyUpdate
    from metier.supply.publish import PackedSkill, PublishedIndex
    from metier.supply.push import PushedSkill
    from metier.supply.records.exchange import ExchangeOutcome
    from metier.supply.search import Tap
    from metier.supply.tree import SkillNeeds
    from metier.supply.upstream import UpstreamStatus
    from metier.trust.approve import TrustedSource, Verb
    from metier.trust.assess import Trusted
    from metier.trust.code_lists import ManifestCheck
    from metier.trust.explain_policy import Explained, PolicyReport
    from metier.trust.io.decisions_file import TrustRepair
    from metier.trust.waivers import GivenWaiver
    from metier.usage.report import Usage


def _default_settings() -> dict[str, Any]:
    """Give every setting with the value that it has where nobody sets it."""
    from metier.settings.merge import default_settings
    from metier.trust.policy import default_trust

    return {**default_settings(), **default_trust()}


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
    """Open the skills on this machine as an agent sees them, or as metier does if you name none.

    `roots` replaces every configured folder; `home` and `config` stand for METIER_HOME and
    METIER_CONFIG. `analyzers` adds your own rules to a scan.
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
    person = home_of(surroundings, own=env is None)
    given = (
        None if roots is None else given_roots([_root(str(root), here, person) for root in roots])
    )
    context = Context(surroundings, here, person, chosen, given, tuple(rules))
    context.analyzers = tuple(analyzers)
    return Library(context)


def _root(root: str, cwd: str, home: str | None) -> str:
    """Give the absolute path of a root as named in `cwd`."""
    if not root:
        raise UsageError("a root may not be empty", hint="give the folder that holds the skills")
    return disk.absolute(root, cwd, home)


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise NotFoundError(
            "the working folder no longer exists", hint="change to another folder, or use -C DIR"
        ) from error


class Library:
    """The skills on this machine, as one agent or metier itself sees them. Every operation is a
    method here.

    `user` chooses whose skills are meant: the user's (True), the project's (False), or whichever
    has them (None). Methods that may need an answer take `consent`, a function that gets the plan
    and the refusals and returns yes or no. With `blocking=False`, a method that changes something
    gives up at once if another process is changing skills.
    """

    def __init__(self, context: Context) -> None:
        """Take what the stages share."""
        self._context = context

    @property
    def context(self) -> Context:
        """What all stages share: settings, the session, warnings, and the parts your program can
        replace.
        """
        return self._context

    def __repr__(self) -> str:
        """Say where it looks, as whom, and how many skills it knows of; nothing is looked at."""
        context = self._context
        given = context.given
        where = context.cwd if given is None else ", ".join(root.location for root in given[:3])
        more = f" and {len(given) - 3} more" if given is not None and len(given) > 3 else ""
        known = context.catalogue.count_known()
        unknown = "closed" if context.closed else "not looked yet"
        count = unknown if known is None else f"{known:,} skill{'s' * (known != 1)}"
        who = f" as {context.agent.id}" if context.agent else ""
        return f"<metier.Library in {where or 'no folder'}{more}{who}: {count}>"

    def __enter__(self) -> Self:
        """Use the library in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Let go of everything."""
        self.close()

    def close(self) -> None:
        """Stop watching, write what is pending, and close the library."""
        self._context.close()

    def begin_session(self, name: str = "") -> Session:
        """Start a new conversation: nothing is loaded, nothing was asked, no secret is held."""
        return self._context.begin_session(name)

    # --- what is there

    def skills(
        self,
        *,
        all: bool = False,  # noqa: A002 - the option's name
        scope: str | None = None,
        category: str | None = None,
        digests: bool = False,
    ) -> list[Card]:
        """List the visible skills, or with `all` every skill that was found, each with its reasons."""
        return self._context.catalogue.skills(
            all=all, scope=scope, category=category, digests=digests
        )

    def listing(self) -> str:
        """Return the JSON document of a plain list, from the cache if nothing changed."""
        return self._context.catalogue.listing()

    def categories(self) -> list[Category]:
        """List the categories of the visible skills."""
        return self._context.catalogue.categories()

    def problems(self) -> list[Problem]:
        """List problems with folders (not with skills), and searches that were cut short."""
        catalogue = self._context.catalogue
        return [*catalogue.problems(), *catalogue.contents().truncated]

    def resolve(self, name: str) -> Card:
        """Return the skill that a name, a path, `scope:name` or `plugin:name` means."""
        return self._context.catalogue.resolve(name)

    def reload(self, touched: Iterable[str] = (), *, deep: bool = False) -> Change:
        """Read what changed on disk and return the difference.

        Of a skill's other files, only the `touched` ones are compared, or with `deep` all of them.
        """
        return self._context.catalogue.reload(touched, deep=deep)

    def as_agent(self, agent: str | None) -> Library:
        """Open the same folders as another agent sees them, or as metier does."""
        return Library(self._context.as_agent(agent_asked(agent)))

    def open_again(self) -> Library:
        """Open the same place once more, with nothing seen yet: for work beside this one."""
        again = self._context.open_again()
        again.door = self._context.door
        return Library(again)

    def inspect(self, name: str) -> InspectedSkill:
        """Show a person a skill as it lies there, whatever was decided about it; never for a
        model.
        """
        from metier.disclose import inspect

        return inspect.inspect_skill(self._context, name)

    def inspect_file(self, name: str, file: str) -> InspectedFile:
        """Show a person one file of a skill, whatever was decided about it; never for a model."""
        from metier.disclose import inspect

        return inspect.inspect_file(self._context, name, file)

    def view(self, name: str, file: str | None = None, *, consent: bool = False) -> Body | File:
        """Return a skill's body and the names of its files, or one file. `consent` is a person's
        approval if loading needs one.
        """
        from metier.disclose import read

        return (
            read.body_of(self._context, name, consent=consent)
            if file is None
            else read.file_of(self._context, name, file, consent=consent)
        )

    def load(self, name: str, *, consent: bool = False, again: bool = False) -> Loaded:
        """Return a skill as a model should receive it, between tags that name it. The second time
        in a session you get a reminder, unless you pass `again`.
        """
        from metier.disclose import read

        return read.load_for_model(self._context, name, consent=consent, again=again)

    def sections(self, name: str, *, consent: bool = False) -> list[Section]:
        """List the sections of a skill's body, each with its token cost."""
        from metier.disclose import read

        return read.sections_of(self._context, name, consent=consent)

    def section(self, name: str, heading: str, *, consent: bool = False) -> Section:
        """Return one section of a skill's body."""
        from metier.disclose import read

        return read.section_of(self._context, name, heading, consent=consent)

    def page(
        self, name: str, file: str | None = None, cursor: str = "", *, consent: bool = False
    ) -> Page:
        """Return a body or a file page by page. A cursor is valid until the content changes
        (CX-59).
        """
        from metier.disclose import read

        return read.page_of(self._context, name, file, cursor, consent=consent)

    def check(
        self, paths: str | os.PathLike[str] | Sequence[str], *, strict: bool = False
    ) -> list[Checked]:
        """Check every skill in these paths against the standard."""
        from metier.discover import check

        return check.check(self._context, _paths(paths), strict=strict)

    def why(self, name: str, *, told: Disclosure | None = None, budget: bool = True) -> Why:
        """Say which copy a name means, and why the other copies don't count. With `told`, what
        `catalogue` returned last, no new one is made to see what the budget leaves out; without
        `budget` nobody looks at that.
        """
        from metier.disclose import why

        return why.why(self._context, name, told, budget=budget)

    def digest(self, card: Card) -> Digest | None:
        """Return the digest of a skill's files, or None if some can't be read. Cached for unchanged
        files.
        """
        from metier.catalogue import digests

        return digests.digest_of(self._context, card)

    def fingerprint(self) -> str:
        """Return one value for the whole library that changes whenever any file does."""
        from metier.catalogue import digests

        return digests.fingerprint(self._context)

    def agents(self) -> list[AgentFacts]:
        """List the agents found on this machine, with what each one sees here."""
        from metier.doctor import examine

        return list(examine.agents_here(self._context))

    def settings_given(self, *, defaults: bool = False) -> dict[str, Any]:
        """Give what the user's configuration sets, by dotted keys; with `defaults`, every setting
        and the value it has.
        """
        from metier.settings import io

        given = io.given_settings(self._context.config)
        return {**_default_settings(), **given} if defaults else given

    def setting_given(self, key: str) -> Any:
        """Give one value that the user's configuration sets, or its default; all values of a table."""
        from metier.settings import io

        return io.given_setting(self._context.config, key, _default_settings())

    def change_setting(self, key: str, value: str | None) -> None:
        """Set a value in the user's configuration, or remove it if you pass none. Invalid values
        are refused, and comments are kept.
        """
        from metier.settings import io

        io.write_setting(self._context.config, key, value)

    def is_project_trusted(self) -> bool:
        """Tell whether the user trusts the current project."""
        from metier.trust.io.decisions_file import read_decisions

        context = self._context
        return read_decisions(context.data).trusts(context.project)

    def seen_by(self) -> dict[str, frozenset[str]]:
        """Return the paths of the skills that each agent on this machine sees, by agent id."""
        from metier.doctor import examine

        return examine.seen_by_agents(self._context)

    def last_uses(self) -> dict[str, int]:
        """Return when each skill was last used, in seconds since 1970, by path."""
        from metier.usage.counter import last_uses

        return last_uses(self._context)

    def doctor(self) -> DoctorReport:
        """Report what is configured, missing, wrong or slow."""
        from metier.doctor import examine

        return examine.examine(self._context)

    # --- finding a skill for a task

    def find(  # noqa: PLR0913 - each narrows it, by name
        self,
        task: str,
        limit: int = 10,
        *,
        scope: str | None = None,
        category: str | None = None,
        states: Iterable[str] = (),
        tags: Iterable[str] = (),
        unfinished: bool = False,
        wait: bool = False,
        judged: bool = True,
    ) -> list[Hit]:
        """Return the skills that fit a task, best first, each with what made it rank. Pass
        `unfinished` while someone is still typing.

        Where more than a few skills have no vectors yet, words alone rank, at once. `wait` makes
        the vectors first, however long that takes; `prepare_index` has them made meanwhile.
        Without `judged` nobody waits for verdicts: such an answer is for a person's eyes, never for
        a model.
        """
        from metier.disclose import offer
        from metier.find import rank, service

        request = rank.SearchRequest(
            limit=limit,
            scope=scope,
            category=category,
            states=states,
            tags=tags,
            unfinished=unfinished,
            judged=judged,
            without=offer.withheld_paths(self._context),
        )
        return service.find(self._context, task, request, wait=wait)

    def index(self) -> Indexed:
        """Bring the search index up to date, vectors included, however long it takes."""
        from metier.find import service

        return service.index(self._context)

    def prepare_index(self) -> Preparation:
        """Have the vectors that `find` lacks made by a process in the background, and say how they
        stand: "ready", "preparing", or "off" where only `index` makes them.

        The process is this Python with `-m metier`. The setting `route.background`, the variable
        METIER_BACKGROUND=off and CI switch it off.
        """
        from metier.find import service

        return service.prepare(self._context)

    def confusable(self, least: float | None = None) -> Confusion:
        """Return the pairs of skills that answer the same tasks, closest first, and which could not
        be compared (ZE-34).
        """
        from metier.find import service

        return service.confusable(self._context, least)

    def likeness_map(self, known: SkillMap | None = None) -> SkillMap:
        """Place the skills on a plane, alike ones together, and find those that are nearly the
        same; no vector is made for it. What is `known` is given back where nothing differs.
        """
        from metier.find import chart

        return chart.make_map(self._context, known)

    def matches(self, task: str) -> list[Match]:
        """Return the skills with a trigger phrase in this task, longest phrase first (CO-12)."""
        from metier.find import suggest

        return suggest.matches(self._context, task)

    def triggers(self) -> list[SkillTriggers]:
        """List the triggers of each skill: its phrases, its observation trigger, and whether it
        needs to see the observation (CO-2, CO-8).
        """
        from metier.find import suggest

        return suggest.declared_triggers(self._context)

    def observe(
        self, seen: Observation, now: datetime, consent: Callable[[Watched], bool]
    ) -> list[Observed]:
        """Compare an observation with all observation triggers: which ones fire, and why the others
        don't (CO-22).
        """
        from metier.find import suggest

        return suggest.observe(self._context, seen, now, consent)

    # --- telling a model

    def catalogue(
        self,
        budget: int | str | None = None,
        *,
        window: int = 0,
        format: str = "",  # noqa: A002
        mode: str = "auto",
        task: str = "",
        previous: Disclosure | JsonObject | None = None,
        whole: bool = False,
    ) -> Disclosure:
        """Return the text that tells a model which skills there are, within a token budget, and
        what was left out. With `whole` the budget covers the instructions too (`printed`).
        """
        from metier.disclose import prompt

        wish = prompt.PromptRequest(budget, window, format, mode, task, previous, whole=whole)
        return prompt.catalogue(self._context, wish)

    def packages(self) -> GatheredPackages:
        """List the skills that providers offer, each with the authority to read it through."""
        from metier.disclose import provide

        return provide.gather_packages(self._context)

    def read_package(self, package: Package, resource: str = "", cursor: str = "") -> Page:
        """Read a package's instructions, or another resource, through the provider that lists it."""
        from metier.disclose import provide

        return provide.read_package(self._context, package, resource, cursor)

    def expand(
        self,
        text: str,
        *,
        selections: Sequence[tuple[str, str]] = (),
        connectors: Iterable[str] = (),
    ) -> Expanded:
        """Turn the commands and mentions in a user's message into what a model receives. A mention
        never matches the name of a connector.
        """
        from metier.disclose import expand

        return expand.expand(self._context, text, selections, connectors)

    def recover(self, message: str) -> str | None:
        """Return the user's own words from a message that this conversation expanded, or nothing
        for any other text (HE-27).
        """
        from metier.disclose import messages

        return messages.recover(message, self._context.session.key)

    def commands(self) -> list[SlashCommand]:
        """List the slash commands with their argument hints, also when two skills share a slug."""
        from metier.disclose import expand

        return expand.commands(self._context)

    def preload(self, names: Sequence[str]) -> Preloaded:
        """Return the instructions of several skills for the start of a session, and the names that
        mean none (HE-30).
        """
        from metier.disclose import expand

        return expand.preload(self._context, names)

    def implicit_use(self, command: str, folder: str | None = None) -> Card | None:
        """Return the skill that a shell command uses without naming it: it runs its script or reads
        its SKILL.md (CX-48).
        """
        from metier.disclose import expand

        return expand.implicit_use(self._context, command, folder)

    # --- what a skill needs

    def prepare(self, name: str) -> Prepared:
        """Say what a skill needs, what is missing, and how to get it."""
        from metier.run import needs

        return needs.prepare(self._context, name)

    def setup(self, name: str, ask: Callable[[Ask], str | None], *, store: str = "") -> Prepared:
        """Ask for the secrets a skill declares and doesn't have, and store the answers. `ask`
        returns None to skip one.
        """
        from metier.run import needs

        return needs.setup(self._context, name, ask, store=store)

    def vault(self) -> Vault:
        """Return the stored secrets: anyone can see their names, only a skill's own run gets the
        values.
        """
        from metier.run import needs

        return needs.vault(self._context)

    # --- judging and deciding

    def scan(
        self,
        paths: str | os.PathLike[str] | Sequence[str],
        *,
        policy: str | None = None,
        baseline: str | None = None,
        judge: bool = True,
    ) -> list[Scanned]:
        """Scan every skill in these paths. Verdicts are cached by digest and ruleset. The model in
        `scan.judge` is asked too, unless `judge` is false.
        """
        from metier.scan import service

        return service.scan(
            self._context, _paths(paths), policy=policy, baseline=baseline, judge=judge
        )

    def observe_skills(
        self,
        targets: str | os.PathLike[str] | Sequence[str],
        *,
        script: str = "",
        seconds: int = 20,
        skills: Sequence[str] = (),
    ) -> list[SkillObservation]:
        """Run what skills would have an agent run, in the sandbox and among decoys, and return what
        they did. A target is a path, a name or a source; `skills` chooses from a source. Findings are
        kept with the skill's digest and count from then on.
        """
        from metier.run.observe import service

        options = service.ObserveOptions(script, seconds, tuple(skills))
        return service.observe(self._context, _paths(targets), options)

    def observation(self, name: str) -> KeptObservation | None:
        """Return what an observation of a skill found, if these very files were observed: when, by
        which rules, what it declares, shows and did, and what was tried.
        """
        from metier.catalogue import digests
        from metier.run.observe import kept
        from metier.scan.io import observed_files

        if not self._context.data or not observed_files.has_any(self._context.data):
            return None
        card = self._context.catalogue.resolve(name)
        return kept.read_kept(self._context, digests.digest_of(self._context, card))

    def suggest_run(self, name: str, script: str = "") -> RunSuggestion:
        """Return what a script needed when its skill was observed, and the options of `run` that
        allow just that.
        """
        from metier.run.observe import service

        return service.suggest(self._context, name, script)

    def judge_some(self, limit: int = 64) -> int:
        """Judge some of the skills that nobody has judged yet; give how many are left."""
        from metier.trust import judge

        return judge.judge_some(self._context, limit)

    def write_baseline(self, file: str, scanned: Iterable[Scanned]) -> int:
        """Write the findings of a scan to a file that a later scan accepts as its baseline, and
        return their number.
        """
        from metier.scan import service

        return service.write_baseline(self._context, file, scanned)

    def trust(
        self,
        name: str,
        action: Verb = "show",
        *,
        reason: str = "",
        accept_dangerous: bool = False,
        expected: str | None = None,
    ) -> Trusted:
        """Return the decision on a skill, or make one about its current version: approve,
        quarantine, block, unblock. With `expected`, the digest that a person was shown, no other
        bytes are approved.
        """
        from metier.trust import approve

        return approve.trust(
            self._context,
            name,
            action,
            reason=reason,
            accept_dangerous=accept_dangerous,
            expected=expected,
        )

    def trust_project(self, folder: str = ".", *, trusted: bool = True, reason: str = "") -> str:
        """Trust a project's skills, or stop trusting them. Returns the project's folder."""
        from metier.trust import approve

        return approve.trust_project(self._context, folder, trusted=trusted, reason=reason)

    def trust_own(self, path: str, *, own: bool = True, reason: str = "") -> str:
        """Mark the skill at a path as your own, or unmark it. Your later edits need no approval.
        Returns its canonical path.
        """
        from metier.trust import approve

        return approve.own(self._context, path, own=own, reason=reason)

    def trust_manifest(
        self, folder: str, *, write: bool = False, expected: str = ""
    ) -> ManifestCheck:
        """Compare a folder's manifest with the code skills in it. With `write`, update it, which
        vouches for each of them. `expected` is the `sha256` of what you looked at.
        """
        from metier.trust import code_gate

        return code_gate.hold_manifest(self._context, folder, write=write, expected=expected)

    def trusted_sources(self) -> list[TrustedSource]:
        """List the repositories whose skills are trusted."""
        from metier.trust import approve

        return approve.trusted_sources(self._context)

    def trust_source(
        self, source: str, *, trusted: bool = True, reason: str = ""
    ) -> list[TrustedSource]:
        """Trust everything from a repository, or stop trusting it. Returns the trusted sources."""
        from metier.trust import approve

        return approve.trust_source(self._context, source, trusted=trusted, reason=reason)

    def policy(self) -> PolicyReport:
        """Return the policies of your organisation that apply here, and your own rules about
        sources.
        """
        from metier.trust import explain_policy

        return explain_policy.show(self._context)

    def explain_policy(self, name: str) -> Explained:
        """Say which line of whose policy decides about a skill or a source."""
        from metier.trust import explain_policy

        return explain_policy.explain(self._context, name)

    def update_policy(self) -> PolicyUpdate:
        """Fetch your organisation's policy from the address that this machine's policy names. One
        that isn't signed as it must be is refused, and the last good one stays.
        """
        from metier.supply import policy_update

        return policy_update.update_policy(self._context)

    def sign_policy(self, file: str, *, key: str = "") -> tuple[str, str]:
        """Sign a policy. Returns the key and the file of the signature."""
        from metier.trust import explain_policy

        return explain_policy.sign_policy(self._context, file, key)

    def waivers(self) -> list[GivenWaiver]:
        """List the waived findings, each with whether its waiver still applies."""
        from metier.scan import waive

        return waive.waivers(self._context)

    def waive(self, rule: str, name: str, *, reason: str, until: str = "") -> GivenWaiver:
        """Accept a rule's findings in one skill, with a reason, until a date (90 days from now by
        default).
        """
        from metier.scan import waive

        return waive.waive(self._context, rule, name, reason=reason, until=until)

    def take_back_waiver(self, rule: str, name: str) -> None:
        """Remove a waiver, so that the rule's findings in that skill count again."""
        from metier.scan import waive

        waive.take_back_waiver(self._context, rule, name)

    def repair_trust(
        self, *, dry_run: bool = False, expected: TrustRepair | None = None
    ) -> TrustRepair:
        """Restore damaged trust decisions from their second copy, or else from the audit log. With
        `dry_run`, only say what would be restored. With `expected`, restore only what a person was
        shown.
        """
        from metier.trust.io import decisions_file

        return decisions_file.repair_trust(self._context, dry_run=dry_run, expected=expected)

    def audit_tail(self, limit: int = 20) -> list[AuditRecord]:
        """Return the last events of the audit log."""
        from metier.audit import log

        return log.tail(self._context, limit)

    def audit_verify(self) -> VerifiedLog:
        """Check that nobody changed the audit log, or say where someone did."""
        from metier.audit import log

        return log.verify(self._context)

    # --- showing, hiding and writing skills

    def enable(self, name: str) -> Card:
        """Show a skill again, with a rule in the user's configuration."""
        return self._context.catalogue.switch(name, enabled=True)

    def disable(self, name: str) -> Card:
        """Hide a skill, with a rule in the user's configuration."""
        return self._context.catalogue.switch(name, enabled=False)

    def manage(self, action: str, name: str, **parts: Any) -> Managed:
        """Create, edit, patch or delete one of the user's own skills, or one of its files, for an
        agent (HE-47).
        """
        from metier.author import manage

        return manage.manage(self._context, action, name, **parts)

    def watch(self, heard: Callable[[Change], None], *, poll: bool = False) -> Watcher:
        """Keep the library up to date while the disk changes, and report each change until you
        close it.
        """
        from metier.discover import watch

        return watch.watch(self._context, heard, poll=poll)

    def usage(self, *, days: int = 30) -> Usage:
        """Report which skills are used, what they cost, which are never used, and which are nearly
        the same.
        """
        from metier.usage import counter

        return counter.usage_report(self._context, days=days)

    def register(
        self,
        name: str,
        description: str,
        body: str,
        *,
        files: Mapping[str, str | bytes] | None = None,
        fields: Mapping[str, object] | None = None,
    ) -> Card:
        """Add a skill of your program to this library, until you close the library or call
        `unregister`. The same name again replaces it.

        It is listed, found, scanned and served like any other skill, with the scope `external`:
        stronger scopes shadow it. `files` are its other files by path, and `fields` go into its
        frontmatter.
        """
        from metier.author import new

        return new.register(self._context, name, description, body, files or {}, fields or {})

    def unregister(self, name: str) -> None:
        """Remove a registered skill. Files on disk stay."""
        from metier.author import new

        new.unregister(self._context, name)

    def new(self, name: str, folder: str | None = None, description: str = "") -> str:
        """Create a skill and return its folder. With a description it passes a strict check."""
        from metier.author.new import scaffold

        return scaffold(self._context, name, folder, description)

    # --- getting skills in and keeping them current

    def add(  # noqa: PLR0913 - each is one option of the command, by name
        self,
        source: str,
        *,
        skills: Sequence[str] = (),
        all: bool = False,  # noqa: A002
        ref: str = "",
        to: Sequence[str] = (),
        user: bool = False,
        name: str = "",
        force: bool = False,
        accept_dangerous: bool = False,
        reason: str = "",
        dry_run: bool = False,
        no_deps: bool = False,
        observe: bool = False,
        consent: Callable[[Outcome], bool] | None = None,
        show: Callable[[str, str], None] | None = None,
    ) -> Outcome:
        """Install skills from a source: fetch, scan, approve, lock and install. What needs approval
        needs `consent`. The skills that they need come along, unless `no_deps`. With `observe`, or
        where `scan.observe` says so, they are watched in the sandbox first. `show` gets the name of
        each skill in the plan, and what would change on disk as a diff.
        """
        from metier.supply import add

        wish = add.AddOptions(
            skills=tuple(skills),
            everything=all,
            ref=ref,
            to=tuple(to),
            user=user,
            name=name,
            force=force,
            accept_dangerous=accept_dangerous,
            reason=reason,
            dry_run=dry_run,
            no_deps=no_deps,
            observe="always" if observe else self._context.settings.scan_observe,
            watch=lambda folder, name: _watch(self._context, folder, name),
        )
        return add.add(self._context, source, wish, consent, show)

    def remove(
        self,
        names: str | Sequence[str],
        *,
        user: bool = False,
        dry_run: bool = False,
        force: bool = False,
        orphans: bool = False,
        consent: Callable[[Outcome], bool] | None = None,
    ) -> Outcome:
        """Remove what was installed for these skills. A skill that was edited, or that another one
        needs, needs `force`; edits are kept in the store. `orphans` removes what came only because
        these skills needed it, too.
        """
        from metier.supply import remove

        return remove.remove(
            self._context,
            _names(names),
            user=user,
            dry_run=dry_run,
            force=force,
            orphans=orphans,
            consent=consent,
        )

    def tree(self, name: str) -> SkillNeeds:
        """Say which skills a skill needs, all the way down, and which skills need it."""
        from metier.supply import tree

        return tree.tree(self._context, name)

    def trees(self) -> list[SkillNeeds]:
        """Say the same of every skill that needs others and that none needs."""
        from metier.supply import tree

        return tree.forest(self._context)

    def sbom(self, *, user: bool = False) -> dict[str, Any]:
        """Give the locked skills, and the packages and containers that they name, as a CycloneDX
        1.6 document.
        """
        from metier.supply import sbom

        return sbom.sbom(self._context, user=user)

    def write_sbom(self, file: str, *, user: bool = False) -> str:
        """Write the same to a file, and give its path."""
        from metier.supply import sbom

        return sbom.write_sbom(self._context, file, user=user)

    def update(
        self,
        names: str | Sequence[str] = (),
        *,
        user: bool | None = None,
        check: bool = False,
        diff: bool = False,
        consent: Callable[[Outcome], bool] | None = None,
        show: Callable[[str, str], None] | None = None,
    ) -> Outcome:
        """Update skills and merge local edits. Updates that conflict, look worse or ask for new
        permissions are held (BE-13). With `diff`, the plan has every line that changed
        upstream. `show` gets each name and what would change there as a diff.
        """
        from metier.supply import update

        return update.update(
            self._context,
            _names(names),
            user=user,
            check=check,
            diff=diff,
            consent=consent,
            show=show,
        )

    def installed(self, *, user: bool | None = None) -> list[LockedSkill]:
        """List what was installed from sources, as the lock has it. Nobody is asked."""
        from metier.supply import history

        return history.installed(self._context, user=user)

    def join_upstreams(self, said: Sequence[str] = ()) -> tuple[UpstreamServer, ...]:
        """Join the skills of other MCP servers, those of the configuration and those written
        `NAME=ADDRESS`, and return the servers. Nothing is fetched yet.
        """
        from metier.supply import join

        return join.join_servers(self._context, said)

    def refresh_upstream(
        self, name: str, stopped: Callable[[], bool] = lambda: False
    ) -> UpstreamLook:
        """Look at a joined server, and fetch what is new. What changed since it was first seen isn't
        used until you approve it.
        """
        from metier.supply import join

        return join.refresh_server(self._context, name, stopped)

    def outdated(self, *, user: bool | None = None) -> list[UpstreamStatus]:
        """List the skills with a newer version upstream. Changes nothing."""
        from metier.supply import upstream

        return upstream.outdated(self._context, user=user)

    def sync(self, *, frozen: bool = False, user: bool = False, policy: str = "") -> SyncOutcome:
        """Make the disk match the lock. With `frozen`, change neither the lock nor skills that
        differ. `policy` names one more policy to hold it to, or `default`, which must be there then.
        """
        from metier.supply import sync

        return sync.sync(self._context, frozen=frozen, user=user, policy=policy)

    def adopt(
        self, path: str | os.PathLike[str], *, source: str = "", user: bool | None = None
    ) -> Outcome:
        """Start tracking a skill you already have, without changing it."""
        from metier.supply import adopt

        return adopt.adopt(self._context, str(path), source=source, user=user)

    def diff(
        self, name: str, *, against: str = "base", to: str = "", user: bool | None = None
    ) -> str:
        """Show the local edits of a skill, what a held update changes (`theirs`), or a revision. With
        `to`, another revision takes the place of your copy.
        """
        from metier.supply import history

        return history.diff(self._context, name, against=against, to=to, user=user)

    def merge(self, name: str, how: str = "", *, user: bool | None = None) -> MergeStatus:
        """Settle a held update: show it, take `ours` or `theirs` in conflicts, `continue` after
        editing, or `abort`.
        """
        from metier.supply.merge import settle

        return settle.merge(self._context, name, how, user=user)

    def history(self, name: str, *, user: bool | None = None) -> list[Revision]:
        """List the revisions of an installed skill, newest first."""
        from metier.supply import history

        return history.history(self._context, name, user=user)

    def locked_at(self, name: str) -> LockEntry | None:
        """Give what metier's lock has for the very copy that a path means; nothing where metier did
        not install it.
        """
        from metier.supply import history

        return history.locked_at(self._context, name)

    def rollback(
        self, name: str, revision: int | None = None, *, user: bool | None = None
    ) -> Outcome:
        """Restore a revision of a skill, or the previous one. The current state is kept as a
        revision.
        """
        from metier.supply import history

        return history.rollback(self._context, name, revision, user=user)

    def search(self, words: str, limit: int = 20) -> SearchOutcome:
        """Search the configured taps and registries, and the well-known repositories of
        `supply.default_taps`. Those that don't answer in time are named.
        """
        from metier.supply import search

        return search.search(self._context, words, limit)

    def taps(self) -> list[Tap]:
        """List the repositories that `search` looks in, with the trust each one earns."""
        from metier.supply import search

        return search.taps(self._context)

    def tap(self, source: str, *, listed: bool = True) -> list[Tap]:
        """Add a repository to the taps in the user's configuration, or remove it. Returns the taps."""
        from metier.supply import search

        return search.tap(self._context, source, listed=listed)

    def lock_export(self, format: str, file: str = "", *, user: bool = False) -> ExchangeOutcome:  # noqa: A002 - the option's name
        """Write the lock in another tool's format. No skill is changed."""
        from metier.supply.records import exchange

        return exchange.export_lock(self._context, format, file, user=user)

    def lock_import(self, format: str, file: str = "", *, user: bool = False) -> ExchangeOutcome:  # noqa: A002 - the same
        """Track skills that another tool installed, from that tool's lock file. No skill is
        changed.
        """
        from metier.supply.records import exchange

        return exchange.import_record(self._context, format, file, user=user)

    def bundled(
        self, folder: str, *, optional: bool = False, user: bool = True, names: Sequence[str] = ()
    ) -> list[BundledSkill]:
        """Install or update the skills that a host ships in a folder. The user's edits and
        deletions stay (HE-46).

        `optional` skills are only listed; `names` installs those, and brings back deleted ones.
        """
        from metier.supply import bundle

        return bundle.install_bundled(
            self._context, folder, optional=optional, user=user, names=names
        )

    def pack(self, path: str, file: str = "") -> PackedSkill:
        """Write a skill as an archive, byte for byte the same every time."""
        from metier.supply import publish

        return publish.pack(self._context, path, file)

    def push(
        self,
        path: str,
        to: str,
        *,
        source: str = "",
        revision: str = "",
        sign: bool = False,
        key: str = "",
        version: str = "",
    ) -> PushedSkill:
        """Bring a skill to an OCI registry (`oci://…`) or to a hub (`URL/NAMESPACE`), and its
        signature with it. `version` is for a hub.
        """
        from metier.supply import push

        wish = push.PushOptions(source, revision, sign or bool(key), key, version)
        return push.push(self._context, path, to, wish)

    def login(
        self,
        url: str,
        token: str = "",
        *,
        accept_key: bool = False,
        accept_log: bool = False,
        show: ShowLogin | None = None,
        ask: Callable[[], str] | None = None,
    ) -> HubLogin:
        """Get to know a hub: check and keep your token, and keep the hub's key. Without a token you log
        in through the hub's provider, where `show` is told what to do, or `ask` asks you for one.
        """
        from metier.supply import hubs

        return hubs.login(
            self._context,
            url,
            token,
            accept_key=accept_key,
            accept_log=accept_log,
            show=show,
            ask=ask,
        )

    def logout(self, url: str) -> str:
        """Forget your token of a hub."""
        from metier.supply import hubs

        return hubs.logout(self._context, url)

    def publish(self, paths: Sequence[str], folder: str) -> PublishedIndex:
        """Write a well-known index of skills, with archives and digests, for any web server."""
        from metier.supply import publish

        return publish.publish(self._context, paths, folder)

    # --- plugins, versions, and what waits for a person

    def plugins(self, *, user: bool | None = None) -> PluginList:
        """List the plugins that are enabled here and those that were found but aren't (BE-2).
        Downloads nothing.
        """
        from metier.plugins import discover

        return discover.list_plugins(self._context, user=user)

    def plugin_enable(  # noqa: PLR0913 - each is one option of the command, by name
        self,
        plugin: str,
        *,
        name: str = "",
        ref: str = "",
        to: Sequence[str] = (),
        user: bool = False,
        dry_run: bool = False,
        force: bool = False,
        adopt: Sequence[str] = (),
        consent: Callable[[Outcome], bool] | None = None,
        blocking: bool = True,
    ) -> PluginResult:
        """Install all skills of a plugin, by its id or from a source, or none of them (BE-4). Those
        in `adopt` are yours already, and stay so.
        """
        from metier.plugins import enable

        request = enable.EnableRequest(
            plugin=plugin,
            name=name,
            ref=ref,
            to=tuple(to),
            user=user,
            dry_run=dry_run,
            force=force,
            adopt=tuple(adopt),
        )
        return enable.enable(self._context, request, consent, blocking=blocking)

    def plugin_sync(
        self, plugins: Sequence[str] = (), *, user: bool | None = None, blocking: bool = True
    ) -> PluginResult:
        """Look for plugin updates: local edits become versions, upstream changes become candidates
        (BE-12).
        """
        from metier.plugins import sync

        return sync.sync(self._context, tuple(plugins), user=user, blocking=blocking)

    def plugin_pause(
        self, plugin: str, *, user: bool | None = None, blocking: bool = True
    ) -> PluginResult:
        """Stop updating a plugin's skills until it is resumed (BE-20)."""
        from metier.plugins import enable

        return enable.pause(self._context, plugin, user=user, blocking=blocking)

    def plugin_resume(
        self, plugin: str, *, user: bool | None = None, blocking: bool = True
    ) -> PluginResult:
        """Resume a paused plugin and look for updates at once (BE-20)."""
        from metier.plugins import enable

        return enable.resume(self._context, plugin, user=user, blocking=blocking)

    def plugin_disable(
        self,
        plugin: str,
        *,
        disable_linked_skills: bool = False,
        user: bool | None = None,
        blocking: bool = True,
    ) -> PluginResult:
        """Hide a plugin's skills from agents. Edits and versions are kept (BE-21)."""
        from metier.plugins import enable

        return enable.disable(
            self._context, plugin, confirmed=disable_linked_skills, user=user, blocking=blocking
        )

    def plugin_adopt(
        self, plugin: str, skill: str, *, user: bool | None = None, blocking: bool = True
    ) -> PluginResult:
        """Make a plugin's skill your own: the plugin no longer changes it, and its versions stay
        (BE-22).
        """
        from metier.plugins import enable

        return enable.adopt(self._context, plugin, skill, user=user, blocking=blocking)

    def published(self, candidate: str, version: str, *, user: bool | None = None) -> PluginResult:
        """Confirm that a candidate was published as a version, for hosts that publish themselves
        (BE-19).
        """
        from metier.plugins import install

        return install.acknowledge(self._context, candidate, version, user=user)

    def versions(self, name: str, *, user: bool | None = None) -> VersionedSkill:
        """Return a plugin's skill with all its versions."""
        from metier.plugins import versions

        return versions.list_versions(self._context, name, user=user)

    def version(
        self, name: str, version: str = "", *, file: str = "", user: bool | None = None
    ) -> ViewedVersion:
        """Show one version of a plugin's skill, or one of its files. The default is the current
        version.
        """
        from metier.plugins import versions

        return versions.view(self._context, name, version, file=file, user=user)

    def compare(self, name: str, one: str, other: str = "", *, user: bool | None = None) -> str:
        """Show the difference between two versions, or a version and the working copy, as a unified
        diff.

        `base` is what was last accepted from the skill's plugin.
        """
        from metier.plugins import versions

        return versions.compare(self._context, name, one, other, user=user)

    def make_current(self, name: str, version: str, *, user: bool | None = None) -> VersionedSkill:
        """Restore a version. The current state is saved as a version first."""
        from metier.plugins import versions

        return versions.make_current(self._context, name, version, user=user)

    def candidates(self, *, all: bool = False, user: bool | None = None) -> list[ReviewCandidate]:  # noqa: A002 - the option's name
        """List the changes that wait for review, or with `all` also those already decided."""
        from metier.review import queue

        return queue.list_waiting(self._context, everything=all, user=user)

    def candidate(self, ident: str, *, user: bool | None = None) -> Reviewed:
        """Show what a candidate would change, with its verdict and findings."""
        from metier.review import queue

        return queue.source_of(self._context, ident, user).show(ident)

    def accept(
        self, ident: str, how: str = "", *, reason: str = "", user: bool | None = None
    ) -> Decided:
        """Install a candidate, unless something changed since it was made: then it is rebuilt and
        must be reviewed again.

        `how` settles conflicts: `ours` or `theirs`. If the candidate was edited in its review
        folder, that counts. The same change may wait in the project and for the user: `user` says
        which, and the project's comes first.
        """
        from metier.review import queue

        return queue.accept(self._context, ident, how, reason=reason, user=user)

    def reject(self, ident: str, *, reason: str = "", user: bool | None = None) -> Decided:
        """Reject a candidate. The skill stays as it is."""
        from metier.review import queue

        return queue.source_of(self._context, ident, user).reject(ident, reason)

    def gc(
        self, *, dry_run: bool = False, revisions: int | None = None, gone: Sequence[str] = ()
    ) -> Freed:
        """Delete cached versions that no lock, version, candidate or revision needs. `revisions`
        keeps only that many per skill; projects in `gone` need nothing any more, if they are.
        """
        from metier.review import drafts
        from metier.run import environments
        from metier.supply import sweep

        freed = sweep.sweep(
            self._context,
            dry_run=dry_run,
            revisions=revisions,
            gone=gone,
            also=lambda: drafts.needed_trees(self._context),
        )
        unused, size = environments.sweep(self._context, dry_run=dry_run)
        return freed._replace(environments=unused, bytes=freed.bytes + size)

    def edit(self, ident: str, *, user: bool | None = None) -> Reviewed:
        """Open a candidate in a folder where a person can change it before accepting."""
        from metier.review import queue

        return queue.source_of(self._context, ident, user).edit(ident)

    def sides(self, ident: str, *, user: bool | None = None) -> ReviewSides:
        """Show an open candidate file by file: the version both sides came from, yours, theirs, and
        what would be put in place.
        """
        from metier.review import sides

        return sides.compare_sides(self._context, ident, user)

    def settle_file(
        self,
        ident: str,
        path: str,
        *,
        seen: str,
        side: str = "",
        text: str | None = None,
        regions: Mapping[int, RegionChoice] | None = None,
        user: bool | None = None,
    ) -> None:
        """Settle one file of a candidate in the folder where it is edited: each region where both
        sides changed the same lines, the whole text, or one side's file. `seen` is the file's mark
        in `sides`; nothing is written over what came since.
        """
        from metier.review import sides

        sides.settle_file(
            self._context,
            ident,
            path,
            seen=seen,
            side=side,
            text=text,
            regions=regions,
            user=user,
        )

    # --- running

    def plan_run(  # noqa: PLR0913 - each is one option of the command, by name
        self,
        name: str,
        script: str = "",
        args: Sequence[str] = (),
        *,
        network: bool = False,
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        seconds: int = 0,
        unsandboxed: bool = False,
    ) -> RunPlan:
        """Say how a script or code skill would be run, with what, and whether it may. Runs nothing."""
        return self.preview_run(
            name,
            script,
            args,
            network=network,
            read=read,
            write=write,
            seconds=seconds,
            unsandboxed=unsandboxed,
        ).plan

    def preview_run(  # noqa: PLR0913 - as above
        self,
        name: str,
        script: str = "",
        args: Sequence[str] = (),
        *,
        network: bool = False,
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        seconds: int = 0,
        unsandboxed: bool = False,
    ) -> RunPreview:
        """Return everything a run would get and what prevents it, as `metier run --dry-run` shows
        it. Runs nothing.
        """
        self._context.check_runs_here()
        from metier.run import inputs, preview

        inputs.check_text("the name", name)
        inputs.check_text("the script or the task", script)
        inputs.check_flags({"unsandboxed": unsandboxed})
        lent = inputs.read_lent(network=network, read=read, write=write, seconds=seconds)
        words = inputs.read_texts("args", args)
        return preview.preview_run(self._context, name, script, words, lent, bare=unsandboxed)

    def run(  # noqa: PLR0913 - each is one option of the command, by name
        self,
        name: str,
        script: str = "",
        args: Sequence[str] = (),
        *,
        consent: bool = False,
        install: bool = False,
        network: bool = False,
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        seconds: int = 0,
        unsandboxed: bool = False,
        act: str = "",
        context: str = "",
        shown: str = "",
        ask: Asker | None = None,
        hear: Callable[[str, str], None] | None = None,
        raw: Callable[[str, bytes], None] | None = None,
        feed: Callable[[int], bytes] | None = None,
        stopped: Callable[[], bool] | None = None,
        door: str = "library",
    ) -> Ran:
        """Run a skill's script in its sandbox, or a code skill with a task instead of a script.

        `consent` is a person's approval of this run, `install` their approval to install what the
        script declares, and `act` the words in which they agreed to what a destructive skill does;
        those must name it (CO-18). Otherwise `ask` gets the question and the act. With `shown`, the
        digest a person saw, no other version runs. A code skill gets `args` and `context` as its
        context. `raw` gets the exact output of a script that has no secrets. `door` goes into the
        audit log.
        """
        self._context.check_runs_here()
        from metier.run import code, inputs, run_script
        from metier.run.model import never

        for what, word in (
            ("the name", name),
            ("the script or the task", script),
            ("act", act),
            ("context", context),
            ("shown", shown),
            ("door", door),
        ):
            inputs.check_text(what, word)
        inputs.check_flags({"consent": consent, "install": install, "unsandboxed": unsandboxed})
        inputs.check_callables(
            {"ask": ask, "hear": hear, "raw": raw, "feed": feed, "stopped": stopped}
        )
        lent = inputs.read_lent(network=network, read=read, write=write, seconds=seconds)
        words = inputs.read_texts("args", args)
        card = self.resolve(name)
        if card.held == "offer":
            from metier.disclose.offer import tell_unoffered

            tell_unoffered(self._context, card)
        if card.kind == "code":
            inputs.check_only_for("scripts", card, {"unsandboxed": unsandboxed, "raw": raw})
            context = "\n".join([*([context] if context else ()), *words])
            return code.call(
                self._context,
                card.path,
                script,
                context,
                consent=act,
                agreed=consent,
                ask=ask,
                lent=lent,
                hear=hear,
                stopped=stopped,
                door=door,
            )
        inputs.check_only_for("code skills", card, {"act": act, "ask": ask, "context": context})
        wish = run_script.RunOptions(consent, install, lent, unsandboxed, shown, door)
        return run_script.run(
            self._context,
            card.path,
            script,
            words,
            wish,
            run_script.RunListeners(hear, raw, feed, stopped or never),
        )

    def scripts(self, name: str) -> list[str]:
        """Name the scripts of a skill that could be run."""
        from metier.run import plan

        return plan.scripts_of(self._context, self.resolve(name))

    def sandbox_layers(self) -> list[Layer]:
        """List the parts of the sandbox, and which are missing on this machine."""
        return list(self._context.open_sandbox().layers())

    def dispatch(
        self,
        task: str,
        attempt: Callable[[Match], str | None] | None = None,
        *,
        consent: GivenConsent | bool | None = None,
    ) -> Dispatched:
        """Offer a task to the skills whose triggers match, one after another, until one takes it
        (CO-19).

        Without your own `attempt`, code skills are called. One that needs approval is skipped
        unless `consent` agrees: the words in which a person named the act, or a function that gets
        a `ConsentRequest` and returns those words. A plain yes is enough if nothing can be
        destroyed (CO-18).
        """
        from metier.find import suggest
        from metier.run import dispatch, inputs

        inputs.check_text("the task", task)
        inputs.check_callables({"attempt": attempt})
        inputs.check_consent(consent)
        if isinstance(consent, bool):
            consent = (lambda _request: True) if consent else None
        if attempt is None:
            return dispatch.dispatch(self._context, task, consent=consent or "")
        if consent:
            raise UsageError(
                "consent is for code skills that metier calls, and attempt calls them itself",
                hint="leave one of the two out",
            )
        return suggest.dispatch(self._context, task, attempt)

    def auto(self, message: str) -> Dispatched:
        """Let a message start the code skills listed in `run.auto`, if it contains one of their
        triggers (CO-20).
        """
        from metier.run import dispatch, inputs

        inputs.check_text("the message", message)
        return dispatch.dispatch_message(self._context, message)

    def fill_tags(self, text: str) -> str:
        """Run what `[SKILL:name:query]` in a model's answer asks for, and return the answer with
        the results (CO-20).
        """
        from metier.disclose import offer
        from metier.run import dispatch, inputs

        inputs.check_text("the answer", text)
        without = offer.withheld_paths(self._context)
        return dispatch.resolve_tags(self._context, text, without).text


def _watch(context: Context, folder: str, name: str) -> None:
    """Watch a skill in quarantine; few installations load what that takes."""
    from metier.run.observe import service

    service.observe_one(context, folder, name)


def _paths(paths: str | os.PathLike[str] | Sequence[str]) -> list[str]:
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in given]


def _names(names: str | Sequence[str]) -> Texts:
    return (names,) if isinstance(names, str) else tuple(names)
