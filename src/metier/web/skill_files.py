"""The files of a skill: as a tree, each on a page of its own with its source in colour, and as they
lie there.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from metier.discover.io import disk
from metier.discover.skill_files import main_file
from metier.errors import NotFoundError
from metier.web.file_view import (
    as_it_lies,
    file_of,
    file_page,
    folder_list,
    folder_of,
    size_of,
)
from metier.web.markdown import MarkedFinding, SkillFindings, quote_path
from metier.web.render import page, site_of, skill_url
from metier.web.visible import plain

if TYPE_CHECKING:
    from markupsafe import Markup
    from starlette.requests import Request

    from metier.library import Library
    from metier.model import Card
    from metier.web.file_view import FilePage
    from metier.web.site import Site

FILE_AT = 4
"""Where a file's path begins in an address: after /skills/IDENT/files/."""


def look_for_findings(m: Library, card: Card) -> SkillFindings:
    """Scan a skill, and give each finding a number; what was waived comes last."""
    # Its own file stands for just this skill; its folder would be searched for others.
    own = main_file(card)
    scanned = m.scan([own if disk.kind_of(own) == disk.FILE else card.path], judge=False)
    found = next((one for one in scanned if one.path == card.path), None)
    if found is None:
        return SkillFindings((), "", 0)
    counted = [(one, "") for one in found.findings]
    waived = [(one.finding, f"{one.reason} ({one.told_by})") for one in found.waived]
    marked = tuple(
        MarkedFinding(number, finding, why)
        for number, (finding, why) in enumerate([*counted, *waived], 1)
    )
    return SkillFindings(marked, found.level, found.score)


def look_at_file(site: Site, card: Card, path: str) -> FilePage:
    """Read one file, and what was found in it."""
    m = site.library
    file = m.inspect_file(card.path, path)
    with disk.OneLook():
        findings = look_for_findings(m, card).in_file(file.path)
    return file_page(file, findings, skill_url(site, card))


async def show_file(request: Request) -> Response:
    """Show one file of a skill."""
    site = site_of(request)
    card = await site.read(site.card_of, request.path_params["ident"])
    found = await site.read(look_at_file, site, card, file_of(request, FILE_AT))
    return page(
        request,
        "skill_file.html",
        title=plain(f"{found.file.path} of {card.name}"),
        base=skill_url(site, card),
        skill=card.name,
        found=found,
        size=size_of(found.file.size),
        shows_image=bool(request.query_params.get("image")),
        quoted=quote_path(found.file.path),
    )


def look_at_folder(site: Site, card: Card, inside: str, at: int) -> Markup:
    """List one folder of a skill."""
    with disk.OneLook():
        files = site.library.inspect(card.path).files
        findings = look_for_findings(site.library, card)
    if not any(one.path.startswith(inside) for one in files):
        raise NotFoundError(
            "there is no such folder in this skill any more", hint="go back to the skill"
        )
    marks = Counter(one.finding.path for one in findings.marked)
    return folder_list(skill_url(site, card), files, marks, inside, at)


async def show_folder(request: Request) -> Response:
    """Show what lies in one folder of a skill, or give just that to a page that has it open."""
    site = site_of(request)
    card = await site.read(site.card_of, request.path_params["ident"])
    inside, at = folder_of(request)
    listed = await site.read(look_at_folder, site, card, inside, at)
    if request.headers.get("hx-request"):
        return Response(listed.encode("utf-8", "replace"), media_type="text/html")
    title = f"{inside or 'All files'} of {card.name}"
    return page(
        request,
        "skill_folder.html",
        title=plain(title),
        base=skill_url(site, card),
        skill=card.name,
        inside=inside,
        listed=listed,
    )


async def give_file(request: Request) -> Response:
    """Give the bytes of a file, in a way that a browser can do nothing with but show them."""
    site = site_of(request)
    card = await site.read(site.card_of, request.path_params["ident"])
    file = await site.read(site.library.inspect_file, card.path, file_of(request, FILE_AT))
    if file.text is None and len(file.data) != file.size:
        raise NotFoundError(f"{file.path} is too large to be shown", hint=f"it lies in {card.path}")
    return as_it_lies(file)


ROUTES = [
    Route("/skills/{ident}/files/{file:file}", show_file),
    Route("/skills/{ident}/raw/{file:file}", give_file),
    Route("/skills/{ident}/folder", show_folder),
]
