"""A web server on loopback that says whatever a test wants, lies included: raw bytes for each path, and a note of who asked."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, NamedTuple

from metier.settings.model import SupplySettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Any, Self


class Says(NamedTuple):
    """An answer as it goes over the wire; `headers` may announce anything."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] | None = None
    """Without any, the true length is announced."""
    raw: bytes | None = None
    """Sent as it is, in the place of all the rest."""
    drip: bool = False
    """One byte at a time, until the other side hangs up or the site closes."""


class Site:
    """Stands for a site of a stranger. `pages` maps a target to what it says; anything else is not found."""

    def __init__(self, pages: Mapping[str, Says | bytes] | None = None) -> None:
        """Listen on a port that was free."""
        self.pages = dict(pages or {})
        self.asked: list[str] = []
        """The target of every request."""
        self.requests: list[bytes] = []
        self._closing = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.url = f"http://{self.place}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def limits(self, **others: Any) -> SupplySettings:
        """Give settings under which this site may be reached although it is on this machine."""
        return SupplySettings(private_hosts=(self.place,))._replace(**others)

    def _serve(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                request = b""
                while b"\r\n\r\n" not in request and (data := connection.recv(4096)):
                    request += data
                self.requests.append(request)
                target = request.split(b" ")[1].decode() if request.count(b" ") > 1 else ""
                self.asked.append(target)
                self._send(connection, self._page(target), is_head=request.startswith(b"HEAD"))
            except OSError:
                pass  # the other side hung up

    def _page(self, target: str) -> Says:
        page = self.pages.get(
            target, self.pages.get(target.partition("?")[0], Says(b"nothing here", 404))
        )
        return Says(page) if isinstance(page, bytes) else page

    def _send(self, connection: socket.socket, says: Says, *, is_head: bool) -> None:
        headers = {"Content-Length": str(len(says.body))} if says.headers is None else says.headers
        lines = [
            f"HTTP/1.1 {says.status} As told",
            *(f"{name}: {value}" for name, value in headers.items()),
            "Connection: close",
            "",
            "",
        ]
        data = (
            says.raw
            if says.raw is not None
            else "\r\n".join(lines).encode() + (b"" if is_head else says.body)
        )
        for piece in _pieces(data, drip=says.drip):
            connection.sendall(piece)
            if says.drip and self._closing.wait(0.01):
                return


def _pieces(data: bytes, *, drip: bool) -> Iterator[bytes]:
    if not drip:
        yield data
        return
    yield from (data[at : at + 1] for at in range(len(data)))
    while True:
        yield b"."
