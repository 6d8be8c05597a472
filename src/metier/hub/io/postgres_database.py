"""The hub's database for a team: PostgreSQL, through a small pool of connections."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from metier.errors import StoreError
from metier.hub.io.database import UNREACHABLE_HINT, DuplicateError, UnkeptValueError

try:
    import psycopg
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool, PoolTimeout
except ImportError as error:
    raise StoreError(
        "PostgreSQL needs a package that is not installed",
        code="hub-missing",
        hint="pip install 'metier[hub]'",
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from metier.hub.io.database import Dialect
    from metier.hub.model import Row

WAIT_SECONDS = 10.0
"""How long a request waits for a connection before it is told that the database is away."""
STATEMENT_MILLISECONDS = 60_000
RECONNECT_SECONDS = 4.0
"""How long one attempt to connect again goes on. The pauses within it double, so a long attempt would
miss that the server is back; the next request begins a new one."""


class PostgresDatabase:
    """A server that several hubs share."""

    dialect: Dialect = "postgres"

    def __init__(self, url: str, most: int = 8) -> None:
        """Connect; a server that does not answer is an error at once."""
        # Compiling a query takes longer than any of ours does; a word that is in every skill needs
        # another plan than a rare one.
        options = (
            f"-c statement_timeout={STATEMENT_MILLISECONDS} -c client_encoding=utf8 -c jit=off "
            "-c plan_cache_mode=force_custom_plan -c work_mem=16MB"
        )
        kwargs: dict[str, Any] = {
            "row_factory": dict_row,
            "connect_timeout": int(WAIT_SECONDS),
            "options": options,
            "application_name": "metier-hub",
        }
        self._pool = ConnectionPool(
            url,
            kwargs=kwargs,
            min_size=1,
            max_size=most,
            timeout=WAIT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            check=ConnectionPool.check_connection,  # a server that was restarted is noticed here
            open=False,
        )
        self._pool.open()
        with _translated():
            self._pool.wait(WAIT_SECONDS)

    @contextmanager
    def read(self) -> Iterator[PostgresConnection]:
        """Open a transaction that changes nothing."""
        with _translated(), self._pool.connection() as connection:
            connection.read_only = True
            try:
                with connection.transaction():
                    yield PostgresConnection(connection)
            finally:
                if not connection.closed:
                    connection.read_only = None

    @contextmanager
    def write(self) -> Iterator[PostgresConnection]:
        """Open a transaction; leaving it normally makes it durable."""
        with _translated(), self._pool.connection() as connection, connection.transaction():
            yield PostgresConnection(connection)

    def close(self) -> None:
        """Let go of every connection."""
        self._pool.close()


class PostgresConnection:
    """One transaction."""

    dialect: Dialect = "postgres"

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        """Use a connection whose transaction has begun."""
        self._connection = connection

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement, and give how many rows it changed."""
        return self._execute(sql, values).rowcount

    def row(self, sql: str, *values: Any) -> Row | None:
        """Give the first row of an answer; nothing where it has none."""
        return cast("Row | None", self._execute(sql, values).fetchone())

    def rows(self, sql: str, *values: Any) -> Sequence[Row]:
        """Give all rows of an answer."""
        return cast("Sequence[Row]", self._execute(sql, values).fetchall())

    def lock(self, name: str) -> None:
        """Let nobody else past this line until the transaction ends."""
        self._execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (f"metier:{name}",))

    def take_time(self) -> None:
        """Let the statements of this transaction run for as long as they need."""
        self._execute("SET LOCAL statement_timeout = 0", ())

    def _execute(self, sql: str, values: tuple[Any, ...]) -> psycopg.Cursor[Any]:
        try:
            return self._connection.execute(_with_marks(sql), values)
        except psycopg.errors.UniqueViolation as error:
            raise DuplicateError(str(error)) from error
        except (UnicodeEncodeError, psycopg.DataError) as error:
            raise UnkeptValueError from error


@lru_cache(maxsize=512)
def _with_marks(sql: str) -> bytes:
    """Write a statement as this driver wants it."""
    return sql.replace("%", "%%").replace("?", "%s").encode()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        raise StoreError(
            f"the hub's database does not answer: {said}",
            code="hub-database",
            hint=UNREACHABLE_HINT,
        ) from error
