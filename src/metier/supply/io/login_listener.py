"""Waits on this machine for the browser that comes back from a login, and takes the code it brings. Only
loopback is listened on, and only what belongs to this login counts.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
import secrets
import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, urlsplit

from metier.errors import RefusedError

if TYPE_CHECKING:
    from typing import Self

MAX_REQUESTS = 100
REQUEST_SECONDS = 5.0
DONE = b"<!doctype html><title>metier</title><p>You can close this page and go back to metier.</p>"


class LoginSecret(NamedTuple):
    """A secret and what is shown of it before it is told (PKCE)."""

    verifier: str
    challenge: str


class LoginCode(NamedTuple):
    """What the browser brought."""

    code: str
    issuer: str


def make_secret() -> LoginSecret:
    """Make a new one."""
    verifier = secrets.token_urlsafe(48)
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    return LoginSecret(verifier, base64.urlsafe_b64encode(digest).decode("ascii").rstrip("="))


def sleep(seconds: float) -> float:
    """Wait, and give for how long."""
    time.sleep(seconds)
    return seconds


class LoginListener:
    """A small server for one visit of one browser."""

    def __init__(self, seconds: float) -> None:
        """Listen on a port that is free; give up after so many seconds."""
        self._server = _OneVisit(("127.0.0.1", 0), _LoginHandler)
        self._ends = time.monotonic() + seconds
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/callback"

    def __enter__(self) -> Self:
        """Use it in a `with` block."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Listen no more."""
        self._server.server_close()

    def wait(self, state: str) -> LoginCode:
        """Wait for the answer of this very login. Whatever else asks here is told nothing."""
        self._server.state = state
        for _request in range(MAX_REQUESTS):
            left = self._ends - time.monotonic()
            if left <= 0:
                break
            self._server.timeout = left
            self._server.handle_request()
            if self._server.refusal:
                raise RefusedError(
                    "the login provider said no", code="hub-login", hint="log in again"
                )
            if self._server.answer is not None:
                return self._server.answer
        raise RefusedError(
            "nobody logged in in time", code="hub-login", hint="begin anew: metier login URL"
        )


class _OneVisit(http.server.HTTPServer):
    """What the handler notes."""

    state = ""
    answer: LoginCode | None = None
    refusal = False


class _LoginHandler(http.server.BaseHTTPRequestHandler):
    """Answers the browser."""

    server: _OneVisit
    timeout = REQUEST_SECONDS

    def do_GET(self) -> None:
        """Take the code, where the state is that of this login."""
        at = urlsplit(self.path)
        told = {name: values[0] for name, values in parse_qs(at.query).items()}
        state = told.get("state", "").encode("utf-8", "replace")
        if at.path != "/callback" or not hmac.compare_digest(state, self.server.state.encode()):
            self.send_error(404)
            return
        if "code" in told:
            self.server.answer = LoginCode(told["code"], told.get("iss", ""))
        else:
            self.server.refusal = True
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(DONE)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(DONE)

    def log_message(self, _format: str, *_words: object) -> None:
        """Say nothing: the address holds the code."""
