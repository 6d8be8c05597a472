"""Files that others read: whole or not at all, below the folder that was named and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metier.errors import RefusedError, StoreError
from metier.store.io.disk_calls import OsDiskCalls
from metier.supply.io.lock_file import TEMPORARY_SUFFIX, put_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class FullDisk(OsDiskCalls):
    """DiskCalls on a disk that takes a file's first bytes and no more."""

    def write(self, path: str, chunks: Iterable[bytes], mode: int = 0o600) -> None:
        """Leave a part of it, as a full disk does."""
        super().write(path, [b"".join(chunks)[:1]], mode)
        raise OSError(28, "No space left on device")


def test_a_file_is_put_with_the_folders_above_it(tmp_path: Path) -> None:
    written = put_file(OsDiskCalls(), str(tmp_path / "site"), "a/b/c.json", b"new")

    assert (str(tmp_path / "site/a/b/c.json"), b"new") == (
        written,
        (tmp_path / "site/a/b/c.json").read_bytes(),
    )
    assert 0o644 == (tmp_path / "site/a/b/c.json").stat().st_mode & 0o777 | 0o044
    assert ["c.json"] == [path.name for path in (tmp_path / "site/a/b").iterdir()]


def test_what_is_there_stays_whole_when_the_disk_is_full(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_bytes(b"old")

    with pytest.raises(StoreError, match="No space left"):
        put_file(FullDisk(), str(tmp_path), "c.json", b"new")

    assert {"c.json": b"old"} == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    put_file(OsDiskCalls(), str(tmp_path), "c.json", b"new")
    assert {"c.json": b"new"} == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_link_in_the_place_is_replaced_and_one_on_the_way_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_bytes(b"theirs")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/file").symlink_to("../elsewhere/file")
    (tmp_path / f"site/.file{TEMPORARY_SUFFIX}").symlink_to("../elsewhere/file")
    (tmp_path / "site/way").symlink_to("../elsewhere")

    put_file(OsDiskCalls(), str(tmp_path / "site"), "file", b"ours")

    with pytest.raises(RefusedError, match="is a link") as caught:
        put_file(OsDiskCalls(), str(tmp_path / "site"), "way/file", b"ours")
    assert "unsafe-link" == caught.value.code
    assert (b"theirs", b"ours", False) == (
        (tmp_path / "elsewhere/file").read_bytes(),
        (tmp_path / "site/file").read_bytes(),
        (tmp_path / "site/file").is_symlink(),
    )


def test_a_folder_in_the_place_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "index.json").mkdir()

    with pytest.raises(RefusedError, match="is a folder") as caught:
        put_file(OsDiskCalls(), str(tmp_path), "index.json", b"new")

    assert "collision" == caught.value.code
