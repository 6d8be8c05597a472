"""Trusting a project: its skills wait until somebody says that models may have them."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from starlette.routing import Route

from metier.errors import RefusedError
from metier.web.render import page, see_other, site_of
from metier.web.skill_actions import MAX_REASON_CHARS, field

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.library import Library
    from metier.trust.approve import ProjectFacts
    from metier.web.site import Site

MAX_NAMES_SHOWN = 200


class ProjectNote(NamedTuple):
    """What a page says of the current project, where it says anything."""

    path: str
    waiting: int
    """Skills that agents do not get while nobody trusts it."""
    trusted: bool


def note_project(site: Site) -> ProjectNote | None:
    """Tell of the project whose skills wait, or that is trusted; nothing where there is none."""
    library = site.library
    own = [card for card in site.rows().cards if card.scope == "project"]
    if not own:
        return None
    trusted = library.is_project_trusted()
    waiting = 0 if trusted else sum(card.state == "ask" for card in own)
    return ProjectNote(library.context.project, waiting, trusted) if trusted or waiting else None


def _seen(found: ProjectFacts) -> str:
    return blake2b(repr(found).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


async def ask(request: Request) -> Response:
    """Show what trusting the project means, or what it brings while it is trusted."""
    from metier.trust.approve import project_at

    site = site_of(request)
    context = site.library.context
    found = await site.read(project_at, context, context.cwd)
    known = {card.name: card for card in reversed(site.rows().cards) if card.scope == "project"}
    return page(
        request,
        "project.html",
        title="Stop trusting this project?" if found.trusted else "Trust this project?",
        found=found,
        skills=[(name, known.get(name)) for name in found.skills[:MAX_NAMES_SHOWN]],
        more=max(0, len(found.skills) - MAX_NAMES_SHOWN),
        seen=_seen(found),
    )


async def decide(request: Request) -> Response:
    """Trust the project that was shown, or stop trusting it."""
    from metier.trust.approve import project_at

    site = site_of(request)
    seen, reason = field(request, "seen"), field(request, "reason")[:MAX_REASON_CHARS]

    def act(m: Library) -> None:
        found = project_at(m.context, m.context.cwd)
        if _seen(found) != seen:
            raise RefusedError(
                "this project is not as your page showed it any more, so nothing was done",
                code="web-conflict",
                hint="load the page again",
            )
        m.trust_project(found.path, trusted=not found.trusted, reason=reason)

    await site.read(site.change, act)
    return see_other("/")


ROUTES = [
    Route("/project", ask, methods=["GET"]),
    Route("/project", decide, methods=["POST"]),
]
