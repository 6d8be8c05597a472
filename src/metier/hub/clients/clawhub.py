"""ClawHub's interface, version 1, read-only: `clawhub --registry URL/clawhub` finds, looks at and
installs skills of all namespaces that one may read, and `URL/clawhub/NAMESPACE` those of one.

What ClawHub calls an owner is a namespace. A name that several namespaces have needs its owner.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from metier.errors import NotFoundError, RefusedError
from metier.hub.api import ask, caller_of, hub_of, number_in
from metier.hub.clients.shelf import (
    files_of,
    given_release,
    offered_releases,
    offered_skills,
    place_of_name,
)
from metier.hub.here import address_of_hub
from metier.hub.releases import LATEST
from metier.hub.search import MAX_LIMIT, HubQuery, search

if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request

    from metier.hub.examine import UnpackedFile
    from metier.hub.hub import Hub
    from metier.hub.model import Caller, Release, Row

FOLDER = "/clawhub"
MAX_ITEMS = 200
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FILE_MODE, _PROGRAM_MODE = 0o100644, 0o100755


def zip_of(files: list[UnpackedFile]) -> bytes:
    """Pack files as a zip, the same bytes every time."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for file in sorted(files):
            entry = zipfile.ZipInfo(file.path, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # the one whose files have modes
            entry.external_attr = (_PROGRAM_MODE if file.executable else _FILE_MODE) << 16
            out.writestr(entry, file.data)
    return packed.getvalue()


async def _discover(request: Request) -> Response:
    at = address_of_hub(hub_of(request), request) + FOLDER
    return JSONResponse({"apiBase": at, "registry": at})


async def _who_am_i(request: Request) -> Response:
    caller = caller_of(request)
    if caller.kind == "nobody":
        raise RefusedError("nobody is logged in", code="hub-no-token", hint="log in with a token")
    user = {"handle": caller.name, "displayName": caller.name, "image": None}
    return JSONResponse({"user": user})


# --- finding


async def _search(request: Request) -> Response:
    query = HubQuery(
        words=request.query_params.get("q", ""),
        namespace=_space_in(request),
        limit=max(1, min(number_in(request, "limit", 25), MAX_LIMIT)),
    )
    found = await ask(request, search, query)
    results = [
        {
            "slug": row["name"],
            "displayName": row["name"],
            "summary": row["description"],
            "version": row["latest"],
            "score": 1 / place,
            "updatedAt": row["changed_at"] * 1000,
            "ownerHandle": row["namespace"],
            "owner": _owner(row["namespace"]),
        }
        for place, row in enumerate(found.rows, 1)
    ]
    return JSONResponse({"results": results})


async def _list_skills(request: Request) -> Response:
    limit = max(1, min(number_in(request, "limit", 25), MAX_ITEMS))
    space, _, name = request.query_params.get("cursor", "").partition("/")
    found = await ask(request, offered_skills, _space_in(request), limit + 1, (space, name))
    items = [_skill_row(row) for row in found[:limit]]
    last = found[limit - 1] if len(found) > limit else None
    following = f"{last['space']}/{last['name']}" if last else None
    return JSONResponse({"items": items, "nextCursor": following})


def _skill_row(row: Row) -> dict[str, Any]:
    return {
        "slug": row["name"],
        "displayName": row["name"],
        "summary": row["description"],
        "tags": {LATEST: row["latest"]},
        "stats": {"downloads": row["installs"]},
        "createdAt": row["created_at"] * 1000,
        "updatedAt": row["changed_at"] * 1000,
        "latestVersion": {
            "version": row["latest"],
            "createdAt": row["made_at"] * 1000,
            "changelog": "",
        },
        "owner": _owner(row["space"]),
    }


def _owner(space: str) -> dict[str, Any]:
    return {"handle": space, "displayName": space, "image": None}


def _space_in(request: Request) -> str:
    """Give the namespace that a request is about; nothing where it is about all."""
    asked = request.path_params.get("ns") or request.query_params.get("ownerHandle", "")
    return str(asked).removeprefix("@")


# --- one skill


def _place(hub: Hub, caller: Caller, space: str, name: str) -> str:
    return space or place_of_name(hub, caller, name)


def _about(hub: Hub, caller: Caller, space: str, name: str) -> dict[str, Any]:
    place = _place(hub, caller, space, name)
    skill, found = offered_releases(hub, caller, place, name)
    newest = found[0]
    return {
        "skill": {
            "slug": skill.name,
            "displayName": skill.name,
            "summary": skill.description,
            "tags": {LATEST: newest.version},
            "stats": {"downloads": skill.installs},
            "createdAt": found[-1].created_at * 1000,
            "updatedAt": skill.changed_at * 1000,
        },
        "latestVersion": _version_row(newest),
        "owner": _owner(place),
        "moderation": _moderation(newest, skill.deprecated),
    }


def _moderation(release: Release, deprecated: str) -> dict[str, Any]:
    """Say what the hub's scan said: such a client asks before it installs what is not safe."""
    doubtful = release.level != "safe"
    said = f"the hub's scan calls it {release.level}, and its reviewers approved it"
    return {
        "isSuspicious": doubtful,
        "isMalwareBlocked": False,
        "verdict": "suspicious" if doubtful else "clean",
        "reasonCodes": [f"metier.{release.level}"] if doubtful else [],
        "updatedAt": release.decided_at * 1000,
        "engineVersion": release.ruleset,
        "summary": f"deprecated: {deprecated}" if deprecated else said if doubtful else None,
    }


def _version_row(release: Release) -> dict[str, Any]:
    return {
        "version": release.version,
        "createdAt": release.created_at * 1000,
        "changelog": f"yanked: {release.reason}" if release.state == "yanked" else "",
        "changelogSource": None,
        "license": None,
    }


async def _show_skill(request: Request) -> Response:
    return JSONResponse(await ask(request, _about, _space_in(request), _slug(request)))


async def _show_moderation(request: Request) -> Response:
    found = await ask(request, _about, _space_in(request), _slug(request))
    return JSONResponse({"moderation": found["moderation"]})


async def _list_versions(request: Request) -> Response:
    limit = max(1, min(number_in(request, "limit", 25), MAX_ITEMS))
    at = number_in(request, "cursor", 0)

    def look(hub: Hub, caller: Caller, space: str, name: str) -> list[Release]:
        return offered_releases(hub, caller, _place(hub, caller, space, name), name)[1]

    found = await ask(request, look, _space_in(request), _slug(request))
    following = str(at + limit) if len(found) > at + limit else None
    rows = [_version_row(one) for one in found[at : at + limit]]
    return JSONResponse({"items": rows, "nextCursor": following})


def _release(hub: Hub, caller: Caller, space: str, name: str, version: str) -> Release:
    place = _place(hub, caller, space, name)
    return given_release(hub, caller, place, name, version or LATEST)


async def _show_version(request: Request) -> Response:
    version = request.path_params["version"]
    found = await ask(request, _release, _space_in(request), _slug(request), version)
    files = [{"path": one.path, "size": one.size, "sha256": one.sha256} for one in found.files]
    return JSONResponse(
        {
            "version": {**_version_row(found), "files": files},
            "skill": {"slug": found.name, "displayName": found.name},
        }
    )


def _version_in(request: Request) -> str:
    told = request.query_params
    return told.get("version", "") or told.get("tag", "")


async def _give_file(request: Request) -> Response:
    found = await ask(request, _release, _space_in(request), _slug(request), _version_in(request))
    wanted = request.query_params.get("path", "")
    files = await run_in_threadpool(files_of, hub_of(request), found)
    for file in files:
        if file.path == wanted:
            return Response(file.data, media_type="text/plain; charset=utf-8")
    raise NotFoundError("the release has no such file", hint="see the list of its files")


async def _resolve(request: Request) -> Response:
    """Name the newest version. Which one somebody has is for the client's own records: it counts
    only what it takes for text, by a list of its own.
    """
    slug = request.query_params.get("slug", "")
    found = await ask(request, _about, _space_in(request), slug)
    newest = {"version": found["latestVersion"]["version"]}
    return JSONResponse({"match": None, "latestVersion": newest})


async def _download(request: Request) -> Response:
    slug = request.query_params.get("slug", "")
    found = await ask(request, _release, _space_in(request), slug, _version_in(request))

    def pack(hub: Hub) -> bytes:
        return zip_of(files_of(hub, found))

    data = await run_in_threadpool(pack, hub_of(request))
    headers = {
        "content-encoding": "identity",  # it is packed already
        "content-disposition": f'attachment; filename="{found.name}-{found.version}.zip"',
    }
    return Response(data, media_type="application/zip", headers=headers)


def _slug(request: Request) -> str:
    return str(request.path_params["slug"])


def _routes(front: str) -> list[Route]:
    skill = f"{front}/skills/{{slug}}"
    return [
        Route(f"{front}/whoami", _who_am_i),
        Route(f"{front}/search", _search),
        Route(f"{front}/resolve", _resolve),
        Route(f"{front}/download", _download),
        Route(f"{front}/skills", _list_skills),
        Route(skill, _show_skill),
        Route(f"{skill}/moderation", _show_moderation),
        Route(f"{skill}/versions", _list_versions),
        Route(f"{skill}/versions/{{version}}", _show_version),
        Route(f"{skill}/file", _give_file),
    ]


ROUTES = [
    Route("/.well-known/clawhub.json", _discover),
    *_routes(f"{FOLDER}/api/v1"),
    *_routes(f"{FOLDER}/{{ns}}/api/v1"),
]
