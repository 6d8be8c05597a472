"""The first page: counts that lead somewhere, the agents found here, and what waits."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from starlette.routing import Route

from metier.web.project import note_project
from metier.web.render import page, site_of
from metier.web.review import KINDS
from metier.web.skills import is_broken

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.audit.chain import AuditRecord
    from metier.plugins.model import ReviewCandidate
    from metier.web.project import ProjectNote
    from metier.web.site import Site

MAX_WAITING_SHOWN = 8
MAX_DECISIONS_SHOWN = 10
AUDIT_LOOKED_AT = 200
DECISIONS = frozenset(
    {
        "approve",
        "block",
        "unblock",
        "quarantine",
        "install",
        "update",
        "remove",
        "trust",
        "trust_project",
        "waive",
    }
)
"""Events of the audit log that are somebody's decision."""


class HomeCount(NamedTuple):
    """A number, and the page that shows what was counted."""

    name: str
    number: int
    where: str
    told: str


class HomeView(NamedTuple):
    """What the first page shows."""

    counts: list[HomeCount]
    waiting: list[ReviewCandidate]
    decisions: list[AuditRecord]
    is_empty: bool
    project: ProjectNote | None


def look(site: Site) -> HomeView:
    """Count what is there."""
    cards = site.rows().cards
    states = Counter(card.state for card in cards)
    library = site.library
    waiting = library.candidates()
    outdated = site.facts["outdated"].value if "outdated" in site.facts else None
    counts = [
        HomeCount("visible", states["visible"], "/skills?state=visible", "agents are told of them"),
        HomeCount("waiting", states["ask"] + len(waiting), "/review", "for your yes or no"),
        HomeCount(
            "blocked",
            states["blocked"] + states["quarantined"],
            "/skills?state=blocked&state=quarantined",
            "kept from every agent",
        ),
        HomeCount(
            "unscanned",
            sum(not card.verdict for card in cards),
            "/skills?verdict=unscanned",
            "judged before a model sees them",
        ),
        HomeCount(
            "broken", sum(map(is_broken, cards)), "/skills?readiness=broken", "against the standard"
        ),
        HomeCount(
            "outdated",
            len(outdated) if outdated is not None else 0,
            "/get#outdated",
            "newer where they came from" if outdated is not None else "not asked yet",
        ),
    ]
    records = [one for one in library.audit_tail(AUDIT_LOOKED_AT) if one["event"] in DECISIONS]
    return HomeView(
        counts=counts,
        waiting=waiting[:MAX_WAITING_SHOWN],
        decisions=records[::-1][:MAX_DECISIONS_SHOWN],
        is_empty=not cards,
        project=note_project(site),
    )


async def show(request: Request) -> Response:
    """Show the first page."""
    site = site_of(request)
    facts = await site.read(look, site)
    agents = site.facts["agents"]
    answer = page(
        request,
        "home.html",
        title="Home",
        facts=facts,
        agents=agents.value,
        unjudged=site.unjudged,
        kinds=KINDS,
    )
    agents.get()  # after the page is made, so that finding out does not hold it up
    return answer


ROUTES = [Route("/", show)]
