"""The hub's public skills as a well-known index (agent-skills 0.2.0), which other clients read.

Only public namespaces are in it: such clients send no token. Of two skills of one name, the one whose
namespace comes first is in the index of the whole hub; each namespace has an index of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from metier.errors import NotFoundError
from metier.hub.api import caller_of, hub_of, read_release
from metier.hub.io.objects import blob_key
from metier.hub.namespaces import need_namespace
from metier.supply.publish import SCHEMA

if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request

    from metier.hub.hub import Hub
    from metier.hub.model import Caller

_VERSION = re.compile(r"-\d+\.\d+\.\d+")
INDEX = ".well-known/agent-skills/index.json"
MAX_SKILLS = 10_000


def index_of(hub: Hub, caller: Caller, namespace: str = "") -> dict[str, Any]:
    """Give the index of a namespace, or of all public ones."""
    with hub.database.read() as connection:
        if namespace:
            need_namespace(connection, caller, namespace)
        where = "n.name = ?" if namespace else "n.visibility = 'public'"
        rows = connection.rows(
            "SELECT s.name, s.description, s.latest, n.name AS space, r.archive FROM skills s "
            "JOIN namespaces n ON n.id = s.namespace_id "
            "JOIN releases r ON r.skill_id = s.id AND r.version = s.latest "
            f"WHERE s.latest <> '' AND {where} ORDER BY n.name, s.name LIMIT ?",
            *((namespace,) if namespace else ()),
            MAX_SKILLS,
        )
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        found.setdefault(
            row["name"],
            {
                "name": row["name"],
                "type": "archive",
                "description": row["description"],
                "url": f"/archives/{row['space']}/{row['name']}-{row['latest']}.tar.gz",
                "digest": f"sha256:{row['archive']}",
            },
        )
    return {"$schema": SCHEMA, "skills": [found[name] for name in sorted(found)]}


async def _show_index(request: Request) -> Response:
    space = request.path_params.get("ns", "")
    found = await run_in_threadpool(index_of, hub_of(request), caller_of(request), space)
    return JSONResponse(found)


def _split(file: str) -> tuple[str, str, str]:
    """Part a skill's name from its version, which begins at the first number with a dot behind it."""
    found = _VERSION.search(file)
    return (file[: found.start()], "-", file[found.start() + 1 :]) if found else (file, "", "")


async def _give_archive(request: Request) -> Response:
    name, dash, version = _split(request.path_params["file"].removesuffix(".tar.gz"))
    if not dash:
        raise NotFoundError("the hub has nothing at this address", hint="check it")
    hub = hub_of(request)
    found = await run_in_threadpool(
        read_release, hub, caller_of(request), request.path_params["ns"], name, version
    )
    data = await run_in_threadpool(hub.objects.get, blob_key(found.archive))
    headers = {"content-encoding": "identity", "etag": f'"{found.archive}"'}
    return Response(data, media_type="application/gzip", headers=headers)


ROUTES = [
    Route(f"/{INDEX}", _show_index),
    Route(f"/ns/{{ns}}/{INDEX}", _show_index),
    Route("/archives/{ns}/{file}", _give_archive),
]
