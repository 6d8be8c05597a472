"""Writes and verifies the lines of the audit log, which form a hash chain: each line holds the hash
of the one before, and a head record says where the log ends.

One event is one line of canonical JSON (sorted, no spaces, ASCII), so that one event has exactly
one spelling. `hash` is the SHA-256 of everything else on the line, `prev` the hash of the line
before, `seq` counts from 1. `hmac` is keyed with a local key; without one the line says
`"hmac_status":"missing"` instead. The head record repeats the last `seq` and `hash`, keyed as well:
a log that ends before its head was cut.

What this shows: a changed byte, a line taken away at the beginning, in the middle or at the end,
one put in, lines in another order, a missing or foreign head. What it cannot show: whoever has the
account has the key too, and can write the whole log, its head and its key anew, or take all of them
away. Against that only a copy elsewhere helps: note the head's hash outside, and a later log that
does not contain it is not the same log.

A process may be stopped at any moment. A line is written first and its head after it, so one whole
line beyond the head is no fault as long as it is keyed. Where many events come at once, the head
says before them how many, and so many lines beyond it are no fault: they are written in one go.
Half a line at the end stays where it is; the next event is preceded by a `log.torn` event with the
length and hash of those bytes, which is what makes them no fault. Where the log was cut, new events follow from the head, not from the last
line left, so the gap stays to be seen; where the head itself is missing or wrong, a `log.unsealed`
event says so, and the log is not good from there on.
"""

from __future__ import annotations

import hmac
import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from metier.audit.redact import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


SCHEMA = 1
MAX_LINE_BYTES = 65_536
"""No line is longer; what is longer is not a line of ours."""
MAX_BATCH_BYTES = 2 * MAX_LINE_BYTES
"""No more lines are written in one go."""
MAX_DETAIL_BYTES = 32_768
MAX_WORD_CHARACTERS = 256
TORN = "log.torn"
UNSEALED = "log.unsealed"

LINE_SEALS = frozenset({"hmac", "hash"})
HEAD_SEALS = frozenset({"hmac"})
"""What the key does not cover: itself, and the hash that covers it."""

AuditRecord = dict[str, Any]
Seal = Literal["ok", "missing", "bad"]
_TEXTS = ("ts", "event", "source", "outcome", "who", "name", "digest", "prev", "hash")


class AuditEvent(NamedTuple):
    """What happened: `what` was done (load, refuse, approve, block, install, run) and how it came
    out.
    """

    at: float | None
    """Seconds since 1970; none lets the log look at its clock."""
    who: str
    what: str
    outcome: str
    name: str = ""
    digest: str = ""
    source: str = "metier"
    """Which door or part it came through."""
    details: Mapping[str, object] = {}


class ChainLink(NamedTuple):
    """The place in the chain that the next line follows from."""

    seq: int
    hash: str


CHAIN_START = ChainLink(0, "0" * 64)


class LogHead(NamedTuple):
    """Where the log ends, and whether the key agrees."""

    link: ChainLink
    seal: Seal
    ahead: int = 1
    """How many events may lie beyond it: those that a stopped process was writing."""


class LineBatch(NamedTuple):
    """Lines that are written to one file in one go."""

    name: str
    data: bytes
    events: int
    link: ChainLink
    """The last of them."""


class ResumePoint(NamedTuple):
    """Where the next line goes on from, and what has to be said first."""

    link: ChainLink
    newline: bool = False
    """The last line has no end."""
    torn: dict[str, object] | None = None
    """What there is to say about half a line, if one was left."""


