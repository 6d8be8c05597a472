"""The audit log on disk: `audit-YYYY-MM-DD.jsonl` for each day (UTC), `head.json`, `lock`, and
`repeats.json` with the same refusals that are only counted; the key lies beside the folder.

Append only, readable by its owner alone, safe with many processes: one lock is held from looking
where the log ends until the head says so too. Links planted at any of its places are refused, not
followed. Writing never raises: whoever is about to refuse something must not fail at noting it
down; `trouble` says what went wrong.

Nothing is ever deleted or moved by itself. The chain runs on from each file to the next, so a file
that somebody takes away is missed by `verify`. To begin anew, move the folder and its key away
together. A clock that went back does not: events go on in the newest file there is.
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
from metier.audit.chain import (
    AuditEvent,
    AuditRecord,
    ChainLink,
    LogHead,
    VerifiedLog,
    verify_lines,
)
from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TAIL_BYTES = 3 * chain.MAX_LINE_BYTES
HEAD_FILE = "head.json"
LOCK_FILE = "lock"
REPEATS_FILE = "repeats.json"
_NAME = re.compile(r"audit-\d{4}-\d{2}-\d{2}\.jsonl", re.ASCII)


class AuditLog:
    """One audit log. `trouble` says why something could not be written, if so."""

    def __init__(
        self, folder: str, *, home: str | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """Keep the log in `folder`, which the first event creates; `home` is never created on the
        way.
        """
        self.folder = folder
        self.home = home
        self.clock = clock
        self.key_file = folder + ".key"
        self.trouble = ""

    def append(self, *events: AuditEvent) -> None:
        """Write events down. Never raises (CO-28), so that it cannot stand in the way of a refusal
        (CO-10).
        """
        try:
            now = self.clock()
            who = account_name()
            made = [
                event._replace(at=now if event.at is None else event.at, who=event.who or who)
                for event in events
            ]
            self._make_ready()
            with safe_files.hold_lock(f"{self.folder}/{LOCK_FILE}"):
                made, counts = self._collapsed(made, now)
                if made:
                    self._append(made)
                if counts is not None:
                    safe_files.replace_file(f"{self.folder}/{REPEATS_FILE}", counts)
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller has something more important to say
            self.trouble = f"cannot write the audit log in {self.folder}: {_words(error)}"

    def verify(self) -> VerifiedLog:
        """Hold the log against its chain and its head, as it is at this moment."""
        try:
            with safe_files.hold_lock(f"{self.folder}/{LOCK_FILE}", create=False):
                key = self._key()
                files = [
                    (name, os.lstat(f"{self.folder}/{name}").st_size) for name in self._files()
                ]
                raw = _read(f"{self.folder}/{HEAD_FILE}")
            places: list[tuple[int, str]] = []
            found = verify_lines(
                self._lines(files, places),
                chain.read_head(raw, key) if raw is not None else None,
                key,
            )
        except (OSError, ValueError) as error:
            return VerifiedLog(
                0, ok=False, first_bad=None, reason=f"cannot read the log: {_words(error)}"
            )
        return found._replace(reason=_reason_with_place(found, places))

    def replay(self, *kinds: str) -> tuple[VerifiedLog, list[AuditRecord]]:
        """Hold the log against its chain, and give its events of some kinds, oldest first: those
        lines that are whole, wherever they are.
        """
        marks = [f'"event":"{kind}"'.encode() for kind in kinds]
        found = self.verify()
        if found.ok and not found.events:
            return found, []
        kept: list[AuditRecord] = []
        try:
            for name in self._files():
                for raw in _lines_of(f"{self.folder}/{name}", None):
                    if any(mark in raw for mark in marks):
                        record, _fault = chain.read_line(raw)
                        if record and record["event"] in kinds:
                            kept.append(record)
        except (OSError, ValueError) as error:
            return found._replace(ok=False, reason=f"cannot read the log: {_words(error)}"), kept
        return found, kept

    def tail(self, limit: int) -> list[AuditRecord]:
        """Give the last events, the newest last. A line that is none is a row that says so."""
        rows: deque[AuditRecord] = deque()
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

    def _collapsed(
        self, events: list[AuditEvent], now: float
    ) -> tuple[list[AuditEvent], bytes | None]:
        """Give what is to be written of events, and the counts of the same refusals where those
        have changed.
        """
        raw = _read(f"{self.folder}/{REPEATS_FILE}", chain.MAX_REPEATS_BYTES)
        if raw is None and not any(map(chain.is_refusal, events)):
            return events, None
        known = chain.read_counts(raw or b"")
        made, counts = chain.collapse(known, events, now)
        return made, chain.write_counts(counts) if counts != known else None

    def _append(self, events: list[AuditEvent]) -> None:
        key = self._key()
        raw = _read(f"{self.folder}/{HEAD_FILE}")
        newest = self._newest()
        head = chain.read_head(raw, key) if raw is not None else None
        if not newest and key is None and (head is None or head.link == chain.CHAIN_START):
            key, head = self._begin()
        tail = _tail(f"{self.folder}/{newest}") if newest else b""
        if head is None or head.seal == "bad":
            # Nothing says where the log ended. The event that notes it comes before any new head,
            # so that it cannot be lost.
            at = chain.resume(LogHead(_last_link(tail), "bad"), tail, key)._replace(torn=None)
            noted = events[0]._replace(
                what=chain.UNSEALED, outcome="noted", name="", digest="", details={}
            )
            link = self._put([noted], at, key, newest)
            at, newest = chain.ResumePoint(link), self._newest()
        else:
            at = chain.resume(head, tail, key)
            if at.link != head.link:
                self._write_head(at.link, key)
        self._put(events, at, key, newest)

    def _begin(self) -> tuple[bytes | None, LogHead]:
        """Make the key and the head of a new log. The key comes last: where there is one, there has
        been a head.
        """
        key = os.urandom(32).hex().encode()
        self._write_head(chain.CHAIN_START, key)
        try:
            safe_files.replace_file(self.key_file, key + b"\n")
        except OSError:  # a log without a key says so on every line
            self._write_head(chain.CHAIN_START, None)
            return None, LogHead(chain.CHAIN_START, "missing")
        return key, LogHead(chain.CHAIN_START, "ok")

    def _put(
        self, events: list[AuditEvent], at: chain.ResumePoint, key: bytes | None, newest: str
    ) -> ChainLink:
        """Write events, each batch with its head before the next: a process that is stopped leaves
        no more lines ahead than the head announced. Gives where the log ends now.
        """
        begin = b""
        if at.torn:
            noted = events[0]._replace(
                what=chain.TORN, outcome="kept", name="", digest="", details=at.torn
            )
            events, begin = [noted, *events], b"\n"
        elif at.newline:
            _write(f"{self.folder}/{newest}", b"\n")
        batches = chain.batches_for(events, at.link, key, newest)
        if batches[0].events > 1:
            self._write_head(at.link, key, batches[0].events)
        counts = [*(batch.events for batch in batches[1:]), 1]
        for batch, ahead in zip(batches, counts, strict=True):
            # Half a line of an earlier day stays without its end: the next file begins a line of
            # its own anyway.
            data = begin + batch.data if batch.name == newest else batch.data
            _write(f"{self.folder}/{batch.name}", data)
            begin = b""
            self._write_head(batch.link, key, ahead)
        return batches[-1].link

    def _write_head(self, link: ChainLink, key: bytes | None, ahead: int = 1) -> None:
        safe_files.replace_file(f"{self.folder}/{HEAD_FILE}", chain.head_text(link, key, ahead))

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
        """Give the last file that holds anything: one may have been made by a process that then was
        stopped.
        """
        return next(
            (name for name in reversed(self._files()) if os.lstat(f"{self.folder}/{name}").st_size),
            "",
        )

    def _lines(
        self, files: list[tuple[str, int]], places: list[tuple[int, str]]
    ) -> Iterator[bytes]:
        """Give the lines of all files, and note at which line each begins."""
        count = 0
        for name, size in files:
            places.append((count, name))
            for raw in _lines_of(f"{self.folder}/{name}", size):
                count += 1
                yield raw

    def _make_ready(self) -> None:
        safe_files.make_folder(self.folder, self.home)
        found = os.lstat(self.folder)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(20, "something that isn't a folder is in its place")
        if stat.S_IMODE(found.st_mode) & 0o077 and sys.platform != "win32":
            os.chmod(self.folder, 0o700)


def account_name() -> str:
    """Give the name of the account, from the system and not from the environment, where there is a
    choice.
    """
    if sys.platform == "win32":
        return os.environ.get("USERNAME", "")
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _words(error: Exception) -> str:
    return (
        error.strerror if isinstance(error, OSError) else None
    ) or f"{type(error).__name__}: {error}"


def _write(path: str, data: bytes) -> None:
    """Add bytes to a file: all of them or, when there is no room, none."""
    file = safe_files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        _write_all(file, data)
        os.fsync(file)
    finally:
        os.close(file)


def _write_all(file: int, data: bytes) -> None:
    before = os.fstat(file).st_size
    done = 0
    try:
        done = os.write(file, data)
    finally:
        if done != len(data):
            os.ftruncate(file, before)
    if done != len(data):
        raise OSError(28, "no room for the whole line")


def _read(path: str, most: int = 4096) -> bytes | None:
    """Give a small file, or nothing where there is none."""
    try:
        with os.fdopen(safe_files.open_file(path, os.O_RDONLY), "rb") as file:
            return file.read(most)
    except FileNotFoundError:
        return None


def _tail(path: str) -> bytes:
    with os.fdopen(safe_files.open_file(path, os.O_RDONLY), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(size - TAIL_BYTES, 0))
        return file.read(TAIL_BYTES)


def _lines_of(path: str, size: int | None) -> Iterator[bytes]:
    """Give the lines of a file up to a size; what is too long for a line comes in pieces."""
    left = size if size is not None else sys.maxsize
    with os.fdopen(safe_files.open_file(path, os.O_RDONLY), "rb") as file:
        while left > 0 and (raw := file.readline(min(left, 2 * chain.MAX_LINE_BYTES))):
            left -= len(raw)
            yield raw


def _last_link(tail: bytes) -> ChainLink:
    """Give the last place that can be read, for a log whose head is gone."""
    for raw in reversed(chain.split_lines(tail)):
        record, _fault = chain.read_line(raw)
        if record:
            return chain.link_of(record)
    return chain.CHAIN_START


def _row(raw: bytes) -> AuditRecord:
    record, fault = chain.read_line(raw)
    return record or _unreadable(fault)


def _unreadable(why: str) -> AuditRecord:
    words = {
        "ts": "",
        "event": "unreadable",
        "source": "metier",
        "outcome": "bad",
        "who": "",
        "name": "",
        "digest": "",
    }
    return {**words, "schema": chain.SCHEMA, "details": {"reason": why}}


def _reason_with_place(found: VerifiedLog, places: list[tuple[int, str]]) -> str:
    """Give the reason with the file and line it is about."""
    if found.first_bad is None or not places:
        return found.reason
    before, name = next(
        place for place in reversed(places) if place[0] < found.first_bad or place[0] == 0
    )
    return f"{name}:{found.first_bad - before}: {found.reason}"
