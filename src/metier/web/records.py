"""Plugins and what can be done with them, the audit log, and the doctor's examination."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.routing import Route

from metier.doctor.advice import advise, sandbox_works
from metier.errors import NotFoundError, RefusedError, UsageError
from metier.web.agents import place_of
from metier.web.facts import known_soon
from metier.web.render import page, see_other, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from metier.audit.chain import AuditRecord
    from metier.library import Library
    from metier.plugins.model import PluginList, PluginResult, PluginRow
    from metier.supply.model import Outcome, Plan
    from metier.web.jobs import Job
    from metier.web.site import Site

ROWS_PER_PAGE = 60
MAX_QUERY_CHARS = 200
MAX_SOURCE_CHARS = 2_000
EVENTS_LOOKED_AT = 500
"""Events among which is filtered at first; whoever wants to looks further back."""
MAX_EVENTS_LOOKED_AT = 512_000
AUDIT_FILTERS = ("event", "outcome", "source")
NOTHING: tuple[object, ...] = ("", None, [], {})
"""Details that say nothing."""
COMMIT = re.compile(r"[0-9a-f]{40}")
STATE_WORDS = {"synced": "enabled", "update_pending": "update waits"}
"""How people are told what a plugin's status means; the others are said as they are."""
SKILL_STATE_WORDS = {
    "synced": "as accepted",
    "update_pending": "an update waits",
    "new": "new, waits for a yes",
    "removed": "gone upstream",
    "kept": "gone upstream, kept",
    "declined": "an update was declined",
}
STATE_ORDER = ("update_pending", "missing", "synced", "paused", "adopted", "disabled", "discovered")
ACTIONS = {
    "discovered": ("enable",),
    "disabled": ("enable",),
    "synced": ("sync", "pause", "disable"),
    "update_pending": ("sync", "pause", "disable"),
    "missing": ("sync", "disable"),
    "paused": ("resume", "disable"),
}
"""What can be done with a plugin in each state."""
ADOPTABLE = frozenset({"synced", "update_pending", "missing", "paused", "disabled"})
ADVICE_PAGES = {
    "broken": "/skills?readiness=broken",
    "setup": "/skills?readiness=setup+needed",
    "review": "/review",
    "plugins": "/plugins",
    "sandbox": "#sandbox",
    "folders": "#problems",
    "index": "#finding",
    "find": "#finding",
    "secrets": "#kept",
    "uses": "#kept",
    "scan": "#finding",
}
"""Where on the page that is shown which the doctor speaks of."""


# --- plugins


class PlannedPlugin(NamedTuple):
    """What enabling a plugin would do, for a person to agree to."""

    plugin: str
    ref: str
    user: bool
    found: PluginResult
    seen: str
    """Names the plan that was shown: no other one is carried out."""


class ShownPlugin(NamedTuple):
    """A plugin as the page shows it."""

    row: PluginRow
    state: str
    seen: str
    actions: tuple[str, ...]
    skills: list[tuple[str, str, str, str]]
    """Of each skill its name, its state, the candidate that waits, and its page."""
    adoptable: bool


def seen_of(row: PluginRow) -> str:
    """Name how a plugin stands, so that a form can say what its reader saw."""
    skills = [(name, one.status, one.accepted, one.pending) for name, one in row.skills.items()]
    text = repr((row.plugin_id, row.scope, row.status, row.installed_version, skills))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


