"""Keeping a hub: what is freed and what never is, what a check finds, and a backup that comes back."""

from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path

import pytest
from fakes.hub_skills import DANGEROUS, publish_archive, publish_text, skill_archive

from metier.errors import IntegrityError, NotFoundError, RefusedError, StoreError
from metier.hub import decide, publish
from metier.hub.accounts import add_token, caller_of_token
from metier.hub.backup import backup, restore
from metier.hub.hub import Hub, HubOptions
from metier.hub.io.database import all_migrations, format_of, migrate, open_database
from metier.hub.io.objects import blob_key
from metier.hub.keep import GRACE_SECONDS, collect_garbage, verify_hub
from metier.hub.model import LOCAL
from metier.hub.releases import need_release, need_skill
from metier.hub.search import HubQuery, search

ENV = {"METIER_SCAN_MODEL": "off"}


def test_only_old_bytes_that_nothing_names_are_freed(hub: Hub) -> None:
    kept = publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    decide.yank(hub, LOCAL, "team", "table-tidy", "1.0.0", reason="no")
    loose = skill_archive("loose-skill")
    sha256 = hashlib.sha256(loose).hexdigest()
    publish.put_blob(hub, LOCAL, sha256, loose)
    half, _none = publish.begin_upload(hub, LOCAL, "a" * 64, 100)
    publish.add_piece(hub, LOCAL, half, 0, b"x" * 50)

    young = collect_garbage(hub, LOCAL)
    old = collect_garbage(hub, LOCAL, grace=-10)

    assert (0, 0, 0, 0) == young
    assert (1, 1, len(loose) + 50, 0) == old
    assert hub.objects.size(blob_key(kept.archive)) is not None
    assert hub.objects.size(blob_key(sha256)) is None
    assert GRACE_SECONDS == 86_400


def test_what_a_crash_left_before_any_row_named_it_is_freed(hub: Hub) -> None:
    hub.objects.put(blob_key("b" * 64), b"nobody knows of this")

    done = collect_garbage(hub, LOCAL, grace=-10)

    assert 20 == done.bytes
    assert hub.objects.size(blob_key("b" * 64)) is None


def test_bytes_that_were_freed_in_between_have_to_be_sent_again(hub: Hub) -> None:
    data = skill_archive("table-tidy")
    sha256 = hashlib.sha256(data).hexdigest()
    publish.put_blob(hub, LOCAL, sha256, data)
    collect_garbage(hub, LOCAL, grace=-10)

    with pytest.raises(NotFoundError) as refused:
        publish.publish(hub, LOCAL, "team", "table-tidy", publish.ReleaseWish(sha256))
    again = publish_archive(hub, LOCAL, "table-tidy", data)

    assert "hub-blob" == refused.value.code
    assert "approved" == again.release.state


def test_a_sound_hub_has_no_faults(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy")
    publish_text(hub, LOCAL, "thief", DANGEROUS)

    assert [] == verify_hub(hub)


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("UPDATE releases SET vouch = ''", "signature"),
        ("UPDATE approvals SET entry = replace(entry, '0.1.0', '0.2.0')", "log"),
        ("UPDATE audit_events SET who = 'nobody'", "audit"),
        ("UPDATE releases SET size = size + 1", "blob"),
        ("UPDATE releases SET digest = 'sha256:' || replace('x', 'x', version)", "blob"),
        ("UPDATE releases SET version = '9.9.9'", "log"),
        ("UPDATE releases SET state = 'yanked'", "log"),
        ("UPDATE releases SET state = 'rejected'", "log"),
        ("DELETE FROM approvals", "log"),
    ],
)
def test_whatever_was_changed_behind_its_back_is_found(hub: Hub, sql: str, what: str) -> None:
    publish_text(hub, LOCAL, "table-tidy")
    with hub.database.write() as connection:
        connection.run(sql)

    assert what in {one.what for one in verify_hub(hub)}


def test_missing_and_damaged_bytes_are_found(hub: Hub) -> None:
    gone = publish_text(hub, LOCAL, "table-tidy")
    changed = publish_text(hub, LOCAL, "other-skill", "Other words.")
    hub.objects.delete(blob_key(gone.archive))
    hub.objects.put(blob_key(changed.archive), b"something else")

    assert ["blob", "blob"] == [one.what for one in verify_hub(hub)]


def test_a_backup_comes_back_whole_in_either_kind_of_hub(hub: Hub, tmp_path: Path) -> None:
    release = publish_text(hub, LOCAL, "table-tidy", version="1.0.0")
    publish_text(hub, LOCAL, "thief", DANGEROUS)
    token = add_token(hub, LOCAL, name="ci", role="publisher", namespace="team").token
    file = tmp_path / "hub.tar"

    saved = backup(hub, str(file))
    with Hub(HubOptions(home=str(tmp_path / "new")), env=ENV) as new:
        came = restore(new, str(file))
        caller = caller_of_token(new, token)
        faults = verify_hub(new)
        found = search(new, LOCAL, HubQuery("ragged tables")).rows
        with new.database.read() as connection:
            _space, again = need_release(connection, LOCAL, "team", "table-tidy", "latest")
        newer = publish_text(new, LOCAL, "table-tidy", "Newer words.")
        second = tmp_path / "second.tar"
        backup(new, str(second))
        key = new.key_id

    assert (2, 2) == (saved, came)
    assert (release, []) == (again, faults)
    assert ("ci", ["table-tidy"]) == (caller.name, [one["name"] for one in found])
    assert (hub.key_id, "1.0.1") == (key, newer.version)
    assert 0o600 == os.stat(file).st_mode & 0o777


