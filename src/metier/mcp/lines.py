"""Messages of JSON-RPC on lines: cut out of what comes in, understood or refused, and written.

Whatever is no message is answered with an error, for somebody may wait for the answer: only what looks like an answer itself is
passed over, and a line with nothing on it.
"""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from metier.mcp import faults

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from mcp_types import JSONRPCMessage

LONGEST = 16 * 1024 * 1024
"""The longest message that is read; a longer one is refused unread."""
_HEAD, _TAIL = 4_096, 512
_LAST_ID = re.compile(rb'[{,]\s*"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,256}")\s*\}\s*\Z')
"""The number at the very end of a request: what stands before the last brace belongs to nothing within it."""
_KEY, _END, _VALUES = re.compile(r'\s*[{,]\s*"([^"\\]*)"\s*:\s*'), re.compile(r"\s*[,}]"), json.JSONDecoder()


class Long(NamedTuple):
    """A line that is too long to be read: how it begins and ends."""

    head: bytes
    tail: bytes


class Heard(NamedTuple):
    """What a line says: a message, or why it is none; neither where nobody waits for an answer."""

    message: JSONRPCMessage | None = None
    refusal: JSONRPCError | None = None


class Lines:
    """Cuts what comes in pieces into lines, and holds no more than one that is too long and a piece."""

    def __init__(self, read: Callable[[], Awaitable[bytes]]) -> None:
        """Begin; `read` gives the next piece, and nothing at the end."""
        self._read = read
        self._held = bytearray()

    async def next(self) -> bytes | Long | None:
        """Give the next line; none at the end. The last one needs no end of its own."""
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            if searched > LONGEST:
                return await self._passed_over()
            piece = await self._read()
            if not piece:
                end = len(self._held)
                if not end:
                    return None
                break
            self._held += piece
        return self._taken(end)

    def _taken(self, end: int) -> bytes | Long:
        line = bytes(self._held[:end])
        del self._held[: end + 1]
        return Long(line[:_HEAD], line[-_TAIL:]) if end > LONGEST else line

    async def _passed_over(self) -> Long:
        """Let the rest of a line go by."""
        head, tail = bytes(self._held[:_HEAD]), self._held[-_TAIL:]
        self._held = bytearray()
        while piece := await self._read():
            rest, end, self._held[:] = piece.partition(b"\n")
            tail = (tail + rest)[-_TAIL:]
            if end:
                break
        return Long(head, bytes(tail))


def heard(line: bytes | Long) -> Heard:
    """Understand a line."""
    if isinstance(line, Long):
        return Heard(refusal=_refused(INVALID_REQUEST, f"a message has at most {LONGEST:,} bytes", _number_of(line)))
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return Heard(refusal=refusal_of(line)) if line.strip() else Heard()
    if isinstance(message, JSONRPCNotification) and b'"id"' in line and _is_numbered(line):  # by no number that there can be
        return Heard(refusal=refusal_of(line))
    return Heard(message)


def _is_numbered(line: bytes) -> bool:
    try:
        return "id" in json.loads(line)
    except (ValueError, RecursionError):
        return False


def refusal_of(line: bytes) -> JSONRPCError | None:
    """Refuse a line that is no message; nothing for what would be an answer, for answers are not answered."""
    try:
        said = json.loads(line)
    except RecursionError:
        return _refused(INVALID_REQUEST, "that is nested too deep", _number_of(Long(line[:_HEAD], line[-_TAIL:])))
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


def _number_of(line: Long) -> Any:
    """Find the number of a request that was not read whole, where it stands before all that is long, or after it."""
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


def text_of(message: JSONRPCMessage) -> bytes:
    """Write a message on a line; one that cannot be written costs nobody the connection."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        if not isinstance(message, (JSONRPCResponse, JSONRPCError)):
            return b""
        failed = JSONRPCError(jsonrpc="2.0", id=message.id, error=faults.internal().error)
        return failed.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
