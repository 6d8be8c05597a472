"""What every page of the hub goes through: who looks, whether a form is this page's own and counts,
and how values become HTML.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from jinja2 import ChoiceLoader, PackageLoader
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.hub import accounts, authorize, visits
from metier.hub.here import is_from_here
from metier.hub.visits import PAGE
from metier.web.access import CONTENT_POLICY, SECURITY_HEADERS
from metier.web.render import make_templates

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import Any, TypeVar

    from jinja2 import Environment
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.hub.hub import Hub
    from metier.hub.model import Caller

    T = TypeVar("T")
    Endpoint = Callable[[Request], Awaitable[Response]]

MAX_FORM_BYTES = 64 << 10
MAX_FORM_FIELDS = 100
FORM_SECONDS = 20
POLICY = CONTENT_POLICY.replace("script-src 'self'", "script-src 'none'")
"""No page of the hub has a script."""
DONE = {
    "in": "You are logged in.",
    "out": "You are logged out.",
    "approved": "Your approval was written down.",
    "rejected": "The version was rejected.",
    "yanked": "The version was yanked.",
    "unyanked": "The version is offered again.",
    "deprecated": "The skill is marked as deprecated.",
    "undeprecated": "The skill is not deprecated any more.",
    "made": "The namespace was made.",
    "saved": "The change was saved.",
    "revoked": "The token was revoked.",
    "granted": "The role was given.",
    "taken": "The role was taken away.",
}
"""What a page may say about the change that led to it."""


class Visitor(NamedTuple):
    """Who looks at a page, and what signs their forms."""

    caller: Caller
    secret: str


@cache
def templates() -> Environment:
    """Give the hub's templates; what it has no own one for is as on the local page."""
    loader = ChoiceLoader([PackageLoader("metier.hub"), PackageLoader("metier.web")])
    found = make_templates(loader)
    found.globals["skill_url"], found.globals["space_url"] = skill_url, space_url
    return found


def space_url(name: str) -> str:
    """Give the address of a namespace's page."""
    return f"/ns/{quote(name, safe='')}"


def skill_url(namespace: str, name: str, version: str = "") -> str:
    """Give the address of a skill's page, or of one version's."""
    parts = [namespace, name, *([version] if version else ())]
    return "/".join(("/skills", *(quote(one, safe="") for one in parts)))


def hub_of(request: Request) -> Hub:
    """Give the hub that a request is for."""
    found: Hub = request.app.state.hub
    return found


def visitor_of(request: Request) -> Visitor:
    """Give who looks."""
    found: Visitor = request.scope["visitor"]
    return found


async def ask(request: Request, act: Callable[..., T], *words: Any, **more: Any) -> T:
    """Ask the core as whoever looks."""
    caller = visitor_of(request).caller
    return await run_in_threadpool(act, hub_of(request), caller, *words, **more)


def find_visitor(hub: Hub, cookie: str, *, from_here: bool) -> Visitor:
    """Find out who looks: by the cookie, or the local user of a hub that has no accounts."""
    known = visits.caller_of_visit(hub, cookie) if cookie else None
    if known is not None:
        return Visitor(*known)
    caller = accounts.caller_without_token(hub, from_here=from_here)._replace(door=PAGE)
    return Visitor(caller, visits.secret_for(hub, caller.ident or caller.kind))


async def note_visitor(request: Request) -> None:
    """Note in the request who looks."""
    here = bool(request.app.state.local) and is_from_here(request)
    request.scope["visitor"] = await run_in_threadpool(
        find_visitor, hub_of(request), visits.cookie_of(request), from_here=here
    )


def page_route(path: str, show: Endpoint, methods: Sequence[str] = ("GET",)) -> Route:
    """Make an address of a page; what a form sends there is checked before anything else."""

    async def answer(request: Request) -> Response:
        await note_visitor(request)
        try:
            if request.method == "POST":
                request.scope["form"] = await _take_form(request)
            found = await show(request)
        except MetierError as error:
            found = refuse(request, error)
        found.headers.setdefault("content-security-policy", POLICY)
        return found

    return Route(path, answer, methods=list(methods))


# --- forms


async def _take_form(request: Request) -> dict[str, list[str]]:
    _check_origin(request)
    form = await _read_form(request)
    visitor = visitor_of(request)
    who = visitor.caller.ident or visitor.caller.kind
    key = form.get("form_key", [""])[0]
    known = visitor.caller.kind != "nobody"
    await run_in_threadpool(visits.take_form, hub_of(request), who, visitor.secret, key, once=known)
    return form