def canonical(value: object) -> bytes:
    """Give the one spelling of a value."""
    return json.dumps(
        value, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode("ascii")


def line_for(event: AuditEvent, previous: ChainLink, key: bytes | None = None) -> bytes:
    """Give the line for an event that follows from `previous`, with secrets taken out."""
    return canonical(_record_for(event, previous, key)) + b"\n"


def batches_for(
    events: Iterable[AuditEvent], previous: ChainLink, key: bytes | None, newest: str
) -> list[LineBatch]:
    """Give the lines for events that follow from `previous`, in batches: each is for one file, the
    `newest` there is or a later one.
    """
    batches: list[LineBatch] = []
    link = previous
    for event in events:
        newest = max(newest, f"audit-{stamp(event.at)[:10]}.jsonl")
        record = _record_for(event, link, key)
        raw, link = canonical(record) + b"\n", link_of(record)
        last = batches[-1] if batches else None
        if last and last.name == newest and len(last.data) + len(raw) <= MAX_BATCH_BYTES:
            batches[-1] = LineBatch(newest, last.data + raw, last.events + 1, link)
        else:
            batches.append(LineBatch(newest, raw, 1, link))
    return batches


def _record_for(event: AuditEvent, previous: ChainLink, key: bytes | None) -> AuditRecord:
    words = {"event": event.what, "source": event.source, "outcome": event.outcome}
    words |= {"who": event.who, "name": event.name, "digest": event.digest}
    record: AuditRecord = {
        name: _cut(str(redact(str(word))), MAX_WORD_CHARACTERS) for name, word in words.items()
    }
    record |= {"schema": SCHEMA, "ts": stamp(event.at)}
    record |= {"details": _details(event.details), "seq": previous.seq + 1, "prev": previous.hash}
    _seal(record, key)
    record["hash"] = sha256(canonical(record)).hexdigest()
    return record


def stamp(at: float | None) -> str:
    """Give a time in UTC, to the microsecond; the beginning of time for what is none."""
    try:
        moment = datetime.fromtimestamp(at or 0.0, UTC)
    except (ValueError, OverflowError, OSError, TypeError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_line(raw: bytes) -> tuple[AuditRecord | None, str]:
    """Give the record of a line, or why it is none: only the very bytes that `line` would write
    count.
    """
    body = raw.removesuffix(b"\n")
    if len(body) > MAX_LINE_BYTES:
        return None, "the line is longer than metier ever writes"
    try:
        record = json.loads(body.decode("ascii"))
        spelt = canonical(record) == body
    except (ValueError, RecursionError):
        return None, "the line is incomplete"
    if not isinstance(record, dict) or not _shaped(record):
        return None, "the line isn't a record"
    rest = {name: value for name, value in record.items() if name != "hash"}
    if not spelt or sha256(canonical(rest)).hexdigest() != record["hash"]:
        return None, "the line was changed after it was written"
    return record, ""


def head_text(link: ChainLink, key: bytes | None, ahead: int = 1) -> bytes:
    """Give the head record for a log that ends at `link`, and where so many events are about to
    follow. `seq` counts from 1, so it is also the number of events.
    """
    record: AuditRecord = {"schema": SCHEMA, "seq": link.seq, "hash": link.hash}
    if ahead > 1:
        record["ahead"] = ahead
    _seal(record, key)
    return canonical(record) + b"\n"


def read_head(raw: bytes, key: bytes | None) -> LogHead | None:
    """Give the head record, or nothing where it is none."""
    try:
        record = json.loads(raw.decode("ascii"))
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(record, dict)
        or type(record.get("seq")) is not int
        or not isinstance(record.get("hash"), str)
        or record["seq"] < 0
        or type(record.get("ahead", 1)) is not int
    ):
        return None
    return LogHead(link_of(record), seal_of(record, key, HEAD_SEALS), record.get("ahead", 1))


def split_lines(data: bytes) -> list[bytes]:
    """Give the lines with their ends; only the last may have none."""
    *whole, rest = data.split(b"\n")
    return [one + b"\n" for one in whole] + ([rest] if rest else [])


class JunkLines:
    """A run of lines that are no records: what they add up to, without keeping them."""

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        """Begin with these lines, if any."""
        self.lines = self.size = 0
        self.sum = sha256()
        for raw in lines:
            self.add(raw)

    def add(self, raw: bytes) -> None:
        """Count one line in."""
        data = (b"\n" if self.lines else b"") + raw.removesuffix(b"\n")
        self.lines += 1
        self.size += len(data)
        self.sum.update(data)

    def account(self) -> dict[str, object]:
        """Give what a `log.torn` event says about them."""
        return {"bytes": self.size, "sha256": self.sum.hexdigest()}


def resume(head: LogHead, tail: bytes, key: bytes | None) -> ResumePoint:
    """Say where to go on, from the head and the last bytes of the log (from the beginning of a line
    or in one).
    """
    lines = split_lines(tail)
    junk: list[bytes] = []
    beyond: list[AuditRecord] = []
    for raw in reversed(lines):
        record, _fault = read_line(raw)
        if record and record["seq"] > head.link.seq and len(beyond) < head.ahead:
            beyond.insert(0, record)
        elif record or beyond:
            break
        else:
            junk.insert(0, raw)
    unended = bool(lines) and not lines[-1].endswith(b"\n")
    link = head.link
    for one in beyond:
        if not is_next(one, link, key):
            link = head.link
            break
        link = link_of(one)
    # Half a line that has been given an end is not what a stopped process leaves: nothing accounts
    # for it.
    account = JunkLines(junk).account() if junk and unended else None
    return ResumePoint(link, unended, account)


def is_next(record: AuditRecord, link: ChainLink, key: bytes | None) -> bool:
    """Tell whether a record is one that a process wrote after `link` just before it was stopped,
    and did not come to put in the head.
    """
    follows = (record["seq"], record["prev"]) == (link.seq + 1, link.hash)
    return follows and seal_of(record, key, LINE_SEALS) != "bad"


def link_of(record: AuditRecord) -> ChainLink:
    """Give the place of a record in the chain."""
    return ChainLink(record["seq"], record["hash"])


def _shaped(record: AuditRecord) -> bool:
    """Tell whether all that every line has is there."""
    texts = all(isinstance(record.get(name), str) for name in _TEXTS)
    numbers = type(record.get("seq")) is int and record.get("schema") == SCHEMA
    return texts and numbers and isinstance(record.get("details"), dict)


def _seal(record: AuditRecord, key: bytes | None) -> None:
    if key is None:
        record["hmac_status"] = "missing"
    else:
        record["hmac"] = hmac.new(key, canonical(record), sha256).hexdigest()


def seal_of(record: AuditRecord, key: bytes | None, outside: frozenset[str]) -> Seal:
    """Tell whether a record was made with this key, which covers all of its fields but those
    `outside`.
    """
    if key is None:
        return "missing"
    given = record.get("hmac")
    if not isinstance(given, str) or not given.isascii():
        return "bad"
    rest = {name: value for name, value in record.items() if name not in outside}
    try:
        expected = hmac.new(key, canonical(rest), sha256).hexdigest()
    except (ValueError, RecursionError):
        return "bad"
    return "ok" if hmac.compare_digest(given, expected) else "bad"


def _details(details: Mapping[str, object]) -> dict[str, object]:
    """Give the details without secrets, in no more room than a line has for them."""
    clean = redact(dict(details))
    assert isinstance(clean, dict)
    for longest in (4_000, 400, 40):
        cut = _cut(clean, longest)
        assert isinstance(cut, dict)
        if len(canonical(cut)) <= MAX_DETAIL_BYTES:
            return cut
    return {"left_out": "the details were too long"}


def _cut(value: object, longest: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= longest else value[: longest - 1] + "…"
    if isinstance(value, list):
        return [_cut(one, longest) for one in value]
    if isinstance(value, dict):
        return {str(_cut(name, longest)): _cut(one, longest) for name, one in value.items()}
    return value


# --- verifying a whole log


class VerifiedLog(NamedTuple):
    """The state of the audit log: how many events, whether all are unchanged, and the first line
    that isn't.
    """

    events: int
    ok: bool
    first_bad: int | None
    """Counted in lines over all files, from 1; one past the last where the end is missing."""
    reason: str = ""
    torn: int = 0
    """How many times a process was stopped in the middle of a line."""
    hmac_status: Seal = "missing"


def verify_lines(
    lines: Iterable[bytes], head: LogHead | None, key: bytes | None = None
) -> VerifiedLog:
    """Hold a whole log, line by line with their line ends, against its own chain and its head."""
    walk = _LogWalk(head, key)
    for raw in lines:
        walk.take(raw)
    return walk.finish()


class _LogWalk:
    """One pass over a log: what should come next, and the first thing that was wrong."""

    def __init__(self, head: LogHead | None, key: bytes | None) -> None:
        self.head = head
        self.key = key
        self.last = CHAIN_START
        self.at_head = CHAIN_START.hash if head and head.link.seq == 0 else ""
        self.lines = self.events = self.torn = 0
        self.ended = True
        self.junk = JunkLines()
        self.fault = ""
        self.bad: tuple[int, str] | None = None

    def take(self, raw: bytes) -> None:
        """Look at one line."""
        self.lines += 1
        self.ended = raw.endswith(b"\n")
        record, fault = read_line(raw)
        if record is None:
            self.fault = self.fault or fault
            self.junk.add(raw)
            return
        self.events += 1
        if self.junk.lines:
            self._settle_junk(record)
        self._wrong(self.lines, self._fault_of(record))
        self.last = link_of(record)
        if self.head and self.last.seq == self.head.link.seq:
            self.at_head = self.last.hash

    def finish(self) -> VerifiedLog:
        """Hold the end of the log against the head, and say what was found."""
        absent: Seal = "missing" if self.key is None else "bad"
        seal = self.head.seal if self.head else absent
        if self.junk.lines:
            if self.ended:
                self._wrong(self.lines - self.junk.lines + 1, self.fault)
            self.torn += 1
        self._judge_end()
        half = "the last line is incomplete: a process was stopped while writing it"
        first_bad, reason = self.bad or (None, half if self.junk.lines else "")
        return VerifiedLog(self.events, self.bad is None, first_bad, reason, self.torn, seal)

    def _wrong(self, number: int, reason: str) -> None:
        if self.bad is None and reason:
            self.bad = (number, reason)

    def _settle_junk(self, record: AuditRecord) -> None:
        """Accept what is no record only where the very next record accounts for those bytes."""
        if record["event"] == TORN and record["details"] == self.junk.account():
            self.torn += 1
        else:
            self._wrong(self.lines - self.junk.lines, self.fault)
        self.junk = JunkLines()
        self.fault = ""

    def _fault_of(self, record: AuditRecord) -> str:
        """Say what is wrong with a record in its place; nothing when all is right."""
        seq = record["seq"]
        sealed = self.head.link.seq if self.head else 0
        if seq > self.last.seq + 1:
            return f"{seq - self.last.seq - 1} of the events before this one are missing"
        if seq <= self.last.seq:
            return "this event is out of order, or here twice"
        if record["prev"] != self.last.hash:
            return "this event doesn't follow from the one before it"
        if seal_of(record, self.key, LINE_SEALS) == "bad":
            return "this event wasn't written with this log's key"
        if self.key is None and "hmac" in record:
            return (
                "the key that this event was written with is gone: whoever took it could have "
                "written all of it"
            )
        if record["event"] == UNSEALED:
            return (
                "the head record was missing or wrong when this event was written; events before "
                "it may be gone"
            )
        if self.head and (
            seq > sealed + self.head.ahead
            or (seq == sealed + 1 and not is_next(record, self.head.link, self.key))
        ):
            return "this event was added without the head record"
        return "" if self.ended or seq > sealed else "the end of this line is missing"

    def _judge_end(self) -> None:
        end = self.lines + 1
        if self.head is None:
            if self.lines or self.key is not None:
                self._wrong(
                    end,
                    "the head record is missing, so events missing from the end can't be known",
                )
        elif self.head.seal == "bad":
            self._wrong(end, "the head record wasn't written with this log's key")
        elif self.last.seq < self.head.link.seq:
            self._wrong(
                end,
                f"the log was cut: {self.head.link.seq - self.last.seq} of its last events are "
                f"missing",
            )
        elif self.at_head != self.head.link.hash:
            self._wrong(
                self.lines or end, "the last event isn't the one that the head record names"
            )


# --- the same refusals, counted: a client in a loop must not fill the log
#
# The first few are written as they come. When the window is over, one more event says how many there
# were, and when the first and the last came. The counts outlive the process in a file of their own.

WINDOW_SECONDS = 600.0
"""How long the same refusals are counted together."""
MAX_SAME_REFUSALS = 3
"""How many of the same refusals are written within a window."""
MAX_COUNTED = 256
"""How many different refusals are counted at a time; the oldest is told when one more comes."""
MAX_REPEATS_BYTES = 1 << 20
_MAX_KEPT_BYTES = 2_048


class CountedRefusal(NamedTuple):
    """One refusal that came more than once: what it says, how often, and when."""

    first: float
    last: float
    times: int
    record: dict[str, object]
    """What the log says of it, secrets taken out."""

    def is_over(self, now: float) -> bool:
        """Tell whether its window is over; a clock that went back ends it too."""
        return not 0 <= now - self.first < WINDOW_SECONDS

    def summary(self, now: float) -> AuditEvent | None:
        """Give the event that tells of those that were not written; nothing where all were."""
        left = self.times - MAX_SAME_REFUSALS
        if left < 1:
            return None
        words = {name: str(self.record.get(name, "")) for name in _WORDS}
        details = self.record.get("details")
        told = {"repeated": left, "first": stamp(self.first), "last": stamp(self.last)}
        return AuditEvent(
            at=now,
            who=words["who"],
            what=words["event"],
            outcome=words["outcome"],
            name=words["name"],
            digest=words["digest"],
            source=words["source"],
            details={**(details if isinstance(details, dict) else {}), **told},
        )


_WORDS = ("event", "outcome", "who", "name", "digest", "source")


def is_refusal(event: AuditEvent) -> bool:
    """Tell whether an event says no to somebody."""
    return event.what == "refuse" or event.outcome == "refused"


def collapse(
    known: dict[str, CountedRefusal], events: Sequence[AuditEvent], now: float
) -> tuple[list[AuditEvent], dict[str, CountedRefusal]]:
    """Give the events to write, and the counts afterwards."""
    counts = dict(known)
    written = [told for key in [*counts] if (told := _end(counts, key, now)) is not None]
    for event in events:
        if not is_refusal(event):
            written.append(event)
            continue
        record = _record(event)
        key = sha256(canonical(record)).hexdigest()
        at = now if event.at is None else event.at
        before = counts.get(key) or CountedRefusal(at, at, 0, _kept(record))
        counts[key] = before._replace(last=at, times=before.times + 1)
        if counts[key].times <= MAX_SAME_REFUSALS:
            written.append(event)
        if len(counts) > MAX_COUNTED:
            oldest = counts.pop(min(counts, key=lambda one: counts[one].last))
            told = oldest.summary(now)
            written += [told] if told is not None else []
    return written, counts


def _end(counts: dict[str, CountedRefusal], key: str, now: float) -> AuditEvent | None:
    if not counts[key].is_over(now):
        return None
    return counts.pop(key).summary(now)


def _record(event: AuditEvent) -> dict[str, object]:
    """Give what the log would say of an event, but for when."""
    line, _fault = read_line(line_for(event._replace(at=0.0), CHAIN_START))
    return {name: value for name, value in (line or {}).items() if name in {*_WORDS, "details"}}


def _kept(record: dict[str, object]) -> dict[str, object]:
    if len(canonical(record)) <= _MAX_KEPT_BYTES:
        return record
    details = record.get("details")
    reason = str(details.get("reason", ""))[:500] if isinstance(details, dict) else ""
    return {**record, "details": {"reason": reason}}


def write_counts(counts: dict[str, CountedRefusal]) -> bytes:
    """Write the counts down."""
    return json.dumps({"format": 1, "refusals": counts}).encode() + b"\n"


def read_counts(data: bytes) -> dict[str, CountedRefusal]:
    """Read the counts; what cannot be read counts as nothing, for the log itself has the first of
    each.
    """
    try:
        rows = json.loads(data)["refusals"]
        found = {
            str(key): CountedRefusal(float(first), float(last), int(count), dict(record))
            for key, (first, last, count, record) in rows.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return {}
    return dict(list(found.items())[:MAX_COUNTED])
