"""Asks a hub's application without a network: the same requests, middleware and answers."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.hub.app import make_app

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from metier.hub.hub import Hub


class Said(NamedTuple):
    """What a hub answered."""

    status: int
    body: bytes

    @property
    def json(self) -> Any:
        """Read it."""
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Give the code of a refusal; nothing where it is none."""
        found = self.json if self.body[:1] == b"{" else {}
        return str(found.get("code", "")) if isinstance(found, dict) else ""


class AskedHub:
    """Asks one hub, as the local user or with a token."""

    def __init__(self, hub: Hub, token: str = "") -> None:
        """Ask it so."""
        self.hub, self.token = hub, token
        self.app = make_app(hub)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Said:
        """Ask, and wait for the whole answer."""
        data = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        return asyncio.run(self._ask(method, path, data, headers))

    async def _ask(self, method: str, path: str, data: bytes, told: dict[str, str]) -> Said:
        path, _, query = path.partition("?")
        headers = {"host": "127.0.0.1:1", "metier-client": "1", **told}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.replace("_", "-").lower().encode(), value.encode("utf-8", "surrogateescape"))
                for name, value in headers.items()
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
        }
        sent = False
        status, parts = 0, []

        async def receive() -> MutableMapping[str, Any]:
            nonlocal sent
            if sent:
                await asyncio.sleep(3600)
            sent = True
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                parts.append(message.get("body", b""))

        await self.app(scope, receive, send)
        return Said(status, b"".join(parts))
