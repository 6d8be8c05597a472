"""The lines of the audit log: each holds the hash of the one before, and a head record says where the log ends.

One event is one line of canonical JSON (sorted, no spaces, ASCII), so that one event has exactly one spelling. `hash`
is the SHA-256 of everything else on the line, `prev` the hash of the line before, `seq` counts from 1. `hmac` is keyed
with a local key; without one the line says `"hmac_status":"missing"` instead. The head record repeats the last `seq`
and `hash`, keyed as well: a log that ends before its head was cut.

What this shows: a changed byte, a line taken away at the beginning, in the middle or at the end, one put in, lines in
another order, a missing or foreign head. What it cannot show: whoever has the account has the key too, and can write
the whole log, its head and its key anew, or take all of them away. Against that only a copy elsewhere helps: note the
head's hash outside, and a later log that does not contain it is not the same log.

A process may be stopped at any moment. A line is written first and its head after it, so one whole line beyond the
head is no fault as long as it is keyed. Half a line at the end stays where it is; the next event is preceded by a
`log.torn` event with the length and hash of those bytes, which is what makes them no fault. Where the log was cut, new
events follow from the head, not from the last line left, so the gap stays to be seen; where the head itself is missing
or wrong, a `log.unsealed` event says so, and the log is not good from there on.
"""

from __future__ import annotations

import hmac
import json
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from metier.audit.redact import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCHEMA = 1
LINE_BYTES = 65_536
"""No line is longer; what is longer is not a line of ours."""
DETAIL_BYTES = 32_768
WORD_CHARS = 256
TORN = "log.torn"
UNSEALED = "log.unsealed"

LINE_SEALS, HEAD_SEALS = frozenset({"hmac", "hash"}), frozenset({"hmac"})
"""What the key does not cover: itself, and the hash that covers it."""

Record = dict[str, Any]
Seal = Literal["ok", "missing", "bad"]
_TEXTS = ("ts", "event", "source", "outcome", "who", "name", "digest", "prev", "hash")


class Event(NamedTuple):
    """What happened: `what` was done (load, refuse, approve, block, install, run) and how it came out."""

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


class Link(NamedTuple):
    """The place in the chain that the next line follows from."""

    seq: int
    hash: str


START = Link(0, "0" * 64)


class Head(NamedTuple):
    """Where the log ends, and whether the key agrees."""

    link: Link
    seal: Seal


class Resumed(NamedTuple):
    """Where the next line goes on from, and what has to be said first."""

    link: Link
    newline: bool = False
    """The last line has no end."""
    torn: dict[str, object] | None = None
    """What there is to say about half a line, if one was left."""


def canonical(value: object) -> bytes:
    """Give the one spelling of a value."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, sort_keys=True, separators=(",", ":")).encode("ascii")


def line(event: Event, previous: Link, key: bytes | None = None) -> bytes:
    """Give the line for an event that follows from `previous`, with secrets taken out."""
    words = {"event": event.what, "source": event.source, "outcome": event.outcome}
    words |= {"who": event.who, "name": event.name, "digest": event.digest}
    record: Record = {name: _cut(str(redacted(str(word))), WORD_CHARS) for name, word in words.items()}
    record |= {"schema": SCHEMA, "ts": stamp(event.at)}
    record |= {"details": _details(event.details), "seq": previous.seq + 1, "prev": previous.hash}
    _seal(record, key)
    record["hash"] = sha256(canonical(record)).hexdigest()
    return canonical(record) + b"\n"


def stamp(at: float | None) -> str:
    """Give a time in UTC, to the microsecond; the beginning of time for what is none."""
    try:
        moment = datetime.fromtimestamp(at or 0.0, UTC)
    except (ValueError, OverflowError, OSError, TypeError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def read(raw: bytes) -> tuple[Record | None, str]:
    """Give the record of a line, or why it is none: only the very bytes that `line` would write count."""
    body = raw.removesuffix(b"\n")
    if len(body) > LINE_BYTES:
        return None, "the line is longer than any that is written"
    try:
        record = json.loads(body.decode("ascii"))
        spelt = canonical(record) == body
    except (ValueError, RecursionError):
        return None, "the line is not whole"
    if not isinstance(record, dict) or not _shaped(record):
        return None, "the line is not a record"
    rest = {name: value for name, value in record.items() if name != "hash"}
    if not spelt or sha256(canonical(rest)).hexdigest() != record["hash"]:
        return None, "the line was changed after it was written"
    return record, ""


def head_text(link: Link, key: bytes | None) -> bytes:
    """Give the head record for a log that ends at `link`. `seq` counts from 1, so it is also the number of events."""
    record: Record = {"schema": SCHEMA, "seq": link.seq, "hash": link.hash}
    _seal(record, key)
    return canonical(record) + b"\n"


def read_head(raw: bytes, key: bytes | None) -> Head | None:
    """Give the head record, or nothing where it is none."""
    try:
        record = json.loads(raw.decode("ascii"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or type(record.get("seq")) is not int or not isinstance(record.get("hash"), str):
        return None
    if record["seq"] < 0:
        return None
    return Head(link_of(record), seal_of(record, key, HEAD_SEALS))


def split(data: bytes) -> list[bytes]:
    """Give the lines with their ends; only the last may have none."""
    *whole, rest = data.split(b"\n")
    return [one + b"\n" for one in whole] + ([rest] if rest else [])


class Junk:
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


def resume(head: Head, tail: bytes, key: bytes | None) -> Resumed:
    """Say where to go on, from the head and the last bytes of the log (from the beginning of a line or in one)."""
    lines = split(tail)
    junk: list[bytes] = []
    record: Record | None = None
    for raw in reversed(lines):
        record, _fault = read(raw)
        if record:
            break
        junk.insert(0, raw)
    unended = bool(lines) and not lines[-1].endswith(b"\n")
    link = link_of(record) if record and is_next(record, head, key) else head.link
    # Half a line that has been given an end is not what a stopped process leaves: nothing accounts for it.
    account = Junk(junk).account() if junk and unended else None
    return Resumed(link, unended, account)


def is_next(record: Record, head: Head, key: bytes | None) -> bool:
    """Tell whether a record is the one that a process wrote just before it was stopped, and did not come to put in the head."""
    follows = (record["seq"], record["prev"]) == (head.link.seq + 1, head.link.hash)
    return follows and seal_of(record, key, LINE_SEALS) != "bad"


def link_of(record: Record) -> Link:
    """Give the place of a record in the chain."""
    return Link(record["seq"], record["hash"])


def _shaped(record: Record) -> bool:
    """Tell whether all that every line has is there."""
    texts = all(isinstance(record.get(name), str) for name in _TEXTS)
    numbers = type(record.get("seq")) is int and record.get("schema") == SCHEMA
    return texts and numbers and isinstance(record.get("details"), dict)


def _seal(record: Record, key: bytes | None) -> None:
    if key is None:
        record["hmac_status"] = "missing"
    else:
        record["hmac"] = hmac.new(key, canonical(record), sha256).hexdigest()


def seal_of(record: Record, key: bytes | None, outside: frozenset[str]) -> Seal:
    """Tell whether a record was made with this key, which covers all of its fields but those `outside`."""
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
    clean = redacted(dict(details))
    assert isinstance(clean, dict)
    for longest in (4_000, 400, 40):
        cut = _cut(clean, longest)
        assert isinstance(cut, dict)
        if len(canonical(cut)) <= DETAIL_BYTES:
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
