"""Whoever takes too long to say what it wants is hung up on; whoever does not is answered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import uvicorn
from uvicorn.server import ServerState

from metier.mcp import http

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


SHORT, LONG = 0.1, 60.0
"""Limits for whoever is to be hung up on, and for whoever is not, however busy the machine is."""


@pytest.mark.parametrize(
    ("parts", "answered", "head", "body"),
    [
        ((b"POST /mcp HT",), [], SHORT, LONG),
        ((HEAD,), [], SHORT, LONG),
        ((HEAD, b"Connection: close\r\n\r\n", b"h"), [b"left"], LONG, SHORT),
        ((HEAD, b"Connection: close\r\n\r\n", b"hi"), [b"hi"], LONG, LONG),
        (
            (HEAD, b"\r\nhi", b"GET /"),
            [b"hi"],
            LONG,
            LONG,
        ),  # and after the first answer a head has little time
    ],
)
def test_a_request_has_so_long_to_arrive(
    parts: tuple[bytes, ...],
    answered: list[bytes],
    head: float,
    body: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http, "HEAD_SECONDS", head)
    monkeypatch.setattr(http, "BODY_SECONDS", body)

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        message = await http.timed_receive(receive)()
        said = message.get("body", b"left")
        if message.get("more_body"):
            said = (await http.timed_receive(receive)()).get("body", b"left")
        monkeypatch.setattr(http, "HEAD_SECONDS", SHORT)
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-length", str(len(said)).encode())],
            }
        )
        await send({"type": "http.response.body", "body": said})

    async def main() -> bytes:
        config = uvicorn.Config(app, log_config=None, http=http.timed_protocol(), lifespan="off")
        config.load()
        path = str(tmp_path / "socket")
        server = await asyncio.get_running_loop().create_unix_server(
            lambda: config.http_protocol_class(config, ServerState(), {}),  # type: ignore[call-arg]
            path,
        )
        with anyio.fail_after(30):
            answer = await heard(path, *parts)
        server.close()
        return answer

    answer = anyio.run(main)

    assert answered == ([answer.rpartition(b"\r\n\r\n")[2]] if answer else [])
