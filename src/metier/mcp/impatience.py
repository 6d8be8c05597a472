"""How long a request over HTTP may take to arrive. uvicorn waits for ever, and has only so many connections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

HEAD_SECONDS, BODY_SECONDS = 10, 30
"""Nobody has shown a token before the head has come; who has one is given more time."""


def protocol() -> type[Any]:
    """Hang up on whoever does not come to the end of a request's head: many of those would keep everybody else out."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        """The protocol, with a limit to what uvicorn waits for without one."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.late = self._wait()

        def data_received(self, data: bytes) -> None:
            before = self.cycle
            super().data_received(data)
            if self.cycle is not before:  # a head is complete
                self.late.cancel()
            elif self.late.cancelled() and self.cycle.response_complete:  # another one begins
                self.late = self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self.late.cancel()
            super().connection_lost(exc)

        def _wait(self) -> asyncio.TimerHandle:
            return self.loop.call_later(HEAD_SECONDS, self.transport.close)

    return Protocol


def within(receive: Any) -> Any:
    """Take whoever does not come to the end of a body for gone."""
    import anyio

    until = anyio.current_time() + BODY_SECONDS
    whole = False

    async def received() -> Any:
        nonlocal whole
        if whole:
            return await receive()  # which now waits for the client to leave
        with anyio.move_on_after(until - anyio.current_time()):
            message = await receive()
            whole = message["type"] != "http.request" or not message.get("more_body", False)
            return message
        return {"type": "http.disconnect"}

    return received
