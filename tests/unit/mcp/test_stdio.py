"""Lines out of pieces, lines that are no message, and messages that make no line."""

from __future__ import annotations

import json

import anyio
import pytest
from mcp_types import JSONRPCNotification, JSONRPCResponse

from metier.mcp import stdio


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        (b'{"jsonrpc": "2.0", "id": 5, "method": "x", "params": [1]}', (-32600, 5)),
        (b'{"id": "a", "method": "x"}', (-32600, "a")),
        (b'{"id": 5}', (-32600, 5)),
        (b'{"id": true, "method": "x"}', (-32600, None)),
        (b'{"jsonrpc": "2.0", "id": 92.5, "method": "ping"}', (-32600, None)),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', (-32600, None)),
        (b'{"jsonrpc": "2.0", "id": [5], "method": "ping"}', (-32600, None)),
        (b'{"jsonrpc": "2.0", "method": 1, "params": "bar"}', (-32600, None)),
        (b'{"id": "\\ud800", "method": "x"}', (-32600, None)),
        (b'{"id": ' + b"9" * 5_000 + b', "method": "x"}', (-32700, None)),
        (b'[{"jsonrpc": "2.0", "id": 90, "method": "ping"}]', (-32600, None)),
        (b"[" * 100_000, (-32600, None)),
        (
            b'{"jsonrpc": "2.0", "id": 78, "method": "ping", "params": {"x": '
            + b"[" * 5_000
            + b"]" * 5_000
            + b"}}",
            (-32600, 78),
        ),
        (b"[1]", (-32600, None)),
        (b"{}", (-32600, None)),
        (b"not json", (-32700, None)),
        (b"\xff", (-32700, None)),
        (b'{"jsonrpc": "2.0", "id": 92.5, "result": {}}', None),
        (b'{"id": 5, "error": "no"}', None),
        (b" \r", None),
        (b"", None),
    ],
)
def test_whatever_is_no_message_is_refused_unless_nobody_can_wait_for_an_answer(
    line: bytes, refused: tuple[int, int | str | None] | None
) -> None:
    message, refusal = stdio.parse_line(line)

    assert message is None
    assert refused == ((refusal.error.code, refusal.id) if refusal else None)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc": "2.0", "id": 5, "method": "x"}\r',
        b'{"jsonrpc": "2.0", "id": "5", "result": {}}',
        b'{"jsonrpc": "2.0", "method": "x", "params": {"id": 92.5}}',
    ],
)
def test_a_message_is_a_message(line: bytes) -> None:
    message, refusal = stdio.parse_line(line)

    assert (True, None) == (message is not None, refusal)


LONG = b'"' + b"x" * 5_000 + b'"'


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"jsonrpc": "2.0", "id": 96, "method": "x", "params": {"a": %b}}', 96),
        (b'{"jsonrpc": "2.0", "id": 96, "method": "x", "params": {"a": %b}, "b": {"id": 7}}', 96),
        (
            b' { "method" : "x", "params" : {"id": 7, "a": %b}, "jsonrpc": "2.0", "id": "a b" } \r',
            "a b",
        ),
        (b'{"method": "x", "params": {"a": %b, "id": 7}}', None),
        (b'{"method": "x", "params": %b, "id": 92.5}', None),
        (b'{"params": {"a": %b, "id": 7}, "method": "x"}', None),
        (b'{"jsonrpc": "2.0", "id": 96, "result": {"a": %b}}', None),
        (b'{"id": ' + b"9" * 5_000 + b', "method": "x", "a": %b}', None),
        (b'{"method": "x", "id": {' + b'"a": {' * 600 + b'"b": %b', None),
        (b"%b", None),
    ],
)
def test_what_is_too_long_is_refused_by_the_number_that_can_be_seen(
    line: bytes, number: int | str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "MAX_LINE_BYTES", 4_999)

    (cut,) = cut_up(line % LONG + b"\n", 100_000)
    refusal = stdio.parse_line(cut).refusal

    assert refusal is not None
    assert (-32600, number) == (refusal.error.code, refusal.id)


def cut_up(said: bytes, size: int) -> list[bytes | stdio.LongLine]:
    """Give the lines of what comes in pieces of a size."""
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    found: list[bytes | stdio.LongLine] = []

    async def read() -> bytes:
        return pieces.pop(0) if pieces else b""

    async def main() -> None:
        cutter = stdio.LineReader(read)
        while (line := await cutter.next()) is not None:
            found.append(line)

    anyio.run(main)
    return found


@pytest.mark.parametrize("size", [1, 2, 7, 40, 100])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_lines_are_the_same_however_they_come(
    size: int, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "MAX_LINE_BYTES", 20)
    long = b"0123456789" * 3

    found = cut_up(b"one\n\n" + long + b"\n" + long[:20] + b"\ntwo\n" + long + end, size)

    assert [
        b"one",
        b"",
        stdio.LongLine(long, long),
        long[:20],
        b"two",
        stdio.LongLine(long, long),
    ] == [_whole(line, long) for line in found]


def _whole(line: bytes | stdio.LongLine, long: bytes) -> bytes | stdio.LongLine:
    """Let what is seen of a long line be as much as there is: its beginning may come in a small piece."""
    return (
        stdio.LongLine(long, line.tail)
        if isinstance(line, stdio.LongLine) and long.startswith(line.head)
        else line
    )


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "half \ud800"}), -32603),
        (JSONRPCNotification(jsonrpc="2.0", method="x", params={"text": "half \ud800"}), None),
    ],
)
def test_what_cannot_be_written_is_an_error_and_not_the_end(
    message: JSONRPCResponse | JSONRPCNotification, code: int | None
) -> None:
    line = stdio.encode_line(message)

    assert code == (json.loads(line)["error"]["code"] if line else None)
