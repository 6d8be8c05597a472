"""Getting skills: a plan of what a source would bring, with findings and diff, before anything is
installed; search over taps; what is installed, and the way forward and back for each.
"""

from __future__ import annotations

import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from starlette.routing import Route

from metier.audit.redact import redact_text
from metier.errors import UsageError
from metier.web.file_view import diff_lines
from metier.web.render import page, see_other, shorten, site_of
from metier.web.review import conflict, first, whose
from metier.web.site import SlowFact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from metier.library import Library
    from metier.supply.model import (
        LockedSkill,
        Outcome,
        PlanStep,
        Refusal,
        SearchOutcome,
    )
    from metier.supply.search import Tap
    from metier.supply.upstream import UpstreamStatus
    from metier.web.jobs import Job
    from metier.web.site import Site

ROWS_PER_PAGE = 100
MAX_SOURCE_CHARS = 1_000
MAX_NAMES = 2_000
MAX_DIFF_CHARS = 200_000
"""Of one skill's diff; what is longer is cut, and says so."""
MAX_ALL_DIFF_CHARS = 4_000_000
SEARCH_RESULTS = 40


class GetWish(NamedTuple):
    """What somebody asks for."""

    source: str
    names: tuple[str, ...] = ()
    ref: str = ""
    to: tuple[str, ...] = ()
    user: bool = False
    force: bool = False


class PlannedSkill(NamedTuple):
    """One skill of a plan, with what it changes on disk."""

    step: PlanStep
    lines: list[tuple[str, str]]
    more: int
    key: str
    """What the source calls it, so that it alone can be asked for."""


class ShownPlan(NamedTuple):
    """A plan as a person was shown it: only just this may be carried out."""

    wish: GetWish
    skills: list[PlannedSkill]
    outcome: Outcome
    seen: str
    held: list[tuple[str, tuple[str, ...], list[tuple[str, str]], int]]
    """Updates that would wait, each with its reasons and its diff."""
    name: str = ""
    """The skill that is updated; nothing where skills are added."""


class OutdatedRow(NamedTuple):
    """One skill that has a newer version where it came from, and whose it is."""

    scope: str
    status: UpstreamStatus


class AskedFact(SlowFact):
    """Which skills are outdated: found out only when somebody asks, since that goes out to their
    sources. Its value are those that are.
    """

    def __init__(self, site: Site) -> None:
        """Ask nobody yet."""
        super().__init__(site, lambda _m: None)
        self.silent: list[OutdatedRow] = []
        """Those whose source could not be asked."""
        self.asked_at = 0.0

    def get(self) -> Any:
        """Give what was found out last; nobody is asked for it."""
        return self.value

    def ask(self, m: Library) -> list[OutdatedRow]:
        """Ask every source."""
        found = [
            OutdatedRow(scope, one)
            for scope in ("project", "user")
            if scope == "project" or m.context.home
            for one in m.outdated(user=scope == "user")
        ]
        self.value = [one for one in found if one.status.state == "outdated"]
        self.silent = [one for one in found if one.status.state == "unavailable"]
        self.asked_at = time.time()
        return found

    def forget(self, name: str, scope: str) -> None:
        """Take out a skill that is not outdated any more."""
        if self.value is not None:
            self.value = [
                one for one in self.value if (one.status.name, one.scope) != (name, scope)
            ]


class GetFacts(NamedTuple):
    """What the page shows."""

    taps: list[Tap]
    rows: list[LockedSkill]
    total: int
    next_at: int
    outdated: dict[tuple[str, str], UpstreamStatus]


# --- the page

_KNOWN: WeakKeyDictionary[Site, tuple[object, list[LockedSkill]]] = WeakKeyDictionary()
"""What was installed when the locks were last read: ten thousand take most of a second."""


def _installed(site: Site) -> list[LockedSkill]:
    """List what is installed; the locks are read again only when they were written."""
    from metier.discover.io import disk
    from metier.supply import places

    found = places.places(site.library.context, None)
    stamp = [(one, disk.key_of(one.lock), disk.key_of(one.state)) for one in found]
    known = _KNOWN.get(site)
    if known is None or known[0] != stamp:
        known = _KNOWN[site] = stamp, site.library.installed()
    return known[1]


def look(site: Site, at: int, words: str) -> GetFacts:
    """Gather what is installed, and what is known of newer versions."""
    m = site.library
    locked = list(_installed(site))
    if words:
        folded = words.casefold()
        locked = [
            one
            for one in locked
            if folded in one.name.casefold() or folded in one.source.casefold()
        ]
    fact = site.facts.get("outdated")
    rows: list[OutdatedRow] = (fact.value if fact is not None else None) or []
    newer = {(one.status.name, one.scope): one.status for one in rows}
    locked.sort(key=lambda one: (one.name, one.scope) not in newer)
    after = at + ROWS_PER_PAGE
    return GetFacts(
        m.taps(), locked[at:after], len(locked), after if after < len(locked) else 0, newer
    )


