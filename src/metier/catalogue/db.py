"""Digests already computed, in SQLite, each under the stats its files had: nothing is hashed twice."""

from __future__ import annotations

import os
import sqlite3

_SCHEMA = "CREATE TABLE IF NOT EXISTS digests (path BLOB PRIMARY KEY, stamp BLOB NOT NULL, digest TEXT NOT NULL)"
BUSY_SECONDS = 10.0


class DigestBook:
    """A small table that many processes share. When it cannot be opened, every digest is simply computed."""

    def __init__(self, folder: str | None) -> None:
        """Keep the table in `folder`; without one, remember nothing."""
        self.folder, self.path = folder, f"{folder}/state.db"
        self.connection = self._opened(folder) if folder else None

    def _opened(self, folder: str) -> sqlite3.Connection | None:
        path = f"{folder}/state.db"
        for attempt in range(2):
            try:
                os.makedirs(folder, mode=0o700, exist_ok=True)
                connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(_SCHEMA)
            except sqlite3.DatabaseError:
                if attempt == 0 and _is_corrupt(path):
                    _remove(path)
                    continue
                return None
            except OSError:
                return None
            else:
                return connection
        return None

    def get(self, path: bytes, stamp: bytes) -> str | None:
        """Give the digest computed under these very stats, or nothing."""
        if self.connection is None:
            return None
        try:
            row = self.connection.execute("SELECT digest FROM digests WHERE path = ? AND stamp = ?", (path, stamp)).fetchone()
        except sqlite3.OperationalError:  # busy, or not to be read just now
            return None
        except sqlite3.DatabaseError:  # spoilt: all of it can be computed again
            self.close()
            _remove(self.path)
            self.connection = self._opened(self.folder) if self.folder else None
            return None
        return row[0] if row else None

    def put(self, path: bytes, stamp: bytes, digest: str) -> None:
        """Remember a digest."""
        if self.connection is None:
            return
        try:
            self.connection.execute("INSERT OR REPLACE INTO digests VALUES (?, ?, ?)", (path, stamp, digest))
        except sqlite3.Error:
            self.connection = None  # a full or read-only disk: go on without

    def close(self) -> None:
        """Let go of the file."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def _is_corrupt(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(16) not in {b"", b"SQLite format 3\0"}
    except OSError:
        return False


def _remove(path: str) -> None:
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
