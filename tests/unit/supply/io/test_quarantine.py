from __future__ import annotations

import hashlib
import os
import signal
from typing import TYPE_CHECKING

import pytest
from fakes.hands import FaultyHands, in_a_child

from metier.errors import MetierError
from metier.settings.model import SupplySettings
from metier.standard.digest import TreeFile
from metier.store.io.disk_calls import OsDiskCalls
from metier.supply.io.quarantine import Quarantine
from metier.supply.model import Item, Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class Told:
    """A tree that gives for each path what it was told to, whatever its entries announce."""

    def __init__(self, said: dict[Item, list[bytes]]) -> None:
        """Hold it."""
        self.said, self.origin = said, Origin("folder", "/x")

    def items(self) -> Sequence[Item]:
        """List it."""
        return list(self.said)

    def contents(self, items: Sequence[Item]) -> Iterator[tuple[Item, Iterator[bytes]]]:
        """Give it."""
        for item in items:
            yield item, iter(self.said[item])

    def close(self) -> None:
        """Do nothing."""


def laid(
    folder: Path,
    said: dict[Item, list[bytes]],
    strip: str = "",
    limits: SupplySettings | None = None,
) -> tuple[TreeFile, ...]:
    with Quarantine(str(folder / "staging"), None, OsDiskCalls()) as desk:
        tree = Told(said)
        return desk.lay(tree, tree.items(), strip, limits or SupplySettings())[1]


def code_of(
    folder: Path,
    said: dict[Item, list[bytes]],
    strip: str = "",
    limits: SupplySettings | None = None,
) -> str:
    with pytest.raises(MetierError) as caught:
        laid(folder, said, strip, limits)
    assert [".lock"] == os.listdir(folder / "staging")
    return caught.value.code


def test_entries_are_written_below_their_skill_and_hashed_on_the_way(tmp_path: Path) -> None:
    said = {
        Item("s/pdf/SKILL.md", 5, "file"): [b"he", b"llo"],
        Item("s/pdf/bin/x", 1, "exec"): [b"x"],
        Item("s/pdf/empty", 0, "file"): [],
    }
    with Quarantine(str(tmp_path / "staging"), None, OsDiskCalls()) as desk:
        tree = Told(said)
        folder, files = desk.lay(tree, tree.items(), "s/pdf", SupplySettings())
        written = {
            os.path.relpath(os.path.join(at, name), folder)
            for at, _folders, names in os.walk(folder)
            for name in names
        }
        modes = [os.stat(f"{folder}/{name}").st_mode & 0o777 for name in ("SKILL.md", "bin/x")]

    assert {"SKILL.md", "bin/x", "empty"} == written
    assert [0o600, 0o700] == modes
    assert TreeFile("SKILL.md", 5, hashlib.sha256(b"hello").digest(), mode=False) == files[0]
    assert [False, True, False] == [file.mode for file in files]
    assert [".lock"] == os.listdir(tmp_path / "staging")


@pytest.mark.parametrize(
    ("item", "chunks", "code"),
    [
        (Item("a", 5, "file"), [b"hello!"], "digest"),
        (Item("a", 5, "file"), [b"hell"], "digest"),
        (Item("a", 0, "link"), [], "unsafe-link"),
        (Item("a", 0, "other"), [], "unsafe-entry"),
        (Item("../a", 0, "file"), [], "unsafe-path"),
        (Item("/a", 0, "file"), [], "unsafe-path"),
        (Item("a", 11, "file"), [bytes(11)], "too-large"),
    ],
)
def test_what_does_not_keep_to_the_rules_is_not_kept(
    item: Item, chunks: list[bytes], code: str, tmp_path: Path
) -> None:
    assert code == code_of(tmp_path, {item: chunks}, limits=SupplySettings(file_bytes=10))


def test_all_files_of_a_skill_share_one_limit(tmp_path: Path) -> None:
    said = {Item("a", 6, "file"): [bytes(6)], Item("b", 6, "file"): [bytes(6)]}

    assert "too-large" == code_of(tmp_path, said, limits=SupplySettings(unpacked_bytes=10))
    assert "too-many" == code_of(tmp_path, said, limits=SupplySettings(files=1))
    assert "unsafe-path" == code_of(tmp_path, said, strip="other")


def test_an_endless_file_is_stopped_at_its_announced_size(tmp_path: Path) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield bytes(1000)

    assert "digest" == code_of(tmp_path, {Item("a", 5000, "file"): endless()})  # type: ignore[dict-item]


def test_a_desk_of_a_dead_process_is_swept_and_one_in_use_is_not(tmp_path: Path) -> None:
    staging = str(tmp_path / "staging")

    def dies() -> None:
        with Quarantine(staging, None, OsDiskCalls()) as desk:
            OsDiskCalls().write(desk.fresh(), [b"x"])
            os.kill(os.getpid(), signal.SIGKILL)

    code = in_a_child(dies)
    before = set(os.listdir(staging))
    with (
        Quarantine(staging, None, OsDiskCalls()) as first,
        Quarantine(staging, None, OsDiskCalls()) as second,
    ):
        during = set(os.listdir(staging))
        names = {
            f"{os.path.basename(desk.folder)}{end}"
            for desk in (first, second)
            for end in ("", ".lock")
        }

    assert -signal.SIGKILL == code
    assert 3 == len(before)
    assert {".lock"} | names == during
    assert [".lock"] == os.listdir(staging)


def test_a_full_disk_is_a_fault_of_the_store_and_leaves_nothing(tmp_path: Path) -> None:
    for step in range(1, 5):
        tree = Told({Item("d/a", 5, "file"): [b"hello"]})
        with (
            pytest.raises(MetierError) as caught,
            Quarantine(str(tmp_path / "staging"), None, FaultyHands(step, "ENOSPC")) as desk,
        ):
            desk.lay(tree, tree.items(), "", SupplySettings())

        assert "store" == caught.value.code
    with Quarantine(str(tmp_path / "staging"), None, OsDiskCalls()):
        pass

    assert [".lock"] == os.listdir(tmp_path / "staging")


def test_a_link_that_somebody_put_on_a_desk_is_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "keep").write_bytes(b"x")
    with Quarantine(str(tmp_path / "staging"), None, OsDiskCalls()) as desk:
        os.symlink(tmp_path / "mine", f"{desk.folder}/link")

    assert b"x" == (tmp_path / "mine" / "keep").read_bytes()
    assert [".lock"] == os.listdir(tmp_path / "staging")
