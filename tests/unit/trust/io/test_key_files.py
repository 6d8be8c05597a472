"""Keys and signatures on disk."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from metier.errors import NotFoundError, RefusedError, StoreError
from metier.trust.io import key_files

KEY = "ed25519:" + "ab" * 16
DIGEST = "sha256:" + "cd" * 32


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_keys_are_kept_for_their_owner_alone_and_listed_with_their_halves(tmp_path: Path) -> None:
    folder, other = str(tmp_path / "home"), "ed25519:" + "01" * 16

    path = key_files.write_key(folder, None, KEY, b"public", b"private")
    key_files.write_key(folder, None, other, b"theirs", None)

    assert {other: False, KEY: True} == key_files.list_keys(folder)
    assert (b"public", b"private") == (
        key_files.read_key(folder, KEY, "pub"),
        key_files.read_key(folder, KEY, "key"),
    )
    assert (b"theirs", None) == (
        key_files.read_key(folder, other, "pub"),
        key_files.read_key(folder, other, "key"),
    )
    assert f"{folder}/keys/ed25519-{'ab' * 16}.pub" == path
    assert [0o700, 0o700, 0o600, 0o600] == [
        mode(one) for one in (folder, f"{folder}/keys", path, path[:-3] + "key")
    ]


def test_where_there_are_no_keys_none_is_trusted(tmp_path: Path) -> None:
    assert ({}, {}) == (key_files.list_keys(None), key_files.list_keys(str(tmp_path)))
    assert (None, None, None) == (
        key_files.read_key(None, KEY, "pub"),
        key_files.read_key(str(tmp_path), KEY, "pub"),
        key_files.read_signature(None, DIGEST),
    )


def test_a_key_s_public_half_alone_makes_it_a_key(tmp_path: Path) -> None:
    key_files.write_key(str(tmp_path), None, KEY, b"public", b"private")
    (tmp_path / "keys" / f"ed25519-{'ab' * 16}.pub").unlink()

    assert {} == key_files.list_keys(str(tmp_path))


def test_a_removed_key_is_gone_with_both_halves(tmp_path: Path) -> None:
    key_files.write_key(str(tmp_path), None, KEY, b"public", b"private")

    key_files.remove_key(str(tmp_path), KEY)

    assert [] == os.listdir(tmp_path / "keys")
    for folder in (str(tmp_path), None):
        with pytest.raises(NotFoundError, match="there is no key"):
            key_files.remove_key(folder, KEY)


def test_an_envelope_is_kept_beside_the_skills_and_found_by_its_digest(tmp_path: Path) -> None:
    path = key_files.write_signature(str(tmp_path), None, DIGEST, b"{}")

    assert f"{tmp_path}/signatures/sha256-{'cd' * 32}.json" == path
    assert b"{}" == key_files.read_signature(str(tmp_path), DIGEST)
    assert key_files.read_signature(str(tmp_path), DIGEST.replace("cd", "ce")) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "ab",
        ":ab",
        "ed25519:",
        "ed25519:../x",
        "../x:ab",
        "a/b:ab",
        "ed25519:a.b",
        "ed25519:\u0661",
        "\u00e9:ab",
        "a:b:c",
        "ed25519:" + "a" * 192,
    ],
)
def test_a_name_that_is_no_key_and_no_digest_is_no_path(name: str, tmp_path: Path) -> None:
    for call in (
        lambda: key_files.read_key(str(tmp_path), name, "pub"),
        lambda: key_files.write_key(str(tmp_path), None, name, b"", b""),
        lambda: key_files.remove_key(str(tmp_path), name),
        lambda: key_files.read_signature(str(tmp_path), name),
        lambda: key_files.write_signature(str(tmp_path), None, name, b""),
    ):
        with pytest.raises(RefusedError, match="neither a key nor a digest"):
            call()


def test_a_key_or_an_envelope_is_small_and_no_link(tmp_path: Path) -> None:
    folder = str(tmp_path)
    path = Path(key_files.write_signature(folder, None, DIGEST, b"x" * key_files.MAX_SMALL_BYTES))
    longest = key_files.read_signature(folder, DIGEST)
    path.write_bytes(b"x" * (key_files.MAX_SMALL_BYTES + 1))

    with pytest.raises(OSError, match="more than 65,536 bytes"):
        key_files.read_signature(folder, DIGEST)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        key_files.read_signature(folder, DIGEST)

    assert longest is not None
    assert key_files.MAX_SMALL_BYTES == len(longest)


def test_without_a_folder_no_key_and_no_envelope_is_kept() -> None:
    with pytest.raises(StoreError, match="no place to keep keys"):
        key_files.write_key(None, None, KEY, b"", None)
    with pytest.raises(StoreError, match="no place to keep keys"):
        key_files.write_signature(None, None, DIGEST, b"")


def test_without_a_folder_no_key_and_no_envelope_is_looked_for_where_the_process_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_files.write_key(str(tmp_path / "None"), None, KEY, b"public", None)
    key_files.write_signature(str(tmp_path / "None"), None, DIGEST, b"{}")
    monkeypatch.chdir(tmp_path)

    assert ({}, None, None) == (
        key_files.list_keys(None),
        key_files.read_key(None, KEY, "pub"),
        key_files.read_signature(None, DIGEST),
    )


def test_no_home_is_made_for_a_key_or_an_envelope(tmp_path: Path) -> None:
    home = str(tmp_path / "nobody")

    with pytest.raises(StoreError, match="does not exist"):
        key_files.write_key(f"{home}/.metier", home, KEY, b"public", None)
    with pytest.raises(StoreError, match="does not exist"):
        key_files.write_signature(f"{home}/.metier", home, DIGEST, b"{}")

    assert not os.path.lexists(home)


def test_a_write_that_fails_leaves_no_file_behind(tmp_path: Path) -> None:
    path = Path(key_files.write_signature(str(tmp_path), None, DIGEST, b"{}"))
    path.unlink()
    (path / "in the way").mkdir(parents=True)

    with pytest.raises(StoreError, match="cannot write"):
        key_files.write_signature(str(tmp_path), None, DIGEST, b"{}")

    assert [path.name] == os.listdir(path.parent)


def test_what_cannot_be_written_is_an_error_that_names_the_path(tmp_path: Path) -> None:
    (tmp_path / "keys").write_bytes(b"")

    with pytest.raises(StoreError, match=f"cannot write {tmp_path}/keys"):
        key_files.write_key(str(tmp_path), None, KEY, b"public", None)
    with pytest.raises(StoreError, match=f"cannot read {tmp_path}/keys"):
        key_files.list_keys(str(tmp_path))


def test_a_file_that_a_person_named_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "mine.pub").write_bytes(b"public")
    (tmp_path / "link").symlink_to(tmp_path / "mine.pub")

    assert (b"public", b"public") == (
        key_files.read_file(str(tmp_path / "mine.pub")),
        key_files.read_file(str(tmp_path / "link")),
    )
    with pytest.raises(NotFoundError, match="there is nothing at"):
        key_files.read_file(str(tmp_path / "absent"))
    with pytest.raises(NotFoundError, match="cannot be read: it is not a plain file"):
        key_files.read_file(str(tmp_path))
