"""A hub whose database or object store is killed, away, silent or full: it says so with 503, keeps what
it acknowledged, and goes on by itself once they are back.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes.asked_hub import AskedHub
from fakes.breaking_hub import (
    ENV,
    OPERATIONS,
    Steps,
    break_at,
    furnish,
    left_in,
    open_stepped,
    wrong_with,
)
from fakes.bucket_server import CREDENTIALS, BucketServer
from fakes.postgres_server import PostgresServer
from fakes.wire import Wire

from metier.hub.hub import Hub, HubOptions
from metier.hub.io import objects, postgres_database
from metier.hub.io.objects import FolderObjects

DO = {one.name: one.do for one in OPERATIONS}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a hub wait a second where it waits for half a minute."""
    monkeypatch.setattr(postgres_database, "WAIT_SECONDS", 2.0)
    monkeypatch.setattr(postgres_database, "SILENCE_SECONDS", 2.0)
    monkeypatch.setattr(postgres_database, "CHECK_SECONDS", 1.0)
    monkeypatch.setattr(postgres_database, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(objects, "ANSWER_WITHIN", "1s")
    monkeypatch.setattr(objects, "RETRY_FOR", timedelta(seconds=1))


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    """Give a server that keeps what it acknowledged."""
    server = PostgresServer()
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def buckets() -> Iterator[BucketServer]:
    server = BucketServer()
    yield server
    server.remove()


def new_database(postgres: PostgresServer, name: str, template: str = "template1") -> str:
    import psycopg

    with psycopg.connect(postgres.url(), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    return postgres.url(name)


@pytest.mark.postgresql
@pytest.mark.loopback
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ["publish", "approve"])
def test_a_database_killed_on_the_way_is_a_503_and_nothing_acknowledged_is_lost(
    tmp_path: Path, postgres: PostgresServer, name: str
) -> None:
    options = HubOptions(f"{tmp_path}/hub", new_database(postgres, f"furnished_{name}"))
    with open_stepped(options, Steps()) as hub:
        token = furnish(hub)
    options = options._replace(database=new_database(postgres, name, f"furnished_{name}"))
    step = Steps()
    with open_stepped(options, step) as hub:
        expected = DO[name](hub, token)

    answers, wrong = [], []
    for at in (step.count // 2, step.count - 1):
        new_database(postgres, name, f"furnished_{name}")
        with open_stepped(options, Steps(at, postgres.kill)) as hub:
            first = DO[name](hub, token)
            away = AskedHub(hub, token).ask("GET", "/api/v1/search?q=tables")
            postgres.start()
            again = DO[name](hub, token)
            wrong += wrong_with(hub)
            answers.append((first.status, away.code, away.status, again))
            acknowledged = first.status < 300

    # the last one may have been killed right after it had acknowledged
    good = expected.status if acknowledged else 503
    assert [
        (503, "hub-database", 503, expected),
        (good, "hub-database", 503, expected),
    ] == answers
    assert [] == wrong


@pytest.mark.loopback
@pytest.mark.usefixtures("impatient")
def test_an_object_store_that_is_away_is_a_503_and_the_hub_goes_on_when_it_is_back(
    tmp_path: Path, buckets: BucketServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in CREDENTIALS.items():
        monkeypatch.setitem(os.environ, key, value)
    options = HubOptions(f"{tmp_path}/hub", objects=buckets.make_bucket("away"))
    with open_stepped(options, Steps()) as hub:
        token = furnish(hub)
        asked = AskedHub(hub, token)

        answers = []
        for at in (3, 12):
            break_at(hub, Steps(at, buckets.stop))
            first = DO["publish"](hub, token)
            archive = asked.ask("GET", "/api/v1/skills/team/kept/0.1.0/archive")
            search = asked.ask("GET", "/api/v1/search?q=tables")
            ready = asked.ask("GET", "/readyz")
            buckets.start()
            answers.append((first.status, first.code, archive.status, search.status, ready.status))
        again = DO["publish"](hub, token)
        after = asked.ask("GET", "/readyz")

        assert {(503, "hub-objects", 503, 200, 503)} == set(answers)
        assert (201, 200) == (again.status, after.status)
        assert ([], []) == (wrong_with(hub), left_in(hub))


@pytest.mark.postgresql
@pytest.mark.loopback
@pytest.mark.usefixtures("impatient")
def test_a_network_that_swallows_everything_is_noticed_and_the_hub_goes_on_when_it_is_mended(
    tmp_path: Path,
    postgres: PostgresServer,
    buckets: BucketServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for key, value in CREDENTIALS.items():
        monkeypatch.setitem(os.environ, key, value)
    to_database, to_objects = Wire(postgres.port), Wire(buckets.port)
    database = new_database(postgres, "cut").replace(str(postgres.port), str(to_database.port))
    bucket = buckets.make_bucket("cut").replace(str(buckets.port), str(to_objects.port))
    with open_stepped(HubOptions(f"{tmp_path}/hub", database, bucket), Steps()) as hub:
        token = furnish(hub)
        asked = AskedHub(hub, token)

        to_objects.cut()
        without_objects = DO["publish"](hub, token)
        reads = asked.ask("GET", "/api/v1/search?q=tables")
        to_objects.mend()
        to_database.cut()
        without_database = asked.ask("GET", "/api/v1/search?q=tables")
        alive = asked.ask("GET", "/healthz")
        to_database.mend()
        again = DO["publish"](hub, token)
        break_at(hub, Steps(9, to_database.cut))
        amid = DO["yank"](hub, token)
        to_database.mend()
        yanked = DO["yank"](hub, token)

        assert [(503, "hub-objects"), (503, "hub-database"), (503, "hub-database")] == [
            (one.status, one.code) for one in (without_objects, without_database, amid)
        ]
        assert [200, 200, 201, 200] == [one.status for one in (reads, alive, again, yanked)]
        assert [] == wrong_with(hub)
    to_database.remove()
    to_objects.remove()


@contextmanager
def no_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have no file of the object store reach the disk."""

    def fail(_number: int) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patched:
        replaced = SimpleNamespace(**vars(os))
        replaced.fsync = fail
        patched.setattr(objects, "os", replaced)
        yield


def test_a_full_disk_below_the_objects_is_said_and_leaves_no_half_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Hub(HubOptions(f"{tmp_path}/hub"), env=ENV) as hub:
        token = furnish(hub)
        before = sorted(hub.objects.keys("blobs"))

        with no_room(monkeypatch):
            full = DO["publish"](hub, token)
        left = sorted(hub.objects.keys("blobs"))
        again = DO["publish"](hub, token)

        assert (503, "hub-objects") == (full.status, full.code)
        assert "No space left" in full.json["message"]
        assert before == left
        assert 201 == again.status
        assert isinstance(hub.objects, FolderObjects)


def test_a_full_disk_below_the_database_is_said_and_reading_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Hub(HubOptions(f"{tmp_path}/hub"), env=ENV) as hub:
        token = furnish(hub)
        with sqlite3.connect(f"{tmp_path}/hub/hub.db") as beside:
            pages = beside.execute("PRAGMA page_count").fetchone()[0]
        beside.close()
        real = sqlite3.connect

        def full_disk(*words: Any, **more: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = real(*words, **more)
            connection.execute(f"PRAGMA max_page_count = {pages}")
            return connection

        monkeypatch.setattr(sqlite3, "connect", full_disk)
        asked = AskedHub(hub, token)
        made = [asked.ask("POST", "/api/v1/namespaces", {"name": f"n{one}"}) for one in range(80)]
        full = made[-1]
        read = asked.ask("GET", "/api/v1/skills/team/kept/0.1.0/archive")
        monkeypatch.setattr(sqlite3, "connect", real)
        again = DO["publish"](hub, token)
        there = asked.ask("GET", "/api/v1/namespaces").json["namespaces"]

        acknowledged = {one.json["name"] for one in made if one.status == 201}
        assert acknowledged <= {one["name"] for one in there}
        assert (503, "hub-database") == (full.status, full.code)
        assert "full" in full.json["message"]
        assert [200, 201] == [read.status, again.status]
        assert [] == wrong_with(hub)
