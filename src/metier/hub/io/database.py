"""Opens the hub's database: SQLite for one machine, PostgreSQL for a team. Both are asked with the
same plain SQL, in which `?` stands for a value.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, Protocol

from metier.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Literal

    from metier.hub.model import Row

    Dialect = Literal["sqlite", "postgres"]
else:
    Dialect = str

UNREACHABLE_HINT = "check --database, and that the server is running"
_IDENTITY = {
    "sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "postgres": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
}
_ONLY = re.compile(r"^-- (sqlite|postgres|both)$")
_NUMBER = re.compile(r"(\d{4})_[a-z_]+\.sql\Z")


class DuplicateError(Exception):
    """A row of this key is there already."""


class UnkeptValueError(UsageError):
    """Somebody sent a text or a number that no database keeps."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__(
            "the request holds characters or numbers that the hub cannot keep",
            hint="leave out control characters, and numbers beyond 18 digits",
        )


class Transaction(Protocol):
    """One transaction of a database."""

    dialect: Dialect

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement, and give how many rows it changed."""

    def row(self, sql: str, *values: Any) -> Row | None:
        """Give the first row of an answer; nothing where it has none."""

    def rows(self, sql: str, *values: Any) -> Sequence[Row]:
        """Give all rows of an answer."""

    def lock(self, name: str) -> None:
        """Let nobody else past this line until the transaction ends."""

    def take_time(self) -> None:
        """Let the statements of this transaction run for as long as they need."""


class Database(Protocol):
    """A database that many threads share."""

    dialect: Dialect

    def read(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that changes nothing."""

    def write(self) -> AbstractContextManager[Transaction]:
        """Open a transaction; leaving it normally makes it durable, an exception undoes it."""

    def close(self) -> None:
        """Let go of it."""


class Migration(NamedTuple):
    """One numbered change of the schema."""

    number: int
    name: str
    text: str

    def statements(self, dialect: Dialect) -> list[str]:
        """Give what is to be run in one kind of database."""
        kept: list[str] = []
        here = True
        for line in self.text.splitlines():
            found = _ONLY.match(line)
            if found:
                here = found[1] in {"both", dialect}
            elif here and not line.startswith("--"):
                kept.append(line.replace("{{id}}", _IDENTITY[dialect]))
        parts = (part.strip() for part in "\n".join(kept).split(";\n"))
        return [part.removesuffix(";") for part in parts if part]


def all_migrations() -> list[Migration]:
    """Give every migration, in order."""
    folder = files("metier.hub") / "io" / "migrations"
    found = []
    for one in folder.iterdir():
        match = _NUMBER.match(one.name)
        if match:
            name = one.name.removesuffix(".sql")
            found.append(Migration(int(match[1]), name, one.read_text(encoding="utf-8")))
    return sorted(found)


def open_database(url: str, most: int = 8) -> Database:
    """Open the database that a URL names: `postgresql://…`, `sqlite:PATH` or a plain path. `most`
    bounds the connections that this process makes.
    """
    if url.startswith(("postgresql://", "postgres://")):
        from metier.hub.io.postgres_database import PostgresDatabase

        return PostgresDatabase(url, most)
    if "://" in url and not url.startswith("sqlite://"):
        raise UsageError(
            f"the hub cannot use a database of the kind '{url.partition(':')[0]}'",
            hint="write postgresql://user@host/name, or the path of a file for SQLite",
        )
    from metier.hub.io.sqlite_database import SqliteDatabase

    return SqliteDatabase(url.removeprefix("sqlite://").removeprefix("sqlite:"))


def format_of(connection: Transaction) -> int:
    """Give the number of the last migration that a database has had; 0 for an empty one."""
    if connection.dialect == "postgres":
        sql = "SELECT to_regclass('hub_facts') IS NOT NULL AS here"
    else:
        sql = "SELECT count(*) AS here FROM sqlite_master WHERE name = 'hub_facts'"
    known = connection.row(sql)
    if known is None or not known["here"]:
        return 0
    row = connection.row("SELECT value FROM hub_facts WHERE name = 'format'")
    return int(row["value"]) if row else 0


def migrate(database: Database, *, rehearse: bool = False) -> list[str]:
    """Bring a database up to date, under a lock, and give the names of what was run; with
    `rehearse` everything is run and undone again.
    """

    class _RehearsedError(Exception):
        """Undoes what was tried."""

    done: list[str] = []
    try:
        with database.write() as connection:
            connection.take_time()
            connection.lock("migrate")
            done += _run_migrations(connection)
            if rehearse:
                raise _RehearsedError  # noqa: TRY301 - it is what undoes the transaction
    except _RehearsedError:
        pass
    return done


def _run_migrations(connection: Transaction) -> list[str]:
    known = all_migrations()
    now = format_of(connection)
    row = (
        connection.row("SELECT value FROM hub_facts WHERE name = 'oldest_reader'") if now else None
    )
    oldest = int(row["value"]) if row else 0
    if oldest > known[-1].number:
        raise StoreError(
            f"the database has format {now}, which only a newer metier can read",
            code="hub-format",
            hint="update metier on this machine",
        )
    ready = [one for one in known if one.number > now]
    for one in ready:
        for statement in one.statements(connection.dialect):
            connection.run(statement)
    if ready:
        connection.run(
            "INSERT INTO hub_facts (name, value) VALUES ('format', ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            str(ready[-1].number),
        )
    return [one.name for one in ready]
