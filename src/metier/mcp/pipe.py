"""Standard input and output as a transport, whatever they are: pipes, sockets, a terminal, files.

While it serves, whatever else in this process reads or prints finds nothing on standard input and prints to standard error: no
stray word gets between the messages. Both are put back at the end. Only pipes and sockets are made not to block: a terminal is
also the shell's.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import socket
import stat
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from metier.mcp import leaving, lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp_types import JSONRPCMessage

PARTING_SECONDS, HURRIED_SECONDS = 30.0, 1.0
"""How long whoever closes our input, and still listens, is waited for; and how long when we are told to end."""
_WAITING, _PIECE = 64, 256 * 1024
_ENDLESS = "subscriptions/listen"
"""The request that is answered when the client has had enough; nobody waits for that."""


class Line:
    """What comes in and what goes out, as the SDK's server takes them."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self.arriving, self.reading = anyio.create_memory_object_stream[SessionMessage | Exception](_WAITING)
        self.writing, self.leaving = anyio.create_memory_object_stream[SessionMessage](_WAITING)
        self.owed = _Owed()
        self.unread = anyio.CancelScope()
        """What reads: cancelled, it is as if the other end had closed."""
        self._patience = PARTING_SECONDS
        self._parting: list[anyio.CancelScope] = []

    def part(self, scope: anyio.CancelScope) -> None:
        """Wait for somebody in this scope only for as long as there is time."""
        self._parting.append(scope)
        scope.deadline = min(scope.deadline, asyncio.get_running_loop().time() + self._patience)

    def end(self) -> None:
        """Take the other end for gone: nothing more is read, nothing owed, and nobody waited for any longer than a moment."""
        self._patience = HURRIED_SECONDS
        self.owed.forgive()
        self.unread.cancel()
        for scope in tuple(self._parting):
            self.part(scope)


@contextlib.asynccontextmanager
async def streams() -> AsyncIterator[Line]:
    """Speak over standard input and output, until a signal says to stop at the latest."""
    line = Line()
    with _claimed() as (source, sink), leaving.heeded(line.end):
        async with _input(source) as read, _output(sink, line) as write, anyio.create_task_group() as tasks:
            tasks.start_soon(_read, line, lines.Lines(read), line.writing.clone())
            tasks.start_soon(_write, line, write)
            yield line
            line.unread.cancel()
            line.part(tasks.cancel_scope)  # who does not read is not waited for for ever


async def _read(line: Line, coming: lines.Lines, writing: MemoryObjectSendStream[SessionMessage]) -> None:
    """Hand on every line that is a message; after the last, wait until all are answered."""
    async with line.arriving as arriving, writing:
        with line.unread, contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            while (said := await coming.next()) is not None:
                message, refusal = lines.heard(said)
                if message is not None:
                    line.owed.note(message)
                    await arriving.send(SessionMessage(message))
                elif refusal is not None:
                    await writing.send(SessionMessage(refusal))
            await line.owed.settled()


async def _write(line: Line, write: Callable[[bytes], Awaitable[None]]) -> None:
    """Write every message on a line of its own, no faster than they are read."""
    leaving: MemoryObjectReceiveStream[SessionMessage] = line.leaving
    async with leaving:
        async for one in leaving:
            await write(lines.text_of(one.message))
            line.owed.note_answer(one.message)


class _Owed:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self._free = asyncio.Event()
        self._free.set()

    def note(self, message: JSONRPCMessage) -> None:
        """Hear of a message that came in: whoever cancels a request gets no answer."""
        if isinstance(message, JSONRPCRequest) and message.method != _ENDLESS:
            self._ids.add(message.id)
            self._free.clear()
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._drop((message.params or {}).get("requestId"))

    def note_answer(self, message: JSONRPCMessage) -> None:
        """Hear of a message that went out."""
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._drop(message.id)

    def _drop(self, number: Any) -> None:
        if isinstance(number, (int, str)):
            self._ids.discard(number)
        if not self._ids:
            self._free.set()

    def forgive(self) -> None:
        """Owe nothing any more: nobody is there to be answered."""
        self._free.set()

    async def settled(self) -> None:
        """Wait until all are answered, though not for ever."""
        with anyio.move_on_after(PARTING_SECONDS):
            await self._free.wait()


