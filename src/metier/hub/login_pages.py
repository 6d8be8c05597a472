"""Logging in with a browser through the provider: away to it, and back with a cookie for the pages."""

from __future__ import annotations

import html
import re
import secrets
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.routing import Route

from metier.errors import MetierError
from metier.hub import visits
from metier.hub.api import hub_of
from metier.hub.here import address_of_hub, is_from_here
from metier.hub.id_token import refused
from metier.hub.login import LOGIN_SECONDS, begin_login, challenge_of, finish_login

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.hub.hub import Hub
    from metier.hub.visits import NewVisit

BEGIN, BACK = "/login/oidc", "/login/oidc/callback"
MAX_BACK_CHARS = 1000
_OWN_PATH = re.compile(r"/(?!/)[A-Za-z0-9._~:/?#@!$&()*+,;=%-]*\Z")
"""A path of this hub: no other host, and nothing that ends an attribute or a header."""
_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
    '{head}<p>{text} <a href="{link}">{word}</a></p></html>'
)


def own_path(text: str) -> str:
    """Give where somebody wants to go, if that is a page of this hub; its first page otherwise."""
    return text if len(text) <= MAX_BACK_CHARS and _OWN_PATH.match(text) else "/"


def _cookie_name(request: Request) -> str:
    return "metier-login" if is_from_here(request) else "__Host-metier-login"


async def _begin(request: Request) -> Response:
    hub = hub_of(request)
    browser, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    base = address_of_hub(hub, request)
    back = own_path(request.query_params.get("next", "/"))

    def begin() -> str:
        return begin_login(
            hub,
            f"{base}{BACK}",
            challenge_of(verifier),
            verifier=verifier,
            browser=browser,
            back=back,
        ).url

    try:
        url = await run_in_threadpool(begin)
    except MetierError as error:
        return _say_failed(error)
    answer = RedirectResponse(url, 303, {"cache-control": "no-store"})
    # Lax, not strict: the provider sends the browser back from another site
    answer.set_cookie(
        _cookie_name(request),
        browser,
        max_age=LOGIN_SECONDS,
        path="/",
        httponly=True,
        samesite="lax",
        secure=not is_from_here(request),
    )
    return answer


async def _come_back(request: Request) -> Response:
    hub, told = hub_of(request), request.query_params
    browser = request.cookies.get(_cookie_name(request), "")

    def finish(hub: Hub) -> tuple[NewVisit, str]:
        if not browser:
            raise refused("this login was not begun in this browser")
        done = finish_login(
            hub,
            told.get("state", ""),
            told.get("code", ""),
            browser=browser,
            issuer=told.get("iss", ""),
        )
        return visits.begin_visit(hub, person_id=done.person["id"]), done.back

    try:
        visit, back = await run_in_threadpool(finish, hub)
    except MetierError as error:
        return _say_failed(error)
    # A page, not a redirection: the cookie of the visit goes along only with what this site asks for.
    where = html.escape(own_path(back))
    head = f'<meta http-equiv="refresh" content="0; url={where}">'
    text = _PAGE.format(
        title="Logged in", head=head, text="You are logged in.", link=where, word="Continue"
    )
    answer = HTMLResponse(text, headers={"cache-control": "no-store"})
    visits.set_cookie(answer, request, visit)
    answer.delete_cookie(
        _cookie_name(request),
        path="/",
        httponly=True,
        samesite="lax",
        secure=not is_from_here(request),
    )
    return answer


def _say_failed(error: MetierError) -> Response:
    text = _PAGE.format(
        title="Not logged in",
        head="",
        text=html.escape(f"{error.message[:1].upper()}{error.message[1:]}. {error.hint}."),
        link=BEGIN,
        word="Try again",
    )
    status = {"hub-no-oidc": 404, "hub-provider": 502, "hub-busy": 429}.get(error.code, 401)
    return HTMLResponse(text, status, {"cache-control": "no-store"})


ROUTES = [Route(BEGIN, _begin), Route(BACK, _come_back)]
