"""A hub whose every step towards its database and its objects is counted, and can be broken off: killed,
or with a part of it gone.
"""

from __future__ import annotations

import hashlib
import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from fakes.asked_hub import AskedHub, Said
from fakes.hub_skills import CAUTION, SAFE, publish_text, skill_archive

from metier.hub.accounts import add_token
from metier.hub.hub import Hub, HubOptions
from metier.hub.io.database import open_database
from metier.hub.io.objects import open_objects
from metier.hub.keep import collect_garbage, verify_hub
from metier.hub.model import LOCAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from metier.hub.io.database import Database, Dialect, Transaction
    from metier.hub.io.objects import Objects
    from metier.hub.model import Row

ENV = {"METIER_SCAN_MODEL": "off"}
NOW = 1_800_000_000.0
NEW = skill_archive("new-skill", SAFE)


def die() -> None:
    """Kill this process, as the system does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


class Steps:
    """Counts steps, and acts once at one of them."""

    def __init__(self, at: int = 0, act: Callable[[], None] = die) -> None:
        """Act at a step; 0 means never."""
        self.at, self.act, self.count = at, act, 0

    def __call__(self) -> None:
        """Take a step."""
        self.count += 1
        if self.count == self.at:
            self.act()


class SteppedDatabase:
    """A database of which every statement, and every end of a change, is a step."""

    def __init__(self, inner: Database, step: Steps) -> None:
        """Stand before a database."""
        self.inner, self.step = inner, step
        self.dialect: Dialect = inner.dialect

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Read in steps."""
        self.step()
        with self.inner.read() as connection:
            yield SteppedTransaction(connection, self.step)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Write in steps; what is made durable has one before it and one after."""
        self.step()
        with self.inner.write() as connection:
            yield SteppedTransaction(connection, self.step)
            self.step()
        self.step()

    def close(self) -> None:
        """Close the real one."""
        self.inner.close()


class SteppedTransaction:
    """One transaction in steps."""

    def __init__(self, inner: Transaction, step: Steps) -> None:
        """Stand before a transaction."""
        self.inner, self.step = inner, step
        self.dialect: Dialect = inner.dialect

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement."""
        self.step()
        return self.inner.run(sql, *values)

    def row(self, sql: str, *values: Any) -> Row | None:
        """Ask for a row."""
        self.step()
        return self.inner.row(sql, *values)

    def rows(self, sql: str, *values: Any) -> Sequence[Row]:
        """Ask for rows."""
        self.step()
        return self.inner.rows(sql, *values)

    def lock(self, name: str) -> None:
        """Take a lock."""
        self.step()
        self.inner.lock(name)

    def take_time(self) -> None:
        """Take no step: it only bounds the others."""
        self.inner.take_time()


