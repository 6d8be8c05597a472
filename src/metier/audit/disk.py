"""The audit log on disk: `audit-YYYY-MM-DD.jsonl` for each day (UTC), `head.json`, `lock`; the key lies beside the folder.

Append only, readable by its owner alone, safe with many processes: one lock is held from looking where the log ends
until the head says so too. Links planted at any of its places are refused, not followed. Writing never raises: whoever
is about to refuse something must not fail at noting it down; `trouble` says what went wrong.

Nothing is ever deleted or moved by itself. The chain runs on from each file to the next, so a file that somebody takes
away is missed by `verify`. To begin anew, move the folder and its key away together.
A clock that went back does not: events go on in the newest file there is.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections import deque
from typing import TYPE_CHECKING

from metier.audit import chain
from metier.audit.chain import Event, Head, Link, Record
from metier.audit.proof import Verified, verify
from metier.keeping import disk as keeping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TAIL_BYTES = 3 * chain.LINE_BYTES
HEAD, LOCK = "head.json", "lock"
_NAME = re.compile(r"audit-\d{4}-\d{2}-\d{2}\.jsonl", re.ASCII)


class Log:
    """One audit log. `trouble` says why something could not be written, if so."""

    def __init__(self, folder: str, *, home: str | None = None, clock: Callable[[], float] = time.time) -> None:
        """Keep the log in `folder`, which the first event creates; `home` is never created on the way."""
        self.folder, self.home, self.clock = folder, home, clock
        self.key_file = folder + ".key"
        self.trouble = ""

    def append(self, *events: Event) -> None:
        """Write events down. Never raises (CO-28), so that it cannot stand in the way of a refusal (CO-10)."""
        try:
            now, who = self.clock(), person()
            made = [event._replace(at=now if event.at is None else event.at, who=event.who or who) for event in events]
            self._ready()
            with keeping.alone(f"{self.folder}/{LOCK}"):
                self._append(made)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller has something more important to say
            self.trouble = f"cannot write the audit log in {self.folder}: {_words(error)}"

    def verify(self) -> Verified:
        """Hold the log against its chain and its head, as it is at this moment."""
        try:
            with keeping.alone(f"{self.folder}/{LOCK}", create=False):
                key, files = self._key(), [(name, os.lstat(f"{self.folder}/{name}").st_size) for name in self._files()]
                raw = _read(f"{self.folder}/{HEAD}")
            places: list[tuple[int, str]] = []
            found = verify(self._lines(files, places), chain.read_head(raw, key) if raw is not None else None, key)
        except (OSError, ValueError) as error:
            return Verified(0, ok=False, first_bad=None, reason=f"cannot read the log: {_words(error)}")
        return found._replace(reason=_placed(found, places))

    def tail(self, limit: int) -> list[Record]:
        """Give the last events, the newest last. A line that is none is a row that says so."""
        rows: deque[Record] = deque()
        place = self.folder
        try:
            for name in reversed(self._files()):
                if len(rows) >= limit:
                    break
                place = f"{self.folder}/{name}"
                last = deque(_lines_of(place, None), limit - len(rows))
                rows.extendleft(_row(raw) for raw in reversed(last))
        except (OSError, ValueError) as error:
            rows.appendleft(_unreadable(f"{place}: {_words(error)}"))
        return list(rows)

    def _append(self, events: list[Event]) -> None:
        key, raw = self._key(), _read(f"{self.folder}/{HEAD}")
        newest = self._newest()
        head = chain.read_head(raw, key) if raw is not None else None
        if not newest and key is None and (head is None or head.link == chain.START):
            key, head = self._begin()
        tail = _tail(f"{self.folder}/{newest}") if newest else b""
        if head is None or head.seal == "bad":
            # Nothing says where the log ended. The event that notes it comes before any new head, so that it cannot be lost.
            at = chain.resume(Head(_last_link(tail), "bad"), tail, key)._replace(torn=None)
            noted = events[0]._replace(what=chain.UNSEALED, outcome="noted", name="", digest="", details={})
            self._put([noted, *events], at, key, newest)
            return
        at = chain.resume(head, tail, key)
        if at.link != head.link:
            self._write_head(at.link, key)
        self._put(events, at, key, newest)

    def _begin(self) -> tuple[bytes | None, Head]:
        """Make the key and the head of a new log. The key comes last: where there is one, there has been a head."""
        key = os.urandom(32).hex().encode()
        self._write_head(chain.START, key)
        try:
            keeping.replace(self.key_file, key + b"\n")
        except OSError:  # a log without a key says so on every line
            self._write_head(chain.START, None)
            return None, Head(chain.START, "missing")
        return key, Head(chain.START, "ok")

    def _put(self, events: list[Event], at: chain.Resumed, key: bytes | None, newest: str) -> None:
        """Write events, each with its head before the next: a process that is stopped leaves at most one line ahead."""
        link = at.link
        if at.torn:
            events = [events[0]._replace(what=chain.TORN, outcome="kept", name="", digest="", details=at.torn), *events]
        elif at.newline:
            _write(f"{self.folder}/{newest}", b"\n")
        for number, event in enumerate(events):
            name = max(newest, f"audit-{chain.stamp(event.at)[:10]}.jsonl")
            raw = chain.line(event, link, key)
            # Half a line of an earlier day stays without its end: the next file begins a line of its own anyway.
            begin = b"\n" if at.torn and number == 0 and name == newest else b""
            _write(f"{self.folder}/{name}", begin + raw)
            record, _fault = chain.read(raw)
            assert record is not None
            link, newest = chain.link_of(record), name
            self._write_head(link, key)

    def _write_head(self, link: Link, key: bytes | None) -> None:
        keeping.replace(f"{self.folder}/{HEAD}", chain.head_text(link, key))

    def _key(self) -> bytes | None:
        raw = _read(self.key_file)
        return None if raw is None else raw.strip()

    def _files(self) -> list[str]:
        if os.path.islink(self.folder):
            raise OSError(40, "its folder is a link")
        try:
            return sorted(name for name in os.listdir(self.folder) if _NAME.fullmatch(name))
        except FileNotFoundError:
            return []

    def _newest(self) -> str:
        """Give the last file that holds anything: one may have been made by a process that then was stopped."""
        return next((name for name in reversed(self._files()) if os.lstat(f"{self.folder}/{name}").st_size), "")

    def _lines(self, files: list[tuple[str, int]], places: list[tuple[int, str]]) -> Iterator[bytes]:
        """Give the lines of all files, and note at which line each begins."""
        count = 0
        for name, size in files:
            places.append((count, name))
            for raw in _lines_of(f"{self.folder}/{name}", size):
                count += 1
                yield raw

    def _ready(self) -> None:
        keeping.make(self.folder, self.home)
        found = os.lstat(self.folder)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(20, "its place is taken by something that is not a folder")
        if stat.S_IMODE(found.st_mode) & 0o077 and sys.platform != "win32":
            os.chmod(self.folder, 0o700)


def person() -> str:
    """Give the name of the account, from the system and not from the environment, where there is a choice."""
    if sys.platform == "win32":
        return os.environ.get("USERNAME", "")
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or f"{type(error).__name__}: {error}"


def _write(path: str, data: bytes) -> None:
    """Add bytes to a file: all of them or, when there is no room, none."""
    file = keeping.opened(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        _add(file, data)
        os.fsync(file)
    finally:
        os.close(file)


def _add(file: int, data: bytes) -> None:
    before, done = os.fstat(file).st_size, 0
    try:
        done = os.write(file, data)
    finally:
        if done != len(data):
            os.ftruncate(file, before)
    if done != len(data):
        raise OSError(28, "no room for the whole line")


def _read(path: str) -> bytes | None:
    """Give a small file, or nothing where there is none."""
    try:
        file = keeping.opened(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def _tail(path: str) -> bytes:
    with os.fdopen(keeping.opened(path, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(size - TAIL_BYTES, 0))
        return file.read(TAIL_BYTES)


def _lines_of(path: str, size: int | None) -> Iterator[bytes]:
    """Give the lines of a file up to a size; what is too long for a line comes in pieces."""
    left = size if size is not None else sys.maxsize
    with os.fdopen(keeping.opened(path, os.O_RDONLY), "rb") as file:
        while left > 0 and (raw := file.readline(min(left, 2 * chain.LINE_BYTES))):
            left -= len(raw)
            yield raw


def _last_link(tail: bytes) -> Link:
    """Give the last place that can be read, for a log whose head is gone."""
    for raw in reversed(chain.split(tail)):
        record, _fault = chain.read(raw)
        if record:
            return chain.link_of(record)
    return chain.START


def _row(raw: bytes) -> Record:
    record, fault = chain.read(raw)
    return record or _unreadable(fault)


def _unreadable(why: str) -> Record:
    words = {"ts": "", "event": "unreadable", "source": "metier", "outcome": "bad", "who": "", "name": "", "digest": ""}
    return {**words, "schema": chain.SCHEMA, "details": {"reason": why}}


def _placed(found: Verified, places: list[tuple[int, str]]) -> str:
    """Give the reason with the file and line it is about."""
    if found.first_bad is None or not places:
        return found.reason
    before, name = next(place for place in reversed(places) if place[0] < found.first_bad or place[0] == 0)
    return f"{name}:{found.first_bad - before}: {found.reason}"
