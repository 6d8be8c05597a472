"""Who finds the write lock held is told who has it, if that can be known for sure; the lock itself is what counts."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pytest
from fakes.hands import in_a_child

from metier.errors import StoreError
from metier.store.io import safe_files
from metier.store.io.atomic_change import Changer
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Store
from metier.store.lock_holder import LockHolder, write

NOBODY = "another process is changing skills"


def changer(folder: Path, wait: float = 0.0) -> Changer:
    made = Changer(
        f"{folder}/supply", None, Store(f"{folder}/store", None, OsDiskCalls()), OsDiskCalls()
    )
    made.wait = wait
    return made


def refused(folder: Path) -> StoreError:
    with pytest.raises(StoreError) as caught:
        changer(folder).recover()
    return caught.value


def a_dead_process() -> int:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def test_who_holds_the_lock_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/metier", "update", "secret"])

    with changer(tmp_path).alone():
        error = refused(tmp_path)

    assert "busy" == error.code
    assert re.fullmatch(
        rf"{NOBODY}: metier update \(process {os.getpid()}, since \d\d:\d\d:\d\d\)", error.message
    )
    assert "wait until the other metier is done, and try again" == error.hint


def test_whoever_is_done_leaves_no_name(tmp_path: Path) -> None:
    with changer(tmp_path).alone():
        held = (tmp_path / "supply" / "lock").read_bytes()

    assert b"" != held
    assert b"" == (tmp_path / "supply" / "lock").read_bytes()


def test_a_shorter_name_leaves_nothing_of_a_longer_one(tmp_path: Path) -> None:
    changer(tmp_path).recover()
    (tmp_path / "supply" / "lock").write_bytes(b"x" * 5_000)

    with changer(tmp_path).alone():
        error = refused(tmp_path)

    assert f"(process {os.getpid()}, since" in error.message


def test_a_process_that_was_killed_is_not_named_as_the_holder(tmp_path: Path) -> None:
    lock = tmp_path / "supply" / "lock"
    changer(tmp_path).recover()

    def dies() -> None:
        with changer(tmp_path).alone():
            os._exit(9)

    in_a_child(dies)
    left = lock.read_bytes()
    with safe_files.hold_lock(str(lock)):  # by one who has not said who it is
        error = refused(tmp_path)

    assert b"" != left
    assert NOBODY == error.message


def test_a_name_that_a_killed_process_left_stops_nobody(tmp_path: Path) -> None:
    changer(tmp_path).recover()
    (tmp_path / "supply" / "lock").write_bytes(
        write(LockHolder(os.getpid(), "metier update", 0.0, os.uname().nodename))
    )

    lines = changer(tmp_path).recover()

    assert () == lines


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[" * 2_000, b"\xff" * 5_000])
def test_a_lock_that_says_nothing_sensible_names_nobody(data: bytes, tmp_path: Path) -> None:
    changer(tmp_path).recover()
    lock = tmp_path / "supply" / "lock"

    with safe_files.hold_lock(str(lock)):
        lock.write_bytes(data)
        error = refused(tmp_path)

    assert (NOBODY, "busy") == (error.message, error.code)


def test_a_holder_on_another_machine_is_named_with_it(tmp_path: Path) -> None:
    changer(tmp_path).recover()
    lock = tmp_path / "supply" / "lock"

    with safe_files.hold_lock(str(lock)):
        lock.write_bytes(write(LockHolder(a_dead_process(), "metier add", 0.0, "elsewhere")))
        error = refused(tmp_path)

    assert re.fullmatch(
        rf"{NOBODY}: metier add \(process \d+ on elsewhere, since 19(69|70)-\d\d-\d\d \d\d:\d\d:\d\d\)",
        error.message,
    )


def test_a_process_of_another_user_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_yours(_pid: int, _signal: int) -> None:
        raise PermissionError

    with changer(tmp_path).alone():
        monkeypatch.setattr(os, "kill", not_yours)
        error = refused(tmp_path)

    assert f"(process {os.getpid()}, since" in error.message


def test_a_full_disk_does_not_keep_anybody_from_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changer(tmp_path).recover()

    def full(_file: int, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        lines = changer(tmp_path).recover()

    assert () == lines


def test_without_any_time_to_wait_nobody_sleeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = list[float]()
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)

    with changer(tmp_path).alone():
        error = refused(tmp_path)

    assert ("busy", []) == (error.code, slept)
