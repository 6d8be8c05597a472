"""Hubs for tests: embedded in a folder, and on a real PostgreSQL and a real S3 server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from fakes.bucket_server import CREDENTIALS, BucketServer
from fakes.postgres_server import QUICK, PostgresServer

from metier.hub.hub import Hub, HubOptions
from metier.hub.io.database import migrate, open_database

KINDS = (
    "embedded",
    pytest.param("team", marks=(pytest.mark.postgresql, pytest.mark.loopback)),
)
_NUMBERS = count(1)


class TeamParts:
    """A PostgreSQL and an S3 server that the tests of one process share; each test has its own
    database and bucket.
    """

    def __init__(self) -> None:
        """Start both, and make a database that others are copied from."""
        import psycopg

        self.postgres = PostgresServer(QUICK)
        self.postgres.start()
        self.buckets = BucketServer()
        self._admin = psycopg.connect(self.postgres.url(), autocommit=True)
        self._admin.execute("CREATE DATABASE ready")
        ready = open_database(self.postgres.url("ready"))
        migrate(ready)
        ready.close()

    def options(self, home: Path) -> HubOptions:
        """Give a hub's options, with a database and a bucket that nobody else uses."""
        number = next(_NUMBERS)
        self._admin.execute(f"CREATE DATABASE test_{number} TEMPLATE ready".encode())
        return HubOptions(
            home=str(home),
            database=self.postgres.url(f"test_{number}"),
            objects=self.buckets.make_bucket(f"bucket-{number}"),
        )

    def remove(self) -> None:
        """Stop both."""
        self._admin.close()
        self.buckets.remove()
        self.postgres.remove()


@pytest.fixture(scope="session")
def shared_parts() -> Iterator[list[TeamParts]]:
    """Hold the servers of this process, once a test has asked for them."""
    made: list[TeamParts] = []
    yield made
    for one in made:
        one.remove()


@pytest.fixture(scope="session")
def team_parts(shared_parts: list[TeamParts]) -> TeamParts:
    """Give the servers, started once a test asks for them."""
    if not shared_parts:
        shared_parts.append(TeamParts())
    return shared_parts[0]


@pytest.fixture(params=KINDS)
def hub_options(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> HubOptions:
    """Give the options of an empty hub, once of each kind."""
    if request.param == "embedded":
        return HubOptions(home=str(tmp_path / "hub"))
    for name, value in CREDENTIALS.items():
        monkeypatch.setitem(os.environ, name, value)
    parts: TeamParts = request.getfixturevalue("team_parts")
    return parts.options(tmp_path / "hub")


@pytest.fixture
def hub(hub_options: HubOptions) -> Iterator[Hub]:
    """Give an open hub."""
    with Hub(hub_options, env={"METIER_SCAN_MODEL": "off"}) as one:
        yield one
