"""Serves MCP over streamable HTTP: to this machine alone unless a token is given, and with a token
always.

The SDK keeps the sessions; `http_access` decides who gets that far. There is no CORS: no page of
any site is meant to reach this. A request has only so long to arrive: uvicorn would wait for ever,
and has only so many connections.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
from typing import TYPE_CHECKING, Any

from metier.errors import RefusedError, UsageError
from metier.mcp import http_access, shutdown
from metier.mcp.http_access import RequestHead

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator, Sequence

    from anyio import CancelScope
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from metier.mcp.http_access import Gate, HttpRefusal
    from metier.mcp.server import SkillServer


HEAD_SECONDS = 10
BODY_SECONDS = 30
"""Nobody has shown a token before the head has come; who has one is given more time."""


def timed_protocol() -> type[Any]:
    """Hang up on whoever does not come to the end of a request's head: many of those would keep
    everybody else out.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        """The protocol, with a limit to what uvicorn waits for without one."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.late = self._wait()

        def data_received(self, data: bytes) -> None:
            before = self.cycle
            super().data_received(data)
            if self.cycle is not before:  # a head is complete
                self.late.cancel()
            elif self.late.cancelled() and self.cycle.response_complete:  # another one begins
                self.late = self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self.late.cancel()
            super().connection_lost(exc)

        def _wait(self) -> asyncio.TimerHandle:
            return self.loop.call_later(HEAD_SECONDS, self.transport.close)

    return Protocol


def timed_receive(receive: Any) -> Any:
    """Take whoever does not come to the end of a body for gone."""
    import anyio

    until = anyio.current_time() + BODY_SECONDS
    whole = False

    async def received() -> Any:
        nonlocal whole
        if whole:
            return await receive()  # which now waits for the client to leave
        with anyio.move_on_after(until - anyio.current_time()):
            message = await receive()
            whole = message["type"] != "http.request" or not message.get("more_body", False)
            return message
        return {"type": "http.disconnect"}

    return received


# --- the server

MAX_SESSIONS = 1_000
MAX_CONNECTIONS = 2_000
PARTING_SECONDS = 1
"""How long whoever is being answered when the server ends may still take."""
KEEP_ALIVE_SECONDS = 75
"""How long a connection stays open unused. One that ends sooner, as a slow client sends its next
request, is an error to that client."""


def serve(
    make: Callable[[], SkillServer],
    host: str,
    port: int,
    token: str,
    *,
    names: Sequence[str] = (),
    ready: Callable[[str], None] = lambda _url: None,
) -> None:
    """Serve what is made once the address is bound, until a signal says to stop; `ready` is told
    the address. Port 0 takes a free one.
    """
    if not token:
        raise RefusedError(
            "nothing is served over HTTP without a token",
            code="no-token",
            hint="give --token-file FILE",
        )
    fault = http_access.token_fault(token)
    if fault:
        raise RefusedError(
            f"invalid token: {fault}",
            code="weak-token",
            hint="for example: openssl rand -hex 32",
        )
    import anyio

    from metier.mcp import server

    bound = _bind(host, port)
    try:
        number = bound.getsockname()[1]
        served = make()
        server.take_process(served)
        anyio.run(
            _serve,
            served,
            bound,
            http_access.gate_of(host, number, token, names),
            lambda: ready(http_access.url_of(host, number)),
        )
    finally:
        bound.close()


def _bind(host: str, port: int) -> socket.socket:
    """Bind before anything else is done. `localhost` is taken by its word only where it leads to
    this machine.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _kind, _protocol, _name, address = found[0]
        if http_access.is_loopback(host) and not http_access.is_loopback(str(address[0])):
            raise RefusedError(
                f"{host} is not an address of this machine",
                code="bind",
                hint="name 127.0.0.1 or ::1",
            )
        return socket.create_server(address[:2], family=family, backlog=256)
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        hint = "use another port; 0 picks a free one"
        raise UsageError(f"cannot listen on {host}:{port}: {why}", code="bind", hint=hint) from None


async def _serve(
    served: SkillServer, bound: socket.socket, gate: Gate, ready: Callable[[], None]
) -> None:
    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    silence_loggers()
    sessions = StreamableHTTPSessionManager(
        served.server,
        max_request_body_size=http_access.MAX_REQUEST_BYTES,
        max_sessions=MAX_SESSIONS,
    )
    door = HttpApp(sessions, gate, served.part)
    config = uvicorn.Config(
        door,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        http=timed_protocol(),
        loop="asyncio",
        proxy_headers=False,
        server_header=False,
        interface="asgi3",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=PARTING_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    web = (_unsignalled(uvicorn.Server) if shutdown.can_hear_signals() else uvicorn.Server)(config)

    def end() -> None:
        web.should_exit = True
        door.close()

    with shutdown.stop_on_signal(end):
        async with sessions.run():
            ready()
            await web.serve(sockets=[bound])


def _unsignalled(kind: type[Any]) -> type[Any]:
    """Take signals into our own hands: uvicorn raises them again when it is done, and the library
    could not be closed.
    """

    class Server(kind):  # type: ignore[misc]
        """A server that leaves signals alone."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Capture none."""
            yield

    return Server


def silence_loggers() -> None:
    """Keep what libraries would log to themselves: a stranger's request must not write on a
    person's terminal.
    """
    if os.environ.get("METIER_DEBUG"):
        return
    for name in ("mcp", "uvicorn", "asyncio", "sse_starlette"):
        log = logging.getLogger(name)
        log.addHandler(logging.NullHandler())
        log.propagate = False


class HttpApp:
    """The application that uvicorn calls: refuses, or hands on to the SDK."""

    def __init__(
        self,
        sessions: StreamableHTTPSessionManager,
        gate: Gate,
        left: Callable[[str], None] = lambda _session: None,
    ) -> None:
        """Stand before the sessions; `left` is told of those that clients end."""
        self.sessions = sessions
        self.gate = gate
        self.left = left
        self._streams: set[CancelScope] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return  # uvicorn speaks nothing else here
        headers = tuple(
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in scope["headers"]
        )
        no = http_access.request_refusal(
            RequestHead(scope["method"], scope["path"], headers), self.gate
        )
        if no is not None:
            await _refuse(no, send)
        elif scope["method"] == "GET":
            await self._stream(scope, receive, send)
        else:
            await self.sessions.handle_request(scope, timed_receive(receive), send)
            if scope["method"] == "DELETE":
                self.left(dict(headers).get(http_access.SESSION_HEADER, ""))

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


async def _refuse(no: HttpRefusal, send: Any) -> None:
    body = json.dumps(
        {
            "type": "about:blank",
            "status": no.status,
            "title": no.code,
            "detail": no.detail,
            "code": no.code,
        }
    ).encode()
    headers = [
        ("content-type", "application/problem+json"),
        ("content-length", str(len(body))),
        ("cache-control", "no-store"),
        ("connection", "close"),
        *no.headers,
    ]
    start = {"type": "http.response.start", "status": no.status}
    await send(
        {
            **start,
            "headers": [
                (name.encode("latin-1"), value.encode("latin-1")) for name, value in headers
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
