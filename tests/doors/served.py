"""A server of `metier mcp --http` on this machine, and ways to speak to it."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from doors.command import PATIENCE, environment
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
OPENS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Served:
    """A server of this machine, its token, and what it printed."""

    def __init__(self, env: dict[str, str], folder: Path, *words: str) -> None:
        """Start it, and wait until it says where it is."""
        command = [sys.executable, "-m", "metier", "mcp", *(words or ("--http", "127.0.0.1:0"))]
        self.process = subprocess.Popen(
            command,
            env=environment(env),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self.line = self.process.stderr.readline()
        found = re.search(r"http://\S+:(\d+)/mcp", self.line)
        assert found, self.line + self.process.stderr.read()
        self.url, self.port, self.home = found.group(), int(found.group(1)), Path(env["HOME"])
        kept = Path(env["METIER_HOME"]) / "mcp" / "token"
        self.token = kept.read_text().strip() if kept.exists() else ""

    def stop(self, how: int = signal.SIGTERM) -> tuple[int, str, str]:
        """End it; give its exit code and what else it printed."""
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        return (
            code,
            self.process.stdout.read(),
            self.process.stderr.read(),
        )  # it prints a line or two, which wait in the pipe

    def post(
        self, body: bytes | dict[str, Any] = b"{}", **changed: str | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request, with headers changed or left out; give the status, the headers and the body of the answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            **OPENS,
            "Content-Length": str(len(data)),
            **{name.replace("_", "-"): value for name, value in changed.items()},
        }
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            line.putrequest("POST", "/mcp", skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                if value is not None:
                    line.putheader(name, value)
            line.endheaders(data)
            answer = line.getresponse()
            try:
                told = answer.read()
            except ConnectionResetError:  # it turned the request down before it had read all of it
                told = b""
            return (
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                told,
            )
        finally:
            line.close()

    @asynccontextmanager
    async def client(self, mode: Any, **options: Any) -> AsyncIterator[Client]:
        """Connect a client of the SDK."""
        async with (
            httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {self.token}"}, timeout=PATIENCE
            ) as line,
            Client(
                streamable_http_client(self.url, http_client=line), mode=mode, **options
            ) as client,
        ):
            yield client

    def talk(self, act: Callable[[Client], Awaitable[None]], mode: Any = "auto") -> None:
        """Let the client of the SDK speak to it."""

        async def spoken() -> None:
            with anyio.fail_after(PATIENCE):
                async with self.client(mode) as client:
                    await act(client)

        anyio.run(spoken)


@contextmanager
def serving(env: dict[str, str], folder: Path, *words: str) -> Iterator[Served]:
    """Serve for a while."""
    made = Served(env, folder, *words)
    try:
        yield made
    finally:
        with made.process:  # which closes its pipes
            made.process.kill()
