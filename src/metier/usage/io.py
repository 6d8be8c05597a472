"""The counts on disk: `usage.db` below METIER_HOME, in SQLite, shared by many processes, for its
owner alone.

Counting never ends what is counted, nor holds it up: a file that is busy, read-only or on a full
disk is done without, and the reason is a value. Nobody can count again what is past, so a spoilt
file is set aside under another name and never deleted.
"""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.store.io import safe_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.model import Texts

FILE = "usage.db"
SPOILT = ".spoilt-"
"""What stands between the name of the file and the time at which it was set aside."""
SCHEMA_VERSION = 1
PATIENCE_SECONDS = 0.5
PAUSE_SECONDS = 0.02
"""Seconds that one attempt may take in all, however often it is made, and between two tries:
somebody waits for an answer."""
MAX_AHEAD_SECONDS = 86_400
"""How far ahead of now a time may lie; beyond it, a clock was wrong."""
MAX_COUNT = 2**62
"""No count grows beyond this: SQLite's whole numbers end soon after."""

_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS used (
        path BLOB, name BLOB, views INTEGER NOT NULL, loads INTEGER NOT NULL, reads INTEGER NOT NULL, runs INTEGER NOT NULL,
        failures INTEGER NOT NULL, tokens INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (path, name)) WITHOUT ROWID""",
    (
        "CREATE TABLE IF NOT EXISTS seen (path BLOB, name BLOB, first INTEGER NOT NULL, PRIMARY KEY "
        "(path, name)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE IF NOT EXISTS facts (fact TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT "
        "ROWID"
    ),
)
_ADD = (
    "INSERT INTO used VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path, name) DO UPDATE SET "
    "views = views + excluded.views,"
    " loads = loads + excluded.loads, reads = reads + excluded.reads, runs = runs + excluded.runs,"
    " failures = failures + excluded.failures, tokens = tokens + excluded.tokens, last = "
    "max(last, excluded.last)"
)
_BEGAN = (
    "INSERT INTO facts VALUES ('began', ?) ON CONFLICT (fact) DO UPDATE SET value = "
    "min(value, excluded.value)"
)
_SETTLED = (
    "UPDATE used SET last = ? WHERE last > ?",
    "UPDATE seen SET first = ? WHERE first > ?",
)


class Count(NamedTuple):
    """How often a skill was used: one conversation's worth to add, or all that is known."""

    path: str
    name: str
    views: int = 0
    loads: int = 0
    reads: int = 0
    runs: int = 0
    failures: int = 0
    tokens: int = 0
    last: int = 0
    """Seconds since 1970."""


class Counts(NamedTuple):
    """Everything that was counted."""

    used: tuple[Count, ...] = ()
    seen: Mapping[tuple[str, str], int] = {}
    """When each skill was first seen, by path and name."""
    began: int = 0
    """When counting began; 0 before it did."""
    trouble: str = ""
    spoilt: Texts = ()
    """Files that could not be read and were set aside."""


def add_counts(folder: str, home: str | None, counts: Iterable[Count], at: int) -> str:
    """Add counts, all of them or none; give what went wrong, or nothing."""
    rows = [(_key(path), _key(name), *map(_whole, numbers)) for path, name, *numbers in counts]
    return _insert(folder, home, at, _ADD, rows)


def note_seen(folder: str, home: str | None, firsts: Mapping[tuple[str, str], int], at: int) -> str:
    """Remember since when skills have been there; what is known already stays, but for times that
    have yet to come.
    """
    rows = [(_key(path), _key(name), _whole(first)) for (path, name), first in firsts.items()]
    return _insert(folder, home, at, "INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", rows)


def is_ahead(counts: Counts, at: int) -> bool:
    """Tell whether a clock that was ahead has left its mark: the next change of any kind takes it
    away.
    """
    times = (counts.began, *(one.last for one in counts.used), *counts.seen.values())
    return max(times) > at + MAX_AHEAD_SECONDS


def _date(connection: sqlite3.Connection, at: int) -> None:
    """Say when counting began, and put right what a clock that was ahead has written: it would look
    fresh for years.
    """
    connection.execute(_BEGAN, (_whole(at),))
    for statement in _SETTLED:
        connection.execute(statement, (_whole(at), _whole(at + MAX_AHEAD_SECONDS)))


