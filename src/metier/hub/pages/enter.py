"""Coming in and going out: the login with a token, and the addresses that need nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from metier.errors import MetierError, NotFoundError, RefusedError
from metier.hub import visits
from metier.hub.here import is_from_here
from metier.hub.pages.page import (
    field,
    hub_of,
    page_route,
    see_other,
    show_page,
)
from metier.web.render import static_file

if TYPE_CHECKING:
    from starlette.requests import Request

MAX_NEXT_CHARS = 2_000
OIDC_PATH = "/login/oidc"
"""Where a login with the hub's OpenID Connect provider begins."""


async def show_login(request: Request, error: MetierError | None = None) -> Response:
    """Show the form that takes a token."""
    after = own_address(
        request.query_params.get("next", "") if error is None else field(request, "next")
    )
    return show_page(
        request,
        "login.html",
        200 if error is None else 401,
        title="Log in",
        error=error,
        after=after,
        oidc=OIDC_PATH if hub_of(request).options.issuer else "",
    )


def own_address(text: str) -> str:
    """Give an address of this hub as it is; anything that might lead elsewhere becomes the first page."""
    good = (
        text.startswith("/")
        and not text.startswith(("//", "/\\"))
        and len(text) <= MAX_NEXT_CHARS
        and text.isprintable()
        and "\\" not in text
    )
    return text if good else "/"


async def log_in(request: Request) -> Response:
    """Let a browser in that was given a good token."""
    if request.headers.get("origin", "").startswith("http://") and not is_from_here(request):
        raise RefusedError(
            "a browser can log in over https only: its cookie must not travel in the open",
            code="hub-no-tls",
            hint="put a proxy with TLS before the hub, and open the hub by its https address",
        )
    hub = hub_of(request)
    try:
        visit = await run_in_threadpool(visits.begin_visit_with_token, hub, field(request, "token"))
    except RefusedError as error:
        return await show_login(request, error)
    return await begin(request, visit, own_address(field(request, "next")))


async def begin(request: Request, visit: visits.NewVisit, where: str) -> Response:
    """Have a browser that was let in keep its cookie, and lead it on."""
    old = visits.cookie_of(request)
    if old:
        await run_in_threadpool(visits.end_visit, hub_of(request), old)
    answer = see_other(where if where != "/" else "/?done=in")
    visits.set_cookie(answer, request, visit)
    return answer


async def log_out(request: Request) -> Response:
    """Let a browser in no more."""
    await run_in_threadpool(visits.end_visit, hub_of(request), visits.cookie_of(request))
    answer = see_other("/login?done=out")
    visits.drop_cookie(answer, request)
    return answer


async def _enter(request: Request) -> Response:
    return await (log_in(request) if request.method == "POST" else show_login(request))


async def _leave(request: Request) -> Response:
    """Show an address that a skill links to, before anybody goes there."""
    address = request.query_params.get("to", "")[:MAX_NEXT_CHARS]
    known = address.lower().startswith(("http://", "https://", "mailto:"))
    return show_page(
        request, "leave.html", title="A link out of a skill", address=address, known=known
    )


async def _serve_static(request: Request) -> Response:
    name = request.path_params["name"]
    try:
        data, kind = static_file("metier.hub", name)
    except NotFoundError:
        data, kind = static_file("metier.web", name)
    return Response(data, media_type=kind, headers={"cache-control": "max-age=3600"})


async def _serve_icon(_request: Request) -> Response:
    return Response(static_file("metier.web", "icon.svg")[0], media_type="image/svg+xml")


ROUTES = [
    page_route("/login", _enter, ("GET", "POST")),
    page_route("/logout", log_out, ("POST",)),
    page_route("/leave", _leave),
    page_route("/static/{name}", _serve_static),
    page_route("/favicon.ico", _serve_icon),
]
