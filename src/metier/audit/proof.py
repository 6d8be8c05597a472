"""Holds a whole log against its own chain and its head, in one pass that keeps no line. `chain` says what that shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit.chain import LINE_SEALS, START, TORN, UNSEALED, Junk, is_next, link_of, read, seal_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.audit.chain import Head, Record, Seal


class Verified(NamedTuple):
    """What a log is worth: how many events, whether all is as written, and the first line that is not."""

    events: int
    ok: bool
    first_bad: int | None
    """Counted in lines over all files, from 1; one past the last where the end is missing."""
    reason: str = ""
    torn: int = 0
    """How many times a process was stopped in the middle of a line."""
    hmac_status: Seal = "missing"


def verify(lines: Iterable[bytes], head: Head | None, key: bytes | None = None) -> Verified:
    """Hold a whole log, line by line with their line ends, against its own chain and its head."""
    walk = _Walk(head, key)
    for raw in lines:
        walk.take(raw)
    return walk.finish()


class _Walk:
    """One pass over a log: what should come next, and the first thing that was wrong."""

    def __init__(self, head: Head | None, key: bytes | None) -> None:
        self.head, self.key = head, key
        self.last = START
        self.at_head = START.hash if head and head.link.seq == 0 else ""
        self.lines = self.events = self.torn = 0
        self.ended = True
        self.junk = Junk()
        self.fault = ""
        self.bad: tuple[int, str] | None = None

    def take(self, raw: bytes) -> None:
        """Look at one line."""
        self.lines += 1
        self.ended = raw.endswith(b"\n")
        record, fault = read(raw)
        if record is None:
            self.fault = self.fault or fault
            self.junk.add(raw)
            return
        self.events += 1
        if self.junk.lines:
            self._settle_junk(record)
        self._judge(record)
        self.last = link_of(record)
        if self.head and self.last.seq == self.head.link.seq:
            self.at_head = self.last.hash

    def finish(self) -> Verified:
        """Hold the end of the log against the head, and say what was found."""
        absent: Seal = "missing" if self.key is None else "bad"
        seal = self.head.seal if self.head else absent
        if self.junk.lines:
            if self.ended:
                self._wrong(self.lines - self.junk.lines + 1, self.fault)
            self.torn += 1
        self._judge_end()
        first_bad, reason = self.bad or (None, self._remark())
        return Verified(self.events, self.bad is None, first_bad, reason, self.torn, seal)

    def _remark(self) -> str:
        """Give what is worth knowing about a log that is good."""
        if self.junk.lines:
            return "the last line is only half there: a process was stopped while writing it"
        return ""

    def _wrong(self, number: int, reason: str) -> None:
        if self.bad is None:
            self.bad = (number, reason)

    def _settle_junk(self, record: Record) -> None:
        """Accept what is no record only where the very next record accounts for those bytes."""
        if record["event"] == TORN and record["details"] == self.junk.account():
            self.torn += 1
        else:
            self._wrong(self.lines - self.junk.lines, self.fault)
        self.junk, self.fault = Junk(), ""

    def _judge(self, record: Record) -> None:
        seq, here = record["seq"], self.lines
        sealed = self.head.link.seq if self.head else 0
        if seq > self.last.seq + 1:
            self._wrong(here, f"{seq - self.last.seq - 1} of the events before this one are missing")
        elif seq <= self.last.seq:
            self._wrong(here, "this event is out of its order, or here twice")
        elif record["prev"] != self.last.hash:
            self._wrong(here, "this event does not follow from the one before it")
        elif seal_of(record, self.key, LINE_SEALS) == "bad":
            self._wrong(here, "this event was not written with the key of this log")
        elif self.key is None and "hmac" in record:
            self._wrong(here, "the key that this event was written with is gone: whoever took it could have written all of it")
        elif record["event"] == UNSEALED:
            self._wrong(here, "the head record was missing or wrong when this event was written; events before it may be gone")
        elif self.head and (seq > sealed + 1 or (seq == sealed + 1 and not is_next(record, self.head, self.key))):
            self._wrong(here, "this event was added without the head record")
        elif not self.ended and seq <= sealed:
            self._wrong(here, "the end of this line is missing")

    def _judge_end(self) -> None:
        end = self.lines + 1
        if self.head is None:
            if self.lines or self.key is not None:
                self._wrong(end, "the head record is missing: whether events are gone from the end cannot be known")
        elif self.head.seal == "bad":
            self._wrong(end, "the head record was not written with the key of this log")
        elif self.last.seq < self.head.link.seq:
            self._wrong(end, f"the log was cut: {self.head.link.seq - self.last.seq} of its last events are missing")
        elif self.at_head != self.head.link.hash:
            self._wrong(self.lines or end, "the last event is not the one that the head record names")
