"""Speaks JSON-RPC over standard input and output, whatever they are: pipes, sockets, a terminal,
files.

While it serves, whatever else in this process reads or prints finds nothing on standard input and
prints to standard error: no stray word gets between the messages. Both are put back at the end.
Only pipes and sockets are made not to block: a terminal is also the shell's.

Each message is one line. A line that is no message is answered with an error, for somebody may wait
for the answer: only what looks like an answer itself is passed over, and an empty line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import select
import socket
import stat
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from metier.mcp import protocol, shutdown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp_types import JSONRPCMessage


MAX_LINE_BYTES = 16 * 1024 * 1024
"""The longest message that is read; a longer one is refused unread."""
_HEAD_BYTES = 4_096
_TAIL_BYTES = 512
_LAST_ID = re.compile(rb'[{,]\s*"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,256}")\s*\}\s*\Z')
"""The number at the very end of a request: what stands before the last brace belongs to nothing
within it."""
_KEY = re.compile(r'\s*[{,]\s*"([^"\\]*)"\s*:\s*')
_END = re.compile(r"\s*[,}]")
_VALUES = json.JSONDecoder()


class LongLine(NamedTuple):
    """A line that is too long to be read: how it begins and ends."""

    head: bytes
    tail: bytes


class ParsedLine(NamedTuple):
    """What a line says: a message, or why it is none; neither where nobody waits for an answer."""

    message: JSONRPCMessage | None = None
    refusal: JSONRPCError | None = None


class LineReader:
    """Cuts what comes in pieces into lines, and holds no more than one that is too long and a
    piece.
    """

    def __init__(self, read: Callable[[], Awaitable[bytes]]) -> None:
        """Begin; `read` gives the next piece, and nothing at the end."""
        self._read = read
        self._held = bytearray()

    async def next(self) -> bytes | LongLine | None:
        """Give the next line; none at the end. The last one needs no end of its own."""
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            if searched > MAX_LINE_BYTES:
                return await self._passed_over()
            piece = await self._read()
            if not piece:
                end = len(self._held)
                if not end:
                    return None
                break
            self._held += piece
        return self._taken(end)

    def _taken(self, end: int) -> bytes | LongLine:
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        return _ends_of(line) if end > MAX_LINE_BYTES else line

    async def _passed_over(self) -> LongLine:
        """Let the rest of a line go by."""
        head = bytes(self._held[:_HEAD_BYTES])
        tail = self._held[-_TAIL_BYTES:]
        self._held = bytearray()
        while piece := await self._read():
            rest, end, self._held[:] = piece.partition(b"\n")
            tail = (tail + rest)[-_TAIL_BYTES:]
            if end:
                break
        return LongLine(head, bytes(tail))


def _ends_of(line: bytes) -> LongLine:
    return LongLine(line[:_HEAD_BYTES], line[-_TAIL_BYTES:])


def parse_line(line: bytes | LongLine) -> ParsedLine:
    """Understand a line."""
    if isinstance(line, LongLine):
        why = f"a message has at most {MAX_LINE_BYTES:,} bytes"
        return ParsedLine(refusal=_refused(INVALID_REQUEST, why, _number_of(line)))
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return ParsedLine(refusal=line_refusal(line)) if line.strip() else ParsedLine()
    if (
        isinstance(message, JSONRPCNotification) and b'"id"' in line and _is_numbered(line)
    ):  # by no number that there can be
        return ParsedLine(refusal=line_refusal(line))
    return ParsedLine(message)


def _is_numbered(line: bytes) -> bool:
    try:
        return "id" in json.loads(line)
    except (ValueError, RecursionError):
        return False


def line_refusal(line: bytes) -> JSONRPCError | None:
    """Refuse a line that is no message; nothing for what would be an answer, for answers are not
    answered.
    """
    try:
        said = json.loads(line)
    except RecursionError:
        number = _number_of(_ends_of(line))
        return _refused(INVALID_REQUEST, "that is nested too deep", number)
    except ValueError:
        return _refused(PARSE_ERROR, "that is no JSON", None)
    if not isinstance(said, dict):
        said = {}
    if "method" not in said and ("result" in said or "error" in said):
        return None
    return _refused(INVALID_REQUEST, "that is no request of JSON-RPC 2.0", said.get("id"))


def _refused(code: int, why: str, number: Any) -> JSONRPCError:
    """Write a refusal with the number of the request, where it is one that can be said back."""
    error = ErrorData(code=code, message=why)
    try:
        str(number).encode()  # half a character cannot
        return JSONRPCError(jsonrpc="2.0", id=number, error=error)
    except ValueError:
        return JSONRPCError(jsonrpc="2.0", id=None, error=error)


def _number_of(line: LongLine) -> Any:
    """Find the number of a request that was not read whole, where it stands before all that is
    long, or after it.
    """
    found = dict(_members(line.head.decode(errors="replace")))
    if "method" not in found:
        return None
    last = _LAST_ID.search(line.tail)
    try:
        return found["id"] if "id" in found else json.loads(last[1]) if last else None
    except ValueError:
        return None


def _members(text: str) -> Iterator[tuple[str, Any]]:
    """Give what an object has, up to where it is cut off."""
    at = 0
    with contextlib.suppress(ValueError, RecursionError):
        while key := _KEY.match(text, at):
            value, at = _VALUES.raw_decode(text, key.end())
            if not _END.match(text, at):  # it may go on
                return
            yield key[1], value


def encode_line(message: JSONRPCMessage) -> bytes:
    """Write a message on a line; one that cannot be written costs nobody the connection."""
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        if not isinstance(message, (JSONRPCResponse, JSONRPCError)):
            return b""
        failed = JSONRPCError(jsonrpc="2.0", id=message.id, error=protocol.internal_error().error)
        text = failed.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode() + b"\n"


PARTING_SECONDS = 30.0
HURRIED_SECONDS = 1.0
"""How long whoever closes our input, and still listens, is waited for; and how long when we are
told to end."""
_QUEUED_MESSAGES = 64
_PIECE_BYTES = 256 * 1024
_ENDLESS_METHOD = "subscriptions/listen"
"""The request that is answered when the client has had enough; nobody waits for that."""


class StdioConnection:
    """What comes in and what goes out, as the SDK's server takes them."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self.arriving, self.reading = anyio.create_memory_object_stream[SessionMessage | Exception](
            _QUEUED_MESSAGES
        )
        self.writing, self.leaving = anyio.create_memory_object_stream[SessionMessage](
            _QUEUED_MESSAGES
        )
        self.owed = _PendingRequests()
        self.unread = anyio.CancelScope()
        """What reads: cancelled, it is as if the other end had closed."""
        self._patience = PARTING_SECONDS
        self._parting: list[anyio.CancelScope] = []

    def part(self, scope: anyio.CancelScope) -> None:
        """Wait for somebody in this scope only for as long as there is time."""
        self._parting.append(scope)
        scope.deadline = min(scope.deadline, asyncio.get_running_loop().time() + self._patience)

    def end(self) -> None:
        """Take the other end for gone: nothing more is read, nothing owed, and nobody waited for
        any longer than a moment.
        """
        self._patience = HURRIED_SECONDS
        self.owed.forgive()
        self.unread.cancel()
        for scope in tuple(self._parting):
            self.part(scope)


