"""A policy on disk: what proves it whole, and that damage of any kind never allows more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from metier.trust import sign
from metier.trust.io import policy_file
from metier.trust.io.policy_file import read_in_force

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT = b'version = 1\n[sources]\nallow = ["example/*"]\n[trust]\npolicy = "strict"\n'


@pytest.fixture
def pair() -> sign.KeyPair:
    pytest.importorskip("cryptography")
    return sign.make_key_pair(b"1" * 32)


@pytest.fixture
def folder(tmp_path: Path, pair: sign.KeyPair, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of a signed policy, which belongs to whoever runs the test."""
    monkeypatch.setattr(policy_file, "OWNER", os.getuid())
    made = tmp_path / "etc"
    made.mkdir(mode=0o755)
    (made / "policy.toml").write_bytes(TEXT)
    (made / "policy.pub").write_bytes(pair.public)
    (made / "policy.toml.sig").write_bytes(sign.sign_detached(sign.POLICY_TYPE, TEXT, pair.private))
    for file in made.iterdir():
        file.chmod(0o644)
    return made


def test_a_signed_policy_holds_and_says_who_signed_it(folder: Path, pair: sign.KeyPair) -> None:
    path = str(folder / "policy.toml")

    force = read_in_force(path, [])

    assert ("", ((path, pair.id),)) == (force.damage, force.signed_by)
    assert ["strict"] == [one.words["preset"] for one in force.policies]


def test_whichever_byte_of_it_is_flipped_nothing_of_it_counts(folder: Path) -> None:
    for name in ("policy.toml", "policy.toml.sig"):
        file = folder / name
        whole = file.read_bytes()
        good = 0
        for at in range(len(whole)):
            for bit in (1, 32, 128):
                file.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
                force = read_in_force(str(folder / "policy.toml"), [])
                # A change to the envelope that leaves its signature whole leaves the policy whole.
                assert force.damage or name == "policy.toml.sig"
                assert bool(force.damage) != bool(force.policies)
                if force.policies:
                    assert force.policies[0].sources.allow
                    good += 1
        file.write_bytes(whole)
        assert good < len(whole)


def put(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(data)


def instead(make: Callable[[Path], object]) -> Callable[[Path], object]:
    """Put something else in the place of the policy."""

    def harm(folder: Path) -> None:
        (folder / "policy.toml").rename(folder / "real")
        make(folder / "policy.toml")

    return harm


HARMS: dict[str, Callable[[Path], object]] = {
    "no signature": lambda folder: (folder / "policy.toml.sig").unlink(),
    "no policy": instead(str),
    "cut": put("policy.toml", TEXT[:20]),
    "empty": put("policy.toml", b""),
    "not TOML": put("policy.toml", b"\xff\x00{"),
    "huge": put("policy.toml", b"#" * (1 << 20)),
    "a folder": instead(os.mkdir),
    "a pipe": instead(os.mkfifo),
    "a link": instead(lambda path: path.symlink_to("real")),
    "another key": lambda folder: (folder / "policy.pub").write_bytes(
        sign.make_key_pair(b"2" * 32).public
    ),
    "no key at all": put("policy.pub", b""),
    "a key that others can write": lambda folder: (folder / "policy.pub").chmod(0o666),
    "a folder that others can write": lambda folder: folder.chmod(0o777),
    "a signature of a skill": lambda folder: (folder / "policy.toml.sig").write_bytes(
        sign.sign_digest("policy", "sha256:1", sign.make_key_pair(b"1" * 32).private)
    ),
    "a huge signature": put("policy.toml.sig", b" " * (1 << 20)),
}


@pytest.mark.parametrize("harm", HARMS)
def test_damage_of_any_kind_is_damage_and_says_what(harm: str, folder: Path) -> None:
    HARMS[harm](folder)

    force = read_in_force(str(folder / "policy.toml"), [])

    assert () == force.policies
    assert force.damage.startswith(f"policy: {folder}/policy.toml can't be used: ")


def test_an_unsigned_policy_counts_if_only_the_administrator_can_write_it(folder: Path) -> None:
    (folder / "policy.pub").unlink()
    path = folder / "policy.toml"

    fine = read_in_force(str(path), [])
    path.chmod(0o664)
    shared = read_in_force(str(path), [])
    named = read_in_force("", [str(path)])  # which can only narrow, whoever wrote it

    assert ("", "") == (fine.damage, named.damage)
    assert "can be changed by others than the administrator" in shared.damage


def test_an_unsigned_policy_of_somebody_else_does_not_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "policy.pub").unlink()
    monkeypatch.setattr(policy_file, "OWNER", os.getuid() + 1)

    assert "others than the administrator" in read_in_force(str(folder / "policy.toml"), []).damage


def test_one_damaged_policy_does_not_take_the_other_out_of_force(
    folder: Path, tmp_path: Path
) -> None:
    force = read_in_force(str(folder / "policy.toml"), [str(tmp_path / "none.toml")])

    assert 1 == len(force.policies)
    assert "none.toml can't be used: there is no such file" in force.damage
