"""Whoever takes too long to say what it wants is hung up on; whoever does not is answered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import uvicorn
from uvicorn.server import ServerState

from metier.mcp import impatience

if TYPE_CHECKING:
    from pathlib import Path

HEAD = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"


async def heard(path: str, *parts: bytes) -> bytes:
    """Send parts of a request, and hear all that comes back until the other end hangs up."""
    reader, writer = await asyncio.open_unix_connection(path)
    for part in parts:
        writer.write(part)
        await writer.drain()
        await asyncio.sleep(0.02)
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


@pytest.mark.parametrize(("parts", "answered"), [
    ((b"POST /mcp HT",), []),
    ((HEAD,), []),
    ((HEAD, b"Connection: close\r\n\r\n", b"h"), [b"left"]),
    ((HEAD, b"Connection: close\r\n\r\n", b"hi"), [b"hi"]),
    ((HEAD, b"\r\nhi", b"GET /"), [b"hi"]),
])  # fmt: skip
def test_a_request_has_so_long_to_arrive(parts: tuple[bytes, ...], answered: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(impatience, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(impatience, "BODY_SECONDS", 0.1)

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        message = await impatience.within(receive)()
        body = message.get("body", b"left")
        if message.get("more_body"):
            body = (await impatience.within(receive)()).get("body", b"left")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})

    async def main() -> bytes:
        config = uvicorn.Config(app, log_config=None, http=impatience.protocol(), lifespan="off")
        config.load()
        path = str(tmp_path / "socket")
        server = await asyncio.get_running_loop().create_unix_server(lambda: config.http_protocol_class(config, ServerState(), {}), path)  # type: ignore[call-arg]
        with anyio.fail_after(30):
            answer = await heard(path, *parts)
        server.close()
        return answer

    answer = anyio.run(main)

    assert answered == ([answer.rpartition(b"\r\n\r\n")[2]] if answer else [])
