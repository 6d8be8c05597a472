"""The server over streamable HTTP: for this machine alone unless a token is given, and with a token always.

The SDK keeps the sessions; what stands before it decides who gets that far (`gatekeeping`). There is no CORS: no page of any
site is meant to reach this.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
from typing import TYPE_CHECKING, Any

from metier.errors import RefusedError, UsageError
from metier.mcp import gatekeeping, impatience, leaving
from metier.mcp.gatekeeping import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from anyio import CancelScope
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from metier.app import Library
    from metier.mcp.gatekeeping import Gate, Refusal
    from metier.mcp.serving import Serving

SESSIONS = 1_000
CONNECTIONS = 2_000
PARTING_SECONDS = 1
"""How long whoever is being answered when the server ends may still take."""


def serve(
    library: Library, host: str, port: int, token: str, *, names: Sequence[str] = (), scripts: bool = True,
    ready: Callable[[str], None] = lambda _url: None,
) -> None:  # fmt: skip
    """Serve a library until a signal says to stop; `ready` is told the address once it is bound. Port 0 takes a free one."""
    if not token:
        raise RefusedError("nothing is served over HTTP without a token", code="no-token", hint="give --token-file FILE")
    fault = gatekeeping.fault_of_token(token)
    if fault:
        raise RefusedError(f"that is no good token: {fault}", code="weak-token", hint="for example: openssl rand -hex 32")
    import anyio

    from metier.mcp import serving

    bound = _bound(host, port)
    try:
        number = bound.getsockname()[1]
        served = serving.server_of(library, "http", scripts=scripts)
        serving.have_alone(served)
        anyio.run(_serve, served, bound, gatekeeping.gate_of(host, number, token, names),
                  lambda: ready(gatekeeping.url_of(host, number)))  # fmt: skip
    finally:
        bound.close()


def _bound(host: str, port: int) -> socket.socket:
    """Bind before anything else is done. `localhost` is taken by its word only where it leads to this machine."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _kind, _protocol, _name, address = found[0]
        if gatekeeping.is_loopback(host) and not gatekeeping.is_loopback(str(address[0])):
            raise RefusedError(f"{host} does not lead to this machine here", code="bind", hint="name 127.0.0.1 or ::1")
        return socket.create_server(address[:2], family=family, backlog=256)
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = "take another port; 0 takes a free one"
        raise UsageError(f"cannot listen on {host}:{port}: {why}", code="bind", hint=hint) from None


async def _serve(served: Serving, bound: socket.socket, gate: Gate, ready: Callable[[], None]) -> None:
    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    quiet()
    sessions = StreamableHTTPSessionManager(served.server, max_request_body_size=gatekeeping.MOST_BYTES, max_sessions=SESSIONS)
    door = Door(sessions, gate, served.part)
    config = uvicorn.Config(
        door, log_config=None, access_log=False, lifespan="off", ws="none", http=impatience.protocol(), loop="asyncio",
        proxy_headers=False, server_header=False, interface="asgi3", limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=PARTING_SECONDS,
    )  # fmt: skip
    web = (_unsignalled(uvicorn.Server) if leaving.is_ours() else uvicorn.Server)(config)

    def end() -> None:
        web.should_exit = True
        door.close()

    with leaving.heeded(end):
        async with sessions.run():
            ready()
            await web.serve(sockets=[bound])


def _unsignalled(kind: type[Any]) -> type[Any]:
    """Take signals into our own hands: uvicorn raises them again when it is done, and the library could not be closed."""

    class Server(kind):  # type: ignore[misc]
        """A server that leaves signals alone."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Capture none."""
            yield

    return Server


def quiet() -> None:
    """Keep what libraries would log to themselves: a stranger's request must not write on a person's terminal."""
    if os.environ.get("METIER_DEBUG"):
        return
    for name in ("mcp", "uvicorn", "asyncio", "sse_starlette"):
        log = logging.getLogger(name)
        log.addHandler(logging.NullHandler())
        log.propagate = False


class Door:
    """The application that uvicorn calls: refuses, or hands on to the SDK."""

    def __init__(
        self, sessions: StreamableHTTPSessionManager, gate: Gate, left: Callable[[str], None] = lambda _session: None
    ) -> None:  # fmt: skip
        """Stand before the sessions; `left` is told of those that clients end."""
        self.sessions, self.gate, self.left = sessions, gate, left
        self._streams: set[CancelScope] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return  # uvicorn speaks nothing else here
        headers = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"])
        no = gatekeeping.refusal(Asked(scope["method"], scope["path"], headers), self.gate)
        if no is not None:
            await _refuse(no, send)
        elif scope["method"] == "GET":
            await self._stream(scope, receive, send)
        else:
            await self.sessions.handle_request(scope, impatience.within(receive), send)
            if scope["method"] == "DELETE":
                self.left(dict(headers).get(gatekeeping.SESSION, ""))

    async def _stream(self, scope: Any, receive: Any, send: Any) -> None:
        """Tell a client what changes, for as long as it listens and the server is there."""
        import anyio

        with anyio.CancelScope() as until:
            self._streams.add(until)
            try:
                await self.sessions.handle_request(scope, receive, send)
            finally:
                self._streams.discard(until)

    def close(self) -> None:
        """End the streams, which would never end by themselves."""
        for stream in tuple(self._streams):
            stream.cancel()


async def _refuse(no: Refusal, send: Any) -> None:
    body = json.dumps({"type": "about:blank", "status": no.status, "title": no.code, "detail": no.detail, "code": no.code}).encode()
    headers = [("content-type", "application/problem+json"), ("content-length", str(len(body))), ("cache-control", "no-store"),
               ("connection", "close"), *no.headers]  # fmt: skip
    start = {"type": "http.response.start", "status": no.status}
    await send({**start, "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]})
    await send({"type": "http.response.body", "body": body})
