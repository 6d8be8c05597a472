"""The hub's log: one line of JSON for each event, whatever is in it, so that nobody can forge a line.

Every request that changes something or is refused has a line. Requests that only read are counted
([`metrics`](metrics.py)), and have none. Addresses are written without what follows the question mark.
"""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_PATH_CHARS = 300
MAX_AGENT_CHARS = 120
QUIET_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
FIRST_REFUSAL = 400
_LOG = logging.getLogger("metier.hub")


class OneLine(logging.Formatter):
    """Writes an event as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Write it; a traceback is a text within it."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "at": f"{at}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


class RequestLogMiddleware:
    """Writes down what was asked, by whom, and how it ended."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note it once it is answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.monotonic()
        status = 0

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_noted)
        finally:
            if scope["method"] not in QUIET_METHODS or not 0 < status < FIRST_REFUSAL:
                _note(scope, status, time.monotonic() - began)


def _note(scope: Scope, status: int, seconds: float) -> None:
    agents = [value for name, value in scope["headers"] if name == b"user-agent"]
    client = scope.get("client")
    caller = scope.get("caller")
    fields = {
        "method": scope["method"][:16],
        "path": scope["path"][:MAX_PATH_CHARS],
        "status": status,
        "ms": round(seconds * 1000, 1),
        "who": caller.ident if caller is not None else "",
        "from": client[0] if client else "",
        "agent": b"".join(agents[:1]).decode("latin-1")[:MAX_AGENT_CHARS],
    }
    _LOG.info("request", extra={"fields": fields})
