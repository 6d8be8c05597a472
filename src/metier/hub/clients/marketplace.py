"""Plugin marketplaces for Claude Code and Codex: one for each namespace and one for all that is
public. Each skill is a plugin, which the client fetches from the hub's npm registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from metier.hub.api import ask, hub_of
from metier.hub.clients import npm
from metier.hub.clients.shelf import offered_skills
from metier.hub.here import address_of_hub
from metier.hub.model import NOBODY

if TYPE_CHECKING:
    from typing import Any

    from starlette.requests import Request

    from metier.hub.hub import Hub
    from metier.hub.model import Caller, Row

FILE = "marketplace.json"
EVERYTHING = "metier-hub"
"""What the marketplace of all public namespaces is called."""


def marketplace_of(hub: Hub, caller: Caller, namespace: str, at: str) -> dict[str, Any]:
    """Write a marketplace; `at` is the hub's own address."""
    rows = offered_skills(hub, caller if namespace else NOBODY, namespace)
    return {
        "name": namespace or EVERYTHING,
        "owner": {"name": namespace or hub.options.name},
        "metadata": {"description": f"Skills of {at}" + (f"/{namespace}" if namespace else "")},
        "interface": {"displayName": namespace or hub.options.name},
        "plugins": [_plugin(row, at, alone=bool(namespace)) for row in rows],
    }


def _plugin(row: Row, at: str, *, alone: bool) -> dict[str, Any]:
    """Write one plugin. In the marketplace of all its namespace is part of its name: no skill's name
    has two hyphens in a row, so no two are alike.
    """
    space, name = row["space"], row["name"]
    return {
        "name": name if alone else f"{space}--{name}",
        "description": row["description"],
        "version": row["latest"],
        "author": {"name": space},
        "source": {
            "source": "npm",
            "package": npm.package_name(space, name),
            "version": row["latest"],
            "registry": f"{at}{npm.FOLDER}",
        },
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": "Productivity",
    }


async def _show(request: Request) -> Response:
    at = address_of_hub(hub_of(request), request)
    space = request.path_params.get("ns", "")
    return JSONResponse(await ask(request, marketplace_of, space, at))


ROUTES = [
    Route(f"/{FILE}", _show),
    Route(f"/.claude-plugin/{FILE}", _show),
    Route(f"/ns/{{ns}}/{FILE}", _show),
    Route(f"/ns/{{ns}}/.claude-plugin/{FILE}", _show),
]