def plan_seen(plan: Plan) -> str:
    """Name a plan by all that a person was shown of it."""
    steps = [
        (
            one.name,
            one.mode,
            one.digest,
            one.before,
            one.verdict,
            one.score,
            one.action,
            one.targets,
        )
        for one in (*plan.add, *plan.update, *plan.remove)
    ]
    return blake2b(repr(steps).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _show_plugin(row: PluginRow, known: Mapping[str, str]) -> ShownPlugin:
    still = row.status in {"discovered", "disabled"}
    state = STATE_WORDS.get(row.status, row.status)
    skills = [
        (
            name,
            state if still else SKILL_STATE_WORDS.get(one.status, one.status),
            one.pending or "",
            known.get(name, ""),
        )
        for name, one in row.skills.items()
    ]
    return ShownPlugin(
        row, state, seen_of(row), ACTIONS.get(row.status, ()), skills, row.status in ADOPTABLE
    )


def look_at_plugins(site: Site, query: str, at: int) -> tuple[PluginList, list[ShownPlugin], int]:
    """Give all plugins, those that are to be shown, and how many fit."""
    found = site.library.plugins()
    fitting = [
        row
        for row in found.plugins
        if query.casefold() in f"{row.plugin_id} {row.source} {' '.join(row.skills)}".casefold()
    ]
    fitting.sort(key=lambda row: (STATE_ORDER.index(row.status), row.plugin_id, row.scope))
    part = fitting[at : at + ROWS_PER_PAGE]
    names = {name for row in part for name in row.skills}
    rows = site.rows()
    known = {
        card.name: f"/skills/{rows.idents[card.path]}"
        for card in reversed(rows.cards)
        if card.name in names
    }
    return found, [_show_plugin(row, known) for row in part], len(fitting)


async def show_plugins(request: Request) -> Response:
    """Show the plugins there are."""
    site = site_of(request)
    query = request.query_params.get("q", "")[:MAX_QUERY_CHARS].strip()
    at = place_of(request)
    found, shown, total = await site.read(look_at_plugins, site, query, at)
    after = at + ROWS_PER_PAGE
    return page(
        request,
        "plugins.html",
        title="Plugins",
        shown=shown,
        counts=Counter(STATE_WORDS.get(row.status, row.status) for row in found.plugins),
        faults=found.errors,
        query=query,
        total=total,
        before=max(0, at - ROWS_PER_PAGE) if at else -1,
        after=after if after < total else 0,
    )


def _sent(request: Request, name: str, longest: int = MAX_SOURCE_CHARS) -> str:
    form: dict[str, list[str]] = request.scope["form"]
    found = form.get(name, [""])[0].strip()
    if len(found) > longest:
        raise UsageError(f"{name} is too long", hint=f"give at most {longest:,} characters")
    return found


def _needed(request: Request, name: str) -> str:
    found = _sent(request, name)
    if not found:
        raise UsageError(f"no {name} was named", hint="fill in the field, and send it again")
    return found


def conflict(what: str) -> RefusedError:
    """Say that something is no longer as its reader saw it."""
    return RefusedError(
        f"{what} has changed since this page was made",
        code="web-conflict",
        hint="load the page again, and decide on what it shows then",
    )


def _row_of(m: Library, plugin: str, scope: str) -> PluginRow:
    for row in m.plugins().plugins:
        if (row.plugin_id, row.scope) == (plugin, scope):
            return row
    raise NotFoundError(f"Unknown plugin: {plugin[:80]}", hint="see the page of all plugins")


def _check_seen(m: Library, plugin: str, scope: str, seen: str) -> bool | None:
    """Refuse where a plugin is no longer as it was shown; give whose it is."""
    if seen_of(_row_of(m, plugin, scope)) != seen:
        raise conflict(plugin)
    return {"user": True, "project": False}.get(scope)


async def plan_enabling(request: Request) -> Response:
    """Find out what enabling a plugin would do; nothing is changed."""
    plugin, ref = _needed(request, "plugin"), _sent(request, "ref")
    user = _sent(request, "scope") == "user"

    def work(m: Library, _job: Job) -> PlannedPlugin:
        found = m.plugin_enable(plugin, ref=ref, user=user, dry_run=True)
        return PlannedPlugin(plugin, ref, user, found, plan_seen(found.plan))

    job = site_of(request).jobs.start(f"Plan: enable {plugin}", "/plugins", "plugin_plan", work)
    return see_other(f"/jobs/{job.ident}")


async def enable(request: Request) -> Response:
    """Enable a plugin exactly as it was shown."""
    plugin, ref, seen = _needed(request, "plugin"), _sent(request, "ref"), _needed(request, "seen")
    user = _sent(request, "scope") == "user"

    def agreed(outcome: Outcome) -> bool:
        if plan_seen(outcome.plan) != seen:
            raise conflict(plugin)
        return True

    def work(m: Library, _job: Job) -> PluginResult:
        return m.plugin_enable(plugin, ref=ref, user=user, consent=agreed)

    job = site_of(request).jobs.start(f"Enable {plugin}", "/plugins", "plugin", work)
    return see_other(f"/jobs/{job.ident}")


def _change_later(
    request: Request, word: str, act: Callable[[Library, str, bool | None], PluginResult]
) -> Response:
    """Change a plugin as work of its own: its source may have to be asked."""
    plugin, scope, seen = (
        _needed(request, "plugin"),
        _sent(request, "scope"),
        _needed(request, "seen"),
    )
    site = site_of(request)
    _check_seen(site.library, plugin, scope, seen)

    def work(m: Library, _job: Job) -> PluginResult:
        return act(m, plugin, _check_seen(m, plugin, scope, seen))

    job = site.jobs.start(f"{word} {plugin}", "/plugins", "plugin", work)
    return see_other(f"/jobs/{job.ident}")


async def sync(request: Request) -> Response:
    """Look at what one plugin ships now, or at all of them."""
    if not _sent(request, "plugin"):
        job = site_of(request).jobs.start(
            "Sync all plugins", "/plugins", "plugin", lambda m, _job: m.plugin_sync()
        )
        return see_other(f"/jobs/{job.ident}")
    return _change_later(request, "Sync", lambda m, one, user: m.plugin_sync((one,), user=user))


async def resume(request: Request) -> Response:
    """Go on with a paused plugin."""
    return _change_later(request, "Resume", lambda m, one, user: m.plugin_resume(one, user=user))


async def _change_now(
    request: Request, act: Callable[[Library, str, bool | None], PluginResult]
) -> Response:
    plugin, scope, seen = (
        _needed(request, "plugin"),
        _sent(request, "scope"),
        _needed(request, "seen"),
    )
    site = site_of(request)
    await site.read(site.change, lambda m: act(m, plugin, _check_seen(m, plugin, scope, seen)))
    return see_other("/plugins")


async def pause(request: Request) -> Response:
    """Leave a plugin's skills as they are."""
    return await _change_now(request, lambda m, one, user: m.plugin_pause(one, user=user))


async def adopt(request: Request) -> Response:
    """Make a plugin's skill one's own."""
    skill = _needed(request, "skill")
    return await _change_now(request, lambda m, one, user: m.plugin_adopt(one, skill, user=user))


async def disable(request: Request) -> Response:
    """Take a plugin's skills away from agents."""
    return await _change_now(
        request, lambda m, one, user: m.plugin_disable(one, disable_linked_skills=True, user=user)
    )


async def ask_to_disable(request: Request) -> Response:
    """Show what agents would no longer see."""
    site = site_of(request)
    plugin = request.query_params.get("plugin", "")[:MAX_SOURCE_CHARS]
    row = await site.read(_row_of, site.library, plugin, request.query_params.get("scope", ""))
    return page(
        request, "plugin_disable.html", title=f"Disable {plugin}?", row=row, seen=seen_of(row)
    )


# --- the audit log


class AuditPage(NamedTuple):
    """A part of the log, the newest first."""

    events: list[AuditRecord]
    total: int
    """How many fit, among those that were looked at."""
    looked: int
    choices: dict[str, list[str]]
    before: int
    after: int
    further: int
    """How many to look at next, further back; 0 where all were."""


def look_at_log(m: Library, chosen: Mapping[str, str], name: str, at: int, reach: int) -> AuditPage:
    """Give the part of the log that is asked for."""
    is_filtered = bool(name or any(chosen.values()))
    wanted = reach if is_filtered else max(reach, at + ROWS_PER_PAGE + 1)
    records = m.audit_tail(wanted)[::-1]
    fitting = [
        one
        for one in records
        if all(not value or one[key] == value for key, value in chosen.items())
        and (not name or name.casefold() in one["name"].casefold())
    ]
    after = at + ROWS_PER_PAGE
    is_all = len(records) < wanted or reach >= MAX_EVENTS_LOOKED_AT
    return AuditPage(
        events=fitting[at:after],
        total=len(fitting),
        looked=len(records),
        choices={key: _choices(records, key, chosen[key]) for key in AUDIT_FILTERS},
        before=max(0, at - ROWS_PER_PAGE) if at else -1,
        after=after if after < len(fitting) else 0,
        further=0 if is_all else min(4 * reach, MAX_EVENTS_LOOKED_AT),
    )


def _choices(records: Iterable[AuditRecord], key: str, chosen: str) -> list[str]:
    return sorted({one[key] for one in records} | ({chosen} if chosen else set()))


def details_of(record: AuditRecord) -> list[tuple[str, str]]:
    """Give the details of an event as words."""
    return [
        (key.replace("_", " "), words_of(value))
        for key, value in record["details"].items()
        if value not in NOTHING
    ]


def words_of(value: object) -> str:
    """Give a detail as a person would write it, with a commit cut to what tells it apart."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(words_of, value))
    if isinstance(value, dict):
        kept = ((key, one) for key, one in value.items() if one not in NOTHING)
        return ", ".join(f"{key.replace('_', ' ')} {words_of(one)}" for key, one in kept)
    text = str(value)
    return text[:12] if COMMIT.fullmatch(text) else text


async def show_audit(request: Request) -> Response:
    """Show the log, and where that is asked for whether it is as it was written."""
    site = site_of(request)
    given = request.query_params
    chosen = {key: given.get(key, "")[:MAX_QUERY_CHARS] for key in AUDIT_FILTERS}
    name = given.get("name", "")[:MAX_QUERY_CHARS].strip()
    reach = min(max(place_of(request, "reach"), EVENTS_LOOKED_AT), MAX_EVENTS_LOOKED_AT)
    found = await site.read(look_at_log, site.library, chosen, name, place_of(request), reach)
    verified = (
        await site.read(site.library.audit_verify) if request.url.path == "/audit/verify" else None
    )
    kept = {**chosen, "name": name, "reach": reach if reach > EVENTS_LOOKED_AT else ""}
    return page(
        request,
        "audit.html",
        title="Audit",
        found=found,
        chosen=chosen,
        named=name,
        kept=kept,
        details=details_of,
        verified=verified,
    )


# --- the doctor


def _by_number(counts: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


async def show_doctor(request: Request) -> Response:
    """Show what is configured, missing, wrong and slow; what needs a person comes first."""
    site = site_of(request)
    report = await known_soon(site.facts["doctor"])
    values: dict[str, Any] = {}
    if report is not None:
        values = {
            "advice": advise(report),
            "runs": sandbox_works(report),
            "where": ADVICE_PAGES,
            "ordered": _by_number,
        }
    return page(
        request,
        "doctor.html",
        title="Doctor",
        report=report,
        fault=site.facts["doctor"].fault,
        **values,
    )


ROUTES = [
    Route("/plugins", show_plugins),
    Route("/plugins/plan", plan_enabling, methods=["POST"]),
    Route("/plugins/enable", enable, methods=["POST"]),
    Route("/plugins/sync", sync, methods=["POST"]),
    Route("/plugins/resume", resume, methods=["POST"]),
    Route("/plugins/pause", pause, methods=["POST"]),
    Route("/plugins/adopt", adopt, methods=["POST"]),
    Route("/plugins/disable", disable, methods=["POST"]),
    Route("/plugins/disable", ask_to_disable),
    Route("/audit", show_audit),
    Route("/audit/verify", show_audit),
    Route("/doctor", show_doctor),
]