@contextlib.asynccontextmanager
async def streams() -> AsyncIterator[StdioConnection]:
    """Speak over standard input and output, until a signal says to stop at the latest."""
    line = StdioConnection()
    with _take_streams() as (source, sink), shutdown.stop_on_signal(line.end):
        async with (
            _input(source) as read,
            _output(sink, line) as write,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(_read, line, LineReader(read), line.writing.clone())
            tasks.start_soon(_write, line, write)
            yield line
            line.unread.cancel()
            line.part(tasks.cancel_scope)  # who does not read is not waited for for ever


async def _read(
    line: StdioConnection, coming: LineReader, writing: MemoryObjectSendStream[SessionMessage]
) -> None:
    """Hand on every line that is a message; after the last, wait until all are answered."""
    async with line.arriving as arriving, writing:
        with (
            line.unread,
            contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError),
        ):
            while (said := await coming.next()) is not None:
                message, refusal = parse_line(said)
                if message is not None:
                    line.owed.note(message)
                    await arriving.send(SessionMessage(message))
                elif refusal is not None:
                    await writing.send(SessionMessage(refusal))
            await line.owed.settled()


async def _write(line: StdioConnection, write: Callable[[bytes], Awaitable[None]]) -> None:
    """Write every message on a line of its own, no faster than they are read."""
    leaving: MemoryObjectReceiveStream[SessionMessage] = line.leaving
    async with leaving:
        async for one in leaving:
            await write(encode_line(one.message))
            line.owed.note_answer(one.message)