def read_counts(folder: str) -> Counts:
    """Give all counts; a file that cannot be read is trouble, and no counts."""
    path = f"{folder}/{FILE}"
    spoilt = _set_aside_before(folder)
    if not os.path.exists(path):
        return Counts(spoilt=spoilt)
    trouble = ""
    # the second for a folder in which nothing may be written
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        try:
            return _read(path, mode)._replace(spoilt=spoilt)
        except sqlite3.Error as error:
            trouble = f"{path} cannot be read: {error}"
            if _is_busy(error):
                break  # whoever holds it is about to change it
        except OSError as error:
            return Counts(
                trouble=f"{path} cannot be read: {error.strerror or error}", spoilt=spoilt
            )
    return Counts(trouble=trouble, spoilt=spoilt)


def _read(path: str, mode: str) -> Counts:
    os.close(
        safe_files.open_file(path, os.O_RDONLY)
    )  # a pipe of that name would hold everything up
    place = path.encode("utf-8", "surrogateescape").hex(" ").split()
    connection = sqlite3.connect(
        f"file:%{'%'.join(place)}?{mode}", uri=True, timeout=PATIENCE_SECONDS, isolation_level=None
    )
    try:
        connection.execute("BEGIN")
        used: list[tuple[Any, ...]] = connection.execute(
            "SELECT path, name, views, loads, reads, runs, failures, tokens, last FROM used"
        ).fetchall()
        seen = connection.execute("SELECT path, name, first FROM seen").fetchall()
        began = connection.execute("SELECT value FROM facts WHERE fact = 'began'").fetchone()
    finally:
        connection.close()
    counts = tuple(
        Count(_text(at), _text(name), *map(_whole, numbers)) for at, name, *numbers in used
    )
    return Counts(
        counts,
        {(_text(at), _text(name)): _whole(first) for at, name, first in seen},
        _whole(began[0]) if began else 0,
    )


# --- writing


def _insert(
    folder: str, home: str | None, at: int, statement: str, rows: Sequence[tuple[object, ...]]
) -> str:
    """Write rows, as one step; what stands in the way is the answer."""
    path = f"{folder}/{FILE}"
    limit = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            identity = _ready(folder, home, path)
            _try_insert(path, limit, at, statement, rows)
        except sqlite3.DatabaseError as error:
            spoilt = type(error) is sqlite3.DatabaseError and set_aside(
                path, identity
            )  # then it is out of the way
            if time.monotonic() > limit or not (spoilt or _is_busy(error)):
                return f"{path}: {error}"
            time.sleep(PAUSE_SECONDS)
        except OSError as error:
            return f"{path} cannot be written: {error.strerror or error}"
        else:
            return ""


def _try_insert(
    path: str, limit: float, at: int, statement: str, rows: Sequence[tuple[object, ...]]
) -> None:
    connection = sqlite3.connect(path, timeout=_left(limit), isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(
            f"PRAGMA busy_timeout={int(1000 * _left(limit))}"
        )  # what came before may have waited as well
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise sqlite3.NotSupportedError(f"a newer metier wrote it (version {version})")
        if version < SCHEMA_VERSION:
            for table in _SCHEMA:
                connection.execute(table)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        _date(connection, at)
        connection.executemany(statement, rows)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _left(limit: float) -> float:
    return max(0.0, limit - time.monotonic())


def _is_busy(error: sqlite3.Error) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def _ready(folder: str, home: str | None, path: str) -> tuple[int, int]:
    """Make the folder and an empty file in it, readable by its owner alone; tell which file it
    is.
    """
    safe_files.make_folder(folder, home)
    file = safe_files.open_file(path, os.O_RDWR | os.O_CREAT)
    try:
        found = os.fstat(file)
    finally:
        os.close(file)
    return found.st_dev, found.st_ino


def set_aside(path: str, identity: tuple[int, int]) -> bool:
    """Move a spoilt file out of the way, unless another process has done so by now.

    What lies beside it goes first: a process that is stopped in between must not leave it to a new
    file, which it would spoil.
    """
    aside = f"{path}{SPOILT}{time.time_ns()}"
    try:
        for suffix in ("-wal", "-shm", ""):
            found = os.stat(path)
            if (found.st_dev, found.st_ino) != identity:
                break
            if not suffix or os.path.lexists(path + suffix):
                os.rename(path + suffix, aside + suffix)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _set_aside_before(folder: str) -> Texts:
    try:
        names: Sequence[str] = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(
        f"{folder}/{name}"
        for name in names
        if name.startswith(FILE + SPOILT) and not name.endswith(("-wal", "-shm"))
    )


def _key(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: object) -> str:
    return data.decode("utf-8", "surrogatepass") if isinstance(data, bytes) else str(data)


def _whole(number: object) -> int:
    return max(0, min(number, MAX_COUNT)) if isinstance(number, int) else 0
