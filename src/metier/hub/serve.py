"""Serves a hub until somebody stops it; what is being answered is answered to its end."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import uvicorn

from metier.errors import StoreError
from metier.hub.app import make_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.hub.hub import Hub

MAX_WAITING = 1024
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
        http="h11",  # the one that bounds what a request's head may hold
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
    logging.getLogger("metier.hub").addHandler(logging.StreamHandler())
    server = _HubServer(config, lambda: ready(f"http://{shown}:{bound}"))
    asyncio.run(server.serve(sockets=[listening]))


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
