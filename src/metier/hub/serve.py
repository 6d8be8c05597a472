"""Serves a hub until somebody stops it; what is being answered is answered to its end."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from metier.errors import StoreError
from metier.hub.app import make_app
from metier.hub.request_log import OneLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.hub.hub import Hub

MAX_WAITING = 1024
HEAD_SECONDS = 20
"""How long the head of a request may take."""
LOGS = {
    "metier.hub": logging.INFO,
    "uvicorn": logging.WARNING,
    "psycopg": logging.WARNING,
    "asyncio": logging.ERROR,
}
"""Whose words go to standard error, each as one line of JSON."""
END_SECONDS = 20
"""How long requests that have begun may take once the hub is asked to stop."""


def serve(hub: Hub, host: str, port: int, *, local: bool, ready: Callable[[str], None]) -> None:
    """Serve a hub, and say where once it listens."""
    listening = _listen(host, port)
    bound = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        make_app(hub, local=local),
        log_config=None,
        http=PromptHeads,  # h11, the one that bounds what a request's head may hold
        ws="none",
        proxy_headers=False,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=END_SECONDS,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=64 << 10,
        lifespan="on",
    )
    _log_to_stderr()
    server = _HubServer(config, lambda: ready(f"http://{shown}:{bound}"))
    asyncio.run(server.serve(sockets=[listening]))


def _log_to_stderr() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    for name, level in LOGS.items():
        log = logging.getLogger(name)
        log.addHandler(handler)
        log.setLevel(level)
        log.propagate = False


class PromptHeads(H11Protocol):
    """Hangs up on whoever takes long to say what they want."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Wait on while the head of a request is not whole."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._timer is None:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _HubServer(uvicorn.Server):
    """Says when it can be asked, and ends well when it is told to end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at Ctrl-C and at SIGTERM, and end with success: who stops a service means to."""
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, self.handle_exit)
        yield

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._say_ready()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named, so that answers are sent at once: a connection of an unnamed protocol waits for more
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(MAX_WAITING)
    except OSError as error:
        listening.close()
        raise StoreError(
            f"the hub cannot listen on {host}:{port}: {error.strerror}",
            code="hub-port",
            hint="choose another with --listen HOST:PORT",
        ) from error
    return listening
