"""Decisions, keys and signatures on disk."""

from __future__ import annotations

import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from metier.errors import NotFoundError, RefusedError, StoreError
from metier.trust import disk
from metier.trust.facts import Approval
from metier.trust.state import MOST_BYTES, Project, Row, State, state_bytes

DECIDED = State((Row(Approval("pdf", "sha256:aa", "approved", "verified", "2026-03-01"), "/skills/pdf"),), (Project("/work", "2026-03-01"),))
KEY = "ed25519:" + "ab" * 16
DIGEST = "sha256:" + "cd" * 32


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_a_moment_is_in_iso_form_and_in_utc_wherever_the_machine_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    form = "%Y-%m-%dT%H:%M:%SZ"
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Etc/GMT-12")
        time.tzset()

        before, found, after = datetime.now(UTC).strftime(form), disk.now(), datetime.now(UTC).strftime(form)

    time.tzset()
    assert before <= found <= after
    assert (20, "T", "Z") == (len(found), found[10], found[-1])


# --- decisions


def test_without_a_folder_or_a_file_nothing_was_decided(tmp_path: Path) -> None:
    assert State() == disk.read(None) == disk.read(str(tmp_path)) == disk.read(str(tmp_path / "absent"))


def test_a_change_is_read_back_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = str(tmp_path / "home")

    changed = disk.change(folder, None, lambda before: DECIDED if before == State() else before)

    assert DECIDED == changed == disk.read(folder)
    assert [0o700, 0o600, 0o600] == [mode(path) for path in (folder, f"{folder}/{disk.STATE}", f"{folder}/{disk.LOCK}")]
    assert {disk.STATE, disk.LOCK} == set(os.listdir(folder))


def test_a_change_sees_what_was_decided_before_it(tmp_path: Path) -> None:
    disk.change(str(tmp_path), None, lambda _before: DECIDED)

    after = disk.change(str(tmp_path), None, lambda before: before._replace(projects=()))

    assert State(DECIDED.rows) == after == disk.read(str(tmp_path))


def test_without_a_folder_nothing_is_decided() -> None:
    with pytest.raises(StoreError, match="no place to keep decisions"):
        disk.change(None, None, lambda before: before)


def test_a_home_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    home = str(tmp_path / "nobody")

    with pytest.raises(StoreError, match="does not exist"):
        disk.change(f"{home}/.metier", home, lambda before: before)

    assert not os.path.lexists(home)


def test_a_folder_outside_the_home_is_made_even_when_there_is_no_home(tmp_path: Path) -> None:
    disk.change(str(tmp_path / "nobody-else" / "metier"), str(tmp_path / "nobody"), lambda _before: DECIDED)

    assert DECIDED == disk.read(str(tmp_path / "nobody-else" / "metier"))


@pytest.mark.parametrize("data", [b"", b"{", b"{}", state_bytes(DECIDED)[:-3]])
def test_decisions_that_cannot_be_read_are_never_replaced(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / disk.STATE
    file.write_bytes(data)

    with pytest.raises(StoreError, match="it is left as it is"):
        disk.change(str(tmp_path), None, lambda _before: DECIDED)

    assert data == file.read_bytes()
    assert disk.read(str(tmp_path)).broken


def test_an_edit_that_fails_leaves_the_decisions_and_no_file_behind(tmp_path: Path) -> None:
    disk.change(str(tmp_path), None, lambda _before: DECIDED)

    def refuse(_before: State) -> State:
        raise RefusedError("no")

    with pytest.raises(RefusedError):
        disk.change(str(tmp_path), None, refuse)

    assert DECIDED == disk.read(str(tmp_path))
    assert {disk.STATE, disk.LOCK} == set(os.listdir(tmp_path))


def test_a_link_in_place_of_the_decisions_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(state_bytes(DECIDED))
    (tmp_path / disk.STATE).symlink_to(tmp_path / "real.json")

    found = disk.read(str(tmp_path))

    assert found.broken
    assert ((), ()) == found[:2]


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / disk.STATE)

    assert "not a plain file" in disk.read(str(tmp_path)).broken


