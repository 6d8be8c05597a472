"""A small MCP client for strangers' servers: it lists and reads resources, over HTTP or over the
streams of a command, within limits of time and bytes.

It speaks the protocol with a handshake, and the one of 2026 without, whichever the server does. It
offers the server nothing: no sampling, no roots, no files. Over HTTP nobody is followed elsewhere, so
that a token only ever reaches the server it is for.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from metier import __version__
from metier.errors import MetierError, RefusedError, SourceError
from metier.supply.safe_names import printable
from metier.supply.sources.mcp_skills import broken_reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    from metier.supply.io.http import HttpAnswer, HttpClient
    from metier.supply.model import Chunks, JsonObject

    class McpLine(Protocol):
        """What carries messages to a server and back."""

        heard: int
        """How many bytes have come so far."""

        @property
        def title(self) -> str:
            """The server, for people."""

        def exchange(
            self, message: JsonObject, headers: Mapping[str, str], most: int
        ) -> JsonObject:
            """Send a request, and give the answer to it; nothing larger than `most` bytes."""

        def tell(self, message: JsonObject, headers: Mapping[str, str]) -> None:
            """Send what nobody answers."""

        def close(self) -> None:
            """Hang up."""


HANDSHAKE_VERSION = "2025-06-18"
MODERN_VERSION = "2026-07-28"
MAX_LIST_BYTES = 8 * 1024 * 1024
"""Of one page of a list."""
METHOD_NOT_FOUND = -32601
_MAX_SESSION_CHARS = 512
_MAX_VERSION_CHARS = 32
_META = "io.modelcontextprotocol"
_NAMED = {"resources/read": "uri"}
_CHUNK_BYTES = 1 << 16


class RpcError(NamedTuple):
    """What a server answers instead of a result."""

    code: int
    message: str


class McpSession:
    """A conversation with one server."""

    def __init__(self, line: McpLine) -> None:
        """Say nothing yet."""
        self.line = line
        self.capabilities: JsonObject = {}
        self._version = ""
        self._modern = False
        self._count = 0

    def open(self) -> None:
        """Agree on a version."""
        hello = {
            "protocolVersion": HANDSHAKE_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "metier", "version": __version__},
        }
        found = self.ask("initialize", hello)
        if isinstance(found, RpcError):
            self._modern = True
            self._version = MODERN_VERSION
            found = self.ask("server/discover", {})
        if isinstance(found, RpcError):
            raise SourceError(
                f"{self.line.title} doesn't answer as an MCP server does: {found.message}",
                hint="check the address; it usually ends with /mcp",
                code="mcp",
            )
        capabilities = found.get("capabilities")
        if not isinstance(capabilities, dict):
            raise broken_reply("it does not say what it can do")
        self.capabilities = capabilities
        if not self._modern:
            version = found.get("protocolVersion")
            if not isinstance(version, str) or not _is_plain(version, _MAX_VERSION_CHARS):
                raise broken_reply("it names no version of the protocol")
            self._version = version
            note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            self.line.tell(note, self._headers("notifications/initialized", {}))

    def ask(
        self, method: str, params: JsonObject, most: int = MAX_LIST_BYTES
    ) -> JsonObject | RpcError:
        """Ask for something; give the result, or the error that the server answers with."""
        self._count += 1
        if self._modern:
            meta = {
                f"{_META}/protocolVersion": self._version,
                f"{_META}/clientInfo": {"name": "metier", "version": __version__},
                f"{_META}/clientCapabilities": {},
            }
            params = {**params, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        answer = self.line.exchange(message, self._headers(method, params), most)
        error = answer.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            return RpcError(
                code if isinstance(code, int) else 0, printable(str(error.get("message", "")))
            )
        result = answer.get("result")
        if not isinstance(result, dict):
            raise broken_reply("it has neither a result nor an error")
        return result

    def must(self, method: str, params: JsonObject, most: int = MAX_LIST_BYTES) -> JsonObject:
        """Ask for what the server has to have."""
        return self.checked(method, self.ask(method, params, most))

    def checked(self, method: str, found: JsonObject | RpcError) -> JsonObject:
        """Give a result; an error in its place ends it all."""
        if isinstance(found, RpcError):
            raise SourceError(
                f"{self.line.title} refuses {method}: {found.message}",
                hint="whoever runs the server can say why",
                code="mcp",
            )
        return found

    def _headers(self, method: str, params: Mapping[str, object]) -> dict[str, str]:
        found = {"MCP-Protocol-Version": self._version} if self._version else {}
        if self._modern:
            found["Mcp-Method"] = method
            name = params.get(_NAMED.get(method, ""))
            if isinstance(name, str):
                found["Mcp-Name"] = name
        return found

    def close(self) -> None:
        """Hang up."""
        self.line.close()


def _is_plain(text: str, most: int) -> bool:
    return 0 < len(text) <= most and all("!" <= sign <= "~" for sign in text)


# --- over HTTP


class HttpLine:
    """Carries messages as streamable HTTP has it: a POST for each, answered by JSON or a stream."""

    def __init__(self, client: HttpClient, url: str, secret: Mapping[str, str]) -> None:
        """Speak to one address; `secret` are headers for it alone."""
        self.client, self.url, self.secret = client, url, secret
        self.title = printable(url)
        self.heard = 0
        self._session = ""

    def exchange(self, message: JsonObject, headers: Mapping[str, str], most: int) -> JsonObject:
        """Post a request, and read until its answer has come."""
        with self.client.posted(self.url, *self._packed(message, headers), most=most) as answer:
            self._check(answer)
            session = answer.headers.get("mcp-session-id", "")
            if session and _is_plain(session, _MAX_SESSION_CHARS):
                self._session = session
            kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
            chunks = self._counted(answer.chunks)
            found = (
                _answers_in(_events(chunks), message["id"])
                if kind == "text/event-stream"
                else _answers_in([b"".join(chunks)], message["id"])
            )
            if found is not None:
                return found
            if answer.status != 200:
                return {"error": {"code": answer.status, "message": f"HTTP {answer.status}"}}
        raise broken_reply("there is none")

    def tell(self, message: JsonObject, headers: Mapping[str, str]) -> None:
        """Post what nobody answers."""
        with self.client.posted(
            self.url, *self._packed(message, headers), most=MAX_LIST_BYTES
        ) as answer:
            self._check(answer)

    def close(self) -> None:
        """End the session, where the server keeps one; whether it does is its own business."""
        if self._session:
            headers = {**self.secret, "Mcp-Session-Id": self._session}
            try:
                with self.client.posted(self.url, b"", headers, most=0, method="DELETE"):
                    pass
            except MetierError:
                pass
            self._session = ""

    def _counted(self, chunks: Chunks) -> Chunks:
        for chunk in chunks:
            self.heard += len(chunk)
            yield chunk

    def _packed(
        self, message: JsonObject, headers: Mapping[str, str]
    ) -> tuple[bytes, dict[str, str]]:
        body = json.dumps(message, ensure_ascii=True).encode("ascii")
        session = {"Mcp-Session-Id": self._session} if self._session else {}
        return body, {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **headers,
            **session,
            **self.secret,
        }

    def _check(self, answer: HttpAnswer) -> None:
        if answer.status in {401, 403}:
            raise SourceError(
                f"{self.title} answers {answer.status}",
                hint="it wants a token: name the secret under [mcp.upstreams] in your configuration",
                code="unreachable",
            )
        if answer.status >= 500:
            raise SourceError(
                f"{self.title} answers {answer.status}", hint="try again later", code="unreachable"
            )


def _answers_in(messages: Iterable[bytes], number: object) -> JsonObject | None:
    """Give the answer to a request among what comes; whatever else a server says is passed over."""
    for data in messages:
        found = _read(data)
        if isinstance(found, dict) and "method" not in found and found.get("id") == number:
            return found
        if isinstance(found, dict) and "error" in found and found.get("id") is None:
            return found  # it could not read what it was asked
    return None


def _read(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _events(chunks: Chunks) -> Iterator[bytes]:
    """Give the data of each event of a stream; how much that may be is the client's business."""
    lines: list[bytes] = []
    for line in _lines(chunks):
        if line.startswith(b"data:"):
            lines.append(line[5:].removeprefix(b" "))
        elif not line and lines:
            yield b"\n".join(lines)
            lines = []
    if lines:
        yield b"\n".join(lines)


