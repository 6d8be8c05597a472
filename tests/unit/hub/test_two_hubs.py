"""Two hubs on one database and one object store, at the same moment: as several processes behind a
proxy, or an old and a new one during a rollout.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

import pytest
from fakes.asked_hub import AskedHub, Said
from fakes.hub_skills import CAUTION, publish_text, skill_archive

from metier.hub.accounts import add_token
from metier.hub.hub import Hub, HubOptions
from metier.hub.io.database import all_migrations, format_of, migrate, open_database
from metier.hub.keep import collect_garbage, verify_hub
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace, adjust_policy
from metier.hub.releases import need_skill

ENV = {"METIER_SCAN_MODEL": "off"}
T = TypeVar("T")


@pytest.fixture
def hubs(hub_options: HubOptions) -> Iterator[tuple[Hub, Hub]]:
    """Give two hubs that share everything."""
    with Hub(hub_options, env=ENV) as one, Hub(hub_options, env=ENV) as other:
        yield one, other


def at_once(*acts: Callable[[], T]) -> list[T]:
    """Do several things at the same moment."""
    ready = Barrier(len(acts))

    def act(one: Callable[[], T]) -> T:
        ready.wait()
        return one()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(act, acts))


def push(hub: Hub, name: str, data: bytes, version: str = "1.0.0") -> Said:
    """Publish over the hub's interface; bytes that were collected in between are sent again."""
    asked = AskedHub(hub)
    sha256 = hashlib.sha256(data).hexdigest()
    while True:
        asked.ask("PUT", f"/api/v1/blobs/{sha256}", data)
        told = {"archive": sha256, "version": version}
        said = asked.ask("POST", f"/api/v1/skills/team/{name}/releases", told)
        if said.code != "hub-blob":
            return said


def test_the_same_bytes_pushed_to_both_are_one_release(hubs: tuple[Hub, Hub]) -> None:
    data = skill_archive("table-tidy")

    said = at_once(*(lambda hub=hub: push(hub, "table-tidy", data) for hub in hubs * 2))

    assert [200, 200, 200, 201] == sorted(one.status for one in said)
    assert 1 == len({(one.json["digest"], one.json["created_at"]) for one in said})
    assert [] == verify_hub(hubs[0])


def test_of_other_bytes_under_one_version_one_wins_and_the_rest_conflict(
    hubs: tuple[Hub, Hub],
) -> None:
    said = at_once(
        *(
            lambda hub=hub, number=number: push(
                hub, "table-tidy", skill_archive("table-tidy", f"Words {number}.")
            )
            for number, hub in enumerate(hubs * 2)
        )
    )

    assert [201, 409, 409, 409] == sorted(one.status for one in said)
    with hubs[1].database.read() as connection:
        assert 1 == len(need_skill(connection, LOCAL, "team", "table-tidy")[1])


def test_the_same_key_sent_to_both_gives_one_answer(hubs: tuple[Hub, Hub]) -> None:
    data = skill_archive("table-tidy")
    sha256 = hashlib.sha256(data).hexdigest()
    AskedHub(hubs[0]).ask("PUT", f"/api/v1/blobs/{sha256}", data)
    where = "/api/v1/skills/team/table-tidy/releases"

    said = at_once(
        *(
            lambda hub=hub: AskedHub(hub).ask(
                "POST", where, {"archive": sha256}, idempotency_key="k"
            )
            for hub in hubs
        )
    )

    assert [201, 201] == [one.status for one in said]
    assert said[0].body == said[1].body


def test_two_people_who_approve_at_once_let_it_in_once(hubs: tuple[Hub, Hub]) -> None:
    publish_text(hubs[0], LOCAL, "cleaner", CAUTION)
    tokens = [add_token(hubs[0], LOCAL, name=name, role="reviewer").token for name in ("bob", "cy")]
    where = "/api/v1/skills/team/cleaner/0.1.0/approve"

    said = at_once(
        *(
            lambda hub=hub, token=token: AskedHub(hub, token).ask("POST", where, {})
            for hub, token in zip(hubs, tokens, strict=True)
        )
    )

    log = AskedHub(hubs[0], tokens[0]).ask("GET", "/api/v1/log/team").json["entries"]
    assert ["approved", "pending"] == sorted(one.json["state"] for one in said)
    assert 1 == len(log)
    assert '"by":["bob","cy"]' in log[0]["entry"].replace('["cy","bob"]', '["bob","cy"]')
    assert [] == verify_hub(hubs[0])


