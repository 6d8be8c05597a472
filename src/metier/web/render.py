"""Turns values into pages: the templates, and the few words that all of them share."""

from __future__ import annotations

import json
import mimetypes
import re
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from metier import __version__
from metier.errors import (
    IntegrityError,
    MetierError,
    NotFoundError,
    RefusedError,
    SourceError,
    StoreError,
    UsageError,
)
from metier.web.visible import visible

if TYPE_CHECKING:
    from jinja2 import BaseLoader
    from starlette.requests import Request

    from metier.model import Card
    from metier.web.site import Site

MENU = (
    ("Home", "/"),
    ("Skills", "/skills"),
    ("Agents", "/agents"),
    ("Review", "/review"),
    ("Get", "/get"),
    ("Plugins", "/plugins"),
    ("Graph", "/graph"),
    ("Audit", "/audit"),
    ("Doctor", "/doctor"),
)
HTTP_NOT_FOUND = 404
STATUS: tuple[tuple[type[MetierError], int], ...] = (
    (UsageError, 400),
    (NotFoundError, 404),
    (IntegrityError, 409),
    (SourceError, 502),
    (StoreError, 503),
    (RefusedError, 403),
)
CODES = {
    "web-token": 401,
    "web-no-session": 401,
    "web-conflict": 409,
    "web-form-used": 409,
    "web-busy": 503,
    "web-method": 405,
    "web-too-large": 413,
    "web-too-slow": 408,
    "web-host": 421,
}


@cache
def templates() -> Environment:
    """Give the templates of this page."""
    found = make_templates(PackageLoader("metier.web"))
    found.globals["menu"] = MENU
    return found


def make_templates(loader: BaseLoader) -> Environment:
    """Give templates; everything that is put into one is escaped."""
    found = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["number"] = lambda one: f"{one:,}"
    found.filters["day"] = _day
    found.filters["ago"] = _ago
    found.filters["visible"] = visible
    found.globals["version"] = __version__
    found.globals["url"] = _url
    return found


@cache
def static_file(package: str, name: str) -> tuple[bytes, str]:
    """Give a file that lies beside the templates of a package, and its type."""
    folder = files(package) / "static"
    found = next((one for one in folder.iterdir() if one.name == name and one.is_file()), None)
    if found is None:
        raise NotFoundError("there is no such file", hint="load the page again")
    return found.read_bytes(), mimetypes.guess_type(name)[0] or "application/octet-stream"


def site_of(request: Request) -> Site:
    """Give the site that a request is for."""
    found: Site = request.app.state.site
    return found


def page(request: Request, name: str, status: int = 200, **values: Any) -> Response:
    """Make a page; where only a part of one was asked for, only that is made."""
    site = site_of(request)
    visit = request.scope.get("visit")
    text = (
        templates()
        .get_template(name)
        .render(
            request=request,
            path=request.url.path,
            here=own_path(request) + (f"?{request.url.query}" if request.url.query else ""),
            form_key=visit.form_key if visit else str,
            signed_in=visit is not None,
            state=request.scope.get("news", site.news),
            home=site.library.context.home or "",
            short=lambda path: shorten(site, path),
            homed=lambda text: shorten_within(site, text),
            skill_url=lambda card: skill_url(site, card),
            **values,
        )
    )
    # A file's name need not be UTF-8.
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def own_path(request: Request) -> str:
    """Give the path of a request as an address of this page: two slashes would begin another host's."""
    return quote("/" + request.url.path.lstrip("/\\"), errors="replace")


def see_other(where: str) -> Response:
    """Send the browser on after a change, so that loading again changes nothing again."""
    return RedirectResponse(where, 303)


def refuse(request: Request, error: MetierError) -> Response:
    """Say what went wrong, as a page or, for a program, as problem+json."""
    status = CODES.get(error.code) or next(
        (code for kind, code in STATUS if isinstance(error, kind)), 500
    )
    if "text/html" not in request.headers.get("accept", "text/html"):
        problem = {
            "type": "about:blank",
            "title": error.message,
            "status": status,
            **error.as_dict(),
        }
        return JSONResponse(problem, status, media_type="application/problem+json")
    if request.scope.get("visit") is None:
        return HTMLResponse(templates().get_template("stranger.html").render(error=error), status)
    title = "Not found" if status == HTTP_NOT_FOUND else "This was not done"
    return page(request, "problem.html", status, error=error, title=title, back=_came_from(request))


def _came_from(request: Request) -> str:
    """Give the page of ours that a request came from, as it would be loaded again."""
    try:
        said = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return ""
    if said.netloc != request.headers.get("host") or said.path == request.url.path:
        return ""
    query = f"?{said.query}" if said.query else ""
    return quote("/" + unquote(said.path).lstrip("/\\"), errors="replace") + query


def skill_url(site: Site, card: Card | str) -> str:
    """Give the address of a skill, from its card or its path."""
    rows = site.rows()
    path = card if isinstance(card, str) else card.path
    ident = rows.idents.get(path)
    return f"/skills/{ident}" if ident else "/skills"


def shorten(site: Site, path: str) -> str:
    """Write a path as people do: with ~ for their own folder."""
    home = site.library.context.home
    return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path


def shorten_within(site: Site, text: str) -> str:
    """Write the paths in a sentence with ~ for people's own folder."""
    home = site.library.context.home
    if not home:
        return text
    return re.sub(rf"(?<![^\s:('\"]){re.escape(home)}(?=/)", "~", text)


def _url(where: str, **query: Any) -> str:
    kept = {key: value for key, value in query.items() if value not in (None, "", [], ())}
    return f"{where}?{urlencode(kept, doseq=True)}" if kept else where


def _day(seconds: float | str) -> str:
    if isinstance(seconds, str):
        return seconds[:16].replace("T", " ")
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _ago(seconds: float) -> str:
    left = max(0, int(datetime.now(UTC).timestamp() - seconds))
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if left >= length:
            count = left // length
            return f"{count:,} {unit}{'s' * (count != 1)} ago"
    return "just now"


def as_json(value: object) -> str:
    """Write data for a script of the page, which it stands beside in an attribute."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
