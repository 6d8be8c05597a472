"""Every operation is broken off at every step on disk: killed, on a full disk, on a failing one. Nothing is lost, ever.

Each place is old or new as a whole afterwards, the lock agrees with the disk or `sync` sees to it, what a person wrote is in the
working copy or in a revision, nothing is left lying about, and the audit log holds. `bench/supply.py` makes the longer run.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes.breaking import OPERATIONS, Operation, Tally, Trial, at_once

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fakes.hands import Fault

FEWEST = 30
"""An operation with fewer steps than this was not watched."""


MEMORY = Path("/dev/shm")
"""Thousands of small worlds are made and thrown away: in memory where that can be."""


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else tmp_path) as made:
        yield Path(made)


def tally(folder: Path, operation: Operation, *faults: Fault, then: str = "sync") -> Tally:
    folder.mkdir()
    return Trial(folder / "world", operation).tally(*faults, then=then)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_operation_broken_off_at_any_step_loses_nothing(scratch: Path, operation: Operation) -> None:
    killed, failed = at_once(
        lambda: tally(scratch / "killed", operation, "SIGKILL"),
        lambda: tally(scratch / "failed", operation, "ENOSPC", "EIO"),
    )

    assert () == killed.wrong
    assert () == failed.wrong
    assert min(killed.tried, failed.tried) > FEWEST


def test_saying_it_again_after_a_crash_does_it(scratch: Path) -> None:
    sync, rollback = (operation for operation in OPERATIONS if operation.name in {"sync", "rollback"})

    synced, rolled = at_once(
        lambda: tally(scratch / "sync", sync, "SIGKILL", then="again"),
        lambda: tally(scratch / "rollback", rollback, "SIGKILL", then="again"),
    )

    assert () == synced.wrong
    assert () == rolled.wrong


def test_a_recovery_may_be_killed_too(scratch: Path) -> None:
    remove, adopt = (operation for operation in OPERATIONS if operation.name in {"remove", "adopt"})

    removed, adopted = at_once(
        lambda: tally(scratch / "remove", remove, "SIGKILL", then="twice"),
        lambda: tally(scratch / "adopt", adopt, "SIGKILL", then="twice"),
    )

    assert () == removed.wrong
    assert () == adopted.wrong
