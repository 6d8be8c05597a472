"""A client that is refused in a loop costs a few lines, and the log still says how often it asked."""

from __future__ import annotations

import json
from pathlib import Path

from metier.audit import chain
from metier.audit.chain import AuditEvent
from metier.audit.io import REPEATS_FILE, AuditLog

NOON = 1_700_000_000.0


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        """Begin at noon."""
        self.now = NOON

    def __call__(self) -> float:
        """Go on a little each time."""
        self.now += 0.5
        return self.now


def refusal(name: str = "pdf", **details: object) -> AuditEvent:
    return AuditEvent(None, "", "refuse", "blocked", name, "", "mcp", {"reason": "no", **details})


def test_the_same_refusals_are_counted_and_told_once_when_their_window_is_over(
    tmp_path: Path,
) -> None:
    clock = Clock()
    folder = tmp_path / "audit"
    for _time in range(200):  # every one in a process of its own, as far as the log knows
        AuditLog(str(folder), clock=clock).append(refusal())
    log = AuditLog(str(folder), clock=clock)
    during = log.tail(1000)
    clock.now += chain.WINDOW_SECONDS

    log.append(AuditEvent(None, "", "load", "allowed", "ocr"))

    rows = log.tail(1000)
    assert (chain.MAX_SAME_REFUSALS, 5, "") == (len(during), len(rows), log.trouble)
    assert ("refuse", "blocked", "pdf", "mcp") == tuple(
        rows[3][part] for part in ("event", "outcome", "name", "source")
    )
    assert {
        "reason": "no",
        "repeated": 197,
        "first": "2023-11-14T22:13:20.500000Z",
        "last": "2023-11-14T22:15:00.000000Z",
    } == rows[3]["details"]
    assert (True, 5) == (log.verify().ok, log.verify().events)
    assert {} == json.loads((folder / REPEATS_FILE).read_text())["refusals"]


def test_other_refusals_and_other_events_are_written_as_they_come(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path / "audit"), clock=Clock())
    for number in range(10):
        log.append(refusal(f"skill-{number}"), refusal("pdf", path=f"/{number}"))
        log.append(AuditEvent(None, "", "load", "allowed", "ocr"))

    assert (30, True) == (len(log.tail(1000)), log.verify().ok)


def test_more_different_refusals_than_are_counted_lose_no_count(tmp_path: Path) -> None:
    clock = Clock()
    log = AuditLog(str(tmp_path / "audit"), clock=clock)
    log.append(*[refusal("first")] * 10)
    log.append(*(refusal(f"skill-{number}") for number in range(chain.MAX_COUNTED)))

    told = [row["details"] for row in log.tail(1000) if "repeated" in row["details"]]
    assert [7] == [one["repeated"] for one in told]
    assert (tmp_path / "audit" / REPEATS_FILE).stat().st_size < chain.MAX_REPEATS_BYTES


def test_junk_among_the_counts_stops_nothing_and_no_secret_gets_there(tmp_path: Path) -> None:
    log = AuditLog(str(tmp_path / "audit"), clock=Clock())
    key = "sk-" + "a1B2" * 12
    for junk in (b"", b"[]", b'{"refusals": {"a": [1]}}', b"\xff", b"[" * 100_000):
        log.append(AuditEvent(None, "", "load", "allowed", "ocr"))
        (tmp_path / "audit" / REPEATS_FILE).write_bytes(junk)
        log.append(refusal(key=f"api_key={key}"))

    assert (10, "", True) == (len(log.tail(1000)), log.trouble, log.verify().ok)
    assert key not in (tmp_path / "audit" / REPEATS_FILE).read_text()
