"""Receives webhooks on a loopback port, and answers as it is told to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class EventReceiver:
    """What came in, and what is answered."""

    def __init__(self) -> None:
        """Listen; say yes to everything."""
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body = b"thanks"
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers.get("content-length", "0"))
                told = {name.lower(): value for name, value in self.headers.items()}
                receiver.got.append((told, self.rfile.read(size)))
                self.send_response(receiver.status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(receiver.body)))
                self.end_headers()
                try:
                    self.wfile.write(receiver.body)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_words: object) -> None:
                pass

        return Handler


@contextmanager
def event_receiver() -> Iterator[EventReceiver]:
    """Serve one."""
    receiver = EventReceiver()
    thread = threading.Thread(target=receiver.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.server.shutdown()
        receiver.server.server_close()
        thread.join()