async def show(request: Request) -> Response:
    """Show the form, the search, and what is installed."""
    site = site_of(request)
    given = request.query_params
    at = given.get("at", "0")
    words = given.get("installed", "")[:200].strip()
    start = int(at) if at.isdecimal() and len(at) < 8 else 0
    facts = await site.read(look, site, start, words)
    fact = site.facts.get("outdated")
    return page(
        request,
        "get.html",
        title="Get skills",
        facts=facts,
        words=words,
        source=given.get("source", "")[:MAX_SOURCE_CHARS],
        agents=site.facts["agents"].get(),
        project=site.library.context.project,
        fact=fact if isinstance(fact, AskedFact) and fact.value is not None else None,
    )


# --- adding: first the plan, then just that


def _wish_of(form: Mapping[str, list[str]]) -> GetWish:
    source = first(form, "source").strip()
    if not source or len(source) > MAX_SOURCE_CHARS:
        raise UsageError("name a source", hint="such as anthropics/skills, or a folder")
    names = tuple(first(form, "names").replace(",", " ").split())
    if len(names) > MAX_NAMES:
        raise UsageError("these are too many names", hint="leave them out to see all skills")
    return GetWish(
        source=source,
        names=names,
        ref=first(form, "ref").strip(),
        to=tuple(sorted(set(form.get("to", [])))),
        user=first(form, "whose") == "user",
        force=first(form, "force") == "yes",
    )