def test_another_approved_archive_in_the_place_of_one_is_found(hub: Hub) -> None:
    publish_text(hub, LOCAL, "table-tidy", "Align them.", "1.0.0")
    publish_text(hub, LOCAL, "table-tidy", "Tidy them.", "1.0.1")
    with hub.database.write() as connection:
        connection.run(
            "UPDATE releases SET archive = (SELECT archive FROM releases WHERE version = '1.0.1'), "
            "size = (SELECT size FROM releases WHERE version = '1.0.1')"
        )

    assert [("blob", "team/table-tidy@1.0.0", "it holds other files than were published")] == [
        tuple(one) for one in verify_hub(hub)
    ]


def test_a_backup_of_an_older_format_leaves_the_database_in_its_own(
    hub: Hub, tmp_path: Path
) -> None:
    publish_text(hub, LOCAL, "table-tidy")
    with hub.database.write() as connection:
        connection.run("UPDATE hub_facts SET value = '1' WHERE name = 'format'")
    backup(hub, str(tmp_path / "old.tar"))
    home = str(tmp_path / "new")

    with Hub(HubOptions(home=home), env=ENV) as new:
        restore(new, str(tmp_path / "old.tar"))
    with Hub(HubOptions(home=home), env=ENV) as again:
        faults = verify_hub(again)

    assert [] == faults


def test_the_embedded_hub_moves_to_another_kind(hub_options: HubOptions, tmp_path: Path) -> None:
    with Hub(HubOptions(home=str(tmp_path / "embedded")), env=ENV) as old:
        publish_text(old, LOCAL, "table-tidy", version="1.0.0")
        backup(old, str(tmp_path / "hub.tar"))

    with Hub(hub_options, env=ENV) as new:
        restore(new, str(tmp_path / "hub.tar"))
        publish_text(new, LOCAL, "table-tidy", "Newer words.")
        with new.database.read() as connection:
            _skill, seen = need_skill(connection, LOCAL, "team", "table-tidy")

        assert ["1.0.1", "1.0.0"] == [one.version for one in seen]
        assert [] == verify_hub(new)


def test_a_hub_that_has_something_takes_no_backup(hub: Hub, tmp_path: Path) -> None:
    publish_text(hub, LOCAL, "table-tidy")
    backup(hub, str(tmp_path / "hub.tar"))

    with pytest.raises(RefusedError) as refused:
        restore(hub, str(tmp_path / "hub.tar"))

    assert "hub-not-empty" == refused.value.code


def test_a_damaged_backup_leaves_the_hub_empty(hub: Hub, tmp_path: Path) -> None:
    publish_text(hub, LOCAL, "table-tidy")
    backup(hub, str(tmp_path / "hub.tar"))
    data = bytearray((tmp_path / "hub.tar").read_bytes())
    at = data.rfind(b"Align the columns")
    data[at : at + 5] = b"Alter"
    (tmp_path / "bad.tar").write_bytes(data)
    (tmp_path / "cut.tar").write_bytes(data[: len(data) // 3])

    with Hub(HubOptions(home=str(tmp_path / "new")), env=ENV) as new:
        with pytest.raises(IntegrityError):
            restore(new, str(tmp_path / "bad.tar"))
        with pytest.raises((IntegrityError, StoreError)):
            restore(new, str(tmp_path / "cut.tar"))

        assert 0 == search(new, LOCAL, HubQuery("")).total
    with tarfile.open(tmp_path / "hub.tar") as tar:
        assert "key.pem" in tar.getnames()


def test_a_rehearsed_migration_leaves_nothing_behind(tmp_path: Path) -> None:
    database = open_database(str(tmp_path / "hub.db"))

    told = migrate(database, rehearse=True)
    with database.read() as connection:
        before = format_of(connection)
    ran = migrate(database)
    again = migrate(database)
    with database.read() as connection:
        after = format_of(connection)
    database.close()

    assert (told, []) == (ran, again)
    assert (0, all_migrations()[-1].number) == (before, after)


def test_a_database_of_the_first_format_keeps_everything_when_it_is_brought_up_to_date(
    tmp_path: Path,
) -> None:
    database = open_database(str(tmp_path / "hub.db"))
    first = all_migrations()[0]
    with database.write() as connection:
        for statement in first.statements(database.dialect):
            connection.run(statement)
        connection.run("INSERT INTO hub_facts (name, value) VALUES ('format', '1')")
        connection.run("INSERT INTO organisations (name, created_at) VALUES ('acme', 1)")
        connection.run(
            "INSERT INTO namespaces (organisation_id, name, created_at) VALUES (1, 'web', 1)"
        )
        connection.run(
            "INSERT INTO webhooks (namespace_id, url, secret, created_at) VALUES (1, 'x', 'y', 1)"
        )
        connection.run("INSERT INTO deliveries (webhook_id, event, next_at) VALUES (1, '{}', 5)")

    ran = migrate(database)

    with database.read() as connection:
        row = connection.rows("SELECT * FROM deliveries")[0]
    database.close()
    assert [one.name for one in all_migrations()[1:]] == ran
    assert (5, 0, 0) == (row["next_at"], row["leased_until"], row["given_up_at"])


def test_a_database_of_a_newer_metier_is_refused(hub: Hub) -> None:
    with hub.database.write() as connection:
        connection.run("UPDATE hub_facts SET value = '9999' WHERE name = 'oldest_reader'")

    with pytest.raises(StoreError) as refused:
        migrate(hub.database)

    assert "hub-format" == refused.value.code