class _PendingRequests:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self._free = asyncio.Event()
        self._free.set()

    def note(self, message: JSONRPCMessage) -> None:
        """Hear of a message that came in: whoever cancels a request gets no answer."""
        if isinstance(message, JSONRPCRequest) and message.method != _ENDLESS_METHOD:
            self._ids.add(message.id)
            self._free.clear()
        elif (
            isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled"
        ):
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
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(_PIECE_BYTES)
    incoming, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader, loop=loop), os.fdopen(descriptor, "rb")
    )
    try:
        yield partial(reader.read, _PIECE_BYTES)
    finally:
        incoming.close()


async def _piece(descriptor: int) -> bytes:
    """Read from a terminal when there is something, so that no thread sits there; a file has what
    it has.
    """
    while True:
        try:
            await anyio.wait_readable(descriptor)
        except PermissionError:  # a file, or a device that has always something or nothing
            return await anyio.to_thread.run_sync(os.read, descriptor, _PIECE_BYTES)
        with contextlib.suppress(BlockingIOError):  # somebody else was faster
            return os.read(descriptor, _PIECE_BYTES)


# --- what goes out


@contextlib.asynccontextmanager
async def _output(
    descriptor: int, line: StdioConnection
) -> AsyncIterator[Callable[[bytes], Awaitable[None]]]:
    """Give what writes; a terminal or a file is written to in a thread."""
    if not _is_piped(descriptor):
        busy = threading.Lock()
        try:
            yield partial(_write_in_thread, descriptor, busy)
        finally:
            if (
                not busy.locked()
            ):  # or its number would be another's, and the thread still write there
                os.close(descriptor)
        return
    if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        with socket.socket(fileno=descriptor) as sink:
            sink.setblocking(False)  # noqa: FBT003 - the name is the library's
            yield partial(_send, sink, line)
        return
    loop = asyncio.get_running_loop()
    outgoing, flow = await loop.connect_write_pipe(
        lambda: _WriteFlow(line.end), os.fdopen(descriptor, "wb")
    )

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


async def _send(sink: socket.socket, line: StdioConnection, data: bytes) -> None:
    """Write to a socket, which may be the one that is read from, too: a transport would take what
    comes in for the end.
    """
    try:
        await asyncio.get_running_loop().sock_sendall(sink, data)
    except ConnectionError:
        line.end()


async def _write_in_thread(descriptor: int, busy: threading.Lock, data: bytes) -> None:
    await anyio.to_thread.run_sync(_write_all, descriptor, busy, data, abandon_on_cancel=True)


def _write_all(descriptor: int, busy: threading.Lock, data: bytes) -> None:
    with busy:
        while data:
            try:
                data = data[os.write(descriptor, data) :]
            except BlockingIOError:  # whoever shares the terminal made it so
                select.select([], [descriptor], [])


class _WriteFlow(asyncio.BaseProtocol):
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
def _take_streams() -> Iterator[tuple[int, int]]:
    """Take standard input and output for the messages alone."""
    source = os.dup(0)
    sink = os.dup(1)
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
