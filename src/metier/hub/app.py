"""The hub's application: its addresses, and what every request goes through, which is who asks, how
much they send, and what is said when something goes wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from metier.errors import (
    IntegrityError,
    MetierError,
    NotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)
from metier.hub import accounts, api, api_people, authorize, clients, feed, login_pages, pages
from metier.hub.clients.login import token_in
from metier.hub.deliver import DeliveryThread
from metier.hub.here import is_for_others, is_from_here
from metier.hub.limits import BodyTurns, RateLimits
from metier.hub.metrics import HubMetrics
from metier.hub.model import NOBODY
from metier.hub.pages.page import say_problem, wants_page
from metier.hub.request_log import RequestLogMiddleware
from metier.web.access import SECURITY_HEADERS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from metier.hub.hub import Hub
    from metier.hub.model import Caller

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
READ_BY_POST = re.compile(r"(?:/ns/[a-z0-9-]+)?/mcp\Z")
"""Addresses where a POST reads and changes nothing."""
OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Addresses that ask nobody who they are."""
LOGIN_PATHS = frozenset(
    {f"{api.PREFIX}/login/begin", f"{api.PREFIX}/login/device", login_pages.BEGIN}
)
"""Addresses that begin a login: for each the hub remembers something, or asks the provider."""
STATUS: tuple[tuple[type[MetierError], int], ...] = (
    (UsageError, 400),
    (NotFoundError, 404),
    (IntegrityError, 422),
    (StoreError, 503),
    (RefusedError, 403),
)
CODES = {
    "hub-token": 401,
    "hub-no-token": 401,
    "hub-unfit": 422,
    "hub-signature": 422,
    "hub-mirrored": 422,
    "exists": 409,
    "hub-state": 409,
    "hub-key-reused": 422,
    "hub-offset": 409,
    "hub-quota": 413,
    "too-large": 413,
    "too-many": 413,
    "bomb": 413,
    "malformed": 422,
    "unsafe-entry": 422,
    "hub-several": 409,
    "hub-object": 503,
    "hub-busy": 429,
    "hub-rate": 429,
    "hub-login": 401,
    "hub-no-oidc": 404,
    "hub-no-device": 404,
    "hub-provider": 502,
    "web-too-slow": 408,
    "web-too-large": 413,
    "web-form-used": 409,
    "web-conflict": 409,
}
INNER = {
    "hub-database": "the hub's database failed",
    "hub-objects": "the hub's object store failed",
    "hub-object": "the hub has lost the bytes of this release",
}
"""What is told of parts of the hub that fail."""
CLIENT_HEADER = "metier-client"
"""What our own client sends along: no form of a strange page can."""
_LOG = logging.getLogger("metier.hub")


