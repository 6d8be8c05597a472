"""A skill and its versions: instructions and files with what was found in them, how to install it, who
vouches for it, and how often it was installed.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.disclose.inspect import InspectedFile
from metier.disclose.read import text_of
from metier.errors import MetierError, NotFoundError
from metier.hub import authorize, decide, releases
from metier.hub.compare import compare_releases, contents_of
from metier.hub.pages.page import ask, mark_of, page_route, show_page, skill_url, visitor_of
from metier.hub.usage import installs_by_day
from metier.model import Finding
from metier.standard.document import read_document
from metier.web.file_view import (
    as_it_lies,
    diff_lines,
    file_of,
    file_page,
    file_tree,
    folder_list,
    folder_of,
    size_of,
)
from metier.web.markdown import MarkedFinding, SkillFindings, SkillLinks, quote_path
from metier.web.skill_text import ShownText, place_of, show_text
from metier.web.visible import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response

    from metier.hub.hub import Hub
    from metier.hub.model import Caller, HubSkill, Namespace, Release
    from metier.hub.usage import DayCount

MAIN = "SKILL.md"
FILE_AT = 6
"""Where a file's path begins in an address: after /skills/NS/NAME/VERSION/files/."""
CHART_HEIGHT = 60


class LoggedAct(NamedTuple):
    """What the namespace's log of approvals says about a release."""

    number: int
    what: str
    by: str
    at: int
    reason: str


class ReleaseView(NamedTuple):
    """One version of a skill, as its page shows it."""

    skill: HubSkill
    release: Release
    versions: list[Release]
    text: ShownText | MetierError
    findings: SkillFindings
    tree: Markup
    log: list[LoggedAct]
    standing: decide.Standing
    days: list[DayCount]


class FilesView(NamedTuple):
    """The files of one version."""

    release: Release
    files: tuple[InspectedFile, ...]
    marks: Mapping[str, int]


def address_of(release: Release) -> str:
    """Give the address of one version's page."""
    return skill_url(release.namespace, release.name, release.version)


def findings_of(release: Release) -> SkillFindings:
    """Give what the scan found, numbered for the page."""
    known = Finding._field_defaults
    marked = tuple(
        MarkedFinding(
            number,
            Finding(**{name: one.get(name, known.get(name, "")) for name in Finding._fields}),
        )
        for number, one in enumerate(release.findings, 1)
    )
    return SkillFindings(marked, release.level, release.score)


def listed_files(release: Release) -> tuple[InspectedFile, ...]:
    """Give the files of a release without what is in them."""
    return tuple(InspectedFile(one.path, one.size, one.executable) for one in release.files)


def _marks(findings: SkillFindings) -> Counter[str]:
    return Counter(one.finding.path for one in findings.marked)


def look(
    hub: Hub, caller: Caller, namespace: str, name: str, version: str, *, everything: bool
) -> ReleaseView:
    """Read one version of a skill; without a version the newest approved one, or the newest."""
    with hub.database.read() as connection:
        skill, seen = releases.need_skill(connection, caller, namespace, name)
        wanted = version or skill.latest or seen[0].version
        release = next((one for one in seen if one.version == wanted), None)
        if release is None:
            raise authorize.no_skill(namespace, name, version)
        standing = decide.standing_of(connection, caller, skill.namespace, release)
        log = _log_of(connection, skill.namespace, release)
    findings = findings_of(release)
    base = address_of(release)
    return ReleaseView(
        skill=skill,
        release=release,
        versions=seen,
        text=_text(hub, release, findings, base, everything=everything),
        findings=findings,
        tree=file_tree(base, listed_files(release), _marks(findings)),
        log=log,
        standing=standing,
        days=installs_by_day(hub, caller, namespace, skill.name),
    )


def _text(
    hub: Hub, release: Release, findings: SkillFindings, base: str, *, everything: bool
) -> ShownText | MetierError:
    """Write the instructions; where their bytes cannot be had, the page says why in their place."""
    try:
        data = contents_of(hub, release).get(MAIN, b"")
    except MetierError as error:
        return error
    document = read_document(data, folder=release.name)
    line = data.count(b"\n", 0, document.body_at) + 1 if document is not None else 1
    links = SkillLinks(base, frozenset(one.path for one in release.files))
    return show_text(
        data.decode("utf-8", "replace"),
        MAIN,
        line,
        links,
        findings.in_file(MAIN),
        everything=everything,
    )


def _log_of(connection: Any, space: Namespace, release: Release) -> list[LoggedAct]:
    rows = connection.rows(
        "SELECT number, entry FROM approvals WHERE namespace_id = ? AND release_id = ? "
        "ORDER BY number",
        space.id,
        release.id,
    )
    found = [(row["number"], json.loads(row["entry"])) for row in rows]
    return [
        LoggedAct(number, told["what"], ", ".join(told["by"]), told["at"], told["reason"])
        for number, told in found
    ]