def test_decisions_may_be_as_long_as_the_limit_and_no_longer(tmp_path: Path) -> None:
    file = tmp_path / disk.STATE
    file.write_bytes(state_bytes(DECIDED).ljust(MOST_BYTES))
    longest = disk.read(str(tmp_path))

    file.write_bytes(state_bytes(DECIDED).ljust(MOST_BYTES + 1))

    assert DECIDED == longest
    assert f"more than {MOST_BYTES:,} bytes" in disk.read(str(tmp_path)).broken


def test_a_decision_waits_for_the_lock_and_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    monkeypatch.setattr(disk, "WAIT_SECONDS", 0.0)
    holder = os.open(tmp_path / disk.LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(holder, fcntl.LOCK_EX)

    with pytest.raises(StoreError, match="another process holds its lock"):
        disk.change(str(tmp_path), None, lambda _before: DECIDED)
    os.close(holder)

    assert DECIDED == disk.change(str(tmp_path), None, lambda _before: DECIDED)


# --- keys and signatures


def test_keys_are_kept_for_their_owner_alone_and_listed_with_their_halves(tmp_path: Path) -> None:
    folder, other = str(tmp_path / "home"), "ed25519:" + "01" * 16

    path = disk.write_key(folder, None, KEY, b"public", b"private")
    disk.write_key(folder, None, other, b"theirs", None)

    assert {other: False, KEY: True} == disk.keys(folder)
    assert (b"public", b"private") == (disk.key(folder, KEY, "pub"), disk.key(folder, KEY, "key"))
    assert (b"theirs", None) == (disk.key(folder, other, "pub"), disk.key(folder, other, "key"))
    assert f"{folder}/keys/ed25519-{'ab' * 16}.pub" == path
    assert [0o700, 0o700, 0o600, 0o600] == [mode(one) for one in (folder, f"{folder}/keys", path, path[:-3] + "key")]


def test_where_there_are_no_keys_none_is_trusted(tmp_path: Path) -> None:
    assert ({}, {}) == (disk.keys(None), disk.keys(str(tmp_path)))
    assert (None, None, None) == (disk.key(None, KEY, "pub"), disk.key(str(tmp_path), KEY, "pub"), disk.signature(None, DIGEST))


def test_a_key_s_public_half_alone_makes_it_a_key(tmp_path: Path) -> None:
    disk.write_key(str(tmp_path), None, KEY, b"public", b"private")
    (tmp_path / "keys" / f"ed25519-{'ab' * 16}.pub").unlink()

    assert {} == disk.keys(str(tmp_path))


def test_a_removed_key_is_gone_with_both_halves(tmp_path: Path) -> None:
    disk.write_key(str(tmp_path), None, KEY, b"public", b"private")

    disk.remove_key(str(tmp_path), KEY)

    assert [] == os.listdir(tmp_path / "keys")
    for folder in (str(tmp_path), None):
        with pytest.raises(NotFoundError, match="there is no key"):
            disk.remove_key(folder, KEY)


def test_an_envelope_is_kept_beside_the_skills_and_found_by_its_digest(tmp_path: Path) -> None:
    path = disk.write_signature(str(tmp_path), None, DIGEST, b"{}")

    assert f"{tmp_path}/signatures/sha256-{'cd' * 32}.json" == path
    assert b"{}" == disk.signature(str(tmp_path), DIGEST)
    assert disk.signature(str(tmp_path), DIGEST.replace("cd", "ce")) is None


@pytest.mark.parametrize("name", ["", "ab", ":ab", "ed25519:", "ed25519:../x", "../x:ab", "a/b:ab", "ed25519:a.b", "ed25519:\u0661", "\u00e9:ab", "a:b:c", "ed25519:" + "a" * 192])
def test_a_name_that_is_no_key_and_no_digest_is_no_path(name: str, tmp_path: Path) -> None:
    for call in (
        lambda: disk.key(str(tmp_path), name, "pub"), lambda: disk.write_key(str(tmp_path), None, name, b"", b""), lambda: disk.remove_key(str(tmp_path), name),
        lambda: disk.signature(str(tmp_path), name), lambda: disk.write_signature(str(tmp_path), None, name, b""),
    ):  # fmt: skip
        with pytest.raises(RefusedError, match="neither a key nor a digest"):
            call()


def test_a_key_or_an_envelope_is_small_and_no_link(tmp_path: Path) -> None:
    folder = str(tmp_path)
    path = Path(disk.write_signature(folder, None, DIGEST, b"x" * disk.SMALL_BYTES))
    longest = disk.signature(folder, DIGEST)
    path.write_bytes(b"x" * (disk.SMALL_BYTES + 1))

    with pytest.raises(OSError, match="more than 65,536 bytes"):
        disk.signature(folder, DIGEST)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        disk.signature(folder, DIGEST)

    assert longest is not None
    assert disk.SMALL_BYTES == len(longest)


def test_without_a_folder_no_key_and_no_envelope_is_kept() -> None:
    with pytest.raises(StoreError, match="no place to keep keys"):
        disk.write_key(None, None, KEY, b"", None)
    with pytest.raises(StoreError, match="no place to keep keys"):
        disk.write_signature(None, None, DIGEST, b"")


def test_without_a_folder_no_key_and_no_envelope_is_looked_for_where_the_process_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk.write_key(str(tmp_path / "None"), None, KEY, b"public", None)
    disk.write_signature(str(tmp_path / "None"), None, DIGEST, b"{}")
    monkeypatch.chdir(tmp_path)

    assert ({}, None, None) == (disk.keys(None), disk.key(None, KEY, "pub"), disk.signature(None, DIGEST))


def test_no_home_is_made_for_a_key_or_an_envelope(tmp_path: Path) -> None:
    home = str(tmp_path / "nobody")

    with pytest.raises(StoreError, match="does not exist"):
        disk.write_key(f"{home}/.metier", home, KEY, b"public", None)
    with pytest.raises(StoreError, match="does not exist"):
        disk.write_signature(f"{home}/.metier", home, DIGEST, b"{}")

    assert not os.path.lexists(home)


def test_a_write_that_fails_leaves_no_file_behind(tmp_path: Path) -> None:
    path = Path(disk.write_signature(str(tmp_path), None, DIGEST, b"{}"))
    path.unlink()
    (path / "in the way").mkdir(parents=True)

    with pytest.raises(StoreError, match="cannot write"):
        disk.write_signature(str(tmp_path), None, DIGEST, b"{}")

    assert [path.name] == os.listdir(path.parent)


def test_what_cannot_be_written_is_an_error_that_names_the_path(tmp_path: Path) -> None:
    (tmp_path / "keys").write_bytes(b"")

    with pytest.raises(StoreError, match=f"cannot write {tmp_path}/keys"):
        disk.write_key(str(tmp_path), None, KEY, b"public", None)
    with pytest.raises(StoreError, match=f"cannot read {tmp_path}/keys"):
        disk.keys(str(tmp_path))


def test_a_file_that_a_person_named_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "mine.pub").write_bytes(b"public")
    (tmp_path / "link").symlink_to(tmp_path / "mine.pub")

    assert (b"public", b"public") == (disk.read_file(str(tmp_path / "mine.pub")), disk.read_file(str(tmp_path / "link")))
    with pytest.raises(NotFoundError, match="there is nothing at"):
        disk.read_file(str(tmp_path / "absent"))
    with pytest.raises(NotFoundError, match="cannot be read: it is not a plain file"):
        disk.read_file(str(tmp_path))
