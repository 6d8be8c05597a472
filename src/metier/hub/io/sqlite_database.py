"""The hub's database in one file, for one machine: SQLite with a write-ahead log."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, cast

from metier.errors import StoreError
from metier.hub.io.database import DuplicateError, UnkeptValueError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from metier.hub.io.database import Dialect
    from metier.hub.model import Row

BUSY_SECONDS = 30
"""How long a writer waits for another one."""


class SqliteDatabase:
    """One file. Every thread has a connection of its own; writers take turns."""

    dialect: Dialect = "sqlite"

    def __init__(self, path: str) -> None:
        """Open the file, or make it; nobody else on this machine can read it."""
        self.path = path
        self._mine = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        folder = os.path.dirname(path)
        try:
            if folder:
                os.makedirs(folder, 0o700, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise StoreError(
                f"the hub's database {path} cannot be opened: {error.strerror}",
                code="hub-database",
                hint="check --database, and who owns the folder",
            ) from error
        self._connection()

    def _connection(self) -> sqlite3.Connection:
        found = cast("sqlite3.Connection | None", getattr(self._mine, "connection", None))
        if found is None:
            with _translated(self.path):
                found = sqlite3.connect(
                    self.path,
                    timeout=BUSY_SECONDS,
                    isolation_level=None,
                    check_same_thread=False,  # closed by whoever closes the database
                )
                found.row_factory = sqlite3.Row
                found.execute("PRAGMA journal_mode = WAL")
                # What was acknowledged survives a power cut, not only a crash of this process.
                found.execute("PRAGMA synchronous = FULL")
                found.execute("PRAGMA foreign_keys = ON")
            self._mine.connection = found
            with self._guard:
                self._all.append(found)
        return found

    @contextmanager
    def read(self) -> Iterator[SqliteConnection]:
        """Open a transaction that changes nothing."""
        with self._transaction("BEGIN DEFERRED") as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[SqliteConnection]:
        """Open a transaction that others wait for."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[SqliteConnection]:
        connection = self._connection()
        with _translated(self.path):
            connection.execute(begin)
            try:
                yield SqliteConnection(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close what every thread has open."""
        with self._guard:
            while self._all:
                self._all.pop().close()
        self._mine = threading.local()


class SqliteConnection:
    """One transaction."""

    dialect: Dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Use a connection whose transaction has begun."""
        self._connection = connection

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement, and give how many rows it changed."""
        return self._execute(sql, values).rowcount

    def row(self, sql: str, *values: Any) -> Row | None:
        """Give the first row of an answer; nothing where it has none."""
        found = self._execute(sql, values).fetchone()
        return cast("Row | None", found)

    def rows(self, sql: str, *values: Any) -> Sequence[Row]:
        """Give all rows of an answer."""
        return cast("Sequence[Row]", self._execute(sql, values).fetchall())

    def lock(self, name: str) -> None:
        """Do nothing: there is one writer at a time anyway."""

    def take_time(self) -> None:
        """Do nothing: statements take as long as they need."""

    def _execute(self, sql: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        if any(isinstance(value, str) and "\0" in value for value in values):
            raise UnkeptValueError
        try:
            return self._connection.execute(sql, values)
        except (UnicodeEncodeError, OverflowError) as error:
            raise UnkeptValueError from error
        except sqlite3.IntegrityError as error:
            if "UNIQUE" in str(error) or "PRIMARY KEY" in str(error):
                raise DuplicateError(str(error)) from error
            raise


@contextmanager
def _translated(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(
            f"the hub's database {path} failed: {error}",
            code="hub-database",
            hint="check the disk, and that nobody else holds the file",
        ).with_details(why=str(error)) from error
