"""Databases of every earlier format become today's, with all that was in them.

`formats/N.json` is what a hub held when N was the newest migration; add one with each new migration.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metier.hub.accounts import caller_of_token
from metier.hub.backup import TABLES, WITHOUT_ID
from metier.hub.hub import Hub, HubOptions
from metier.hub.io import database as databases
from metier.hub.io.database import Database, all_migrations, format_of, migrate, open_database
from metier.hub.io.objects import blob_key, open_objects
from metier.hub.keep import verify_hub
from metier.hub.model import LOCAL
from metier.hub.releases import need_skill
from metier.hub.search import HubQuery, index_skill, search

FORMATS = sorted(Path(__file__).with_name("formats").glob("*.json"))


@pytest.fixture(params=FORMATS, ids=lambda path: path.stem)
def held(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Give what a hub of an earlier format held."""
    found: dict[str, Any] = json.loads(request.param.read_bytes())
    return {**found, "format": int(request.param.stem)}


@pytest.fixture
def old(
    hub_options: HubOptions, held: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Database]:
    """Give a database of that format, with all of it."""
    if hub_options.database:
        import psycopg

        with psycopg.connect(hub_options.database, autocommit=True) as db:
            db.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    database = open_database(hub_options.database or f"{hub_options.home}/hub.db")
    known = [one for one in all_migrations() if one.number <= held["format"]]
    with monkeypatch.context() as patched:
        patched.setattr(databases, "all_migrations", lambda: known)
        migrate(database)
    with database.write() as connection:
        for table in TABLES:
            _fill(connection, table, held[table])
        for row in connection.rows(
            "SELECT s.id, r.description, r.body FROM skills s JOIN releases r "
            "ON r.skill_id = s.id AND r.version = s.latest"
        ):
            index_skill(connection, row["id"], row["description"], row["body"])
    objects = open_objects(hub_options.objects or f"{hub_options.home}/objects")
    for sha256, data in held["archives"].items():
        objects.put(blob_key(sha256), base64.b64decode(data))
    yield database
    database.close()


def _fill(connection: databases.Transaction, table: str, rows: list[dict[str, Any]]) -> None:
    connection.run(f"DELETE FROM {table}")  # noqa: S608 - a name of ours
    is_server = connection.dialect == "postgres" and table not in WITHOUT_ID
    for row in rows:
        connection.run(
            f"INSERT INTO {table} ({', '.join(row)}) "
            f"{'OVERRIDING SYSTEM VALUE ' if is_server else ''}VALUES ({', '.join('?' * len(row))})",
            *row.values(),
        )
    if is_server:
        connection.row(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), "  # noqa: S608 - as above
            f"(SELECT max(id) + 1 FROM {table}), false)"
        )


def test_a_rehearsal_runs_all_and_changes_nothing(old: Database, held: dict[str, Any]) -> None:
    told = migrate(old, rehearse=True)

    with old.read() as connection:
        assert held["format"] == format_of(connection)
    assert [one.name for one in all_migrations() if one.number > held["format"]] == told


def test_a_database_of_an_earlier_format_comes_up_to_date_with_all_that_was_in_it(
    old: Database, held: dict[str, Any], hub_options: HubOptions
) -> None:
    ran = migrate(old)

    with Hub(hub_options, env={"METIER_SCAN_MODEL": "off"}) as hub:
        with hub.database.read() as connection:
            now = format_of(connection)
            skill, releases = need_skill(connection, LOCAL, "team", "table-tidy")
        faults = verify_hub(hub)
        caller = caller_of_token(hub, held["token"])
        found = search(hub, LOCAL, HubQuery("ragged tables")).rows
    assert (all_migrations()[-1].number, True) == (now, bool(ran))
    assert ("1.0.0", ["yanked", "approved"]) == (skill.latest, [one.state for one in releases])
    assert ([], "ci") == (faults, caller.name)
    assert ["table-tidy"] == [one["name"] for one in found]
