"""A skill: its instructions and files with what was found in them, what it costs and needs, which
copy counts, what was decided about it, what it was before, and how it is used.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup
from starlette.routing import Route

from metier.disclose.sections import sections
from metier.discover.io.disk import OneLook
from metier.errors import MetierError
from metier.fast import CollectorOff
from metier.run.observe.three_views import NOTHING
from metier.standard.plain_text import estimate
from metier.web import skill_actions, skill_files
from metier.web.file_view import file_tree
from metier.web.markdown import SkillLinks, quote_path
from metier.web.render import page, site_of, skill_url
from metier.web.site import SlowFact
from metier.web.skill_actions import RunWish, or_fault, plan_run, seen_of
from metier.web.skill_files import look_for_findings
from metier.web.skill_text import place_of, show_text
from metier.web.visible import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from metier.audit.chain import AuditRecord
    from metier.disclose.inspect import InspectedSkill
    from metier.library import Library
    from metier.model import Card, Choice
    from metier.trust.assess import Trusted
    from metier.usage.report import Used
    from metier.web.markdown import MarkedFinding, SkillFindings
    from metier.web.site import Site
    from metier.web.skill_actions import ShownRun
    from metier.web.skill_text import ShownText

MAX_SECTIONS_SHOWN = 60
MAX_SCRIPTS_SHOWN = 50
MAX_EVENTS_SHOWN = 15
MAX_SKILLS_KEPT = 200
"""Skills whose scripts are remembered."""
MAX_COPIES_DRAWN, MAX_AGENTS_DRAWN = 12, 24
AUDIT_LOOKED_AT = 500
USES_LOOKED_AT = 5_000
USAGE_DAYS = 30
USES = frozenset({"load", "run"})
UNTOLD = frozenset({"load", "refuse"})
"""Events that are no decision."""


class SectionCost(NamedTuple):
    """What a section costs."""

    heading: str
    level: int
    tokens: int
    share: int
    """Of the whole, in hundredths."""


class CopyRow(NamedTuple):
    """A copy of a skill, and who uses it."""

    choice: Choice
    url: str
    agents: tuple[str, ...]
    is_chosen: bool
    is_this: bool


class DayUse(NamedTuple):
    """How often a skill was used on one day."""

    day: str
    uses: int
    height: int


class SkillPageFacts(NamedTuple):
    """All that the page of a skill shows."""

    text: Any
    findings: Any
    tree: Markup
    file_count: int
    costs: list[SectionCost]
    total: int
    prepared: Any
    copies: Any
    trusted: Any
    seen: str
    decisions: list[AuditRecord]
    history: Any
    scripts: Any
    run: Any
    """How the first of them would run; nothing where there is none."""
    waived: list[str]
    observed: Any


def look(site: Site, card: Card, *, everything: bool = False) -> SkillPageFacts:
    """Ask for all that is known of a skill; what cannot be had says why in its place."""
    with OneLook(), CollectorOff():  # of thousands of files there are many values, soon gone
        return _look(site, card, everything=everything)


def _look(site: Site, card: Card, *, everything: bool) -> SkillPageFacts:
    m = site.library
    base = skill_url(site, card)
    found = or_fault(m.inspect, card.path)
    findings = or_fault(look_for_findings, m, card)
    marked = () if isinstance(findings, MetierError) else findings.marked
    trusted = or_fault(m.trust, card.path)
    known = not isinstance(found, MetierError)
    body = _body_of(found) if known else ""
    costs = _costs(body)
    scripts = or_fault(_scripts, site, card, trusted)
    return SkillPageFacts(
        text=_text(found, findings, base, everything=everything) if known else found,
        findings=findings,
        tree=file_tree(base, found.files, _count(marked)) if known else Markup(""),
        file_count=len(found.files) + found.cut if known else 0,
        costs=costs,
        total=estimate(body),
        prepared=or_fault(m.prepare, card.path),
        copies=or_fault(_copies, site, card),
        trusted=trusted,
        seen="" if isinstance(trusted, MetierError) else seen_of(trusted, card),
        decisions=_decisions(m, card),
        history=or_fault(skill_actions.history_of, m, card),
        scripts=scripts,
        run=or_fault(_first_run, m, card, scripts),
        waived=sorted({one.finding.rule for one in marked if one.waived}),
        observed=or_fault(m.observation, card.path),
    )


# --- the text and what it costs


def _body_of(found: InspectedSkill) -> str:
    return "\n".join(found.text.split("\n")[found.body_line - 1 :])


def _text(
    found: InspectedSkill, findings: SkillFindings | MetierError, base: str, *, everything: bool
) -> ShownText:
    own = () if isinstance(findings, MetierError) else findings.in_file(found.main)
    links = SkillLinks(base, frozenset(one.path for one in found.files))
    return show_text(
        found.text,
        found.main,
        found.body_line,
        links,
        own,
        everything=everything,
        is_code=found.card.kind == "code",
    )


def _scripts(site: Site, card: Card, trusted: Trusted | MetierError) -> list[str]:
    """Name the scripts of a skill; of the same bytes they are found out once, since the first line of
    every file is read for it.
    """
    digest = None if isinstance(trusted, MetierError) else trusted.digest
    if digest is None:
        return site.library.scripts(card.path)
    known: dict[tuple[object, ...], list[str]] = site.kept.setdefault("scripts", {})
    key = (card.path, digest, site.library.context.settings.run.interpreters)
    if key not in known:
        if len(known) >= MAX_SKILLS_KEPT:
            known.clear()
        known[key] = site.library.scripts(card.path)
    return known[key]


def _first_run(m: Library, card: Card, scripts: Sequence[str] | MetierError) -> ShownRun | None:
    if isinstance(scripts, MetierError) or not scripts or card.kind == "code":
        return None
    return plan_run(m, card, RunWish(scripts[0]))


def _costs(body: str) -> list[SectionCost]:
    parts = sections(body)
    most = max((part.tokens for part in parts), default=0) or 1
    return [
        SectionCost(
            part.heading or "(before the first heading)",
            max(1, part.level),
            part.tokens,
            round(100 * part.tokens / most),
        )
        for part in parts
    ]


def _count(marked: Sequence[MarkedFinding]) -> Mapping[str, int]:
    return Counter(one.finding.path for one in marked)


# --- who sees which copy


def _copies(site: Site, card: Card) -> list[CopyRow]:
    m = site.library
    # A catalogue judges every skill: a page does not wait for that, nor has it done twice at once.
    fact = site.facts.setdefault("told", SlowFact(site, lambda other: other.catalogue()))
    told = fact.value if site.unjudged else fact.get()
    known: dict[str, Any] = {"told": told, "budget": told is not None}
    try:
        why = m.why(card.name, **known)
    except MetierError:
        why = m.why(card.path, **known)
    if all(one.path != card.path for one in why.candidates):
        why = m.why(card.path, **known)
    seen: Mapping[str, frozenset[str]] = site.facts["seen_by"].get() or {}
    return [
        CopyRow(
            choice=one,
            url=skill_url(site, one.path),
            agents=tuple(sorted(agent for agent, paths in seen.items() if one.path in paths)),
            is_chosen=one.path == why.chosen,
            is_this=one.path == card.path,
        )
        for one in why.candidates
    ]


class DrawnLine(NamedTuple):
    """A line of the picture, from a copy to an agent."""

    x1: int
    y1: int
    x2: int
    y2: int


class CopyPicture(NamedTuple):
    """The copies on the left, the agents on the right, and a line where one sees the other."""

    height: int
    copies: list[tuple[int, CopyRow]]
    agents: list[tuple[int, str]]
    lines: list[DrawnLine]


ROW_HEIGHT, LEFT_EDGE, RIGHT_EDGE = 44, 420, 560


def draw_copies(copies: Sequence[CopyRow]) -> CopyPicture:
    """Lay out the picture of who sees which copy."""
    shown = list(copies[:MAX_COPIES_DRAWN])
    names = sorted({agent for one in shown for agent in one.agents})[:MAX_AGENTS_DRAWN]
    height = ROW_HEIGHT * max(len(shown), len(names), 1)

    def spread(at: int, count: int) -> int:
        return round((at + 0.5) * height / max(count, 1))

    left = {one.choice.path: spread(at, len(shown)) for at, one in enumerate(shown)}
    right = {name: spread(at, len(names)) for at, name in enumerate(names)}
    lines = [
        DrawnLine(LEFT_EDGE, left[one.choice.path], RIGHT_EDGE, right[agent])
        for one in shown
        for agent in one.agents
        if agent in right
    ]
    return CopyPicture(
        height,
        [(left[one.choice.path], one) for one in shown],
        [(right[name], name) for name in names],
        lines,
    )


# --- what happened


def _decisions(m: Library, card: Card) -> list[AuditRecord]:
    found = [
        one
        for one in m.audit_tail(AUDIT_LOOKED_AT)
        if one["name"] == card.name and one["event"] not in UNTOLD
    ]
    return found[::-1][:MAX_EVENTS_SHOWN]


def count_uses(m: Library) -> dict[str, Counter[str]]:
    """Count by name and day how often skills were loaded and run, as far as the audit log knows."""
    found: dict[str, Counter[str]] = {}
    for one in m.audit_tail(USES_LOOKED_AT):
        if one["event"] in USES and one["outcome"] not in {"refused", "failed"}:
            found.setdefault(one["name"], Counter())[str(one["ts"])[:10]] += 1
    return found


def uses_by_day(site: Site, card: Card) -> list[DayUse] | None:
    """Give how often a skill was used on each of the last days; nothing while nobody knows."""
    fact = site.facts.setdefault("uses", SlowFact(site, count_uses))
    known: Mapping[str, Counter[str]] | None = fact.get()
    if known is None:
        return None
    counted = known.get(card.name, Counter())
    today = datetime.now(UTC).date()
    days = [str(today - timedelta(days=back)) for back in range(USAGE_DAYS - 1, -1, -1)]
    most = max((counted[day] for day in days), default=0) or 1
    return [DayUse(day, counted[day], round(60 * counted[day] / most)) for day in days]


def _used(site: Site, card: Card) -> tuple[bool, Used | None]:
    """Tell whether uses are known, and what was counted about this skill."""
    known = site.facts["usage"].get()
    rows = known.skills if known is not None else ()
    row = next((one for one in rows if (one.path, one.name) == (card.path, card.name)), None)
    return known is not None, row


async def show(request: Request) -> Response:
    """Show one skill."""
    site = site_of(request)
    card = await site.read(site.card_of, request.path_params["ident"])
    facts = await site.read(look, site, card, everything=bool(request.query_params.get("all")))
    # What was learnt on the way may have given it another state.
    card = await site.read(site.card_of, request.path_params["ident"])
    base = skill_url(site, card)
    main = "" if isinstance(facts.text, MetierError) else facts.text.main
    usage_known, used = _used(site, card)
    has_copies = not isinstance(facts.copies, MetierError)
    return page(
        request,
        "skill.html",
        title=plain(card.name),
        card=card,
        base=base,
        facts=facts,
        agents_known=site.facts["seen_by"].value is not None,
        picture=draw_copies(facts.copies) if has_copies else None,
        place_of=lambda one: place_of(base, main, one),
        is_fault=lambda one: isinstance(one, MetierError),
        usage_known=usage_known,
        used=used,
        days=uses_by_day(site, card),
        nothing=NOTHING,
        limits={"sections": MAX_SECTIONS_SHOWN, "scripts": MAX_SCRIPTS_SHOWN},
        main_quoted=quote_path(main),
    )


ROUTES = [Route("/skills/{ident}", show), *skill_files.ROUTES, *skill_actions.ROUTES]
