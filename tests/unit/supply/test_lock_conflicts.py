"""Conflicts that git left in a lock: settled where nothing has to be guessed, explained otherwise."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from fakes.pins import a_pin

from metier.errors import ConfigError
from metier.supply.lock import heal, lock_bytes, read_lock
from metier.supply.model import Lock

if TYPE_CHECKING:
    from pathlib import Path

    from metier.supply.model import Pin


def merged(folder: Path, ours: Lock, base: Lock, theirs: Lock, *options: str) -> bytes:
    """Give what git makes of three locks."""
    for name, lock in (("ours", ours), ("base", base), ("theirs", theirs)):
        (folder / name).write_bytes(lock_bytes(lock))
    command = ["git", "merge-file", "-p", *options, "ours", "base", "theirs"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout


def lock_of(*pins: Pin) -> Lock:
    return Lock(tuple(sorted(pins)))


def test_a_lock_without_markers_stays_as_it_is() -> None:
    data = lock_bytes(Lock((a_pin(),)))

    assert (data, ()) == heal(data)


@pytest.mark.parametrize("style", ["--quiet", "--diff3", "--zdiff3"])
def test_skills_that_each_side_added_are_both_kept(tmp_path: Path, style: str) -> None:
    a, b, c = a_pin("a"), a_pin("b"), a_pin("c")
    data = merged(tmp_path, lock_of(a, b), lock_of(a), lock_of(a, c), style)
    assert b"<<<<<<<" in data

    found = read_lock(data)

    assert (a, b, c) == found.pins
    assert 2 == len(found.notes)
    assert found.notes[0].startswith("b: ")
    assert "ours" in found.notes[0]
    assert "theirs" in found.notes[1]


def test_windows_line_ends_and_several_hunks_make_no_difference(tmp_path: Path) -> None:
    base = lock_of(*(a_pin(name) for name in "adgjmp"))
    ours, theirs = (
        lock_of(*base.pins, a_pin("b"), a_pin("n")),
        lock_of(*base.pins, a_pin("c"), a_pin("o")),
    )
    data = merged(tmp_path, ours, base, theirs)
    assert data.count(b"<<<<<<<") == 2

    found = read_lock(data.replace(b"\n", b"\r\n"))

    assert list("abcdgjmnop") == [pin.name for pin in found.pins]


def test_what_only_one_side_changed_is_taken_where_the_ancestor_is_shown() -> None:
    a, b = a_pin("a", targets=()), a_pin("b")
    newer = b._replace(kind="archive")
    ours, theirs = lock_of(a._replace(files=()), b), lock_of(a, newer)
    data = b"".join(
        (
            b"<<<<<<< HEAD\n",
            lock_bytes(ours),
            b"||||||| base\n",
            lock_bytes(lock_of(a, b)),
            b"=======\n",
            lock_bytes(theirs),
            b">>>>>>> topic\n",
        )
    )

    found = read_lock(data)

    assert (a._replace(files=()), newer) == found.pins
    assert (
        "a: changed by HEAD only, so it is used",
        "b: changed by topic only, so it is used",
    ) == found.notes


def test_a_removal_counts_where_the_ancestor_is_shown_and_the_other_side_changed_nothing() -> None:
    a, b, c = a_pin("a"), a_pin("b"), a_pin("c")
    sides = [lock_bytes(lock) for lock in (lock_of(b), lock_of(a, b), lock_of(a, c))]

    found = read_lock(b"<<<<<<< x\n%b||||||| y\n%b=======\n%b>>>>>>> z\n" % tuple(sides))

    assert (c,) == found.pins
    assert (
        "a: removed by x only, so it is used",
        "b: removed by z only, so it is used",
        "c: added by z only, so it is used",
    ) == found.notes[:3]


@pytest.mark.parametrize("style", ["--quiet", "--diff3"])
def test_a_skill_that_both_sides_changed_is_explained_and_not_guessed(
    tmp_path: Path, style: str
) -> None:
    ours, theirs = a_pin("pdf", of="1"), a_pin("pdf", of="2")
    data = merged(
        tmp_path,
        lock_of(a_pin("a"), ours),
        lock_of(a_pin("a"), a_pin("pdf")),
        lock_of(a_pin("a"), theirs),
        style,
    )

    with pytest.raises(ConfigError, match="both sides of the merge changed 'pdf'") as caught:
        read_lock(data)

    assert "lock-conflict" == caught.value.code
    assert all(
        part in caught.value.message
        for part in (ours.commit, ours.digest, theirs.commit, theirs.digest)
    )
    assert "metier update pdf" in caught.value.hint
    assert "git checkout --ours" in caught.value.hint


def test_a_skill_removed_here_and_changed_there_is_explained() -> None:
    sides = [lock_bytes(lock) for lock in (lock_of(), lock_of(a_pin()), lock_of(a_pin(of="2")))]

    with pytest.raises(ConfigError, match="x has removed it and z has commit") as caught:
        read_lock(b"<<<<<<< x\n%b||||||| y\n%b=======\n%b>>>>>>> z\n" % tuple(sides))

    assert "lock-conflict" == caught.value.code


def test_the_same_skill_added_under_two_names_is_explained() -> None:
    one, other = a_pin("pdf"), a_pin("my-pdf", path="skills/pdf")

    with pytest.raises(ConfigError, match="are the same skill") as caught:
        read_lock(
            b"<<<<<<< x\n%b=======\n%b>>>>>>> z\n"
            % (lock_bytes(lock_of(one)), lock_bytes(lock_of(other)))
        )

    assert "lock-conflict" == caught.value.code


@pytest.mark.parametrize(
    "data",
    [
        b"<<<<<<< x\n{}\n",
        b"=======\n",
        b"{}\n>>>>>>> z\n",
        b"<<<<<<< x\n<<<<<<< y\n=======\n>>>>>>> z\n",
        b"<<<<<<< x\n=======\n=======\n>>>>>>> z\n",
        b"<<<<<<< x\n>>>>>>> z\n",
        b"<<<<<<< x\n=======\n||||||| b\n>>>>>>> z\n",
    ],
)
def test_half_a_conflict_is_a_broken_lock(data: bytes) -> None:
    with pytest.raises(ConfigError, match="can't read the lock") as caught:
        read_lock(data)

    assert "lock" == caught.value.code
    assert "git checkout --ours" in caught.value.hint


def test_a_side_that_is_no_lock_is_explained() -> None:
    with pytest.raises(ConfigError, match="topic is broken: can't read the lock: line 1") as caught:
        read_lock(b"<<<<<<< HEAD\n%b=======\nnothing\n>>>>>>> topic\n" % lock_bytes(Lock()))

    assert "lock-conflict" == caught.value.code


def test_a_side_of_a_newer_version_asks_for_an_upgrade() -> None:
    with pytest.raises(ConfigError, match="version 3") as caught:
        read_lock(b'<<<<<<< HEAD\n%b=======\n{"version": 3}\n>>>>>>> topic\n' % lock_bytes(Lock()))

    assert "lock-version" == caught.value.code


def test_what_git_calls_a_side_cannot_speak_to_the_terminal() -> None:
    ours, theirs = lock_of(a_pin("a")), lock_of()

    found = read_lock(
        b"<<<<<<< \x1b[2J\n" + lock_bytes(ours) + b"=======\n" + lock_bytes(theirs) + b">>>>>>> b\n"
    )

    assert ("a: only \\u001b[2J has it, so it is kept",) == found.notes
