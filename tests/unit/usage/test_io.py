"""Counts on disk: added up, kept apart by path and name, never deleted, and never in the way."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

import pytest

from metier.usage import io
from metier.usage.io import Count


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Give the place of a state folder that does not exist yet."""
    return str(tmp_path / "state")


def test_counts_add_up_and_the_latest_use_stays(folder: str) -> None:
    first = io.add_counts(
        folder,
        None,
        [Count("/a", "a", 1, 2, 3, 4, 1, 100, 50), Count("/a", "b", views=1, last=7)],
        40,
    )
    second = io.add_counts(folder, None, [Count("/a", "a", 1, 0, 0, 1, 0, 10, 45)], 60)

    found = io.read_counts(folder)

    assert ("", "") == (first, second)
    assert {Count("/a", "a", 2, 2, 3, 5, 1, 110, 50), Count("/a", "b", views=1, last=7)} == set(
        found.used
    )
    assert (40, "", ()) == (found.began, found.trouble, found.spoilt)


def test_the_first_sight_of_a_skill_stays(folder: str) -> None:
    io.note_seen(folder, None, {("/a", "a"): 5}, 9)
    io.note_seen(folder, None, {("/a", "a"): 7, ("/b", "b"): 8}, 10)

    assert ({("/a", "a"): 5, ("/b", "b"): 8}, 9) == (
        io.read_counts(folder).seen,
        io.read_counts(folder).began,
    )


def test_names_and_paths_of_any_kind_are_kept(folder: str) -> None:
    odd = [
        Count("/\udcff\ud800", "n\0\n", views=1),
        Count("/'; DROP TABLE used; --", "x" * 100_000, views=1),
    ]

    assert "" == io.add_counts(folder, None, odd, 1)
    assert set(odd) == set(io.read_counts(folder).used)


def test_numbers_beyond_all_bounds_are_held_to_them(folder: str) -> None:
    io.add_counts(folder, None, [Count("/a", "a", tokens=10**30, views=-4, last=10**30)], 10**30)

    assert [(0, io.MAX_COUNT, io.MAX_COUNT)] == [
        (one.views, one.tokens, one.last) for one in io.read_counts(folder).used
    ]


def test_reading_makes_nothing(folder: str) -> None:
    assert io.Counts() == io.read_counts(folder)
    assert not Path(folder).exists()


def test_the_file_is_for_its_owner_alone(folder: str) -> None:
    io.add_counts(folder, None, [Count("/a", "a")], 1)

    assert (0o600, 0o700) == (
        os.stat(f"{folder}/usage.db").st_mode & 0o777,
        os.stat(folder).st_mode & 0o777,
    )


@pytest.mark.parametrize(
    "content",
    [
        b"not a database at all, and long enough to be read as one" * 40,
        b"SQLite format 3\0" + b"\xff" * 4096,
    ],
)
def test_a_spoilt_file_is_set_aside_and_counting_goes_on(folder: str, content: bytes) -> None:
    Path(folder).mkdir()
    Path(folder, "usage.db").write_bytes(content)

    before = io.read_counts(folder)
    trouble = io.add_counts(folder, None, [Count("/a", "a", views=1, last=1)], 1)
    after = io.read_counts(folder)

    assert (True, ()) == (bool(before.trouble), before.used)
    assert ("", "") == (trouble, after.trouble)
    assert [Count("/a", "a", views=1, last=1)] == list(after.used)
    (aside,) = after.spoilt
    assert content == Path(aside).read_bytes()


def test_what_lies_beside_a_spoilt_file_goes_before_it(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(folder).mkdir()
    for suffix in ("", "-wal", "-shm"):
        Path(folder, f"usage.db{suffix}").write_bytes(b"x")
    path, found = f"{folder}/usage.db", os.stat(f"{folder}/usage.db")
    moved: list[str] = []
    rename = os.rename

    def noted(old: str, new: str) -> None:
        moved.append(old)
        rename(old, new)

    monkeypatch.setattr(os, "rename", noted)

    other = io.set_aside(path, (found.st_dev, found.st_ino + 1))
    same = io.set_aside(path, (found.st_dev, found.st_ino))

    assert (True, True) == (other, same)
    assert [f"{path}-wal", f"{path}-shm", path] == moved
    assert 1 == len(io.read_counts(folder).spoilt)


def test_a_file_that_another_process_holds_is_trouble_and_no_wait(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    io.add_counts(folder, None, [Count("/a", "a", views=1)], 1)
    other = sqlite3.connect(f"{folder}/usage.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    pauses: list[float] = []
    monkeypatch.setattr(io, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(time, "sleep", pauses.append)

    trouble = io.add_counts(folder, None, [Count("/a", "a", views=1)], 1)

    other.close()
    assert "database is locked" in trouble
    assert len(pauses) <= 2  # all tries together have one time limit, not each its own
    assert "" == io.add_counts(folder, None, [Count("/a", "a", views=1)], 1)
    assert [2] == [one.views for one in io.read_counts(folder).used]


def test_a_clock_that_was_ahead_is_put_right_by_the_next_change(folder: str) -> None:
    ahead, now = 9_000_000_000, 1_000_000
    io.add_counts(folder, None, [Count("/a", "a", views=1, last=ahead)], ahead)
    io.note_seen(folder, None, {("/a", "a"): ahead}, ahead)
    wrong = io.read_counts(folder)

    io.add_counts(folder, None, [Count("/b", "b", views=1, last=now)], now)

    found = io.read_counts(folder)
    assert (True, False) == (io.is_ahead(wrong, now), io.is_ahead(found, now))
    assert (now, {now}, {("/a", "a"): now}) == (
        found.began,
        {one.last for one in found.used},
        found.seen,
    )


def test_a_clock_that_is_a_little_ahead_is_believed(folder: str) -> None:
    io.add_counts(folder, None, [Count("/a", "a", views=1, last=1000 + io.MAX_AHEAD_SECONDS)], 1000)

    io.add_counts(folder, None, [Count("/a", "a", views=1, last=1001)], 1000)

    assert [1000 + io.MAX_AHEAD_SECONDS] == [one.last for one in io.read_counts(folder).used]


def test_counts_of_a_newer_metier_are_left_alone(folder: str) -> None:
    io.add_counts(folder, None, [Count("/a", "a", views=1)], 1)
    with sqlite3.connect(f"{folder}/usage.db") as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()

    trouble = io.add_counts(folder, None, [Count("/a", "a", views=1)], 1)

    assert "a newer metier wrote it" in trouble
    assert [1] == [one.views for one in io.read_counts(folder).used]


@pytest.mark.parametrize("what", ["folder", "pipe", "link", "file in the way", "no home"])
def test_what_stands_in_the_way_is_an_answer_and_not_an_exception(
    tmp_path: Path, folder: str, what: str
) -> None:
    home = str(tmp_path / "no-home") if what == "no home" else None
    place = f"{home}/state" if home else folder
    if what == "file in the way":
        Path(folder).write_text("x")
    elif what == "link":
        Path(folder).mkdir()
        Path(folder, "usage.db").symlink_to(tmp_path / "elsewhere.db")
    elif home is None:
        Path(folder).mkdir()
        (os.mkfifo if what == "pipe" else os.mkdir)(f"{folder}/usage.db")

    trouble = io.add_counts(place, home, [Count("/a", "a", views=1)], 1)

    assert "" != trouble
    assert () == io.read_counts(place).used
    assert home is None or not Path(home).exists()
    assert not (tmp_path / "elsewhere.db").exists()