class _Diffs:
    """Collects what a plan shows, within bounds."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._room = MAX_ALL_DIFF_CHARS

    def __call__(self, name: str, diff: str) -> None:
        most = min(MAX_DIFF_CHARS, self._room)
        cut = diff if len(diff) <= most else f"{diff[:most]}\n... the rest is not shown\n"
        self._room -= min(len(diff), most)
        self.texts[name] = cut

    def lines(self, name: str) -> tuple[list[tuple[str, str]], int]:
        return diff_lines(self.texts.get(name, ""))


def _digest(wish: GetWish, steps: tuple[PlanStep, ...], refused: tuple[Refusal, ...]) -> str:
    about = repr((wish, steps, refused)).encode("utf-8", "backslashreplace")
    return blake2b(about, digest_size=16).hexdigest()


def _shown(wish: GetWish, outcome: Outcome, diffs: _Diffs, name: str = "") -> ShownPlan:
    steps = (*outcome.plan.add, *outcome.plan.update)
    return ShownPlan(
        wish,
        [PlannedSkill(step, *diffs.lines(step.name), step.path or step.name) for step in steps],
        outcome,
        _digest(wish, steps, outcome.refused),
        [(one.name, one.reasons, *diffs.lines(one.name)) for one in outcome.held],
        name,
    )


def _add(m: Library, wish: GetWish, **how: Any) -> Outcome:
    return m.add(
        wish.source,
        skills=wish.names,
        all=not wish.names,
        ref=wish.ref,
        to=wish.to,
        user=wish.user,
        force=wish.force,
        **how,
    )


async def plan(request: Request) -> Response:
    """Fetch what a source has, and plan; nothing is installed."""
    site = site_of(request)
    wish = _wish_of(request.scope["form"])

    def work(m: Library, _job: Job) -> ShownPlan:
        diffs = _Diffs()
        return _shown(wish, _add(m, wish, dry_run=True, show=diffs), diffs)

    source = redact_text(shorten(site, wish.source))[:80]
    job = site.jobs.start(f"Plan for {source}", "/get", "plan", work)
    return see_other(f"/jobs/{job.ident}")


def _plan_of(site: Site, form: Mapping[str, list[str]]) -> ShownPlan:
    """Give the plan that a form is about, as it was shown."""
    job = site.jobs.get(first(form, "plan"))
    found = job.result if job is not None and job.done else None
    if not isinstance(found, ShownPlan) or found.seen != first(form, "seen"):
        raise conflict("nobody knows of this plan any more")
    return found


class _OnlyThis:
    """Says yes to just the steps that a person was shown and ticked, and to nothing else."""

    def __init__(self, wanted: Mapping[str, PlanStep]) -> None:
        self.wanted = wanted
        self.refused = False

    def __call__(self, outcome: Outcome) -> bool:
        steps = {step.name: step for step in (*outcome.plan.add, *outcome.plan.update)}
        self.refused = steps != dict(self.wanted)
        return not self.refused

    def check(self, outcome: Outcome) -> Outcome:
        """Say so where what would have been done was not what was shown."""
        if self.refused or (self.wanted and not outcome.installed):
            raise conflict("the source, or your copy, changed since the plan was shown")
        return outcome


async def install(request: Request) -> Response:
    """Install the ticked skills of a plan, provided that it is still what was shown."""
    site = site_of(request)
    form = request.scope["form"]
    shown = _plan_of(site, form)
    ticked = set(form.get("skill", []))
    chosen = [one for one in shown.skills if one.step.name in ticked]
    if not chosen:
        raise UsageError("no skill is ticked", hint="go back, and tick what you want")
    wish = shown.wish
    if len(chosen) < len(shown.skills):
        wish = wish._replace(names=tuple(one.key for one in chosen))
    consent = _OnlyThis({one.step.name: one.step for one in chosen})

    def work(m: Library, _job: Job) -> Outcome:
        return consent.check(_add(m, wish, consent=consent))

    job = site.jobs.start(f"Install from {redact_text(wish.source)[:80]}", "/get", "outcome", work)
    return see_other(f"/jobs/{job.ident}")


# --- searching


async def search(request: Request) -> Response:
    """Look for skills in the taps and registries."""
    site = site_of(request)
    words = first(request.scope["form"], "words").strip()[:MAX_SOURCE_CHARS]
    if not words:
        raise UsageError("there is nothing to search for", hint="say what is wanted")

    def work(m: Library, _job: Job) -> SearchOutcome:
        return m.search(words, SEARCH_RESULTS)

    job = site.jobs.start(f"Search for {words[:80]}", "/get", "found", work)
    return see_other(f"/jobs/{job.ident}")


# --- what is installed


async def ask_outdated(request: Request) -> Response:
    """Ask all sources for newer versions."""
    site = site_of(request)

    def work(m: Library, _job: Job) -> AskedFact:
        fact = AskedFact(site)
        fact.ask(m)
        site.facts["outdated"] = fact
        return fact

    job = site.jobs.start("Look for newer versions", "/get#installed", "outdated", work)
    return see_other(f"/jobs/{job.ident}")


def _locked(m: Library, name: str, scope: str, seen: str) -> LockedSkill:
    """Give an installed skill, provided that it is what the form was about."""
    found = next(
        (one for one in m.installed(user=whose(scope)) if one.name == name),
        None,
    )
    if found is None or f"{found.digest} {found.revisions}" != seen:
        raise conflict(f"{name[:100]} is not what you were shown any more")
    return found


async def plan_update(request: Request) -> Response:
    """Look at the newest version of one skill, and show what it would change."""
    site = site_of(request)
    form = request.scope["form"]
    name, scope = first(form, "name"), first(form, "scope")
    await site.read(_locked, site.library, name, scope, first(form, "seen"))

    def work(m: Library, _job: Job) -> ShownPlan:
        diffs = _Diffs()
        outcome = m.update(name, user=whose(scope), check=True, show=diffs)
        return _shown(GetWish("", user=scope == "user"), outcome, diffs, name)

    job = site.jobs.start(f"Update of {name[:80]}", "/get#installed", "plan", work)
    return see_other(f"/jobs/{job.ident}")


async def update(request: Request) -> Response:
    """Carry out an update, provided that it is still what was shown; what has to wait goes to the
    queue.
    """
    site = site_of(request)
    shown = _plan_of(site, request.scope["form"])
    if not shown.name:
        raise UsageError("this plan is no update", hint="load the page again")
    wanted = {one.step.name: one.step for one in shown.skills}
    scope = "user" if shown.wish.user else "project"
    consent = _OnlyThis(wanted)

    def work(m: Library, _job: Job) -> Outcome:
        outcome = consent.check(m.update(shown.name, user=shown.wish.user, consent=consent))
        fact = site.facts.get("outdated")
        if isinstance(fact, AskedFact) and outcome.installed:
            fact.forget(shown.name, scope)
        return outcome

    job = site.jobs.start(f"Update {shown.name[:80]}", "/get#installed", "outcome", work)
    return see_other(f"/jobs/{job.ident}")


async def roll_back(request: Request) -> Response:
    """Put a skill back as it was before; what is there now is kept."""
    site = site_of(request)
    form = request.scope["form"]
    name, scope, seen = first(form, "name"), first(form, "scope"), first(form, "seen")
    await site.read(_locked, site.library, name, scope, seen)

    def work(m: Library, _job: Job) -> Outcome:
        _locked(m, name, scope, seen)
        return m.rollback(name, user=whose(scope))

    job = site.jobs.start(f"Roll back {name[:80]}", "/get#installed", "outcome", work)
    return see_other(f"/jobs/{job.ident}")


ROUTES = [
    Route("/get", show),
    Route("/get/plan", plan, methods=["POST"]),
    Route("/get/install", install, methods=["POST"]),
    Route("/get/search", search, methods=["POST"]),
    Route("/get/outdated", ask_outdated, methods=["POST"]),
    Route("/get/update/plan", plan_update, methods=["POST"]),
    Route("/get/update", update, methods=["POST"]),
    Route("/get/rollback", roll_back, methods=["POST"]),
]