def _lines(chunks: Chunks) -> Iterator[bytes]:
    """Give the lines of a stream as soon as they are there; each byte is copied a few times only."""
    held: list[bytes] = []
    for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        held.append(first)
        for piece in rest:
            yield b"".join(held).removesuffix(b"\r")
            held = [piece]
    yield b"".join(held).removesuffix(b"\r")


# --- over the streams of a command


class CommandLine:
    """Carries messages to a program that was started for it, a line each."""

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str], folder: str, seconds: float
    ) -> None:
        """Start the program; it is ended when its time is over, or nobody needs it any more."""
        self.title = f"the command {printable(argv[0])}"
        self.heard = 0
        self._until = time.monotonic() + seconds
        self._left = 0
        self._read_lines = _lines(self._chunks())
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user named it, and said yes
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=dict(env),
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            raise SourceError(
                f"{self.title} cannot be started: {printable(str(error))}",
                hint="check that it is installed",
                code="unreachable",
            ) from error
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)

    def exchange(self, message: JsonObject, headers: Mapping[str, str], most: int) -> JsonObject:
        """Write a request, and read lines until its answer has come."""
        del headers
        self._write(message)
        self._left = most
        for line in self._read_lines:
            found = _read(line)
            if isinstance(found, dict):
                if "method" in found and "id" in found:
                    self._decline(found["id"])
                elif "method" not in found and found.get("id") == message["id"]:
                    return found
        raise self._gone()

    def tell(self, message: JsonObject, headers: Mapping[str, str]) -> None:
        """Write what nobody answers."""
        del headers
        self._write(message)

    def close(self) -> None:
        """End the program and all that it started; once, for its number may be another's by then."""
        if self._process.returncode is not None:
            return
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()

    def _decline(self, number: object) -> None:
        """Say that nothing is offered to the server."""
        error = {"code": METHOD_NOT_FOUND, "message": "metier offers nothing"}
        self._write({"jsonrpc": "2.0", "id": number, "error": error})

    def _write(self, message: JsonObject) -> None:
        assert self._process.stdin is not None
        left = memoryview(json.dumps(message, ensure_ascii=True).encode("ascii") + b"\n")
        while left:
            self._wait(self._process.stdin.fileno(), selectors.EVENT_WRITE)
            try:
                left = left[os.write(self._process.stdin.fileno(), left[:_CHUNK_BYTES]) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._gone() from error

    def _chunks(self) -> Chunks:
        assert self._process.stdout is not None
        out = self._process.stdout.fileno()
        while True:
            self._wait(out, selectors.EVENT_READ)
            try:
                chunk = os.read(out, _CHUNK_BYTES)
            except BlockingIOError:
                continue
            if not chunk:
                return
            self.heard += len(chunk)
            self._left -= len(chunk)
            if self._left < 0:
                raise RefusedError(
                    f"an answer of {self.title} has too many bytes",
                    hint="the server is broken or hostile",
                    code="too-large",
                )
            yield chunk

    def _wait(self, descriptor: int, event: int) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(descriptor, event)
            left = self._until - time.monotonic()
            if left <= 0 or not ready.select(left):
                raise SourceError(
                    f"{self.title} did not answer in time",
                    hint="supply.seconds says how long to wait",
                    code="timeout",
                )

    def _gone(self) -> SourceError:
        return SourceError(
            f"{self.title} ended before it answered",
            hint="run it by hand to see why",
            code="unreachable",
        )
