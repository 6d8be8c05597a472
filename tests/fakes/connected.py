"""A library that is served, and the SDK's own client connected to it within one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Request, Result
from pydantic import ConfigDict

from metier.mcp.server import make_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from metier.library import Library
    from metier.mcp.server import SkillServer

LEGACY, MODERN = "legacy", "auto"
ERAS = (LEGACY, MODERN)


class Loose(Result):
    """A result with every field that the server sent."""

    model_config = ConfigDict(extra="allow")


class Asked(Request[dict[str, Any], str]):
    """A request of any method."""


async def ask(client: Client, method: str, **params: Any) -> dict[str, Any]:
    """Send a request that the SDK has no method for, and give the result as it was sent."""
    found = await client.session.send_request(
        Asked(method=method, params=params), result_type=Loose
    )
    return dict(found.model_extra or {})


async def refused(client: Client, method: str, **params: Any) -> MCPError:
    """Send a request that must fail; give the error."""
    try:
        answer = await ask(client, method, **params)
    except MCPError as error:
        return error
    raise AssertionError(f"{method} gave {answer}")


async def every(client: Client, method: str, field: str, **params: Any) -> list[dict[str, Any]]:
    """Page through a list to its end."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await ask(client, method, **params, **cursor)
        found += answer[field]
        if "nextCursor" not in answer:
            return found
        cursor = {"cursor": answer["nextCursor"]}


def talk(
    library: Library,
    use: Callable[[Client], Awaitable[None]],
    mode: str = LEGACY,
    door: Any = "stdio",
    tuned: Callable[[SkillServer], None] = lambda _serving: None,
    *,
    scripts: bool = True,
    **options: Any,
) -> None:
    """Connect a client, and let it be used; a talk that hangs is ended."""

    async def main() -> None:
        serving = make_server(library, door, scripts=scripts)
        tuned(serving)
        with anyio.fail_after(60):
            async with Client(serving.server, mode=mode, **options) as client:
                await use(client)

    anyio.run(main)


async def until_new(client: Client, uri: str, before: list[dict[str, Any]]) -> None:
    """Wait until the server has heard that a skill has other files than before."""
    while before == (await ask(client, "skills/get", uri=uri))["skill"]["resources"]:  # noqa: ASYNC110 - nothing sets an event
        await anyio.sleep(0.01)
