"""Serves the page on one port of this machine until somebody stops it."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from metier.errors import StoreError
from metier.web.access import LOOPBACK_NAMES, SECURITY_HEADERS, PageGate
from metier.web.app import make_app
from metier.web.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.library import Library

LOOPBACK = "127.0.0.1"
EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - all addresses of this machine
MAX_WAITING = 256
END_SECONDS = 2
TICKET_POLL_SECONDS = 0.2
WAY_IN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>metier</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={where}"></head>
<body><p><a href="{where}">Open the page</a></p></body></html>
"""


def serve(
    library: Library,
    host: str = LOOPBACK,
    port: int = 0,
    *,
    names: tuple[str, ...] = (),
    alone: bool = False,
    ready: Callable[[str, BrowserDoor], None],
) -> None:
    """Serve a library's page, and say where once it listens, with a way to open a browser there;
    `alone` where the process does nothing else.
    """
    logging.getLogger("metier.web").addHandler(logging.StreamHandler())
    listening = _listen(host, port)
    bound = listening.getsockname()[1]
    own = f"[{host}]" if ":" in host else host
    shown = names[0] if names and host in EVERYWHERE else own
    gate = PageGate(bound, (*LOOPBACK_NAMES, own, *names))
    site = Site(library, gate)
    site.alone = alone
    config = uvicorn.Config(
        make_app(site),
        log_config=None,
        log_level="error",  # what a stranger sends wrong is no news for whoever started this
        http=_StrictProtocol,
        ws="none",
        proxy_headers=False,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=END_SECONDS,
        timeout_keep_alive=5,
        h11_max_incomplete_event_size=64 << 10,
        lifespan="on",
    )
    origin = f"http://{shown}:{bound}"
    door = BrowserDoor(library.context.data, gate, origin)
    server = _ReadyServer(config, lambda: ready(f"{origin}/?token={gate.token}", door))
    try:
        server.run(sockets=[listening])
    finally:
        door.close()
    if server.failure is not None:
        raise server.failure


class _StrictProtocol(H11Protocol):
    """Bounds what a request's head may hold, and answers what is no request under the same rules as
    all else.
    """

    def send_400_response(self, msg: str) -> None:
        headers = {"content-type": "text/plain; charset=utf-8", "connection": "close"}
        known = list({**headers, **SECURITY_HEADERS}.items())
        answer = h11.Response(status_code=400, headers=known, reason=b"Bad Request")
        for event in (answer, h11.Data(data=msg.encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _ReadyServer(uvicorn.Server):
    """Says when it can be asked, and ends listeners before it waits for them."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._say_ready = ready
        self.failure: Exception | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            try:
                self._say_ready()
            except Exception as error:  # noqa: BLE001 - it is raised again, once the server has ended
                self.failure = error
                self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.config.app.state.site.end()  # type: ignore[union-attr]  # it is the one made above
        await super().shutdown(sockets)


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
            f"the page cannot listen on {host}:{port}: {error.strerror}",
            code="web-port",
            hint="choose another with --port, or leave it away",
        ) from error
    return listening


class BrowserDoor:
    """Opens a browser at the page. What a program is started with, everybody on the machine can read:
    so the browser is given a file that its owner alone can read, with a ticket that is good once.
    """

    def __init__(self, folder: str | None, gate: PageGate, origin: str) -> None:
        """Open nothing yet."""
        self.folder, self.gate, self.origin = folder, gate, origin
        self._path = ""
        self._alone = threading.Lock()

    def open(self) -> None:
        """Open the page where there is a browser; nobody waits for it."""
        has_screen = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
        if self.folder and (has_screen or sys.platform in {"win32", "darwin"}):
            threading.Thread(target=self._open, name="metier-browser", daemon=True).start()

    def close(self) -> None:
        """Take the file away."""
        with self._alone:
            path, self._path = self._path, ""
            if path:
                with suppress(OSError):
                    os.unlink(path)

    def _open(self) -> None:
        import webbrowser

        ticket = self.gate.make_ticket()
        path = f"{self.folder}/open-{secrets.token_hex(8)}.html"
        text = WAY_IN.format(where=f"{self.origin}/?ticket={ticket}")
        try:
            os.makedirs(str(self.folder), 0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
                self._path = path
                file.write(text)
        except OSError as error:
            logging.getLogger("metier.web").warning("no browser was opened: %s", error)
            return
        webbrowser.open(Path(path).as_uri())
        while self.gate.has_ticket(ticket):
            time.sleep(TICKET_POLL_SECONDS)
        self.close()