class SteppedObjects:
    """An object store of which every act has a step before it and one after it."""

    def __init__(self, inner: Objects, step: Steps) -> None:
        """Stand before a store."""
        self.inner, self.step = inner, step

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes; once, half of them are in a file that has no name yet."""
        self.step()
        folder = getattr(self.inner, "folder", "")
        if folder and self.step.count + 1 == self.step.at:
            os.makedirs(os.path.dirname(f"{folder}/{key}"), exist_ok=True)
            with open(f"{os.path.dirname(f'{folder}/{key}')}/.half.part", "wb") as file:
                file.write(data[: len(data) // 2])
        self.step()
        self.inner.put(key, data)
        self.step()

    def get(self, key: str) -> bytes:
        """Give bytes."""
        self.step()
        return self.inner.get(key)

    def size(self, key: str) -> int | None:
        """Give a size."""
        self.step()
        return self.inner.size(key)

    def delete(self, key: str) -> None:
        """Take bytes away."""
        self.step()
        self.inner.delete(key)
        self.step()

    def keys(self, prefix: str) -> Iterator[tuple[str, int, float]]:
        """List keys."""
        self.step()
        return self.inner.keys(prefix)


def open_stepped(options: HubOptions, step: Steps) -> Hub:
    """Open a hub in steps; opening takes none itself."""
    quiet = Steps()
    database = SteppedDatabase(open_database(options.database or f"{options.home}/hub.db"), quiet)
    objects = SteppedObjects(open_objects(options.objects or f"{options.home}/objects"), quiet)
    hub = Hub(options, database=database, objects=objects, clock=lambda: NOW, env=ENV)
    database.step = objects.step = step
    return hub


def break_at(hub: Hub, step: Steps) -> None:
    """Have a hub that is open take its steps there from now on."""
    for part in (hub.database, hub.objects):
        assert isinstance(part, SteppedDatabase | SteppedObjects)
        part.step = step


class HubOperation(NamedTuple):
    """Something that is done to a hub, and broken off."""

    name: str
    do: Callable[[Hub, str], Said]
    """Do it, or do it again, with the token of whoever may; give the last answer."""


def _publish(hub: Hub, token: str) -> Said:
    asked = AskedHub(hub, token)
    sha256 = hashlib.sha256(NEW).hexdigest()
    sent = asked.ask("PUT", f"/api/v1/blobs/{sha256}", NEW)
    if sent.status >= 400:
        return sent
    where = "/api/v1/skills/team/new-skill/releases"
    return asked.ask("POST", where, {"archive": sha256}, idempotency_key="one")


def _publish_in_pieces(hub: Hub, token: str) -> Said:
    asked = AskedHub(hub, token)
    sha256 = hashlib.sha256(NEW).hexdigest()
    if asked.ask("HEAD", f"/api/v1/blobs/{sha256}").status != 200:
        told = asked.ask("POST", "/api/v1/uploads", {"sha256": sha256, "size": len(NEW)})
        if told.status >= 400:
            return told
        at = told.json["received"]
        while at < len(NEW):
            piece = NEW[at : at + len(NEW) // 2 + 1]
            url = f"/api/v1/uploads/{told.json['id']}"
            sent = asked.ask("PATCH", url, piece, upload_offset=str(at))
            if sent.status >= 400:
                return sent
            at = sent.json["received"]
    where = "/api/v1/skills/team/new-skill/releases"
    return asked.ask("POST", where, {"archive": sha256}, idempotency_key="one")


def _approve(hub: Hub, token: str) -> Said:
    return AskedHub(hub, token).ask("POST", "/api/v1/skills/team/cleaner/0.1.0/approve", {})


def _yank(hub: Hub, token: str) -> Said:
    where = "/api/v1/skills/team/kept/0.1.0/yank"
    return AskedHub(hub, token).ask("POST", where, {"reason": "breaks tables"})


def _collect(hub: Hub, _token: str) -> Said:
    collect_garbage(hub, LOCAL, grace=-10)
    return Said(200, b"")


OPERATIONS = (
    HubOperation("publish", _publish),
    HubOperation("publish in pieces", _publish_in_pieces),
    HubOperation("approve", _approve),
    HubOperation("yank", _yank),
    HubOperation("gc", _collect),
)


def furnish(hub: Hub) -> str:
    """Have a hub hold something of each kind; give an admin's token."""
    publish_text(hub, LOCAL, "kept")
    publish_text(hub, LOCAL, "cleaner", CAUTION)
    first = add_token(hub, LOCAL, name="first", role="admin").token
    second = add_token(hub, LOCAL, name="second", role="admin").token
    _approve(hub, first)
    asked = AskedHub(hub, second)
    loose = skill_archive("loose")
    asked.ask("PUT", f"/api/v1/blobs/{hashlib.sha256(loose).hexdigest()}", loose)
    half = asked.ask("POST", "/api/v1/uploads", {"sha256": "a" * 64, "size": 100})
    asked.ask("PATCH", f"/api/v1/uploads/{half.json['id']}", b"x" * 50, upload_offset="0")
    return second


def wrong_with(hub: Hub) -> list[str]:
    """Say what of a hub is not as it was acknowledged."""
    wrong = [f"{one.what} {one.where}: {one.why}" for one in verify_hub(hub)]
    with hub.database.read() as connection:
        kept = connection.row("SELECT count(*) AS one FROM releases")
        named = {row["archive"] for row in connection.rows("SELECT archive FROM releases")}
    if kept is None or kept["one"] < 2:
        wrong.append("a release that was acknowledged is gone")
    there = {key.rpartition("/")[2] for key, _size, _at in hub.objects.keys("blobs")}
    return wrong + [f"no bytes for {one}" for one in named - there]


def left_in(hub: Hub) -> list[str]:
    """Name what is still there after a collection that nothing names."""
    collect_garbage(hub, LOCAL, grace=-10)
    with hub.database.read() as connection:
        named = {row["archive"] for row in connection.rows("SELECT archive FROM releases")}
    keys = [key for prefix in ("blobs", "uploads") for key, _size, _at in hub.objects.keys(prefix)]
    return [key for key in keys if key.rpartition("/")[2] not in named]