def _check_origin(request: Request) -> None:
    """Refuse a change that a page of another site asks for."""
    origin = request.headers.get("origin", "").lower()
    public = urlsplit(hub_of(request).options.public_url)
    own = {f"{public.scheme}://{public.netloc}".lower()} if public.netloc else set()
    host = request.headers.get("host", "").lower()
    own |= {f"http://{host}", f"https://{host}"}
    site = request.headers.get("sec-fetch-site", "same-origin")
    if origin not in own or site not in {"same-origin", "none"}:
        raise RefusedError(
            "this change was asked for by another page",
            code="web-origin",
            hint="make it from the hub's own page",
        )


async def _read_form(request: Request) -> dict[str, list[str]]:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise UsageError("this is no form", hint="send it from the hub's page")
    data = bytearray()
    try:
        async with asyncio.timeout(FORM_SECONDS):
            async for chunk in request.stream():
                data += chunk
                if len(data) > MAX_FORM_BYTES:
                    raise RefusedError(
                        f"a form may have {MAX_FORM_BYTES >> 10} KiB",
                        code="web-too-large",
                        hint="send less at once",
                    )
    except TimeoutError:
        raise RefusedError(
            "the form did not arrive in time", code="web-too-slow", hint="send it once more"
        ) from None
    try:
        return parse_qs(
            data.decode(), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS, errors="strict"
        )
    except ValueError:
        raise UsageError("this form cannot be read", hint="send it from the hub's page") from None


def field(request: Request, name: str) -> str:
    """Give a field of the form that was sent; nothing where it is not there."""
    form: dict[str, list[str]] = request.scope["form"]
    return form.get(name, [""])[0]


# --- answers


def show_page(request: Request, name: str, status: int = 200, **values: Any) -> Response:
    """Make a page from a template."""
    hub, visitor = hub_of(request), visitor_of(request)
    text = (
        templates()
        .get_template(name)
        .render(
            path=request.url.path,
            here=own_path(request),
            hub_name=hub.options.name,
            caller=visitor.caller,
            menu=_menu(visitor.caller),
            done=DONE.get(request.query_params.get("done", ""), ""),
            form_key=lambda: visits.form_key(visitor.secret, hub.now()),
            now=hub.now(),
            **values,
        )
    )
    # A file's name need not be UTF-8.
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def own_path(request: Request) -> str:
    """Give the address of a page to come back to after logging in."""
    query = f"?{request.url.query}" if request.url.query else ""
    return quote("/" + request.url.path.lstrip("/\\"), errors="replace") + query


def mark_of(value: Any) -> str:
    """Condense what a form shows, so that a change of somebody else is seen."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]


def check_seen(request: Request, value: Any) -> None:
    """Refuse a form about something that is not as it was shown any more."""
    if field(request, "seen") != mark_of(value):
        raise RefusedError(
            "somebody else changed this while you were looking; nothing was done",
            code="web-conflict",
            hint="load the page again",
        )


def see_other(where: str) -> Response:
    """Send the browser on after a change, so that loading again changes nothing again."""
    return RedirectResponse(where, 303)


def _menu(caller: Caller) -> list[tuple[str, str]]:
    """Give the pages that are of use to somebody."""
    found = [("Skills", "/"), ("Namespaces", "/namespaces")]
    roles = {grant.role for grant in caller.grants}
    if roles - {"reader"}:
        found.append(("Queue", "/queue"))
    found.append(("Usage", "/usage"))
    if "admin" in roles:
        found.append(("Tokens", "/tokens"))
    if authorize.may(caller, "administer", None):
        found.append(("Roles", "/grants"))
    if caller.kind != "nobody":
        found.append(("Policy", "/policy"))
    if authorize.may(caller, "audit", None):
        found.append(("Audit", "/audit"))
    return found


def refuse(request: Request, error: MetierError) -> Response:
    """Say what went wrong, as a page."""
    from metier.hub.app import outward, status_of

    status = status_of(error)
    error = outward(error)
    title = "This was not done" if request.method == "POST" else "This page cannot be shown"
    if isinstance(error, NotFoundError):
        # The same words, whether it is not there or not for this visitor.
        title = "There is nothing here"
    return show_page(request, "problem.html", status, error=error, title=title)


async def say_problem(request: Request, error: MetierError) -> Response:
    """Say what went wrong at an address that is no page."""
    await note_visitor(request)
    answer = refuse(request, error)
    answer.headers["content-security-policy"] = POLICY
    for name, value in SECURITY_HEADERS.items():
        answer.headers.setdefault(name, value)
    return answer


def wants_page(request: Request) -> bool:
    """Tell whether a person with a browser asks, and no program."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(
        "/api/"
    )