class CallerMiddleware:
    """Finds out who asks, and puts every answer under the same strict rules."""

    def __init__(self, app: ASGIApp, hub: Hub, *, local: bool, metrics: HubMetrics) -> None:
        """Stand before an application; `local` says that it listens on this machine alone."""
        self.app, self.hub, self.local, self.metrics = app, hub, local, metrics
        self.limits = RateLimits(hub.options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note in the scope who asks, and pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        began = time.monotonic()
        request = Request(scope, receive)
        address = self.limits.address_of(request)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.metrics.count(scope["method"], message["status"], time.monotonic() - began)
                if message["status"] == 401 and _has_tried(request):
                    self.limits.note_failed(address)
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

        scope["caller"] = NOBODY
        try:
            if request.url.path not in OPEN_PATHS:
                if request.url.path in LOGIN_PATHS:
                    self.limits.charge_login(address)
                elif request.method == "POST" and "/login" in request.url.path:
                    self.limits.check_before(address, "")
                scope["caller"] = await self._find_caller(request, address)
                self.limits.charge(scope["caller"], address)
        except MetierError as error:
            await refuse(error)(scope, receive, send_safely)
            return
        await self.app(scope, receive, send_safely)

    async def _find_caller(self, request: Request, address: str) -> Caller:
        told = request.headers.get("authorization", "")
        reads = request.method == "POST" and READ_BY_POST.match(request.url.path)
        changes = request.method not in SAFE_METHODS and not reads
        if told:
            token = token_in(told)
            if changes and not told.lower().startswith("bearer "):
                # a browser that was asked for a password sends it along with any page's requests
                raise RefusedError(
                    "a change takes a bearer's token", code="hub-token", hint="send 'Bearer TOKEN'"
                )
            self.limits.check_before(address, token)
            found = await run_in_threadpool(accounts.caller_of_token, self.hub, token)
            self.limits.note_good(token)
            return found
        here = self.local and is_from_here(request)
        caller = await run_in_threadpool(accounts.caller_without_token, self.hub, from_here=here)
        if caller.kind == "local" and changes and CLIENT_HEADER not in request.headers:
            return NOBODY
        return caller


def _has_tried(request: Request) -> bool:
    """Tell whether a request that was refused had tried to log in."""
    return "authorization" in request.headers or "/login" in request.url.path


def status_of(error: MetierError) -> int:
    """Give the HTTP status that an error has."""
    return CODES.get(error.code) or next(
        (code for kind, code in STATUS if isinstance(error, kind)), 500
    )


def outward(error: MetierError) -> MetierError:
    """Give an error as whoever asks may know it. Where the hub's own parts fail, their addresses and
    folders are for its log; `why` is what may be said.
    """
    if not isinstance(error, StoreError) and error.code not in INNER:
        return error
    _LOG.warning("a part of the hub failed: %s", error.message)
    said = INNER.get(error.code, "the hub cannot do this now")
    if error.details.get("why"):
        said += f": {error.details['why']}"
    return StoreError(said, code=error.code, hint="try again later, or tell the hub's admins")


def refuse(error: MetierError) -> Response:
    """Say what went wrong, as problem+json."""
    status = status_of(error)
    error = outward(error)
    problem = {"type": "about:blank", "title": error.message, "status": status, **error.as_dict()}
    headers = {"www-authenticate": "Bearer"} if status == 401 else {}
    if "retry_after" in error.details:
        headers["retry-after"] = str(error.details["retry_after"])
    return JSONResponse(problem, status, headers, media_type="application/problem+json")


async def _say_error(request: Request, error: Exception) -> Response:
    if isinstance(error, MetierError):
        return await _say(request, error)
    _LOG.exception("a request failed", exc_info=error)
    told = MetierError("the hub failed at this request", hint="see the hub's own log")
    answer = await _say(request, told)
    answer.headers.update(SECURITY_HEADERS)  # what is unexpected is answered outside of the gate
    return answer


async def _say_missing(request: Request, _error: Exception) -> Response:
    return await _say(
        request, NotFoundError("the hub has nothing at this address", hint="check it")
    )


async def _say(request: Request, error: MetierError) -> Response:
    return await say_problem(request, error) if wants_page(request) else refuse(error)


async def _say_method(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("this address takes no such request\n", 405)


async def _say_alive(_request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _say_ready(request: Request) -> Response:
    """Tell whether the database and the object store answer."""
    hub: Hub = request.app.state.hub

    def look() -> None:
        with hub.database.read() as connection:
            connection.row("SELECT 1 AS one")
        hub.objects.size("ready")

    try:
        async with asyncio.timeout(15):
            await run_in_threadpool(look)
    except (MetierError, TimeoutError) as error:
        said = outward(error).message if isinstance(error, MetierError) else "no answer in time"
        return PlainTextResponse(f"not ready: {said}\n", 503)
    return PlainTextResponse("ready\n")


async def _show_metrics(request: Request) -> Response:
    """Show the counts to whoever is on this machine or has a role in the whole hub: what they count is
    everybody's.
    """
    hub: Hub = request.app.state.hub
    if not authorize.may(request.scope["caller"], "read", None) and not is_from_here(request):
        raise NotFoundError("the hub has nothing at this address", hint="check it")

    def pending() -> int:
        with hub.database.read() as connection:
            row = connection.row("SELECT count(*) AS one FROM releases WHERE state = 'pending'")
        return int(row["one"]) if row else 0

    metrics: HubMetrics = request.app.state.metrics
    return PlainTextResponse(metrics.text(await run_in_threadpool(pending)))


ROUTES = [
    Route("/healthz", _say_alive),
    Route("/readyz", _say_ready),
    Route("/metrics", _show_metrics),
    *api.ROUTES,
    *api_people.ROUTES,
    *feed.ROUTES,
    *login_pages.ROUTES,
    *clients.ROUTES,
    *pages.ROUTES,
]


def make_app(hub: Hub, *, local: bool = True) -> Starlette:
    """Put the application together; `local` says that it listens on this machine alone."""
    local = local and not is_for_others(hub.options)

    @contextlib.asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        worker = DeliveryThread(hub)
        worker.start()
        yield
        await run_in_threadpool(worker.stop)

    handlers: dict[Any, Any] = {
        404: _say_missing,
        405: _say_method,
        MetierError: _say_error,
        Exception: _say_error,
    }
    metrics = HubMetrics()
    app = Starlette(
        routes=ROUTES,
        lifespan=living,
        exception_handlers=handlers,
        middleware=[
            Middleware(RequestLogMiddleware),
            Middleware(GZipMiddleware, minimum_size=600),
            Middleware(CallerMiddleware, hub=hub, local=local, metrics=metrics),
        ],
    )
    app.state.hub, app.state.metrics, app.state.local = hub, metrics, local
    app.state.bodies = BodyTurns(api.MAX_BODIES, api.MAX_BODIES_OF_ONE)
    app.state.publications = asyncio.Semaphore(api.MAX_PUBLICATIONS)
    return app
