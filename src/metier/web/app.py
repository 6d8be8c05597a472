"""The page's addresses, and what every request goes through: the gate, the size of what is sent, and
what is said when something goes wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.web import agents, get, graph, home, project, records, review, skill, skills
from metier.web.access import SAFE_METHODS, SECURITY_HEADERS
from metier.web.render import own_path, page, refuse, see_other, site_of, static_file, templates

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from metier.web.access import PageGate, Visit
    from metier.web.site import Site

PACKAGE = "metier.web"
MAX_BODY_BYTES = 2 << 20
"""Of a form: an edited skill file and a little more."""
MAX_IGNORED_BYTES = 32 << 20
"""Of what is too large is read and not kept: a browser shows no answer before it has sent everything."""
BODY_SECONDS = 20
KEEP_ALIVE_SECONDS = 15
"""After so long without news, listeners are sent a word, so that whoever is gone is noticed."""
MAX_LISTENERS = 256
_LOG = logging.getLogger("metier.web")


class GateMiddleware:
    """Lets in whom the gate knows, reads what a form sends, and puts every answer under the same
    strict rules.
    """

    def __init__(self, app: ASGIApp, site: Site) -> None:
        """Stand before an application."""
        self.app = app
        self.site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                have = {name.lower() for name, _value in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in SECURITY_HEADERS.items()
                        if name.encode() not in have
                    ),
                ]
            await send(message)

        request = Request(scope, receive)
        try:
            answer = await self._check(request, scope)
        except MetierError as error:
            answer = refuse(request, error)
        if answer is not None:
            await answer(scope, receive, send_safely)
            return
        await self.app(scope, receive, send_safely)
        if scope["visit"] is not None:
            self.site.has_answered()

    async def _check(self, request: Request, scope: Scope) -> Response | None:
        """Give an answer where the request goes no further."""
        gate = self.site.gate
        scope["visit"] = None
        scope["news"] = self.site.news
        if not gate.knows_host(request.headers.get("host", "")):
            raise RefusedError(
                "this page is not known by that name",
                code="web-host",
                hint="open the address that 'metier web' printed, or add a name with --allow-host",
            )
        if request.url.path.startswith("/static/"):
            return None
        visit = scope["visit"] = _visit_of(request, gate)
        token = request.query_params.get("token")
        if token is not None and request.method == "GET":
            found = visit if visit is not None and token == gate.token else gate.admit(token)
            return _with_cookie(see_other(own_path(request)), gate, found)
        ticket = request.query_params.get("ticket")
        if ticket is not None and request.method == "GET" and request.url.path == "/":
            # A browser that comes from a file sends no strict cookie along a redirect: a page of ours
            # has to lead it on.
            text = templates().get_template("welcome.html").render()
            return _with_cookie(HTMLResponse(text), gate, gate.admit_by_ticket(ticket))
        if visit is None:
            raise RefusedError(
                "this browser was not let in yet",
                code="web-no-session",
                hint="open the address that 'metier web' printed, with its token",
            )
        if request.method not in SAFE_METHODS:
            gate.check_origin(request.headers)
            form = scope["form"] = await _read_form(request)
            gate.take_form(visit, form.get("form_key", [""])[0])
        return None


def _with_cookie(answer: Response, gate: PageGate, visit: Visit) -> Response:
    answer.set_cookie(gate.cookie, visit.ident, httponly=True, samesite="strict", path="/")
    return answer


def _visit_of(request: Request, gate: PageGate) -> Visit | None:
    """Give the browser that one of its cookies belongs to: others on this machine may have set some of
    the same name.
    """
    sent = (one for line in request.headers.getlist("cookie") for one in line.split(";"))
    pairs = (one.strip().partition("=") for one in sent)
    values = (value for name, _is, value in pairs if name == gate.cookie)
    return next(filter(None, map(gate.visit_of, values)), None)


async def _read_form(request: Request) -> dict[str, list[str]]:
    """Read a form, within bounds."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise UsageError("this is no form", hint="send it from metier's page")
    data = await _read_body(request)
    if len(data) > MAX_BODY_BYTES:
        raise RefusedError(
            f"what was sent has more than {MAX_BODY_BYTES >> 20} MiB",
            code="web-too-large",
            hint="send less at once",
        )
    try:
        return parse_qs(
            data.decode(), keep_blank_values=True, max_num_fields=20_000, errors="strict"
        )
    except ValueError:
        raise UsageError("this form cannot be read", hint="send it from metier's page") from None


async def _read_body(request: Request) -> bytes:
    """Give what was sent, or a little more than is allowed where it is too large."""
    data, ignored = bytearray(), 0
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared[:19]) > MAX_IGNORED_BYTES:
        return bytes(MAX_BODY_BYTES + 1)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                if len(data) <= MAX_BODY_BYTES:
                    data += chunk
                elif (ignored := ignored + len(chunk)) > MAX_IGNORED_BYTES:
                    break
    except (TimeoutError, ClientDisconnect):
        if len(data) <= MAX_BODY_BYTES:
            raise RefusedError(
                "the form did not arrive in time", code="web-too-slow", hint="send it once more"
            ) from None
    return bytes(data)


