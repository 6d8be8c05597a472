"""The system's own hands: every step does one thing and follows nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from metier.store.io.disk_calls import OsDiskCalls


def test_a_new_file_is_written_in_pieces_with_its_mode(tmp_path: Path) -> None:
    OsDiskCalls().write(str(tmp_path / "file"), (b"one ", b"", b"two"), 0o400)

    assert (b"one two", 0o400) == (
        (tmp_path / "file").read_bytes(),
        (tmp_path / "file").stat().st_mode & 0o777,
    )


@pytest.mark.parametrize("planted", ["file", "link", "dangling"])
def test_nothing_that_is_there_is_written_over_or_through(tmp_path: Path, planted: str) -> None:
    (tmp_path / "precious").write_text("precious")
    place = tmp_path / "place"
    if planted == "file":
        place.write_text("precious")
    else:
        place.symlink_to(tmp_path / ("precious" if planted == "link" else "nowhere"))

    with pytest.raises(FileExistsError):
        OsDiskCalls().write(str(place), (b"other",))

    assert "precious" == (tmp_path / "precious").read_text()
    assert not (tmp_path / "nowhere").exists()


def test_a_full_folder_is_never_renamed_over(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "file").touch()

    with pytest.raises(OSError, match="not empty"):
        OsDiskCalls().move(str(tmp_path / "new"), str(tmp_path / "old"))

    assert (tmp_path / "old" / "file").exists()


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="needs a system that exchanges paths")
def test_folders_links_and_files_change_places_in_one_step(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")

    done = OsDiskCalls().swap(str(tmp_path / "folder"), str(tmp_path / "link"))

    assert done
    assert ("nowhere", True) == (os.readlink(tmp_path / "folder"), (tmp_path / "link").is_dir())


def test_an_exchange_with_nothing_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(FileNotFoundError):
        OsDiskCalls().swap(str(tmp_path / "folder"), str(tmp_path / "nothing"))

    assert (tmp_path / "folder").is_dir()


def test_files_and_folders_are_synced_and_pipes_are_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    OsDiskCalls().sync(str(tmp_path / "file"))
    OsDiskCalls().sync(str(tmp_path))
    (tmp_path / "link").symlink_to("file")

    with pytest.raises(OSError, match="symbolic links"):
        OsDiskCalls().sync(str(tmp_path / "link"))

    assert "text" == (tmp_path / "file").read_text()


def test_what_the_system_does_not_write_at_once_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))

    OsDiskCalls().write(str(tmp_path / "file"), (b"a longer text", b"", b"and more"))

    assert b"a longer textand more" == (tmp_path / "file").read_bytes()
