"""Standard input and output as a transport, without a thread for every line where both are pipes.

While it serves, whatever else in this process reads or prints finds nothing on standard input and prints to standard error: no
stray word gets between the messages. Both are put back at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from metier.mcp import faults

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp_types import JSONRPCMessage

LONGEST = 16 * 1024 * 1024
"""The longest message that is read; a longer one is passed over."""
PARTING_SECONDS = 30.0
"""How long whoever closes our input, and still listens, is waited for."""
_WAITING = 64
_ENDLESS = "subscriptions/listen"
"""The request that is answered when the client has had enough; nobody waits for that."""


def is_fit() -> bool:
    """Tell whether both ends are pipes or sockets; anything else is left to the SDK's own transport."""
    try:
        return all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in (os.fstat(0).st_mode, os.fstat(1).st_mode))
    except OSError:
        return False


@contextlib.asynccontextmanager
async def streams() -> AsyncIterator[tuple[Any, Any]]:
    """Give what comes in and what goes out, as the SDK's server takes them."""
    arriving, reading = anyio.create_memory_object_stream[SessionMessage | Exception](_WAITING)
    writing, leaving = anyio.create_memory_object_stream[SessionMessage](_WAITING)
    with _claimed() as (source, sink):
        loop, owed = asyncio.get_running_loop(), _Owed()
        reader = asyncio.StreamReader(LONGEST, loop)
        incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), os.fdopen(source, "rb"))
        outgoing, flow = await loop.connect_write_pipe(lambda: _Flow(incoming, owed), os.fdopen(sink, "wb"))
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, reader, arriving, writing.clone(), owed)
                tasks.start_soon(_write, leaving, outgoing, flow, owed)
                yield reading, writing
                tasks.cancel_scope.deadline = anyio.current_time() + PARTING_SECONDS  # who does not read is not waited for
        finally:
            incoming.close()
            outgoing.close()
            with anyio.move_on_after(PARTING_SECONDS, shield=True):
                await flow.gone.wait()  # what is written already still gets there


async def _read(
    reader: asyncio.StreamReader, arriving: MemoryObjectSendStream[SessionMessage | Exception],
    writing: MemoryObjectSendStream[SessionMessage], owed: _Owed,
) -> None:  # fmt: skip
    """Hand on every line that is a message; after the last, wait until all are answered."""
    async with arriving, writing:
        with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while (line := await _line(reader)) is not None:
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError as error:
                    refused = refusal_of(line)
                    await (arriving.send(error) if refused is None else writing.send(SessionMessage(refused)))
                else:
                    owed.note(message)
                    await arriving.send(SessionMessage(message))
            await owed.settled()


def refusal_of(line: bytes) -> JSONRPCError | None:
    """Answer a request that is not as it should be, so that nobody waits for it; nothing when there is none to answer."""
    error = ErrorData(code=INVALID_REQUEST, message="that is no request of JSON-RPC 2.0")
    try:
        said = json.loads(line)
        number = said.get("id") if isinstance(said, dict) and "method" in said else None
        str(number).encode()  # half a character cannot be said back
        return None if number is None else JSONRPCError(jsonrpc="2.0", id=number, error=error)
    except (ValueError, RecursionError):
        return None


async def _line(reader: asyncio.StreamReader) -> bytes | None:
    """Give the next line, empty for one that is too long; none at the end."""
    long = False
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as error:
            await reader.readexactly(error.consumed)
            long = True
        except asyncio.IncompleteReadError as error:  # the last one has no end
            return error.partial if error.partial and not long else None
        else:
            return b"" if long else line


async def _write(
    leaving: MemoryObjectReceiveStream[SessionMessage], outgoing: asyncio.WriteTransport, flow: _Flow, owed: _Owed
) -> None:  # fmt: skip
    """Write every message on a line of its own, no faster than they are read."""
    async with leaving:
        async for one in leaving:
            outgoing.write(text_of(one.message))
            await flow.room()
            owed.note_answer(one.message)


def text_of(message: JSONRPCMessage) -> bytes:
    """Write a message on a line; one that cannot be written costs nobody the connection."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        if not isinstance(message, (JSONRPCResponse, JSONRPCError)):
            return b""
        failed = JSONRPCError(jsonrpc="2.0", id=message.id, error=faults.internal().error)
        return failed.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


class _Owed:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._free = asyncio.Event()
        self._free.set()

    def note(self, message: JSONRPCMessage) -> None:
        """Hear of a message that came in: whoever cancels a request gets no answer."""
        if isinstance(message, JSONRPCRequest) and message.method != _ENDLESS:
            self._ids.add(str(message.id))
            self._free.clear()
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._drop((message.params or {}).get("requestId"))

    def note_answer(self, message: JSONRPCMessage) -> None:
        """Hear of a message that went out."""
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._drop(message.id)

    def _drop(self, number: Any) -> None:
        self._ids.discard(str(number))
        if not self._ids:
            self._free.set()

    def forgive(self) -> None:
        """Owe nothing any more: nobody is there to be answered."""
        self._free.set()

    async def settled(self) -> None:
        """Wait until all are answered, though not for ever."""
        with anyio.move_on_after(PARTING_SECONDS):
            await self._free.wait()


class _Flow(asyncio.BaseProtocol):
    """Makes the writer wait while nobody reads, and the reader end when nobody will."""

    def __init__(self, incoming: asyncio.ReadTransport, owed: _Owed) -> None:
        self._incoming, self._owed = incoming, owed
        self._free = asyncio.Event()
        self._free.set()
        self.gone = asyncio.Event()
        """Set when all is written, or nobody reads any more."""

    def pause_writing(self) -> None:
        self._free.clear()

    def resume_writing(self) -> None:
        self._free.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the name is the protocol's
        self._owed.forgive()
        self._incoming.close()
        self._free.set()
        self.gone.set()

    async def room(self) -> None:
        """Wait until there is room."""
        await self._free.wait()


@contextlib.contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """Take standard input and output for the messages alone."""
    source, sink = os.dup(0), os.dup(1)
    kept = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield source, sink
    finally:
        for descriptor, target in zip(kept, (0, 1), strict=True):
            os.set_blocking(descriptor, True)
            os.dup2(descriptor, target)
            os.close(descriptor)
        os.close(nothing)
