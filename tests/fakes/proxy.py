"""A real small proxy on loopback: it connects, or passes requests on, to wherever a test says that a name leads."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self


class LoopbackProxy:
    """Knows each host and port by name, and where that is; anything else it refuses."""

    def __init__(self, known: Mapping[str, str], authorization: str = "") -> None:
        """Listen on a port that was free."""
        self.known = known
        self.authorization = authorization
        self.heads: list[str] = []
        """What it was asked, up to the empty line."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        """Begin to answer."""
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client:
            head = b""
            while b"\r\n\r\n" not in head and (data := client.recv(1)):
                head += data
            text = head.decode()
            self.heads.append(text)
            method, target, _version = text.split("\r\n", 1)[0].split(" ")
            place = target if method == "CONNECT" else target.split("/")[2]
            if self.authorization and f"Proxy-Authorization: {self.authorization}\r\n" not in text:
                client.sendall(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
                return
            if place not in self.known:
                client.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
                return
            host, _, port = self.known[place].rpartition(":")
            with socket.create_connection((host, int(port))) as server:
                if method == "CONNECT":
                    client.sendall(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")
                else:
                    path = "/" + target.split("/", 3)[3]
                    server.sendall(
                        f"{method} {path} HTTP/1.1\r\n".encode() + head.split(b"\r\n", 1)[1]
                    )
                back = threading.Thread(target=_copy, args=(server, client), daemon=True)
                back.start()
                _copy(client, server)
                back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
