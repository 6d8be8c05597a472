"""This machine's notes on a lock: read exactly as written, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.pins import digest

from metier.errors import StoreError
from metier.supply.local_state import (
    PendingUpdate,
    SettledUpdate,
    SupplyState,
    read_state,
    state_bytes,
)
from metier.supply.model import Revision

WHOLE = SupplyState(
    "/project/metier.lock",
    (Revision("pdf", 1, digest("1"), digest("1"), "c1", "2026-01-01T00:00:00Z", "add"),
     Revision("pdf", 2, digest("2"), digest("1"), "c1", "2026-01-02T00:00:00Z", "edit")),
    (PendingUpdate("pdf", digest("1"), digest("2"), digest("3"), "main", "c2", "skills/pdf", "pdf-0123", ("it conflicts", "é\udcff"), "2026-01-03T00:00:00Z"),),
    (("tour", digest("t")),),
    (SettledUpdate("pdf", digest("1"), digest("2"), digest("0"), "c0", "skills/pdf", "three_way", "superseded", "", "2026-01-03T00:00:00Z", "é\udcff", "update:pdf:0123"),
     SettledUpdate("ocr", digest("1"), "", digest("4"), "c4", "", "fast_forward", "published", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "", "", digest("4"))),
)  # fmt: skip


def test_what_is_written_is_read_back() -> None:
    data = state_bytes(WHOLE)

    assert WHOLE == read_state(data)
    assert data.isascii()
    assert data == state_bytes(read_state(data))


def test_no_file_means_no_notes() -> None:
    assert SupplyState("", (), (), ()) == read_state(None)


def changed(**values: Any) -> bytes:
    return json.dumps({**json.loads(state_bytes(WHOLE)), **values}).encode()


ROW: dict[str, Any] = json.loads(state_bytes(WHOLE))["revisions"][0]
SETTLED: dict[str, Any] = json.loads(state_bytes(WHOLE))["reviewed"][0]
WAITS: dict[str, Any] = json.loads(state_bytes(WHOLE))["pending"][0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"{}",
        b"[" * 100_000,
        b'{"version": 1, "version": 1}',
        b'{"version": ' + b"1" * 10_000 + b"}",
        changed(version=3),
        changed(version=0),
        changed(version="1"),
        changed(version=True),
        changed(more=1),
        changed(lock=7),
        changed(revisions={}),
        changed(revisions=[7]),
        changed(revisions=[{**ROW, "number": "1"}]),
        changed(revisions=[{**ROW, "number": -1}]),
        changed(revisions=[{**ROW, "number": True}]),
        changed(revisions=[{**ROW, "at": 1}]),
        changed(revisions=[{**ROW, "more": ""}]),
        changed(pending=[[]]),
        changed(pending=[{**WAITS, "reasons": "x"}]),
        changed(pending=[{**WAITS, "reasons": [1]}]),
        changed(pending=[{**WAITS, "desk": None}]),
        changed(pending=[WAITS, WAITS]),
        changed(forgotten=[["a"]]),
        changed(forgotten=["ab"]),
        changed(forgotten=[["a", 1]]),
        changed(reviewed={}),
        changed(reviewed=[7]),
        changed(reviewed=[{}]),
        changed(reviewed=[{**SETTLED, "status": "open"}]),
        changed(reviewed=[{**SETTLED, "mode": "x"}]),
        changed(reviewed=[{**SETTLED, "mode": []}]),
        changed(reviewed=[{**SETTLED, "at": 1}]),
        changed(reviewed=[{**SETTLED, "more": ""}]),
        changed(reviewed=[SETTLED, SETTLED]),
        changed(version=1),
    ],
)
def test_a_broken_file_is_refused_whole_with_a_hint(data: bytes) -> None:
    with pytest.raises(
        StoreError, match="the notes on what was installed cannot be read"
    ) as caught:
        read_state(data)

    assert "state" == caught.value.code
    assert "move the file away" in caught.value.hint


def test_notes_of_the_first_version_are_read() -> None:
    document = json.loads(state_bytes(WHOLE))
    [waits] = document["pending"]
    del document["reviewed"], waits["at"]

    found = read_state(json.dumps({**document, "version": 1}).encode())

    assert WHOLE._replace(pending=(WHOLE.pending[0]._replace(at=""),), reviewed=()) == found
    assert found == read_state(state_bytes(found))