# --- what every page needs


async def _serve_static(request: Request) -> Response:
    data, kind = static_file(PACKAGE, request.path_params["name"])
    return Response(data, media_type=kind, headers={"cache-control": "max-age=3600"})


async def _serve_icon(_request: Request) -> Response:
    return Response(static_file(PACKAGE, "icon.svg")[0], media_type="image/svg+xml")


async def _tell_changes(request: Request) -> Response:
    """Tell a page of changes for as long as it listens."""
    site = site_of(request)
    if request.method == "HEAD":  # it would wait for news that it does not get
        return Response(media_type="text/event-stream")
    if site.listeners >= MAX_LISTENERS:
        raise RefusedError(
            f"{MAX_LISTENERS} tabs listen already", code="web-busy", hint="close some of them"
        )

    async def events() -> AsyncIterator[str]:
        with site.listening() as queue:
            if site.listeners > MAX_LISTENERS:  # many came at the same moment
                return
            yield f"retry: 2000\nevent: state\ndata: {site.news}\n\n"
            while not site.ended:
                try:
                    what = await asyncio.wait_for(queue.get(), KEEP_ALIVE_SECONDS)
                except TimeoutError:
                    yield ": here\n\n"
                    continue
                if what == "end":
                    return
                yield f"event: {what}\ndata: {site.news}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


async def _leave(request: Request) -> Response:
    """Show an address that a skill links to, before anybody goes there."""
    address = request.query_params.get("to", "")[:2_000]
    known = address.lower().startswith(("http://", "https://", "mailto:"))
    return page(request, "leave.html", title="A link out of a skill", address=address, known=known)


async def _show_job(request: Request) -> Response:
    job = site_of(request).jobs.get(request.path_params["ident"])
    if job is None:
        raise NotFoundError("nobody knows of this work any more", hint="see the audit log")
    return page(request, "job.html", title=job.title, job=job)


async def _stream_job(request: Request) -> Response:
    """Send what a piece of work prints, as it comes."""
    job = site_of(request).jobs.get(request.path_params["ident"])
    if job is None:
        raise NotFoundError("nobody knows of this work any more", hint="see the audit log")

    async def output() -> AsyncIterator[str]:
        sent = 0
        while True:
            done, text = job.done, job.output
            if len(text) > sent:
                yield text[sent:]
                sent = len(text)
            elif done:
                return
            await asyncio.sleep(0.05)

    return StreamingResponse(output(), media_type="text/plain; charset=utf-8")


async def _stop_job(request: Request) -> Response:
    job = site_of(request).jobs.get(request.path_params["ident"])
    if job is None:
        raise NotFoundError("nobody knows of this work any more", hint="see the audit log")
    job.stopping.set()
    return see_other(f"/jobs/{job.ident}")


async def _say_error(request: Request, error: Exception) -> Response:
    if isinstance(error, MetierError):
        return refuse(request, error)
    _LOG.exception("a page failed", exc_info=error)
    answer = refuse(request, MetierError("this page failed", hint="see what 'metier web' printed"))
    answer.headers.update(SECURITY_HEADERS)  # what is unexpected is answered outside of the gate
    return answer


async def _say_missing(request: Request, _error: Exception) -> Response:
    return refuse(request, NotFoundError("there is no such page", hint="begin at Home"))


async def _say_method(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    told = UsageError(
        "this page can't be asked that way",
        code="web-method",
        hint="use the links and buttons of the page",
    )
    answer = refuse(request, told)
    answer.headers.update(error.headers or {})  # which methods it takes
    return answer


ROUTES = [
    Route("/static/{name}", _serve_static),
    Route("/favicon.ico", _serve_icon),
    Route("/events", _tell_changes),
    Route("/leave", _leave),
    Route("/jobs/{ident}", _show_job),
    Route("/jobs/{ident}/stream", _stream_job),
    Route("/jobs/{ident}/stop", _stop_job, methods=["POST"]),
    *home.ROUTES,
    *project.ROUTES,
    *skills.ROUTES,
    *skill.ROUTES,
    *agents.ROUTES,
    *review.ROUTES,
    *get.ROUTES,
    *records.ROUTES,
    *graph.ROUTES,
]


def make_app(site: Site) -> Starlette:
    """Put the page together."""

    @contextlib.asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        site.begin(asyncio.get_running_loop())
        try:
            yield
        finally:
            site.end()

    handlers: dict[Any, Any] = {
        404: _say_missing,
        405: _say_method,
        MetierError: _say_error,
        Exception: _say_error,
    }
    app = Starlette(
        routes=ROUTES,
        lifespan=living,
        exception_handlers=handlers,
        middleware=[
            Middleware(GZipMiddleware, minimum_size=600),
            Middleware(GateMiddleware, site=site),
        ],
    )
    app.state.site = site
    return app
