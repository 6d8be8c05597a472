"""Files of metier's own are written whole, for their owner alone, and by one process at a time."""

from __future__ import annotations

import os
import stat
from multiprocessing import get_context
from pathlib import Path

import pytest

from metier.store.io import safe_files


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_and_what_is_missing_above_it_are_for_their_owner_alone(tmp_path: Path) -> None:
    safe_files.make_folder(str(tmp_path / "a" / "b" / "c"), None)
    safe_files.make_folder(str(tmp_path / "a" / "b" / "c"), None)

    assert [0o700] * 3 == [mode_of(tmp_path / part) for part in ("a", "a/b", "a/b/c")]


def test_a_home_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    home = tmp_path / "gone"

    with pytest.raises(FileNotFoundError, match="the home folder"):
        safe_files.make_folder(f"{home}/state", str(home))

    assert not home.exists()


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o277])
def test_what_is_written_is_whole_and_private_whatever_the_mask(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        safe_files.replace_file(f"{tmp_path}/file", b"old")
        safe_files.replace_file(f"{tmp_path}/file", b"new" * 100_000)
    finally:
        os.umask(before)

    assert (b"new" * 100_000, 0o600) == (
        (tmp_path / "file").read_bytes(),
        mode_of(tmp_path / "file"),
    )
    assert ["file"] == os.listdir(tmp_path)


def test_what_cannot_be_written_whole_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    safe_files.replace_file(f"{tmp_path}/file", b"old")
    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(OSError, match="No space"):
        safe_files.replace_file(f"{tmp_path}/file", b"new")

    assert (b"old", ["file"]) == ((tmp_path / "file").read_bytes(), os.listdir(tmp_path))


@pytest.mark.parametrize("planted", ["link", "pipe", "folder"])
def test_what_is_planted_in_its_place_is_neither_followed_nor_waited_for(
    planted: str, tmp_path: Path
) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    other.write_text("other")
    if planted == "link":
        place.symlink_to(other)
    else:
        (os.mkfifo if planted == "pipe" else os.mkdir)(place)

    with pytest.raises(OSError):  # noqa: PT011 - which one depends on what was planted
        safe_files.open_file(str(place), os.O_RDWR | os.O_CREAT)
    with pytest.raises(OSError), safe_files.hold_lock(str(place)):  # noqa: PT011 - as above
        pass

    assert "other" == other.read_text()


def test_a_lock_that_is_held_is_waited_for_and_not_for_ever(tmp_path: Path) -> None:
    with (
        safe_files.hold_lock(f"{tmp_path}/lock"),
        pytest.raises(TimeoutError, match="another process"),
        safe_files.hold_lock(f"{tmp_path}/lock", 0.0),
    ):
        pass

    with safe_files.hold_lock(f"{tmp_path}/lock", 0.0):
        held = mode_of(tmp_path / "lock")
    assert 0o600 == held


def test_who_only_reads_makes_no_lock_and_waits_for_one_that_is_there(tmp_path: Path) -> None:
    with safe_files.hold_lock(f"{tmp_path}/lock", create=False):
        made = (tmp_path / "lock").exists()

    assert not made
    with (
        safe_files.hold_lock(f"{tmp_path}/lock"),
        pytest.raises(TimeoutError),
        safe_files.hold_lock(f"{tmp_path}/lock", 0.0, create=False),
    ):
        pass


def _count(folder: str) -> None:
    for _ in range(25):
        with safe_files.hold_lock(f"{folder}/lock"):
            number = int(Path(folder, "number").read_text())
            safe_files.replace_file(f"{folder}/number", str(number + 1).encode())


def test_many_processes_lose_nothing_of_each_other_s(tmp_path: Path) -> None:
    (tmp_path / "number").write_text("0")
    processes = [
        get_context("spawn").Process(target=_count, args=(str(tmp_path),)) for _ in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert ("100", ["lock", "number"]) == (
        (tmp_path / "number").read_text(),
        sorted(os.listdir(tmp_path)),
    )