async def show_skill(request: Request) -> Response:
    """Show one version of a skill."""
    given = request.path_params
    found = await ask(
        request,
        look,
        given["ns"],
        given["name"],
        given.get("version", ""),
        everything=bool(request.query_params.get("all")),
    )
    caller, space = visitor_of(request).caller, found.skill.namespace
    own = authorize.is_publisher_of(caller, found.release)
    may_withdraw = authorize.may(caller, "withdraw", space) or (
        own and authorize.may(caller, "publish", space)
    )
    return show_page(
        request,
        "skill.html",
        title=f"{space.name}/{found.skill.name}",
        found=found,
        one=found.release,
        base=address_of(found.release),
        address_of=address_of,
        place_of=lambda one: place_of(address_of(found.release), MAIN, one),
        is_fault=isinstance(found.text, MetierError),
        main_quoted=quote_path(MAIN),
        may_withdraw=may_withdraw,
        may_bring_back=authorize.may(caller, "withdraw", space),
        may_deprecate=authorize.may(caller, "withdraw", space)
        or (may_withdraw and all(authorize.is_publisher_of(caller, one) for one in found.versions)),
        deprecated_seen=mark_of(found.skill.deprecated),
        size=size_of(found.release.size),
        bars=bars_of(found.days),
    )


def bars_of(days: list[DayCount]) -> list[int]:
    """Give how high the bar of each day is."""
    most = max((one.installs for one in days), default=0) or 1
    return [round(CHART_HEIGHT * one.installs / most) for one in days]


# --- files


def look_at_files(hub: Hub, caller: Caller, namespace: str, name: str, version: str) -> FilesView:
    """Give the list of files of one version."""
    with hub.database.read() as connection:
        _space, release = releases.need_release(connection, caller, namespace, name, version)
    return FilesView(release, listed_files(release), _marks(findings_of(release)))


def read_one(
    hub: Hub, caller: Caller, namespace: str, name: str, version: str, path: str
) -> tuple[Release, InspectedFile]:
    """Read one file of one version."""
    release = look_at_files(hub, caller, namespace, name, version).release
    data = contents_of(hub, release).get(path)
    if data is None:
        raise NotFoundError(f"{release.name} has no file '{plain(path)}'", hint="check the name")
    text = text_of(data)
    return release, InspectedFile(
        path, len(data), text=text, data=b"" if text is not None else data
    )


def _place(request: Request) -> tuple[str, str, str]:
    given = request.path_params
    return given["ns"], given["name"], given["version"]


async def show_file(request: Request) -> Response:
    """Show one file with its source in colour."""
    release, file = await ask(request, read_one, *_place(request), file_of(request, FILE_AT))
    base = address_of(release)
    found = file_page(file, findings_of(release).in_file(file.path), base)
    return show_page(
        request,
        "skill_file.html",
        title=plain(f"{file.path} of {release.name} {release.version}"),
        base=base,
        skill=f"{release.namespace}/{release.name} {release.version}",
        found=found,
        size=size_of(file.size),
        shows_image=bool(request.query_params.get("image")),
        quoted=quote_path(file.path),
    )


async def give_file(request: Request) -> Response:
    """Give one file as it lies there."""
    _release, file = await ask(request, read_one, *_place(request), file_of(request, FILE_AT))
    return as_it_lies(file)


async def show_folder(request: Request) -> Response:
    """Show what lies in one folder."""
    found = await ask(request, look_at_files, *_place(request))
    inside, at = folder_of(request)
    if not any(one.path.startswith(inside) for one in found.files):
        raise NotFoundError("there is no such folder in this skill", hint="go back to the skill")
    base = address_of(found.release)
    return show_page(
        request,
        "skill_folder.html",
        title=plain(f"{inside or 'All files'} of {found.release.name}"),
        base=base,
        skill=f"{found.release.namespace}/{found.release.name}",
        inside=inside,
        listed=folder_list(base, found.files, found.marks, inside, at),
    )


async def show_changes(request: Request) -> Response:
    """Show what changed between two versions, and what a scan said before and after."""
    given, told = request.path_params, request.query_params
    found = await ask(
        request,
        compare_releases,
        given["ns"],
        given["name"],
        told.get("from", ""),
        told.get("to", "") or "latest",
    )
    lines, more = diff_lines(found["diff"])
    return show_page(
        request,
        "skill_changes.html",
        title=f"Changes in {given['ns']}/{given['name']}",
        found=found,
        lines=lines,
        more=more,
        base=skill_url(given["ns"], given["name"]),
    )


_SKILL = "/skills/{ns}/{name}"
ROUTES = [
    page_route(_SKILL, show_skill),
    page_route(f"{_SKILL}/diff", show_changes),
    page_route(f"{_SKILL}/{{version}}", show_skill),
    page_route(f"{_SKILL}/{{version}}/files/{{file:file}}", show_file),
    page_route(f"{_SKILL}/{{version}}/raw/{{file:file}}", give_file),
    page_route(f"{_SKILL}/{{version}}/folder", show_folder),
]
