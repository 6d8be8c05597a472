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
from metier.hub.api import ask, hub_of
from metier.hub.clients.shelf import given_release, offered_skills
from metier.hub.model import NOBODY
from metier.hub.releases import archive_of
from metier.supply.publish import SCHEMA

if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request

    from metier.hub.hub import Hub
    from metier.hub.model import Caller

_VERSION = re.compile(r"-\d+\.\d+\.\d+")
INDEX = ".well-known/agent-skills/index.json"


def index_of(hub: Hub, caller: Caller, namespace: str = "") -> dict[str, Any]:
    """Give the index of a namespace, or of all public ones."""
    rows = offered_skills(hub, caller if namespace else NOBODY, namespace)
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
    found = await ask(request, index_of, space)
    return JSONResponse(found)


def _split(file: str) -> tuple[str, str, str]:
    """Part a skill's name from its version, which begins at the first number with a dot behind it."""
    found = _VERSION.search(file)
    return (file[: found.start()], "-", file[found.start() + 1 :]) if found else (file, "", "")


async def _give_archive(request: Request) -> Response:
    name, dash, version = _split(request.path_params["file"].removesuffix(".tar.gz"))
    if not dash:
        raise NotFoundError("the hub has nothing at this address", hint="check it")
    found = await ask(request, given_release, request.path_params["ns"], name, version)
    data = await run_in_threadpool(archive_of, hub_of(request), found)
    headers = {"content-encoding": "identity", "etag": f'"{found.archive}"'}
    return Response(data, media_type="application/gzip", headers=headers)


ROUTES = [
    Route(f"/{INDEX}", _show_index),
    Route(f"/ns/{{ns}}/{INDEX}", _show_index),
    Route("/archives/{ns}/{file}", _give_archive),
]