# --- what comes in


def _is_piped(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextlib.asynccontextmanager
async def _input(descriptor: int) -> AsyncIterator[Callable[[], Awaitable[bytes]]]:
    """Give what reads a piece."""
    if not _is_piped(descriptor):
        try:
            yield partial(_piece, descriptor)
        finally:
            os.close(descriptor)
        return
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader(_PIECE)
    incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader, loop=loop), os.fdopen(descriptor, "rb"))
    try:
        yield partial(reader.read, _PIECE)
    finally:
        incoming.close()


async def _piece(descriptor: int) -> bytes:
    """Read from a terminal when there is something, so that no thread sits there; a file has what it has."""
    while True:
        try:
            await anyio.wait_readable(descriptor)
        except PermissionError:  # a file, or a device that has always something or nothing
            return await anyio.to_thread.run_sync(os.read, descriptor, _PIECE)
        with contextlib.suppress(BlockingIOError):  # somebody else was faster
            return os.read(descriptor, _PIECE)


# --- what goes out


@contextlib.asynccontextmanager
async def _output(descriptor: int, line: Line) -> AsyncIterator[Callable[[bytes], Awaitable[None]]]:
    """Give what writes; a terminal or a file is written to in a thread."""
    if not _is_piped(descriptor):
        busy = threading.Lock()
        try:
            yield partial(_written, descriptor, busy)
        finally:
            if not busy.locked():  # or its number would be another's, and the thread still write there
                os.close(descriptor)
        return
    if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        with socket.socket(fileno=descriptor) as sink:
            sink.setblocking(False)  # noqa: FBT003 - the name is the library's
            yield partial(_sent, sink, line)
        return
    loop = asyncio.get_running_loop()
    outgoing, flow = await loop.connect_write_pipe(lambda: _Flow(line.end), os.fdopen(descriptor, "wb"))

    async def write(data: bytes) -> None:
        outgoing.write(data)
        await flow.room()

    try:
        yield write
    finally:
        outgoing.close()
        with anyio.CancelScope(shield=True) as scope:
            line.part(scope)
            await flow.gone.wait()  # what is written already still gets there


async def _sent(sink: socket.socket, line: Line, data: bytes) -> None:
    """Write to a socket, which may be the one that is read from, too: a transport would take what comes in for the end."""
    try:
        await asyncio.get_running_loop().sock_sendall(sink, data)
    except ConnectionError:
        line.end()


async def _written(descriptor: int, busy: threading.Lock, data: bytes) -> None:
    await anyio.to_thread.run_sync(_write_all, descriptor, busy, data, abandon_on_cancel=True)


def _write_all(descriptor: int, busy: threading.Lock, data: bytes) -> None:
    with busy:
        while data:
            try:
                data = data[os.write(descriptor, data) :]
            except BlockingIOError:  # whoever shares the terminal made it so
                select.select([], [descriptor], [])


class _Flow(asyncio.BaseProtocol):
    """Makes the writer wait while nobody reads, and the reader end when nobody will."""

    def __init__(self, lost: Callable[[], None]) -> None:
        self._lost = lost
        self._free = asyncio.Event()
        self._free.set()
        self.gone = asyncio.Event()
        """Set when all is written, or nobody reads any more."""

    def pause_writing(self) -> None:
        self._free.clear()

    def resume_writing(self) -> None:
        self._free.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the name is the protocol's
        self._lost()
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
    blocking = os.get_blocking(0), os.get_blocking(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield source, sink
    finally:
        for target, (descriptor, before) in enumerate(zip(kept, blocking, strict=True)):
            os.set_blocking(descriptor, before)
            os.dup2(descriptor, target)
            os.close(descriptor)
        os.close(nothing)
