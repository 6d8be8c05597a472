"""The three places where values are kept: a session's memory, a file for its owner alone, and the system's keyring."""

from __future__ import annotations

import os
import stat
import sys
import threading
from typing import TYPE_CHECKING

import keyring.backends.fail
import pytest
from fakes.ring import MemoryRing, used

from metier.errors import MetierError, RefusedError, StoreError
from metier.secrets.io.file_store import FileStore
from metier.secrets.io.system_keyring import KeyringStore
from metier.secrets.vault import SessionStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from metier.ports import SecretStore

VALUE = "planted-3b9f 'quoted' \"twice\" \\ back"


@pytest.fixture
def ring() -> Iterator[MemoryRing]:
    with used(MemoryRing()) as found:
        assert isinstance(found, MemoryRing)
        yield found


@pytest.fixture(params=["session", "file", "keyring"])
def store(request: pytest.FixtureRequest, tmp_path: Path, ring: MemoryRing) -> SecretStore:
    assert not ring.held
    made: dict[str, SecretStore] = {
        "session": SessionStore({}),
        "file": FileStore(str(tmp_path / "state"), None),
        "keyring": KeyringStore(str(tmp_path / "state"), None),
    }
    return made[request.param]


def values_file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "secrets" / "values.env"


def test_a_value_is_kept_given_replaced_and_forgotten(store: SecretStore) -> None:
    empty = store.get("A_KEY"), list(store.names()), store.drop("A_KEY")
    store.put("A_KEY", "old")
    store.put("B_KEY", "b")
    store.put("A_KEY", VALUE)

    kept = store.get("A_KEY"), sorted(store.names())
    dropped = store.drop("A_KEY"), store.drop("A_KEY"), store.get("A_KEY"), list(store.names())

    assert (None, [], False) == empty
    assert (VALUE, ["A_KEY", "B_KEY"]) == kept
    assert (True, False, None, ["B_KEY"]) == dropped
    assert "planted" not in repr(store)


def test_the_file_and_its_folder_are_for_their_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        FileStore(str(tmp_path / "state"), None).put("A_KEY", VALUE)
    finally:
        os.umask(old)

    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (values_file(tmp_path), values_file(tmp_path).parent)
    ]
    assert [0o600, 0o700] == modes
    assert ["lock", "values.env"] == sorted(
        path.name for path in values_file(tmp_path).parent.iterdir()
    )


def readable_by_others(path: Path) -> None:
    path.chmod(0o640)


def open_folder(path: Path) -> None:
    path.parent.chmod(0o750)


def somebody_else_s(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only the superuser can give a file away")
    os.chown(path, 12345, -1)


def a_link(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def a_second_name(path: Path) -> None:
    path.with_name("elsewhere").hardlink_to(path)


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir(0o700)


def a_linked_folder(path: Path) -> None:
    target = path.parent.with_name("elsewhere")
    path.parent.rename(target)
    path.parent.symlink_to(target)


@pytest.mark.parametrize(
    "spoil",
    [
        readable_by_others,
        open_folder,
        somebody_else_s,
        a_link,
        a_second_name,
        a_pipe,
        a_folder,
        a_linked_folder,
    ],
)
def test_a_file_that_somebody_tampered_with_is_refused_and_left_alone(
    spoil: object, tmp_path: Path
) -> None:
    store = FileStore(str(tmp_path / "state"), None)
    store.put("A_KEY", VALUE)
    assert callable(spoil)
    spoil(values_file(tmp_path))

    for work in (
        store.names,
        lambda: store.get("A_KEY"),
        lambda: store.put("B_KEY", "b"),
        lambda: store.drop("A_KEY"),
        store.ready,
    ):
        with pytest.raises(RefusedError) as refused:
            work()

        assert "unsafe-store" == refused.value.code
        assert "planted" not in str(refused.value.as_dict())


def test_a_file_of_more_than_a_few_megabytes_is_refused(tmp_path: Path) -> None:
    store = FileStore(str(tmp_path / "state"), None)
    store.put("A_KEY", VALUE)
    values_file(tmp_path).write_bytes(b"A=b\n" * (2 << 20))

    with pytest.raises(RefusedError):
        store.get("A")


def test_without_a_place_nothing_is_kept() -> None:
    for store in (FileStore(None, None), KeyringStore(None, None)):
        assert [] == store.names()
        with pytest.raises(StoreError):
            store.put("A_KEY", VALUE)


def test_a_home_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    home = tmp_path / "home"

    with pytest.raises(StoreError):
        FileStore(f"{home}/.local/share/metier", str(home)).put("A_KEY", VALUE)

    assert not home.exists()


def test_many_writers_lose_nothing_of_each_other_s(tmp_path: Path) -> None:
    def write(number: int) -> None:
        FileStore(str(tmp_path / "state"), None).put(f"KEY_{number}", str(number))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 12 == len(FileStore(str(tmp_path / "state"), None).names())


def test_what_breaks_off_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FileStore(str(tmp_path / "state"), None)
    store.put("A_KEY", "old")

    def interrupted(_file: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.put("A_KEY", "new")

    assert "old" == store.get("A_KEY")
    assert ["lock", "values.env"] == sorted(
        path.name for path in values_file(tmp_path).parent.iterdir()
    )


def test_of_a_keyring_only_the_names_are_written_down(tmp_path: Path, ring: MemoryRing) -> None:
    store = KeyringStore(str(tmp_path / "state"), None)

    store.put("A_KEY", VALUE)

    written = b"".join(
        path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file()
    )
    assert b'["A_KEY"]' in written
    assert b"planted" not in written
    assert {("metier", "A_KEY"): VALUE} == ring.held


@pytest.mark.parametrize("text", ["{}", "[1]", "[", '["A-B", "A"]', "[" * 100_000])
def test_a_list_of_names_that_cannot_be_read_lists_what_it_can(
    text: str, tmp_path: Path, ring: MemoryRing
) -> None:
    assert not ring.held
    store = KeyringStore(str(tmp_path / "state"), None)
    store.put("B_KEY", VALUE)
    (tmp_path / "state" / "secrets" / "names.json").write_text(text)

    assert (["A"] if "A-B" in text else []) == store.names()


def test_a_keyring_that_fails_is_reported_without_its_own_words(
    tmp_path: Path, ring: MemoryRing
) -> None:
    store = KeyringStore(str(tmp_path / "state"), None)
    ring.broken = True

    with pytest.raises(StoreError) as failed:
        store.put("A_KEY", VALUE)

    assert "OSError" in failed.value.message
    assert "planted" not in str(failed.value.as_dict())
    assert (None, True) == (failed.value.__cause__, failed.value.__suppress_context__)
    assert [] == store.names()


class PlaintextKeyring(MemoryRing):
    """One that anybody can read."""


@pytest.mark.parametrize("backend", [keyring.backends.fail.Keyring, PlaintextKeyring])
def test_without_a_keyring_that_keeps_a_secret_it_refuses_and_says_what_to_install(
    backend: type, tmp_path: Path
) -> None:
    store = KeyringStore(str(tmp_path / "state"), None)

    with used(backend()), pytest.raises(RefusedError) as refused:
        store.put("A_KEY", VALUE)

    assert ("no-keyring", True) == (refused.value.code, "metier[keyring]" in refused.value.hint)
    assert not (tmp_path / "state").exists()


def test_without_the_package_it_refuses_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)

    with pytest.raises(MetierError) as refused:
        KeyringStore(str(tmp_path / "state"), None).ready()

    assert ("no-keyring", True) == (refused.value.code, "not installed" in refused.value.message)
