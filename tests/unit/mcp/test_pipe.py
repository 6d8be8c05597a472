"""Lines that are no message, and messages that make no line."""

from __future__ import annotations

import json

import pytest
from mcp_types import JSONRPCNotification, JSONRPCResponse

from metier.mcp import pipe


@pytest.mark.parametrize(("line", "number"), [
    (b'{"jsonrpc": "2.0", "id": 5, "method": "x", "params": [1]}', 5),
    (b'{"id": "a", "method": "x"}', "a"),
    (b'{"id": 5}', None),
    (b'{"id": true, "method": "x"}', None),
    (b'{"id": 1.5, "method": "x"}', None),
    (b'{"id": "\\ud800", "method": "x"}', None),
    (b'{"id": ' + b"9" * 5_000 + b', "method": "x"}', None),
    (b"[" * 100_000, None),
    (b"[1]", None),
    (b"", None),
    (b"\xff", None),
])  # fmt: skip
def test_a_request_that_is_none_is_answered_where_it_has_a_number(line: bytes, number: int | str | None) -> None:
    found = pipe.refusal_of(line)

    assert number == (found.id if found else None)


@pytest.mark.parametrize(("message", "code"), [
    (JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "half \ud800"}), -32603),
    (JSONRPCNotification(jsonrpc="2.0", method="x", params={"text": "half \ud800"}), None),
])  # fmt: skip
def test_what_cannot_be_written_is_an_error_and_not_the_end(message: JSONRPCResponse | JSONRPCNotification, code: int | None) -> None:
    line = pipe.text_of(message)

    assert code == (json.loads(line)["error"]["code"] if line else None)
