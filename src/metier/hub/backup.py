"""Backs a hub up into one file, and restores it into an empty hub of either kind: this is also how
one moves from the embedded database to PostgreSQL.

The file is a tar with one JSON line for each row, all read in one transaction, with every archive that a
release names, and with the hub's private key: keep it where secrets are kept.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import secrets
import tarfile
from contextlib import suppress
from typing import TYPE_CHECKING

from metier.errors import IntegrityError, RefusedError, StoreError
from metier.hub.io.database import format_of
from metier.hub.io.objects import blob_key
from metier.hub.search import index_skill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction

    Progress = Callable[[str, int, int], None]

TABLES = (
    "hub_facts",
    "organisations",
    "namespaces",
    "people",
    "tokens",
    "grants",
    "skills",
    "releases",
    "votes",
    "approvals",
    "audit_events",
    "blobs",
    "webhooks",
    "deliveries",
    "installs",
)
"""What is kept, each after what it refers to. Uploads, sessions and answers are of the moment."""
WITHOUT_ID = frozenset({"hub_facts", "approvals", "blobs", "installs"})
NOT_COPIED = frozenset({"searched", "titled"})
"""Columns that are made from others."""
OF_THE_DATABASE = "('format', 'oldest_reader')"
"""Facts about the tables, not about what is in them: those of an older backup hold no more here."""
COLUMN = re.compile(r"[a-z][a-z0-9_]*\Z")
FORMAT = 1


def backup(hub: Hub, path: str, progress: Progress = lambda _w, _c, _t: None) -> int:
    """Write everything into one file; give how many archives are in it."""
    aside = f"{path}.{secrets.token_hex(6)}.part"
    count = 0
    try:
        number = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(number, "wb") as out, tarfile.open(fileobj=out, mode="w|") as tar:
            with hub.database.read() as connection:
                if connection.dialect == "postgres":
                    connection.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                about = {"format": FORMAT, "schema": format_of(connection), "hub": hub.id}
                _add(tar, "about.json", json.dumps(about).encode())
                for table in TABLES:
                    _add(tar, f"tables/{table}.jsonl", b"".join(_lines(connection, table)))
                archives = [
                    row["archive"]
                    for row in connection.rows("SELECT DISTINCT archive FROM releases ORDER BY 1")
                ]
            _add(tar, "key.pem", hub.private_key)
            for count, sha256 in enumerate(archives, 1):
                _add(tar, f"blobs/{sha256}", hub.objects.get(blob_key(sha256)))
                progress("saved", count, len(archives))
            tar.close()
            out.flush()
            os.fsync(out.fileno())
        os.replace(aside, path)
    except OSError as error:
        raise StoreError(
            f"the backup {path} cannot be written: {error.strerror}", hint="check the disk"
        ) from error
    finally:
        with suppress(OSError):
            os.unlink(aside)
    return count


def _lines(connection: Transaction, table: str) -> Iterator[bytes]:
    for row in connection.rows(f"SELECT * FROM {table}"):
        kept = {name: row[name] for name in row.keys() if name not in NOT_COPIED}  # noqa: SIM118
        yield json.dumps(kept, separators=(",", ":")).encode() + b"\n"


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), 0o600
    tar.addfile(entry, io.BytesIO(data))


def restore(hub: Hub, path: str, progress: Progress = lambda _w, _c, _t: None) -> int:
    """Bring a backup into an empty hub; give how many archives came back. Bytes first, rows last: a
    restore that breaks off leaves the hub empty.
    """
    with hub.database.read() as connection:
        row = connection.row(
            "SELECT EXISTS (SELECT 1 FROM namespaces) OR EXISTS (SELECT 1 FROM tokens) AS here"
        )
    if row and row["here"]:
        raise RefusedError(
            "this hub is not empty",
            code="hub-not-empty",
            hint="restore into a new one, with other --database and --objects",
        )
    tables: dict[str, list[dict[str, Any]]] = {}
    count = 0
    key = b""
    for name, data in _entries(path):
        if name.startswith("blobs/"):
            sha256 = name.removeprefix("blobs/")
            if hashlib.sha256(data).hexdigest() != sha256:
                raise _damaged(path)
            hub.objects.put(blob_key(sha256), data)
            count += 1
            progress("restored", count, 0)
        elif name == "key.pem":
            key = data
        elif name.startswith("tables/"):
            table = name.removeprefix("tables/").removesuffix(".jsonl")
            tables[table] = _rows(path, data)
    if not key or set(tables) != set(TABLES):
        raise _damaged(path)
    with hub.database.write() as connection:
        connection.lock("migrate")
        _fill_all(connection, tables)
        for row in connection.rows(
            "SELECT s.id, r.description, r.body FROM skills s JOIN releases r "
            "ON r.skill_id = s.id AND r.version = s.latest"
        ):
            index_skill(connection, row["id"], row["description"], row["body"])
    hub.replace_key(key)
    return count


def _entries(path: str) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(path, mode="r|") as tar:
            for entry in tar:
                file = tar.extractfile(entry)
                if file is not None:
                    yield entry.name, file.read()
    except (OSError, tarfile.TarError, EOFError) as error:
        raise StoreError(
            f"the backup {path} cannot be read: {error}", hint="check the file"
        ) from error


def _rows(path: str, data: bytes) -> list[dict[str, Any]]:
    try:
        found = [json.loads(line) for line in data.splitlines()]
    except ValueError:
        found = [None]
    if not all(isinstance(row, dict) and all(map(COLUMN.match, row)) for row in found):
        raise _damaged(path)
    return found


def _fill_all(connection: Transaction, tables: dict[str, list[dict[str, Any]]]) -> None:
    here = connection.rows(f"SELECT name, value FROM hub_facts WHERE name IN {OF_THE_DATABASE}")
    for table in TABLES:
        _fill(connection, table, tables[table])
    for fact in here:
        connection.run("UPDATE hub_facts SET value = ? WHERE name = ?", fact["value"], fact["name"])


def _fill(connection: Transaction, table: str, rows: list[dict[str, Any]]) -> None:
    """Put rows into a table under the ids that they had."""
    connection.run(f"DELETE FROM {table}")
    kept = "OVERRIDING SYSTEM VALUE " if connection.dialect == "postgres" else ""
    for row in rows:
        names = sorted(row)
        marks = ", ".join("?" * len(names))
        connection.run(
            f"INSERT INTO {table} ({', '.join(names)}) "
            f"{kept if table not in WITHOUT_ID else ''}VALUES ({marks})",
            *(row[name] for name in names),
        )
    if connection.dialect == "postgres" and table not in WITHOUT_ID and rows:
        connection.row(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
        )


def _damaged(path: str) -> IntegrityError:
    return IntegrityError(f"the backup {path} is damaged", code="digest", hint="use another one")
