"""Finding skills: the search with what it can be narrowed by, the namespaces, and one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.hub import authorize, namespaces, releases
from metier.hub.candidates import MAX_CANDIDATES
from metier.hub.pages.page import ask, field, page_route, see_other, show_page, visitor_of
from metier.hub.search import MAX_OFFSET, HubQuery, search

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.hub.hub import Hub
    from metier.hub.model import Caller, HubSkill, Namespace, Release

PAGE_SKILLS = 25
PAGE_LISTED = 100
MAX_QUERY_CHARS = 400
FACETS = {"namespace": "Namespace", "level": "Verdict", "state": "State", "category": "Category"}
MAX_FACET_VALUES = 12


async def show_skills(request: Request) -> Response:
    """Search, or browse what is newest."""
    told = request.query_params
    at = number_in(request, "at", MAX_OFFSET)
    chosen = {facet: told.get(facet, "")[:100] for facet in FACETS}
    query = HubQuery(
        words=told.get("q", "")[:MAX_QUERY_CHARS], limit=PAGE_SKILLS, offset=at, **chosen
    )
    found = await ask(request, search, query)
    after = at + PAGE_SKILLS
    return show_page(
        request,
        "home.html",
        title="Skills",
        found=found,
        query=query,
        chosen=chosen,
        kept={"q": query.words, **chosen},
        facets=FACETS,
        counted=MAX_CANDIDATES,
        most=MAX_FACET_VALUES,
        before=max(0, at - PAGE_SKILLS) if at else -1,
        after=after if after < found.total and after <= MAX_OFFSET else 0,
    )


def number_in(request: Request, name: str, most: int) -> int:
    """Give a number of a page's address; anything else counts as 0."""
    text = request.query_params.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 10 else 0


# --- namespaces


async def show_namespaces(request: Request) -> Response:
    """List the namespaces by their organisations, with a form for a new one."""
    found = await ask(request, namespaces.list_namespaces)
    names = await ask(request, namespaces.list_organisations)
    caller = visitor_of(request).caller
    return show_page(
        request,
        "namespaces.html",
        title="Namespaces",
        groups=[
            (name, [one for one in found if one.organisation == ident])
            for ident, name in names.items()
        ],
        may_add=authorize.may(caller, "administer", None),
    )


async def add_namespace(request: Request) -> Response:
    """Make a namespace."""
    made = await ask(
        request,
        namespaces.add_namespace,
        field(request, "name").strip(),
        field(request, "organisation").strip(),
        field(request, "visibility") or "private",
    )
    return see_other(f"/ns/{made.name}?done=made")


class SpaceView(NamedTuple):
    """A namespace, as its page shows it."""

    space: Namespace
    organisation: str
    skills: list[HubSkill]
    waiting: list[Release]


def look_at_space(hub: Hub, caller: Caller, name: str, at: int) -> SpaceView:
    """Read a namespace with its skills, one more than a page has."""
    with hub.database.read() as connection:
        space = namespaces.need_namespace(connection, caller, name)
    names = namespaces.list_organisations(hub, caller)
    return SpaceView(
        space=space,
        organisation=names.get(space.organisation, ""),
        skills=releases.list_skills(hub, caller, name, PAGE_LISTED + 1, at),
        waiting=releases.pending_releases(hub, caller, namespace=name),
    )


async def show_space(request: Request) -> Response:
    """Show one namespace."""
    at = number_in(request, "at", 10**8)
    found = await ask(request, look_at_space, request.path_params["ns"], at)
    caller = visitor_of(request).caller
    return show_page(
        request,
        "namespace.html",
        title=found.space.name,
        found=found,
        skills=found.skills[:PAGE_LISTED],
        before=max(0, at - PAGE_LISTED) if at else -1,
        after=at + PAGE_LISTED if len(found.skills) > PAGE_LISTED else 0,
        may_manage=authorize.may(caller, "manage", found.space),
        may_publish=authorize.may(caller, "publish", found.space),
    )


async def _namespaces(request: Request) -> Response:
    return await (add_namespace(request) if request.method == "POST" else show_namespaces(request))


ROUTES = [
    page_route("/", show_skills),
    page_route("/namespaces", _namespaces, ("GET", "POST")),
    page_route("/ns/{ns}", show_space),
]
