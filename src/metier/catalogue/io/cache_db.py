"""What was computed once, in SQLite: digests under the stats their files had, verdicts under digest
and ruleset.

Everything in it can be computed again, so nothing about it ever ends an operation: a file that is
spoilt is begun anew, one that is busy, read-only or on a full disk is done without.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from typing import TYPE_CHECKING

from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SCHEMA = (
    (
        "CREATE TABLE IF NOT EXISTS digests (path BLOB PRIMARY KEY, stamp BLOB NOT NULL, digest TEXT "
        "NOT NULL)"
    ),
    (
        "CREATE TABLE IF NOT EXISTS verdicts (digest TEXT, ruleset TEXT, data BLOB NOT NULL, PRIMARY "
        "KEY (digest, ruleset))"
    ),
)
FILE = "state.db"
BUSY_SECONDS = 10.0
BATCH = 256
"""So many rows wait before they are written together: each writing waits for the disk."""

MANY = 64
"""So many connections are kept before those of threads that are no more are looked for."""

_PUT_DIGEST = "INSERT OR REPLACE INTO digests VALUES (?, ?, ?)"
_PUT_VERDICT = "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)"


class _Kept:
    """Connections between two uses, one to a thread and file: to open one costs as much as ten
    questions.

    Only for folders of which somebody said so: a process that goes on does, and lets go of them at
    its end.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._users: dict[str, int] = {}
        """How many want connections to a file kept."""
        self._found: dict[tuple[str, int], tuple[tuple[int, int, int], sqlite3.Connection]] = {}
        """Each step on it is one: other threads may come in between any two."""

    def take(self, path: str) -> sqlite3.Connection | None:
        """Give a connection that was put back, if its file is still the one; a child process never
        touches its parent's.
        """
        key = path, threading.get_ident()
        found = self._found.get(key)
        if found is None or found[0][0] != os.getpid() or self._found.pop(key, None) is not found:
            return None
        mark, connection = found
        if mark != _mark(path):
            connection.close()
            return None
        return connection

    def put(self, path: str, connection: sqlite3.Connection) -> bool:
        """Keep a connection for the next use; false where none are kept."""
        key = path, threading.get_ident()
        mark = _mark(path) if self._users.get(path) and key not in self._found else None
        if mark is None:
            return False
        if len(self._found) >= MANY:
            alive = {thread.ident for thread in threading.enumerate()}
            self._close(key for key in list(self._found) if key[1] not in alive)
        self._found[key] = mark, connection
        return True

    def begin(self, path: str) -> None:
        """Keep connections to a file from now on."""
        self._users[path] = self._users.get(path, 0) + 1

    def end(self, path: str) -> None:
        """Let go of all connections to a file when nobody wants them kept any more; whoever uses
        one just now closes it.
        """
        self._users[path] = max(0, self._users.get(path, 0) - 1)
        if not self._users[path]:
            self._close(key for key in list(self._found) if key[0] == path)

    def _close(self, keys: Iterable[tuple[str, int]]) -> None:
        for key in keys:
            found = self._found.pop(key, None)
            if (
                found is not None and found[0][0] == os.getpid()
            ):  # in a child they are still its parent's
                found[1].close()


_KEPT = _Kept()


def keep_open(folder: str) -> Callable[[], None]:
    """Let connections to the tables of a folder stay open between two uses; give what ends that."""
    path = f"{folder}/{FILE}"
    _KEPT.begin(path)
    return lambda: _KEPT.end(path)


def _mark(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return os.getpid(), status.st_dev, status.st_ino


class DigestBook:
    """The digest of each skill's tree, under the stats that its files had: nothing is hashed twice.
    Many processes share it.
    """

    def __init__(self, folder: str | None) -> None:
        """Keep the tables in `folder`; without one, remember nothing."""
        self.folder = folder
        self.path = f"{folder}/{FILE}"
        self.waiting: list[tuple[str, tuple[bytes | str, ...]]] = []
        self.connection = (_KEPT.take(self.path) or self._opened(folder)) if folder else None

    def _opened(self, folder: str) -> sqlite3.Connection | None:
        for attempt in range(2):
            try:
                safe_files.make_folder(folder, None)
                os.close(safe_files.open_file(self.path, os.O_RDWR | os.O_CREAT))
                connection = sqlite3.connect(
                    self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
                )
                connection.execute("PRAGMA journal_mode=WAL")
                for statement in _SCHEMA:
                    connection.execute(statement)
            except sqlite3.DatabaseError:
                if attempt == 0 and _is_corrupt(self.path) and _removed(self.path):
                    continue
                return None
            except OSError:
                return None
            else:
                return connection
        return None

    def get(self, path: bytes, stamp: bytes) -> str | None:
        """Give the digest computed under these very stats, or nothing."""
        found = self._one("SELECT digest FROM digests WHERE path = ? AND stamp = ?", path, stamp)
        return found if isinstance(found, str) else None

    def put(self, path: bytes, stamp: bytes, digest: str) -> None:
        """Remember a digest."""
        self._later(_PUT_DIGEST, path, stamp, digest)

    def _one(self, statement: str, *values: bytes | str) -> bytes | str | None:
        if self.connection is None:
            return None
        try:
            row = self.connection.execute(statement, values).fetchone()
        except sqlite3.OperationalError:  # busy, or not to be read just now
            return None
        except sqlite3.DatabaseError:  # spoilt: all of it can be computed again
            self._begin_anew()
            return None
        return row[0] if row else None

    def _begin_anew(self) -> None:
        self.waiting.clear()
        self._let_go()
        if not _removed(self.path):
            return
        self.connection = self._opened(self.folder) if self.folder else None

    def _later(self, statement: str, *values: bytes | str) -> None:
        if self.connection is not None:
            self.waiting.append((statement, values))
            if len(self.waiting) >= BATCH:
                self.flush()

    def flush(self) -> None:
        """Write what waits, all of it or nothing."""
        waiting = self.waiting
        self.waiting = []
        if self.connection is None or not waiting:
            return
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            for statement, values in waiting:
                self.connection.execute(statement, values)
            self.connection.execute("COMMIT")
        except sqlite3.Error:  # a full, busy or read-only disk: go on without
            self._let_go()

    def close(self) -> None:
        """Write what waits, and let go of the file; where connections stay open, the next book of
        this thread takes this one.
        """
        self.flush()
        if self.connection is not None and _KEPT.put(self.path, self.connection):
            self.connection = None
        self._let_go()

    def _let_go(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class VerdictBook(DigestBook):
    """Digests, and the verdict on each tree that was scanned: what has been judged once is not
    judged again.
    """

    def verdict(self, digest: str, ruleset: str) -> bytes | None:
        """Give what was kept about a tree under a ruleset, or nothing."""
        found = self._one(
            "SELECT data FROM verdicts WHERE digest = ? AND ruleset = ?", digest, ruleset
        )
        return found if isinstance(found, bytes) else None

    def keep(self, digest: str, ruleset: str, data: bytes) -> None:
        """Remember a verdict."""
        self._later(_PUT_VERDICT, digest, ruleset, data)


def _is_corrupt(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(16) not in {b"", b"SQLite format 3\0"}
    except OSError:
        return False


def _removed(path: str) -> bool:
    """Take a spoilt file away; where that may not be done, it stays and is done without."""
    try:
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.unlink(path + suffix)
    except OSError:
        return False
    return True