@pytest.mark.parametrize("namespace", ["", "team"])
def test_who_change_parts_of_a_policy_at_once_all_get_theirs(
    hubs: tuple[Hub, Hub], namespace: str
) -> None:
    add_namespace(hubs[0], LOCAL, "team")
    parts: list[dict[str, Any]] = [
        {"safe": "review"},
        {"caution": "reject"},
        {"dangerous": "reject"},
        {"signature": "required"},
        {"keep_pending_days": 3},
        {"keep_rejected_days": 5},
    ]

    at_once(
        *(
            lambda hub=hub, part=part: adjust_policy(hub, LOCAL, part, namespace)
            for hub, part in zip(hubs * 3, parts, strict=True)
        )
    )

    holds = adjust_policy(hubs[1], LOCAL, {}, namespace)
    assert parts == [{name: holds[name] for name in part} for part in parts]


def test_one_person_who_approves_twice_at_once_is_still_one_person(hubs: tuple[Hub, Hub]) -> None:
    publish_text(hubs[0], LOCAL, "cleaner", CAUTION)
    token = add_token(hubs[0], LOCAL, name="bob", role="reviewer").token
    where = "/api/v1/skills/team/cleaner/0.1.0/approve"

    said = at_once(*(lambda hub=hub: AskedHub(hub, token).ask("POST", where, {}) for hub in hubs))

    assert ["pending", "pending"] == [one.json["state"] for one in said]


def test_a_collection_beside_publishing_takes_nothing_that_is_named(hubs: tuple[Hub, Hub]) -> None:
    def publish_some() -> list[int]:
        return [
            push(hubs[0], f"skill-{number}", skill_archive(f"skill-{number}")).status
            for number in range(6)
        ]

    def collect_some() -> list[int]:
        return [collect_garbage(hubs[1], LOCAL, grace=-10).blobs * 0 for _ in range(12)]

    done = at_once(publish_some, collect_some)

    assert [201] * 6 == done[0]
    assert [] == verify_hub(hubs[0])


def test_changes_of_one_skill_at_once_do_not_wait_for_each_other_for_ever(
    hubs: tuple[Hub, Hub],
) -> None:
    publish_text(hubs[0], LOCAL, "table-tidy", version="1.0.0")

    def ask(hub: Hub, path: str, body: dict[str, Any]) -> list[int]:
        asked = AskedHub(hub)
        return [asked.ask("POST", f"/api/v1{path}", body).status for _ in range(5)]

    place = {"namespace": "team", "name": "table-tidy", "version": "1.0.0"}
    said = at_once(
        lambda: ask(hubs[0], "/skills/team/table-tidy/deprecate", {"reason": "old"}),
        lambda: ask(hubs[1], "/skills/team/table-tidy/1.0.0/yank", {"reason": "old"}),
        lambda: ask(hubs[0], "/skills/team/table-tidy/1.0.0/unyank", {"reason": "new"}),
        lambda: ask(hubs[1], "/installs", place),
    )

    assert {200} == {status for statuses in said for status in statuses}
    assert [] == verify_hub(hubs[0])


def test_migrations_started_by_two_at_once_run_once(hub_options: HubOptions) -> None:
    options = hub_options
    if options.database:
        import psycopg

        with psycopg.connect(options.database, autocommit=True) as db:
            db.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    database = options.database or f"{options.home}/hub.db"

    def start() -> list[str]:
        opened = open_database(database)
        done = migrate(opened)
        opened.close()
        return done

    said = at_once(start, start, start)

    everything = [one.name for one in all_migrations()]
    assert [[], [], everything] == sorted(said)
    with Hub(options, env=ENV) as hub, hub.database.read() as connection:
        assert all_migrations()[-1].number == format_of(connection)


def test_an_old_hub_goes_on_beside_a_newer_one(hubs: tuple[Hub, Hub]) -> None:
    old, new = hubs
    publish_text(old, LOCAL, "table-tidy", version="1.0.0")
    with new.database.write() as connection:  # what a newer metier may do to its tables
        for table in ("skills", "releases", "namespaces", "tokens", "audit_events", "blobs"):
            connection.run(f"ALTER TABLE {table} ADD COLUMN later TEXT NOT NULL DEFAULT 'x'")
        connection.run("UPDATE hub_facts SET value = '9000' WHERE name = 'format'")

    ran = migrate(old.database)
    said = push(old, "other-skill", skill_archive("other-skill"))
    found = AskedHub(old).ask("GET", "/api/v1/search?q=ragged+tables").json["results"]

    assert [] == ran
    assert 201 == said.status
    assert {"table-tidy", "other-skill"} == {one["name"] for one in found}
    assert [] == verify_hub(old)
