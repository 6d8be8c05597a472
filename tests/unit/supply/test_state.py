"""This machine's notes on a lock: read exactly as written, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.pins import digest

from metier.errors import StoreError
from metier.supplies import Revision
from metier.supply.state import Pending, State, read_state, state_bytes

WHOLE = State(
    "/project/metier.lock",
    (Revision("pdf", 1, digest("1"), digest("1"), "c1", "2026-01-01T00:00:00Z", "add"),
     Revision("pdf", 2, digest("2"), digest("1"), "c1", "2026-01-02T00:00:00Z", "edit")),
    (Pending("pdf", digest("1"), digest("2"), digest("3"), "main", "c2", "skills/pdf", "pdf-0123", ("it conflicts", "é\udcff")),),
    (("tour", digest("t")),),
)  # fmt: skip


def test_what_is_written_is_read_back() -> None:
    data = state_bytes(WHOLE)

    assert WHOLE == read_state(data)
    assert data.isascii()
    assert data == state_bytes(read_state(data))


def test_no_file_means_no_notes() -> None:
    assert State("", (), (), ()) == read_state(None)


def changed(**values: Any) -> bytes:
    return json.dumps({**json.loads(state_bytes(WHOLE)), **values}).encode()


ROW: dict[str, Any] = json.loads(state_bytes(WHOLE))["revisions"][0]
WAITS: dict[str, Any] = json.loads(state_bytes(WHOLE))["pending"][0]


@pytest.mark.parametrize("data", [
    b"", b"{", b"[]", b"\xff", b"{}", b"[" * 100_000, b'{"version": 1, "version": 1}', b'{"version": ' + b"1" * 10_000 + b"}",
    changed(version=2), changed(version=0), changed(version="1"), changed(version=True), changed(more=1), changed(lock=7), changed(revisions={}),
    changed(revisions=[7]), changed(revisions=[{**ROW, "number": "1"}]), changed(revisions=[{**ROW, "number": -1}]),
    changed(revisions=[{**ROW, "number": True}]), changed(revisions=[{**ROW, "at": 1}]), changed(revisions=[{**ROW, "more": ""}]),
    changed(pending=[[]]), changed(pending=[{**WAITS, "reasons": "x"}]), changed(pending=[{**WAITS, "reasons": [1]}]),
    changed(pending=[{**WAITS, "desk": None}]), changed(pending=[WAITS, WAITS]),
    changed(forgotten=[["a"]]), changed(forgotten=["ab"]), changed(forgotten=[["a", 1]]),
])  # fmt: skip
def test_a_broken_file_is_refused_whole_with_a_hint(data: bytes) -> None:
    with pytest.raises(StoreError, match="the notes on what was installed cannot be read") as caught:
        read_state(data)

    assert "state" == caught.value.code
    assert "move the file away" in caught.value.hint
