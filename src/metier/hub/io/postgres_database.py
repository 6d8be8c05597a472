"""The hub's database for a team: PostgreSQL, through a small pool of connections."""

from __future__ import annotations

import os
import socket
import threading
import time
from contextlib import contextmanager, suppress
from functools import lru_cache
from math import inf
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
STATEMENT_MILLISECONDS = 20_000
SILENCE_SECONDS = 25.0
"""How long a server may say nothing to a statement. One that hung up is noticed at once; one that the
network swallowed says nothing, for ever."""
LOOK_SECONDS = 1.0
CHECK_SECONDS = 5.0
"""The same for the question whether a connection still works."""
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
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": int(SILENCE_SECONDS * 1000),
        }
        self._watch = SilenceWatch()
        self._pool = ConnectionPool(
            url,
            kwargs=kwargs,
            min_size=1,
            max_size=most,
            timeout=WAIT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            check=self._check,  # a server that was restarted is noticed here
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
                    yield PostgresConnection(connection, self._watch)
            finally:
                if not connection.closed:
                    connection.read_only = None

    @contextmanager
    def write(self) -> Iterator[PostgresConnection]:
        """Open a transaction; leaving it normally makes it durable."""
        with _translated(), self._pool.connection() as connection, connection.transaction():
            yield PostgresConnection(connection, self._watch)

    def close(self) -> None:
        """Let go of every connection."""
        self._pool.close()
        self._watch.end()

    def _check(self, connection: psycopg.Connection[Any]) -> None:
        with self._watch.over(connection, CHECK_SECONDS):
            ConnectionPool.check_connection(connection)


class SilenceWatch:
    """Hangs up on servers that have said nothing for too long: the driver itself would wait for ever."""

    def __init__(self) -> None:
        """Begin to watch once there is something to watch."""
        self._waiting: dict[int, tuple[float, psycopg.Connection[Any]]] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._over = False

    @contextmanager
    def over(self, connection: psycopg.Connection[Any], seconds: float) -> Iterator[None]:
        """Watch over one exchange."""
        with self._changed:
            self._waiting[id(connection)] = (time.monotonic() + seconds, connection)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, daemon=True, name="silence")
                self._thread.start()
        try:
            yield
        finally:
            with self._changed:
                self._waiting.pop(id(connection), None)

    def end(self) -> None:
        """Watch no more."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _look(self) -> None:
        with self._changed:
            while not self._over:
                now = time.monotonic()
                for ends, connection in self._waiting.values():
                    if ends < now:
                        _hang_up(connection)
                self._changed.wait(LOOK_SECONDS)


def _hang_up(connection: psycopg.Connection[Any]) -> None:
    with suppress(OSError, psycopg.Error):
        number = os.dup(connection.fileno())
        with socket.socket(fileno=number) as ours:
            ours.shutdown(socket.SHUT_RDWR)


class PostgresConnection:
    """One transaction."""

    dialect: Dialect = "postgres"

    def __init__(self, connection: psycopg.Connection[Any], watch: SilenceWatch) -> None:
        """Use a connection whose transaction has begun."""
        self._connection, self._watch = connection, watch
        self._seconds = SILENCE_SECONDS

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
        self._seconds = inf

    def _execute(self, sql: str, values: tuple[Any, ...]) -> psycopg.Cursor[Any]:
        try:
            with self._watch.over(self._connection, self._seconds):
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
